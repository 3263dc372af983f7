/* What a server does each round, in the order of the NumPy form and rounded as there: the same bits.
 *
 * So products are not fused into sums here; see building.py.
 */
#define BITS 64
#include "lanes.h"

#define MOST 12  /* rows of a matrix */
#define TOGETHER 4 /* vectors of columns that are summed side by side */

/* Sum of w_i v_i over the rows of v (rows, size), added in their order, of 4 vectors of columns. */
INLINE void sum_columns(const REAL *w, const REAL *v, int64_t rows, int64_t size, REAL *out) {
    V sum[TOGETHER];
    UNROLLED for (int u = 0; u < TOGETHER; u++) sum[u] = splat(0); /* and so no -0 */
    for (int64_t i = 0; i < rows; i++) {
        const V weight = splat(w[i]);
        const REAL *row = v + i * size;
        UNROLLED for (int u = 0; u < TOGETHER; u++) sum[u] += weight * load(row + u * LANES);
    }
    UNROLLED for (int u = 0; u < TOGETHER; u++) store(out + u * LANES, sum[u]);
}

/* Sum of w_i v_i over the rows of v (rows, size), added in their order. */
void NAME(weighted_sum)(const REAL *w, const REAL *v, int64_t rows, int64_t size, REAL *out) {
    int64_t j = 0;
    for (; j + TOGETHER * LANES <= size; j += TOGETHER * LANES)
        sum_columns(w, v + j, rows, size, out + j);
    for (; j < size; j++) {
        REAL sum = 0;
        for (int64_t i = 0; i < rows; i++) sum += w[i] * v[i * size + j];
        out[j] = sum;
    }
}

/* L^-1 of gram = L L^T, (r, r); returns 0, or 1 where the matrix has no such factor. */
int NAME(inverse_cholesky)(const REAL *gram, int64_t r, REAL *out) {
    REAL work[MOST][2 * MOST];
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < r; j++) {
            work[i][j] = gram[i * r + j];
            work[i][r + j] = i == j;
        }
    for (int64_t j = 0; j < r; j++) {
        const REAL *row = work[j];
        if (!(row[j] > 0)) return 1;
        for (int64_t i = j + 1; i < r; i++) {
            const REAL factor = work[i][j] / row[j];
            for (int64_t k = j + 1; k <= r + j; k++) work[i][k] -= factor * row[k];
        }
        const REAL root = sqrt(row[j]);
        for (int64_t k = 0; k < r; k++) out[j * r + k] = row[r + k] / root;
    }
    return 0;
}
