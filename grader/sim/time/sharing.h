/* sharing.h - kernels that run at the same time: which of their blocks have places on the SMs, and
 * how much the kernels slow each other down.
 *
 * Kernels get places in the order in which they are given. Each block goes to the SM with the
 * fewest blocks, of those where it fits. While blocks of a kernel wait for places, later kernels
 * wait, too: they begin when places become free in its tail. With fewer places than it would have
 * alone, a kernel is slower in proportion.
 *
 * A unit that would be busy for longer than there is time slows down all blocks that share it: the
 * issue slots, arithmetic units, shared memory and L1 of an SM; the L2, memory and link of the GPU,
 * which copies use, too. Pieces of work do not use the link at the same time in both directions, as
 * two copies do (tests/sim/time/mechanisms/copies.cu). A kernel whose blocks all run at once ends
 * with its slowest SM; one that has more blocks balances them.
 *
 * Measured and modelled times: docs/simulator-time.md, section Timeline
 * (tests/sim/time/mechanisms/together.cu).
 */
#ifndef SIM_TIME_SHARING_H
#define SIM_TIME_SHARING_H

#include <stdbool.h>

/* What a block occupies of an SM. */
typedef enum SmPart { PART_WARPS, PART_PLACES, PART_REGISTERS, PART_SHARED, SM_PARTS } SmPart;

/* The units that blocks share: first those of an SM, then those of the whole GPU. */
typedef enum SharedUnit {
    UNIT_ISSUE,
    UNIT_FP32,
    UNIT_OTHERS,
    UNIT_SHARED,
    UNIT_L1,
    UNITS_OF_SM,
    UNIT_L2 = UNITS_OF_SM,
    UNIT_DRAM,
    UNIT_ATOMICS,
    UNIT_LINK,
    SHARED_UNITS
} SharedUnit;

enum { TAIL_PARTS = 8 };

/* The end of a kernel that runs alone: the share of its time after which no more blocks begin, and
 * the share of its places that are then occupied in each eighth of the rest. */
typedef struct KernelTail {
    double begins, places[TAIL_PARTS];
} KernelTail;

/* What a kernel needs. */
typedef struct KernelUse {
    int blocks;                /* that run at the same time if it runs alone */
    double waves;              /* all its blocks, in multiples of these */
    double part[SM_PARTS];     /* shares of an SM that a block occupies */
    double busy[SHARED_UNITS]; /* shares of its time in which the units are busy if it runs alone */
    KernelTail tail;
} KernelUse;

/* A kernel that runs or is to begin. */
typedef struct Sharer {
    const KernelUse *use;
    double done;  /* the share of its work that is done */
    double speed; /* result: 1: as fast as alone; 0: it has no place yet */
} Sharer;

typedef struct Sharing Sharing;

Sharing *sharing_open(int sms); /* NULL: out of memory */
void sharing_close(Sharing *sharing);
/* Sets the speeds of the kernels, which are in the order in which they get places. Without memory:
 * the first one runs, the others wait. `copies`: whether copies use the link at the same time;
 * returns their speed relative to that without the kernels. */
double sharing_set_speeds(Sharing *sharing, Sharer *kernels, int count, bool copies);
/* The share of its work, greater than `done`, at which a kernel next releases places. */
double sharing_next_release(const KernelUse *use, double done);
/* Whether some blocks of a kernel have not begun when this share of its work is done. */
bool sharing_has_blocks(const KernelUse *use, double done);
/* If all blocks take equally long, they begin and end in waves. The share of the work, greater than
 * `done`, at which the next wave begins; 1 if all blocks have begun. */
double sharing_next_wave(const KernelUse *use, double done);
/* Whether a wave has just ended. */
bool sharing_wave_ends(const KernelUse *use, double done);

#endif
