/* block.h - one block: its memory, which later blocks use again, and the turns of its warps. */
#ifndef SIM_EXEC_BLOCK_H
#define SIM_EXEC_BLOCK_H

#include "sim/exec/exec.h"

/* Returns false if out of memory; then close it, too. */
bool block_open(Block *block, Launch *launch);
void block_close(Block *block);

/* Block `number` of the launch begins. `cluster`: NULL, or its cluster, of which it is `rank`. */
void block_begin(Block *block, long number, Cluster *cluster, int rank);
void block_end(Block *block);

typedef enum Turn {
    TURN_NONE,  /* no warp could run, or a fatal finding ended the block */
    TURN_SPUN,  /* the warps that could run came back to an earlier state */
    TURN_MOVED, /* a warp made progress */
} Turn;

/* Warps that draw their work by an atomic counter draw again when they have done what they have:
 * the less a warp has executed, the sooner. */
typedef struct Deal {
    uint64_t level; /* a warp that has executed more waits */
    long turns;     /* of warps that did not */
    uint64_t least; /* what those that did have executed; UINT64_MAX: none */
} Deal;

/* Gives each warp that can run a turn. `seed`: of a random order. `deal`: NULL if work is not
 * drawn. */
Turn block_turn(Block *block, uint64_t *seed, Deal *deal);
/* Warps of a block that begins are as far as others. */
void block_join(Block *block, const Deal *deal);
bool block_is_done(const Block *block);
/* True if all warps of the block that could run are waiting, so that other blocks get a turn. */
bool block_waits(const Block *block);

/* The next number of a random sequence. */
uint64_t block_random(uint64_t *state);

#endif
