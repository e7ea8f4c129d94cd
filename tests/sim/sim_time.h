/* sim_time.h - a device with round figures, and the number of cycles that a kernel takes on it. */
#ifndef SIM_SIM_TIME_H
#define SIM_SIM_TIME_H

#include "sim/sim_launch.h"

/* Round figures, all different, so that a mix-up is noticed. One SM, unless a test changes it. */
static const Device plain = {
    .name = "Plain",
    .cc = 80,
    .sms = 1,
    .threads_per_sm = 2048,
    .blocks_per_sm = 32,
    .registers_per_sm = 65536,
    .threads_per_block = 1024,
    .shared_per_sm_bytes = 65536,
    .shared_per_block_bytes = 49152,
    .shared_per_block_optin_bytes = 49152,
    .register_unit = 256,
    .schedulers_per_sm = 4,
    .sm_mhz = 1000, /* one cycle per nanosecond */
    .memory_gbps = 64,
    .l2_bytes = 1 << 20,
    .fp32_lanes = 128,
    .fp64_lanes = 4,
    .fp16_lanes = 128,
    .int_lanes = 128,
    .convert_lanes = 16,
    .sfu_lanes = 16,
    .lsu_lanes = 32,
    .register_reads = 3,
    .alu_latency = 5,
    .fp64_latency = 9,
    .fp16_latency = 5,
    .sfu_latency = 17,
    .shuffle_latency = 23,
    .branch_latency = 7,
    .barrier_latency = 11,
    .shared_update_cycles = 41,
    .shared_cycle_bytes = 128,
    .constant_cycles = 3,
    .wide_product_latency = 6,
    .high_product_latency = 11,
    .wide_hold_cycles = 3,
    .shared_latency = 31,
    .l1_latency = 41,
    .local_latency = 41,
    .l2_latency = 201,
    .store_latency = 301,
    .memory_latency = 503,
    .link_latency = 1301,
    .l1_bytes = 128 << 10,
    .l1_ways = 4,
    .l2_ways = 16,
    .l1_lines = 1,
    .l1_load_bytes = 128,
    .l1_fill_bytes = 64,
    .l1_store_bytes = 32,
    .l1_store_pass_bytes = 32,
    .l1_store_part_cycles = 1,
    .lsu_queue = 40,
    .memory_atom_bytes = 64,
    .memory_ecc = 1,
    .l2_halves = 1,
    .block_start_cycles = 101,
    .l2_gbps = 32, /* one sector per cycle */
    .l2_pass_bytes = 32,
    .l2_store_gbps = 32,
    .l2_store_sector_gbps = 32,
    .l2_store_part_gbps = 32,
    .memory_read_share = 1,
    .memory_write_share = 1,
    .atomic_ns = 3,
    .integer_atomic_ns = 2,
    .atomic_pass_ns = 1,
    .launch_us = 2,
};

enum { TEXT = 60000, LINE = 128 };

/* A kernel with `one` repeated `count` times. */
static inline const char *repeat(const char *before, const char *one, int count, const char *after)
{
    static char text[4][TEXT];
    static int turn;
    char *at = text[turn = (turn + 1) % 4];
    size_t used = (size_t) snprintf(at, TEXT, "%s%s", HEAD BEGIN, before);

    for (int i = 0; i < count; i++)
        used += (size_t) snprintf(at + used, TEXT - used, "%s", one);
    used += (size_t) snprintf(at + used, TEXT - used, "%s%s", after, END);
    CU_ASSERT_FATAL(used < TEXT);
    return at;
}

/* The time of the kernel on the device without these causes of slowness, and without other work. */
static inline TimingResult play_without(CauseSet causes, const Device *device, Trial trial)
{
    Gpu *gpu = gpu_open_without(device, causes);

    CU_ASSERT_PTR_NOT_NULL_FATAL(gpu);
    trial.gpu = gpu;
    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_TRUE(trial.well);
    trial_close(&trial);
    gpu_close(gpu);
    return trial.time;
}

static inline TimingResult play(const Device *device, Trial trial)
{
    return play_without(0, device, trial);
}

static inline double cycles(const char *ptx, int threads)
{
    return play(&plain, (Trial){ .ptx = ptx, .threads = threads }).cycles;
}

#define DEPENDENT   "fma.rn.f32 %f1, %f1, %f2, %f3;\n"
#define INDEPENDENT "fma.rn.f32 %f1, %f2, %f3, %f4;\nfma.rn.f32 %f5, %f2, %f3, %f4;\n"

#endif
