/* PCA with each client's matrix -2 C_i at hand (`data`): one product with it a step. */
#include "descent.h"
#include "stiefel_step.h"

int NAME(pca_gram)(const Descent *t) {
    const int d = (int)t->dimension;
    REAL *room = scratch(path_numbers(d) * sizeof(REAL));
    if (!room) return 1;
    Path p = path_in(room, d);
    const int64_t size = (int64_t)d * d, point = (int64_t)R * d;
    for (int64_t i = 0; i < t->count; i++) {
        const REAL *c = t->data + t->clients[i] * size;
        const REAL *next = i + 1 < t->count ? t->data + t->clients[i + 1] * size : NULL;
        const REAL *alpha = t->alpha + i * t->alpha_stride;
        int state = DONE;
        begin(&p, t->start + i * t->start_stride);
        for (int64_t k = 0; k < t->steps && state == DONE; k++) {
            const int last = k + 1 == t->steps;
            product(c, d, d, p.x, p.dp, p.g, p.dp, last ? next : NULL);
            state = descend(&p, alpha[k], (int)t->retraction, (int)t->transport, k == 0,
                            !last || t->end);
        }
        finish(&p, state, (int)t->transport, t->stream ? t->stream + i * point : NULL,
               t->end ? t->end + i * point : NULL);
        settle(t, i, point, state == REFUSED);
    }
    free(room);
    return 0;
}
