/* moved.h - registers whose values in two blocks differ by one number for all lanes, such as
 * blockIdx.x * blockDim.x + threadIdx.x, and what is added to that, or multiplied by the same for
 * all lanes.
 *
 * Their values in block (0, 0, 0) are found once, when a warp is opened. In a block, the
 * instructions that write them are only counted: what reads them adds the block's number itself (an
 * address), or compares the least and the greatest value of the warp. Where that does not decide,
 * or something else reads the register, its plane gets the value.
 *
 * The number added in a block is a sum of multiples of the block's coordinates. For a product of 64
 * bits this holds only if its factor of 32 bits wraps around in no block of the launch. If one
 * does, all registers of the launch have their values as usual. */
#ifndef SIM_EXEC_MOVED_H
#define SIM_EXEC_MOVED_H

#include "sim/exec/exec.h"

typedef struct MovedStep {
    int step;         /* the one that writes the register */
    int base;         /* plane: the values in block 0 */
    bool is_wide;     /* 64 bits */
    bool must_stay;   /* its value as a signed or unsigned number may not wrap around: */
    bool is_unsigned; /* which of them */
} MovedStep;

/* Of a warp's values in block 0. */
typedef struct Extent {
    int64_t low, high; /* of 32 bits, signed */
    bool linear;       /* lanes have consecutive addresses of words */
} Extent;

/* How the registers of a launch move, by number. */
typedef struct Moves {
    bool known;
    int64_t slope[MOST_MOVED][3]; /* per block, in each direction */
} Moves;

/* Before the first block: creates launch->moves if registers may move. */
void moves_begin(Launch *launch, long blocks);
void moves_end(Launch *launch);
/* When a warp is opened, after its fixed registers; false: out of memory. */
bool moved_fill(Warp *warp, uint32_t lanes);
/* When a block is opened, after its warps. */
void moved_measure(Block *block);
/* When a block begins. */
void moved_of_block(Block *block);

static inline const MovedStep *moved_of(const Warp *warp, const Step *step)
{
    return &warp->code->moved[step->moved - 1];
}

/* What is added to the register that the step writes or reads. */
static inline uint64_t moved_by(const Warp *warp, const Step *step)
{
    return warp->block->moved[step->moved - 1];
}

/* Gives the register its value in these lanes. */
void moved_settle(Warp *warp, const Step *step, uint32_t mask);
/* Does so if necessary, and then runs the step's own handler, which reads the register. */
void moved_run_settled(Warp *warp, const Step *step, uint32_t mask);

/* sim/exec/ops/compare.c, memory_indexed.c: the handler of a step that can do without the value of
 * the register in this plane; NULL: none. */
Run *compare_moved(Step *step, int value);
Run *memory_moved(Step *step, int value);

#endif
