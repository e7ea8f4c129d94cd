/* twins.h - groups of SMs of which one is played.
 *
 * Most launches give all SMs the same work. So neighbouring SMs form groups, whose SMs get blocks
 * together: a bundle. One SM of a group is played. The others, its twins, do the same as many
 * cycles later as their blocks began later, but with the accesses of their own blocks: each has an
 * L1 of its own, and the L2 and memory serve the accesses of all. Nothing waits for the answers to
 * a twin's requests.
 *
 * The block with the most work of a bundle is played. The blocks of the first wave are compared
 * before any is played: if they do not have about the same work, all SMs are played. Blocks of a
 * later bundle may differ, too; from then on all SMs are played.
 */
#ifndef SIM_TIME_TWINS_H
#define SIM_TIME_TWINS_H

#include "sim/time/model.h"

enum { GROUP_SMS = MOST_TWINS + 1 };

typedef struct Twins {
    Gpu *gpu;
    int groups;                /* 0: all SMs are played */
    BlockWork played, differs; /* sums of all bundles: the work of the block that is played for each
                                * block; by how much that of the others differs */
} Twins;

/* SMs first .. end - 1 of the GPU. */
typedef struct Group {
    int first, end, played;
} Group;

/* All SMs of a launch of so many blocks are played if some of them get one of few blocks more. */
void twins_begin(Twins *twins, Gpu *gpu, long blocks);
/* The group of an SM. */
Group twins_group(const Twins *twins, int sm);
/* Whether the SM is played by itself. */
bool twins_is_played(const Twins *twins, int sm);
/* Which of these blocks, the next bundle, has the most work. `compares`: it counts for
 * twins_differ.
 */
int twins_choose(Twins *twins, BlockTrace *const *blocks, int count, bool compares);
/* Whether the blocks of bundles differ too much, on average over all bundles so far. */
bool twins_differ(const Twins *twins);
/* From now on all SMs are played. Also at the end: attributes time to twins as to the SM that they
 * repeated. */
void twins_end(Twins *twins);

#endif
