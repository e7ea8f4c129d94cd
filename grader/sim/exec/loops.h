/* loops.h - how the lanes of a warp go round loops that are one basic block.
 *
 * ptxas unrolls such a loop: the machine's loop does 4 rounds at once, say, and copies that follow
 * do 2 rounds and 1. If lanes go round different numbers of times, some of a warp need a copy that
 * others skip. So what matters is each lane's number of rounds divided by powers of two. */
#ifndef SIM_EXEC_LOOPS_H
#define SIM_EXEC_LOOPS_H

#include "sim/exec/exec.h"

enum { LOOP_POWERS = 6 }; /* rounds are grouped by 1, 2, 4 ... 32 */

/* Of one loop, by power k. Lanes with the same number of rounds leave together. */
struct LoopCount {
    uint64_t visits;                  /* warps, each time that they entered it */
    uint64_t groups[LOOP_POWERS];     /* of 2^k rounds, by warps: as many as the lane with most */
    uint64_t lanes[LOOP_POWERS];      /* the same, by lanes */
    uint64_t splits[LOOP_POWERS];     /* parts of warps that differ in this number, less one each */
    uint64_t with_bit[LOOP_POWERS];   /* warps with a lane whose number of rounds has bit k */
    uint64_t bit_splits[LOOP_POWERS]; /* warps with such lanes and others */
    uint64_t remainder[LOOP_POWERS];  /* by warps: the largest remainder of division by 2^k */
    uint64_t remainder_splits[LOOP_POWERS]; /* parts that differ in it, less one each */
};

/* A warp in the loop. */
struct LoopVisit {
    uint32_t round, left_before; /* left_before: the round after which lanes left last; 0: none */
    uint32_t lanes, counted;     /* lanes: of the rounds that follow `counted`, the last round that
                                  * groups[] and lanes[] of the LoopCount contain */
    uint64_t residues; /* of the numbers of rounds of lanes that have left, modulo 64: a bit each */
};

/* Numbers the loops of a kernel's code in Step.loop. */
void loops_find(Code *code);
/* Finds the branches by which lanes leave loops, before all others have. */
void loops_find_exits(Code *code);

/* Counts the rounds of visits that a fault has ended. */
void loops_end(Warp *warp);

/* After a round in which lanes leave, or after which others than before went round. */
void loop_change(Warp *warp, const Step *step, uint32_t stay);

/* `step` ends a round of the warp's active lanes, of which those in `stay` begin another one. */
static inline void loop_round(Warp *warp, const Step *step, uint32_t stay)
{
    LoopVisit *visit = &warp->visits[step->loop - 1];

    if (stay != warp->active || visit->lanes != stay)
        loop_change(warp, step, stay);
    else
        visit->round++;
}

#endif
