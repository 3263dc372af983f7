/* Descent on f(X) = sum_j w_j dist^2(X, Y_j) / 2 over n x n positive definite matrices.
 *
 * Affine-invariant metric. Points and data are factors, X = A A^T and Y_j = M_j M_j^T; a tangent
 * vector at X is a symmetric S, meaning A S A^T, so the condition number never gets squared. With
 * B = A^-1 M, log_X(Y) is log(B B^T) in this frame. One lane is one sample: one-sided Jacobi
 * rotations make the columns b_c of B orthogonal, and then
 *     log(B B^T) = sum_c log(|b_c|^2) / |b_c|^2 b_c b_c^T.
 * The rotated B is kept: after a step A <- A exp(-alpha G / 2) it only changes to
 * exp(alpha G / 2) B, whose columns are nearly orthogonal already.
 */
#include "descent.h"
#include "logarithm.h"

enum { PATH = 0, DIRECT = 1 };  /* transports: back along the path, or parallel straight back */
enum { DONE = 0, REFUSED = 1 }; /* of a client: REFUSED needs the plain form */
enum { HALF = (N + 1) / 2, ROUNDS = N % 2 ? N : N - 1 };
#define MOST_SWEEPS 30
#define ILL 1e6 /* condition number of a factor beyond which its inverse is not formed */
#if BITS == 64
#define ORTHOGONAL 1e-31  /* squared cosine below which a pair is left alone */
#define CONVERGED 1e-17   /* and below which a sweep was the last: the next is quadratically less */
#else
#define ORTHOGONAL 1e-14f
#define CONVERGED 1e-8f
#endif

typedef REAL Matrix[N][N];
typedef V Columns[N][N]; /* [column][row] of a matrix in each lane */

/* Disjoint pairs of columns, round by round (a round-robin tournament): rotations of one round do
 * not wait for each other. */
typedef struct {
    int8_t p[HALF], q[HALF];
    int count;
} Round;

static void tournament(Round rounds[ROUNDS]) {
    const int players = N + N % 2; /* an odd number has a player who is nobody */
    for (int r = 0; r < ROUNDS; r++) {
        rounds[r].count = 0;
        for (int i = 0; i < players / 2; i++) {
            int p = i ? (r + i) % (players - 1) : r;
            int q = i ? (r - i + players - 1) % (players - 1) : players - 1;
            if (p > q) p ^= q, q ^= p, p ^= q;
            if (q >= N) continue;
            rounds[r].p[rounds[r].count] = (int8_t)p;
            rounds[r].q[rounds[r].count++] = (int8_t)q;
        }
    }
}

INLINE V dot(const V *a, const V *b) {
    V s = a[0] * b[0];
    for (int r = 1; r < N; r++) s += a[r] * b[r];
    return s;
}

/* Rotate the columns of b until they are orthogonal. A lane that has converged stands still, so
 * that a sample's bits do not depend on the lanes beside it. */
APART int orthogonalise(Columns b, const Round rounds[ROUNDS]) {
    const V zero = splat(0), one = splat(1), tiny = splat((REAL)1e-37);
    M live = zero == zero;
    for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        V norm[N];
        M wide = zero != zero;
        for (int c = 0; c < N; c++) norm[c] = dot(b[c], b[c]);
        for (int r = 0; r < ROUNDS; r++) {
            const Round *pairs = &rounds[r];
            V cosine[HALF], sine[HALF];
            for (int i = 0; i < pairs->count; i++) {
                const int p = pairs->p[i], q = pairs->q[i];
                V g = dot(b[p], b[q]), gg = g * g, both = norm[p] * norm[q];
                M turn = (gg > (REAL)ORTHOGONAL * both) & live;
                wide |= gg > (REAL)CONVERGED * both;
                g = choose(turn, g, zero);
                V z = (REAL)0.5 * (norm[q] - norm[p]), h = roots(z * z + g * g) + tiny;
                V t = g / (z + choose(z < zero, -h, h));
                cosine[i] = one / roots(one + t * t);
                sine[i] = cosine[i] * t;
                norm[p] -= t * g;
                norm[q] += t * g;
            }
            for (int i = 0; i < pairs->count; i++) {
                V *x = b[pairs->p[i]], *y = b[pairs->q[i]], c = cosine[i], s = sine[i];
                for (int k = 0; k < N; k++) {
                    V u = x[k], v = y[k];
                    x[k] = c * u - s * v;
                    y[k] = s * u + c * v;
                }
            }
        }
        live &= wide;
        if (!any(live)) return DONE;
    }
    return REFUSED;
}

/* s += w log(b b^T), lower triangle, b with orthogonal columns. */
APART void add_logarithm(const Columns b, V w, Columns s) {
    for (int c = 0; c < N; c++) {
        V square = dot(b[c], b[c]), f = w * log_(square) / square;
        for (int r = 0; r < N; r++) {
            V e = f * b[c][r];
            for (int k = 0; k <= r; k++) s[r][k] += e * b[c][k];
        }
    }
}

/* b <- a b in every lane. */
APART void apply(const Matrix a, Columns b) {
    for (int c = 0; c < N; c++) {
        V column[N];
        for (int k = 0; k < N; k++) column[k] = b[c][k];
        for (int r = 0; r < N; r++) {
            V s = a[r][0] * column[0];
            for (int k = 1; k < N; k++) s += a[r][k] * column[k];
            b[c][r] = s;
        }
    }
}

static void multiply(const Matrix a, const Matrix b, Matrix c) {
    Matrix out;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) out[i][j] = 0;
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++) out[i][j] += a[i][k] * b[k][j];
    }
    memcpy(c, out, sizeof out);
}

/* e = exp(f s), symmetric s: Taylor's series after halving, then squared again. */
static void exponential(const Matrix s, REAL f, Matrix e) {
    Matrix x, term;
    REAL most = 0;
    int halved = 0;
    for (int i = 0; i < N; i++) {
        REAL row = 0;
        for (int j = 0; j < N; j++) row += (REAL)fabs((double)(f * s[i][j]));
        most = row > most || row != row ? row : most;
    }
    for (; most > (REAL)0.25 && halved < 60; halved++) most *= (REAL)0.5, f *= (REAL)0.5;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            x[i][j] = f * s[i][j];
            term[i][j] = x[i][j];
            e[i][j] = x[i][j] + (i == j);
        }
    for (int m = 2; m < (BITS == 64 ? 13 : 8); m++) {
        multiply(term, x, term);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) term[i][j] /= (REAL)m, e[i][j] += term[i][j];
    }
    while (halved--) multiply(e, e, e);
}

/* a^-1 by elimination with partial pivoting, if a is not ill-conditioned. */
static int invert(const REAL *a, Matrix inverse) {
    double m[N][2 * N], size = 0, inverse_size = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) m[i][j] = a[i * N + j], m[i][N + j] = i == j;
    for (int c = 0; c < N; c++) {
        int p = c;
        for (int r = c + 1; r < N; r++)
            if (fabs(m[r][c]) > fabs(m[p][c])) p = r;
        for (int j = 0; p != c && j < 2 * N; j++) {
            double t = m[c][j];
            m[c][j] = m[p][j], m[p][j] = t;
        }
        double f = 1 / m[c][c];
        for (int j = 0; j < 2 * N; j++) m[c][j] *= f;
        for (int r = 0; r < N; r++) {
            f = m[r][c];
            for (int j = 0; r != c && j < 2 * N; j++) m[r][j] -= f * m[c][j];
        }
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            size += (double)a[i * N + j] * a[i * N + j];
            inverse_size += m[i][N + j] * m[i][N + j];
            inverse[i][j] = (REAL)m[i][N + j];
        }
    return size * inverse_size <= ILL * ILL ? DONE : REFUSED;
}

/* o = (e e^T)^(-1/2) e by Newton's and Schulz's iteration: e is near the identity after short steps,
 * and is scaled down to singular values of at most 1 where it is not. */
static void polar(const Matrix e, Matrix o) {
    REAL norm = 0, last = INFINITY;
    memcpy(o, e, sizeof(Matrix));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) norm += e[i][j] * e[i][j];
    for (int round = 0; round < 100; round++) {
        Matrix gram, t;
        REAL off = 0;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                REAL s = 0;
                for (int k = 0; k < N; k++) s += o[i][k] * o[j][k];
                gram[i][j] = s;
                off += (s - (i == j)) * (s - (i == j));
            }
        if (round == 0 && !(off < (REAL)0.5)) {
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++) o[i][j] /= root(norm);
            continue;
        }
        if (!(off < last) && last < (REAL)1e-6) return; /* nothing is left but rounding */
        last = off;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) t[i][j] = (i == j) * (REAL)1.5 - (REAL)0.5 * gram[i][j];
        multiply(t, o, o);
    }
}

/* Lanes of one group of samples: the columns of their factors, the identity where there is none. */
static void gather(const REAL *data, const int32_t *rows, int count, Columns b) {
    for (int l = 0; l < LANES; l++) {
        const REAL *m = data + (l < count ? (size_t)rows[l] * N * N : 0);
        for (int r = 0; r < N; r++)
            for (int c = 0; c < N; c++) b[c][r][l] = l < count ? m[r * N + c] : r == c;
    }
}

typedef struct {
    Matrix inverse;  /* A_k^-1 for mini-batches, A_0^-1 at first */
    Matrix moved;    /* A_0^-1 A_k */
    Matrix up;       /* exp(alpha G / 2): from B_k to B_k+1 */
} Frame;

static void add_stream(const Matrix g, const Frame *f, REAL alpha, int direct, REAL *stream) {
    Matrix carried, o;
    memcpy(carried, g, sizeof carried);
    if (direct) {
        polar(f->moved, o);
        multiply(o, g, carried);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                REAL s = 0;
                for (int k = 0; k < N; k++) s += carried[i][k] * o[j][k];
                stream[i * N + j] += alpha * s / 2;
                stream[j * N + i] += alpha * s / 2;
            }
        return;
    }
    for (int j = 0; j < N * N; j++) stream[j] += alpha * (&carried[0][0])[j];
}

int NAME(spd_mean)(const Descent *t) {
    const int64_t most = most_rows(t), groups = (most + LANES - 1) / LANES, size = N * N;
    Columns *b = scratch(groups * (sizeof *b + sizeof(V) + LANES * sizeof(int32_t)));
    if (!b) return 1;
    REAL *weights = (REAL *)(b + groups);
    int32_t *rows = (int32_t *)(weights + groups * LANES);
    Round rounds[ROUNDS];
    tournament(rounds);
    for (int64_t i = 0; i < t->count; i++) {
        const REAL *data = t->data + t->clients[i] * t->samples * size;
        const REAL *alpha = t->alpha + i * t->alpha_stride, *start = t->start + i * t->start_stride;
        REAL *stream = t->stream ? t->stream + i * size : NULL;
        int n = 0, state;
        Frame f;
        state = invert(start, f.inverse);
        for (int j = 0; j < size; j++) {
            (&f.moved[0][0])[j] = j % (N + 1) == 0;
            if (stream) stream[j] = 0;
        }
        for (int64_t k = 0; k < t->steps && state == DONE; k++) {
            const int anew = k == 0 || t->batch_rows;
            Columns s;
            Matrix g, down;
            if (anew) {
                n = weighted_rows(t, i, k, rows, weights);
                for (int j = n; j < groups * LANES; j++) weights[j] = 0;
            }
            memset(s, 0, sizeof s);
            for (int j = 0; j < n; j += LANES) {
                V *group = &b[j / LANES][0][0];
                if (anew) gather(data, rows + j, n - j < LANES ? n - j : LANES, (V(*)[N])group);
                apply(anew ? f.inverse : f.up, (V(*)[N])group);
                state |= orthogonalise((V(*)[N])group, rounds);
                add_logarithm((V(*)[N])group, -load(weights + j), s);
            }
            for (int r = 0; r < N; r++)
                for (int c = 0; c <= r; c++) g[r][c] = g[c][r] = sum(s[r][c]);
            if (stream) add_stream(g, &f, alpha[k], t->transport == DIRECT && k, stream);
            if (k + 1 == t->steps && !t->end) break;
            exponential(g, alpha[k] / 2, f.up);
            exponential(g, -alpha[k] / 2, down);
            multiply(f.moved, down, f.moved);
            if (t->batch_rows) multiply(f.up, f.inverse, f.inverse);
        }
        if (t->end) {
            Matrix a;
            memcpy(a, start, sizeof a);
            multiply(a, f.moved, (REAL(*)[N])(t->end + i * size));
        }
        for (int j = 0; state == REFUSED && j < size; j++) {
            if (stream) stream[j] = NAN;
            if (t->end) t->end[i * size + j] = NAN;
        }
        settle(t, i, size, state == REFUSED);
    }
    free(b);
    return 0;
}
