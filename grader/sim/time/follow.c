/* follow.c - compares a launch with earlier ones, block by block. */
#include "sim/time/follow.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCKS = 64 };

/* ---- The beginning ---- */

static void add_numbers(Digester *digester, const int numbers[3])
{
    for (int i = 0; i < 3; i++)
        digest_word(digester, (uint64_t) numbers[i]);
}

/* A code's steps have numbers that no other code has, also after it has been freed. */
static Digest launch_shape(const Launch *launch, int resident, uint64_t most_played)
{
    Digester digester;

    digest_begin(&digester);
    digest_word(&digester, launch->kernel->steps[0].number);
    digest_word(&digester, (uintptr_t) launch->lowering);
    add_numbers(&digester, launch->grid);
    add_numbers(&digester, launch->block);
    digest_word(&digester, launch->dynamic_shared_bytes);
    digest_word(&digester, (uint64_t) resident);
    digest_word(&digester, most_played);
    digest_word(&digester, (uint64_t) fegetround());
    return digest_of(&digester);
}

/* Finds an earlier launch that has kept the traces of what has been like it so far. */
static bool find_kept(Follow *follow)
{
    for (uint64_t left = follow->alike; left; left &= left - 1) {
        const EarlierLaunch *at = earlier_at(follow->gpu->earlier, __builtin_ctzll(left));
        if (at->is_kept) {
            follow->repeated = &at->kept;
            return true;
        }
    }
    return false;
}

void follow_begin(Follow *follow, Gpu *gpu, const Launch *launch, int resident,
                  uint64_t most_played)
{
    const int functions = launch->module->function_count;

    *follow = (Follow){ .gpu = gpu };
    if (gpu->plays_all || has_cause(gpu->without, CAUSE_SECTORS) || !launch->kernel->step_count)
        return;
    follow->shape = launch_shape(launch, resident, most_played);
    if (!earlier_is_worth(gpu->earlier, follow->shape) || !l2_digest(gpu, &follow->start))
        return;
    follow->first_codes = calloc((size_t) functions + 1, sizeof *follow->first_codes);
    if (!follow->first_codes)
        return;
    digest_begin(&follow->digester);
    follow->alike = earlier_alike(gpu->earlier, follow->shape, follow->start);
    follow->mode = follow->alike ? REPEATS : PLAYED;
    find_kept(follow);
}

/* ---- Blocks that begin ---- */

bool follow_block_began(Follow *follow, BlockTrace *trace, const BlockStart *start)
{
    if (follow->mode == NOT_FOLLOWED)
        return true;
    digest_word(&follow->digester, (uint64_t) trace->block);
    digest_word(&follow->digester, (uint64_t) start->begun);
    digest_word(&follow->digester, start->executed);
    if (follow->mode == PLAYED)
        return true;
    if (!backlog_begin(&follow->kept, trace, start))
        return false;
    trace->next = follow->running;
    follow->running = trace;
    return true;
}

/* ---- Blocks that end ---- */

void follow_digest(BlockTrace *trace)
{
    Digester digester;
    Digest digest;

    digest_begin(&digester);
    for (int i = 0; i < trace->warp_count; i++) {
        const Trace *warp = &trace->warps[i];
        const size_t runs = (size_t) warp->run_count, words = (size_t) warp->word_count;
        digest_word(&digester, (uint64_t) runs << 32 | (uint64_t) words);
        digest_bytes(&digester, warp->runs, runs * sizeof *warp->runs);
        digest_bytes(&digester, warp->words, words * sizeof *warp->words);
    }
    digest = digest_of(&digester);
    trace->digest[0] = digest.low;
    trace->digest[1] = digest.high;
    trace->has_digest = true;
}

static void add_trace(Follow *follow, BlockTrace *trace)
{
    if (!trace->has_digest)
        follow_digest(trace);
    digest_word(&follow->digester, (uint64_t) trace->block);
    digest_word(&follow->digester, trace->digest[0]);
    digest_word(&follow->digester, trace->digest[1]);
    follow->trace_bytes += trace_bytes(trace);
}

/* The operations of a function are made when a block ends after it has been called. */
static void add_codes(Follow *follow, const Launch *launch)
{
    int count = 0;

    for (int i = 0; launch->codes && i < launch->module->function_count; i++)
        count += launch->codes[i] != NULL;
    if (count == follow->codes)
        return;
    follow->codes = count;
    for (int i = 0; i < launch->module->function_count; i++) {
        digest_word(&follow->digester, launch->codes[i] != NULL);
        if (!follow->block_count)
            follow->first_codes[i] = launch->codes[i];
    }
}

static bool add_block(Follow *follow)
{
    if (follow->block_count == follow->block_room) {
        const long room = follow->block_room ? 2 * follow->block_room : FIRST_BLOCKS;
        Digest *more = realloc(follow->blocks, (size_t) room * sizeof *more);
        if (!more)
            return false;
        follow->blocks = more;
        follow->block_room = room;
    }
    follow->blocks[follow->block_count++] = digest_of(&follow->digester);
    return true;
}

static void compare_block(Follow *follow)
{
    const long last = follow->block_count - 1;

    for (uint64_t left = follow->alike; left; left &= left - 1) {
        const EarlierLaunch *at = earlier_at(follow->gpu->earlier, __builtin_ctzll(left));
        if (last >= at->block_count || !digest_is(at->blocks[last], follow->blocks[last]))
            follow->alike &= ~(left & -left);
    }
}

static void forget_running(Follow *follow, const BlockTrace *trace)
{
    BlockTrace **at = &follow->running;

    while (*at != trace)
        at = &(*at)->next;
    *at = trace->next;
}

/* Copies what has been kept elsewhere, in front of what is kept here. */
static bool copy_kept(Follow *follow)
{
    Backlog all = { .events = NULL };

    if (!backlog_copy(&all, follow->repeated, follow->events) ||
        !backlog_add(&all, &follow->kept)) {
        backlog_free(&all);
        return false;
    }
    backlog_free(&follow->kept);
    follow->kept = all;
    follow->repeated = NULL;
    follow->events = 0;
    return true;
}

/* The earlier launch that has kept its traces may have dropped out. What it has kept so far are
 * still the traces of this launch. Returns false if all so far must be played. */
static bool keep(Follow *follow, BlockTrace *trace)
{
    if (follow->repeated && !find_kept(follow) && !copy_kept(follow))
        return false;
    if (follow->repeated) {
        follow->events += follow->kept.count + 1;
        follow->kept.count = 0;
    } else if (!backlog_end(&follow->kept, trace, follow->gpu->most_kept)) {
        return false;
    }
    forget_running(follow, trace);
    return true;
}

bool follow_block_ended(Follow *follow, BlockTrace *trace, const Launch *launch)
{
    if (follow->mode == NOT_FOLLOWED)
        return false;
    add_codes(follow, launch);
    add_trace(follow, trace);
    follow->is_too_large |= !add_block(follow) || follow->trace_bytes > follow->gpu->most_kept;
    if (follow->mode == REPEATS) {
        compare_block(follow);
        return !follow->is_too_large && follow->alike && keep(follow, trace);
    }
    if (follow->is_too_large)
        follow_stop(follow);
    return false;
}

/* ---- Blocks that have to be played ---- */

const BacklogEvent *follow_event(const Follow *follow, long i, const Backlog **kept)
{
    const bool is_here = i >= follow->events;

    i -= is_here ? follow->events : 0;
    *kept = is_here ? &follow->kept : follow->repeated;
    return i < (*kept)->count ? &(*kept)->events[i] : NULL;
}

void follow_stop(Follow *follow)
{
    if (follow->is_too_large)
        earlier_is_too_large(follow->gpu->earlier, follow->shape);
    follow->mode = NOT_FOLLOWED;
    follow->running = NULL;
    backlog_free(&follow->kept);
}

void follow_played(Follow *follow)
{
    if (follow->mode != REPEATS)
        return;
    follow_stop(follow);
    follow->mode = follow->is_too_large ? NOT_FOLLOWED : PLAYED;
}

/* ---- The end ---- */

bool follow_repeated(Follow *follow, Digest rest, TimingResult *result)
{
    for (uint64_t left = follow->mode == REPEATS ? follow->alike : 0; left; left &= left - 1) {
        EarlierLaunch *at = earlier_at(follow->gpu->earlier, __builtin_ctzll(left));
        if (at->block_count != follow->block_count || !digest_is(at->rest, rest))
            continue;
        *result = at->result;
        follow->gpu->repeated++;
        if (at->after)
            l2_set(follow->gpu, at->after);
        earlier_repeated(follow->gpu->earlier, at, follow->repeated ? NULL : &follow->kept);
        return true;
    }
    return false;
}

/* Moves the times of all steps to memory that belongs to the earlier launch. */
static bool keep_steps(const Gpu *gpu, EarlierLaunch *launch)
{
    const size_t pointers = (size_t) gpu->operations_count * sizeof(Spent *);
    size_t bytes = pointers;
    const Spent **steps;
    Spent *to;

    if (!launch->result.steps)
        return true;
    for (int i = 0; i < gpu->operations_count; i++)
        if (gpu->operations[i].code)
            bytes += ((size_t) gpu->operations[i].code->step_count + 1) * sizeof *to;
    launch->spent = malloc(bytes);
    if (!launch->spent)
        return false;
    steps = launch->spent;
    to = (Spent *) (steps + gpu->operations_count);
    for (int i = 0; i < gpu->operations_count; i++) {
        const Code *code = gpu->operations[i].code;
        const size_t count = code ? (size_t) code->step_count + 1 : 0;
        steps[i] = code ? to : NULL;
        if (code)
            memcpy(to, launch->result.steps[i], count * sizeof *to);
        to += count;
    }
    launch->result.steps = steps;
    return true;
}

void follow_store(Follow *follow, Digest rest, const TimingResult *result)
{
    Gpu *gpu = follow->gpu;
    EarlierLaunch launch = { .shape = follow->shape,
                             .start = follow->start,
                             .blocks = follow->blocks,
                             .block_count = follow->block_count,
                             .rest = rest,
                             .result = *result };

    if (follow->mode != PLAYED || !follow->block_count)
        return;
    if (!l2_played(gpu, follow->start, &launch.after) || !keep_steps(gpu, &launch)) {
        l2_release(launch.after);
        free(launch.spent);
        return;
    }
    follow->blocks = NULL;
    earlier_store(gpu->earlier, &launch);
}

void follow_close(Follow *follow)
{
    free(follow->blocks);
    free(follow->first_codes);
    backlog_free(&follow->kept);
    *follow = (Follow){ .mode = NOT_FOLLOWED };
}
