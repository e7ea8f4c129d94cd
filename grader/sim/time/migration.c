/* migration.c - where the parts of managed memory are (migration.h). */
#include "sim/time/migration.h"
#include "sim/memory/pages.h"

#include <stdlib.h>

enum { BLOCK_CHUNKS = (2 << 20) / CHUNK_BYTES };

Chunks *chunks_new(const void *at, size_t bytes)
{
    const size_t count = chunks_in(bytes);
    Chunks *chunks = calloc(1, sizeof *chunks + count * sizeof *chunks->chunk);

    if (!chunks)
        return NULL;
    chunks->at = at;
    chunks->bytes = bytes;
    chunks->count = count;
    return chunks;
}

static size_t block_end(const Chunks *chunks, size_t begin)
{
    return begin + BLOCK_CHUNKS < chunks->count ? begin + BLOCK_CHUNKS : chunks->count;
}

/* ---- Whether chunks that are mostly read were written ---- */

static Digest digest_chunk(const Chunks *chunks, size_t i)
{
    const size_t begin = i * CHUNK_BYTES, left = chunks->bytes - begin;
    Digester digester;

    digest_begin(&digester);
    digest_bytes(&digester, chunks->at + begin, left < CHUNK_BYTES ? left : CHUNK_BYTES);
    return digest_of(&digester);
}

static bool was_written(Chunks *chunks, size_t i)
{
    const Digest before = chunks->chunk[i].content;

    chunks->chunk[i].content = digest_chunk(chunks, i);
    return !digest_is(before, chunks->chunk[i].content);
}

/* ---- Uses ---- */

static void use_on_host(Chunks *chunks, size_t i)
{
    Chunk *chunk = &chunks->chunk[i];
    const bool written = chunk->reads_mostly && was_written(chunks, i);
    const bool may_share =
        chunk->reads_mostly && !written && (chunk->place == ON_DEVICE || chunk->place == ON_BOTH);

    chunk->place = may_share ? ON_BOTH : ON_HOST;
    chunk->was_there &= !written;
}

void chunks_host_used(Chunks *chunks, const bool *used)
{
    for (size_t i = 0; i < chunks->count; i++)
        if (used[i])
            use_on_host(chunks, i);
}

static void use_on_device(Chunks *chunks, size_t i)
{
    Chunk *chunk = &chunks->chunk[i];
    const bool may_share = chunk->reads_mostly && !was_written(chunks, i) &&
                           (chunk->place == ON_HOST || chunk->place == ON_BOTH);

    chunk->place = may_share ? ON_BOTH : ON_DEVICE;
}

/* Those of memory that stays on the host do not move. */
static bool stays(const Chunks *chunks, bool all_stay, size_t i)
{
    return all_stay && chunks->chunk[i].prefers_host;
}

void chunks_copied(Chunks *chunks, const bool *used)
{
    const bool all_stay = chunks_stay(chunks);

    for (size_t i = 0; i < chunks->count; i++)
        if (used[i] && stays(chunks, all_stay, i))
            chunks->chunk[i].place = ON_HOST;
        else if (used[i])
            use_on_device(chunks, i);
}

/* ---- What kernels wait for ---- */

typedef struct BlockUse {
    size_t begin, end;        /* its chunks */
    int moved, copied, fresh; /* chunks */
    bool is_split;            /* it was on the device, but for some chunks */
} BlockUse;

static bool is_missing(const Chunk *chunk)
{
    return chunk->place == NOWHERE || chunk->place == ON_HOST;
}

/* If the device lacks a chunk that is used, and will have most of the block's chunks, the driver
 * moves all of them: of blocks of which a kernel touches 63 % at random, an H200 moves everything
 * (tests/sim/time/mechanisms, moved.random), of 25 % nothing else (sparse.4). */
static bool takes_all(const Chunks *chunks, const bool *used, const BlockUse *block)
{
    size_t here = 0, missed = 0;

    for (size_t i = block->begin; i < block->end; i++) {
        here += used[i] || !is_missing(&chunks->chunk[i]);
        missed += used[i] && is_missing(&chunks->chunk[i]);
    }
    return missed && 2 * here > block->end - block->begin;
}

static void add_use(Chunks *chunks, size_t i, BlockUse *use)
{
    const ChunkPlace before = (ChunkPlace) chunks->chunk[i].place;

    use_on_device(chunks, i);
    use->fresh += before == NOWHERE;
    if (before == ON_HOST && chunks->chunk[i].place == ON_BOTH && !chunks->chunk[i].was_there)
        use->copied++;
    else
        use->moved += before == ON_HOST;
}

/* The device has a page of 2 MB for a block that it has as a whole. Once the host has taken a part
 * back, an H200 waits longer for that part (tests/sim/time/mechanisms, part). */
static bool is_split(const Chunks *chunks, const BlockUse *block)
{
    bool any_here = false, any_missing = false;

    for (size_t i = block->begin; i < block->end; i++) {
        any_here |= chunks->chunk[i].place == ON_DEVICE;
        any_missing |= chunks->chunk[i].place == ON_HOST;
    }
    return any_here && any_missing && block->end - block->begin == BLOCK_CHUNKS;
}

static void use_block(Chunks *chunks, const bool *used, BlockUse *block)
{
    const bool all = takes_all(chunks, used, block);

    block->is_split = is_split(chunks, block);
    for (size_t i = block->begin; i < block->end; i++)
        if (used[i] || (all && is_missing(&chunks->chunk[i])))
            add_use(chunks, i, block);
}

/* An H200 waits almost as long whatever the kernel does meanwhile (tests/sim/time/mechanisms,
 * moved and fresh). */
static void add_block(const BlockUse *use, const Device *device, Migration *sum)
{
    const int from_host = use->moved + use->copied;

    if (from_host + use->fresh)
        sum->us += from_host ? device->page_fault_us : device->fresh_fault_us;
    sum->us += use->moved * device->page_chunk_us + use->copied * device->page_copy_us +
               use->fresh * device->fresh_chunk_us;
    sum->bytes += (double) from_host * CHUNK_BYTES;
    sum->faults |= from_host;
    sum->splits |= from_host && use->is_split;
}

void chunks_kernel_used(Chunks *chunks, const bool *used, const Device *device, Migration *sum)
{
    if (chunks_stay(chunks)) {
        chunks_copied(chunks, used);
        return;
    }
    for (size_t at = 0; at < chunks->count; at += BLOCK_CHUNKS) {
        BlockUse block = { .begin = at, .end = block_end(chunks, at) };
        use_block(chunks, used, &block);
        add_block(&block, device, sum);
    }
}

void migration_first_faults(Migration *sum, const Device *device)
{
    sum->us += sum->faults ? device->first_fault_us : 0;
    sum->us += sum->splits ? device->split_fault_us : 0;
}

bool chunks_stay(const Chunks *chunks)
{
    for (size_t i = 0; i < chunks->count; i++)
        if (!chunks->chunk[i].prefers_host || chunks->chunk[i].place == ON_DEVICE)
            return false;
    return chunks->count;
}

/* ---- Hints ---- */

static void take_there(Chunks *chunks, size_t i, Migration *sum)
{
    Chunk *chunk = &chunks->chunk[i];

    sum->bytes += chunk->place == ON_HOST ? CHUNK_BYTES : 0;
    if (chunk->place == ON_HOST && chunk->reads_mostly)
        chunk->place = ON_BOTH;
    else if (is_missing(chunk))
        chunk->place = ON_DEVICE;
}

Migration chunks_prefetch(Chunks *chunks, size_t first, size_t end, const Device *device)
{
    const double link_gbps = device->pcie_gbps * device->pcie_pinned_share;
    Migration sum = { .us = device->prefetch_us };

    for (size_t at = first / BLOCK_CHUNKS * BLOCK_CHUNKS; at < end; at += BLOCK_CHUNKS) {
        bool any_fresh = false;
        for (size_t i = at < first ? first : at; i < end && i < at + BLOCK_CHUNKS; i++) {
            any_fresh |= chunks->chunk[i].place == NOWHERE;
            take_there(chunks, i, &sum);
        }
        sum.us += device->prefetch_block_us + (any_fresh ? device->prefetch_fresh_us : 0);
    }
    sum.us += sum.bytes / link_gbps / 1e3;
    return sum;
}

Migration chunks_take_back(Chunks *chunks, size_t first, size_t end, const Device *device)
{
    Migration sum = { .us = device->prefetch_back_us };

    for (size_t i = first; i < end; i++) {
        Chunk *chunk = &chunks->chunk[i];
        sum.bytes += chunk->place == ON_DEVICE ? CHUNK_BYTES : 0;
        chunk->place = chunk->reads_mostly && !is_missing(chunk) ? ON_BOTH : ON_HOST;
    }
    sum.us += sum.bytes / device->prefetch_back_gbps / 1e3;
    return sum;
}

void chunks_read_mostly(Chunks *chunks, size_t first, size_t end, bool on)
{
    for (size_t i = first; i < end; i++) {
        Chunk *chunk = &chunks->chunk[i];
        chunk->reads_mostly = on;
        chunk->was_there = on && chunk->place != NOWHERE;
        if (on && chunk->place != NOWHERE)
            chunk->content = digest_chunk(chunks, i);
        else if (chunk->place == ON_BOTH)
            chunk->place = ON_DEVICE;
    }
}

void chunks_prefer_host(Chunks *chunks, size_t first, size_t end, bool on)
{
    for (size_t i = first; i < end; i++)
        chunks->chunk[i].prefers_host = on;
}
