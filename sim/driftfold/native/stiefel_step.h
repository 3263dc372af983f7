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

/* t = sym(g x^T), from its lower half alone where g x^T is `symmetric`, as a gradient of PCA has it. */
INLINE void normal_part(const Path *p, const REAL *g, const REAL *x, const int symmetric,
                        REAL t[R][R]) {
    V s[R][R];
    for (int a = 0; a < R; a++)
        for (int b = 0; b < R; b++) s[a][b] = splat(0);
    for (int u = 0; u < p->dp; u += LANES) {
        V entry[R];
        for (int b = 0; b < R; b++) entry[b] = load(x + b * p->dp + u);
        for (int a = 0; a < R; a++) {
            V h = load(g + a * p->dp + u);
            for (int b = 0; b < (symmetric ? a + 1 : R); b++) s[a][b] += h * entry[b];
        }
    }
    for (int a = 0; a < R; a++)
        for (int b = 0; b <= a; b++) {
            REAL h = sum(s[a][b]);
            if (!symmetric && a != b) h = (h + sum(s[b][a])) / 2;
            t[a][b] = t[b][a] = h;
        }
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

/* From the Euclidean gradient g at x: add to the stream, and go on to the next point. */
APART int descend(Path *p, REAL alpha, int retraction, int transport, int first, int go) {
    const int dp = p->dp;
    const int sphere = R == 1 && retraction == EXP;
    const int carried = R == 1 && transport == PARALLEL && !first;
    REAL t[R][R];
    V s[R][R];
    normal_part(p, p->g, p->x, 1, t);
    for (int a = 0; a < R; a++)
        for (int b = 0; b < R; b++) s[a][b] = splat(0);
    for (int u = 0; u < dp; u += LANES) {
        V x[R], y[R];
        for (int a = 0; a < R; a++) x[a] = load(p->x + a * dp + u);
        for (int a = 0; a < R; a++) {
            V g = load(p->g + a * dp + u);
            for (int b = 0; b < R; b++) g -= t[a][b] * x[b];
            y[a] = x[a] - alpha * g;
            if (sphere || carried) store(p->g + a * dp + u, g);
            if (!carried) store(p->stream + a * dp + u, load(p->stream + a * dp + u) + alpha * g);
            if (!sphere && go && !carried) store(p->x + a * dp + u, y[a]);
        }
        for (int a = 0; a < R; a++)
            for (int b = 0; b <= a; b++) s[a][b] += y[a] * y[b];
    }
    if (carried && carry_along_sphere(p, alpha) == REFUSED) return REFUSED;
    if (!go) return DONE;
    if (sphere) {
        go_along_sphere(p, alpha);
        return DONE;
    }
    if (carried) /* x was still needed above */
        for (int u = 0; u < dp; u += LANES) store(p->x + u, load(p->x + u) - alpha * load(p->g + u));
    double gram[R][R], c[R][R];
    for (int a = 0; a < R; a++)
        for (int b = 0; b <= a; b++) gram[a][b] = sum(s[a][b]);
    if (coefficients(gram, c, retraction) == REFUSED) return REFUSED;
    if (retraction == POLAR)
        multiply(p->x, dp, c, 1);
    else
        multiply(p->x, dp, c, 0);
    return DONE;
}

/* The stream of projected gradients, projected onto the start's tangent space, all at once. */
APART void project_stream(Path *p) {
    REAL t[R][R];
    normal_part(p, p->stream, p->start, 0, t);
    for (int u = 0; u < p->dp; u += LANES)
        for (int a = 0; a < R; a++) {
            V z = load(p->stream + a * p->dp + u);
            for (int b = 0; b < R; b++) z -= t[a][b] * load(p->start + b * p->dp + u);
            store(p->stream + a * p->dp + u, z);
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
