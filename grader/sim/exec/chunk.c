/* chunk.c - runs a chunk of blocks, and adds what they have done to their launch. */
#include "sim/exec/chunk.h"
#include "sim/exec/access_count.h"
#include "sim/exec/block.h"
#include "sim/exec/loops.h"
#include "sim/exec/repeats.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- Allocations ---- */

static bool has(const UsedList *list, const Allocation *a)
{
    for (int i = 0; i < list->count; i++)
        if (list->of[i] == a)
            return true;
    return false;
}

void used_add(UsedList *list, const Allocation *a)
{
    if (has(list, a))
        return;
    if (list->count == MOST_USED)
        list->is_full = true;
    else
        list->of[list->count++] = a;
}

bool used_overlap(const UsedList *one, const UsedList *other)
{
    bool overlap = one->is_full || other->is_full;

    for (int i = 0; i < one->count; i++)
        overlap |= has(other, one->of[i]);
    return overlap;
}

/* A chunk cannot read what it has written, since that is only listed. It fails if it tries to. */
void ahead_note_use(AheadThread *thread, const Allocation *a, AccessKind kind)
{
    used_add(kind == ACCESS_LOAD ? &thread->read : &thread->written, a);
    if (used_overlap(&thread->read, &thread->written))
        thread->chunk->launch.failed = true;
}

void ahead_list_store(AheadThread *thread, const Access *access)
{
    writes_store(&thread->chunk->writes, access);
}

void ahead_list_updates(AheadThread *thread, const Access *x, Update *update, int b)
{
    const bool wide = x->step->data_size == 8;
    const void *operands = plane(x->warp, b);

    for (uint32_t left = x->mask; left; left &= left - 1) {
        const int lane = first_lane(left);
        writes_update(
            &thread->chunk->writes, x->host + (ptrdiff_t) x->delta[lane], (size_t) x->bytes, update,
            wide ? ((const uint64_t *) operands)[lane] : ((const uint32_t *) operands)[lane]);
    }
}

/* ---- The walk ---- */

/* For a state and block that the chunk's walk has not seen yet. */
static int next_of_launch(Walk *walk, int state, int block, WalkCell *cell)
{
    ChunkWalk *own = (ChunkWalk *) walk;
    int to = -1;

    pthread_mutex_lock(own->lock);
    const WalkCell *known = walk_cell(own->of, state, block);
    if (known) {
        cell->place = known->place;
        cell->stays = known->stays;
        to = known->to - 1;
    }
    pthread_mutex_unlock(own->lock);
    return to;
}

static bool has_failed(ChunkWalk *walk)
{
    pthread_mutex_lock(walk->lock);
    const bool failed = walk->of->failed;
    pthread_mutex_unlock(walk->lock);
    return failed;
}

/* ---- Opening and closing ---- */

bool chunk_open(Chunk *chunk, const Launch *launch, pthread_mutex_t *lock)
{
    const Code *kernel = launch->kernel;
    Launch *own = &chunk->launch;

    *chunk = (Chunk){ .first = 0 };
    if (launch->walk)
        chunk->walk = (ChunkWalk){ .walk = { .block_count = launch->walk->block_count,
                                             .begins = launch->walk->begins,
                                             .next = next_of_launch },
                                   .of = launch->walk,
                                   .lock = lock };
    own->counts = calloc((size_t) kernel->step_count + 1, sizeof *own->counts);
    own->loops = calloc((size_t) kernel->loop_count + 1, sizeof *own->loops);
    return own->counts && own->loops;
}

void chunk_close(Chunk *chunk)
{
    free(chunk->launch.counts);
    free(chunk->launch.loops);
    free(chunk->launch.arrays);
    for (int i = 0; i < chunk->walk.walk.rows; i++)
        free(chunk->walk.walk.cells[i]);
    writes_free(&chunk->writes);
}

/* Most of the shapes are never used, so their memory is only reserved. */
bool ahead_thread_open(AheadThread *thread)
{
    void *memory =
        mmap(NULL, sizeof(Shapes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    *thread = (AheadThread){ .shapes = memory == MAP_FAILED ? NULL : memory };
    return thread->shapes;
}

void ahead_thread_close(AheadThread *thread)
{
    if (thread->is_open)
        block_close(&thread->block);
    if (thread->shapes)
        munmap(thread->shapes, sizeof *thread->shapes);
}

/* ---- Running ---- */

/* The launch of the chunk is a copy of the model, except for its counters. */
static void begin(Chunk *chunk, const Launch *model, uint64_t most)
{
    Launch *own = &chunk->launch;
    const Launch before = *own;

    *own = *model;
    own->counts = before.counts;
    own->loops = before.loops;
    own->arrays = before.arrays;
    own->array_room = before.array_room;
    own->array_count = 0;
    own->walk = model->walk && !has_failed(&chunk->walk) ? &chunk->walk.walk : NULL;
    own->observers[0] = NULL;
    own->executed = own->clock = own->slept = 0;
    own->budget = most;
    own->is_ahead = true;
    chunk->writes.used = 0;
    chunk->writes.incomplete = false;
    memset(own->counts, 0, ((size_t) own->kernel->step_count + 1) * sizeof *own->counts);
    memset(own->loops, 0, (size_t) own->kernel->loop_count * sizeof *own->loops);
    walk_clear(&chunk->walk.walk);
}

static bool open_block(AheadThread *thread, Chunk *chunk)
{
    Block *block = &thread->block;

    if (!thread->is_open && !block_open(block, &chunk->launch)) {
        block_close(block);
        *block = (Block){ .launch = NULL };
        return false;
    }
    thread->is_open = true;
    block->launch = &chunk->launch;
    block->ahead = thread;
    for (int i = 0; i < block->warp_count; i++)
        block->warps[i].counts = chunk->launch.counts;
    return true;
}

static void trace_block(Block *block, BlockTrace *trace)
{
    block->trace = trace;
    for (int i = 0; i < block->warp_count; i++)
        trace_into(&block->warps[i], trace ? &trace->warps[i] : NULL);
}

/* A block that waits for others fails. */
static void run_block(Block *block, long number, BlockTrace *trace)
{
    Launch *launch = block->launch;
    uint64_t seed = 0; /* blocks that run ahead have no random order */

    block_begin(block, number, NULL, 0);
    trace_block(block, trace);
    while (!launch->failed && !block_is_done(block))
        if (block_turn(block, &seed, NULL) == TURN_NONE || block_waits(block))
            launch->failed |= !block_is_done(block);
    trace_block(block, NULL);
    block_end(block);
}

void chunk_run(Chunk *chunk, AheadThread *thread, const Launch *model, uint64_t most)
{
    Shapes *before = thread_shapes;
    Launch *launch = &chunk->launch;

    thread_shapes = thread->shapes;
    thread->chunk = chunk;
    begin(chunk, model, most);
    launch->failed = !open_block(thread, chunk);
    for (int i = 0; i < chunk->count && !launch->failed; i++) {
        const uint64_t so_far = launch->executed;
        run_block(&thread->block, chunk->first + i, chunk->traces[i]);
        chunk->executed[i] = launch->executed - so_far;
    }
    repeats_end_all();
    chunk->read = thread->read;
    chunk->written = thread->written;
    thread_shapes = before;
}

/* ---- Taking over ---- */

/* In its turn, a launch that exceeds its budget ends within a block. */
bool chunk_is_usable(const Chunk *chunk, const Launch *launch, const UsedList *written)
{
    const Launch *own = &chunk->launch;

    return !own->failed && !chunk->writes.incomplete && !(own->walk && own->walk->failed) &&
           !used_overlap(&chunk->read, written) && !used_overlap(&chunk->read, &chunk->written) &&
           (!launch->budget || launch->executed + own->executed < launch->budget);
}

/* Counters that follow each other. */
static void add_all(uint64_t *to, const uint64_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof *to; i++)
        to[i] += from[i];
}

static void add_array(Launch *launch, const ArrayCount *from)
{
    enum { BEGIN = offsetof(ArrayCount, load_requests) };
    ArrayCount *to = array_count_like(launch, from);

    if (to)
        add_all(&to->load_requests, &from->load_requests, sizeof *to - BEGIN);
}

void chunk_add(Chunk *chunk, Launch *launch)
{
    const Code *kernel = launch->kernel;
    const Launch *own = &chunk->launch;

    writes_do(&chunk->writes);
    for (int i = 0; i <= kernel->step_count; i++)
        add_all(&launch->counts[i].skipped, &own->counts[i].skipped, offsetof(Count, array_of));
    add_all(&launch->loops->visits, &own->loops->visits,
            (size_t) kernel->loop_count * sizeof *own->loops);
    for (int i = 0; i < own->array_count; i++)
        add_array(launch, &own->arrays[i]);
    if (own->walk)
        walk_add(launch->walk, own->walk);
    launch->clock += own->clock;
    launch->slept += own->slept;
}
