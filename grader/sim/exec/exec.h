/* exec.h - running a kernel: blocks of warps of 32 lanes that reconverge at post-dominators.
 *
 * code_make() turns a function of a module into Steps. In a Step every operand is a place in
 * memory, and the C function that executes the step is already chosen. launch_run() runs the
 * blocks one after another (blocks that wait for each other take turns); the warps of a block
 * take turns between barriers.
 *
 * Registers are planes: 32 lanes of 4 bytes, or of 8 bytes for 64-bit types (these occupy two
 * planes), side by side, so that the compiler turns a handler's loop over the lanes into vector
 * code. Constants and immediates are planes too, filled once. A predicate is a mask: bit n is
 * lane n. */
#ifndef SIM_EXEC_EXEC_H
#define SIM_EXEC_EXEC_H

#include "sim/base/finding.h"
#include "sim/memory/memory.h"
#include "sim/ptx/cfg.h"
#include "sim/ptx/module.h"
#include "sim/ptx/ptxas.h"

enum { LANES = 32, WARPS_A_BLOCK = 32, BARRIERS = 16, PLANE = LANES * 4 };

/* Shared memory that the driver reserves per block, for cooperative groups. Here it follows the
 * block's own memory, in kernels that ask where it is. */
enum { RESERVED_SHARED = 1024 };

typedef struct Warp Warp;
typedef struct Block Block;
typedef struct Launch Launch;
typedef struct Step Step;
typedef struct Code Code;
typedef struct LoopCount LoopCount; /* loops.h */
typedef struct LoopVisit LoopVisit;

/* Executes the step for the lanes in `mask` (never empty). A step that ends the warp or changes
 * its pc records that in the warp. */
typedef void Run(Warp *warp, const Step *step, uint32_t mask);

struct Step {
    /* The fields that most handlers read come first: they share one cache line of the host. */
    _Alignas(64) Run *run;
    const Step *next; /* in a row: the next one that is not fixed */
    const Instruction *in;
    int d, d2;        /* destinations: planes, or predicates where the instruction writes a
                       * predicate */
    int a, b, c, e;   /* sources, in order; < 0: constant plane ~n; predicates where the
                       * instruction reads them */
    int guard;        /* predicate, or -1 */
    uint32_t number;  /* unique in the process: 1, 2, ... */
    int64_t offset;   /* of an address, or of a variable */
    int vector_at[8]; /* planes of the elements of ld/st .v2 .v4 .v8 and of mov's {a, b}; mov has
                       * `vector` elements. A mov that unpacks has d = vector_at[0], one that
                       * packs does not. < 0: unused element (_) */
    bool guard_negated;
    bool negated_a, negated_b, negated_c, negated_e; /* for predicate sources */
    uint8_t size;   /* bytes per element, in memory and for most types */
    uint8_t vector; /* 1, 2, 4, 8 */
    uint8_t space;  /* Space */
    uint8_t type;   /* PtxType of the operation (its first type); type2: its second type */
    uint8_t type2;
    uint8_t mod;      /* the main variant: comparison, atomic operation, shuffle mode ... (a Mod) */
    uint8_t rounding; /* MOD_rn, rz, rm, rp, rni ..., or 0 */
    bool ftz, sat, approx, wide, hi, cc;
    bool kernel_param; /* ld.param: true: from launch->params, the same for all lanes; false: from
                          the frame's params. In both cases at `offset`, plus the lane's value in
                          plane a unless a is -1 */
    uint8_t address_size; /* ld st atom cp.async: bytes per lane in a's plane: 4 or 8; 0: 8.
                           * Constant planes always have 8 */
    uint8_t data_size;    /* ld st: bytes per lane in the data planes: 4 or 8 (ld.param.s32 %rd4:
                           * 8); 0: given by the type. d or vector_at[] of a load < 0: value
                           * discarded. cvt: the same for d's plane */
    uint8_t treatment;    /* Treatment */
    union {               /* fields of a single family of instructions */
        struct {
            int target; /* step index, or index into code->launch's codes */
        } jump;         /* bra, call */
        struct {
            bool strong, release; /* as in Access */
            bool words;           /* four bytes per lane, to or from a plane of such lanes */
            uint8_t mover;        /* MOVER_STORE ... */
        } memory;                 /* ld, st */
        struct {
            bool release;
            uint8_t change; /* a row of the table in ops/atomic.c */
        } atomic;           /* atom, red */
        struct {
            int64_t offset; /* of the source address, whose plane is b */
            uint8_t address_size;
            bool is_suppressed;   /* by e, a predicate; otherwise e is a number of bytes */
            uint8_t barrier_size; /* of cp.async.bulk: bytes per lane of the mbarrier's address, */
            int64_t barrier_offset; /* and its offset; its plane is e */
        } copy;                     /* cp.async */
        struct {
            int first[4];         /* fragments in order of the operands: planes are code->fragments
                                   * from here on; */
            uint8_t count[4];     /* so many of them, */
            uint8_t bytes[4];     /* of so many bytes per lane */
            uint8_t m, n, k;      /* the shape */
            uint8_t matrix;       /* wmma.load, wmma.store: MOD_a, b, c or d */
            bool column, column2; /* the (second) matrix is column-major; trans */
        } tensor;                 /* wmma, mma, ldmatrix, stmatrix; tex and its family, where m is
                                   * the geometry and n the component or the surface's end */
        struct {
            uint8_t shift; /* log2 of the factor; e: the plane of the base */
        } indexed;         /* mul.wide of indexed.c */
        struct {
            uint8_t accepted; /* relations of the moved register to what it is compared with, */
            int with;         /* whose plane this is */
            bool is_unsigned;
        } moved_setp; /* setp of a moved register (moved.h) */
        struct {
            uint8_t source_size; /* bytes per lane in a's plane: 4 or 8 (cvt.s64.s32 %rd2, %rd1:
                                  * 8); 0: given by the type */
        } convert;               /* cvt */
    };
    uint16_t straight; /* plain steps from this one on, which are executed in sequence: none can
                        * change the pc, the lanes or (without a fault) the state of the warp, and
                        * none but the first is a branch target; 0: it is not plain */
    uint16_t bare;     /* the steps of the row from this one on, at most MOST_BARE: those without a
                        * guard, and branches that no lane takes */
    uint16_t loop;     /* the number of the loop at whose end it jumps back: 1, 2 ...; 0: none */
    uint16_t moved;    /* 1 + the number of the moved register that it writes, or reads without its
                        * value (moved.h); 0: none */
    bool can_idle;     /* a branch that does nothing if no lane takes it */
    bool leaves_loop, taken_leaves; /* branch: lanes leave a loop by one way, the branch or (if not
                                     * taken_leaves) the next step, while others stay */
    bool is_meeting;                /* lanes of a branch reconverge before this step */
    bool is_alike;                  /* shfl: all lanes have the same operands, except the value */
    bool in_loop; /* as in Reconvergence (inner, cfg.h): lanes that leave the loop do not pass this
                     step */
    uint8_t class_; /* OpClass */
    int rpc;   /* branch: the step where its lanes reconverge; one past the last step: at the end */
    int after; /* as in Reconvergence */
    LoopRound round; /* the same */
    Run *inner; /* the step's own handler, if `run` does more: a clock is read before (special.c),
                 * the next steps are run too (indexed.c), or it may do nothing (turn.c) or less
                 * (moved.c) */
};

enum { MOST_BLOCK_SPECIALS = 32, MOST_MOVED = 64 };

/* Where operands are stored. An absent source is -1: constant plane 0, which holds 0. An address
 * [variable + n] has a = -1 and the whole address in `offset`. For a local variable, a is a
 * special plane, since frames differ. A vector {a, b} is in vector_at[]; an unused element is
 * -1; for a destination, d is vector_at[0]. Absent d2 and predicates are -1. Constant predicates
 * are ordinary predicates that are never written. */
struct Code {
    const Module *module;
    const Function *function;
    const uint64_t *variable_address; /* as passed to code_make */
    const struct Code *layout; /* the kernel whose shared-variable layout it uses; NULL: its own */
    Step *steps;               /* plus one more, which ends the function */
    int step_count;
    int loop_count;         /* of a kernel */
    int planes, predicates; /* per frame */
    uint8_t *constants;     /* planes */
    int constant_count;
    int param_bytes; /* param variables declared inside the function (for calls): bytes per lane */
    int local_bytes; /* per lane */
    int static_shared_bytes;
    bool uses_reserved;      /* it can reach a use of %reserved_smem_offset_1 */
    int dynamic_shared_at;   /* where .extern .shared variables begin */
    int *variable_offset;    /* by variable index of the module: offset in param, local or shared
                              * memory */
    int lasting;             /* planes 0 .. lasting - 1 are filled when a warp is opened: those of
                              * special registers and of fixed ones */
    int lasting_predicates;  /* the same for predicates */
    struct FixedStep *fixed; /* steps that only run then, in order */
    int fixed_count;
    struct MovedStep *moved; /* moved.h: by number */
    int moved_count;
    int temporaries;    /* planes from here on are written before they are read */
    int *special_plane; /* [SPECIAL * 3 + component]: plane, or -1 */
    int block_specials[MOST_BLOCK_SPECIALS]; /* indices into it of those that have a plane and
                                              * differ between blocks */
    int block_special_count;
    int *local_plane; /* by variable index: plane of a local variable's address, or -1 */
    int *fragments;   /* planes of the registers of matrices; see Step.tensor */
    int fragment_count;
    uint8_t *uses; /* by register: how its value is used (uses.h); NULL: unknown */
    int *last_use; /* by register: the last instruction that reads a value which does not leave its
                    * basic block, or INT_MAX; NULL: unknown */
};

/* fixed.c: its number, and the handler. */
typedef struct FixedStep {
    int step;
    Run *run;
} FixedStep;

/* Address of a function, in planes and in initialised variables: this plus 16 * its index. */
#define FUNCTION_WINDOW 0x620000000000ull

/* ---- Counters for each step of a kernel's code ---- */

typedef struct Count {
    uint64_t skipped;  /* warps that reached the step with no lane's guard true */
    uint64_t executed; /* warps that executed the step, with at least one lane whose guard is
                        * true */
    uint64_t lanes;    /* lanes whose guard is true */
    uint64_t requests, sectors;      /* global memory: one request per warp; 32-byte sectors */
    uint64_t bytes;                  /* requested by the lanes */
    uint64_t wavefronts, ideal;      /* shared memory: passes needed, and passes without
                                      * conflicts */
    uint64_t loop_loads, loop_ideal; /* wavefronts of the loads inside the loops that implement
                                      * some shared atomics, and the same without conflicts; ncu
                                      * counts them as loads */
    uint64_t rounds, round_lanes;    /* rounds of these loops, as in Shape */
    uint64_t divergent;              /* branches that split the warp */
    uint64_t chosen;                 /* selp: lanes that take the first value */
    uint64_t long_warps, long_lanes; /* quotients, roots: those whose operands take the long way;
                                      * lanes also of powers of two that are scaled */
    /* While a launch runs: sequences of plain steps that begin here, and their lanes, less those
     * that end before this step. Then `executed` and `lanes` get their share. */
    uint64_t begun, begun_lanes;
    int array_of, array; /* the allocation that the step accessed last (0: none), and the index of
                          * its counters in launch->arrays */
} Count;

/* Counters of one allocation, as one source line accesses it during a kernel. */
typedef struct ArrayCount {
    int allocation; /* its number */
    int file, line; /* of the module, whose cost the accesses are; file 0: a line of the PTX */
    uint64_t base;
    size_t size;
    uint64_t load_requests, load_sectors, load_bytes;
    uint64_t store_requests, store_sectors, store_bytes;
    uint64_t atomic_requests, atomic_sectors, atomic_bytes;
} ArrayCount;

/* ---- A warp ---- */

/* The position of one part of the warp. The top entry runs until its pc equals its rpc; then it
 * is dropped. */
typedef struct Entry {
    int pc, rpc;
    uint32_t mask;
} Entry;

typedef struct Frame {
    const Code *code;
    int return_pc, depth; /* return_pc: in the caller; depth: of the stack when the callee began */
    uint8_t *registers, *params;
    uint32_t *predicates, *carry;
    int local_base;
    const Step *call; /* in the caller; NULL: this frame is the kernel itself */
    uint32_t mask;    /* lanes that called */
    void *memory;     /* holds the planes and everything else */
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
    /* State of the running frame. */
    _Alignas(64) const Code *code;
    uint8_t *registers;   /* planes */
    uint32_t *predicates; /* masks */
    uint32_t *carry;      /* CC.CF, a mask */
    uint8_t *params;      /* param variables: lane * code->param_bytes + offset */
    int local_base; /* offset of this frame in a lane's local memory; addresses already include
                     * it, so handlers do not add it */
    Count *counts;  /* counters of the frame's code */
    bool observed;  /* it has a trace, or launch->watched */
    bool followed;  /* an observer's `follow` is called before each of its steps */
    bool moves;     /* moved registers need not have their values (moved.h); */
    struct Extent *extents;  /* by number: of their values in block 0 */
    struct Trace *trace;     /* trace.h; NULL: no trace is kept */
    const Step *at;          /* the step that the last handler of a row has executed, or was at; */
    const Step *last_in_row; /* handlers of earlier steps call the next one's (run_next()) */
    int pc, rpc;             /* rpc: of the top entry */
    uint32_t active;         /* lanes of the top entry */
    uint32_t alive;          /* lanes that have not exited */
    WarpState state;
    Block *block;
    const Step *limit; /* of the current sequence (turn.c) */
    Entry *stack;
    int depth, stack_room;
    Frame *frames;
    int frame, frame_room;
    int barrier;       /* the barrier where the warp waits */
    LoopVisit *visits; /* by loop of the kernel */
    struct WalkGroup {
        uint32_t lanes;
        int state;
    } groups[LANES]; /* walk.h: the state of each lane */
    int group_count;
    int number;     /* in the block */
    uint8_t *local; /* LANES * launch->local_bytes: lane * local_bytes + offset */
    uint64_t executed;
    void *async;              /* sim/exec/ops/async.c: cp.async groups in flight */
    uint32_t waiting_lanes;   /* lanes that wait at a barrier for other lanes of the warp */
    uint32_t sync_members;    /* of those at warp barriers: the lanes that their masks name */
    uint32_t diverged_lanes;  /* lanes elsewhere when other lanes reached a __syncthreads() */
    const Step *barrier_step; /* the step at which the warp waits */
    int spins;                /* consecutive turns in which it came back to the same state */
    uint64_t done;            /* instructions; only where warps draw their work (Deal) */
    const Step *polled_step;  /* the last load of such a turn (NULL: none), and its lanes: */
    uint32_t polled_lanes;
    Unwritten unwritten[MOST_UNWRITTEN];
    int unwritten_count;
    void *suspects;                /* check/suspects.c; NULL: none yet */
    int polls;                     /* consecutive waits for an mbarrier or a cluster that failed */
    bool watched;                  /* its turn continues after a wait that failed (turn.c) */
    uint32_t cluster_arrived;      /* lanes that have arrived at the barrier of the cluster, which
                                    * is not complete */
    int sleeps;                    /* nanosleeps and clock reads in its last turn */
    uint64_t read_cycles, read_ns; /* its last reading of the clocks */
    bool has_errors;
    int32_t lane_mask[LANES]; /* 0 or -1 per lane, for the mask `lane_mask_of` */
    uint32_t lane_mask_of;
    int errors[LANES]; /* for cudaGetLastError() in kernels; 0: none */
};

typedef struct Barrier {
    int arrived;       /* threads */
    int expected;      /* 0: no warp waits */
    uint32_t votes;    /* of bar.red */
    uint32_t warps;    /* warps that wait here, one bit each */
    uint32_t arrivals; /* of bar.red: threads that voted */
    uint32_t arrivers; /* warps that executed bar.arrive */
    const Step *step;  /* where the last warp arrived */
} Barrier;

/* The blocks of a cluster, by rank; NULL: it has ended. */
enum { MOST_IN_CLUSTER = 16 };
typedef struct Cluster {
    Block *blocks[MOST_IN_CLUSTER];
    int count, there; /* there: blocks that have not ended */
} Cluster;

struct Block {
    Launch *launch;
    Cluster *cluster; /* NULL: the launch has no clusters */
    int rank;         /* in the cluster */
    void *bulk;       /* sim/exec/ops/mbarrier.c: copies in flight */
    int id[3];
    uint64_t specials[MOST_BLOCK_SPECIALS]; /* the values of code->block_specials */
    uint64_t moved[MOST_MOVED]; /* by number: what is added to its value in block 0 (moved.h) */
    long number;
    Warp *warps;
    int warp_count, thread_count;
    uint8_t *shared; /* static, then dynamic */
    size_t shared_bytes;
    uint8_t *shared_written; /* a bit per byte, or NULL: not checked */
    uint8_t *written_room;   /* the memory for shared_written, kept for the next block */
    bool check_races;        /* check races in shared memory; for global memory, see Launch */
    bool copied_unwritten;   /* a store has copied unwritten bytes to shared memory */
    void *shared_races;      /* race_order.c */
    uint32_t barriers_used;  /* one bit each; the others are 0 */
    Barrier barriers[BARRIERS];
    int epoch;                 /* barriers passed by all threads so far */
    const Step *last_barrier;  /* the last of them; NULL: none */
    bool ended;                /* by a fatal finding */
    struct BlockTrace *trace;  /* trace.h; may be NULL */
    struct AheadThread *ahead; /* ahead.h: the thread that runs it ahead; NULL: it is its turn */
};

typedef enum Schedule { SCHEDULE_FORWARD, SCHEDULE_REVERSE, SCHEDULE_RANDOM } Schedule;

struct Access;
struct Shape;
struct BlockPlayed;
struct WarpWaited;
struct WarpPlayed;

/* Observes a load or store of a full warp that repeats the step's last pattern, `at` bytes into the
 * allocation (NULL: shared memory). False: `access` must be called. */
typedef bool AccessAgain(Warp *warp, const Step *step, const struct Shape *shape,
                         const Allocation *a, size_t at);

/* Callbacks during a launch. NULL members are not called. */
typedef struct Observer {
    void (*launch_begin)(Launch *launch); /* before the first block */
    void (*launch_end)(Launch *launch);
    void (*block_begin)(Block *block);
    void (*block_end)(Block *block);
    void (*barrier)(Block *block, uint32_t warps); /* these warps have passed a barrier together;
                                                    * not called where block->epoch counts the
                                                    * barrier */
    void (*warp_sync)(Warp *warp, uint32_t lanes); /* bar.warp.sync, shfl.sync, vote.sync ... */
    /* All threads of the block have arrived at the barrier of their cluster (leaves: pass it). */
    void (*cluster_sync)(Block *block, bool leaves);
    void (*fence)(Warp *warp, bool of_block); /* membar, fence; of_block: .cta scope */
    void (*access)(struct Access *access);    /* an access to shared or global memory, already
                                               * resolved and counted */
    /* Before a step of a warp with `followed` set, for these lanes, perhaps none. */
    void (*follow)(Warp *warp, const Step *step, uint32_t mask);
    AccessAgain *load_again, *store_again;
    bool (*needs_accesses)(const Launch *launch); /* false: `access` would do nothing; NULL: true */
    /* The two halves of an asynchronous copy: its reads, and the start of its writes. */
    void (*copy_reads)(struct Access *access);
    void (*copy_claims)(struct Access *access);
    /* The model of time has played a block. */
    void (*block_played)(Launch *launch, const struct BlockPlayed *played);
    /* The same for a warp, after each interval in which it could not issue. */
    void (*warp_waited)(Launch *launch, const struct WarpWaited *waited);
    void (*warp_played)(Launch *launch, const struct WarpPlayed *played);
    /* How it learns of blocks that have run ahead (ahead.h). */
    const struct AheadCalls *ahead;
} Observer;
enum { MOST_OBSERVERS = 4 };

/* When and where a block ran, in modelled cycles from the launch's beginning. */
typedef struct BlockPlayed {
    long block;
    int sm;
    uint64_t begin, end;
} BlockPlayed;

/* A warp did not issue in the modelled cycles begin to end - 1. */
typedef struct WarpWaited {
    long block;
    int warp, sm;
    int reason;       /* a WaitKind (sim/base/limiter.h), or WAITS: other warps issued instead */
    const Step *step; /* the one whose result it waited for, or that it was to issue; may be NULL */
    uint64_t begin, end;
} WarpWaited;

typedef struct WarpPlayed {
    long block;
    int warp, sm;
    uint64_t begin, end;
    uint64_t issued; /* cycles in which it issued; it waited in all others */
} WarpPlayed;

#define OBSERVE(launch, event, ...)                                                                \
    do {                                                                                           \
        for (const Observer *const *observer = (launch)->observers; *observer; observer++)         \
            if ((*observer)->event)                                                                \
                (*observer)->event(__VA_ARGS__);                                                   \
    } while (0)

struct Launch {
    const Observer *observers[MOST_OBSERVERS + 1]; /* the last one is NULL */
    const Module *module;
    Code **codes; /* by function index of the module; made at the first call */
    const Code *kernel;
    const char *name;
    int grid[3], block[3];
    int cluster[3]; /* blocks of a cluster; 0: no clusters */
    size_t dynamic_shared_bytes, shared_bytes;
    size_t heap_bytes; /* that all malloc() in kernels may hold together */
    uint8_t *params;   /* as ld.param reads them */
    size_t param_bytes;
    int local_bytes; /* per lane, including room for calls */
    bool cooperative;
    /* Set by blocks_run: warps (blocks) take turns at atomics whose result is used. */
    bool warps_draw, blocks_draw;
    bool polls;    /* blocks may wait for others */
    bool shares;   /* the host may meanwhile write to memory that they use */
    long resident; /* number of blocks of this kernel that the GPU holds at once; 0: unknown */
    Schedule schedule;
    uint64_t schedule_seed;
    bool check_races, check_uninitialised;
    uint64_t sample;   /* not 0: instead of those checks, only shared memory is checked, in a few
                        * blocks drawn at random with this seed. One block's shared memory does not
                        * affect other blocks. */
    uint8_t unwritten; /* fills each byte of registers and local memory that has not been written */
    uint64_t budget;   /* warp instructions; 0: no limit */
    uint64_t executed;
    Count *counts; /* kernel->step_count + 1 counters for the kernel; call_counts is for called
                    * functions */
    Count **call_counts; /* by function index */
    LoopCount *loops;    /* by loop of the kernel */
    ArrayCount *arrays;  /* by allocation and source line */
    int array_count, array_room;
    int sms;        /* of the described device: %nsmid, %smid = block % sms */
    uint64_t clock; /* grows with each warp instruction, and with each nanosecond of sleep */
    uint64_t slept; /* nanoseconds of nanosleep, of all warps */
    /* What a warp reads from %clock64 and %globaltimer. NULL: `clock` for both. */
    void (*read_clock)(Warp *warp, uint64_t *cycles, uint64_t *ns);
    void (*progress)(void *self, long blocks_done, long blocks);
    void *progress_self;
    /* Called before each step of a warp whose trace is kept; NULL: not. */
    void (*step)(Warp *warp, int pc, uint32_t executed);
    bool watched;                          /* set by launch_run: an observer needs the accesses; */
    AccessAgain *load_again, *store_again; /* of the only one; NULL: none */
    bool is_ahead; /* a part of a launch (ahead.h): what would be a finding only ends it */
    bool failed;   /* a fatal finding ended the launch; its kind is in `failure` */
    FindingKind failure;
    uint32_t envreg[3]; /* %envreg0 .. 2: 1 and 2 are the workspace of cooperative launches */
    void (*print)(void *self, const char *text, size_t length); /* output of printf; NULL: stdout */
    void *print_self;
    const struct ChildCalls *children; /* children.h; NULL: kernels cannot launch kernels */
    struct Moves *moves;               /* moved.h; NULL: registers have their values */
    const struct Lowering *lowering;   /* lowering.h: the kernel's machine code; NULL: unknown */
    struct Walk *walk;                 /* walk.h: follows the lanes; NULL: not */
    struct Timing *timing;             /* timing.h: the timing model; NULL: time is not modelled */
    bool trace_words;                  /* traces have the words that lanes request (trace.h) */
    const struct TimingResult *timed;  /* the timing model's result; NULL: none */
};

/* ---- exec.c ---- */

/* Returns NULL with `why` if a variable or function that the code needs is missing. Free with
 * code_free. */
Code *code_make(const Module *module, int function, const uint64_t *variable_address, char *why,
                size_t size);
void code_free(Code *code);

/* Runs the launch to its end. On failure, returns false; see launch->failed. The caller fills in
 * the inputs. Members that are NULL or 0 are created here: codes, counts, call_counts, local_bytes,
 * shared_bytes. */
bool launch_run(Launch *launch);
/* Frees counts, call_counts, arrays and codes (except the kernel's own). */
void launch_free(Launch *launch);

/* For handlers: the planes and lanes. */
static inline void *plane(const Warp *warp, int slot)
{
    return slot >= 0 ? warp->registers + (size_t) slot * PLANE
                     : warp->code->constants + (size_t) ~slot * PLANE;
}

static inline Count *count_of(const Warp *warp, const Step *step)
{
    return warp->counts + (step - warp->code->steps);
}

/* 0 or -1 for each lane of a mask; cached in the warp. */
const int32_t *lanes_of(Warp *warp, uint32_t mask);

/* Ends the kernel with a finding: this lane cannot continue after this step. Fills in the place. */
void fail(Warp *warp, const Step *step, int lane, FindingKind kind, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Reports a finding; the kernel continues. */
void warn(Warp *warp, const Step *step, int lane, FindingKind kind, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The same for a finding about two accesses. `other`: the earlier one. */
typedef struct OtherAccess {
    const Step *step; /* NULL: unknown */
    int64_t block;    /* number; -1: unknown */
    int thread;
    bool one_warp; /* a later finding between warps replaces this one */
} OtherAccess;
void warn_of_two(Warp *warp, const Step *step, int lane, FindingKind kind, const OtherAccess *other,
                 const char *text);
Place lane_place(const Warp *warp, const Step *step, int lane);
/* The line of the source, or else of the PTX; 0: no step. */
int step_line(const Step *step);

/* ---- Families of handlers ----
 *
 * Each bind function sets step->run and whatever else its handler needs from the instruction
 * (the operands are already filled in). It returns false if the instruction is not of its family
 * or the combination is not supported. */

bool bind_integer(Step *step,
                  const Instruction *in); /* sim/exec/ops/integer.c: add .. xor, bit fields, mov */
bool bind_float(Step *step,
                const Instruction *in); /* sim/exec/ops/float.c: f16, bf16, f32, f64, SFU */
/* Makes `sum`, an f32 addition or subtraction of the result of `product`, one multiply-add. */
void bind_fused(Step *sum, const Step *product);
bool bind_compare(Step *step,
                  const Instruction *in); /* sim/exec/ops/compare.c: setp set selp slct testp */
bool bind_convert(Step *step, const Instruction *in); /* sim/exec/ops/convert.c: cvt */
bool bind_memory(Step *step,
                 const Instruction *in); /* sim/exec/ops/memory.c: ld st atom red cp prefetch */
bool bind_warp(Step *step,
               const Instruction *in); /* sim/exec/ops/warp.c: shfl vote match redux elect bar */
bool bind_tensor(Step *step, const Instruction *in);   /* sim/exec/ops/tensor.c: wmma, mma ... */
bool bind_mbarrier(Step *step, const Instruction *in); /* sim/exec/ops/mbarrier.c: cp.async.bulk */
bool bind_texture(Step *step, const Instruction *in);  /* sim/exec/ops/texture.c: tex suld sust */
bool bind_control(Step *step, const Instruction *in);  /* exec.c: bra call ret exit trap ... */

/* An atomic that counts and whose result is used. Atomics that implement locks are excluded: a
 * warp that waits in a loop must be detected as waiting. */
static inline bool atomic_draws(const Step *step)
{
    return step->in->op == OP_atom && step->d >= 0 &&
           (step->mod == MOD_add || step->mod == MOD_inc || step->mod == MOD_dec);
}

/* ---- sim/exec/ops/async.c ---- */

/* When the warp ends: frees warp->async, unless mbarriers still wait for its copies; when its block
 * ends: frees it in any case. */
void async_end_warp(Warp *warp);
void async_end(Warp *warp);

/* ---- sim/exec/ops/mbarrier.c, bulk.c ---- */

/* A wait for another thread has failed or not. After a failed one, other warps get a turn. */
void warp_polled(Warp *warp, bool failed);
void bulk_end(Block *block); /* at the end of the block: completes copies to global memory */

#endif
