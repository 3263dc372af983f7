/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011): a block of four words. */
#ifndef DRIFTFOLD_PHILOX_H
#define DRIFTFOLD_PHILOX_H

#include <stdint.h>

/* The words of counter (block, client, visit, purpose). */
static inline void mix(uint64_t key, uint32_t block, uint32_t client, uint32_t visit,
                       uint32_t purpose, uint32_t c[4]) {
    uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);
    c[0] = block, c[1] = client, c[2] = visit, c[3] = purpose;
    for (int turn = 0; turn < 10; turn++, low += 0x9E3779B9u, high += 0xBB67AE85u) {
        const uint64_t p = (uint64_t)0xD2511F53u * c[0], q = (uint64_t)0xCD9E8D57u * c[2];
        c[0] = (uint32_t)(q >> 32) ^ c[1] ^ low, c[1] = (uint32_t)q;
        c[2] = (uint32_t)(p >> 32) ^ c[3] ^ high, c[3] = (uint32_t)p;
    }
}

/* A multiple of 2^-53 in [0, 1), of two words, the lower one first: exact. */
static inline double fraction(const uint32_t pair[2]) {
    return (double)((pair[0] | (uint64_t)pair[1] << 32) >> 11) * 0x1p-53;
}

#endif
