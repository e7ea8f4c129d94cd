/* occupancy.c - the calculator of occupancy, with the working of each limit. */
#include "calc/text.h"
#include "calc/calculators.h"
#include "base/util.h"

#include <limits.h>
#include <stdio.h>

static const Input occupancy_inputs[] = {
    { "threads", "threads per block", WHOLE, 1, 1024, false, 0 },
    { "registers", "registers per thread: nvcc -Xptxas -v prints them", WHOLE, 0, 255, true, 32 },
    { "shared", "shared memory per block, static and dynamic: 4224, 48KiB", BYTES, 0, 16777216,
      true, 0 },
    { 0 },
};

/* Prints a row: the first line of a limit has its name, the last one the number of blocks. */
static void print_row(const char *what, const char *working, const char *blocks)
{
    printf(*blocks ? "  %-14s %-54s %7s\n" : "  %-14s %s\n", what, working, blocks);
}

static const char *blocks_of(const Occupancy *o, Limiter limiter)
{
    return o->limits[limiter] == LONG_MAX ? "any" : text_of((double) o->limits[limiter]);
}

static void print_register_limit(const Device *d, const Occupancy *o, long registers, int warps)
{
    const char *what = limiter_word(LIMIT_REGISTERS), *blocks = blocks_of(o, LIMIT_REGISTERS);
    char working[100];

    if (!o->warp_registers) {
        print_row(what, "none", blocks);
        return;
    }
    PUT(working, "%ld x 32 lanes, in units of %d: %ld per warp", registers, d->register_unit,
        o->warp_registers);
    print_row(what, working, "");
    if (!o->register_warps) {
        PUT(working, "a block (4 warps at a time) needs more than %d", d->registers_per_sm);
        print_row("", working, blocks);
        return;
    }
    PUT(working, "%d schedulers x floor(%d / %ld) = %ld warps", d->schedulers_per_sm,
        d->registers_per_sm / d->schedulers_per_sm, o->warp_registers, o->register_warps);
    print_row("", working, "");
    print_row("", PUT(working, "%ld warps / %d", o->register_warps, warps), blocks);
}

static void print_shared_limit(const Device *d, const Occupancy *o, long shared)
{
    const char *what = limiter_word(LIMIT_SHARED), *blocks = blocks_of(o, LIMIT_SHARED);
    char working[100];

    if (shared > d->shared_per_block_optin_bytes) {
        PUT(working, "more than %d bytes, the limit for a block", d->shared_per_block_optin_bytes);
        print_row(what, working, blocks);
        return;
    }
    if (!o->block_shared_bytes) {
        print_row(what, "none", blocks);
        return;
    }
    PUT(working, "%ld + %d for the system, in units of %ld: %ld", shared, d->shared_reserved_bytes,
        o->shared_unit, o->block_shared_bytes);
    print_row(what, working, "");
    PUT(working, "%d bytes per SM / %ld", d->shared_per_sm_bytes, o->block_shared_bytes);
    print_row("", working, blocks);
}

static void print_limits(const Asked *asked, const Occupancy *o)
{
    const Device *d = &asked->device;
    int threads = (int) asked_value(asked, "threads"), warps = (threads + 31) / 32;
    char working[100];

    print_row("limit by", "rounded down", "blocks");
    PUT(working, "%d warps per SM / %d", d->threads_per_sm / 32, warps);
    if (threads > d->threads_per_block)
        PUT(working, "more than %d threads, the limit for a block", d->threads_per_block);
    print_row(limiter_word(LIMIT_WARPS), working, blocks_of(o, LIMIT_WARPS));
    print_row(limiter_word(LIMIT_BLOCKS), "the maximum per SM, however small the blocks are",
              blocks_of(o, LIMIT_BLOCKS));
    print_register_limit(d, o, asked_whole(asked, "registers"), warps);
    print_shared_limit(d, o, asked_whole(asked, "shared"));
}

static void print_limiters(const Occupancy *o)
{
    const char *between = "";

    printf("limit      = ");
    for (int i = 0; i < LIMIT_NONE; i++)
        if (o->limits[i] == o->limits[o->limiter]) {
            printf("%s%s", between, limiter_word((Limiter) i));
            between = ", ";
        }
    printf("\n");
}

static bool show_occupancy(const Asked *asked)
{
    const Device *d = &asked->device;
    int threads = (int) asked_value(asked, "threads"), warps = (threads + 31) / 32;
    Occupancy o = device_occupancy(d, (int) asked_value(asked, "registers"), threads,
                                   (size_t) asked_value(asked, "shared"));

    printf("%s, compute capability %d.%d; a block of %d threads = %d warp%s\n\n", d->name,
           d->cc / 10, d->cc % 10, threads, warps, plural(warps));
    print_limits(asked, &o);
    printf("\n");
    print_limiters(&o);
    if (!o.blocks_per_sm) {
        printf("occupancy  = 0: no block fits, so a launch fails\n");
        return true;
    }
    printf("occupancy  = %d block%s x %d / %d warps = %s\n", o.blocks_per_sm,
           plural(o.blocks_per_sm), warps, d->threads_per_sm / 32, percent_of(o.share));
    printf("a wave     = %d SMs x %d = %d blocks at once\n", d->sms, o.blocks_per_sm,
           d->sms * o.blocks_per_sm);
    return true;
}

const Calculator occupancy_calculator = {
    .name = "occupancy",
    .what = "how many blocks fit on an SM, and what limits them",
    .about = "Like cudaOccupancyMaxActiveBlocksPerMultiprocessor, for any described GPU. A\n"
             "high occupancy is not a goal in itself: little and ilp calculate what is needed.\n",
    .example = "--device sim:t4 --threads 320 --registers 37",
    .inputs = occupancy_inputs,
    .has_device = true,
    .needs_device = true,
    .show = show_occupancy,
};
