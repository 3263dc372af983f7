/* Numbers of Philox4x32-10 for many counters: the same bits as in the NumPy form. */
#include "philox.h"

typedef struct {
    uint64_t key;
    const uint64_t *clients, *visits; /* one of each for a row */
    int64_t rows;
    uint64_t purpose, first;          /* the purpose's name, and the first block's number */
    int64_t count;                    /* numbers in a row */
} Draws;

static inline void block_of(const Draws *t, int64_t number, int64_t row, uint32_t c[4]) {
    mix(t->key, (uint32_t)(t->first + (uint64_t)number), (uint32_t)t->clients[row],
        (uint32_t)t->visits[row], (uint32_t)t->purpose, c);
}

/* out (rows, count): words. */
void NAME(words)(const Draws *t, uint32_t *out) {
    for (int64_t row = 0; row < t->rows; row++)
        for (int64_t done = 0; done < t->count; done += 4) {
            uint32_t c[4];
            block_of(t, done / 4, row, c);
            for (int64_t j = 0; j < 4 && done + j < t->count; j++) *out++ = c[j];
        }
}

/* out (rows, count): multiples of 2^-53 in [0, 1), of two words each, the lower one first. */
void NAME(fractions)(const Draws *t, double *out) {
    for (int64_t row = 0; row < t->rows; row++)
        for (int64_t done = 0; done < t->count; done += 2) {
            uint32_t c[4];
            block_of(t, done / 2, row, c);
            for (int64_t j = 0; j < 2 && done + j < t->count; j++) *out++ = fraction(c + 2 * j);
        }
}

/* out (rows, count): whole numbers below each row's bound, of two words each, the lower one first:
 * floor(words * bound / 2^64), bound up to 2^32. */
void NAME(integers)(const Draws *t, const uint64_t *bounds, int64_t *out) {
    for (int64_t row = 0; row < t->rows; row++)
        for (int64_t done = 0; done < t->count; done += 2) {
            uint32_t c[4];
            block_of(t, done / 2, row, c);
            for (int64_t j = 0; j < 2 && done + j < t->count; j++) {
                const uint64_t low = c[2 * j] * bounds[row], high = c[2 * j + 1] * bounds[row];
                *out++ = (int64_t)((high + (low >> 32)) >> 32);
            }
        }
}

/* What Box and Muller make normals of, for the pairs of fractions u, v of each row: 1 - u to
 * `rest`, 2 pi v to `angles`, both (rows, count). */
void NAME(polar)(const Draws *t, double *rest, double *angles) {
    for (int64_t row = 0; row < t->rows; row++)
        for (int64_t pair = 0; pair < t->count; pair++) {
            uint32_t c[4];
            block_of(t, pair, row, c);
            *rest++ = 1 - fraction(c);
            *angles++ = 6.283185307179586 * fraction(c + 2); /* 2 pi */
        }
}
