/* What every kernel of K-step descent is told. */
#ifndef DRIFTFOLD_DESCENT_H
#define DRIFTFOLD_DESCENT_H

#include "lanes.h"

typedef struct {
    const int64_t *clients;  /* which clients' data, (count,) */
    int64_t count;           /* clients in this call */
    int64_t steps;           /* K */
    int64_t samples;         /* rows of a client's data */
    int64_t dimension;       /* length of a row, or size of a matrix */
    int64_t retraction, transport;
    const REAL *start;       /* start points, one for all or one for each */
    int64_t start_stride;    /* numbers from one client's start to the next: 0 when shared */
    const REAL *alpha;       /* step sizes of K steps, one list for all or one for each */
    int64_t alpha_stride;
    const REAL *data;        /* clients' data, one block each */
    const REAL *more;        /* further data of a kernel, or NULL */
    const REAL *weights;     /* of all rows of all clients; NULL with batches means ones */
    int64_t weights_stride;  /* numbers from one client's weights to the next: 0 when shared */
    int64_t drawn;           /* rows in a mini-batch */
    const int64_t *const *batch_rows;    /* K arrays (count, drawn) of row numbers, or NULL */
    const double *const *batch_weights;  /* K arrays (count, drawn) */
    double factor;           /* on all weights */
    REAL *stream;            /* sum_k alpha_k T(grad f(x_k)) carried to the start, or NULL */
    REAL *end;               /* x_K, or NULL */
    uint8_t *refused;        /* 1 for a client that must be done in the plain form, (count,) */
} Descent;

/* The rows of one step that have a weight: their numbers and weights. Returns how many. */
INLINE int weighted_rows(const Descent *t, int64_t i, int64_t k, int32_t *rows, REAL *weights) {
    int n = 0;
    if (t->batch_rows) {
        const int64_t *drawn = t->batch_rows[k] + i * t->drawn;
        const double *w = t->batch_weights[k] + i * t->drawn;
        const REAL *own = t->weights ? t->weights + t->clients[i] * t->weights_stride : NULL;
        for (int64_t j = 0; j < t->drawn; j++)
            if (w[j] != 0) {
                rows[n] = (int32_t)drawn[j];
                weights[n++] = (REAL)(t->factor * w[j]) * (own ? own[drawn[j]] : 1);
            }
    } else {
        const REAL *w = t->weights + t->clients[i] * t->weights_stride;
        for (int64_t j = 0; j < t->samples; j++)
            if (w[j] != 0) rows[n] = (int32_t)j, weights[n++] = (REAL)t->factor * w[j];
    }
    return n;
}

INLINE int64_t most_rows(const Descent *t) { return t->batch_rows ? t->drawn : t->samples; }

/* Whether one of a client's numbers is infinite or NaN, or so large that its square is. */
INLINE int wild(const REAL *out, int64_t size) {
    V squares = splat(0);
    REAL rest = 0;
    int64_t j = 0;
    if (!out) return 0;
    for (; j + LANES <= size; j += LANES) squares += load(out + j) * load(out + j);
    for (; j < size; j++) rest += out[j] * out[j];
    return !(sum(squares) + rest < INFINITY);
}

/* Tell whether client i, which sends `size` numbers, is left to the plain form: where the kernel
 * `refused`, and where the result is not finite, so that the plain form tells what happened. */
INLINE void settle(const Descent *t, int64_t i, int64_t size, int refused) {
    t->refused[i] = refused || wild(t->stream ? t->stream + i * size : NULL, size) ||
                    wild(t->end ? t->end + i * size : NULL, size);
}

#endif
