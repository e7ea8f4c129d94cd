/* exec.c - runs a launch: sets up its data, and reports its findings. */
#include "sim/exec/warp.h"
#include "sim/exec/loops.h"
#include "sim/exec/repeats.h"

#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_BYTES = 16384 }; /* bytes per thread, for the functions that a kernel calls */

/* ---- Findings ---- */

/* A part that runs ahead is run again when it is its turn, and the finding is reported then. */
static bool is_ahead(Launch *launch)
{
    launch->failed |= launch->is_ahead;
    return launch->is_ahead;
}

static void put_index(int to[3], int64_t number, const int size[3])
{
    to[0] = (int) (number % size[0]);
    to[1] = (int) (number / size[0] % size[1]);
    to[2] = (int) (number / size[0] / size[1]);
}

Place lane_place(const Warp *warp, const Step *step, int lane)
{
    const Launch *launch = warp->block->launch;
    const int *size = launch->block;
    const Instruction *in = step->in;
    int thread = warp->number * LANES + lane;
    Place place = { .kernel = launch->name,
                    .line = in->ptx_line,
                    .has_thread = true,
                    .barriers = (uint64_t) warp->block->epoch,
                    .instruction = in->text.at,
                    .instruction_length = in->text.length };

    if (in->file > 0 && in->file < launch->module->file_count && launch->module->files[in->file]) {
        place.file = launch->module->files[in->file];
        place.line = in->line;
    }
    memcpy(place.block, warp->block->id, sizeof place.block);
    put_index(place.thread, thread, size);
    return place;
}

void fail(Warp *warp, const Step *step, int lane, FindingKind kind, const char *format, ...)
{
    Launch *launch = warp->block->launch;
    Place place = lane_place(warp, step, lane);
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!is_ahead(launch))
        finding(kind, true, &place, "%s", text);
    if (!launch->failed)
        launch->failure = kind;
    launch->failed = true;
    warp->block->ended = true;
    warp->state = WARP_DONE;
    warp->last_in_row = NULL;
}

void warn(Warp *warp, const Step *step, int lane, FindingKind kind, const char *format, ...)
{
    Place place = lane_place(warp, step, lane);
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!is_ahead(warp->block->launch))
        finding(kind, false, &place, "%s", text);
}

void warn_of_two(Warp *warp, const Step *step, int lane, FindingKind kind, const OtherAccess *other,
                 const char *text)
{
    Launch *launch = warp->block->launch;
    Place place = lane_place(warp, step, lane);

    place.other_line = other->step && other->step->in ? other->step->in->line : 0;
    place.other_elsewhere = place.other_line && other->step->in->file != step->in->file;
    place.provisional = other->one_warp;
    place.has_other = other->block >= 0;
    if (place.has_other) {
        put_index(place.other_block, other->block, launch->grid);
        put_index(place.other_thread, other->thread, launch->block);
    }
    if (!is_ahead(launch))
        finding(kind, false, &place, "%s", text);
}

int step_line(const Step *step)
{
    if (!step)
        return 0;
    return step->in->line ? step->in->line : step->in->ptx_line;
}

const int32_t *lanes_of(Warp *warp, uint32_t mask)
{
    if (warp->lane_mask_of != mask) {
        for (int i = 0; i < LANES; i++)
            warp->lane_mask[i] = -(int32_t) (mask >> i & 1);
        warp->lane_mask_of = mask;
    }
    return warp->lane_mask;
}

bool fail_launch(Launch *launch, FindingKind kind, const char *text)
{
    Place place = { .kernel = launch->name };

    finding(kind, true, &place, "%s", text);
    launch->failed = true;
    launch->failure = kind;
    return false;
}

/* ---- Launches ---- */

static bool has_calls(const Code *code)
{
    for (int i = 0; i < code->step_count; i++)
        if (code->steps[i].in->op == OP_call)
            return true;
    return false;
}

/* Creates the members that the caller has not set. */
static bool complete(Launch *launch)
{
    const Code *kernel = launch->kernel;
    size_t functions = (size_t) launch->module->function_count;
    size_t shared = (size_t) (launch->dynamic_shared_bytes ? kernel->dynamic_shared_at
                                                           : kernel->static_shared_bytes);

    if (launch->dynamic_shared_bytes > MOST_SHARED)
        return fail_launch(launch, FINDING_LAUNCH, "too much dynamic shared memory");
    launch->shared_bytes = shared + launch->dynamic_shared_bytes;
    if (kernel->uses_reserved)
        launch->shared_bytes = (launch->shared_bytes + 127) / 128 * 128 + RESERVED_SHARED;
    if (launch->local_bytes <= kernel->local_bytes)
        launch->local_bytes = kernel->local_bytes + (has_calls(kernel) ? STACK_BYTES : 0);
    launch->local_bytes = (launch->local_bytes + 15) / 16 * 16;
    if (!launch->counts)
        launch->counts = calloc((size_t) kernel->step_count + 1, sizeof *launch->counts);
    if (!launch->loops)
        launch->loops = calloc((size_t) kernel->loop_count + 1, sizeof *launch->loops);
    if (!launch->codes)
        launch->codes = calloc(functions, sizeof *launch->codes);
    if (!launch->call_counts)
        launch->call_counts = calloc(functions, sizeof *launch->call_counts);
    if (!launch->counts || !launch->codes || !launch->call_counts || !launch->loops)
        return fail_launch(launch, FINDING_LIMIT, "not enough memory to run the kernel");
    return true;
}

/* The number of blocks; -1: none, or too many. */
static long block_count(const Launch *launch)
{
    __int128 blocks = 1;
    long threads = 1;

    for (int i = 0; i < 3; i++) {
        if (launch->grid[i] < 1 || launch->block[i] < 1 || launch->block[i] > 1024)
            return -1;
        blocks *= launch->grid[i];
        threads *= launch->block[i];
    }
    return threads > WARPS_A_BLOCK * LANES || blocks > INT64_MAX ? -1 : (long) blocks;
}

/* Adds what sequences of plain steps have executed. */
static void settle_counts(Count *counts, const Code *code)
{
    uint64_t executed = 0, lanes = 0;

    for (int i = 0; counts && code && i <= code->step_count; i++) {
        executed += counts[i].begun;
        lanes += counts[i].begun_lanes;
        counts[i].executed += executed;
        counts[i].lanes += lanes;
        counts[i].begun = counts[i].begun_lanes = 0;
    }
}

static void settle_all_counts(Launch *launch)
{
    settle_counts(launch->counts, launch->kernel);
    for (int i = 0; i < launch->module->function_count; i++)
        if (launch->call_counts[i] != launch->counts)
            settle_counts(launch->call_counts[i], launch->codes[i]);
}

static void find_watchers(Launch *launch)
{
    launch->watched = false;
    for (const Observer *const *observer = launch->observers; *observer; observer++)
        if ((*observer)->access &&
            (!(*observer)->needs_accesses || (*observer)->needs_accesses(launch))) {
            launch->load_again = launch->watched ? NULL : (*observer)->load_again;
            launch->store_again = launch->watched ? NULL : (*observer)->store_again;
            launch->watched = true;
        }
}

bool launch_run(Launch *launch)
{
    long count = block_count(launch);
    fenv_t programs;

    launch->failed = false;
    if (count < 0)
        return fail_launch(launch, FINDING_LAUNCH,
                           "a launch needs 1 to 1024 threads per block, and at least one block");
    if (!complete(launch))
        return false;
    /* The program may have set another rounding mode or flush-to-zero for its own computations. */
    fegetenv(&programs);
    fesetenv(FE_DFL_ENV);
    OBSERVE(launch, launch_begin, launch);
    find_watchers(launch);
    repeats_end_all();
    blocks_run(launch, count);
    repeats_end_all();
    settle_all_counts(launch);
    OBSERVE(launch, launch_end, launch);
    fesetenv(&programs);
    return !launch->failed;
}

void launch_free(Launch *launch)
{
    for (int i = 0; launch->module && i < launch->module->function_count; i++) {
        if (launch->codes && launch->codes[i] != launch->kernel)
            code_free(launch->codes[i]);
        if (launch->call_counts)
            free(launch->call_counts[i]);
    }
    free(launch->codes);
    free(launch->call_counts);
    free(launch->counts);
    free(launch->loops);
    free(launch->arrays);
    launch->codes = NULL;
    launch->call_counts = NULL;
    launch->counts = NULL;
    launch->loops = NULL;
    launch->arrays = NULL;
}
