/* model.h - shared by the parts of the model of time. */
#ifndef SIM_TIME_MODEL_H
#define SIM_TIME_MODEL_H

#include "sim/machine/operations.h"
#include "sim/base/common.h"
#include "sim/time/timing.h"

#define NEVER (UINT64_MAX >> 2) /* a cycle that never comes */

/* ---- Plans: a stretch of a trace in the order of issue (sim/time/plan.c) ---- */

typedef struct TracePlace {
    int run, step;
} TracePlace;

typedef struct PlanSegment {
    uint32_t first;
    int32_t function;
    uint16_t count;
    uint8_t accesses;
    bool skipped;
} PlanSegment;

typedef struct Planned {
    const Operation *operation;
    const uint32_t *registers; /* read, then written */
    uint16_t access;           /* number of its first access in the stretch */
    uint8_t accesses;
    bool skipped;
    bool is_last;          /* of the stretch, not counting steps without an instruction */
    uint8_t reading;       /* cycles to read its operands */
    uint8_t reading_after; /* if its scheduler issued the step before immediately before */
} Planned;

typedef struct Plan {
    struct Plan *next;
    uint64_t hash;
    PlanSegment *segments;
    Planned *steps;
    int segment_count, step_count, access_count;
    uint64_t played; /* how often */
} Plan;

typedef struct Plans {
    const Operations *operations; /* [function + 1] */
    int register_reads;           /* operands per cycle */
    Plan **table;
    int room, count;
} Plans;

/* The plan of the stretch that begins at the place; moves the place behind it. NULL: out of memory.
 */
const Plan *plan_of(Plans *plans, const Trace *trace, TracePlace *place);
void plans_clear(Plans *plans);
/* sim/time/order.c: interleaves independent chains of steps. False: out of memory. */
bool order_chains(Planned *steps, int count);

/* ---- Caches: the L2, and each SM's L1 (sim/time/cache.c) ---- */

#define NO_LINE UINT64_MAX

typedef struct CacheLine {
    uint64_t line;            /* its address / LINE_BYTES; NO_LINE */
    uint64_t ready;           /* when the last fetch arrives */
    uint64_t busy;            /* until then an atomic works on it */
    uint8_t valid, dirty;     /* sectors, one bit each */
    uint8_t written[SECTORS]; /* bytes of a dirty sector, 32 at most */
} CacheLine;

enum { MOST_WAYS = 16 };

/* Data for finding a line in a set: one byte of each line's hash, way by way, and the ways in the
 * order of use, the most recent one in the lowest four bits. */
typedef struct CacheSet {
    uint64_t marks[MOST_WAYS / 8];
    uint64_t order;
} CacheSet;

typedef struct Cache {
    CacheSet *sets;
    CacheLine *lines; /* of set n from n * ways on */
    size_t count;     /* of sets */
    int ways;
} Cache;

bool cache_open(Cache *cache, double bytes, int ways);
void cache_close(Cache *cache);
/* Finds the line or adds it, as most recently used. A new line is empty, and `displaced` is the
 * line that it replaces: the least recently used of its set, or NO_LINE. */
CacheLine *cache_line(Cache *cache, uint64_t line, bool *is_new, CacheLine *displaced);
/* Adds this many other lines, which replace the least recently used ones. */
void cache_displace(Cache *cache, double lines);
/* Prefetches the entry of a line that will be requested soon. Affects only the speed of the
 * simulator. */
void cache_ask(const Cache *cache, uint64_t line);

/* ---- Memory that all SMs share (sim/time/memory.c) ---- */

typedef struct Memory {
    Cache l2;
    double l2_free, dram_free;                   /* the cycle from which on they are free */
    double l2_cycles;                            /* a sector takes */
    double read_cycles, write_cycles;            /* an atom takes */
    double atomic_cycles, integer_atomic_cycles; /* between updates of one line */
    int l2_latency, memory_latency, memory_queue, store_latency;
    int atom_sectors;
    uint8_t atoms[1 << SECTORS];               /* by sectors: how many atoms these lie in */
    uint8_t whole[1 << SECTORS];               /* and all sectors of those */
    bool fills;                                /* partly written atoms are read first */
    uint64_t l2_hits, l2_misses;               /* sectors loaded */
    double read_bytes, write_bytes, dram_busy; /* dram_busy: cycles of this launch */
    double l2_busy;
    double atomics_busy, atomics_until; /* while an update waited for another of its line */
    /* For a launch whose blocks are not all played: the part of the L2 that the others would have
     * filled with dirty lines. */
    bool stand_in; /* a line that displaces nothing costs what the average one will */
    uint64_t lines_in, atoms_dirtied;
} Memory;

bool memory_model_open(Memory *memory, const Device *device);
void memory_model_close(Memory *memory);
void memory_model_begin(Memory *memory); /* a launch: its clock begins at 0 */

static inline void memory_ask(const Memory *memory, uint64_t line)
{
    cache_ask(&memory->l2, line);
}
/* At cycle `now` an SM reads, writes or updates these sectors; an update blocks other updates of
 * the line for a number of cycles. Returns the cycle at which the data, the write or the old value
 * has arrived. */
uint64_t memory_load(Memory *memory, uint64_t line, unsigned sectors, uint64_t now);
uint64_t memory_store(Memory *memory, uint64_t line, unsigned sectors, unsigned bytes,
                      uint64_t now);
uint64_t memory_atomic(Memory *memory, uint64_t line, unsigned sectors, double cycles,
                       uint64_t now);

/* ---- One SM (sim/time/sm.c), its warps (sim/time/warp.c) ---- */

typedef struct PlayedBlock {
    struct PlayedBlock *next;
    BlockTrace *trace;
    uint64_t number;       /* in the order in which they came to the SM */
    int live, waiting;     /* warps that have not ended; of them at a barrier */
    uint64_t begins, ends; /* ends: the last cycle of its warps and stores so far */
} PlayedBlock;

/* When a register is ready, and the operation that writes it; NULL: none yet. */
typedef struct Value {
    uint64_t ready;
    const Operation *maker;
} Value;

enum { GROUPS = 8 };

typedef struct PlayedWarp {
    const Trace *trace;
    TracePlace place;    /* after its current stretch */
    const Planned *step; /* the step that it issues next; end: after the last step of the stretch */
    const Planned *end;
    const uint64_t *word;    /* accesses after the stretch */
    const uint64_t **access; /* of the stretch */
    int access_room;
    uint64_t next;   /* the cycle before which it may not issue again */
    uint64_t stored; /* when its last store has arrived */
    uint64_t copied; /* when the copies of the open group have arrived */
    const Operation
        *held_by; /* the operation for which `next` waits; NULL: the start of its block */
    int registers_room;
    PlayedBlock *block;
    struct PlayedWarp *next_spare;
    uint64_t groups[GROUPS]; /* the last ones committed, newest first */
    Value value[];           /* by register */
} PlayedWarp;

/* The share of time in which units that warps share are busy: of late, since `at`. */
enum { METER_LSU, METER_STORES, METER_L2, METER_DRAM, METER_ATOMICS, METERS };

typedef struct Meters {
    double done[METERS], shared, at;
    double busy[METERS]; /* shares, at most 1 */
    double lsu_shared;   /* the unit's work for shared memory */
} Meters;

/* Its warps in the order in which they came. */
typedef struct Scheduler {
    uint64_t *wake; /* when the warp's next operation is ready */
    uint8_t *pipe;  /* of its next operation */
    PlayedWarp **warp;
    int count;
    uint64_t free; /* the next cycle in which it can issue */
    uint64_t pipe_free[PIPES];
    uint64_t best_at; /* when it issues next, if nothing else happens before; NEVER */
    int best;         /* the warp that issues then */
    int room;
    int last; /* the warp that issued last; -1 */
} Scheduler;

typedef struct Sm {
    struct Gpu *gpu;
    Memory *memory;
    Cache l1;
    Scheduler *schedulers;
    uint64_t lsu_free, store_free; /* of the load/store unit; of the path of stores to the L2 */
    PlayedBlock *ended;            /* since the last check */
    int resident;                  /* resident blocks */
    uint64_t started;              /* since the kernel began */
    const PlayedBlock *oldest;     /* of those that are there */
    int next_place;                /* the scheduler of the next block's first warp */
    int turn;                      /* the scheduler that is first, of those that could be */
    PlayedWarp *spare;             /* warps to use again, by `next_spare` */
    PlayedBlock *spare_blocks;
    uint64_t issued;
    uint64_t l1_hits, l1_misses;
    double shared_busy, l1_busy, stores_busy; /* cycles of the unit for shared and for global
                                                 memory; of the path of stores */
    uint64_t ends;                            /* of its last block so far */
    Meters meters;
} Sm;

/* sim/time/warp.c. Advances to the next step with an instruction. False: no further step. */
bool warp_go_on(Sm *sm, PlayedWarp *w);
/* When that step is ready. */
uint64_t warp_wakes_at(const PlayedWarp *w);
/* Sets the result of its current step, which `maker` produces. */
void warp_set_result(PlayedWarp *w, uint64_t at, const Operation *maker);
void warp_commit(PlayedWarp *w);
/* When the copies of all groups but the last `keep` have arrived. */
uint64_t warp_groups_there(const PlayedWarp *w, int keep);
/* With room for the registers: called functions may need more than the kernel. NULL: out of memory.
 */
PlayedWarp *warp_new(Sm *sm);
void warp_free(PlayedWarp *w);

/* sim/time/lsu.c. The unit is busy from `start` until then, for shared memory and shuffles or for
 * global memory. Also updates when its queue has room. */
void lsu_keep(Sm *sm, bool for_shared, uint64_t start, uint64_t until);
/* Plays the accesses of the warp's current step. Returns when the value or the write has arrived.
 */
uint64_t lsu_play(Sm *sm, PlayedWarp *w, uint64_t now);
/* Prefetches what they need. */
void lsu_ask(const Sm *sm, const PlayedWarp *w);

bool sm_open(Sm *sm, struct Gpu *gpu, Memory *memory);
void sm_close(Sm *sm);
/* For a launch: its clock begins at 0, its L1 is empty. False: no memory. */
bool sm_begin(Sm *sm, double l1_bytes);
/* Its warps may issue from cycle `at` on. The SM owns the trace until the block is in `ended`. */
bool sm_start(Sm *sm, BlockTrace *trace, uint64_t at);
void sm_run(Sm *sm, uint64_t until); /* plays everything that is issued before that cycle */
uint64_t sm_next(Sm *sm);            /* when it issues next; NEVER */
/* No warp can issue although some are resident: releases those at barriers. */
void sm_release_all(Sm *sm, uint64_t at);

/* ---- Attribution of time (sim/time/limits.c) ---- */

/* The scheduler issues for the warp at `now`, and could not before: charges the reason. */
void limits_waited(Sm *sm, const Scheduler *s, const PlayedWarp *w, uint64_t now);
/* What the last warp at a barrier had waited for; NULL: nothing from memory. */
const Operation *limits_barrier(const PlayedWarp *w);
/* After a launch: `left_out` cycles are like the played ones, except the tail. */
void limits_end(Gpu *gpu, double left_out, TimingResult *result);

/* ---- All SMs (sim/time/gpu.c) ---- */

struct Gpu {
    Device device;
    Memory memory;
    Sm *sms;
    Operations *operations; /* of the launch's codes: [function + 1], [0] the kernel's */
    int operations_count;
    int registers; /* of all of them */
    Plans plans;
    Spent nowhere;       /* cycles of schedulers that no step has caused */
    double waits[WAITS]; /* cycles of schedulers */
    const Spent **spent; /* of the launch's codes, for the report */
    bool failed;         /* out of memory */
};

#endif
