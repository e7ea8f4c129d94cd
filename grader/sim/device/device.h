/* device.h - the description of a GPU: a small text file of published figures, each with its
 * source. */
#ifndef SIM_DEVICE_DEVICE_H
#define SIM_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Device {
    char name[64]; /* "Teaching GPU" */
    char key[32];  /* the file name without its extension: "teaching" */
    int cc;        /* 80: compute capability 8.0 */
    int sms;
    int threads_per_sm, blocks_per_sm, registers_per_sm, threads_per_block;
    int shared_per_sm_bytes, shared_per_block_bytes, shared_per_block_optin_bytes;
    int shared_reserved_bytes; /* per block: 1024 from cc 8.0 on, else 0 */
    int register_unit;         /* registers are allocated to a warp in multiples of this: 256 */
    int schedulers_per_sm;     /* 4 */
    int copy_engines;
    double sm_mhz, memory_mhz;
    int memory_bus_bits;
    double memory_gbps, pcie_gbps, fp32_tflops;
    double l2_bytes, memory_bytes;
    /* For the time model (timing.h); docs/simulator-time.md explains each figure. Lanes and lines
     * are per SM and cycle; latencies are in SM cycles. */
    int fp32_lanes, fp64_lanes, fp16_lanes, int_lanes, convert_lanes, sfu_lanes, lsu_lanes;
    int register_reads, shared_cycle_bytes;
    int alu_latency, fp64_latency, fp16_latency, sfu_latency, shuffle_latency, branch_latency,
        barrier_latency, barrier_warp_cycles, vote_latency, shared_update_cycles, constant_cycles,
        constant_miss_cycles, wide_product_latency, high_product_latency, wide_hold_cycles;
    int return_latency, return_cycles, indirect_latency, indirect_cycles;
    int shared_latency, l1_latency, local_latency, l2_latency, store_latency, memory_latency,
        memory_queue, memory_spread, link_latency;
    int l1_bytes, shared_least_bytes, l1_ways, l2_ways;
    int l1_lines, l1_load_bytes, l1_fill_bytes, l1_store_bytes, local_merge_cycles;
    int lsu_queue, memory_atom_bytes, memory_ecc, block_start_cycles, l2_halves, l2_slices,
        l1_merging_lines, l2_spread, l2_far_latency, l2_pass_bytes, guard_latency, meeting_cycles,
        leaving_cycles, hidden_latency, l1_store_pass_bytes, l1_store_part_cycles;
    double l2_gbps, l2_store_gbps, l2_store_sector_gbps, l2_store_part_gbps, memory_read_share,
        memory_write_share, atomic_ns, integer_atomic_ns, launch_us;
    double atomic_pass_ns, issue_us, event_us, memory_rows_per_ns, blocks_per_ns;
    double follow_us, graph_follow_us, start_us, switch_us;
    double copy_us, cross_us, pcie_pinned_share, pcie_both_share, pcie_pageable_share,
        link_request_ns;
    double first_fault_us, split_fault_us, page_fault_us, page_chunk_us, page_copy_us,
        fresh_fault_us, fresh_chunk_us;
    double prefetch_us, prefetch_block_us, prefetch_fresh_us, prefetch_back_us, prefetch_back_gbps;
    int slice; /* n: SMs, L2 and bandwidths are those of the whole GPU divided by n */
} Device;

/* Reads devices/KEY.txt (or the path, if `key` contains a slash). On failure, returns false and
 * sets `why` to the file, line and error. Every key must appear once; unknown keys are errors. */
bool device_read(const char *folder, const char *key, Device *device, char *why, size_t size);

/* Divides SMs, L2, memory and link bandwidth by the smallest number that leaves at most 12 SMs.
 * Per-SM figures stay. */
void device_slice(Device *device);

/* The resource that limits the number of blocks on an SM. */
typedef enum Limiter {
    LIMIT_WARPS,
    LIMIT_BLOCKS,
    LIMIT_REGISTERS,
    LIMIT_SHARED,
    LIMIT_NONE
} Limiter;

typedef struct Occupancy {
    int blocks_per_sm, warps_per_sm;
    double share; /* share of the SM's warps */
    Limiter limiter;
    /* How the result came about. */
    long limits[LIMIT_NONE]; /* blocks that each limit alone allows; LONG_MAX: any number */
    long warp_registers;     /* allocated to a warp: whole units */
    long register_warps;     /* warps for which the registers suffice; 0: not even one block */
    long shared_unit,
        block_shared_bytes; /* allocated to a block: whole units, including the reserved bytes */
} Occupancy;

/* Computes what cudaOccupancyMaxActiveBlocksPerMultiprocessor does. 0 blocks: not even one fits. */
Occupancy device_occupancy(const Device *device, int registers_per_thread, int threads_per_block,
                           size_t shared_bytes);
const char *limiter_word(Limiter limiter);

#endif
