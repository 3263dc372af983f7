/* One step of Riemannian descent on the Stiefel manifold (rows), or the sphere for R = 1. */
#ifndef DRIFTFOLD_STIEFEL_STEP_H
#define DRIFTFOLD_STIEFEL_STEP_H

#include "lanes.h"
#include "products.h"
#include "small_matrix.h"

enum { QR = 0, POLAR = 1, EXP = 2 };             /* retractions; EXP for the sphere only */
enum { PROJECTION = 0, PARALLEL = 1 };           /* transports; PARALLEL for the sphere only */
enum { DONE = 0, REFUSED = 1 };                  /* of a client: REFUSED needs the plain form */
#define ONE_PASS 1e2 /* trace(U U^T) above which one Cholesky factorisation loses accuracy */

/* Arrays of one client: R rows of dp numbers, whole vectors, zero past d. */
typedef struct {
    int d, dp;
    REAL *start, *x, *g, *stream;
} Path;

INLINE size_t path_numbers(int d) { return (size_t)4 * R * padded(d); }

INLINE Path path_in(REAL *room, int d) {
    const int dp = padded(d);
    const size_t size = (size_t)R * dp;
    memset(room, 0, path_numbers(d) * sizeof(REAL));
    Path p = {d, dp, room, room + size, room + 2 * size, room + 3 * size};
    return p;
}

INLINE void begin(Path *p, const REAL *start) {
    for (int a = 0; a < R; a++) memcpy(p->start + a * p->dp, start + a * p->d, p->d * sizeof(REAL));
    memcpy(p->x, p->start, sizeof(REAL) * R * p->dp);
    memset(p->stream, 0, sizeof(REAL) * R * p->dp);
}

INLINE void put_rows(const Path *p, const REAL *rows, REAL *out) {
    for (int a = 0; a < R; a++) memcpy(out + a * p->d, rows + a * p->dp, p->d * sizeof(REAL));
}

/* Rows from .. to - 1 of t = a b^T, up to the diagonal; their sums stay in registers. */
INLINE void inner_rows(const REAL *a, const REAL *b, int dp, const int from, const int to,
                       REAL t[R][R]) {
    V s[R][R];
    UNROLLED for (int i = from; i < to; i++)
        UNROLLED for (int j = 0; j <= i; j++) s[i][j] = splat(0);
    for (int u = 0; u < dp; u += LANES)
        UNROLLED for (int i = from; i < to; i++) {
            V entry = load(a + i * dp + u);
            UNROLLED for (int j = 0; j <= i; j++) s[i][j] += entry * load(b + j * dp + u);
        }
    UNROLLED for (int i = from; i < to; i++)
        UNROLLED for (int j = 0; j <= i; j++) t[i][j] = sum(s[i][j]);
}

/* The lower triangle of t = a b^T. Rows 0 to 4 have 15 sums, as many as few registers hold. */
INLINE void lower_products(const REAL *a, const REAL *b, int dp, REAL t[R][R]) {
    if (R <= 5) {
        inner_rows(a, b, dp, 0, R, t);
    } else {
        inner_rows(a, b, dp, 0, 4, t);
        inner_rows(a, b, dp, 4, 6, t);
        UNROLLED for (int i = 6; i < R; i++) inner_rows(a, b, dp, i, i + 1, t);
    }
}

INLINE void mirror(REAL t[R][R]) {
    UNROLLED for (int a = 0; a < R; a++)
        UNROLLED for (int b = 0; b < a; b++) t[b][a] = t[a][b];
}

/* Rows of x times the small matrix c: x <- c x; c lower triangular unless `full`. */
INLINE void multiply(REAL *x, int dp, const double c[R][R], const int full) {
    REAL k[R][R];
    for (int a = 0; a < R; a++)
        for (int b = 0; b < R; b++) k[a][b] = (REAL)c[a][b];
    for (int u = 0; u < dp; u += LANES) {
        V row[R];
        for (int b = 0; b < R; b++) row[b] = load(x + b * dp + u);
        for (int a = 0; a < R; a++) {
            V s = k[a][0] * row[0];
            for (int b = 1; b < (full ? R : a + 1); b++) s += k[a][b] * row[b];
            store(x + a * dp + u, s);
        }
    }
}

/* Orthonormal coefficients of rows with a Gram matrix; REFUSED where plain code is more careful. */
INLINE int coefficients(const double gram[R][R], double c[R][R], int retraction) {
    double worst = retraction == POLAR ? inverse_root(gram, c) : inverse_cholesky(gram, c);
    if (R == 1) return worst > 0 && worst < INFINITY ? DONE : REFUSED; /* a length loses nothing */
    return worst <= R * (R + ONE_PASS) ? DONE : REFUSED;
}

/* Geodesic from x along -alpha g, R = 1. */
INLINE void go_along_sphere(Path *p, REAL alpha) {
    V s = splat(0);
    for (int u = 0; u < p->dp; u += LANES) s += load(p->g + u) * load(p->g + u);
    const double size = sqrt((double)sum(s)), t = fabs((double)alpha) * size;
    const REAL cosine = (REAL)cos(t), sinc = (REAL)(t > 0 ? sin(t) / t : 1) * alpha;
    s = splat(0);
    for (int u = 0; u < p->dp; u += LANES) {
        V y = cosine * load(p->x + u) - sinc * load(p->g + u);
        store(p->x + u, y);
        s += y * y;
    }
    const REAL length = root(sum(s));
    for (int u = 0; u < p->dp; u += LANES) store(p->x + u, load(p->x + u) / length);
}

/* stream += alpha (g - 2 <m, g> / <m, m> m), m = x + start: parallel transport to the start, R = 1.
 * REFUSED beyond a right angle, where m cancels. */
INLINE int carry_along_sphere(Path *p, REAL alpha) {
    V mg = splat(0), mm = splat(0);
    for (int u = 0; u < p->dp; u += LANES) {
        V m = load(p->x + u) + load(p->start + u);
        mg += m * load(p->g + u);
        mm += m * m;
    }
    const REAL square = sum(mm), f = 2 * sum(mg) / square;
    if (!(square >= 2)) return REFUSED; /* |x + y|^2 = 2 + 2 <x, y> */
    for (int u = 0; u < p->dp; u += LANES) {
        V m = load(p->x + u) + load(p->start + u);
        store(p->stream + u, load(p->stream + u) + alpha * (load(p->g + u) - f * m));
    }
    return DONE;
}

/* `width` vectors of each row: g less t x goes to the stream, and where x is to `go`, along it. */
INLINE void go_along(REAL *x, const REAL *g, REAL *stream, int dp, const int width, REAL t[R][R],
                     REAL alpha, const int go) {
    V from[R][2], along[2];
    UNROLLED for (int a = 0; a < R; a++)
        UNROLLED for (int w = 0; w < width; w++) from[a][w] = load(x + a * dp + w * LANES);
    UNROLLED for (int a = 0; a < R; a++) {
        UNROLLED for (int w = 0; w < width; w++) along[w] = load(g + a * dp + w * LANES);
        UNROLLED for (int b = 0; b < R; b++) {
            V entry = splat(t[a][b]);
            UNROLLED for (int w = 0; w < width; w++) along[w] -= entry * from[b][w];
        }
        UNROLLED for (int w = 0; w < width; w++) {
            V step = alpha * along[w];
            REAL *sum = stream + a * dp + w * LANES;
            store(sum, load(sum) + step);
            if (go) store(x + a * dp + w * LANES, from[a][w] - step);
        }
    }
}

/* The tangent part of g, t = sym(g x^T) known: to the stream, and x along it. */
INLINE void go_along_tangent(const Path *p, REAL t[R][R], REAL alpha, const int go) {
    REAL *x = p->x, *g = p->g, *stream = p->stream;
    const int dp = p->dp, paired = R <= 5 ? dp / (2 * LANES) * (2 * LANES) : 0;
    for (int u = 0; u < paired; u += 2 * LANES)
        go_along(x + u, g + u, stream + u, dp, 2, t, alpha, go);
    for (int u = paired; u < dp; u += LANES)
        go_along(x + u, g + u, stream + u, dp, 1, t, alpha, go);
}

/* From the Euclidean gradient g at x, R = 1: as `descend`, by geodesics or parallel transport. */
INLINE int descend_on_sphere(Path *p, REAL alpha, int retraction, int transport, int first,
                             int go) {
    REAL t[R][R];
    lower_products(p->g, p->x, p->dp, t);
    for (int u = 0; u < p->dp; u += LANES)
        store(p->g + u, load(p->g + u) - t[0][0] * load(p->x + u));
    if (transport == PARALLEL && !first) {
        if (carry_along_sphere(p, alpha) == REFUSED) return REFUSED;
    } else {
        for (int u = 0; u < p->dp; u += LANES)
            store(p->stream + u, load(p->stream + u) + alpha * load(p->g + u));
    }
    if (!go) return DONE;
    if (retraction == EXP) {
        go_along_sphere(p, alpha);
        return DONE;
    }
    V s = splat(0);
    for (int u = 0; u < p->dp; u += LANES) {
        V y = load(p->x + u) - alpha * load(p->g + u);
        store(p->x + u, y);
        s += y * y;
    }
    const REAL length = root(sum(s));
    if (!(length > 0 && length < INFINITY)) return REFUSED;
    for (int u = 0; u < p->dp; u += LANES) store(p->x + u, load(p->x + u) / length);
    return DONE;
}

/* From the Euclidean gradient g of PCA at x, whose g x^T is symmetric: add to the stream, and go on
 * to the next point. */
APART int descend(Path *p, REAL alpha, int retraction, int transport, int first, int go) {
    if (R == 1 && (retraction == EXP || transport == PARALLEL))
        return descend_on_sphere(p, alpha, retraction, transport, first, go);
    REAL t[R][R];
    double gram[R][R], c[R][R];
    lower_products(p->g, p->x, p->dp, t);
    mirror(t);
    if (!go) {
        go_along_tangent(p, t, alpha, 0);
        return DONE;
    }
    go_along_tangent(p, t, alpha, 1);
    lower_products(p->x, p->x, p->dp, t);
    UNROLLED for (int a = 0; a < R; a++)
        UNROLLED for (int b = 0; b <= a; b++) gram[a][b] = t[a][b];
    if (coefficients(gram, c, retraction) == REFUSED) return REFUSED;
    if (retraction == POLAR)
        multiply(p->x, p->dp, c, 1);
    else
        multiply(p->x, p->dp, c, 0);
    return DONE;
}

/* The stream of projected gradients, projected onto the start's tangent space, all at once. */
APART void project_stream(Path *p) {
    REAL t[R][R], other[R][R];
    lower_products(p->stream, p->start, p->dp, t);
    lower_products(p->start, p->stream, p->dp, other);
    UNROLLED for (int a = 0; a < R; a++)
        UNROLLED for (int b = 0; b < a; b++) t[a][b] = (t[a][b] + other[a][b]) / 2;
    mirror(t);
    for (int u = 0; u < p->dp; u += LANES) {
        V entry[R];
        UNROLLED for (int b = 0; b < R; b++) entry[b] = load(p->start + b * p->dp + u);
        UNROLLED for (int a = 0; a < R; a++) {
            V z = load(p->stream + a * p->dp + u);
            UNROLLED for (int b = 0; b < R; b++) z -= t[a][b] * entry[b];
            store(p->stream + a * p->dp + u, z);
        }
    }
}

/* Where a client's result goes; a refused one is left NaN. */
APART void finish(Path *p, int state, int transport, REAL *stream, REAL *end) {
    if (state == REFUSED) {
        for (int j = 0; j < R * p->d; j++) {
            if (stream) stream[j] = NAN;
            if (end) end[j] = NAN;
        }
        return;
    }
    if (stream && transport == PROJECTION) project_stream(p);
    if (stream) put_rows(p, p->stream, stream);
    if (end) put_rows(p, p->x, end);
}

#endif
