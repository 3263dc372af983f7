/* REAL, vectors of REAL, and what is done lane by lane.
 *
 * Compiled with -DBITS=64 or 32 and -DNAME(stem)=stem_..., once for each processor level. The
 * vectors are those of GCC and Clang, so that one source serves all instruction sets.
 */
#ifndef DRIFTFOLD_LANES_H
#define DRIFTFOLD_LANES_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if BITS == 64
typedef double REAL;
typedef int64_t INT;
#else
typedef float REAL;
typedef int32_t INT;
#endif

#if defined(__AVX512F__)
#define BYTES 64
#define REGISTERS 32
#elif defined(__AVX__)
#define BYTES 32
#define REGISTERS 16
#elif defined(__aarch64__)
#define BYTES 16
#define REGISTERS 32
#else
#define BYTES 16
#define REGISTERS 16
#endif

#define LANES ((int)(BYTES / sizeof(REAL)))
#define INLINE static inline __attribute__((always_inline))
#define UNROLLED _Pragma("GCC unroll 16")
#define APART static __attribute__((noinline, unused)) /* a hot loop with all registers for itself */

typedef REAL V __attribute__((vector_size(BYTES)));
typedef INT M __attribute__((vector_size(BYTES))); /* a mask, all bits of a lane or none; integers */

INLINE V load(const REAL *p) {
    V v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void store(REAL *p, V v) { memcpy(p, &v, sizeof v); }

/* Written out: filled in a loop, it would not become one broadcast. */
INLINE V splat(REAL x) {
#if BYTES * 8 / BITS == 2
    return (V){x, x};
#elif BYTES * 8 / BITS == 4
    return (V){x, x, x, x};
#elif BYTES * 8 / BITS == 8
    return (V){x, x, x, x, x, x, x, x};
#else
    return (V){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
#endif
}

INLINE V choose(M mask, V yes, V no) { return (V)((mask & (M)yes) | (~mask & (M)no)); }

/* Sum of the lanes in a fixed tree. */
INLINE REAL sum(V v) {
    REAL s[LANES];
    memcpy(s, &v, sizeof s);
    UNROLLED for (int w = LANES / 2; w; w /= 2)
        UNROLLED for (int l = 0; l < w; l++) s[l] += s[l + w];
    return s[0];
}

INLINE int any(M mask) {
    INT found = 0;
    for (int l = 0; l < LANES; l++) found |= mask[l];
    return found != 0;
}

INLINE REAL root(REAL x) { return sizeof(REAL) == 8 ? (REAL)sqrt(x) : (REAL)sqrtf((float)x); }

/* Compilers make one instruction of it, given -fno-math-errno. */
INLINE V roots(V v) {
    V r;
#if defined(__AVX512F__) && BITS == 64 /* GCC makes two halves of the loop, by way of memory */
    __asm__("vsqrtpd %1, %0" : "=v"(r) : "v"(v));
#elif defined(__AVX512F__)
    __asm__("vsqrtps %1, %0" : "=v"(r) : "v"(v));
#else
    for (int l = 0; l < LANES; l++) r[l] = root(v[l]);
#endif
    return r;
}

/* Scratch for one call: whole vectors, aligned. NULL when there is no memory. */
INLINE void *scratch(size_t bytes) {
    void *p = NULL;
    return posix_memalign(&p, 64, bytes + 64) ? NULL : p;
}

#endif
