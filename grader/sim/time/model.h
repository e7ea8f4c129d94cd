/* model.h - shared by the parts of the timing model. */
#ifndef SIM_TIME_MODEL_H
#define SIM_TIME_MODEL_H

#include "sim/machine/operations.h"
#include "sim/base/common.h"
#include "sim/time/answers.h"
#include "sim/time/memory.h"
#include "sim/time/scheduler.h"
#include "sim/time/timing.h"

#include <pthread.h>

#define NEVER (UINT64_MAX >> 2) /* a cycle that never comes */

/* ---- Plans: a stretch of a trace in the order of issue (sim/time/plan.c, plans.c) ---- */

typedef struct TracePlace {
    int run, step;
} TracePlace;

typedef struct PlanSegment {
    uint32_t first;
    int32_t function;
    uint16_t count;
    uint8_t accesses;
    bool skipped;
    uint8_t lanes; /* active; 32 unless that matters (Plans.by_lanes) */
    uint16_t most; /* steps that it would have if its run were longer */
} PlanSegment;

/* Why no further segment belonged to a stretch. */
typedef enum StretchEnd {
    IS_COMPLETE,
    NO_FURTHER_ROUND, /* of its loop followed; else it would have belonged to it */
    TRACE_ENDED
} StretchEnd;

/* Whether a step is issued: in part of its executions (Operation.part), in this one or not. */
typedef enum Issued { ISSUED_IN_TURN, ISSUED, NOT_ISSUED } Issued;

enum { FIRST_REGISTERS = 4 }; /* enough for most steps */

typedef struct Planned {
    const Operation *operation;
    const uint32_t *registers; /* first those read, then those written */
    uint16_t access;           /* number of its first access in the stretch */
    uint8_t accesses;
    int place;     /* in the machine code; -1: unknown */
    uint8_t round; /* of the stretch's loop */
    uint8_t issue; /* an Issued */
    bool skipped;
    uint8_t lanes;       /* as in PlanSegment */
    bool is_last;        /* the last step of the stretch that has an instruction */
    bool takes_long_way; /* a quotient or root, by a subroutine */
    /* Cycles for which it occupies its scheduler, since it reads its operands; [1]: if that has
     * just issued the preceding step. */
    uint8_t holds[2];
    uint16_t pace;                   /* cycles until the warp may issue its next step */
    bool is_plain;                   /* each execution issues it, if lanes are not packed */
    uint16_t registers_used;         /* number of `registers` */
    uint32_t first[FIRST_REGISTERS]; /* the first of them; if there are fewer, [0] is repeated */
} Planned;

typedef struct Plan {
    struct Plan *next;
    uint64_t hash;
    PlanSegment *segments;
    Planned *steps;
    uint32_t *registers; /* of steps of several rounds; else NULL */
    int segment_count, step_count, access_count;
    StretchEnd end;
    int number;      /* in the order in which plans were made */
    uint32_t *turns; /* by scheduler, if lanes are packed or steps are issued in part of the
                      * executions: the number of times; else NULL */
} Plan;

/* All SMs share the plans. A chain of the table is ordered by hash, so that the order of plans does
 * not depend on which SM made one first. SMs on several threads search it without the lock. */
typedef struct Plans {
    const Operations *operations; /* [function + 1] */
    int register_reads;           /* operands per cycle */
    int schedulers;               /* of all SMs */
    bool packed;                  /* lanes are */
    bool by_lanes; /* the number of active lanes matters: they are packed, or use the stack */
    Plan **table;
    int room, count;
    pthread_mutex_t lock; /* for adding a plan */
} Plans;

enum { RECENT_PLANS = 256 };

/* An SM's use of the plans. */
typedef struct PlanUse {
    Plan *recent[RECENT_PLANS]; /* by the first step: the last plan that began there */
    uint64_t *played;           /* number of times, by the plan's number */
    int room;
} PlanUse;

/* sim/time/plan.c. Returns NULL if out of memory. */
Plan *plan_make(const Plans *plans, const PlanSegment *segments, int count);
void plan_free(Plan *plan);
/* sim/time/plans.c. The plan of the stretch that begins at `place`; moves `place` past the stretch.
 * NULL: out of memory. */
const Plan *plan_of(Plans *plans, PlanUse *use, const Trace *trace, TracePlace *place);
/* Makes the table larger if it is full. Not while SMs play. Returns false if out of memory. */
bool plans_make_room(Plans *plans);
void plans_clear(Plans *plans);
void plan_use_clear(PlanUse *use);
/* sim/time/order.c. order_as_machine: brings steps into the order of the machine code, if it has
 * most of them in one basic block; then sets *known. order_chains: interleaves
 * independent chains of steps. Both return false if out of memory. */
bool order_as_machine(Planned *steps, int count, bool *known);
bool order_chains(Planned *steps, int count);
/* sim/time/rounds.c. Gives the steps of all rounds of an unrolled loop the places of their copies,
 * and registers of their own, from `spare` on. Returns the registers, which the caller frees; NULL:
 * out of memory. */
uint32_t *rounds_unroll(Planned *steps, int count, int rounds, const int *places, uint32_t spare);

/* ---- One SM (sim/time/sm.c), its warps (sim/time/warp.c) ---- */

/* A block of another SM, its twin, which repeats what is played (twins.h). */
typedef struct Twin {
    BlockTrace *trace;
    struct Sm *sm;
    int64_t later; /* cycles by which it began later than the block that is played */
} Twin;
enum { MOST_TWINS = 3 };

typedef struct PlayedBlock {
    struct PlayedBlock *next;
    BlockTrace *trace;
    Twin twin[MOST_TWINS];
    int twins;
    uint64_t number;       /* in order of arrival at the SM */
    int live, waiting;     /* warps that have not ended; those of them that wait at a barrier */
    uint64_t arrived;      /* when the last of these was counted */
    uint64_t begins, ends; /* ends: the last cycle of its warps and stores so far */
} PlayedBlock;

enum { GROUPS = 8 };

typedef struct PlayedWarp {
    const Trace *trace;
    TracePlace place;    /* after its current stretch */
    const Planned *step; /* the next step to issue; end: after the last step of the stretch */
    const Planned *end;
    const uint64_t *word;    /* accesses after the stretch */
    const uint64_t **access; /* of the stretch */
    int access_room;
    const uint64_t *twin_word[MOST_TWINS], *twin_end[MOST_TWINS]; /* `word` of twins; their ends */
    const uint64_t **twin_access;   /* [twin * accesses + access]: `access` of twins; NULL: none */
    int twins, twin_room, accesses; /* twins: of its block; accesses: of the stretch */
    const uint64_t **kept; /* by copy of a load (Operation.hoisted_first): its last accesses */
    int kept_room;
    int scheduler;        /* of all SMs */
    int lanes;            /* active in its current stretch */
    uint32_t frame;       /* of that */
    uint32_t turn;        /* how often its scheduler had played the stretch before */
    uint64_t next;        /* the earliest cycle in which it may issue again */
    uint64_t access_next; /* the same for an access or a shuffle */
    uint64_t stored;      /* when its last store arrives */
    uint64_t copied;      /* when the copies of the open group arrive */
    const Operation
        *held_by;          /* the operation for which `next` waits; NULL: the start of its block */
    uint64_t issued_until; /* the cycle after its last instruction; at first, when it began */
    uint64_t issued;       /* cycles in which it issued */
    int registers_room;
    bool is_noted; /* as one with unknown times (answers.h) */
    PlayedBlock *block;
    struct PlayedWarp *next_spare;
    uint64_t groups[GROUPS]; /* the last ones committed, newest first */
    Value value[];           /* by register */
} PlayedWarp;

/* The share of time in which shared units were recently busy, since `at`. */
enum { METER_LSU, METER_STORES, METER_L2, METER_DRAM, METER_ATOMICS, METER_LINK, METERS };

typedef struct Meters {
    double done[METERS], shared, at;
    double busy[METERS]; /* shares, at most 1 */
    double lsu_shared;   /* the load/store unit's work for shared memory */
} Meters;

/* The time in which an SM held the most blocks that it ever held, and what it issued then. */
typedef struct FullTime {
    int blocks;
    double cycles, issued;
    uint64_t at, issued_at; /* the last time that a block came or went */
} FullTime;

/* A line that a warp has stored to in part: these sectors of it, at last at cycle `at`. */
typedef struct StoredLine {
    uint64_t line, at;
    unsigned sectors;
    const PlayedWarp *by;
} StoredLine;
enum { MOST_MERGING = 32 };

/* 64 bytes in the cache of constants, which has 2 KiB on an H200 (tests/sim/time/mechanisms,
 * constants). */
typedef struct ConstantPiece {
    uint64_t number, ready; /* ready: when it arrives */
} ConstantPiece;
enum { CONSTANT_PIECES = 2048 / CONSTANT_BYTES };

enum { MOST_SCHEDULERS = 16 }; /* per SM: sim/device/device.c */

/* Updates that an SM has sent to the L2, in groups: when the L2 will have done the last groups.
 * While all SMs of an H100 update one word, each is 30 to 44 instructions ahead of the L2, that is
 * 960 to 1400 lanes (tests/sim/time/mechanisms, red_or.burst). How far an SM may be ahead here, in
 * lines and in passes, was fitted to open launches of tests/sim/blind. */
enum { UPDATE_GROUPS = 8, LINES_A_GROUP = 72, PASSES_A_GROUP = 576 };
typedef struct UpdateQueue {
    uint64_t done[UPDATE_GROUPS];
    unsigned last, amount; /* the last group, and what it has of the next one */
} UpdateQueue;

typedef struct Sm {
    struct Gpu *gpu;
    Memory *memory;
    int number;
    int half;        /* of the L2, next to it */
    int port_cycles; /* for which an access occupies its scheduler's port */
    Cache l1;
    Scheduler *schedulers;
    StoredLine merging[MOST_MERGING]; /* the last ones, latest first */
    int merging_count;
    uint64_t lsu_free, store_free; /* of the load/store unit; of the path of stores to the L2 */
    ConstantPiece constants[CONSTANT_PIECES]; /* in the cache, the last used first */
    uint64_t *updates;      /* when words of shared memory are free, by a hash; NULL: always */
    uint64_t barriers_free; /* of the unit that counts the warps at barriers */
    uint64_t constants_free,
        pieces_free; /* of the unit that loads constants; of its cache's refills */
    uint64_t queue_free[MOST_SCHEDULERS];    /* of each scheduler, in front of that unit */
    uint64_t accepted;                       /* when the L2 will have accepted the stores so far */
    UpdateQueue sent, sent_to[ATOMIC_UNITS]; /* lines with updates; passes, by the L2's unit */
    uint64_t update_free;                    /* when there will be room for more */
    uint64_t link_free;                      /* of loads of the host's memory */
    PlayedBlock *ended;                      /* since the last check */
    int resident;                            /* resident blocks */
    uint64_t started;                        /* since the kernel began */
    const PlayedBlock *oldest;               /* of the resident blocks */
    int next_place;                          /* the scheduler of the next block's first warp */
    int turn;                                /* the scheduler that comes first if several could */
    PlayedWarp *spare;                       /* free list, linked by `next_spare` */
    PlayedBlock *spare_blocks;
    uint64_t issued;
    uint64_t l1_hits, l1_misses;
    double shared_busy, l1_busy, stores_busy; /* cycles of the unit for shared memory, for global
                                                 memory, and of the path of stores */
    uint64_t ends;                            /* of its last block so far */
    uint64_t until;                           /* the end of the current turn */
    uint64_t next; /* when it issues next, except for what waits for unknown answers; NEVER */
    Meters meters;
    FullTime full;
    PlanUse plans;
    Answers answers;
    Spent nowhere;       /* cycles of schedulers that no step caused */
    double waits[WAITS]; /* cycles of schedulers */
    bool failed;         /* out of memory */
} Sm;

/* Where the SM charges cycles to a step. */
static inline Spent *sm_spent(const Sm *sm, const Operation *o)
{
    return o->spent + (size_t) sm->number * o->spent_step;
}

/* sim/time/warp.c. Makes room for pointers to so many accesses. Returns false if out of memory. */
bool warp_make_room(const uint64_t ***access, int *room, int accesses);

/* The access after this one in a trace. */
static inline const uint64_t *warp_skip_access(const uint64_t *word)
{
    return word + 1 + trace_following(*word);
}

/* Advances to the next step with an instruction, from the current one on. Returns
 * false if there is no further step. */
bool warp_find_step(Sm *sm, PlayedWarp *w);
/* The same for a warp that has had a step before. */
static inline bool warp_go_on(Sm *sm, PlayedWarp *w)
{
    return w->step->is_plain || warp_find_step(sm, w);
}

/* When that step is ready. */
static inline uint64_t warp_wakes_at(const PlayedWarp *w)
{
    const Planned *step = w->step;
    const uint32_t *first = step->first;
    uint64_t at = later(w->next, w->issued_until + step->operation->held);

    at = later(at, step->operation->pipe == PIPE_LSU ? w->access_next : 0);
    for (int i = 0; step->takes_long_way && i < w->registers_room; i++)
        at = later(at, w->value[i].ready); /* before a call, all loads must have arrived */
    if (!step->registers_used)
        return at;
    /* Without a loop: the host could not predict how many registers there are. */
    at = later(at, later(later(w->value[first[0]].ready, w->value[first[1]].ready),
                         later(w->value[first[2]].ready, w->value[first[3]].ready)));
    for (int i = FIRST_REGISTERS; i < step->registers_used; i++)
        at = later(at, w->value[step->registers[i]].ready);
    return at;
}

/* Sets the result of its current step, which `maker` produces. */
static inline void warp_set_result(Sm *sm, PlayedWarp *w, uint64_t at, const Operation *maker)
{
    const Operation *o = w->step->operation;
    const uint32_t *registers = w->step->registers + o->reads;

    for (int i = 0; i < o->writes; i++)
        w->value[registers[i]] = (Value){ .ready = at, .maker = maker };
    if (is_unknown(at))
        for (int i = 0; i < o->writes; i++)
            answers_note_value(sm, &w->value[registers[i]]);
}

void warp_commit(Sm *sm, PlayedWarp *w);
/* When the copies of all groups but the last `keep` arrive. */
uint64_t warp_groups_there(Sm *sm, const PlayedWarp *w, int keep);
/* Sets one of the warp's times to `at` if that is later. */
void warp_put_off(Sm *sm, PlayedWarp *w, uint64_t *time, uint64_t at);
/* Has room for the registers; called functions may need more than the kernel. NULL if out of
 * memory.
 */
PlayedWarp *warp_new(Sm *sm);
void warp_forget_kept(PlayedWarp *w); /* before words of its trace move */
void warp_free(PlayedWarp *w);

/* Of a hit in the L1. `word`: the line, from the trace. A dependent load of local memory takes 5
 * cycles less than one of global memory on an H200 (tests/sim/time/mechanisms, latency.local). */
static inline uint64_t l1_latency(const Device *device, uint64_t word)
{
    return (uint64_t) (trace_is_local(trace_number(word)) ? device->local_latency
                                                          : device->l1_latency);
}

/* sim/time/twins.c: what twins do while a warp of their block is played. A warp begins; it begins a
 * stretch with so many accesses (returns false if out of memory); it makes access number `access`
 * of the stretch at `at`; it has ended, and its twins make the accesses that it did not have. */
void twins_begin_warp(PlayedWarp *w);
bool twins_stretch(PlayedWarp *w, int accesses);
void twins_access(const PlayedWarp *w, int access, uint64_t at, bool lists);
void twins_end_warp(PlayedWarp *w, uint64_t now, bool lists);

/* sim/time/updates.c: a warp updates `count` words of shared memory by a loop, from `start` on, as
 * its trace says. Returns when the last update is done. */
uint64_t updates_play(Sm *sm, const PlayedWarp *w, const uint64_t *words, int count,
                      uint64_t start);
void updates_forget(Sm *sm); /* a launch begins */

/* sim/time/constants.c. constants_load: a step that loads constants; returns when their values have
 * arrived. constants_operands: loads of other steps' operands; returns for how long they wait. */
uint64_t constants_load(Sm *sm, PlayedWarp *w, uint64_t now);
uint64_t constants_operands(Sm *sm, PlayedWarp *w, uint64_t now);
void constants_forget(Sm *sm); /* nothing is in the cache */

/* sim/time/lsu.c. Makes the unit busy from `start` to `until`, for shared memory and shuffles or
 * for global memory. Also updates when its queue has room. */
void lsu_keep(Sm *sm, bool for_shared, uint64_t start, uint64_t until);
/* Plays the accesses of the warp's current step. Returns when the value or the write has arrived.
 */
uint64_t lsu_play(Sm *sm, PlayedWarp *w, uint64_t now);
/* A twin makes an access at `at`, to these words of its trace, as its warp `w`. `lists`: its
 * requests are listed, not made at once. */
void lsu_repeat(Sm *twin, const PlayedWarp *w, const uint64_t *words, uint64_t at, bool past_l1,
                bool lists);
/* Plays a step that accesses the stack. */
uint64_t lsu_play_stack(Sm *sm, PlayedWarp *w, uint64_t now);
/* The SM's stores wait if slices of the L2 have too many; and whether they still do at `now`. */
void lsu_hold_back(Sm *sm);
/* The SM has sent an update, a word of the trace, which the L2 has done at cycle `done`. */
void lsu_note_update(Sm *sm, uint64_t word, uint64_t done);
bool lsu_is_held_back(const Sm *sm, uint64_t now);
/* Moves the data of a step whose lanes another warp's instruction serves: occupies memory, but no
 * unit of the SM. Returns when the data has arrived. */
uint64_t lsu_pass(Sm *sm, PlayedWarp *w, uint64_t now);
/* Prefetches the host memory that these accesses need. */
void lsu_ask(const Sm *sm, const PlayedWarp *w);

/* sim/time/words.c: accesses without extra sectors. words_access: plays an access to `count` lines
 * of global or local memory, each with its words. words_store: as memory_store. */
uint64_t words_access(Sm *sm, TraceKind kind, const uint64_t *lines, int count, uint64_t start,
                      int least);
uint64_t words_store(Memory *memory, uint64_t line, uint32_t words, uint64_t now);

bool sm_open(Sm *sm, struct Gpu *gpu, Memory *memory);
void sm_close(Sm *sm);
/* Begins a launch: the clock is 0, and the L1 is empty. Returns false if out of memory. */
bool sm_begin(Sm *sm, double l1_bytes);
/* The block's warps may issue from cycle `at` on. The SM owns its trace and those of its twins
 * until the block is in `ended`. */
bool sm_start(Sm *sm, const PlayedBlock *new, uint64_t at);
void sm_run(Sm *sm, uint64_t until); /* plays everything that is issued before that cycle */
uint64_t sm_next(Sm *sm);            /* when it issues next; NEVER */

/* sim/time/barriers.c. barrier_arrive: a warp of the block waits from now on. barrier_check: `last`
 * has arrived or ended; if all others wait, they are released. sm_release_all: the same for all
 * blocks, if warps are resident but none can issue. */
void barrier_arrive(Sm *sm, PlayedBlock *block, uint64_t now);
void barrier_check(Sm *sm, PlayedBlock *block, const PlayedWarp *last, uint64_t now);
void sm_release_all(Sm *sm, uint64_t at);

/* ---- Attribution of time (sim/time/limits.c) ---- */

/* The scheduler issues for the warp at `now` but could not earlier: charges the reason. */
void limits_waited(Sm *sm, const Scheduler *s, const PlayedWarp *w, uint64_t now);
/* The operation for which the last warp at a barrier waited; NULL: not a memory operation. */
const Operation *limits_barrier(const Sm *sm, const PlayedWarp *w);
/* After a launch. The `left_out` cycles are attributed like the played ones, except the tail. */
void limits_end(Gpu *gpu, double left_out, TimingResult *result);
/* Then: shortens the launch to `cycles`, in which no SM is without blocks. */
void limits_drop_tail(const Gpu *gpu, double cycles, TimingResult *result);

/* ---- Waits of each warp, for observers (sim/time/waits.c) ---- */

/* Why a warp waited for its turn after `o`, or for a result of `o` (NULL: none). */
WaitKind wait_for_turn_after(const Operation *o);
WaitKind wait_for_result_of(const Operation *o);
/* The operation that wrote the register for which the warp's step waited longest; NULL: none. */
const Operation *limits_maker(const PlayedWarp *w);
/* If gpu->watched: the warp, number `index` of the scheduler, issues at `now`, or has ended. */
void waits_issue(const Sm *sm, const Scheduler *s, int index, uint64_t now);
void waits_end(const Sm *sm, const PlayedWarp *w);

/* ---- What kernels read from a clock (sim/time/read_clock.c) ---- */

/* Of a launch. */
typedef struct Clocks {
    Gpu *gpu;
    int block_warps, warps_per_sm; /* of a block; resident */
    Sm sm;                         /* not played: owns the warps */
    Cache l1, l2;                  /* tags only */
} Clocks;

bool clock_open(Clocks *clocks, Gpu *gpu, int block_warps, int warps_per_sm, double l1_bytes);
void clock_close(Clocks *clocks);
/* The cycle of the launch at which the warp is, whose block began at cycle `begins`. Its trace so
 * far is complete. */
uint64_t clock_read(Clocks *clocks, Trace *trace, uint64_t begins);
void clock_forget_warp(Clocks *clocks, Trace *trace); /* when the warp has ended */

/* ---- The work of blocks (sim/time/work.c) ---- */

/* From the counters of the launch, which include blocks that are not played. */
enum { INSTRUCTIONS, REQUESTS, SECTORS_MOVED, WAVEFRONTS, WORK_KINDS };
typedef struct WorkDone {
    double of[WORK_KINDS];
} WorkDone;

WorkDone work_done(const Launch *launch);
/* How heavy the `others` blocks that did `rest` are, relative to the `blocks` that were played. */
double work_ratio(const WorkDone *played, double blocks, const WorkDone *rest, double others);
/* Whether the others do a kind of work of which the played blocks did hardly any. */
bool work_is_new(const WorkDone *played, double blocks, const WorkDone *rest, double others);
/* A lower bound of the time of that work, in cycles. */
double work_least_cycles(const Gpu *gpu, const WorkDone *done);

/* ---- All SMs (sim/time/gpu.c) ---- */

struct Gpu {
    Device device;
    CauseSet without; /* causes that are left out */
    int threads;      /* that may play a launch, including the executor's; at most 1: no others */
    Memory memory;
    Sm *sms;
    Operations *operations; /* of the launch's codes: [function + 1], [0] the kernel's */
    int operations_count;
    int registers, hoisted;             /* of all of them */
    uint64_t stack_words, stack_places; /* words of the stack per lane; blocks that have one */
    Plans plans;
    MemoryBusy busy;               /* when the current turn of the SMs began */
    Spent nowhere;                 /* cycles of schedulers that no step caused */
    double waits[WAITS];           /* cycles of schedulers */
    const Spent **spent;           /* of the launch's codes, for the report */
    bool failed;                   /* out of memory */
    double cycles;                 /* of all earlier launches, for clocks */
    Launch *watched;               /* the launch, if an observer wants its warps; or NULL */
    struct L2Known *l2_known;      /* what the L2 holds between launches (l2.h) */
    struct Earlier *earlier;       /* launches (earlier.h) */
    size_t most_kept, most_stored; /* bytes of one launch's traces; of all that is stored */
    BlockTrace *spare;             /* empty ones, with memory of earlier blocks */
    bool plays_all;                /* for tests: launches that repeat earlier ones, too */
    long repeated;                 /* launches that were not played */
};

/* The bytes of an SM's L1. */
double gpu_l1_bytes(const Gpu *gpu, const Launch *launch, int resident);
/* Makes the operations of the launch's kernel, or later of a function that it has called, number
 * at - 1 of the module. Both return false if out of memory. */
bool gpu_make_operations(Gpu *gpu, const Launch *launch);
bool gpu_add_operations(Gpu *gpu, const Launch *launch, int at, const Code *code);
void gpu_drop_spare(Gpu *gpu, size_t most); /* spare traces beyond so many bytes */

#endif
