/* race_pool.c - Sides for LINE_SPREAD lines of global memory, within a memory limit.
 *
 * The simulator may use twice the memory that a program allocates, plus 64 MiB: the bytes
 * themselves, one bit per byte (memory.c), and the rest for race checking. A launch that reaches
 * the limit continues, but no further lines are spread.
 */
#include "sim/check/race.h"

#include <stdlib.h>

enum { CHUNK_SIDES = 512, CHUNKS = 1 << 16, CHUNKS_TO_KEEP = 32 }; /* 128 KiB per chunk */
#define ALWAYS ((size_t) 48 << 20)

static struct {
    Side **chunk;
    uint32_t chunks, taken;
    size_t lines; /* bytes of all allocations' lines */
    size_t most;  /* bytes of lines and Sides allowed */
} pool;

static void count_lines(const Allocation *a, void *self)
{
    const GlobalWords *words = a->races;

    if (words)
        *(size_t *) self += (words->bytes >> words->log2_grain) / LINE * sizeof(RaceLine);
}

void pool_begin(void)
{
    const size_t in_use = memory_in_use();

    pool.taken = 0;
    pool.lines = 0;
    memory_each(count_lines, &pool.lines);
    pool.most = in_use - in_use / 8 + ALWAYS;
}

void pool_end(void)
{
    while (pool.chunks > CHUNKS_TO_KEEP)
        free(pool.chunk[--pool.chunks]);
    pool.taken = 0;
}

static bool may_spend(size_t bytes)
{
    const size_t spent = pool.lines + (size_t) pool.taken * sizeof(Side);

    return spent <= pool.most && bytes <= pool.most - spent;
}

bool pool_spend(size_t bytes)
{
    if (!may_spend(bytes))
        return false;
    pool.lines += bytes;
    return true;
}

Side *pool_side(uint32_t number)
{
    return &pool.chunk[number / CHUNK_SIDES][number % CHUNK_SIDES];
}

static bool add_chunk(void)
{
    if (pool.chunks == CHUNKS)
        return false;
    if (!pool.chunk && !(pool.chunk = calloc(CHUNKS, sizeof *pool.chunk)))
        return false;
    return (pool.chunk[pool.chunks] = malloc(CHUNK_SIDES * sizeof(Side))) && ++pool.chunks;
}

Side *pool_take(uint32_t *number)
{
    if (!may_spend(sizeof(Side)))
        return NULL;
    if (pool.taken == pool.chunks * CHUNK_SIDES && !add_chunk())
        return NULL;
    *number = pool.taken++;
    return pool_side(*number);
}
