/* PCA with fewer samples than dimensions: all steps in the span of the start and the samples.
 *
 * With the samples as rows of A, n of them, K = A A^T (`more`) and a weight w common to all rows,
 * write X = P X_0 + Q A and S = X A^T. Then the Euclidean gradient is w S A, and with
 * M = w S S^T (symmetric) the Riemannian gradient has the coordinates (-M P, w S - M Q); its
 * products with the samples are w S K - M S, and its Gram matrix is w^2 S K S^T - M^2. So a client
 * reads its samples twice, however many steps it makes; each step costs a product with K.
 */
#include "descent.h"
#include "stiefel_step.h"

typedef struct {
    int n, np;                        /* samples, and rounded up to whole vectors */
    REAL *s, *sk, *q, *qsum;          /* (R, np) each */
    double p[R][R], psum[R][R];
} Dual;

INLINE size_t dual_numbers(int n) { return (size_t)4 * R * padded(n); }

INLINE Dual dual_in(REAL *room, int n) {
    Dual u = {.n = n, .np = padded(n)};
    const size_t size = (size_t)R * u.np;
    u.s = room, u.sk = room + size, u.q = room + 2 * size, u.qsum = room + 3 * size;
    return u;
}

/* out[a][b] = <x_a, y_b>; symmetric for what it is used on. */
INLINE void grams(const REAL *x, const REAL *y, int np, double out[R][R]) {
    V s[R][R];
    for (int a = 0; a < R; a++)
        for (int b = 0; b <= a; b++) s[a][b] = splat(0);
    for (int u = 0; u < np; u += LANES)
        for (int a = 0; a < R; a++) {
            V entry = load(x + a * np + u);
            for (int b = 0; b <= a; b++) s[a][b] += entry * load(y + b * np + u);
        }
    for (int a = 0; a < R; a++)
        for (int b = 0; b <= a; b++) out[a][b] = out[b][a] = sum(s[a][b]);
}

INLINE void small_product(const double a[R][R], const double b[R][R], double c[R][R]) {
    for (int i = 0; i < R; i++)
        for (int j = 0; j < R; j++) {
            double s = 0;
            for (int k = 0; k < R; k++) s += a[i][k] * b[k][j];
            c[i][j] = s;
        }
}

static int dual_step(Dual *u, const REAL *kernel, double w, double alpha, int retraction, int go) {
    double m[R][R], mm[R][R], mp[R][R], gram[R][R], c[R][R], old[R][R];
    grams(u->s, u->s, u->np, m);
    for (int a = 0; a < R; a++)
        for (int b = 0; b < R; b++) m[a][b] *= w;
    small_product(m, m, mm);
    small_product(m, u->p, mp);
    if (go) {
        product(kernel, u->n, u->n, u->s, u->np, u->sk, u->np, NULL);
        grams(u->s, u->sk, u->np, gram);
    }
    for (int a = 0; a < R; a++)
        for (int b = 0; b < R; b++) {
            u->psum[a][b] -= alpha * mp[a][b];
            u->p[a][b] += alpha * mp[a][b];
            gram[a][b] = (a == b) + alpha * alpha * (w * w * gram[a][b] - mm[a][b]);
        }
    const REAL rw = (REAL)w, ra = (REAL)alpha;
    for (int v = 0; v < u->np; v += LANES) {
        V s[R], q[R];
        for (int b = 0; b < R; b++) s[b] = load(u->s + b * u->np + v), q[b] = load(u->q + b * u->np + v);
        for (int a = 0; a < R; a++) {
            V gq = rw * s[a], gs = go ? rw * load(u->sk + a * u->np + v) : splat(0);
            for (int b = 0; b < R; b++) gq -= (REAL)m[a][b] * q[b], gs -= (REAL)m[a][b] * s[b];
            store(u->qsum + a * u->np + v, load(u->qsum + a * u->np + v) + ra * gq);
            store(u->q + a * u->np + v, q[a] - ra * gq);
            store(u->s + a * u->np + v, s[a] - ra * gs);
        }
    }
    if (!go) return DONE;
    if (coefficients(gram, c, retraction) == REFUSED) return REFUSED;
    memcpy(old, u->p, sizeof old);
    small_product(c, old, u->p);
    multiply(u->q, u->np, c, retraction == POLAR);
    multiply(u->s, u->np, c, retraction == POLAR);
    return DONE;
}

/* out = p start + q A, padded rows. */
static void assemble(const double p[R][R], const REAL *q, int np, const REAL *data, int n,
                     const Path *path, REAL *out) {
    for (int v = 0; v < path->dp; v += LANES)
        for (int a = 0; a < R; a++) {
            V s = splat(0);
            for (int b = 0; b < R; b++) s += (REAL)p[a][b] * load(path->start + b * path->dp + v);
            store(out + a * path->dp + v, s);
        }
    for (int j = 0; j < n; j += GROUP) {
        const int count = least(GROUP, n - j);
        const REAL *row[GROUP];
        REAL t[R][GROUP];
        for (int m = 0; m < GROUP; m++) {
            row[m] = data + (size_t)(j + least(m, count - 1)) * path->d;
            for (int a = 0; a < R; a++) t[a][m] = m < count ? q[a * np + j + m] : 0;
        }
        spread(t, row, 0, path->d, out, path->dp);
    }
}

static void dual_begin(Dual *u, const Path *path, const REAL *data) {
    memset(u->s, 0, dual_numbers(u->n) * sizeof(REAL));
    memset(u->psum, 0, sizeof u->psum);
    for (int a = 0; a < R; a++)
        for (int b = 0; b < R; b++) u->p[a][b] = a == b;
    for (int j = 0; j < u->n; j += GROUP) {
        const int count = least(GROUP, u->n - j);
        const REAL *row[GROUP];
        REAL t[R][GROUP];
        for (int m = 0; m < GROUP; m++) row[m] = data + (size_t)(j + least(m, count - 1)) * path->d;
        scores(path->start, path->dp, row, count, path->d, t);
        for (int a = 0; a < R; a++)
            for (int m = 0; m < count; m++) u->s[a * u->np + j + m] = t[a][m];
    }
}

/* Rows past a client's own are zero in `data` and `more`; `weights` holds one number a client. */
int NAME(pca_dual)(const Descent *t) {
    const int d = (int)t->dimension, n = (int)t->samples;
    REAL *room = scratch((path_numbers(d) + dual_numbers(n)) * sizeof(REAL));
    if (!room) return 1;
    Path p = path_in(room, d);
    Dual u = dual_in(room + path_numbers(d), n);
    const int64_t point = (int64_t)R * d;
    for (int64_t i = 0; i < t->count; i++) {
        const int64_t client = t->clients[i];
        const REAL *data = t->data + client * n * d, *kernel = t->more + client * n * n;
        const REAL *alpha = t->alpha + i * t->alpha_stride;
        int state = DONE;
        begin(&p, t->start + i * t->start_stride);
        dual_begin(&u, &p, data);
        for (int64_t k = 0; k < t->steps && state == DONE; k++)
            state = dual_step(&u, kernel, t->factor * t->weights[client], alpha[k],
                              (int)t->retraction, k + 1 < t->steps || t->end);
        if (state == DONE && t->stream) assemble(u.psum, u.qsum, u.np, data, n, &p, p.stream);
        if (state == DONE && t->end) assemble(u.p, u.q, u.np, data, n, &p, p.x);
        finish(&p, state, PROJECTION, t->stream ? t->stream + i * point : NULL,
               t->end ? t->end + i * point : NULL);
        settle(t, i, point, state == REFUSED);
    }
    free(room);
    return 0;
}
