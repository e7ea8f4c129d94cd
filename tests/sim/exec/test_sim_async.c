/* test_sim_async.c - cp.async: when its copies arrive, and their findings. */
#include "sim/sim_world.h"

/* ---- cp.async ---- */

static Step *async_step(Mod mod, int operands)
{
    Step *step = new_step(OP_cp_async, SPACE_GLOBAL, TYPE_NONE, 0);
    Instruction *in = (Instruction *) step->in;

    in->type_count = 0;
    in->count = operands;
    add_mod(step, MOD_async);
    add_mod(step, mod);
    step->b = SOURCE;
    step->copy.address_size = 8;
    if (mod == MOD_wait_group)
        step->a = OPERAND2;
    return bound(step);
}

static void copy_begins(void)
{
    for (int i = 0; i < 1000; i++)
        ((uint32_t *) w.array->host)[i] = 5u * (unsigned) i;
    set_linear(0, ADDRESS, 0, 16);
    set_linear(0, SOURCE, w.array->base, 16);
    for (int i = 0; i < LANES; i++) {
        narrow(0, OPERAND)[i] = 16;
        narrow(0, SIZE)[i] = i % 4 == 3 ? 0 : i % 4 == 2 ? 6 : 16;
    }
}

static void copies_arrive_when_waited_for(void)
{
    new_world(false, true);
    copy_begins();
    memory_range(w.array->base, 4000, true);
    Step *copy = async_step(MOD_cg, 3), *commit = async_step(MOD_commit_group, 0);
    Step *wait = async_step(MOD_wait_group, 1), *read = load(SPACE_SHARED, TYPE_U32, 1);
    run(0, copy, ALL);
    run(0, commit, ALL);
    set_linear(0, ADDRESS, 512, 16);
    run(0, copy, ALL);
    run(0, commit, ALL);
    CU_ASSERT_EQUAL(w.counts[0].requests, 2);
    CU_ASSERT_EQUAL(w.counts[0].sectors, 32);
    CU_ASSERT_EQUAL(w.counts[0].wavefronts, 8);
    narrow(0, OPERAND2)[0] = 1;
    run(0, wait, ALL);
    CU_ASSERT_EQUAL(((uint32_t *) w.shared)[1], 5);
    CU_ASSERT_EQUAL(((uint32_t *) w.shared)[129], 0);
    set_linear(0, ADDRESS, 0, 4);
    run(0, read, ALL);
    CU_ASSERT_EQUAL(finding_count(), 0);
    set_linear(0, ADDRESS, 512, 4);
    run(0, read, ALL);
    CU_ASSERT_EQUAL(finding_count(), 1);
    CU_ASSERT_STRING_EQUAL(told(0),
                           "reads 4 bytes of shared memory at 512, where the cp.async of line 1 "
                           "is still in flight: wait for it first");
    narrow(0, OPERAND2)[0] = 0;
    run(0, wait, ALL);
    CU_ASSERT_EQUAL(((uint32_t *) w.shared)[129], 5);
    end_world();
}

static void copies_fill_with_zeros(void)
{
    static const uint32_t want[4][4] = {
        { 0, 5, 10, 15 }, { 20, 25, 30, 35 }, { 40, 45, 0, 0 }, { 0 }
    };

    new_world(false, false);
    copy_begins();
    memset(w.shared, 0xee, sizeof w.shared);
    wide(0, SOURCE)[3] = 0; /* not read */
    Step *copy = async_step(MOD_ca, 4), *wait = async_step(MOD_wait_all, 0);
    run(0, copy, 0xf);
    CU_ASSERT_EQUAL(w.shared[0], 0xee);
    /* Two full lanes and one partial lane read 48 bytes from two sectors; once, partial lanes were
     * not counted. */
    CU_ASSERT_EQUAL(w.counts[0].requests, 1);
    CU_ASSERT_EQUAL(w.counts[0].sectors, 2);
    run(0, wait, 0xf);
    CU_ASSERT_EQUAL(memcmp(w.shared, want, sizeof want), 0);
    CU_ASSERT_EQUAL(w.shared[64], 0xee);
    CU_ASSERT_EQUAL(finding_count(), 0);
    wide(0, SOURCE)[2] = w.array->base + 3996;
    run(0, copy, 0xf);
    CU_ASSERT_EQUAL(finding_count(), 1);
    end_world();
}

static void copies_race(void)
{
    new_world(true, false);
    copy_begins();
    Step *copy = async_step(MOD_cg, 3), *wait = async_step(MOD_wait_all, 0);
    Step *read = load(SPACE_SHARED, TYPE_U32, 1);
    run(0, copy, ALL);
    run(0, wait, ALL);
    set_linear(1, ADDRESS, 0, 4);
    run(1, read, ALL);
    CU_ASSERT_EQUAL(finding_count(), 1);
    CU_ASSERT_STRING_EQUAL(told(0),
                           "reads 4 bytes of shared memory at 0, which thread (0,0,0) wrote at "
                           "line 1, with no __syncthreads() in between");
    w.block.epoch++;
    run(1, read, ALL);
    CU_ASSERT_EQUAL(finding_at(0)->count, 1);
    end_world();
}

static void copies_fault_where_they_are_issued(void)
{
    new_world(false, false);
    copy_begins();
    Step *copy = async_step(MOD_cg, 3);
    wide(0, SOURCE)[7] = w.array->base + 4000;
    run(0, copy, ALL);
    CU_ASSERT_STRING_EQUAL(told(0),
                           "reads 16 bytes at 0x700000000fa0, the 16 bytes after allocation 1 "
                           "(4000 bytes, cudaMalloc)");
    end_world();
    new_world(false, false);
    copy_begins();
    copy = async_step(MOD_cg, 3);
    wide(0, ADDRESS)[7] = 12;
    run(0, copy, ALL);
    CU_ASSERT_STRING_EQUAL(told(0),
                           "writes 16 bytes of shared memory at 12, which is not a multiple of 16");
    end_world();
}

static CU_TestInfo tests[] = {
    { "copies arrive when waited for", copies_arrive_when_waited_for },
    { "copies fill with zeros", copies_fill_with_zeros },
    { "copies race", copies_race },
    { "copies fault where they are issued", copies_fault_where_they_are_issued },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_async = { "test_sim_async", NULL, NULL, NULL, NULL, tests };
