/* trace.h - a record of what each warp of a block did, for the time model (timing.h).
 *
 * A warp whose `trace` is NULL records nothing, at no cost.
 */
#ifndef SIM_EXEC_TRACE_H
#define SIM_EXEC_TRACE_H

#include "sim/exec/access.h"

/* Steps first .. first + count - 1 of a code, executed in sequence by `lanes` lanes. The last step
 * made `accesses` accesses. `skipped`: the guard of every step was false for all lanes. */
typedef struct TraceRun {
    uint32_t first;
    int32_t function : 20; /* index in the module; -1: the kernel */
    uint32_t frame : 12;   /* calls that have not returned, at most TRACED_FRAMES */
    uint16_t count;
    uint8_t accesses;
    uint8_t skipped : 1, lanes : 7;
} TraceRun;

enum { TRACED_FRAMES = 4095 };

/* An access is one word. For global memory, one per line follows, or two if the launch traces words
 * of four bytes: the second has one bit per word that a lane requests. For constants, the number of
 * each piece of CONSTANT_BYTES follows; for atomics on shared memory that are loops, each word that
 * is updated, with the number of updates that follow each other as its amount. */
typedef enum TraceKind {
    TRACE_SHARED,
    TRACE_LOAD,
    TRACE_STORE,
    TRACE_LOCAL_STORE,
    TRACE_ATOMIC,         /* on floating-point numbers */
    TRACE_INTEGER_ATOMIC, /* any other */
    TRACE_LONG_WAY,       /* no access: lanes of a quotient or root take the long way */
    TRACE_MERGED_STORE    /* in no trace: the SM has added it to an earlier store */
} TraceKind;

enum { CONSTANT_BYTES = 64 };

/* Added to line numbers of local memory; lines of global memory have smaller numbers. */
#define TRACE_LOCAL_LINES (1ull << 41)
/* Added to line numbers of global memory that is the host's; others have smaller numbers. */
#define TRACE_HOST_LINES (1ull << 40)

/* The number of sectors in the mask of a line. */
static inline unsigned sectors_in(unsigned mask)
{
    return (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3 & 1);
}

static inline bool trace_is_local(uint64_t line)
{
    return line & TRACE_LOCAL_LINES;
}

static inline bool trace_is_on_host(uint64_t line)
{
    return (line & (TRACE_LOCAL_LINES | TRACE_HOST_LINES)) == TRACE_HOST_LINES;
}

/* `following`: the number of words that follow. `wavefronts`: for shared memory, with bank
 * conflicts, and `ideal` without; for constants, the number of different addresses; for a load of
 * global or local memory, the wavefronts that the same addresses would take in shared memory; for
 * an atomic on global memory, the cycles that an SM takes to send its updates. */
static inline uint64_t trace_head(TraceKind kind, int following, int wavefronts, int ideal)
{
    return (uint64_t) ideal << 40 | (uint64_t) wavefronts << 16 | (uint64_t) following << 8 |
           (uint64_t) kind;
}

static inline TraceKind trace_kind(uint64_t head)
{
    return (TraceKind) (head & 0xff);
}

static inline int trace_following(uint64_t head)
{
    return (int) (head >> 8 & 0xff);
}

static inline uint64_t trace_wavefronts(uint64_t head)
{
    return head >> 16 & 0xffffff;
}

static inline uint64_t trace_ideal(uint64_t head)
{
    return head >> 40;
}

/* A line of global or local memory. `sectors`: one bit per sector. `amount`: for a store, the bytes
 * per sector (32: whole sectors); for an atomic, the number of updates to the line's most frequent
 * address. `passes`: for an atomic, how often the L2 updates a sector of the line, each time at
 * most once per address; for a store to local memory, the sectors that are written in part, one bit
 * each. Both are at most 63. */
static inline uint64_t trace_line(uint64_t line, unsigned sectors, unsigned amount, unsigned passes)
{
    return line << 16 | passes << 10 | amount << 4 | sectors;
}

static inline uint64_t trace_number(uint64_t word)
{
    return word >> 16;
}

static inline unsigned trace_sectors(uint64_t word)
{
    return word & 0xf;
}

static inline unsigned trace_amount(uint64_t word)
{
    return word >> 4 & 0x3f;
}

static inline unsigned trace_passes(uint64_t word)
{
    return word >> 10 & 0x3f;
}

static inline unsigned trace_parts(uint64_t word)
{
    return trace_passes(word) & 0xf;
}

typedef struct Trace {
    TraceRun *runs;
    uint64_t *words;
    int run_count, run_room, word_count, word_room;
    uint64_t wavefronts;   /* of accesses to shared memory */
    const Code *code;      /* code of the last run, and its next step; NULL: the run has ended */
    uint32_t next, active; /* active: the lanes of the last run */
    bool skipped;
    /* While the warp runs a row of steps (turn.c): the first of them that is not in the trace yet.
     * Else NULL. */
    const Step *row;
    struct WarpClock *clock; /* of the time model, if the warp has read a clock */
} Trace;

/* Of a block: instructions of PTX of all its warps, and of the longest one; words of their traces,
 * thus accesses and lines, and wavefronts of shared memory. */
enum { WORK_INSTRUCTIONS, WORK_LONGEST, WORK_MOVED, BLOCK_WORKS };
typedef struct BlockWork {
    double of[BLOCK_WORKS];
} BlockWork;

typedef struct BlockTrace {
    struct BlockTrace *next;
    long block;      /* its number */
    uint64_t begins; /* about when it begins, in cycles of the launch */
    Trace *warps;
    int warp_count;
    bool incomplete; /* out of memory */
    BlockWork work;  /* of the block, when it has ended: trace_work() */
    /* The thread that runs the block ahead of its turn digests the trace, too, if it is wanted. */
    bool wants_digest, has_digest;
    uint64_t digest[2]; /* as a Digest of sim/time/digest.h */
} BlockTrace;

/* From now on the warp records into this trace; NULL: no longer. */
static inline void trace_into(Warp *warp, Trace *trace)
{
    warp->trace = trace;
    warp->observed = trace || warp->block->launch->watched;
}

/* Prefetches the place of a trace that will be written soon, which is rarely in the host's caches.
 */
static inline void trace_ask(const void *at)
{
    enum { AHEAD = 128 };

    __builtin_prefetch((const void *) ((uintptr_t) at + AHEAD), 1);
}

void trace_run(Warp *warp, int pc, bool skipped); /* begins a run */

/* Called before a warp executes or skips a step. */
static inline void trace_step(Warp *warp, int pc, bool skipped)
{
    Trace *trace = warp->trace;
    TraceRun *run = trace->code ? &trace->runs[trace->run_count - 1] : NULL;

    if (run && trace->code == warp->code && trace->next == (uint32_t) pc &&
        trace->skipped == skipped && trace->active == warp->active && run->count < UINT16_MAX) {
        run->count++;
        trace->next++;
    } else {
        trace_run(warp, pc, skipped);
    }
}
/* In a row: records the steps before `end`, which all lanes have executed. */
void trace_row(Warp *warp, const Step *end);
/* The same up to the current step. Called before anything else is recorded or read. */
static inline void trace_settle(Warp *warp)
{
    if (warp->trace->row)
        trace_row(warp, warp->at + 1);
}

/* Records an access that has been counted already. */
void trace_access(const Access *access);
/* The same for words of a full warp in global or shared memory, with the step's last shape and its
 * allocation. `first`: the first lane's address. Returns false if that needs trace_access(). */
bool trace_again(Warp *warp, const Shape *shape, uint64_t first);
/* Records that operands of the current step take the long way (ops/long_way.h). */
void trace_long_way(Warp *warp);
/* Room for so many runs and words, also those that are there. Returns false if out of memory. */
bool trace_make_room(Trace *trace, int runs, int words);
void trace_work(BlockTrace *block);
size_t trace_bytes(const BlockTrace *block); /* of all its runs and words */
void trace_clear(BlockTrace *block);
void trace_free(BlockTrace *block);

#endif
