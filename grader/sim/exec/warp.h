/* warp.h - how a warp advances: its stack of entries (stack.c) and of frames (frame.c), its
 * turns (turn.c), its barriers (barrier.c), its printf and assert (syscall.c).
 *
 * Each entry of the stack is a part of the warp, with a pc; the top entry runs. An entry whose
 * lanes are all in entries above it waits for them at its pc, where they reconverge. The lowest
 * entry of a frame has rpc -1: it has no reconvergence point. */
#ifndef SIM_EXEC_WARP_H
#define SIM_EXEC_WARP_H

#include "sim/exec/code.h"

enum {
    MOST_ENTRIES = 1 << 16,
    MOST_FRAMES = 1024,         /* nested calls */
    MOST_FRAME_BYTES = 1 << 24, /* of all frames together, per warp */
    SLICE = 1 << 15,            /* warp instructions that a warp runs before the next warp's turn */
    COOPERATIVE_SLICE = 1 << 12,
    WATCH = 1 << 12,  /* the last instructions of a slice, in which the warp is watched for
                       * returning to an earlier state */
    IDLE_ROUNDS = 64, /* consecutive rounds without progress in any block */
    MOST_POLLS = 8,   /* consecutive waits for an mbarrier that fail before the warp is watched */
    MOST_SLEEPS = 8   /* sleeps or clock reads per turn that count as waiting for others */
};

/* ---- stack.c ---- */

bool warp_open(Warp *warp, Block *block, int number); /* false: out of memory */
void warp_close(Warp *warp);
void warp_begin(Warp *warp, uint32_t lanes); /* at the kernel's first step */

/* The lanes of `first` go to first_pc and run first; the lanes of `then` go to then_pc. They
 * reconverge at rpc, where all other lanes of the top entry already wait. */
void warp_split(Warp *warp, const Step *step, int rpc, uint32_t first, int first_pc, uint32_t then,
                int then_pc);
/* The same where the lanes of `leave` leave a loop: they run when the others have left it too, with
 * those that go to the same place. */
void warp_leave_loop(Warp *warp, const Step *step, int rpc, uint32_t stay, int stay_pc,
                     uint32_t leave, int leave_pc);
/* All lanes of the top entry leave a loop, to pc. */
void warp_leave_together(Warp *warp, int pc);
/* The running part is where its lanes meet others that left the places where it would meet first
 * (in unusual graphs, it comes there although it did not seem to leave them): then it is there.
 * Returns false if it is elsewhere. */
bool warp_meet(Warp *warp);
/* Whether the function's lanes are one part. They meet no others. */
static inline bool warp_is_whole(const Warp *warp)
{
    return warp->depth == warp->frames[warp->frame].depth + 1;
}
/* Whether lanes that continue at `pc` after this branch pass the place where the running part's
 * lanes meet. They do not if they leave the loop. */
bool warp_passes(const Warp *warp, const Step *step, int pc);
/* `leave` lanes leave a loop, and all parts that meet within it. They wait until the others have
 * left it, too. `stay`: the running part's other lanes. */
void warp_break(Warp *warp, const Step *step, uint32_t leave, int leave_pc, uint32_t stay,
                int stay_pc);
void warp_settle(Warp *warp); /* drops entries that have arrived or are empty, and loads the top
                               * entry */
void warp_arrive(Warp *warp); /* the same, after the running part's pc has changed */
void warp_unpark(Warp *warp); /* the event that its lanes waited for has occurred */
void warp_return(Warp *warp, uint32_t lanes); /* from the function; in the kernel: exit */
void warp_exit(Warp *warp, uint32_t lanes);
bool warp_rotate(Warp *warp); /* moves to the top another part that is not waiting */
/* True if these lanes have nothing left to execute but the end of the kernel. */
bool warp_only_ends(const Warp *warp, uint32_t lanes);
/* The step where the lane waits or runs. */
const Step *warp_step_of(const Warp *warp, int lane);

/* A copy of the warp's registers and of the positions of its parts. */
typedef struct WarpSave {
    uint8_t *state;
    size_t bytes;
} WarpSave;
bool warp_save(const Warp *warp, WarpSave *save); /* false: out of memory; the caller frees
                                                   * `state` */
bool warp_is_as(const Warp *warp, const WarpSave *save);

void warp_take_top(Warp *warp); /* loads pc, rpc and lanes from the top entry */
bool warp_push(Warp *warp, const Step *step, Entry entry); /* false: already reported */

/* ---- frame.c ---- */

/* Allocates a cleared frame for this function. Returns false if out of memory. */
bool frame_make(Frame *frame, const Code *code, uint8_t unwritten);
void frame_use(Warp *warp);   /* makes warp->frame the running frame */
bool frame_leave(Warp *warp); /* returns to the caller; false if this is the kernel's frame */
void warp_call(Warp *warp, const Step *step, uint32_t lanes, int function);

/* ---- turn.c ---- */

void warp_turn(Warp *warp); /* runs until the warp waits, ends or has used its slice */

/* ---- exec.c, blocks.c ---- */

/* Reports a fault of the whole launch; returns false. */
bool fail_launch(Launch *launch, FindingKind kind, const char *text);
void blocks_run(Launch *launch, long count); /* runs the blocks to their ends, or until one fails */

/* ---- barrier.c ---- */

bool bind_barrier(Step *step, const Instruction *in);
/* Called while lanes wait for other lanes of their warp that may still arrive. */
void barrier_resolve(Warp *warp);
void barrier_warp_done(Warp *warp);
/* All warps wait at barriers that can never be filled: reports that. */
void barrier_report_stuck(Block *block);
/* Writes "lanes 0-15, 17" or "lane 3" into `text`, which has room for `size` bytes. */
void describe_lanes(uint32_t lanes, char *text, size_t size);
/* The ending of a verb whose subject is these lanes: `end` for one lane. */
static inline const char *lanes_end(uint32_t lanes, const char *end)
{
    return lanes & (lanes - 1) ? "" : end;
}

/* ---- syscall.c ---- */

void system_call(Warp *warp, const Step *step, uint32_t mask, Name name);
/* The lane's bytes of a call's n-th argument, and of its return value; NULL: no such argument. */
uint8_t *call_argument(Warp *warp, const Step *step, int n, int lane, size_t bytes);
uint8_t *call_return(Warp *warp, const Step *step, int lane, size_t bytes);
uint64_t system_argument(Warp *warp, const Step *step, int n, int lane, size_t bytes); /* 0: none */
/* Stores a result at an address that the kernel passed; a finding if that is not possible. */
void system_store(Warp *warp, const Step *step, int lane, uint64_t address, const void *value,
                  size_t bytes);

/* ---- heap.c ---- */

uint64_t heap_allocate(const Launch *launch, uint64_t bytes);                /* 0: it is full */
bool heap_release(Warp *warp, const Step *step, int lane, uint64_t address); /* false: a finding */
void run_malloc(Warp *warp, const Step *step, uint32_t mask, Name name);
void run_free(Warp *warp, const Step *step, uint32_t mask, Name name);

#endif
