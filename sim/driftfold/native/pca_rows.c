/* PCA from samples: one pass over the rows a step, each used twice while it is in the cache.
 *
 * A mini-batch is a list of row numbers; nothing is gathered.
 */
#include "descent.h"
#include "stiefel_step.h"

/* g = sum_m w_m x row_m^T row_m. */
static void gradient(const REAL *data, const int32_t *rows, const REAL *weights, int n, Path *p) {
    memset(p->g, 0, sizeof(REAL) * R * p->dp);
    for (int j = 0; j < n; j += GROUP) {
        const int count = least(GROUP, n - j);
        const REAL *row[GROUP];
        REAL t[R][GROUP];
        for (int m = 0; m < GROUP; m++) row[m] = data + (size_t)rows[j + least(m, count - 1)] * p->d;
        scores(p->x, p->dp, row, count, p->d, t);
        for (int a = 0; a < R; a++)
            for (int m = 0; m < GROUP; m++) t[a][m] = m < count ? t[a][m] * weights[j + m] : 0;
        spread(t, row, 0, p->d, p->g, p->dp);
    }
}

int NAME(pca_rows)(const Descent *t) {
    const int d = (int)t->dimension;
    const int64_t most = most_rows(t), point = (int64_t)R * d;
    REAL *room = scratch((path_numbers(d) + most) * sizeof(REAL) + most * sizeof(int32_t));
    if (!room) return 1;
    Path p = path_in(room, d);
    REAL *weights = room + path_numbers(d);
    int32_t *rows = (int32_t *)(weights + most);
    for (int64_t i = 0; i < t->count; i++) {
        const REAL *data = t->data + t->clients[i] * t->samples * d;
        const REAL *alpha = t->alpha + i * t->alpha_stride;
        int state = DONE, n = 0;
        begin(&p, t->start + i * t->start_stride);
        for (int64_t k = 0; k < t->steps && state == DONE; k++) {
            if (k == 0 || t->batch_rows) n = weighted_rows(t, i, k, rows, weights);
            gradient(data, rows, weights, n, &p);
            state = descend(&p, alpha[k], (int)t->retraction, (int)t->transport, k == 0,
                            k + 1 < t->steps || t->end);
        }
        finish(&p, state, (int)t->transport, t->stream ? t->stream + i * point : NULL,
               t->end ? t->end + i * point : NULL);
        settle(t, i, point, state == REFUSED);
    }
    free(room);
    return 0;
}
