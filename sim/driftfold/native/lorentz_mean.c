/* Descent on f(x) = sum_j w_j dist^2(x, y_j) / 2 over the hyperbolic space of dimension D.
 *
 * A point of the hyperboloid is its spatial part s, with x_0 = sqrt(1 + |s|^2); a tangent vector is
 * written in the frame carried radially from the origin, so the metric is the plain dot product. No
 * formula subtracts large numbers: distances are right from 1e-12 to radius 20. One lane is one
 * sample, and logarithms need one asinh and neither cosh nor arcosh.
 */
#include "descent.h"
#include "logarithm.h"

enum { PARALLEL = 0, PROJECTION = 1 };
enum { FIELDS = D + 3 }; /* of a sample: coordinates, |s|, x_0, weight */
#define TINY ((REAL)1e-30)

typedef struct {
    REAL s[D], n[D];       /* position and its direction */
    REAL r, x0;            /* |s| and sqrt(1 + |s|^2) */
    REAL inverse_square;   /* 1 / |s|^2, 0 at the origin */
} Point;

INLINE REAL inner(const REAL *a, const REAL *b) {
    REAL s = 0;
    for (int l = 0; l < D; l++) s += a[l] * b[l];
    return s;
}

INLINE Point point_at(const REAL *s) {
    Point p;
    const REAL square = inner(s, s);
    p.r = root(square);
    p.x0 = root(1 + square);
    p.inverse_square = square > TINY ? 1 / square : 0;
    for (int l = 0; l < D; l++) p.s[l] = s[l];
    for (int l = 0; l < D; l++) p.n[l] = p.r > 0 ? s[l] / p.r : (square == square ? l == 0 : NAN);
    return p;
}

/* Samples in lanes; a lane without one gets a harmless point of weight 0. */
static int pack(const REAL *data, const int32_t *rows, const REAL *weights, int n, V *out) {
    int groups = 0;
    for (int j = 0; j < n; j += LANES, groups++) {
        V *y = out + groups * FIELDS, square = splat(0);
        for (int l = 0; l < LANES; l++) {
            const int real = j + l < n;
            for (int c = 0; c < D; c++) y[c][l] = real ? data[(size_t)rows[j + l] * D + c] : 1;
            y[D + 2][l] = real ? weights[j + l] : 0;
        }
        for (int c = 0; c < D; c++) square += y[c] * y[c];
        y[D] = roots(square);
        y[D + 1] = roots(1 + square);
    }
    return groups;
}

/* g = -sum_j w_j log_x(y_j). */
APART void gradient(const Point *p, const V *y, int groups, REAL *g) {
    const V zero = splat(0), one = splat(1), tiny = splat(TINY);
    V s[D];
    for (int l = 0; l < D; l++) s[l] = zero;
    for (int j = 0; j < groups; j++, y += FIELDS) {
        V e[D], both = zero, along = zero, square = zero, r = y[D], x0 = y[D + 1];
        V share = zero, left = zero;
        for (int l = 0; l < D; l++) {
            both += (y[l] - p->s[l]) * (y[l] + p->s[l]);
            along += y[l] * p->n[l];
            share += y[l] * p->s[l];
        }
        share *= p->inverse_square;
        /* The part of y across x. Far out only s itself has its direction without error; in one
         * fused operation nothing else is rounded, and what rounding leaves of `share` is radial. */
        for (int l = 0; l < D; l++) {
            e[l] = y[l] - share * p->s[l];
            left += e[l] * p->n[l];
        }
        for (int l = 0; l < D; l++) {
            e[l] -= left * p->n[l];
            square += e[l] * e[l];
        }
        /* |y| (1 - cos) of the angle between y and x, seen from the origin: `along` is |y| cos */
        V flat = square / (r + choose(along > tiny, along, tiny));
        V short_of = choose(along > zero, flat, r - along);
        V lengths = p->r * x0 + r * p->x0;
        V radial = both / choose(lengths < tiny, tiny, lengths) - p->x0 * short_of;
        V sinh2 = radial * radial + square, sinh = roots(sinh2);
        V asinh = asinh_(sinh, roots(one + sinh2));
        V f = -y[D + 2] * choose(sinh < tiny, one, asinh / sinh), fr = f * radial;
        for (int l = 0; l < D; l++) s[l] += fr * p->n[l] + f * e[l];
    }
    for (int l = 0; l < D; l++) g[l] = sum(s[l]);
}

/* out += a times g carried from p to the start q: a rotation by the area of the triangle that the
 * origin makes with them. The projection first stretches g along the geodesic, by the hyperbolic
 * cosine of the distance. */
static void carry(const Point *p, const Point *q, const REAL *g, REAL a, int projected, REAL *out) {
    REAL e[D], u[D], rise = 0;
    const REAL share = inner(q->s, p->s) * p->inverse_square;
    for (int l = 0; l < D; l++) {
        rise += (q->s[l] - p->s[l]) * (q->s[l] + p->s[l]);
        e[l] = q->s[l] - share * p->s[l];
        u[l] = g[l];
    }
    const REAL left = inner(e, p->n);
    for (int l = 0; l < D; l++) e[l] -= left * p->n[l];
    const REAL length = root(inner(e, e)), side = q->r > TINY ? q->r : TINY;
    const REAL sine = length / side, cosine = inner(q->s, p->n) / side;
    const REAL angle = cosine > 0 ? sine * sine / (1 + cosine) : 1 - cosine;
    if (projected) {
        const REAL lengths = p->r * q->x0 + q->r * p->x0;
        const REAL radial = (lengths > TINY ? rise / lengths : 0) - p->x0 * q->r * angle;
        const REAL cosh = root(1 + radial * radial + length * length);
        const REAL f = (radial * inner(p->n, g) + inner(e, g)) / (1 + cosh);
        for (int l = 0; l < D; l++) u[l] += f * (radial * p->n[l] + e[l]);
    }
    const REAL tp = p->r / (1 + p->x0), tq = q->r / (1 + q->x0); /* tanh of half the radii */
    const REAL cp = (1 + 1 / (p->x0 + p->r)) / (1 + p->x0), cq = (1 + 1 / (q->x0 + q->r)) / (1 + q->x0);
    const REAL y = tp * tq * sine, x = cp + tp * cq + tp * tq * angle, h = 1 / (y * y + x * x);
    const REAL c1 = -2 * y * y * h, s = 2 * y * x * h, unit = length > 0 ? 1 / length : 0;
    const REAL w1 = inner(p->n, u), w2 = inner(e, u) * unit;
    for (int l = 0; l < D; l++)
        out[l] += a * (u[l] + (c1 * w1 + s * w2) * p->n[l] + (c1 * w2 - s * w1) * e[l] * unit);
}

/* The point exp_p(-alpha g). */
static Point go(const Point *p, const REAL *g, REAL alpha) {
    const REAL gg = inner(g, g);
    const double q = fabs((double)alpha) * sqrt((double)gg);
    const REAL f = alpha * (REAL)(q > 1e-4 ? sinh(q) / q : 1 + q * q / 6);
    const REAL along = -inner(p->n, g), a = f * along, square = f * f * gg, across = square - a * a;
    const REAL cosh = root(1 + square);
    const REAL radial = a < 0 ? (p->r * p->r * (1 + across) - a * a) / (p->r * cosh - p->x0 * a)
                              : p->x0 * a + p->r * cosh;
    REAL s[D];
    for (int l = 0; l < D; l++) s[l] = radial * p->n[l] + f * (-g[l] - along * p->n[l]);
    return point_at(s);
}

int NAME(lorentz_mean)(const Descent *t) {
    const int64_t most = most_rows(t), groups = (most + LANES - 1) / LANES;
    V *y = scratch(groups * FIELDS * sizeof(V) + most * (sizeof(REAL) + sizeof(int32_t)));
    if (!y) return 1;
    REAL *weights = (REAL *)(y + groups * FIELDS);
    int32_t *rows = (int32_t *)(weights + most);
    for (int64_t i = 0; i < t->count; i++) {
        const REAL *data = t->data + t->clients[i] * t->samples * D;
        const REAL *alpha = t->alpha + i * t->alpha_stride;
        const Point first = point_at(t->start + i * t->start_stride);
        REAL *stream = t->stream ? t->stream + i * D : NULL, g[D];
        Point p = first;
        int used = 0;
        for (int l = 0; stream && l < D; l++) stream[l] = 0;
        for (int64_t k = 0; k < t->steps; k++) {
            if (k == 0 || t->batch_rows)
                used = pack(data, rows, weights, weighted_rows(t, i, k, rows, weights), y);
            gradient(&p, y, used, g);
            if (stream && k) carry(&p, &first, g, alpha[k], t->transport == PROJECTION, stream);
            for (int l = 0; stream && !k && l < D; l++) stream[l] = alpha[k] * g[l];
            if (k + 1 < t->steps || t->end) p = go(&p, g, alpha[k]);
        }
        for (int l = 0; t->end && l < D; l++) t->end[i * D + l] = p.s[l];
        settle(t, i, D, 0);
    }
    free(y);
    return 0;
}
