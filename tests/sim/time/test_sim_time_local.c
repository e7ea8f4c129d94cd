/* test_sim_time_local.c - how long accesses to local memory take. */
#include "sim/sim_time.h"

/* `use`, 20 times, of word `step` * lane of an array in local memory, at %rd9. */
static const char *local_uses(int step, const char *use)
{
    char before[600];

    snprintf(before, sizeof before,
             ".local .align 4 .b8 l[512];\nmov.u64 %%rd9, l;\nmov.u64 %%rd20, %d;\n"
             "cvt.u64.u32 %%rd10, %%r1;\nmul.lo.u64 %%rd10, %%rd10, %%rd20;\n"
             "and.b64 %%rd10, %%rd10, 127;\nadd.u64 %%rd9, %%rd9, %%rd10;\n",
             4 * step);
    return repeat(before, use, 20, "");
}

/* Local memory is interleaved: lanes with the same index share a line, and 32 different indices use
 * 32 lines. The model once charged neither these lines nor local data that does not fit into the
 * L1. */
static void local_memory_has_lines(void)
{
    static const char use[] = "st.local.u32 [%rd9], %r1;\nld.local.u32 %r20, [%rd9];\n"
                              "add.u32 %r0, %r0, %r20;\n";
    const double one = cycles(local_uses(0, use), 32);
    const double many = cycles(local_uses(1, use), 32);

    CU_ASSERT(many - one > 20 * 31); /* 32 lines instead of 1, one per cycle */
}

/* An H200 takes 5 to 10 cycles for a line of which lanes write a part (tests/sim/time/mechanisms,
 * local.update_lanes), where the model took 3: private histograms were modelled at half of their
 * time. Whole sectors cost nothing more, and neither does global memory. */
static void sectors_of_local_memory_are_merged(void)
{
    static const char use[] = "st.local.u32 [%rd9], %r1;\n";
    static const char global[] = "st.global.u32 [%rd2], %r1;\n";
    const Trial parts = { .ptx = local_uses(1, use), .threads = 32 };
    const Trial whole = { .ptx = local_uses(0, use), .threads = 32 };
    const Trial apart = { .ptx = repeat("", global, 20, ""), .threads = 8 };
    Device merges = plain;

    merges.local_merge_cycles = 2;
    const double more = play(&merges, parts).cycles - play(&plain, parts).cycles;
    /* One sector in each of 32 lines; the first and the last store overlap with others. */
    CU_ASSERT(more > 18 * 32 * 2 - plain.lsu_queue);
    CU_ASSERT(more <= 20 * 32 * 2);
    CU_ASSERT_EQUAL(play(&merges, whole).cycles, play(&plain, whole).cycles);
    CU_ASSERT_EQUAL(play(&merges, apart).cycles, play(&plain, apart).cycles);
}

/* On an H200 a chain through a local array takes 5 cycles less than one through global memory in
 * the L1 (latency.local, latency.l1). */
static void local_memory_has_its_own_latency(void)
{
    static const char use[] = "ld.local.u32 %r20, [%rd9];\ncvt.u64.u32 %rd6, %r20;\n"
                              "add.s64 %rd9, %rd9, %rd6;\n";
    const Trial chain = { .ptx = local_uses(0, use), .threads = 32 };
    Device fast = plain;

    fast.local_latency = plain.l1_latency - 5;
    /* the first of the 20 loads misses the L1 */
    CU_ASSERT_EQUAL(play(&plain, chain).cycles - play(&fast, chain).cycles, 19 * 5);
}

static CU_TestInfo tests[] = {
    { "local memory has lines", local_memory_has_lines },
    { "sectors of local memory are merged", sectors_of_local_memory_are_merged },
    { "local memory has its own latency", local_memory_has_its_own_latency },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_local = { "test_sim_time_local", NULL, NULL, NULL, NULL, tests };
