/* model.h - what the parts of the model of time share: timing_*.c. */
#ifndef SIM_TIME_MODEL_H
#define SIM_TIME_MODEL_H

#include "sim/machine/operations.h"
#include "sim/time/timing.h"

#define NEVER (UINT64_MAX >> 2) /* a cycle that does not come */

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
    bool is_last;          /* of the stretch, but for those that are nothing */
    uint8_t reading;       /* cycles that its operands take */
    uint8_t reading_after; /* if the step before is what its scheduler has issued before */
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
    int register_reads;           /* operands a cycle */
    Plan **table;
    int room, count;
} Plans;

/* Of the stretch that begins at the place, which goes on behind it. NULL: no memory. */
const Plan *plan_of(Plans *plans, const Trace *trace, TracePlace *place);
void plans_clear(Plans *plans);
/* sim/time/order.c: chains of steps side by side. False: no memory. */
bool order_chains(Planned *steps, int count);

/* ---- Caches: the L2, and each SM's L1 (sim/time/cache.c) ---- */

enum { SECTORS = 4, SECTOR_BYTES = 32, LINE_BYTES = SECTORS * SECTOR_BYTES };

#define NO_LINE UINT64_MAX

typedef struct CacheLine {
    uint64_t line;            /* its address / LINE_BYTES; NO_LINE */
    uint64_t ready;           /* when what was last fetched is there */
    uint64_t busy;            /* until then an atomic works on it */
    uint8_t valid, dirty;     /* sectors, a bit each */
    uint8_t written[SECTORS]; /* bytes of a dirty sector, 32 at most */
} CacheLine;

enum { MOST_WAYS = 16 };

/* What it takes to find a line in a set: a byte of each one's hash, way by way, and the ways in the
 * order of their use, the last used one in the lowest four bits. */
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
/* The line is there, used last. New: nothing of it is, and `displaced` is what it takes the place
 * of: the least recently used of its set, or NO_LINE. */
CacheLine *cache_line(Cache *cache, uint64_t line, bool *is_new, CacheLine *displaced);
/* So many others came: they are in place of what was used least recently, and used last. */
void cache_displace(Cache *cache, double lines);
/* It will be asked for soon. Changes nothing but how long that takes. */
void cache_ask(const Cache *cache, uint64_t line);

static inline unsigned sectors_in(unsigned mask)
{
    return (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3 & 1);
}

/* ---- Memory that all SMs share (sim/time/memory.c) ---- */

typedef struct Memory {
    Cache l2;
    double l2_free, dram_free;                   /* the cycle from which on they do nothing yet */
    double l2_cycles;                            /* a sector takes */
    double read_cycles, write_cycles;            /* an atom takes */
    double atomic_cycles, integer_atomic_cycles; /* between updates of one line */
    int l2_latency, memory_latency, memory_queue, store_latency;
    int atom_sectors;
    uint8_t atoms[1 << SECTORS];               /* by sectors: how many atoms these lie in */
    uint8_t whole[1 << SECTORS];               /* and all sectors of those */
    bool fills;                                /* what is written in part is read first */
    uint64_t l2_hits, l2_misses;               /* sectors loaded */
    double read_bytes, write_bytes, dram_busy; /* dram_busy: cycles of this launch */
    double l2_busy;
    double atomics_busy, atomics_until; /* while an update waited for another of its line */
    /* Of a launch whose blocks are not all played: how much of the L2 those left out would have
     * filled with lines that are to be written back. */
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
/* At `now` an SM wants these sectors, writes them, updates them, which takes so many cycles in
 * which no other update of the line can be made. The cycle when the data has come,
 * the write has arrived, the old value has come. */
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

/* A register's: when it is there, and what it comes from; NULL: nothing yet. */
typedef struct Value {
    uint64_t ready;
    const Operation *maker;
} Value;

enum { GROUPS = 8 };

typedef struct PlayedWarp {
    const Trace *trace;
    TracePlace place;    /* behind the stretch that it is in */
    const Planned *step; /* that it issues next; end: behind the last of the stretch */
    const Planned *end;
    const uint64_t *word;    /* accesses behind the stretch */
    const uint64_t **access; /* of the stretch */
    int access_room;
    uint64_t next;            /* the cycle before which it may not issue again */
    uint64_t stored;          /* when its last store has arrived */
    uint64_t copied;          /* when the copies of the open group have */
    const Operation *held_by; /* what `next` is due to; NULL: its block's start */
    int registers_room;
    PlayedBlock *block;
    struct PlayedWarp *next_spare;
    uint64_t groups[GROUPS]; /* the last ones committed, newest first */
    Value value[];           /* by register */
} PlayedWarp;

/* How much of the time what warps share is at work: of late, since `at`. */
enum { METER_LSU, METER_STORES, METER_L2, METER_DRAM, METER_ATOMICS, METERS };

typedef struct Meters {
    double done[METERS], shared, at;
    double busy[METERS]; /* shares, at most 1 */
    double lsu_shared;   /* of the unit's work, that is shared memory's */
} Meters;

/* Its warps in the order in which they came. */
typedef struct Scheduler {
    uint64_t *wake; /* when the warp's next operation has all that it needs */
    uint8_t *pipe;  /* of its next operation */
    PlayedWarp **warp;
    int count;
    uint64_t free; /* the next cycle in which it can issue */
    uint64_t pipe_free[PIPES];
    uint64_t best_at; /* when it issues next, if nothing happens before; NEVER */
    int best;         /* whose turn it is then */
    int room;
    int last; /* that issued last; -1 */
} Scheduler;

typedef struct Sm {
    struct Gpu *gpu;
    Memory *memory;
    Cache l1;
    Scheduler *schedulers;
    uint64_t lsu_free, store_free; /* of the load/store unit; of the way of stores to the L2 */
    PlayedBlock *ended;            /* since somebody last looked */
    int resident;                  /* blocks that are there */
    uint64_t started;              /* since the kernel began */
    const PlayedBlock *oldest;     /* of those that are there */
    int next_place;                /* the scheduler of the next block's first warp */
    int turn;                      /* the scheduler that is first, of those that could be */
    PlayedWarp *spare;             /* warps to use again, by `next_spare` */
    PlayedBlock *spare_blocks;
    uint64_t issued;
    uint64_t l1_hits, l1_misses;
    double shared_busy, l1_busy, stores_busy; /* cycles: the unit's for shared memory, for global;
                                                 of the way of stores */
    uint64_t ends;                            /* of its last block so far */
    Meters meters;
} Sm;

static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* sim/time/warp.c. To the next step that is an instruction. False: there is none. */
bool warp_go_on(Sm *sm, PlayedWarp *w);
/* When that has all that it needs. */
uint64_t warp_wakes_at(const PlayedWarp *w);
/* Of the step that it is at, which came of `maker`. */
void warp_set_result(PlayedWarp *w, uint64_t at, const Operation *maker);
void warp_commit(PlayedWarp *w);
/* When the copies of all groups but the last `keep` have arrived. */
uint64_t warp_groups_there(const PlayedWarp *w, int keep);
/* With room for the registers: a kernel's calls may turn out to have more than it has itself. NULL:
 * no memory. */
PlayedWarp *warp_new(Sm *sm);
void warp_free(PlayedWarp *w);

/* sim/time/lsu.c. The unit is busy from `start`, when it was free, until then: for shared memory
 * and shuffles, or for global memory. From when on its queue has room follows. */
void lsu_keep(Sm *sm, bool for_shared, uint64_t start, uint64_t until);
/* The accesses of the step that the warp is at. When the value is there, or what it wrote. */
uint64_t lsu_play(Sm *sm, PlayedWarp *w, uint64_t now);
/* It will play them soon. */
void lsu_ask(const Sm *sm, const PlayedWarp *w);

bool sm_open(Sm *sm, struct Gpu *gpu, Memory *memory);
void sm_close(Sm *sm);
/* For a launch: its clock begins at 0, its L1 is empty. False: no memory. */
bool sm_begin(Sm *sm, double l1_bytes);
/* Its warps may issue from cycle `at` on. The trace is the SM's until the block is in `ended`. */
bool sm_start(Sm *sm, BlockTrace *trace, uint64_t at);
void sm_run(Sm *sm, uint64_t until); /* all that is issued before that cycle */
uint64_t sm_next(Sm *sm);            /* when it issues next; NEVER */
/* Nothing can be issued though warps are there: those at barriers go on. */
void sm_release_all(Sm *sm, uint64_t at);

/* ---- Where the time goes (sim/time/limits.c) ---- */

/* The scheduler issues for the warp, its best, at `now`, and could not before: why? */
void limits_waited(Sm *sm, const Scheduler *s, const PlayedWarp *w, uint64_t now);
/* What the warp, the last to come to a barrier, waited for before; NULL: nothing from memory. */
const Operation *limits_barrier(const PlayedWarp *w);
/* After a launch: `left_out` cycles are like those that were played, but for the tail. */
void limits_end(Gpu *gpu, double left_out, TimingResult *result);

/* ---- All of them (sim/time/gpu.c) ---- */

struct Gpu {
    Device device;
    Memory memory;
    Sm *sms;
    Operations *operations; /* of the launch's codes: [function + 1], [0] the kernel's */
    int operations_count;
    int registers; /* of all of them */
    Plans plans;
    Spent nowhere;       /* cycles of schedulers for which no step is to blame */
    double waits[WAITS]; /* cycles of schedulers */
    const Spent **spent; /* of the launch's codes, for the report */
    bool failed;         /* there was no memory */
};

#endif
