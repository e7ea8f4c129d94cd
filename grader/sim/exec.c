/* exec.c - running a launch: its blocks one after another, in each the warps in turns.
 *
 * The memory of a block (registers, local and shared memory) is allocated once a launch and used
 * again for each block. Of a cooperative launch all blocks are there at once and take turns, since
 * they may wait for each other.
 */
#include "warp.h"

#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_BYTES = 16384 }; /* a thread, for the functions that a kernel calls */

/* ---- Findings ---- */

static Place place_of(const Warp *warp, const Step *step, int lane)
{
    const Launch *launch = warp->block->launch;
    const int *size = launch->block;
    const Instruction *in = step->in;
    int thread = warp->number * LANES + lane;
    Place place = { .kernel = launch->name,
                    .line = in->ptx_line,
                    .has_thread = true,
                    .instruction = in->text.at,
                    .instruction_length = in->text.length };

    if (in->file > 0 && in->file < launch->module->file_count && launch->module->files[in->file]) {
        place.file = launch->module->files[in->file];
        place.line = in->line;
    }
    memcpy(place.block, warp->block->id, sizeof place.block);
    place.thread[0] = thread % size[0];
    place.thread[1] = thread / size[0] % size[1];
    place.thread[2] = thread / size[0] / size[1];
    return place;
}

void fail(Warp *warp, const Step *step, int lane, FindingKind kind, const char *format, ...)
{
    Launch *launch = warp->block->launch;
    Place place = place_of(warp, step, lane);
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    finding(kind, true, &place, "%s", text);
    if (!launch->failed)
        launch->failure = kind;
    launch->failed = true;
    warp->block->ended = true;
    warp->state = WARP_DONE;
}

void warn(Warp *warp, const Step *step, int lane, FindingKind kind, const char *format, ...)
{
    Place place = place_of(warp, step, lane);
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    finding(kind, false, &place, "%s", text);
}

Count *count_of(Warp *warp, const Step *step)
{
    return warp->counts + (step - warp->code->steps);
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

/* What is wrong before any warp runs. */
static bool fail_launch(Launch *launch, FindingKind kind, const char *text)
{
    Place place = { .kernel = launch->name };

    finding(kind, true, &place, "%s", text);
    launch->failed = true;
    launch->failure = kind;
    return false;
}

/* ---- A block ---- */

static bool block_open(Block *block, Launch *launch)
{
    block->launch = launch;
    block->thread_count = launch->block[0] * launch->block[1] * launch->block[2];
    block->warp_count = (block->thread_count + LANES - 1) / LANES;
    block->shared_bytes = launch->shared_bytes;
    block->shared = aligned_alloc(1024, (launch->shared_bytes / 1024 + 1) * 1024);
    block->warps = calloc((size_t) block->warp_count, sizeof *block->warps);
    if (launch->check_uninitialised)
        block->shared_written = malloc(launch->shared_bytes / 8 + 1);
    if (!block->shared || !block->warps || (launch->check_uninitialised && !block->shared_written))
        return false;
    for (int i = 0; i < block->warp_count; i++)
        if (!warp_open(&block->warps[i], block, i))
            return false;
    return true;
}

static void block_close(Block *block)
{
    for (int i = 0; block->warps && i < block->warp_count; i++)
        warp_close(&block->warps[i]);
    free(block->warps);
    free(block->shared);
    free(block->shared_written);
}

static void block_begin(Block *block, long number)
{
    const int *grid = block->launch->grid;

    block->number = number;
    block->id[0] = (int) (number % grid[0]);
    block->id[1] = (int) (number / grid[0] % grid[1]);
    block->id[2] = (int) (number / grid[0] / grid[1]);
    block->epoch = 0;
    block->ended = false;
    memset(block->barriers, 0, sizeof block->barriers);
    /* What nobody has written there is no number that anyone could take for a result. */
    memset(block->shared, 0xff, block->shared_bytes);
    if (block->shared_written)
        memset(block->shared_written, 0, block->shared_bytes / 8 + 1);
    for (int i = 0; i < block->warp_count; i++) {
        int lanes = block->thread_count - i * LANES;
        warp_begin(&block->warps[i], lanes >= LANES ? UINT32_MAX : (1u << lanes) - 1);
    }
}

static void block_end(Block *block)
{
    for (int i = 0; i < block->warp_count; i++)
        async_end(&block->warps[i]);
    races_block_end(block);
}

static uint64_t random_of(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15ull;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static void order_warps(const Block *block, uint64_t *seed, int order[WARPS_A_BLOCK])
{
    int count = block->warp_count;

    for (int i = 0; i < count; i++)
        order[i] = block->launch->schedule == SCHEDULE_REVERSE ? count - 1 - i : i;
    for (int i = count - 1; i > 0 && block->launch->schedule == SCHEDULE_RANDOM; i--) {
        int other = (int) (random_of(seed) % (uint64_t) (i + 1)), swap = order[i];
        order[i] = order[other];
        order[other] = swap;
    }
}

/* Each warp that can has its turn. False: none could, or a fatal finding ended it. */
static bool block_turn(Block *block, uint64_t *seed)
{
    int order[WARPS_A_BLOCK];
    bool any = false;

    order_warps(block, seed, order);
    for (int i = 0; i < block->warp_count; i++)
        if (block->warps[i].state == WARP_WAITING)
            block->warps[i].state = WARP_READY;
    for (int i = 0; i < block->warp_count && !block->launch->failed; i++) {
        Warp *warp = &block->warps[order[i]];
        if (warp->state != WARP_READY)
            continue;
        any = true;
        warp_turn(warp);
    }
    return any && !block->launch->failed;
}

static bool block_is_done(const Block *block)
{
    for (int i = 0; i < block->warp_count; i++)
        if (block->warps[i].state != WARP_DONE)
            return false;
    return true;
}

/* No warp can go on, or none gets anywhere. */
static bool block_is_hopeless(const Block *block)
{
    for (int i = 0; i < block->warp_count; i++)
        if (block->warps[i].state == WARP_WAITING ||
            (block->warps[i].state == WARP_READY && block->warps[i].spins < HOPELESS))
            return false;
    return true;
}

/* ---- Waiting in vain ---- */

static int line_of(const Step *step)
{
    if (!step)
        return 0;
    return step->in->line ? step->in->line : step->in->ptx_line;
}

/* Blocks that are not there yet can't be waited for. */
static const char *block_hint(const Launch *launch)
{
    if (launch->cooperative || (long) launch->grid[0] * launch->grid[1] * launch->grid[2] == 1)
        return "";
    return ". Blocks can wait for each other only with cudaLaunchCooperativeKernel";
}

static void tell_spinning(Warp *warp)
{
    const Step *step = &warp->code->steps[warp->pc];
    const char *hint = block_hint(warp->block->launch);
    uint32_t others = warp->alive & ~warp->active;
    char here[100], there[100];

    describe_lanes(warp->active, here, sizeof here);
    describe_lanes(others, there, sizeof there);
    if (others)
        fail(warp, step, __builtin_ctz(warp->active), FINDING_STUCK,
             "%s loop%s here for ever. Of the same warp %s wait%s for that at line %d: if one of "
             "those holds the lock, release it inside the branch that took it, or let one thread "
             "of a "
             "warp take it%s",
             here, lanes_end(warp->active, "s"), there, lanes_end(others, "s"),
             line_of(warp_step_of(warp, __builtin_ctz(others))), hint);
    else
        fail(warp, step, __builtin_ctz(warp->active), FINDING_ENDLESS,
             "this loop has no end: it waits for what no other thread that can still run will do%s",
             hint);
}

/* Told for the first warp of the block that loops; else for the barriers. */
static void tell_hopeless(Block *block)
{
    for (int i = 0; i < block->warp_count; i++)
        if (block->warps[i].state == WARP_READY) {
            tell_spinning(&block->warps[i]);
            return;
        }
    barrier_tell_stuck(block);
}

/* ---- The order of blocks ---- */

static long gcd(long a, long b)
{
    return b ? gcd(b, a % b) : a;
}

/* i -> step * i + start mod count meets each block once, if step and count have no common divisor.
 */
typedef struct Order {
    long count, step, start;
} Order;

static Order order_of(const Launch *launch, long count)
{
    uint64_t seed = launch->schedule_seed;
    Order order = { count, 1, 0 };

    if (launch->schedule == SCHEDULE_RANDOM && count > 1) {
        order.start = (long) (random_of(&seed) % (uint64_t) count);
        do
            order.step = 1 + (long) (random_of(&seed) % (uint64_t) (count - 1));
        while (gcd(order.step, count) != 1);
    }
    if (launch->schedule == SCHEDULE_REVERSE) {
        order.step = count - 1;
        order.start = count - 1;
    }
    return order;
}

static long block_at(const Order *order, long i)
{
    return (long) (((__int128) order->step * i + order->start) % order->count);
}

/* ---- Launches ---- */

static void tell_progress(Launch *launch, long done, long count)
{
    if (launch->progress)
        launch->progress(launch->progress_self, done, count);
}

/* The `done`-th of `count` blocks. */
static void run_block(Block *block, long number, uint64_t *seed, long done, long count)
{
    block_begin(block, number);
    while (block_turn(block, seed)) {
        if (block_is_hopeless(block) && !block_is_done(block))
            tell_hopeless(block);
        tell_progress(block->launch, done, count);
    }
    if (!block->launch->failed && !block_is_done(block))
        tell_hopeless(block);
    block_end(block);
}

/* Of a grid of very many short blocks; a long block is stopped in its own turn (turn.c). */
static void check_budget(Launch *launch, long done, long count)
{
    char text[300];

    if (!launch->budget || launch->executed < launch->budget || done == count || launch->failed)
        return;
    snprintf(
        text, sizeof text,
        "the kernel was stopped after %llu warp instructions, in block %ld of %ld. Is so large "
        "a grid meant? SIM_BUDGET (warpbook sim --budget) allows more",
        (unsigned long long) launch->executed, done, count);
    fail_launch(launch, FINDING_ENDLESS, text);
}

static void run_one_by_one(Launch *launch, long count)
{
    Order order = order_of(launch, count);
    uint64_t seed = launch->schedule_seed ^ 0x5eed;
    Block block = { 0 };

    if (!block_open(&block, launch))
        fail_launch(launch, FINDING_LIMIT, "no memory to run a block");
    for (long i = 0; i < count && !launch->failed; i++) {
        run_block(&block, block_at(&order, i), &seed, i, count);
        tell_progress(launch, i + 1, count);
        check_budget(launch, i + 1, count);
    }
    block_close(&block);
}

/* True while one of them can go on. */
static bool together_turn(Block *blocks, const Order *order, uint64_t *seed)
{
    bool any = false;

    for (long i = 0; i < order->count && !blocks->launch->failed; i++)
        any |= block_turn(&blocks[block_at(order, i)], seed);
    return any && !blocks->launch->failed;
}

static void check_together(Block *blocks, long count)
{
    long stuck = -1;

    for (long i = 0; i < count; i++) {
        if (!block_is_hopeless(&blocks[i]))
            return;
        if (stuck < 0 && !block_is_done(&blocks[i]))
            stuck = i;
    }
    if (stuck >= 0)
        tell_hopeless(&blocks[stuck]);
}

static void run_together(Launch *launch, long count)
{
    Order order = order_of(launch, count);
    uint64_t seed = launch->schedule_seed ^ 0x5eed;
    Block *blocks = calloc((size_t) count, sizeof *blocks);
    bool open = blocks;

    for (long i = 0; i < count && open; i++)
        open = block_open(&blocks[i], launch);
    if (!open)
        fail_launch(launch, FINDING_LIMIT,
                    "no memory to run all blocks of a cooperative launch at once");
    for (long i = 0; i < count && open; i++)
        block_begin(&blocks[i], i);
    while (open && together_turn(blocks, &order, &seed)) {
        check_together(blocks, count);
        tell_progress(launch, 0, count);
    }
    if (open && !launch->failed)
        check_together(blocks, count);
    tell_progress(launch, count, count);
    for (long i = 0; i < count && blocks; i++) {
        if (open)
            block_end(&blocks[i]);
        block_close(&blocks[i]);
    }
    free(blocks);
}

static bool has_calls(const Code *code)
{
    for (int i = 0; i < code->step_count; i++)
        if (code->steps[i].in->op == OP_call)
            return true;
    return false;
}

/* What the caller has left open. */
static bool complete(Launch *launch)
{
    const Code *kernel = launch->kernel;
    size_t functions = (size_t) launch->module->function_count;
    size_t shared = (size_t) (launch->dynamic_shared_bytes ? kernel->dynamic_shared_at
                                                           : kernel->static_shared_bytes);

    if (launch->dynamic_shared_bytes > MOST_SHARED)
        return fail_launch(launch, FINDING_LAUNCH, "too much dynamic shared memory");
    launch->shared_bytes = shared + launch->dynamic_shared_bytes;
    if (launch->local_bytes <= kernel->local_bytes)
        launch->local_bytes = kernel->local_bytes + (has_calls(kernel) ? STACK_BYTES : 0);
    launch->local_bytes = (launch->local_bytes + 15) / 16 * 16;
    if (!launch->counts)
        launch->counts = calloc((size_t) kernel->step_count + 1, sizeof *launch->counts);
    if (!launch->codes)
        launch->codes = calloc(functions, sizeof *launch->codes);
    if (!launch->call_counts)
        launch->call_counts = calloc(functions, sizeof *launch->call_counts);
    if (!launch->counts || !launch->codes || !launch->call_counts)
        return fail_launch(launch, FINDING_LIMIT, "no memory to run the kernel");
    return true;
}

/* -1: too many, or none. */
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

static void run_blocks(Launch *launch, long count)
{
    races_launch_begin(launch);
    if (launch->cooperative)
        run_together(launch, count);
    else
        run_one_by_one(launch, count);
    races_launch_end(launch);
}

bool launch_run(Launch *launch)
{
    long count = block_count(launch);
    fenv_t programs;

    launch->failed = false;
    if (count < 0)
        return fail_launch(launch, FINDING_LAUNCH,
                           "a launch needs 1 to 1024 threads a block, and at least one block");
    if (!complete(launch))
        return false;
    /* A program may have chosen another rounding, or zeros for subnormal numbers: for itself. */
    fegetenv(&programs);
    fesetenv(FE_DFL_ENV);
    run_blocks(launch, count);
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
    free(launch->arrays);
    launch->codes = NULL;
    launch->call_counts = NULL;
    launch->counts = NULL;
    launch->arrays = NULL;
}
