/* ahead.c - which launches run ahead, and the chunks that wait or run.
 *
 * Chunks are in a ring: those that are prepared, and then those that are taken by a thread, in the
 * order of their blocks. The launch's thread prepares them and takes them over; in between it runs
 * some itself.
 */
#include "sim/exec/chunk.h"
#include "sim/base/thread.h"
#include "sim/exec/code.h"
#include "sim/exec/warp.h"

#include <stdlib.h>

enum {
    MOST_THREADS = 32,  /* that run chunks, besides the launch's own */
    RING = 4,           /* chunks per thread */
    LEAST_BLOCKS = 16,  /* of a launch, */
    WORTH_IT = 50000,   /* and its warp instructions */
    CHUNK_STEPS = 8192, /* warp instructions of a chunk, unless it is one block */
    MOST_TIMES = 1000,  /* as many as expected, before it is dropped */
    MOST_DROPPED = 8    /* chunks, until it is no use to try again */
};

struct Ahead {
    Launch *launch;
    const AheadCalls *calls;
    Launch model;        /* the launch when it began to run ahead */
    long count, a_chunk; /* blocks */
    uint64_t most;       /* warp instructions of a chunk */
    UsedList written;    /* by chunks that have been taken over */
    int dropped;
    bool is_over;
    pthread_mutex_t lock, walk_lock;
    pthread_cond_t prepared, done;
    /* Chunk number i is ring[i % ring_size]. Under the lock: */
    Chunk *ring;
    long ring_size, next, taken, over; /* to be prepared, to be taken, to be taken over */
    long blocks;                       /* that have been prepared */
    bool ends;
    int active; /* threads that may take chunks; the others rest */
    int thread_count;
    AheadThread thread[MOST_THREADS + 1]; /* the last element is the launch's own thread */
    pthread_t handle[MOST_THREADS];
};

/* ---- What can run ahead ---- */

static bool reads_clock(const Code *code, const Instruction *in)
{
    for (int i = 0; i < in->count; i++) {
        const Operand *operand = &code->function->operands[in->first + i];
        if (operand->kind == OPERAND_SPECIAL && special_is_clock(operand->special))
            return true;
    }
    return false;
}

/* An atomic without a result. */
static bool can_be_listed(const Step *step)
{
    return (step->in->op == OP_red || step->d < 0) && step->vector <= 1 && step->mod != MOD_cas;
}

static bool is_memory_ahead(const Step *step)
{
    const Instruction *in = step->in;

    if (step->space == SPACE_SHARED || step->space == SPACE_LOCAL || step->space == SPACE_PARAM)
        return true;
    return in->op == OP_atom || in->op == OP_red ? can_be_listed(step) : !is_strong(in);
}

/* Whether other blocks and the host notice only what the step writes to memory. */
static bool runs_ahead(const Code *code, const Step *step)
{
    const Instruction *in = step->in;

    if (reads_clock(code, in) || has_mod(in, MOD_cluster) || has_mod(in, MOD_bulk) ||
        has_mod(in, MOD_mbarrier))
        return false;
    switch (in->op) {
    case OP_ld:
    case OP_ldu:
    case OP_st:
    case OP_atom:
    case OP_red:
        return !has_mod(in, MOD_async) && is_memory_ahead(step);
    case OP_wmma:
        return !has_mod(in, MOD_store);
    case OP_bra:
    case OP_brx:
    case OP_ret:
    case OP_exit:
    case OP_bar:
    case OP_barrier:
    case OP_cp_async:
    case OP_ldmatrix:
    case OP_mma:
        return true;
    default:
        return step->class_ != CLASS_NOTHING && step->class_ != CLASS_CONTROL &&
               step->class_ != CLASS_BARRIER && step->class_ != CLASS_FENCE &&
               step->class_ != CLASS_LOAD && step->class_ != CLASS_STORE &&
               step->class_ != CLASS_ATOMIC;
    }
}

static bool is_plain_kernel(const Code *code)
{
    for (int i = 0; i < code->step_count; i++)
        if (code->steps[i].in && !runs_ahead(code, &code->steps[i]))
            return false;
    return true;
}

static bool is_plain_launch(const Launch *launch)
{
    return launch->schedule == SCHEDULE_FORWARD && !launch->cooperative && !launch->cluster[0] &&
           !launch->blocks_draw && !launch->shares && !launch->watched && !launch->step &&
           !launch->check_races && !launch->check_uninitialised && !launch->sample;
}

/* The calls of the observer that has some, if no other needs to see blocks. */
static const AheadCalls *calls_of(const Launch *launch)
{
    const AheadCalls *calls = NULL;

    for (const Observer *const *observer = launch->observers; *observer; observer++) {
        if ((*observer)->ahead)
            calls = (*observer)->ahead;
        else if (!(*observer)->needs_accesses || (*observer)->needs_accesses(launch))
            return NULL;
    }
    return calls;
}

/* ---- The ring ---- */

static Chunk *chunk_at(const Ahead *ahead, long number)
{
    return &ahead->ring[number % ahead->ring_size];
}

static long length_at(const Ahead *ahead, long block)
{
    const long together = ahead->calls->together(ahead->launch, block);
    const long left = ahead->count - block;
    const long length = ahead->a_chunk < together ? ahead->a_chunk : together;

    return length < left ? length : left;
}

static void prepare(Ahead *ahead, Chunk *chunk, long block)
{
    chunk->first = block;
    chunk->count = (int) length_at(ahead, block);
    chunk->is_done = false;
    for (int i = 0; i < chunk->count; i++)
        chunk->traces[i] = ahead->calls->trace(ahead->launch);
}

/* Prepares as many chunks as there is room for. */
static void prepare_all(Ahead *ahead)
{
    long more = 0;

    while (ahead->blocks < ahead->count && ahead->next + more - ahead->over < ahead->ring_size) {
        Chunk *chunk = chunk_at(ahead, ahead->next + more++);
        prepare(ahead, chunk, ahead->blocks);
        ahead->blocks += chunk->count;
    }
    if (!more)
        return;
    pthread_mutex_lock(&ahead->lock);
    ahead->next += more;
    pthread_cond_broadcast(&ahead->prepared);
    pthread_mutex_unlock(&ahead->lock);
}

/* Takes a chunk that is prepared; NULL: none is. Called with the lock. */
static Chunk *take(Ahead *ahead)
{
    return ahead->taken < ahead->next ? chunk_at(ahead, ahead->taken++) : NULL;
}

static void run(Ahead *ahead, AheadThread *thread, Chunk *chunk)
{
    chunk_run(chunk, thread, &ahead->model, ahead->most);
    for (int i = 0; i < chunk->count; i++)
        if (chunk->traces[i])
            ahead->calls->ran(chunk->traces[i]);
    pthread_mutex_lock(&ahead->lock);
    chunk->is_done = true;
    pthread_cond_signal(&ahead->done);
    pthread_mutex_unlock(&ahead->lock);
}

/* ---- Other threads ---- */

typedef struct Helper {
    Ahead *ahead;
    int number;
} Helper;

static void *help(void *self)
{
    const Helper helper = *(Helper *) self;
    Ahead *ahead = helper.ahead;

    free(self);
    pthread_mutex_lock(&ahead->lock);
    while (!ahead->ends) {
        Chunk *chunk = helper.number < ahead->active ? take(ahead) : NULL;
        if (!chunk) {
            pthread_cond_wait(&ahead->prepared, &ahead->lock);
            continue;
        }
        pthread_mutex_unlock(&ahead->lock);
        run(ahead, &ahead->thread[helper.number], chunk);
        pthread_mutex_lock(&ahead->lock);
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

static bool start(Ahead *ahead)
{
    const int number = ahead->thread_count;
    Helper *helper = malloc(sizeof *helper);

    if (!helper)
        return false;
    *helper = (Helper){ ahead, number };
    if (!ahead_thread_open(&ahead->thread[number]) ||
        !thread_start(&ahead->handle[number], help, helper)) {
        ahead_thread_close(&ahead->thread[number]);
        free(helper);
        return false;
    }
    ahead->thread_count++;
    return true;
}

static int helpers_now(const Ahead *ahead)
{
    const int threads = ahead->calls->threads(ahead->launch) - 1;

    return threads < MOST_THREADS ? threads : MOST_THREADS;
}

/* Lets as many threads take chunks as the launch may use now. Returns false if none. */
static bool set_active(Ahead *ahead)
{
    const int threads = helpers_now(ahead);

    while (ahead->thread_count < threads && start(ahead))
        ;
    if (threads != ahead->active) {
        pthread_mutex_lock(&ahead->lock);
        ahead->active = threads;
        pthread_cond_broadcast(&ahead->prepared);
        pthread_mutex_unlock(&ahead->lock);
    }
    return threads > 0 && ahead->thread_count > 0;
}

/* ---- Taking over ---- */

static void take_over(Ahead *ahead, Chunk *chunk, void (*done)(void *self), void *self)
{
    Launch *launch = ahead->launch;

    for (int i = 0; i < chunk->written.count; i++)
        used_add(&ahead->written, chunk->written.of[i]);
    for (int i = 0; i < chunk->count; i++) {
        BlockTrace *trace = ahead->calls->began(launch, chunk->first + i, chunk->traces[i]);
        if (!i)
            chunk_add(chunk, launch);
        launch->executed += chunk->executed[i];
        ahead->calls->ended(launch, trace);
        done(self);
    }
    pthread_mutex_lock(&ahead->lock);
    ahead->over++;
    pthread_mutex_unlock(&ahead->lock);
}

static bool is_usable(const Ahead *ahead, const Chunk *chunk)
{
    return chunk_is_usable(chunk, ahead->launch, &ahead->written);
}

/* Waits for the chunks that are running, and drops all. */
static void drop_all(Ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    const long prepared = ahead->next;
    ahead->next = ahead->taken; /* nothing more is taken */
    for (long i = ahead->over; i < ahead->taken; i++)
        while (!chunk_at(ahead, i)->is_done)
            pthread_cond_wait(&ahead->done, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);
    for (long i = ahead->over; i < prepared; i++)
        for (int k = 0; k < chunk_at(ahead, i)->count; k++)
            ahead->calls->drop(ahead->launch, chunk_at(ahead, i)->traces[k]);
    pthread_mutex_lock(&ahead->lock);
    ahead->next = ahead->taken = ahead->over = 0;
    pthread_mutex_unlock(&ahead->lock);
}

/* Runs a chunk, or waits until the next one to be taken over is done. */
static void run_or_wait(Ahead *ahead, const Chunk *next)
{
    pthread_mutex_lock(&ahead->lock);
    Chunk *chunk = next->is_done ? NULL : take(ahead);
    while (!chunk && !next->is_done)
        pthread_cond_wait(&ahead->done, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);
    if (chunk)
        run(ahead, &ahead->thread[MOST_THREADS], chunk);
}

static bool is_done(Ahead *ahead, const Chunk *chunk)
{
    pthread_mutex_lock(&ahead->lock);
    const bool done = chunk->is_done;
    pthread_mutex_unlock(&ahead->lock);
    return done;
}

/* A chunk that reads what others write is not the last one. */
static void judge_dropped(Ahead *ahead, const Chunk *chunk)
{
    ahead->dropped++;
    ahead->is_over = ahead->dropped == MOST_DROPPED ||
                     used_overlap(&chunk->read, &ahead->written) ||
                     used_overlap(&chunk->read, &chunk->written);
}

long ahead_run(Ahead *ahead, long block, void (*done)(void *self), void *self)
{
    ahead->blocks = block;
    while (block < ahead->count) {
        if (!set_active(ahead)) {
            ahead->is_over = true;
            break;
        }
        prepare_all(ahead);
        Chunk *chunk = chunk_at(ahead, ahead->over);
        while (!is_done(ahead, chunk))
            run_or_wait(ahead, chunk);
        if (!is_usable(ahead, chunk)) {
            judge_dropped(ahead, chunk);
            break;
        }
        block += chunk->count;
        take_over(ahead, chunk, done, self);
        if (ahead->launch->failed)
            break;
    }
    drop_all(ahead);
    return block;
}

bool ahead_is_over(const Ahead *ahead)
{
    return ahead->is_over;
}

/* ---- Opening and closing ---- */

static bool open_ring(Ahead *ahead)
{
    ahead->ring = calloc((size_t) ahead->ring_size, sizeof *ahead->ring);
    for (long i = 0; ahead->ring && i < ahead->ring_size; i++)
        if (!chunk_open(&ahead->ring[i], ahead->launch, &ahead->walk_lock))
            return false;
    return ahead->ring;
}

static Ahead *open_with(Launch *launch, const AheadCalls *calls, long count)
{
    const int threads = calls->threads(launch);
    const uint64_t a_block = launch->executed ? launch->executed : 1;
    const long fair = count / (RING * threads) + 1, fitting = (long) (CHUNK_STEPS / a_block);
    Ahead *ahead = calloc(1, sizeof *ahead);

    if (!ahead)
        return NULL;
    ahead->launch = launch;
    ahead->calls = calls;
    ahead->model = *launch;
    ahead->count = count;
    ahead->a_chunk = fitting < 1 ? 1 : fitting < fair ? fitting : fair;
    ahead->a_chunk = ahead->a_chunk < MOST_IN_CHUNK ? ahead->a_chunk : MOST_IN_CHUNK;
    ahead->most = MOST_TIMES * (a_block * (uint64_t) ahead->a_chunk + CHUNK_STEPS);
    ahead->ring_size = RING * threads;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_mutex_init(&ahead->walk_lock, NULL);
    pthread_cond_init(&ahead->prepared, NULL);
    pthread_cond_init(&ahead->done, NULL);
    if (open_ring(ahead) && ahead_thread_open(&ahead->thread[MOST_THREADS]))
        return ahead;
    ahead_close(ahead);
    return NULL;
}

Ahead *ahead_open(Launch *launch, long count)
{
    const AheadCalls *calls = calls_of(launch);

    if (!calls || calls->threads(launch) < 2 || count < LEAST_BLOCKS ||
        (double) launch->executed * (double) count < WORTH_IT || !is_plain_launch(launch) ||
        !is_plain_kernel(launch->kernel))
        return NULL;
    return open_with(launch, calls, count);
}

void ahead_close(Ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->ends = true;
    pthread_cond_broadcast(&ahead->prepared);
    pthread_mutex_unlock(&ahead->lock);
    for (int i = 0; i < ahead->thread_count; i++) {
        pthread_join(ahead->handle[i], NULL);
        ahead_thread_close(&ahead->thread[i]);
    }
    ahead_thread_close(&ahead->thread[MOST_THREADS]);
    for (long i = 0; ahead->ring && i < ahead->ring_size; i++)
        chunk_close(&ahead->ring[i]);
    free(ahead->ring);
    pthread_mutex_destroy(&ahead->lock);
    pthread_mutex_destroy(&ahead->walk_lock);
    pthread_cond_destroy(&ahead->prepared);
    pthread_cond_destroy(&ahead->done);
    free(ahead);
}
