/* follow.h - compares a launch with earlier ones while its blocks end.
 *
 * As long as it is like one of them, nothing is played. If it is not like any of them any more, or
 * something must be known that only playing can tell, all its blocks so far are played, in their
 * order.
 */
#ifndef SIM_TIME_FOLLOW_H
#define SIM_TIME_FOLLOW_H

#include "sim/time/earlier.h"

typedef enum FollowMode {
    NOT_FOLLOWED,
    PLAYED,  /* and stored at its end */
    REPEATS, /* an earlier launch, so far */
} FollowMode;

/* Of a launch. */
typedef struct Follow {
    Gpu *gpu;
    FollowMode mode;
    Digest shape, start;
    Digester digester;
    Digest *blocks; /* as of EarlierLaunch */
    long block_count, block_room;
    uint64_t alike; /* earlier launches that it may repeat, one bit each */
    /* The blocks so far: the first `events` of what an earlier launch has kept, then those that are
     * kept here. */
    const Backlog *repeated; /* NULL: none has been found that has kept its traces */
    long events;
    Backlog kept;
    BlockTrace *running; /* of blocks that have begun and not ended, while it repeats */
    int codes;           /* of called functions that are known */
    bool *first_codes;   /* by function: known when the first block ended */
    size_t trace_bytes;
    bool is_too_large; /* to be kept, or out of memory */
} Follow;

void follow_begin(Follow *follow, Gpu *gpu, const Launch *launch, int resident,
                  uint64_t most_played);
/* Returns false if it does not fit into memory that the launch repeats an earlier one. Then the
 * block does not belong to those that have not been played. */
bool follow_block_began(Follow *follow, BlockTrace *trace, const BlockStart *start);
/* Digests the trace of a block that has run, so that follow_block_ended() need not. Any thread. */
void follow_digest(BlockTrace *trace);
/* Returns whether the launch still repeats an earlier one. If so, the trace is no longer needed. */
bool follow_block_ended(Follow *follow, BlockTrace *trace, const Launch *launch);
/* What has not been played, without the block that has just ended: number `i` of so many events,
 * and where its trace is; NULL: no further one. */
const BacklogEvent *follow_event(const Follow *follow, long i, const Backlog **kept);
/* They have been played; it no longer repeats another launch. */
void follow_played(Follow *follow);
/* It must not be stored. */
void follow_stop(Follow *follow);
/* All blocks have ended. `rest`: of what else the result depends on. If it repeats an earlier
 * launch: sets the result, and the L2 holds what it held then. */
bool follow_repeated(Follow *follow, Digest rest, TimingResult *result);
/* If it was played. */
void follow_store(Follow *follow, Digest rest, const TimingResult *result);
void follow_close(Follow *follow);

#endif
