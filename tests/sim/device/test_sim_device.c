/* test_sim_device.c - descriptions of devices and errors in them, slices, and occupancy. */
#include "sim/device/device.h"
#include "rows.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char folder[] = "grader/sim/devices";

static const char *const keys[] = {
    "a100", "b200", "h100", "h200", "rtx3060", "rtx4060-laptop", "rtx4090", "t4", "teaching",
};

/* ---- The files ---- */

static void every_file_is_sound(void)
{
    for (size_t i = 0; i < COUNT(keys); i++) {
        Device d;
        char why[400] = "";
        double peak, lanes;
        CU_ASSERT_TRUE_FATAL(device_read(folder, keys[i], &d, why, sizeof why));
        CU_ASSERT_STRING_EQUAL(d.key, keys[i]);
        CU_ASSERT_EQUAL(d.slice, 1);
        CU_ASSERT_EQUAL(d.registers_per_sm, 65536);
        CU_ASSERT_EQUAL(d.shared_reserved_bytes, d.cc >= 80 ? 1024 : 0);
        /* Related figures agree: two transfers per cycle; 64 or 128 multiply-adds per SM. */
        peak = 2 * d.memory_mhz * 1e6 * d.memory_bus_bits / 8 / 1e9;
        CU_ASSERT_DOUBLE_EQUAL(d.memory_gbps / peak, 1, 0.01);
        lanes = d.fp32_tflops * 1e12 / 2 / (d.sm_mhz * 1e6) / d.sms;
        CU_ASSERT_TRUE(fabs(lanes / 64 - 1) < 0.01 || fabs(lanes / 128 - 1) < 0.01);
    }
}

/* Every line except the name has a comment with the source of its figure. */
static void every_figure_has_a_source(void)
{
    for (size_t i = 0; i < COUNT(keys); i++) {
        char path[200], *text;
        PUT(path, "%s/%s.txt", folder, keys[i]);
        text = read_file(path, 1 << 20, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(text);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            if (*line != '#' && strncmp(line, "name:", 5))
                CU_ASSERT_TRUE(strstr(line, "# published") || strstr(line, "# derived") ||
                               strstr(line, "# measured") || strstr(line, "# guide") ||
                               strstr(line, "# chosen") || strstr(line, "# the toolkit") ||
                               strstr(line, "# none before") || strstr(line, "# fitted") ||
                               strstr(line, "# assumed"));
        free(text);
    }
}

static void the_teaching_device(void)
{
    Device d;
    char why[400];

    CU_ASSERT_TRUE_FATAL(device_read(folder, "teaching", &d, why, sizeof why));
    CU_ASSERT_EQUAL(d.sms, 8);
    CU_ASSERT_EQUAL(d.l2_bytes, 1 << 20);
    CU_ASSERT_EQUAL(d.cc, 80);
}

/* ---- Mistakes ---- */

static const char sound[] =
    "name: Test GPU\ncc: 80\nsms: 8\nthreads_per_sm: 2048\n"
    "blocks_per_sm: 32\nthreads_per_block: 1024\nregisters_per_sm: 65536\n"
    "register_unit: 256\nschedulers_per_sm: 4\n"
    "shared_per_sm_bytes: 164 KiB\nshared_per_block_bytes: 49152\n"
    "shared_per_block_optin_bytes: 163KiB\nshared_reserved_bytes: 1 KiB\n"
    "sm_mhz: 1410.5\nfp32_tflops: 1\nl2_bytes: 1 MiB\nmemory_bytes: 4 GB\n"
    "memory_mhz: 1250\nmemory_bus_bits: 256\nmemory_gbps: 80\n"
    "pcie_gbps: 0.25\n"
    "fp32_lanes: 64\n"
    "fp64_lanes: 32\n"
    "fp16_lanes: 128\n"
    "int_lanes: 64\n"
    "convert_lanes: 16\n"
    "sfu_lanes: 16\n"
    "lsu_lanes: 32\n"
    "register_reads: 2\n"
    "alu_latency: 4\n"
    "fp64_latency: 8\n"
    "sfu_latency: 18\n"
    "shuffle_latency: 23\n"
    "branch_latency: 6\nreturn_latency: 53\nreturn_cycles: 8\nindirect_latency: "
    "42\nindirect_cycles: 24\n"
    "guard_latency: 9\nmeeting_cycles: 17\nleaving_cycles: 14\nhidden_latency: "
    "30\n"
    "barrier_latency: 20\n"
    "shared_cycle_bytes: 128\nshared_latency: 29\n"
    "l1_latency: 38\n"
    "l2_latency: 262\n"
    "store_latency: 450\nmemory_latency: 466\nmemory_queue: 300\nmemory_spread: 0\nlink_latency: "
    "1300\n"
    "l1_bytes: 192 KiB\nshared_least_bytes: 0\n"
    "l1_ways: 4\n"
    "l2_ways: 16\n"
    "l1_lines: 1\n"
    "l1_load_bytes: 128\n"
    "l1_fill_bytes: 64\n"
    "l1_store_bytes: 32\nl1_store_pass_bytes: 32\nl1_store_part_cycles: 0\n"
    "lsu_queue: 40\n"
    "memory_atom_bytes: 64\n"
    "block_start_cycles: 100\nmemory_ecc: 1\n"
    "constant_miss_cycles: 31\nbarrier_warp_cycles: 2\nconstant_cycles: 2\nwide_product_latency: "
    "5\nhigh_product_latency: "
    "9\nwide_hold_cycles: 3\nmemory_rows_per_ns: 0\nblocks_per_ns: "
    "0\nl2_halves: "
    "1\nl1_merging_lines: 0\nl2_slices: 0\nl2_spread: 0\nl2_far_latency: 0\n"
    "l2_gbps: 240\nl2_pass_bytes: 32\n"
    "l2_store_gbps: 200\nl2_store_sector_gbps: 200\nl2_store_part_gbps: 200\n"
    "memory_read_share: 0.955\n"
    "memory_write_share: 0.826\n"
    "atomic_ns: 1.8\n"
    "launch_us: 2\nfollow_us: 1\ngraph_follow_us: 0.5\nstart_us: 0.2\nswitch_us: 0.8\n"
    "copy_us: 3\ncross_us: 4\n"
    "pcie_pinned_share: 0.88\n"
    "pcie_both_share: 0.806\n"
    "pcie_pageable_share: 0.141\nlink_request_ns: 1.6\n"
    "first_fault_us: 35\nsplit_fault_us: 60\n"
    "page_fault_us: 45\npage_chunk_us: 7\npage_copy_us: 12\nfresh_fault_us: 30\nfresh_chunk_us: 5\n"
    "prefetch_us: 55\nprefetch_block_us: 4\nprefetch_fresh_us: 5\nprefetch_back_us: 300\n"
    "prefetch_back_gbps: 13\n"
    "integer_atomic_ns: 1.03\n"
    "fp16_latency: 8\n"
    "atomic_pass_ns: 0.73\n"
    "issue_us: 0\nevent_us: 0\nvote_latency: 45\nshared_update_cycles: 50\n"
    "local_latency: 33\nlocal_merge_cycles: 2\n";
/* Each case adds line 119, which should be "copy_engines: 2". */

static char scratch[64];

static bool read_text(const char *text, Device *device, char *why, size_t size)
{
    PUT(scratch, "/tmp/test_sim_device.%d.txt", (int) getpid());
    CU_ASSERT_TRUE_FATAL(write_file(scratch, text, strlen(text)));
    bool fine = device_read("nowhere", scratch, device, why, size);
    unlink(scratch);
    return fine;
}

static void mistakes_are_told(void)
{
    static const struct {
        const char *more, *why; /* after the file name */
    } rows[] = {
        { "copy_engines: 2", "" },
        { "copy_engines: 2 # two\n\n  \n# more\n", "" },
        { "\tcopy_engines:2   \t", "" },
        { "copy_engines: 2\r\n", "" }, /* a file from elsewhere */
        { "", ": copy_engines is missing" },
        { "copy_engines: 2\ncopy_engines: 2", ":121: copy_engines appears twice" },
        { "copy_engines: 2\nsms: 8", ":121: sms appears twice" },
        { "copy_engines: 2\nwheels: 4", ":121: unknown key `wheels`" },
        { "copy_engines 2", ":120: expected `key: value`" },
        { "copy_engines:", ":120: copy_engines must be a whole number, not ``" },
        { "copy_engines: two", ":120: copy_engines must be a whole number, not `two`" },
        { "copy_engines: 2 of them", ":120: copy_engines must be a whole number, not `2 of them`" },
        { "copy_engines: 0x2", ":120: copy_engines must be a whole number, not `0x2`" },
        { "copy_engines: 2.5", ":120: copy_engines must be a whole number, not `2.5`" },
        { "copy_engines: 2 KiB", ":120: copy_engines must be a whole number, not `2 KiB`" },
        { "copy_engines: -1", ":120: copy_engines must be a whole number, not `-1`" },
        { "copy_engines: 1..2", ":120: copy_engines must be a whole number, not `1..2`" },
        { "copy_engines: .", ":120: copy_engines must be a whole number, not `.`" },
        { "copy_engines: 1e1", ":120: copy_engines must be a whole number, not `1e1`" },
        { "copy_engines: nan", ":120: copy_engines must be a whole number, not `nan`" },
        { "copy_engines: 65", ":120: copy_engines is 65: it must be from 0 to 64" },
        { "copy_engines: 99999999999",
          ":120: copy_engines is 99999999999: it must be from 0 to 64" },
        { "copy_engines: 9999999999999999999999",
          ":120: copy_engines must be a whole number, not `9999999999999999999999`" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Device d;
        char text[4000], why[400] = "", want[400];
        PUT(text, "%s%s", sound, rows[i].more);
        CU_ASSERT_EQUAL(read_text(text, &d, why, sizeof why), !*rows[i].why);
        PUT(want, "%s%s", scratch, rows[i].why);
        if (*rows[i].why)
            CU_ASSERT_STRING_EQUAL(why, want);
    }
}

/* Replaces one figure in an otherwise valid file. */
static void figures_that_cannot_be(void)
{
    static const struct {
        const char *from, *to, *why;
    } rows[] = {
        { "name: Test GPU", "name:", ":1: name must have 1 to 63 characters" },
        { "name: Test GPU", "name: \xc3\x9c",
          ":1: name contains a character that is not plain ASCII" },
        { "name: Test GPU",
          "name: 0123456789012345678901234567890123456789012345678901234567890123",
          ":1: name must have 1 to 63 characters" },
        { "cc: 80", "cc: 8.0", ":2: cc is 8.0: it must be from 50 to 129" },
        { "sms: 8", "sms: 0", ":3: sms is 0: it must be from 1 to 4096" },
        { "threads_per_sm: 2048", "threads_per_sm: 2047",
          ": threads_per_sm and threads_per_block must be multiples of 32" },
        { "threads_per_sm: 2048", "threads_per_sm: 512",
          ": threads_per_block exceeds threads_per_sm" },
        { "threads_per_sm: 2048\nblocks_per_sm: 32\nthreads_per_block: 1024\n"
          "registers_per_sm: 65536\nregister_unit: 256\nschedulers_per_sm: 4\n",
          "threads_per_sm: 2080\nblocks_per_sm: 32\nthreads_per_block: 1024\n"
          "registers_per_sm: 65536\nregister_unit: 256\nschedulers_per_sm: 1\n",
          ": threads_per_sm: a scheduler has 64 warps at most" },
        { "link_latency: 1300", "link_latency: 200",
          ": link_latency must not be less than l2_latency" },
        { "shared_per_block_optin_bytes: 163KiB", "shared_per_block_optin_bytes: 164 KiB",
          ": shared_per_block_bytes must not exceed shared_per_block_optin_bytes, which must not "
          "exceed shared_per_sm_bytes minus shared_reserved_bytes" },
        { "l2_bytes: 1 MiB", "l2_bytes: 1 Mib",
          ":16: l2_bytes must be a number of bytes, KiB, MiB, GiB, MB or GB, not `1 Mib`" },
        { "sm_mhz: 1410.5", "sm_mhz: 1410,5", ":14: sm_mhz must be a number, not `1410,5`" },
        { "sm_mhz: 1410.5", "sm_mhz: inf", ":14: sm_mhz must be a number, not `inf`" },
        { "sm_mhz: 1410.5", "sm_mhz: 0", ":14: sm_mhz is 0: it must be from 1 to 100000" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Device d;
        char text[4000], why[400] = "", want[400];
        const char *at = strstr(sound, rows[i].from);
        CU_ASSERT_PTR_NOT_NULL_FATAL(at);
        PUT(text, "%.*s%s%scopy_engines: 2", (int) (at - sound), sound, rows[i].to,
            at + strlen(rows[i].from));
        CU_ASSERT_FALSE(read_text(text, &d, why, sizeof why));
        PUT(want, "%s%s", scratch, rows[i].why);
        CU_ASSERT_STRING_EQUAL(why, want);
    }
}

static void figures_are_read_exactly(void)
{
    Device d;
    char text[4000], why[400];

    PUT(text, "%scopy_engines: 2", sound);
    CU_ASSERT_TRUE_FATAL(read_text(text, &d, why, sizeof why));
    CU_ASSERT_STRING_EQUAL(d.name, "Test GPU");
    CU_ASSERT_EQUAL(d.sm_mhz, 1410.5);
    CU_ASSERT_EQUAL(d.pcie_gbps, 0.25);
    CU_ASSERT_EQUAL(d.shared_per_block_optin_bytes, 163 * 1024);
    CU_ASSERT_EQUAL(d.shared_per_block_bytes, 49152);
    CU_ASSERT_EQUAL(d.memory_bytes, 4e9);
    CU_ASSERT_EQUAL(d.l2_bytes, 1 << 20);
}

static void long_lines_and_bytes_of_zero(void)
{
    Device d;
    char text[4000], why[400];

    memset(text, ' ', 700);
    text[700] = 0;
    CU_ASSERT_FALSE(read_text(text, &d, why, sizeof why));
    CU_ASSERT_PTR_NOT_NULL(strstr(why, ":1: this line is longer than 510 characters"));
    CU_ASSERT_FALSE(read_text("", &d, why, sizeof why));
    CU_ASSERT_PTR_NOT_NULL(strstr(why, ": name is missing"));
    CU_ASSERT_FALSE(read_text(sound, &d, why, 8)); /* a short buffer does not overflow */
    CU_ASSERT_TRUE(strlen(why) < 8);
}

/* Any file is either refused or read, and a description that was read can be used in computations.
 */
static void damaged_files_do_no_harm(void)
{
    uint64_t random = 1;

    for (int round = 0; round < 2000; round++) {
        char text[4000], why[400];
        size_t length = strlen(PUT(text, "%scopy_engines: 2\n", sound));
        Device d;
        for (int n = (int) (next_random(&random) % 4); n >= 0; n--)
            text[next_random(&random) % length] = (char) (next_random(&random) % 255 + 1);
        text[round % 4 ? length : next_random(&random) % length] = 0;
        if (read_text(text, &d, why, sizeof why)) {
            device_slice(&d);
            CU_ASSERT_TRUE(device_occupancy(&d, 32, 256, 1000).share <= 1);
        }
    }
}

static void devices_that_are_not_there(void)
{
    static const struct {
        const char *folder, *key, *why;
    } rows[] = {
        { folder, "a101",
          "there is no device `a101`; there are: a100 b200 h100 h200 rtx3060 rtx4060-laptop "
          "rtx4090 "
          "t4 teaching" },
        { "nowhere", "a100", "there is no device `a100`; no descriptions were found in nowhere" },
        { folder, "", "`` is not a valid device name" },
        { folder, "./none.txt", "./none.txt: No such file or directory" },
        { folder, "/tmp/", "`/tmp/` is not a valid device name" },
        { folder, "12345678901234567890123456789012",
          "`12345678901234567890123456789012` is not a valid device name" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Device d;
        char why[400];
        CU_ASSERT_FALSE(device_read(rows[i].folder, rows[i].key, &d, why, sizeof why));
        CU_ASSERT_STRING_EQUAL(why, rows[i].why);
    }
}

/* ---- Slices ---- */

static void slices(void)
{
    static const struct {
        const char *key;
        int slice, sms;
        double gbps;
    } rows[] = {
        { "teaching", 1, 8, 146 },
        { "t4", 4, 10, 80 },
        { "h200", 11, 12, 4814.0 / 11 },
        { "a100", 9, 12, 1555.0 / 9 },
        { "rtx4060-laptop", 2, 12, 128 },
        { "rtx3060", 3, 9, 360.0 * 9 / 28 },
        { "b200", 13, 11, 7672.0 * 11 / 148 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Device whole, d;
        char why[400];
        CU_ASSERT_TRUE_FATAL(device_read(folder, rows[i].key, &whole, why, sizeof why));
        d = whole;
        device_slice(&d);
        CU_ASSERT_EQUAL(d.slice, rows[i].slice);
        CU_ASSERT_EQUAL(d.sms, rows[i].sms);
        CU_ASSERT_DOUBLE_EQUAL(d.memory_gbps, rows[i].gbps, 1e-6);
        /* The share per SM is unchanged. */
        CU_ASSERT_DOUBLE_EQUAL(d.l2_bytes / d.sms, whole.l2_bytes / whole.sms, 1e-3);
        CU_ASSERT_DOUBLE_EQUAL(d.pcie_gbps / d.sms, whole.pcie_gbps / whole.sms, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(d.fp32_tflops / d.sms, whole.fp32_tflops / whole.sms, 1e-9);
        CU_ASSERT_EQUAL(d.shared_per_sm_bytes, whole.shared_per_sm_bytes);
        CU_ASSERT_EQUAL(d.memory_bytes, whole.memory_bytes);
        device_slice(&d); /* a slice of at most 12 SMs is unchanged */
        CU_ASSERT_EQUAL(d.slice, rows[i].slice);
    }
}

/* ---- Occupancy: edge cases. tests/sim/occupancy_check.cc compares all cases with the toolkit ----
 */

static void occupancies(void)
{
    static const struct {
        const char *key;
        int registers, threads;
        size_t shared;
        int blocks;
        Limiter limiter;
    } rows[] = {
        { "a100", 32, 256, 0, 8, LIMIT_WARPS },
        { "a100", 33, 256, 0, 6, LIMIT_REGISTERS }, /* 33 -> 1280 per warp: 12 per scheduler, 48 */
        { "a100", 32, 32, 0, 32, LIMIT_BLOCKS },
        { "a100", 32, 33, 0, 32, LIMIT_WARPS }, /* 2 warps per block: both limits are 32 */
        { "a100", 255, 256, 0, 1, LIMIT_REGISTERS },
        { "a100", 255, 257, 0, 0, LIMIT_REGISTERS }, /* 9 warps count as 12 */
        { "a100", 32, 256, 48 * 1024, 3, LIMIT_SHARED },
        { "a100", 32, 256, 163 * 1024, 1, LIMIT_SHARED },
        { "a100", 32, 256, 163 * 1024 + 1, 0, LIMIT_SHARED },
        { "a100", 32, 256, SIZE_MAX, 0, LIMIT_SHARED },
        { "a100", 32, 1024, 0, 2, LIMIT_WARPS },
        { "a100", 32, 1025, 0, 0, LIMIT_WARPS },
        { "a100", 257, 32, 0, 0, LIMIT_REGISTERS },
        { "a100", 0, 32, 0, 32, LIMIT_BLOCKS },
        { "a100", 32, 0, 0, 0, LIMIT_NONE },
        { "a100", 32, -1, 0, 0, LIMIT_NONE },
        { "a100", -1, 32, 0, 0, LIMIT_NONE },
        { "a100", 32, 2147483647, 0, 0, LIMIT_WARPS },
        { "a100", 2147483647, 1024, 0, 0, LIMIT_REGISTERS },
        { "t4", 32, 256, 0, 4, LIMIT_WARPS },
        { "t4", 32, 64, 4097, 15, LIMIT_SHARED }, /* 4352 of 65536 */
        { "rtx3060", 40, 256, 0, 6, LIMIT_WARPS },
        { "rtx4090", 16, 32, 0, 24, LIMIT_BLOCKS },
        { "h200", 32, 128, 227 * 1024, 1, LIMIT_SHARED },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Device d;
        char why[400];
        Occupancy o;
        CU_ASSERT_TRUE_FATAL(device_read(folder, rows[i].key, &d, why, sizeof why));
        o = device_occupancy(&d, rows[i].registers, rows[i].threads, rows[i].shared);
        CU_ASSERT_EQUAL(o.blocks_per_sm, rows[i].blocks);
        CU_ASSERT_EQUAL(o.limiter, rows[i].limiter);
        CU_ASSERT_DOUBLE_EQUAL(o.share, (double) o.warps_per_sm * 32 / d.threads_per_sm, 1e-12);
    }
    CU_ASSERT_STRING_EQUAL(limiter_word(LIMIT_SHARED), "shared memory");
    CU_ASSERT_STRING_EQUAL(limiter_word((Limiter) 99), "?");
}

CU_SuiteInfo test_sim_device = {
    "sim_device",
    .pTests =
        (CU_TestInfo[]){
            { "every file is valid", every_file_is_sound },
            { "every figure has a source", every_figure_has_a_source },
            { "the teaching device", the_teaching_device },
            { "mistakes are reported", mistakes_are_told },
            { "impossible figures", figures_that_cannot_be },
            { "figures are read exactly", figures_are_read_exactly },
            { "long lines and zero bytes", long_lines_and_bytes_of_zero },
            { "damaged files do no harm", damaged_files_do_no_harm },
            { "missing devices", devices_that_are_not_there },
            { "slices", slices },
            { "occupancies", occupancies },
            CU_TEST_INFO_NULL,
        },
};
