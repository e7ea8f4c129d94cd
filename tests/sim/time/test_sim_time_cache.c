/* test_sim_time_cache.c - compares the caches of the timing model with a plain list of lines in the
 * order of use. */
#include <CUnit/CUnit.h>

#include "sim/time/model.h"

#include <stdlib.h>
#include <string.h>

/* The lines of one set, most recently used first. In this test each cache has one set; a cache with
 * many sets is tested below. */
typedef struct List {
    uint64_t line[MOST_WAYS];
    int count;
} List;

/* Returns the displaced line, or NO_LINE; sets is_new. */
static uint64_t use(List *list, int ways, uint64_t line, bool *is_new)
{
    uint64_t leaves = NO_LINE;
    int at = 0;

    while (at < list->count && list->line[at] != line)
        at++;
    *is_new = at == list->count;
    if (*is_new && list->count == ways)
        leaves = list->line[at = ways - 1];
    else if (*is_new)
        list->count++;
    memmove(list->line + 1, list->line, (size_t) at * sizeof *list->line);
    list->line[0] = line;
    return leaves;
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

static void the_least_recently_used_leaves(void)
{
    static const int ways[] = { 1, 2, 3, 4, 7, 8, 9, 15, 16 };
    uint64_t random = 1;

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        Cache cache;
        List list = { .count = 0 };
        CU_ASSERT_TRUE_FATAL(cache_open(&cache, ways[i] * LINE_BYTES, ways[i]));
        CU_ASSERT_EQUAL_FATAL(cache.count, 1);
        for (int k = 0; k < 20000; k++) {
            /* Neighbouring lines, and lines whose numbers share many bits. */
            const uint64_t line = next_random(&random) % 20 << (k % 3 ? 0 : 33);
            CacheLine displaced = { .line = 0 };
            bool is_new, should_be;
            cache_ask(&cache, line);
            CacheLine *got = cache_line(&cache, line, &is_new, &displaced);
            const uint64_t leaves = use(&list, ways[i], line, &should_be);
            CU_ASSERT_EQUAL_FATAL(is_new, should_be);
            CU_ASSERT_EQUAL_FATAL(got->line, line);
            CU_ASSERT_FATAL(!is_new || (displaced.line == leaves && !got->valid && !got->dirty));
            CU_ASSERT_FATAL(is_new || got->valid == (line & 15));
            got->valid = line & 15;
        }
        cache_close(&cache);
    }
}

/* A line stays in the cache until enough other lines of its set have been used; all sets are used
 * equally. */
static void lines_spread_over_all_sets(void)
{
    static const uint64_t strides[] = { 1, 2, 64, 352, 1 << 14, 1ull << 34 };
    enum { WAYS = 16, LINES = 4096 };

    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        Cache cache;
        CacheLine displaced;
        bool is_new;
        int there = 0;
        CU_ASSERT_TRUE_FATAL(cache_open(&cache, LINES * LINE_BYTES, WAYS));
        for (uint64_t n = 0; n < LINES / 2; n++)
            cache_line(&cache, n * strides[i], &is_new, &displaced);
        for (uint64_t n = 0; n < LINES / 2; n++) {
            cache_line(&cache, n * strides[i], &is_new, &displaced);
            there += !is_new;
        }
        CU_ASSERT(there > 0.95 * LINES / 2);
        cache_close(&cache);
    }
}

/* Four of sixteen ways are displaced: the least recently used. */
static void others_displace_the_oldest(void)
{
    enum { WAYS = 16 };
    Cache cache;
    CacheLine displaced;
    bool is_new;

    CU_ASSERT_TRUE_FATAL(cache_open(&cache, WAYS * LINE_BYTES, WAYS));
    for (uint64_t line = 0; line < WAYS; line++)
        cache_line(&cache, line, &is_new, &displaced);
    cache_displace(&cache, 4.5);
    for (uint64_t line = WAYS; line-- > 0;) {
        cache_line(&cache, line, &is_new, &displaced);
        CU_ASSERT_EQUAL(is_new, line < 4);
        CU_ASSERT(!is_new || displaced.line == NO_LINE);
    }
    cache_displace(&cache, 1e9);
    cache_line(&cache, 3, &is_new, &displaced);
    CU_ASSERT_TRUE(is_new);
    cache_close(&cache);
}

static void even_the_smallest_holds_a_set(void)
{
    Cache cache;
    CacheLine displaced;
    bool is_new;

    CU_ASSERT_TRUE_FATAL(cache_open(&cache, 1, MOST_WAYS));
    CU_ASSERT_EQUAL(cache.count, 1);
    cache_line(&cache, NO_LINE - 1, &is_new, &displaced);
    CU_ASSERT(is_new && displaced.line == NO_LINE);
    cache_line(&cache, NO_LINE - 1, &is_new, &displaced);
    CU_ASSERT_FALSE(is_new);
    cache_close(&cache);
}

static CU_TestInfo tests[] = {
    { "the least recently used line is displaced", the_least_recently_used_leaves },
    { "lines spread over all sets", lines_spread_over_all_sets },
    { "other lines displace the oldest", others_displace_the_oldest },
    { "even the smallest cache holds a set", even_the_smallest_holds_a_set },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_cache = { "test_sim_time_cache", NULL, NULL, NULL, NULL, tests };
