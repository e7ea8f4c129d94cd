/* ahead.h - runs blocks of a launch ahead of their turn, on several threads.
 *
 * A chunk of blocks that runs ahead changes nothing but itself: its stores and atomics to global
 * memory are listed (writes.h), and its counters and traces are its own. When all blocks before it
 * have run, the launch's thread takes it over: it does what is listed, and adds the counters. So
 * everything is as if the blocks had run one after another, as long as no chunk reads an allocation
 * that the launch writes. If one does, or does something that cannot be listed or would be a
 * finding, it is dropped with all that follow, and its blocks run in their turn. (It may then have
 * read bytes while another thread wrote them, but nothing of it remains.)
 */
#ifndef SIM_EXEC_AHEAD_H
#define SIM_EXEC_AHEAD_H

#include "sim/exec/trace.h"
#include "sim/exec/writes.h"

/* How the observer that records traces learns of blocks that have run ahead. All but one are called
 * by the launch's thread, in the order of the blocks. */
typedef struct AheadCalls {
    /* That may run its blocks now, its own included. May change when a chunk is taken over. */
    int (*threads)(const Launch *launch);
    /* How many blocks from this one on can be taken over together, at most. */
    long (*together)(const Launch *launch, long block);
    /* The trace that a block is to record, before it runs; NULL: none, or out of memory. */
    BlockTrace *(*trace)(Launch *launch);
    /* By the thread that has run a block with a trace. */
    void (*ran)(BlockTrace *trace);
    /* As block_begin and block_end, when the block is taken over. `began` returns its trace, or
     * NULL if it is not needed. */
    BlockTrace *(*began)(Launch *launch, long block, BlockTrace *trace);
    void (*ended)(Launch *launch, BlockTrace *trace);
    void (*drop)(Launch *launch, BlockTrace *trace); /* of a block that was dropped; may be NULL */
} AheadCalls;

typedef struct Ahead Ahead;

/* When the first of `count` blocks has run in its turn. NULL: the launch cannot run ahead, or it is
 * not worth it. */
Ahead *ahead_open(Launch *launch, long count);
/* Runs blocks from this one on, until one has to run in its turn. Returns its number; or `count`.
 * Calls done(self) when it has taken over a block. */
long ahead_run(Ahead *ahead, long block, void (*done)(void *self), void *self);
/* Whether it is no use to try again. */
bool ahead_is_over(const Ahead *ahead);
void ahead_close(Ahead *ahead);

/* ---- Accesses to global memory of blocks that run ahead ---- */

void ahead_note_use(struct AheadThread *thread, const Allocation *a, AccessKind kind);
void ahead_list_store(struct AheadThread *thread, const Access *access);
void ahead_list_updates(struct AheadThread *thread, const Access *access, Update *update, int b);

/* Called when the allocation of an access has been found. */
static inline void ahead_note(const Access *x, const Allocation *a)
{
    if (x->warp->block->ahead)
        ahead_note_use(x->warp->block->ahead, a, x->kind);
}

static inline bool is_ahead_store(const Access *x)
{
    return x->kind == ACCESS_STORE && x->space == SPACE_GLOBAL && x->warp->block->ahead;
}

/* Lists the access if its block runs ahead. `b`: the plane of the operand. */
static inline bool ahead_stores(const Access *x)
{
    if (!is_ahead_store(x))
        return false;
    ahead_list_store(x->warp->block->ahead, x);
    return true;
}

static inline bool ahead_updates(const Access *x, Update *update, int b)
{
    if (x->space != SPACE_GLOBAL || !x->warp->block->ahead)
        return false;
    ahead_list_updates(x->warp->block->ahead, x, update, b);
    return true;
}

#endif
