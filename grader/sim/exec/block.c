/* block.c - a block's memory, its beginning and end, and the turns of its warps. */
#include "sim/exec/block.h"

#include "sim/base/bits.h"
#include "sim/exec/access.h"
#include "sim/exec/moved.h"
#include "sim/exec/warp.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLED = 4 };

bool block_open(Block *block, Launch *launch)
{
    block->launch = launch;
    block->thread_count = launch->block[0] * launch->block[1] * launch->block[2];
    block->warp_count = (block->thread_count + LANES - 1) / LANES;
    block->shared_bytes = launch->shared_bytes;
    block->shared = aligned_alloc(1024, (launch->shared_bytes / 1024 + 1) * 1024);
    block->warps = aligned_alloc(_Alignof(Warp), (size_t) block->warp_count * sizeof(Warp));
    if (block->warps)
        memset(block->warps, 0, (size_t) block->warp_count * sizeof(Warp));
    if (launch->check_uninitialised || launch->sample)
        block->written_room = malloc(launch->shared_bytes / 8 + 1);
    if (!block->shared || !block->warps ||
        ((launch->check_uninitialised || launch->sample) && !block->written_room))
        return false;
    for (int i = 0; i < block->warp_count; i++)
        if (!warp_open(&block->warps[i], block, i))
            return false;
    moved_measure(block);
    return true;
}

void block_close(Block *block)
{
    for (int i = 0; block->warps && i < block->warp_count; i++)
        warp_close(&block->warps[i]);
    free(block->warps);
    free(block->shared);
    free(block->written_room);
}

uint64_t block_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15ull;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/* One block in sixteen, but at least one and at most SAMPLED: checks make a block several times
 * slower. */
static bool is_sampled(const Launch *launch, long number)
{
    const long blocks = (long) launch->grid[0] * launch->grid[1] * launch->grid[2];
    const long count = blocks / 16 < 1 ? 1 : blocks / 16 < SAMPLED ? blocks / 16 : SAMPLED;
    uint64_t seed = launch->sample;

    for (long i = 0; launch->sample && i < count; i++)
        if ((long) (block_random(&seed) % (uint64_t) blocks) == number)
            return true;
    return false;
}

static void choose_checks(Block *block)
{
    const Launch *launch = block->launch;
    const bool sampled = is_sampled(launch, block->number);

    block->check_races = launch->check_races || sampled;
    block->shared_written = launch->check_uninitialised || sampled ? block->written_room : NULL;
    if (block->shared_written)
        memset(block->shared_written, 0, block->shared_bytes / 8 + 1);
    if (block->shared_written &&
        launch->kernel->uses_reserved) /* cooperative groups clear bits there */
        bits_fill(block->shared_written, block->shared_bytes - RESERVED_SHARED, RESERVED_SHARED,
                  true);
}

void block_begin(Block *block, long number, Cluster *cluster, int rank)
{
    const int *grid = block->launch->grid;

    block->cluster = cluster;
    block->rank = rank;
    block->number = number;
    block->id[0] = (int) (number % grid[0]);
    block->id[1] = (int) (number / grid[0] % grid[1]);
    block->id[2] = (int) (number / grid[0] / grid[1]);
    block->epoch = 0;
    block->last_barrier = NULL;
    block->ended = false;
    for (; block->barriers_used; block->barriers_used &= block->barriers_used - 1)
        block->barriers[__builtin_ctz(block->barriers_used)] = (Barrier){ 0 };
    /* Unwritten shared memory must not hold a number that could pass for a result. */
    memset(block->shared, 0xff, block->shared_bytes);
    block->copied_unwritten = false;
    choose_checks(block);
    special_of_block(block);
    moved_of_block(block);
    for (int i = 0; i < block->warp_count; i++) {
        int lanes = block->thread_count - i * LANES;
        warp_begin(&block->warps[i], lanes >= LANES ? UINT32_MAX : (1u << lanes) - 1);
    }
    OBSERVE(block->launch, block_begin, block);
}

static void leave_cluster(Block *block)
{
    Cluster *cluster = block->cluster;

    block->cluster = NULL;
    if (!cluster)
        return;
    cluster->blocks[block->rank] = NULL;
    if (--cluster->there == 0)
        free(cluster);
}

void block_end(Block *block)
{
    if (block->bulk)
        bulk_end(block);
    for (int i = 0; i < block->warp_count; i++)
        if (block->warps[i].async)
            async_end(&block->warps[i]);
    OBSERVE(block->launch, block_end, block);
    leave_cluster(block);
}

static void order_warps(const Block *block, uint64_t *seed, int order[WARPS_A_BLOCK])
{
    int count = block->warp_count;

    for (int i = 0; i < count; i++)
        order[i] = block->launch->schedule == SCHEDULE_REVERSE ? count - 1 - i : i;
    for (int i = count - 1; i > 0 && block->launch->schedule == SCHEDULE_RANDOM; i--) {
        int other = (int) (block_random(seed) % (uint64_t) (i + 1)), swap = order[i];
        order[i] = order[other];
        order[other] = swap;
    }
}

void block_join(Block *block, const Deal *deal)
{
    for (int i = 0; i < block->warp_count; i++)
        block->warps[i].done = deal->level;
}

static bool is_ahead(const Warp *warp, Deal *deal)
{
    if (!deal || warp->done <= deal->level)
        return false;
    if (warp->done < deal->least)
        deal->least = warp->done;
    return true;
}

static void play_warp(Warp *warp, Deal *deal)
{
    const uint64_t before = warp->block->launch->executed;

    warp_turn(warp);
    warp->done += warp->block->launch->executed - before;
    if (deal)
        deal->turns++;
}

Turn block_turn(Block *block, uint64_t *seed, Deal *deal)
{
    int order[WARPS_A_BLOCK];
    Turn turn = TURN_NONE;

    order_warps(block, seed, order);
    for (int i = 0; i < block->warp_count; i++)
        if (block->warps[i].state == WARP_WAITING)
            block->warps[i].state = WARP_READY;
    for (int i = 0; i < block->warp_count && !block->launch->failed; i++) {
        Warp *warp = &block->warps[order[i]];
        if (warp->state != WARP_READY)
            continue;
        if (is_ahead(warp, deal)) {
            turn = TURN_MOVED;
            continue;
        }
        play_warp(warp, deal);
        if (turn < TURN_MOVED)
            turn = warp->spins ? TURN_SPUN : TURN_MOVED;
    }
    return block->launch->failed ? TURN_NONE : turn;
}

bool block_is_done(const Block *block)
{
    for (int i = 0; i < block->warp_count; i++)
        if (block->warps[i].state != WARP_DONE)
            return false;
    return true;
}

/* True if each part of the warp loops without progress or sleeps. */
static bool warp_waits(const Warp *warp)
{
    return warp->spins > warp->depth || warp->sleeps >= MOST_SLEEPS;
}

bool block_waits(const Block *block)
{
    bool any = false;

    for (int i = 0; i < block->warp_count; i++) {
        const Warp *warp = &block->warps[i];
        if (warp->state == WARP_WAITING || (warp->state == WARP_READY && !warp_waits(warp)))
            return false;
        any |= warp->state == WARP_READY;
    }
    return any;
}
