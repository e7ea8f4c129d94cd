/* test_sim_time_link.c - kernels that use the host's memory over the link. */
#include <CUnit/CUnit.h>

#include "sim/sim_time.h"
#include "sim/time/model.h"

enum { THREADS = 1024, BLOCKS = 16 };

/* 16 SMs of `plain` with a link of 16 GB/s: a line takes (128 + 28) / 16 cycles. */
static Device linked(void)
{
    Device device = plain;

    device.sms = BLOCKS;
    device.pcie_gbps = 16;
    device.pcie_pinned_share = 1;
    return device;
}

/* The time of the kernel with its array in pinned memory, or else in device memory. */
static TimingResult play_array(const char *ptx, bool pinned, int threads, int blocks)
{
    const Device device = linked();
    static uint32_t words[OUT_WORDS] __attribute__((aligned(4096)));
    Trial trial = { .ptx = ptx, .threads = threads, .blocks = blocks };

    trial.gpu = gpu_open(&device);
    CU_ASSERT_TRUE_FATAL(trial_open(&trial));
    if (pinned) {
        trial.array = memory_adopt(words, sizeof words, HOST_PINNED);
        CU_ASSERT_PTR_NOT_NULL_FATAL(trial.array);
        memcpy(trial.params, &trial.array->base, 8);
    }
    trial_launch(&trial);
    CU_ASSERT_TRUE(trial.well);
    gpu_close(trial.gpu);
    trial_close(&trial);
    return trial.time;
}

#define LOAD "ld.global.u32 %r0, [%rd2];\n"

/* All lines are read and written once, each way at the link's rate, at the same time. */
static void lines_of_the_host_pass_over_the_link(void)
{
    const char *copy = KERNEL(LOAD);
    const TimingResult host = play_array(copy, true, THREADS, BLOCKS),
                       device = play_array(copy, false, THREADS, BLOCKS);
    const double a_way = OUT_WORDS * 4 / 128.0 * (128 + 28) / 16;

    CU_ASSERT(host.cycles > a_way);
    CU_ASSERT(host.cycles < 1.8 * a_way);
    CU_ASSERT(device.cycles < 0.9 * host.cycles);
    CU_ASSERT_EQUAL(host.l2_hits + host.l2_misses, 0);
    CU_ASSERT_EQUAL(host.memory_read_bytes + host.memory_write_bytes, 0);
    CU_ASSERT_DOUBLE_EQUAL(host.busy[AT_TRANSFER], a_way, 1); /* 1 cycle per ns */
    CU_ASSERT_EQUAL(device.busy[AT_TRANSFER], 0);
    CU_ASSERT_EQUAL(spent_most(&host.spent), AT_TRANSFER);
    CU_ASSERT_EQUAL(device.spent.at[AT_TRANSFER], 0);
}

static double cycles_of_pinned(const char *ptx)
{
    return play_array(ptx, true, 32, 1).cycles;
}

/* Loads a word; %rd5 is its address again, known only when it has arrived. */
#define SAME                                                                                       \
    "ld.global.u32 %r7, [%rd2];\ncvt.u64.u32 %rd4, %r7;\nand.b64 %rd4, %rd4, 0;\n"                 \
    "add.u64 %rd5, %rd2, %rd4;\n"

/* The L1 keeps a line of the host, the L2 does not. */
static void only_the_l1_keeps_lines_of_the_host(void)
{
    const double once = cycles_of_pinned(KERNEL(LOAD));
    const double twice = cycles_of_pinned(KERNEL(SAME "ld.global.u32 %r0, [%rd5];\n"));
    const double past = cycles_of_pinned(KERNEL(SAME "ld.global.cg.u32 %r0, [%rd5];\n"));

    CU_ASSERT(once > plain.link_latency);
    CU_ASSERT(twice < once + 100);
    CU_ASSERT(past > twice + plain.link_latency - 100);
}

/* An update returns its old value over the link; a store does not wait for the host. */
static void updates_wait_for_the_host(void)
{
    const double stored = cycles_of_pinned(KERNEL(""));
    const double updated = cycles_of_pinned(KERNEL("atom.global.add.u32 %r0, [%rd2], 1;\n"));

    CU_ASSERT(stored < plain.link_latency);
    CU_ASSERT(updated > stored + plain.link_latency - 50);
}

/* Requests of few bytes take a time of their own; bytes that an earlier store takes along do not.
 */
static void requests_take_a_time(void)
{
    Device device = linked();
    Link link;

    device.link_request_ns = 100;
    link_open(&link, &device);
    CU_ASSERT_EQUAL(link_load(&link, 32, 0), 100 + 1301);
    CU_ASSERT_EQUAL(link_load(&link, 32, 0), 200 + 1301);
    const uint64_t requests = (uint64_t) ceil(2 * link.byte_cycles * 28); /* occupy the other way */
    CU_ASSERT_EQUAL(link_store(&link, 32, 0), requests + 100 + 301);
    CU_ASSERT_EQUAL(link_merge(&link, 16, 0), requests + 101 + 301);
    CU_ASSERT_EQUAL(link_update(&link, 2, 0), 400 + 1301);
    link_begin(&link);
    CU_ASSERT_EQUAL(link_load(&link, 32, 0), 100 + 1301);
}

static CU_TestInfo tests[] = {
    { "lines of the host pass over the link", lines_of_the_host_pass_over_the_link },
    { "only the L1 keeps lines of the host", only_the_l1_keeps_lines_of_the_host },
    { "updates wait for the host", updates_wait_for_the_host },
    { "requests take a time", requests_take_a_time },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_link = { "test_sim_time_link", NULL, NULL, NULL, NULL, tests };
