/* What the library was made from, and what this processor can run. */

const char driftfold_source[] = SOURCE; /* digest of the sources */
const char driftfold_levels[] = LEVELS; /* space-separated, the fastest last */

/* The processor's level among those that the library may have: 0 none, 1 the first, ... */
int driftfold_processor(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl"))
        return 1;
    return 2;
#elif defined(__aarch64__)
    return 1;
#else
    return 0;
#endif
}
