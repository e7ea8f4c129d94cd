/* test_sim_time_memory.c - the L2 and the DRAM of the timing model, without SMs. */
#include <CUnit/CUnit.h>

#include "sim/sim_time.h"
#include "sim/time/model.h"

/* When the last of `count` atomics of one warp each has returned, all queued at cycle 0. */
static uint64_t last_update(const Device *device, int count)
{
    const uint64_t word = trace_line(1, 1, 1, 1);
    uint64_t last = 0;
    Memory memory;

    CU_ASSERT_TRUE_FATAL(memory_model_open(&memory, device, false));
    memory_model_begin(&memory);
    for (int i = 0; i < count; i++)
        last = later(last, memory_atomic(&memory, TRACE_INTEGER_ATOMIC, word, 0));
    memory_model_close(&memory);
    return last;
}

/* The end of each update was once rounded up to a whole cycle. Where updates take 2.04 cycles, as
 * those of an H200 were said to, a counter in global memory was modelled 1.9 times too slow. */
static void updates_take_parts_of_cycles(void)
{
    Device device = plain;

    device.integer_atomic_ns = 2.25;
    CU_ASSERT_EQUAL(last_update(&device, 1001) - last_update(&device, 1), 2250);
}

static CU_TestInfo tests[] = {
    { "updates take parts of cycles", updates_take_parts_of_cycles },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_memory = { "test_sim_time_memory", NULL, NULL, NULL, NULL, tests };
