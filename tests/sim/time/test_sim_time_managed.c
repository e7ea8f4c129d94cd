/* test_sim_time_managed.c - managed memory that host and device use in turn: which parts were used,
 * where they are then, and what moving them costs.
 */
#include <CUnit/CUnit.h>

#include "sim/memory/memory.h"
#include "sim/memory/pages.h"
#include "sim/time/migration.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNKS = 80, BLOCK = 32 }; /* two blocks and a half */

static const Device device = { .page_fault_us = 1000,
                               .page_chunk_us = 10,
                               .page_copy_us = 13,
                               .fresh_fault_us = 500,
                               .fresh_chunk_us = 7,
                               .prefetch_us = 60,
                               .prefetch_block_us = 4,
                               .prefetch_fresh_us = 5,
                               .prefetch_back_us = 300,
                               .prefetch_back_gbps = 4,
                               .pcie_gbps = 16,
                               .pcie_pinned_share = 0.5 };

/* ---- Which parts were used ---- */

static Allocation *open_followed(size_t bytes)
{
    char why[200] = "";

    CU_ASSERT_FATAL(memory_open(1 << 26, false, why, sizeof why));
    memory_follow();
    Allocation *a = memory_allocate(bytes, MANAGED, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    CU_ASSERT_TRUE(a->followed && memory_follows());
    return a;
}

/* The chunks that were used, as text; then forgets them. */
static const char *used_chunks(Allocation *a)
{
    static char text[CHUNKS + 1];
    bool used[CHUNKS] = { false };
    const size_t count = chunks_in(a->bytes);

    CU_ASSERT_TRUE(pages_used(a->host, a->bytes, used));
    pages_forget(a->host, a->bytes);
    for (size_t i = 0; i < count; i++)
        text[i] = used[i] ? 'x' : '.';
    text[count] = 0;
    return text;
}

/* Reads, writes and system calls count; data stays when its use is forgotten. */
static void uses_are_seen_and_data_stays(void)
{
    Allocation *a = open_followed(7 * CHUNK_BYTES + 1);
    char *host = a->host;
    const int zeros = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);

    CU_ASSERT_STRING_EQUAL(used_chunks(a), "........");
    host[CHUNK_BYTES] = 5;
    host[7 * CHUNK_BYTES] = 7;
    CU_ASSERT_STRING_EQUAL(used_chunks(a), ".x.....x");
    CU_ASSERT_EQUAL(host[CHUNK_BYTES + 1], 0);
    CU_ASSERT_EQUAL(host[CHUNK_BYTES], 5);
    CU_ASSERT_STRING_EQUAL(used_chunks(a), ".x......");
    memset(host, 9, 7 * CHUNK_BYTES);
    CU_ASSERT_STRING_EQUAL(used_chunks(a), "xxxxxxx.");
    CU_ASSERT_EQUAL(((volatile char *) host)[4 * CHUNK_BYTES - 1], 9); /* maps no other chunk */
    CU_ASSERT_STRING_EQUAL(used_chunks(a), "...x....");
    CU_ASSERT_EQUAL(read(zeros, host + 2 * CHUNK_BYTES, 10), 10);
    CU_ASSERT_EQUAL(write(null, host + 7 * CHUNK_BYTES, 1), 1);
    CU_ASSERT(!strncmp(used_chunks(a), "..x....", 7)); /* /dev/null reads nothing */
    CU_ASSERT_EQUAL(host[2 * CHUNK_BYTES + 9], 0);
    CU_ASSERT_EQUAL(host[2 * CHUNK_BYTES + 10], 9);
    close(zeros);
    close(null);
    memory_close();
}

/* Freed memory is inaccessible, and new memory at its place has neither data nor uses. */
static void freed_memory_is_forgotten(void)
{
    Allocation *a = open_followed(2 * CHUNK_BYTES);
    char *before = a->host;
    uint64_t base = a->base;
    int pipes[2];

    memset(before, 3, 2 * CHUNK_BYTES);
    CU_ASSERT_TRUE(memory_free(base));
    CU_ASSERT_FALSE(memory_follows());
    CU_ASSERT_EQUAL_FATAL(pipe(pipes), 0);
    CU_ASSERT_EQUAL(write(pipes[1], before, 1), -1);
    close(pipes[0]);
    close(pipes[1]);
    a = memory_allocate(2 * CHUNK_BYTES, MANAGED, NULL);
    for (int i = 0; i < 10000 && a && a->base != base; i++) {
        memory_free(a->base);
        a = memory_allocate(2 * CHUNK_BYTES, MANAGED, NULL);
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    CU_ASSERT_EQUAL(a->base, base); /* the range was exhausted */
    CU_ASSERT_STRING_EQUAL(used_chunks(a), "..");
    CU_ASSERT_EQUAL(*(volatile char *) a->host, 0);
    memory_close();
}

/* ---- Where they are ---- */

static char content[(size_t) CHUNKS * CHUNK_BYTES];
static bool used[CHUNKS];

static void set_used(int first, int count, int step)
{
    memset(used, 0, sizeof used);
    for (int i = first; i < first + count; i += step)
        used[i] = true;
}

static void host_uses(Chunks *chunks, int first, int count)
{
    set_used(first, count, 1);
    chunks_host_used(chunks, used);
}

/* Microseconds. */
static double kernel_uses(Chunks *chunks, int first, int count, int step)
{
    Migration sum = { 0 };

    set_used(first, count, step);
    chunks_kernel_used(chunks, used, &device, &sum);
    return sum.us;
}

static Chunks *new_chunks(void)
{
    Chunks *chunks = chunks_new(content, sizeof content);

    CU_ASSERT_PTR_NOT_NULL_FATAL(chunks);
    CU_ASSERT_EQUAL(chunks->count, CHUNKS);
    return chunks;
}

static void chunks_move_when_they_are_used(void)
{
    Chunks *chunks = new_chunks();

    host_uses(chunks, 0, CHUNKS);
    CU_ASSERT_EQUAL(kernel_uses(chunks, 0, CHUNKS, 1), 3 * 1000 + 80 * 10);
    CU_ASSERT_EQUAL(kernel_uses(chunks, 0, CHUNKS, 1), 0);
    host_uses(chunks, 33, 1);
    CU_ASSERT_EQUAL(kernel_uses(chunks, 0, 32, 1), 0); /* another block */
    CU_ASSERT_EQUAL(kernel_uses(chunks, 0, CHUNKS, 1), 1000 + 10);
    host_uses(chunks, 33, 1);
    chunks_copied(chunks, used); /* by cudaMemset, say */
    CU_ASSERT_EQUAL(kernel_uses(chunks, 0, CHUNKS, 1), 0);
    free(chunks);
}

static void fresh_chunks_move_nothing(void)
{
    Chunks *chunks = new_chunks();

    host_uses(chunks, 0, 1);
    set_used(0, BLOCK + 8, 1);
    Migration moved = { 0 };
    chunks_kernel_used(chunks, used, &device, &moved);
    CU_ASSERT_EQUAL(moved.us, 1000 + 10 + 31 * 7 + 500 + 8 * 7);
    CU_ASSERT_EQUAL(moved.bytes, CHUNK_BYTES);
    CU_ASSERT_EQUAL(kernel_uses(chunks, 0, BLOCK + 8, 1), 0);
    free(chunks);
}

/* A kernel waits longer for its first faults, and for its first ones in blocks that the device had
 * as a whole: an H200 with 16 MB took 156 us for one changed byte, 90 if the array had one chunk.
 */
static void first_faults_take_longer(void)
{
    const Device slow = { .first_fault_us = 100, .split_fault_us = 50 };
    static const struct {
        int host_first, host_count, first, count;
        double us;
    } uses[] = {
        { 0, CHUNKS, 0, BLOCK, 100 },      /* nothing of the block is on the device */
        { 3, 1, 0, BLOCK, 150 },           /* the rest of it is */
        { 3, 1, 4, 8, 0 },                 /* the chunk is not used */
        { 2 * BLOCK, 16, 0, CHUNKS, 150 }, /* chunk 3, and a block that is smaller */
        { 2 * BLOCK, 1, 0, CHUNKS, 100 },  /* only that block */
    };
    Chunks *chunks = new_chunks();

    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        Migration sum = { 0 };
        host_uses(chunks, uses[i].host_first, uses[i].host_count);
        set_used(uses[i].first, uses[i].count, 1);
        chunks_kernel_used(chunks, used, &slow, &sum);
        migration_first_faults(&sum, &slow);
        CU_ASSERT_EQUAL(sum.us, uses[i].us);
    }
    free(chunks);
}

/* Of a block of which at most half is used, the rest stays on the host. */
static void most_of_a_block_takes_the_rest_along(void)
{
    Chunks *chunks = new_chunks();

    host_uses(chunks, 0, CHUNKS);
    CU_ASSERT_EQUAL(kernel_uses(chunks, 0, BLOCK, 4), 1000 + 8 * 10);
    CU_ASSERT_EQUAL(kernel_uses(chunks, 0, BLOCK, 2), 1000 + 8 * 10);
    CU_ASSERT_EQUAL(kernel_uses(chunks, 1, 1, 1), 1000 + 16 * 10);
    CU_ASSERT_EQUAL(kernel_uses(chunks, 0, BLOCK, 1), 0);
    free(chunks);
}

/* ---- Hints ---- */

/* Both sides keep what is mostly read, until one of them writes it. */
static void what_is_mostly_read_is_copied(void)
{
    Chunks *chunks = new_chunks();

    chunks_read_mostly(chunks, 0, BLOCK, true);
    host_uses(chunks, 0, CHUNKS);
    CU_ASSERT_EQUAL(kernel_uses(chunks, 0, CHUNKS, 1), 3 * 1000 + 32 * 13 + 48 * 10);
    host_uses(chunks, 0, BLOCK);
    CU_ASSERT_EQUAL(kernel_uses(chunks, 0, BLOCK, 1), 0);
    content[5 * CHUNK_BYTES + 77]++;
    host_uses(chunks, 5, 1);
    CU_ASSERT_EQUAL(kernel_uses(chunks, 0, BLOCK, 1), 1000 + 13);
    content[6 * CHUNK_BYTES]++; /* by the kernel */
    CU_ASSERT_EQUAL(kernel_uses(chunks, 6, 1, 1), 0);
    CU_ASSERT_EQUAL(chunks->chunk[6].place, ON_DEVICE);
    host_uses(chunks, 6, 1);
    CU_ASSERT_EQUAL(chunks->chunk[6].place, ON_BOTH);
    chunks_read_mostly(chunks, 0, BLOCK, false);
    host_uses(chunks, 0, 1);
    CU_ASSERT_EQUAL(kernel_uses(chunks, 0, BLOCK, 1), 1000 + 10);
    host_uses(chunks, 0, 4);
    chunks_read_mostly(chunks, 0, BLOCK, true); /* what is there already is copied faster */
    CU_ASSERT_EQUAL(kernel_uses(chunks, 0, BLOCK, 1), 1000 + 4 * 10);
    CU_ASSERT_EQUAL(chunks->chunk[0].place, ON_BOTH);
    free(chunks);
}

/* Only if all of an allocation prefers the host, and nothing is on the device, kernels go there. */
static void memory_that_prefers_the_host_stays(void)
{
    Chunks *chunks = new_chunks();

    host_uses(chunks, 0, CHUNKS);
    chunks_prefer_host(chunks, 0, CHUNKS - 1, true);
    CU_ASSERT_FALSE(chunks_stay(chunks));
    chunks_prefer_host(chunks, CHUNKS - 1, CHUNKS, true);
    CU_ASSERT_TRUE(chunks_stay(chunks));
    CU_ASSERT_EQUAL(kernel_uses(chunks, 0, CHUNKS, 1), 0);
    CU_ASSERT_TRUE(chunks_stay(chunks));
    chunks_prefetch(chunks, 0, 1, &device);
    CU_ASSERT_FALSE(chunks_stay(chunks));
    CU_ASSERT_EQUAL(kernel_uses(chunks, 0, 2, 1), 1000 + 10);
    host_uses(chunks, 0, 2);
    CU_ASSERT_TRUE(chunks_stay(chunks));
    chunks_prefer_host(chunks, 3, 4, false);
    CU_ASSERT_FALSE(chunks_stay(chunks));
    free(chunks);
}

static void prefetches_move_what_is_missing(void)
{
    Chunks *chunks = new_chunks();
    const double link = CHUNK_BYTES / (16 * 0.5) / 1e3, back = CHUNK_BYTES / 4.0 / 1e3; /* us */
    Migration moved;

    host_uses(chunks, 0, BLOCK);
    moved = chunks_prefetch(chunks, 30, BLOCK + 2, &device);
    CU_ASSERT_DOUBLE_EQUAL(moved.us, 60 + 2 * 4 + 5 + 2 * link, 1e-9);
    CU_ASSERT_EQUAL(moved.bytes, 2 * CHUNK_BYTES);
    CU_ASSERT_EQUAL(kernel_uses(chunks, 30, 4, 1), 0);
    moved = chunks_prefetch(chunks, 30, BLOCK + 2, &device);
    CU_ASSERT_DOUBLE_EQUAL(moved.us, 60 + 2 * 4, 1e-9);
    moved = chunks_take_back(chunks, 29, BLOCK, &device);
    CU_ASSERT_DOUBLE_EQUAL(moved.us, 300 + 2 * back, 1e-9);
    CU_ASSERT_EQUAL(kernel_uses(chunks, 30, 4, 1), 1000 + 2 * 10);
    chunks_read_mostly(chunks, 0, 1, true);
    chunks_prefetch(chunks, 0, 1, &device);
    CU_ASSERT_EQUAL(chunks->chunk[0].place, ON_BOTH);
    free(chunks);
}

static CU_TestInfo tests[] = {
    { "uses are seen and data stays", uses_are_seen_and_data_stays },
    { "freed memory is forgotten", freed_memory_is_forgotten },
    { "chunks move when they are used", chunks_move_when_they_are_used },
    { "fresh chunks move nothing", fresh_chunks_move_nothing },
    { "first faults take longer", first_faults_take_longer },
    { "most of a block takes the rest along", most_of_a_block_takes_the_rest_along },
    { "read-mostly memory is copied", what_is_mostly_read_is_copied },
    { "memory that prefers the host stays", memory_that_prefers_the_host_stays },
    { "prefetches move what is missing", prefetches_move_what_is_missing },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_managed = { "test_sim_time_managed", NULL, NULL, NULL, NULL, tests };
