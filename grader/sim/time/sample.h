/* sample.h - leaves stretches of a launch out once they repeat.
 *
 * A launch of many waves is divided into stretches of whole waves. When three stretches in
 * succession have been alike in time, instructions, and use of the L2, the blocks of the next ones
 * are not played: their time follows from their instructions. The L2 still gets all their accesses,
 * so it holds what they leave there. If such a stretch uses it in another way than those that were
 * played, or has more or fewer instructions, the model plays again from there on.
 */
#ifndef SIM_TIME_SAMPLE_H
#define SIM_TIME_SAMPLE_H

#include "sim/time/memory.h"

enum { STRETCHES_ALIKE = 3 };

/* What the blocks of a stretch did. */
typedef struct Stretch {
    double start;          /* mean cycle at which they began */
    double instructions;   /* of PTX, by warps */
    double loaded, missed; /* sectors that SMs requested from the L2; those it did not have */
    double written;        /* cycles in which it wrote back to memory */
} Stretch;

enum { RECENT_BITS = 6 };

typedef struct Sample {
    Memory *memory;                      /* NULL: all blocks are played */
    long length, until;                  /* of a stretch, in blocks; until the current one ends */
    bool is_whole;                       /* the first one may be shorter */
    Stretch now, began;                  /* the current one so far; the counters when it began */
    Stretch played[STRETCHES_ALIKE + 1]; /* the last ones, latest first */
    int count;                           /* of them */
    double cycles;                       /* of all blocks left out so far */
    double unlike; /* instructions of a stretch left out that is not charged yet */
    /* While blocks are left out: */
    bool leaves_out;
    double rate;                       /* cycles per instruction */
    uint64_t at;                       /* the cycle at which the L2 gets their accesses */
    Memory *before;                    /* with the times of the blocks that were played */
    uint64_t recent[1 << RECENT_BITS]; /* words of the trace: lines that were loaded last */
} Sample;

/* Begins a launch of so many blocks. */
void sample_begin(Sample *sample, Memory *memory, long blocks, long wave);
/* The next block, before it is played; returns whether it is left out. `half` of the L2. */
bool sample_leaves_out(Sample *sample, const BlockTrace *trace, int half);
/* Whether the current stretch ends with that block. */
static inline bool sample_is_full(const Sample *sample)
{
    return sample->memory && sample->until <= 0;
}
/* A block that was not left out began at cycle `start`. */
void sample_began(Sample *sample, uint64_t start);
/* All blocks so far have begun, and the model has played up to `now`. */
void sample_played(Sample *sample, uint64_t now);
/* From now on all blocks are played. */
void sample_stop(Sample *sample);
void sample_close(Sample *sample);

#endif
