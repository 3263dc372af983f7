/* Products of R rows with the rows of a large matrix, each entry of which is used R times. */
#ifndef DRIFTFOLD_PRODUCTS_H
#define DRIFTFOLD_PRODUCTS_H

#include "lanes.h"

/* Vectors in a block of columns, so that R x WIDTH sums stay in registers. */
#if REGISTERS == 32
#define WIDTH (R <= 2 ? 8 : R <= 6 ? 4 : 3)
#else
#define WIDTH (R == 1 ? 8 : R == 2 ? 4 : R <= 4 ? 3 : R <= 6 ? 2 : 1)
#endif
/* Rows whose R scores each stay in registers. */
#if REGISTERS == 32
#define PAIR (R <= 6 ? 4 : 2)
#else
#define PAIR (R <= 3 ? 4 : R <= 6 ? 2 : 1)
#endif
#define GROUP 4 /* rows taken together */

INLINE int padded(int d) { return (d + LANES - 1) / LANES * LANES; }

INLINE int least(int a, int b) { return a < b ? a : b; }

/* Lanes of a row's last, partial vector, which is loaded at d - LANES. */
INLINE M last_lanes(int d) {
    M mask;
    for (int l = 0; l < LANES; l++) mask[l] = l < LANES - d % LANES ? 0 : -1;
    return mask;
}

INLINE V load_some(const REAL *p, int count) {
    V v = splat(0);
    memcpy(&v, p, count * sizeof(REAL));
    return v;
}

/* g[:, v .. v + width) = x c over all rows of c; g may be written twice, with the same numbers. */
APART void column_block(const REAL *c, long stride, int rows, const REAL *x, long dx, REAL *g, long dg,
                        const REAL *ahead) {
    enum { width = WIDTH };
    V s[R][width];
    for (int a = 0; a < R; a++)
        for (int w = 0; w < width; w++) s[a][w] = splat(0);
    const long step = ahead ? stride : 0; /* without one, what is here is fetched again and again */
    if (!ahead) ahead = c;
    for (int j = 0; j < rows; j++, c += stride, ahead += step, x++) {
        V row[width];
        for (int w = 0; w < width; w++) row[w] = load(c + w * LANES);
        __builtin_prefetch(ahead, 0, 2);
        for (int a = 0; a < R; a++) {
            V entry = splat(x[a * dx]);
            for (int w = 0; w < width; w++) s[a][w] += entry * row[w];
        }
    }
    for (int a = 0; a < R; a++)
        for (int w = 0; w < width; w++) store(g + a * dg + w * LANES, s[a][w]);
}

/* The same for one vector of columns: two rows at a time, so that sums do not wait for each other. */
APART void narrow_block(const REAL *c, long stride, int rows, const REAL *x, long dx, REAL *g, long dg) {
    V s[R][2];
    for (int a = 0; a < R; a++) s[a][0] = s[a][1] = splat(0);
    for (int j = 0; j + 1 < rows; j += 2, c += 2 * stride) {
        V row[2] = {load(c), load(c + stride)};
        for (int a = 0; a < R; a++)
            for (int h = 0; h < 2; h++) s[a][h] += x[a * dx + j + h] * row[h];
    }
    if (rows % 2) {
        V row = load(c);
        for (int a = 0; a < R; a++) s[a][0] += x[a * dx + rows - 1] * row;
    }
    for (int a = 0; a < R; a++) store(g + a * dg, s[a][0] + s[a][1]);
}

/* t[a][m] = <x_a, row_m> over d columns, for `count` <= GROUP rows; x is padded with zeros. */
APART void scores(const REAL *x, int dx, const REAL *const row[GROUP], int count, int d,
                   REAL t[R][GROUP]) {
    const int whole = d / LANES * LANES;
    const M mask = last_lanes(d);
    for (int m = 0; m < count; m += PAIR) {
        const int pair = least(PAIR, count - m);
        V s[R][PAIR];
        for (int a = 0; a < R; a++)
            for (int p = 0; p < PAIR; p++) s[a][p] = splat(0);
        if (pair == PAIR) {
            for (int u = 0; u < whole; u += LANES) {
                V z[PAIR];
                for (int p = 0; p < PAIR; p++) z[p] = load(row[m + p] + u);
                for (int a = 0; a < R; a++) {
                    V entry = load(x + a * dx + u);
                    for (int p = 0; p < PAIR; p++) s[a][p] += entry * z[p];
                }
            }
        } else {
            for (int p = 0; p < pair; p++)
                for (int u = 0; u < whole; u += LANES) {
                    V z = load(row[m + p] + u);
                    for (int a = 0; a < R; a++) s[a][p] += load(x + a * dx + u) * z;
                }
        }
        if (whole < d)
            for (int p = 0; p < pair; p++) {
                V z = whole ? (V)((M)load(row[m + p] + d - LANES) & mask) : load_some(row[m + p], d);
                for (int a = 0; a < R; a++)
                    s[a][p] += load(x + a * dx + (whole ? d - LANES : 0)) * z;
            }
        for (int a = 0; a < R; a++)
            for (int p = 0; p < pair; p++) t[a][m + p] = sum(s[a][p]);
    }
}

/* g_a += sum_m t[a][m] row_m over columns from .. to, for GROUP rows (t is 0 where there are
 * fewer); `to` is d or a whole number of vectors. */
APART void spread(const REAL t[R][GROUP], const REAL *const row[GROUP], int from, int to, REAL *g,
                   int dg) {
    const int whole = from + (to - from) / LANES * LANES;
    int u = from;
    for (; u + LANES < whole; u += 2 * LANES) {
        V z[GROUP][2];
        for (int m = 0; m < GROUP; m++)
            for (int h = 0; h < 2; h++) z[m][h] = load(row[m] + u + h * LANES);
        for (int a = 0; a < R; a++) {
            V s[2] = {load(g + a * dg + u), load(g + a * dg + u + LANES)};
            for (int m = 0; m < GROUP; m++) {
                V entry = splat(t[a][m]);
                for (int h = 0; h < 2; h++) s[h] += entry * z[m][h];
            }
            for (int h = 0; h < 2; h++) store(g + a * dg + u + h * LANES, s[h]);
        }
    }
    for (; u < whole; u += LANES)
        for (int a = 0; a < R; a++) {
            V s = load(g + a * dg + u);
            for (int m = 0; m < GROUP; m++) s += t[a][m] * load(row[m] + u);
            store(g + a * dg + u, s);
        }
    if (whole < to) {
        const int at = to < LANES ? 0 : to - LANES;
        const M mask = last_lanes(to);
        for (int a = 0; a < R; a++) {
            V s = load(g + a * dg + at);
            for (int m = 0; m < GROUP; m++) {
                V z = to < LANES ? load_some(row[m], to) : (V)((M)load(row[m] + at) & mask);
                s += t[a][m] * z;
            }
            store(g + a * dg + at, s);
        }
    }
}

#define BLOCK_BYTES 400000 /* a matrix up to this size stays in a second-level cache */
#define CHUNK_BYTES 16384  /* of g that stays in the first-level cache */

/* g = x c, with c of shape (rows, d), contiguous; x (R, dx), g (R, dg), padded with zeros.
 *
 * Small matrices by blocks of columns whose sums stay in registers; large ones by groups of whole
 * rows, which memory delivers faster. `ahead` is prefetched: the next client's matrix, or NULL.
 */
APART void product(const REAL *c, int rows, int d, const REAL *x, int dx, REAL *g, int dg,
                    const REAL *ahead) {
    const int wide = WIDTH * LANES;
    if (d >= wide && (size_t)rows * d * sizeof(REAL) <= BLOCK_BYTES) {
        for (int v = 0; v < d; v += wide) {
            if (WIDTH > 1 && d - v <= LANES) { /* the last block overlaps the one before */
                narrow_block(c + d - LANES, d, rows, x, dx, g + d - LANES, dg);
                break;
            }
            const int at = least(v, d - wide);
            column_block(c + at, d, rows, x, dx, g + at, dg, ahead ? ahead + at : NULL);
        }
        return;
    }
    memset(g, 0, sizeof(REAL) * R * dg);
    const int chunk = CHUNK_BYTES / (int)sizeof(REAL) / R / LANES * LANES;
    for (int from = 0; from < d; from += chunk) {
        const int to = least(from + chunk, d);
        for (int j = 0; j < rows; j += GROUP) {
            const int count = least(GROUP, rows - j);
            const REAL *row[GROUP];
            REAL t[R][GROUP];
            for (int m = 0; m < GROUP; m++) {
                row[m] = c + (size_t)(j + least(m, count - 1)) * d;
                for (int a = 0; a < R; a++) t[a][m] = m < count ? x[a * dx + j + m] : 0;
            }
            spread(t, row, from, to, g, dg);
        }
    }
}

#endif
