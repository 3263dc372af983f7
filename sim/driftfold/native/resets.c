/* Searches among the switches of participation/resets.py: who is on, and until when.
 *
 * Times are the bits of the NumPy form: a sum and products of two numbers, each rounded once. Rates
 * that follow the day may differ from it in their last bits, for the cosine is another. So a client
 * is handed back, to be answered in that form, where a mark lies within `margin` of a rate; and
 * where its id or its blocks' numbers are none that this form knows.
 */
#include <math.h>

#include "philox.h"

#define DAY 86400.0
#define TURN 6.283185307179586 /* 2 pi */
#define UNIT 0x1p-32
#define MOST 64 /* candidates of a block */

enum { OFF, ON, NOTHING, UNSURE };

typedef struct {
    const char *first;
    int64_t stride; /* in bytes; 0 where all clients have the same number */
} Column;           /* a number for each client */

typedef struct {
    uint64_t key, draws, early; /* the seed; names of the streams of blocks and of first states */
    int64_t clients, warm;      /* size of the fleet; blocks before time 0 */
    double mean;                /* candidates in a block */
    const double *cumulative;   /* P(candidates <= n), the last one 1 */
    Column bound, start, on, off, top;
    double amplitude, amplitude_off, margin;
} Resets;

typedef struct {
    double time, mark;
} Candidate;

static inline double of(Column column, int64_t client) {
    return *(const double *)(column.first + column.stride * client);
}

/* What happens in a block; returns how many candidates there are. */
static int draw(const Resets *r, int64_t client, int64_t block, double length, Candidate *out) {
    uint32_t words[4 + 3 * MOST];
    const uint32_t who = (uint32_t)client, visit = (uint32_t)(block + r->warm);
    mix(r->key, 0, who, visit, (uint32_t)r->draws, words);
    const double u = words[0] * UNIT;
    int count = 0;
    while (r->cumulative[count] <= u) count++;
    for (int number = 1; 4 * number < 1 + 3 * count; number++)
        mix(r->key, (uint32_t)number, who, visit, (uint32_t)r->draws, words + 4 * number);
    for (int j = 0; j < count; j++) {
        const uint32_t *own = words + 1 + 3 * j;
        const double place = (own[0] + own[1] * UNIT) * UNIT;
        out[j] = (Candidate){((double)block + place) * length, own[2] * UNIT};
    }
    return count;
}

/* The state that a candidate sets, if any. */
static int effect(const Resets *r, int64_t client, Candidate c) {
    double wave = 0;
    if (r->amplitude != 0 || r->amplitude_off != 0)
        wave = cos(TURN * (fmod(c.time, DAY) - of(r->top, client)) / DAY);
    const double comes = of(r->on, client) * (1 + r->amplitude * wave);
    const double stays = 1 - of(r->off, client) * (1 - r->amplitude_off * wave);
    if (fabs(c.mark - comes) <= r->margin || fabs(c.mark - stays) <= r->margin) return UNSURE;
    return c.mark < comes ? ON : c.mark >= stays ? OFF : NOTHING;
}

/* The block that holds t, by the very products that blocks start at; false if it is too far. */
static int find_block(double t, double length, int64_t *block) {
    double number = floor(t / length);
    if ((number + 1) * length <= t) number += 1;
    if (number * length > t) number -= 1;
    if (!(fabs(number) < 0x1p31)) return 0;
    *block = (int64_t)number;
    return 1;
}

/* The state that the latest switch up to t has set, looking back from the block that holds t. */
static int state_at(const Resets *r, int64_t client, double t, double length, int64_t block) {
    Candidate drawn[MOST];
    for (; block >= -r->warm; block--) {
        const int count = draw(r, client, block, length, drawn);
        for (;;) {
            int latest = -1;
            for (int j = 0; j < count; j++)
                if (drawn[j].time <= t && (latest < 0 || drawn[j].time > drawn[latest].time))
                    latest = j;
            if (latest < 0) break;
            const int sets = effect(r, client, drawn[latest]);
            if (sets != NOTHING) return sets;
            drawn[latest].time = INFINITY;
        }
    }
    uint32_t words[4];
    mix(r->key, 0, (uint32_t)client, 0, (uint32_t)r->early, words);
    return fraction(words) < of(r->start, client) ? ON : OFF;
}

/* When the client's state is no longer `on`, from t, or infinity; NaN where it is handed back. */
static double change_after(const Resets *r, int64_t client, double t, int on, int64_t ahead,
                           double length, int64_t block) {
    const int state = state_at(r, client, t, length, block);
    if (state == UNSURE) return NAN;
    if (state != on) return t;
    if (of(r->start, client) == on) return INFINITY; /* always, or never */
    const int64_t last = block + ahead;
    for (block = block < -r->warm ? -r->warm : block; block < last; block++) {
        Candidate drawn[MOST];
        const int count = draw(r, client, block, length, drawn);
        double first = INFINITY;
        for (int j = 0; j < count; j++) {
            if (!(drawn[j].time > t && drawn[j].time < first)) continue;
            const int sets = effect(r, client, drawn[j]);
            if (sets == UNSURE) return NAN;
            if (sets == !on) first = drawn[j].time;
        }
        if (first < INFINITY) return first;
    }
    return INFINITY;
}

/* out (count,): 0 off, 1 on, 3 handed back; returns how many are handed back. */
int64_t NAME(resets_states)(const Resets *r, const int64_t *clients, int64_t count, double t,
                            uint8_t *out) {
    int64_t left = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t client = clients[i];
        int64_t block;
        out[i] = UNSURE;
        if (client >= 0 && client < r->clients) {
            const double length = r->mean / of(r->bound, client);
            if (find_block(t, length, &block))
                out[i] = (uint8_t)state_at(r, client, t, length, block);
        }
        left += out[i] == UNSURE;
    }
    return left;
}

/* out (count,): when each client, from t, ceases to be `on` (1) or off (0): t itself if it is not,
 * infinity if never within `ahead` blocks, NaN if handed back; returns how many are. */
int64_t NAME(resets_changes)(const Resets *r, const int64_t *clients, int64_t count, double t,
                             int64_t on, int64_t ahead, double *out) {
    int64_t left = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t client = clients[i];
        int64_t block;
        out[i] = NAN;
        if (client >= 0 && client < r->clients) {
            const double length = r->mean / of(r->bound, client);
            if (find_block(t, length, &block) && block + ahead + r->warm < (int64_t)1 << 32)
                out[i] = change_after(r, client, t, (int)on, ahead, length, block);
        }
        left += isnan(out[i]);
    }
    return left;
}
