/* What a server does each round, in the order of the NumPy form and rounded as there: the same bits.
 *
 * So products are not fused into sums here; see building.py.
 */
#include <math.h>
#include <stdint.h>

#define MOST 12 /* rows of a matrix */

/* Sum of w_i v_i over the rows of v (rows, size), added in their order. */
void NAME(weighted_sum)(const double *w, const double *v, int64_t rows, int64_t size, double *out) {
    for (int64_t j = 0; j < size; j++) out[j] = 0; /* and so no -0 */
    for (int64_t i = 0; i < rows; i++) {
        const double *row = v + i * size;
        for (int64_t j = 0; j < size; j++) out[j] += w[i] * row[j];
    }
}

/* L^-1 of gram = L L^T, (r, r); returns 0, or 1 where the matrix has no such factor. */
int NAME(inverse_cholesky)(const double *gram, int64_t r, double *out) {
    double work[MOST][2 * MOST];
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < r; j++) {
            work[i][j] = gram[i * r + j];
            work[i][r + j] = i == j;
        }
    for (int64_t j = 0; j < r; j++) {
        const double *row = work[j];
        if (!(row[j] > 0)) return 1;
        for (int64_t i = j + 1; i < r; i++) {
            const double factor = work[i][j] / row[j];
            for (int64_t k = j + 1; k <= r + j; k++) work[i][k] -= factor * row[k];
        }
        const double root = sqrt(row[j]);
        for (int64_t k = 0; k < r; k++) out[j * r + k] = row[r + k] / root;
    }
    return 0;
}
