/* exec.h - running a kernel: blocks of warps of 32 lanes that reconverge at post-dominators.
 *
 * code_make() turns a function of a module into Steps, in which every operand is a place in memory
 * and every step knows the C function that does it. launch_run() runs the blocks one after another
 * (those that wait for each other: in turns), the warps of a block in turns between barriers.
 *
 * Registers are planes: 32 lanes of 4 bytes, or of 8 for 64-bit types (then two planes long), side
 * by side, so that the compiler turns a handler's loop over the lanes into vector code. Constants
 * and immediates are planes, too, filled once. A predicate is a mask: bit n is lane n.
 */
#ifndef SIM_EXEC_EXEC_H
#define SIM_EXEC_EXEC_H

#include "sim/base/finding.h"
#include "sim/memory/memory.h"
#include "sim/ptx/module.h"
#include "sim/ptx/ptxas.h"

enum { LANES = 32, WARPS_A_BLOCK = 32, BARRIERS = 16, PLANE = LANES * 4 };

typedef struct Warp Warp;
typedef struct Block Block;
typedef struct Launch Launch;
typedef struct Step Step;
typedef struct Code Code;

/* Does the step for the lanes in `mask` (never empty). Steps that end or move a warp say so in it.
 */
typedef void Run(Warp *warp, const Step *step, uint32_t mask);

struct Step {
    Run *run;
    const Instruction *in;
    int d, d2;      /* destinations: planes, or predicates where the instruction writes such */
    int a, b, c, e; /* sources, in order; < 0: constant plane ~n; predicates where it reads such */
    int vector_at[8]; /* of ld/st .v2 .v4 .v8 and mov's {a, b}: the planes of the elements. mov:
                       * `vector` of them; unpacking has d = vector_at[0], packing has not; < 0: _
                       */
    int guard;        /* predicate, or -1 */
    bool guard_negated;
    bool negated_a, negated_b, negated_c, negated_e; /* of predicate sources */
    uint8_t size;   /* bytes an element, of memory and of most types */
    uint8_t vector; /* 1, 2, 4, 8 */
    uint8_t space;  /* Space */
    uint8_t type;   /* PtxType of the operation (first type); type2: second */
    uint8_t type2;
    uint8_t mod;      /* the main choice: comparison, atomic operation, shuffle mode ... (a Mod) */
    uint8_t rounding; /* MOD_rn, rz, rm, rp, rni ..., 0 */
    bool ftz, sat, approx, wide, hi, cc; /* cp.async: wide, e is a predicate: nothing is read */
    int64_t offset;                      /* of an address, or of a variable */
    int64_t offset2;                     /* cp.async: of the source's address, whose plane is b */
    uint8_t address_size, address_size2; /* ld st atom cp.async: bytes a lane of the planes of a, of
                                          * b (cp.async): 4 or 8; 0: 8, constant planes always */
    uint8_t data_size;   /* ld st: bytes a lane of the data's planes: 4 or 8 (ld.param.s32 %rd4: 8);
                          * 0: as the type. d or vector_at[] of a load < 0: thrown away */
    uint8_t source_size; /* cvt: bytes a lane of a's plane, 4 or 8 (cvt.s64.s32 %rd2, %rd1: 8); of
                          * d's plane: data_size. 0: as the types */
    int target;          /* bra, call: step index, or index into code->launch's codes */
    int rpc;             /* of a branch: the step where its lanes meet again; steps at the end */
    int class_;          /* OpClass */
    bool kernel_param; /* ld.param: from launch->params, alike for all lanes; else from the frame's.
                        * Either way at `offset`, plus the lane's plane a where a is not -1 */
    uint8_t treatment; /* Treatment */
    Run *inner;        /* of a step that reads a clock: what runs after the clock is read */
};

/* What is where. Absent sources are -1: constant plane 0, which is 0. An address [variable + n] has
 * a of -1 and all of it in `offset`; of local variables a is a special plane, since frames differ.
 * A vector {a, b}: as vector_at[], an element that is not wanted is -1; as a destination d is
 * vector_at[0]. Absent d2 and predicates: -1. Constant predicates are predicates, never written. */
struct Code {
    const Module *module;
    const Function *function;
    const uint64_t *variable_address; /* as code_make was given it */
    const struct Code
        *layout; /* the kernel whose shared variables' places it uses; NULL: its own */
    Step *steps; /* and one more, that ends the function */
    int step_count;
    int planes, predicates; /* a frame's */
    uint8_t *constants;     /* planes */
    int constant_count;
    int param_bytes; /* of param variables inside (of calls): bytes a lane */
    int local_bytes; /* a lane */
    int static_shared_bytes;
    int dynamic_shared_at; /* where .extern .shared variables begin */
    int *variable_offset;  /* by variable index of the module: place in param, local or shared */
    int specials;          /* planes 0 .. specials - 1 are filled when a warp starts */
    int *special_plane;    /* [SPECIAL * 3 + component]: plane, or -1 */
    int *local_plane;      /* by variable index: plane of a local variable's address, or -1 */
    uint8_t *uses;         /* by register: what becomes of it (uses.h); NULL: not known */
};

/* The address of a function, in planes and in initialised variables: + 16 * its index. */
#define FUNCTION_WINDOW 0x620000000000ull

/* ---- What is counted: for each step of a kernel's code ---- */

typedef struct Count {
    uint64_t skipped;  /* warps that came to it, but its guard held for no lane */
    uint64_t executed; /* warps that executed it, with at least one lane whose guard holds */
    uint64_t lanes;    /* such lanes */
    uint64_t requests, sectors;      /* global memory: one request a warp, 32-byte sectors */
    uint64_t bytes;                  /* that the lanes asked for */
    uint64_t wavefronts, ideal;      /* shared memory: passes needed, and without conflicts */
    uint64_t loop_loads, loop_ideal; /* wavefronts of the loads in the loops that some shared
                                      * atomics are, and without conflicts; ncu has them among the
                                      * loads */
    uint64_t rounds, round_lanes;    /* of these loops, as Shape has them */
    uint64_t divergent;              /* branches that split the warp */
} Count;

/* Of one allocation, over a kernel. */
typedef struct ArrayCount {
    int allocation; /* its number */
    uint64_t base;
    size_t size;
    uint64_t load_requests, load_sectors, load_bytes;
    uint64_t store_requests, store_sectors, store_bytes;
    uint64_t atomic_requests, atomic_sectors, atomic_bytes;
} ArrayCount;

/* ---- A warp ---- */

/* Where a part of the warp is. The top one runs until its pc is its rpc; then it is dropped. */
typedef struct Entry {
    int pc, rpc;
    uint32_t mask;
} Entry;

typedef struct Frame {
    const Code *code;
    int return_pc, depth; /* of the caller; depth of the stack where the callee began */
    uint8_t *registers, *params;
    uint32_t *predicates, *carry;
    int local_base;
    const Step *call; /* in the caller; NULL: the kernel itself */
    uint32_t mask;    /* lanes that called */
    void *memory;     /* holds the planes and the rest */
    size_t memory_bytes;
} Frame;

typedef enum WarpState { WARP_READY, WARP_AT_BARRIER, WARP_WAITING, WARP_DONE } WarpState;

/* Lanes in which a register holds bytes loaded from unwritten memory (written.c). */
typedef struct Unwritten {
    const Code *code;
    int reg;
    uint32_t lanes;
} Unwritten;
enum { MOST_UNWRITTEN = 16 };

struct Warp {
    /* Of the running frame. */
    const Code *code;
    uint8_t *registers;   /* planes */
    uint32_t *predicates; /* masks */
    uint32_t *carry;      /* CC.CF, a mask */
    uint8_t *params;      /* param variables: lane * code->param_bytes + offset */
    int local_base;  /* offset of this frame in a lane's local memory; addresses have it in them
                      * already: handlers do not add it */
    Count *counts;   /* of the frame's code */
    int pc, rpc;     /* rpc: of the top entry */
    uint32_t active; /* lanes of the top entry */
    uint32_t alive;  /* lanes that have not exited */
    int32_t lane_mask[LANES]; /* 0 or -1: of `lane_mask_of` */
    uint32_t lane_mask_of;
    WarpState state;
    int barrier; /* at which it waits */
    Block *block;
    int number; /* in the block */
    Entry *stack;
    int depth, stack_room;
    Frame *frames;
    int frame, frame_room;
    uint8_t *local; /* LANES * launch->local_bytes: lane * local_bytes + offset */
    uint64_t executed;
    void *async;              /* sim/exec/ops/async.c: cp.async groups under way */
    uint32_t waiting_lanes;   /* lanes that wait, at a barrier, for other lanes of the warp */
    uint32_t diverged_lanes;  /* lanes that were elsewhere when others came to a __syncthreads() */
    const Step *barrier_step; /* at which the warp waits */
    int spins;                /* turns in a row in which it came back to the same state */
    const Step *polled_step;  /* the last load of such a turn, NULL: none; of the lanes: */
    uint32_t polled_lanes;
    Unwritten unwritten[MOST_UNWRITTEN];
    int unwritten_count;
    int sleeps;          /* nanosleeps and looks at a clock in its last turn */
    struct Trace *trace; /* trace.h; NULL: nothing is kept */
};

typedef struct Barrier {
    int arrived;       /* threads */
    int expected;      /* 0: nobody waits */
    uint32_t votes;    /* of bar.red */
    uint32_t warps;    /* that wait here, a bit each */
    uint32_t arrivals; /* of bar.red: threads that voted */
    uint32_t arrivers; /* warps of bar.arrive */
} Barrier;

struct Block {
    Launch *launch;
    int id[3];
    long number;
    Warp *warps;
    int warp_count, thread_count;
    uint8_t *shared; /* static, then dynamic */
    size_t shared_bytes;
    uint8_t *shared_written; /* a bit per byte, or NULL: not checked */
    uint8_t *written_room;   /* its memory, kept for the next block */
    bool check_races;        /* in shared memory; in global memory as the launch has it */
    bool copied_unwritten;   /* a store has copied unwritten bytes to shared memory */
    void *shared_races;      /* races.c */
    Barrier barriers[BARRIERS];
    int epoch;                /* barriers passed by all threads so far */
    bool ended;               /* by a fatal finding */
    struct BlockTrace *trace; /* trace.h; NULL */
};

typedef enum Schedule { SCHEDULE_FORWARD, SCHEDULE_REVERSE, SCHEDULE_RANDOM } Schedule;

struct Access;

/* Watches a launch. Members that are NULL are not called. */
typedef struct Observer {
    void (*launch_begin)(Launch *launch); /* before the first block */
    void (*launch_end)(Launch *launch);
    void (*block_begin)(Block *block);
    void (*block_end)(Block *block);
    void (*barrier)(Block *block, uint32_t warps); /* these have passed a barrier together; not
                                                    * called where block->epoch counts it */
    void (*warp_sync)(Warp *warp, uint32_t lanes); /* bar.warp.sync, shfl.sync, vote.sync ... */
    void (*fence)(Warp *warp, bool of_block);      /* membar, fence; of_block: of .cta scope */
    void (*access)(struct Access *access); /* to shared or global memory: found and counted */
    /* The parts of a copy that reads at one time and writes at another: what it reads; what it
     * has begun to write. */
    void (*copy_reads)(struct Access *access);
    void (*copy_claims)(struct Access *access);
} Observer;
enum { MOST_OBSERVERS = 2 };

#define OBSERVE(launch, event, ...)                                                                \
    do {                                                                                           \
        for (const Observer *const *observer = (launch)->observers; *observer; observer++)         \
            if ((*observer)->event)                                                                \
                (*observer)->event(__VA_ARGS__);                                                   \
    } while (0)

struct Launch {
    const Observer *observers[MOST_OBSERVERS + 1]; /* the last one is NULL */
    const Module *module;
    Code **codes; /* by function index of the module; made when first called */
    const Code *kernel;
    const char *name;
    int grid[3], block[3];
    size_t dynamic_shared_bytes, shared_bytes;
    uint8_t *params; /* as ld.param sees them */
    size_t param_bytes;
    int local_bytes; /* a lane, with room for calls */
    bool cooperative;
    /* Set by blocks_run: warps take turns at atomics whose result they want; so do blocks. */
    bool warps_draw, blocks_draw;
    long resident; /* blocks that the GPU holds at once, of this kernel; 0: not said */
    Schedule schedule;
    uint64_t schedule_seed;
    bool check_races, check_uninitialised;
    uint64_t sample; /* not 0: without those checks, shared memory is checked in a few blocks, drawn
                      * with this number. What lies in it concerns no other block. */
    uint8_t unwritten; /* each byte of registers and local memory that nobody has written */
    uint64_t budget;   /* warp instructions; 0: none */
    uint64_t executed;
    Count *counts; /* kernel->step_count + 1, for the kernel; of called functions in call_counts */
    Count **call_counts; /* by function index */
    ArrayCount *arrays;
    int array_count, array_room;
    int sms;        /* of the described device: %nsmid, %smid = block % sms */
    uint64_t clock; /* what %clock64 reads: grows with each warp instruction */
    void (*progress)(void *self, long blocks_done, long blocks);
    void *progress_self;
    bool failed; /* a fatal finding ended it; `failure` */
    FindingKind failure;
    uint32_t envreg[3]; /* %envreg0 .. 2: 1 and 2 are the workspace of cooperative launches */
    void (*print)(void *self, const char *text, size_t length); /* of printf; NULL: to stdout */
    void *print_self;
    struct Timing *timing;            /* timing.h: the model of time; NULL: not wanted */
    const struct TimingResult *timed; /* what it found; NULL: nothing */
};

/* ---- exec.c ---- */

/* NULL with `why`: a variable or function that it needs is not there. Frees with code_free. */
Code *code_make(const Module *module, int function, const uint64_t *variable_address, char *why,
                size_t size);
void code_free(Code *code);

/* Runs it to its end. False: launch->failed. The caller has filled what comes from outside. What is
 * NULL or 0 there is made: codes, counts, call_counts, local_bytes, shared_bytes. */
bool launch_run(Launch *launch);
/* Frees counts, call_counts, arrays and codes (but the kernel's own). */
void launch_free(Launch *launch);

/* For handlers: the planes and lanes. */
static inline void *plane(const Warp *warp, int slot)
{
    return slot >= 0 ? warp->registers + (size_t) slot * PLANE
                     : warp->code->constants + (size_t) ~slot * PLANE;
}

/* 0 or -1 for each lane of a mask; cached in the warp. */
const int32_t *lanes_of(Warp *warp, uint32_t mask);

/* Ends the kernel: this step of this lane did what can't go on. Fills the place. */
void fail(Warp *warp, const Step *step, int lane, FindingKind kind, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Tells, and goes on. */
void warn(Warp *warp, const Step *step, int lane, FindingKind kind, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The same, of two instructions: the finding has the line of `other` (NULL: not known), too. */
void warn_of_two(Warp *warp, const Step *step, int lane, FindingKind kind, const Step *other,
                 const char *text);
Count *count_of(Warp *warp, const Step *step);

/* ---- The families of handlers: each fills step->run and what its handler needs from the
 * instruction (operands are filled already), or returns false: not mine, or not that combination
 * ---- */

bool bind_integer(Step *step,
                  const Instruction *in); /* sim/exec/ops/integer.c: add .. xor, bit fields, mov */
bool bind_float(Step *step,
                const Instruction *in); /* sim/exec/ops/float.c: f16, bf16, f32, f64, SFU */
bool bind_compare(Step *step,
                  const Instruction *in); /* sim/exec/ops/compare.c: setp set selp slct testp */
bool bind_convert(Step *step, const Instruction *in); /* sim/exec/ops/convert.c: cvt */
bool bind_memory(Step *step,
                 const Instruction *in); /* sim/exec/ops/memory.c: ld st atom red cp prefetch */
bool bind_warp(Step *step,
               const Instruction *in); /* sim/exec/ops/warp.c: shfl vote match redux elect bar */
bool bind_control(Step *step, const Instruction *in); /* exec.c: bra call ret exit trap ... */

/* An atomic that counts, and whose result is wanted. Not one of those that locks are made of: who
 * waits in a loop is to be seen to wait. */
static inline bool atomic_draws(const Step *step)
{
    return step->in->op == OP_atom && step->d >= 0 &&
           (step->mod == MOD_add || step->mod == MOD_inc || step->mod == MOD_dec);
}

/* ---- sim/exec/ops/async.c ---- */

void async_end(Warp *warp); /* the warp is done: frees warp->async */

#endif
