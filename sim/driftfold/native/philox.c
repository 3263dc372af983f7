/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011): blocks of four words, or of two fractions.
 *
 * Whole numbers only, and one exact product: the same bits as in the NumPy form.
 */
#include <stdint.h>

typedef struct {
    uint64_t key;
    const uint64_t *clients, *visits; /* one of each for a row */
    int64_t rows;
    uint64_t purpose, first;          /* the purpose's name, and the first block's number */
    int64_t count;                    /* numbers in a row */
} Draws;

/* The words of counter (block, client, visit, purpose). */
static inline void mix(const Draws *t, uint64_t block, int64_t row, uint32_t c[4]) {
    uint32_t low = (uint32_t)t->key, high = (uint32_t)(t->key >> 32);
    c[0] = (uint32_t)block, c[1] = (uint32_t)t->clients[row];
    c[2] = (uint32_t)t->visits[row], c[3] = (uint32_t)t->purpose;
    for (int turn = 0; turn < 10; turn++, low += 0x9E3779B9u, high += 0xBB67AE85u) {
        const uint64_t p = (uint64_t)0xD2511F53u * c[0], q = (uint64_t)0xCD9E8D57u * c[2];
        c[0] = (uint32_t)(q >> 32) ^ c[1] ^ low, c[1] = (uint32_t)q;
        c[2] = (uint32_t)(p >> 32) ^ c[3] ^ high, c[3] = (uint32_t)p;
    }
}

/* out (rows, count): words. */
void NAME(words)(const Draws *t, uint32_t *out) {
    for (int64_t row = 0; row < t->rows; row++)
        for (int64_t done = 0; done < t->count; done += 4) {
            uint32_t c[4];
            mix(t, t->first + (uint64_t)done / 4, row, c);
            for (int64_t j = 0; j < 4 && done + j < t->count; j++) *out++ = c[j];
        }
}

/* out (rows, count): multiples of 2^-53 in [0, 1), of two words each, the lower one first. */
void NAME(fractions)(const Draws *t, double *out) {
    for (int64_t row = 0; row < t->rows; row++)
        for (int64_t done = 0; done < t->count; done += 2) {
            uint32_t c[4];
            mix(t, t->first + (uint64_t)done / 2, row, c);
            for (int64_t j = 0; j < 2 && done + j < t->count; j++) {
                const uint64_t pair = c[2 * j] | (uint64_t)c[2 * j + 1] << 32;
                *out++ = (double)(pair >> 11) * 0x1p-53;
            }
        }
}
