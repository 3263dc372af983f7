/* Natural logarithms of vectors, without a library: the same bits in every lane and position. */
#ifndef DRIFTFOLD_LOGARITHM_H
#define DRIFTFOLD_LOGARITHM_H

#include "lanes.h"

/* v = 2^e m with m in [sqrt(1/2), sqrt(2)); v positive and normal, or e and m mean nothing. */
INLINE V split(V v, V *e) {
#if BITS == 64
    M bits = (M)v, k = (bits >> 52) - 1023;
    V m = (V)((bits & 0xFFFFFFFFFFFFFLL) | 0x3FF0000000000000LL);
#else
    M bits = (M)v, k = (bits >> 23) - 127;
    V m = (V)((bits & 0x7FFFFF) | 0x3F800000);
#endif
    M high = m > splat((REAL)1.4142135623730951);
    m = choose(high, m * (REAL)0.5, m);
    *e = __builtin_convertvector(k - high, V); /* a mask is -1 where it holds */
    return m;
}

/* log(1 + f) / s - 2 with s = f / (2 + f), from t = s^2: the series of atanh. */
INLINE V series(V t) {
#if BITS == 64
    const REAL c[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                      1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
#else
    const REAL c[] = {1.0f / 11, 1.0f / 9, 1.0f / 7, 1.0f / 5, 1.0f / 3};
#endif
    V p = splat(c[0]);
    for (unsigned i = 1; i < sizeof c / sizeof *c; i++) p = p * t + c[i];
    return 2 * t * p;
}

#if BITS == 64
#define LN2_HIGH 0.6931471803691238
#define LN2_LOW 1.9082149292705877e-10
#else
#define LN2_HIGH 0.693359375f
#define LN2_LOW -2.12194440e-4f
#endif

/* asinh x for x >= 0, given cosh = sqrt(1 + x^2), to about 2 units in the last place; NaN and
 * infinity give NaN. It is log(x + cosh), and tanh of its half, which the series takes, is
 * x / (1 + cosh): near 1 the sum need not be rounded at all. */
INLINE V asinh_(V x, V cosh) {
    V one = splat(1), e, m = split(x + cosh, &e);
    M near = e == splat(0);
    V s = choose(near, x, m - one) / (one + choose(near, cosh, m));
    return e * LN2_HIGH + (2 * s + (s * series(s * s) + e * LN2_LOW)) + (x - x);
}

/* log v for positive normal v; NaN for what is not positive, or not finite. */
INLINE V log_(V v) {
    V e, m = split(v, &e), f = m - 1, s = f / (f + 2);
    V l = e * LN2_HIGH + (2 * s + (s * series(s * s) + e * LN2_LOW));
    return choose(v > splat(0), l + (v - v), splat(NAN));
}

#endif
