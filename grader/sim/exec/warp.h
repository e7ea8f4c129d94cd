/* warp.h - how a warp moves: its stack of entries (stack.c) and of frames (frame.c), its turns
 * (turn.c), its barriers (barrier.c), what it prints and asserts (syscall.c).
 *
 * Each entry of the stack is a part of the warp, with a pc; the top one runs. An entry whose lanes
 * are all in entries above it waits for them at its pc: there they meet again. The lowest entry of
 * a frame has rpc -1 and waits for nobody.
 */
#ifndef SIM_EXEC_WARP_H
#define SIM_EXEC_WARP_H

#include "sim/exec/code.h"

enum {
    MOST_ENTRIES = 1 << 16,
    MOST_FRAMES = 1024,         /* of calls within each other */
    MOST_FRAME_BYTES = 1 << 24, /* of all of them, a warp */
    SLICE = 1 << 15, /* warp instructions that a warp runs before it is another one's turn */
    COOPERATIVE_SLICE = 1 << 12,
    WATCH = 1 << 12, /* in the last so many it is watched whether it comes back */
    HOPELESS = 64,   /* rounds in a row in which nobody got anywhere */
    NAPS = 8         /* sleeps, or looks at a clock, in a turn: it waits for what others do */
};

/* ---- stack.c ---- */

bool warp_open(Warp *warp, Block *block, int number); /* false: no memory */
void warp_close(Warp *warp);
void warp_begin(Warp *warp, uint32_t lanes); /* at the kernel's first step */

/* The lanes of `first` go to first_pc and run first, those of `then` to then_pc; they meet at rpc,
 * where all others of the top entry are already. */
void warp_split(Warp *warp, const Step *step, int rpc, uint32_t first, int first_pc, uint32_t then,
                int then_pc);
void warp_settle(Warp *warp); /* drops what has arrived or is empty, and takes up what is on top */
void warp_arrive(Warp *warp); /* the same, after the running part's pc has changed */
void warp_unpark(Warp *warp); /* what its lanes waited for has come */
void warp_return(Warp *warp, uint32_t lanes); /* from the function; from the kernel: exit */
void warp_exit(Warp *warp, uint32_t lanes);
bool warp_rotate(Warp *warp); /* to the top: another part that waits for nobody */
/* True if all that is before these lanes is the end of the kernel. */
bool warp_only_ends(const Warp *warp, uint32_t lanes);
/* Where the lane waits or runs. */
const Step *warp_step_of(const Warp *warp, int lane);

/* A copy of its registers and of where its parts wait. */
typedef struct WarpSave {
    uint8_t *state;
    size_t bytes;
} WarpSave;
bool warp_save(const Warp *warp, WarpSave *save); /* false: no memory; the caller frees `state` */
bool warp_is_as(const Warp *warp, const WarpSave *save);

void warp_take_top(Warp *warp); /* pc, rpc and lanes are those of the entry on top */
bool warp_push(Warp *warp, const Step *step, Entry entry); /* false: told */

/* ---- frame.c ---- */

/* Its memory, for this function, cleared. False: there is none. */
bool frame_make(Frame *frame, const Code *code, uint8_t unwritten);
void frame_use(Warp *warp);   /* warp->frame is the one that runs */
bool frame_leave(Warp *warp); /* back into the caller; false: this is the kernel */
void warp_call(Warp *warp, const Step *step, uint32_t lanes, int function);

/* ---- turn.c ---- */

void warp_turn(Warp *warp); /* until it waits, ends, or has had its slice */

/* ---- exec.c, blocks.c ---- */

/* What is wrong with all of it; false. */
bool fail_launch(Launch *launch, FindingKind kind, const char *text);
void blocks_run(Launch *launch, long count); /* to their ends, or until it has failed */

/* ---- barrier.c ---- */

bool bind_barrier(Step *step, const Instruction *in);
/* Lanes wait for others of their warp that may still come. */
void barrier_resolve(Warp *warp);
void barrier_warp_done(Warp *warp);
/* All warps wait, at barriers that nobody will fill: tells. */
void barrier_tell_stuck(Block *block);
/* "lanes 0-15, 17", at most as long as `size`; "lane 3". */
void describe_lanes(uint32_t lanes, char *text, size_t size);
/* The end of a verb of which they are the subject: `end` for one. */
static inline const char *lanes_end(uint32_t lanes, const char *end)
{
    return lanes & (lanes - 1) ? "" : end;
}

/* ---- syscall.c ---- */

void system_call(Warp *warp, const Step *step, uint32_t mask, Name name);
/* The lane's bytes of a call's n-th argument, and of its return value; NULL: not there. */
uint8_t *call_argument(Warp *warp, const Step *step, int n, int lane, size_t bytes);
uint8_t *call_return(Warp *warp, const Step *step, int lane, size_t bytes);

#endif
