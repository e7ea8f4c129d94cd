/* test_sim_time_updates.c - how an SM sends atomics on global memory to the L2. */
#include <CUnit/CUnit.h>

#include "sim/sim_time.h"
#include "sim/time/model.h"

#include <stdlib.h>

/* ---- Results ---- */

/* A program that updates words in a loop waited for the L2 each time, though nothing needed the old
 * values, and was modelled 2.6 times too slow (tests/sim/blind, planet_craters_each). */
static void results_that_nothing_reads_are_not_waited_for(void)
{
#define TIMES_8(text) text text text text text text text text
#define UPDATES       TIMES_8("atom.global.max.u32 %r11, [%rd2], %r1;\n")
    static const char unread[] = KERNEL(UPDATES);
    static const char read[] = KERNEL(UPDATES "st.global.u32 [%rd2], %r11;\n");
    const double sent = play(&plain, (Trial){ .ptx = unread }).cycles;
    const double answered = play(&plain, (Trial){ .ptx = read }).cycles;

    CU_ASSERT(answered - sent > 7 * plain.l2_latency);
}

/* ---- The SM's path ---- */

/* Of one of 8 updates. The kernel also stores a word per thread: a cycle for each of 4 sectors. */
static double cycles_to_send(const char *ptx)
{
    Device device = plain;
    device.atomic_pass_ns = device.integer_atomic_ns = 0.001;
    const double few = play(&device, (Trial){ .ptx = ptx, .threads = 512, .blocks = 4 }).cycles;
    const double more = play(&device, (Trial){ .ptx = ptx, .threads = 1024, .blocks = 4 }).cycles;

    return ((more - few) / (4 * 512 / 32) - SECTORS) / 8;
}

/* As red_or.sweep and red_u32.sm of tests/sim/time/mechanisms. */
static void lanes_of_a_word_are_sent_one_by_one(void)
{
#define WORDS(last, bytes)                                                                         \
    KERNEL("and.b32 %r10, %r1, " last ";\nmul.wide.u32 %rd5, %r10, " bytes                         \
           ";\nadd.s64 %rd6, %rd1, %rd5;\n" TIMES_8("red.global.or.b32 [%rd6], %r1;\n"))
    static const struct {
        const char *ptx;
        double cycles;
    } rows[] = {
        { WORDS("1", "4"), 32 },   /* 16 rounds with 2 words of a sector */
        { WORDS("3", "4"), 16 },   /* 8 with 4 */
        { WORDS("7", "4"), 8 },    /* 4 with 8 */
        { WORDS("15", "4"), 6 },   /* 2 with 2 sectors */
        { WORDS("31", "4"), 5 },   /* 1 with 4 */
        { WORDS("7", "128"), 32 }, /* of each of 8 lines 4 with one word */
        { WORDS("31", "128"), 32 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_DOUBLE_EQUAL(cycles_to_send(rows[i].ptx), rows[i].cycles, 0.2);
}

/* ---- What an SM sends ahead ---- */

/* How many updates an SM may send before it is held back: of this word, or of one line after the
 * other. */
static int sent_ahead(uint64_t word, bool same)
{
    Sm *sm = calloc(1, sizeof *sm);
    int count = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(sm);
    for (; count < 10000 && !lsu_is_held_back(sm, 0); count++)
        lsu_note_update(sm, word + (same ? 0 : (uint64_t) count << 16), 1000 + (uint64_t) count);
    free(sm);
    return count;
}

static void an_sm_is_held_back_by_a_busy_word(void)
{
    CU_ASSERT_EQUAL(sent_ahead(trace_line(1, 1, 32, 32), true),
                    (UPDATE_GROUPS - 1) * PASSES_A_GROUP / 32);
    CU_ASSERT_EQUAL(sent_ahead(trace_line(1, 1, 1, 1), false), (UPDATE_GROUPS - 1) * LINES_A_GROUP);
}

static CU_TestInfo tests[] = {
    { "results that nothing reads are not waited for",
      results_that_nothing_reads_are_not_waited_for },
    { "lanes of a word are sent one by one", lanes_of_a_word_are_sent_one_by_one },
    { "an SM is held back by a busy word", an_sm_is_held_back_by_a_busy_word },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_updates = { "test_sim_time_updates", NULL, NULL, NULL, NULL, tests };
