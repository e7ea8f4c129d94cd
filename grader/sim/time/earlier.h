/* earlier.h - launches of which the model keeps the results, for later ones that repeat them.
 *
 * The model is deterministic: its result follows from the device, the kernel, the launch's shape,
 * what the L2 holds when it begins, and the traces of its blocks in their order.
 */
#ifndef SIM_TIME_EARLIER_H
#define SIM_TIME_EARLIER_H

#include "sim/time/backlog.h"
#include "sim/time/l2.h"

enum { MOST_EARLIER = 64 };

typedef struct EarlierLaunch {
    Digest shape, start; /* what was launched; what the L2 held */
    Digest *blocks;      /* of all that had been played when a block ended, in that order */
    long block_count;
    Digest rest; /* of what else the result depends on */
    TimingResult result;
    void *spent;       /* the memory of result.steps */
    L2Contents *after; /* what the L2 then held; NULL: the same as before */
    Backlog kept;      /* its traces, after it has been repeated once */
    bool is_kept, is_used;
    uint64_t last; /* when it was stored or repeated */
} EarlierLaunch;

typedef struct Earlier Earlier;

bool earlier_open(Gpu *gpu);
void earlier_close(Gpu *gpu);
/* Whether a launch of this shape is to be compared with earlier ones, and to be stored. Not the
 * first one; and more and more rarely if no launch repeats another. */
bool earlier_is_worth(Earlier *earlier, Digest shape);
/* The stored launches that began like this one, one bit each. */
uint64_t earlier_alike(const Earlier *earlier, Digest shape, Digest start);
EarlierLaunch *earlier_at(const Earlier *earlier, int number);
/* Keeps a launch whose members are in memory of their own, or frees it. */
void earlier_store(Earlier *earlier, EarlierLaunch *launch);
/* A launch has repeated this one; keeps its traces, if they are given. */
void earlier_repeated(Earlier *earlier, EarlierLaunch *launch, Backlog *kept);
/* A launch of this shape is too large to be stored. */
void earlier_is_too_large(Earlier *earlier, Digest shape);

#endif
