/* test_sim_time.c - how long a launch takes: tiny kernels whose cycles are computed by hand.
 *
 * Most tests compare two launches that differ in one respect, so that everything else cancels out.
 */
#include "sim/sim_time.h"

/* ---- Divisions ---- */

/* The cycles of a division of this number by 1. */
static double cycles_of_division(const char *number)
{
    char before[200];
    double took[2];

    snprintf(before, sizeof before, "mov.f32 %%f1, %s;\nmov.f32 %%f2, 0f3F800000;\n", number);
    for (int i = 0; i < 2; i++)
        took[i] = cycles(repeat(before, "div.rn.f32 %f1, %f1, %f2;\n", i ? 40 : 20, ""), 32);
    return (took[1] - took[0]) / 20;
}

/* Columns of voxels were modelled twice too fast, since some of their divisions have the numerator
 * 0 (tests/sim/blind, fuse_columns). */
static void divisions_of_0_take_the_long_way(void)
{
    CU_ASSERT_EQUAL(cycles_of_division("0f00000000"), 65 * plain.alu_latency);
    CU_ASSERT(cycles_of_division("0f3F800000") < 30 * plain.alu_latency);
}

/* The call of a subroutine waits for loads in flight, whatever needs them. */
static void the_long_way_waits_for_loads(void)
{
    static const char *const numbers[] = { "0f3F800000", "0f00000000" };
    double took[2][2];

    for (int i = 0; i < 2; i++)
        for (int loads = 0; loads < 2; loads++) {
            char before[300];
            snprintf(before, sizeof before, "mov.f32 %%f1, %s;\nmov.f32 %%f2, 0f3F800000;\n%s",
                     numbers[i], loads ? "ld.global.u32 %r13, [%rd1+256];\n" : "");
            took[i][loads] = cycles(repeat(before, "div.rn.f32 %f1, %f1, %f2;\n", 20, ""), 32);
        }
    CU_ASSERT(took[0][1] - took[0][0] < 20);
    CU_ASSERT(took[1][1] - took[1][0] > plain.memory_latency / 2);
}

/* ---- Shared memory ---- */

#define SHARED_AT(scale)                                                                           \
    ".shared .align 4 .b8 s[8192];\nmov.u32 %r10, s;\n"                                            \
    "mul.lo.u32 %r11, %r1, " scale ";\nadd.u32 %r12, %r10, %r11;\n"

/* The same for a port that takes an access per cycle. */
static double cycles_by_wide_port(const char *ptx)
{
    Device device = plain;

    device.lsu_lanes = LANES * plain.schedulers_per_sm;
    return play(&device, (Trial){ .ptx = ptx, .threads = LANES }).cycles;
}

/* ptxas leaves 4 cycles between two accesses of a warp, on sm_75 to sm_120. */
static void accesses_of_a_warp_are_four_cycles_apart(void)
{
    static const char store[] = "st.shared.u32 [%r12], %r1;\n";
    double more[2];

    for (int i = 0; i < 2; i++) {
        const char *ptx = repeat(SHARED_AT("4"), store, i ? 50 : 20, "");
        more[i] = cycles(ptx, LANES);
        more[i] -= cycles_by_wide_port(ptx);
    }
    CU_ASSERT_EQUAL(more[1] - more[0], 30 * 3);
}

static void conflicts_cost_wavefronts(void)
{
    static const char load[] = "ld.shared.u32 %r13, [%r12];\n";
    const double straight = cycles_by_wide_port(repeat(SHARED_AT("4"), load, 20, ""));
    const double conflicts = cycles_by_wide_port(repeat(SHARED_AT("128"), load, 20, ""));

    /* All 20 loads write the same register, so each waits for the previous one. */
    CU_ASSERT_EQUAL(conflicts - straight, 20 * 31);
}

/* Lanes l and l + `apart` load one constant. */
static double loads_of_constants(const char *apart)
{
    static char text[TEXT];
    size_t used = (size_t) snprintf(
        text, sizeof text, "%s%s%s",
        HEAD ".const .align 4 .b8 c[256];\n" BEGIN "mov.u64 %rd5, c;\nrem.u32 %r7, %r1, ", apart,
        ";\nmul.wide.u32 %rd6, %r7, 4;\nadd.s64 %rd7, %rd5, %rd6;\n");

    for (int i = 0; i < 20; i++)
        used += (size_t) snprintf(text + used, sizeof text - used, "%s",
                                  "ld.const.u32 %r13, [%rd7];\n");
    snprintf(text + used, sizeof text - used, "%s", "add.s32 %r14, %r13, 1;\n" END);
    return cycles_by_wide_port(text);
}

/* A table of a CRC in constant memory was modelled 4.7 times too fast: its 32 lanes look up
 * 30 of 256 constants on average (tests/sim/blind, crc_constant). */
static void each_address_of_a_constant_takes_its_turn(void)
{
    CU_ASSERT_EQUAL(loads_of_constants("8") - loads_of_constants("1"),
                    20 * 7 * plain.constant_cycles);
}

/* The cycles of two passes over a table, 64 bytes at a time. */
static double passes_over_constants(int pieces, int miss_cycles)
{
    static char text[TEXT];
    Device device = plain;
    size_t used = (size_t) snprintf(
        text, sizeof text, "%s", HEAD ".const .align 64 .b8 c[4096];\n" BEGIN "mov.u64 %rd7, c;\n");

    for (int i = 0; i < 2 * pieces; i++)
        used += (size_t) snprintf(text + used, sizeof text - used,
                                  "ld.const.u32 %%r13, [%%rd7+%d];\n", i % pieces * 64);
    snprintf(text + used, sizeof text - used, "%s", "add.s32 %r14, %r13, 1;\n" END);
    device.constant_miss_cycles = miss_cycles;
    return play(&device, (Trial){ .ptx = text, .threads = 32 }).cycles;
}

/* A warp reads a table of 2 KiB again from the cache of constants, but not a larger one. All
 * constants were taken to be in it: feistel_constant (blind set) was 3.4 times too fast. */
static void large_tables_of_constants_come_from_the_next_cache(void)
{
    static const struct {
        int pieces, misses;
    } rows[] = { { 8, 8 }, { 32, 32 }, { 33, 66 }, { 60, 120 } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double more =
            passes_over_constants(rows[i].pieces, 500) - passes_over_constants(rows[i].pieces, 300);
        CU_ASSERT_EQUAL(more, 200 * rows[i].misses);
    }
}

/* One wavefront per cycle, or half a wavefront, as on Turing. */
static void shared_memory_is_as_wide_as_described(void)
{
    static const char loads[] = "ld.shared.u32 %r13, [%r12];\nld.shared.u32 %r14, [%r12];\n"
                                "ld.shared.u32 %r15, [%r12];\nld.shared.u32 %r16, [%r12];\n";

    for (int bytes = 128; bytes >= 64; bytes /= 2) {
        Trial few = { .threads = 1024 }, more = few;
        Device device = plain;
        device.shared_cycle_bytes = bytes;
        few.ptx = repeat(SHARED_AT("4"), loads, 10, "");
        more.ptx = repeat(SHARED_AT("4"), loads, 30, "");
        CU_ASSERT_DOUBLE_EQUAL((play(&device, more).cycles - play(&device, few).cycles) / (32 * 80),
                               128.0 / bytes, 0.02);
    }
}

/* ---- Caches and memory ---- */

/* The cycles that 20 loads of 16 bytes from the L1 take, each after the last one. Lanes n and
 * n + 8 load the same; neighbours' addresses are `apart` bytes apart. */
static double gathers(const char *apart)
{
    static const char load[] = "ld.global.v4.u32 {%r13, %r14, %r15, %r16}, [%rd6];\n";
    char body[TEXT / 4];

    snprintf(body, sizeof body,
             "rem.u32 %%r10, %%r1, 8;\nmul.lo.u32 %%r10, %%r10, %s;\ncvt.u64.u32 %%rd5, %%r10;\n"
             "add.s64 %%rd6, %%rd1, %%rd5;\n",
             apart);
    return cycles(repeat(body, load, 30, ""), 32) - cycles(repeat(body, load, 10, ""), 32);
}

/* Rows of matrices of 64 bytes were modelled 0.69 times as slow in the L1 as in shared memory; an
 * H200 takes as long (lab 02, skinning.cu). Each phase of 8 lanes has 4 words in a bank. The
 * busiest bank of all 32 lanes has no more than these 4. */
static void gathers_wait_for_banks_of_the_l1(void)
{
    const double wavefronts = 4 * 4, each = 2.25; /* cycles: of one scheduler's queue alone */

    CU_ASSERT_EQUAL(gathers("64") - gathers("16"), 20 * (wavefronts * each - 4 * 1));
}

/* A load and an instruction that uses its value. */
#define LOAD "ld.global.u32 %r20, [%rd1];\nadd.u32 %r0, %r20, 1;\n"

static void a_load_comes_from_where_the_data_is(void)
{
    Gpu *gpu = gpu_open(&plain);
    double took[3];

    CU_ASSERT_PTR_NOT_NULL_FATAL(gpu);
    for (int i = 0; i < 2; i++) { /* first from memory, then from the L2 */
        Trial trial = { .ptx = KERNEL(LOAD), .gpu = gpu };
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        took[i] = trial.time.cycles;
        CU_ASSERT_EQUAL(trial.time.l2_misses, i == 0);
        CU_ASSERT_EQUAL(trial.time.l2_hits, i == 1);
        trial_close(&trial);
    }
    Trial twice = { .ptx = KERNEL(LOAD "ld.global.u32 %r21, [%rd1];\nadd.u32 %r0, %r21, %r0;\n"
                                       "add.u32 %r0, %r0, 1;\n"),
                    .gpu = gpu };
    CU_ASSERT_TRUE_FATAL(trial_run(&twice));
    took[2] = twice.time.cycles;
    CU_ASSERT_EQUAL(twice.time.l1_hits, 1);
    trial_close(&twice);
    gpu_close(gpu);
    /* An atom of 64 bytes takes one cycle at 64 GB/s. */
    CU_ASSERT_EQUAL(took[0] - took[1], plain.memory_latency - plain.l2_latency + 1);
    /* Both loads are in flight together, and the second waits for the line of the first. */
    CU_ASSERT(took[2] - took[1] < plain.l1_latency);
}

/* Eight lines, loaded twice, do not fit into the L1 that the minimum of shared memory leaves. */
static void shared_memory_takes_its_part_of_the_l1(void)
{
    Device device = plain;
    char body[1000] = "";

    for (int i = 0; i < 16; i++)
        sprintf(body + strlen(body), "ld.global.u32 %%r20, [%%rd2+%d];\n", 4096 * (i % 8));
    const Trial trial = { .ptx = repeat(body, "", 0, ""), .threads = 32 };
    CU_ASSERT_EQUAL(play(&device, trial).l1_hits, 8 * 4); /* sectors */
    device.shared_least_bytes = device.l1_bytes - 4 * 128;
    CU_ASSERT_EQUAL(play(&device, trial).l1_hits, 0);
}

static void chased_loads_wait_for_each_other(void)
{
    /* The loaded value is 0, so the address does not change. */
    static const char chase[] = "ld.global.u32 %r20, [%rd5];\ncvt.u64.u32 %rd6, %r20;\n"
                                "add.s64 %rd5, %rd5, %rd6;\n";
    const double few = cycles(repeat("mov.u64 %rd5, %rd1;\n", chase, 10, ""), 32);
    const double more = cycles(repeat("mov.u64 %rd5, %rd1;\n", chase, 30, ""), 32);

    /* A load from the L1 and a 64-bit addition, which is two instructions. */
    CU_ASSERT_EQUAL(more - few, 20 * (plain.l1_latency + plain.alu_latency + 1));
}

static void loads_are_moved_up(void)
{
    char body[2000] = "";

    for (int i = 0; i < 8; i++)
        sprintf(body + strlen(body),
                "ld.global.u32 %%r%d, [%%rd2+%d];\nadd.u32 %%r0, %%r0, %%r%d;\n", 20 + i, 4096 * i,
                20 + i);
    const double eight = cycles(repeat(body, "", 0, ""), 32),
                 one = cycles(KERNEL("ld.global.u32 %r20, [%rd2];\n"
                                     "add.u32 %r0, %r0, %r20;\n"),
                              32);
    CU_ASSERT(eight - one < 100);
}

static void loads_stay_behind_stores(void)
{
    const double two = cycles(KERNEL("ld.global.u32 %r20, [%rd2];\nadd.u32 %r0, %r0, %r20;\n"
                                     "st.global.u32 [%rd2+4096], %r0;\n"
                                     "ld.global.u32 %r21, [%rd2+8192];\nadd.u32 %r0, %r0, %r21;\n"),
                              32);
    const double one = cycles(KERNEL("ld.global.u32 %r20, [%rd2];\nadd.u32 %r0, %r0, %r20;\n"), 32);

    CU_ASSERT(two - one > plain.memory_latency);
}

static void memory_has_a_bandwidth(void)
{
    /* 128 warps read each byte of 64 KiB once, and write it. */
    const TimingResult result = play(&plain, (Trial){ .ptx = KERNEL("ld.global.u32 %r20, [%rd2];\n"
                                                                    "add.u32 %r0, %r20, 1;\n"),
                                                      .threads = 256,
                                                      .blocks = 64,
                                                      .blocks_an_sm = 8 });
    CU_ASSERT_EQUAL(result.memory_read_bytes, 65536);
    CU_ASSERT(result.cycles > 65536 / 64.0);
    CU_ASSERT_EQUAL(result.ms, plain.launch_us / 1e3 + result.cycles / 1e6);
}

/* A stride of 128 bytes reads one atom of each line. */
static void memory_moves_whole_atoms(void)
{
    const TimingResult result = play(
        &plain, (Trial){ .ptx = KERNEL("mul.wide.u32 %rd5, %r6, 128;\nadd.s64 %rd6, %rd1, %rd5;\n"
                                       "ld.global.u32 %r20, [%rd6];\nadd.u32 %r0, %r20, 1;\n"),
                         .threads = 64 });

    CU_ASSERT_EQUAL(result.memory_read_bytes, 64 * 64);
}

/* 64 threads each write one word of a different line, more lines than the L2 holds. With error
 * correction, partly written atoms are read first. */
static void parts_are_filled_if_there_is_error_correction(void)
{
    for (int ecc = 0; ecc < 2; ecc++) {
        Device small = plain;
        small.memory_ecc = ecc;
        small.l2_bytes = 16 * LINE;
        small.l2_ways = 16;
        const TimingResult result =
            play(&small, (Trial){ .ptx = KERNEL("mul.wide.u32 %rd5, %r6, 128;\n"
                                                "add.s64 %rd2, %rd1, %rd5;\n"),
                                  .threads = 64 });
        /* All lines but the 16 that are still in the L2. */
        CU_ASSERT_EQUAL(result.memory_write_bytes, (64 - 16) * 64);
        CU_ASSERT_EQUAL(result.memory_read_bytes, ecc * (64 - 16) * 64);
    }
}

static void atomics_at_one_address_wait_for_each_other(void)
{
    /* Lanes add different numbers, so that nothing combines them. */
    static const char ptx[] = KERNEL("and.b32 %r10, %r1, 0;\nmul.wide.u32 %rd5, %r10, 4;\n"
                                     "add.s64 %rd6, %rd1, %rd5;\n"
                                     "red.global.add.f32 [%rd6], %f1;\n");
    const double few = play(&plain, (Trial){ .ptx = ptx, .threads = 128, .blocks = 4 }).cycles;
    const double more = play(&plain, (Trial){ .ptx = ptx, .threads = 1024, .blocks = 4 }).cycles;

    CU_ASSERT(few > 4 * 128 * plain.atomic_ns);
    CU_ASSERT_DOUBLE_EQUAL((more - few) / (4 * 896 * plain.atomic_ns), 1, 0.05);
}

/* ptxas adds up what the lanes of a warp add only if all are active and each needs its result. A
 * kernel that reserved room for most rows of a table was modelled 17 times too fast
 * (tests/sim/blind, expand_rows). */
static void lanes_of_a_full_warp_reserve_together(void)
{
#define RESERVE(guard)                                                                             \
    KERNEL("and.b32 %r10, %r1, 31;\nsetp.lt.u32 %p1, %r10, 31;\n" guard                            \
           "atom.global.add.u32 %r11, [%rd1], %r1;\nst.global.u32 [%rd1+64], %r11;\n")
    enum { BLOCKS = 16 };
    Trial trial = { .ptx = RESERVE(""), .threads = 1024, .blocks = BLOCKS };
    const double all = play(&plain, trial).cycles;
    trial.ptx = RESERVE("@%p1 ");
    const double most = play(&plain, trial).cycles;
    /* A warp updates the word once and then 30 times more, a pass each. */
    const double least_ns = BLOCKS * 32 * (plain.integer_atomic_ns + 30 * plain.atomic_pass_ns);

    CU_ASSERT(most >= least_ns * plain.sm_mhz / 1e3);
    CU_ASSERT(all < least_ns * plain.sm_mhz / 1e3);
}

/* Once, updates of different addresses of a line cost nothing, and a histogram in global memory was
 * modelled 3.4 times too fast. A line with one update per word takes a pass over each sector.
 * Passes are slow here: those of plain cost less than the path to the L2, which would be measured
 * instead. */
static double ns_per_sector(const char *ptx)
{
    Device device = plain;
    device.atomic_pass_ns = 20;
    const double few = play(&device, (Trial){ .ptx = ptx, .threads = 128, .blocks = 4 }).cycles;
    const double more = play(&device, (Trial){ .ptx = ptx, .threads = 1024, .blocks = 4 }).cycles;

    return (more - few) / (4 * (1024 - 128) / 32 * SECTORS);
}

#define LINE_OF(update)                                                                            \
    KERNEL(                                                                                        \
        "and.b32 %r10, %r1, 31;\nmul.wide.u32 %rd5, %r10, 4;\nadd.s64 %rd6, %rd1, %rd5;\n" update)

static void atomics_take_a_pass_per_sector(void)
{
    CU_ASSERT_DOUBLE_EQUAL(ns_per_sector(LINE_OF("red.global.add.u32 [%rd6], %r1;\n")), 20, 1);
}

/* Compare-and-swap was once as fast as an addition. */
static void swaps_of_a_sector_take_longer(void)
{
    CU_ASSERT_DOUBLE_EQUAL(ns_per_sector(LINE_OF("atom.global.cas.b32 %r11, [%rd6], %r1, %r2;\n")),
                           20 * 5 / 3.0, 2);
}

/* ---- Clocks ---- */

/* clock64() once counted warp instructions with modelled time, too. The kernel takes 500 further
 * steps unless 490 to 549 cycles are between the two clocks: the last of 100 multiply-adds is
 * issued 99 * 5 cycles after the first, and the second clock one cycle later. */
static void clocks_count_cycles(void)
{
    static const char check[] = "mov.u64 %rd11, %clock64;\nsub.s64 %rd12, %rd11, %rd10;\n"
                                "sub.s64 %rd12, %rd12, 490;\nsetp.lt.u64 %p1, %rd12, 60;\n"
                                "@%p1 bra right;\n";
    char body[40000] = "mov.u64 %rd10, %clock64;\n";

    for (int i = 0; i < 100; i++)
        strcat(body, DEPENDENT);
    strcat(body, check);
    for (int i = 0; i < 500; i++)
        strcat(body, DEPENDENT);
    strcat(body, "right:\n");
    CU_ASSERT(cycles(repeat(body, "", 0, ""), 32) < 100 * plain.alu_latency + 500);
}

/* The clock once counted a barrier as if its block had one warp: 17 cycles for 32 warps, for which
 * an H200 needs 77 (tests/sim/time/mechanisms, barrier.32). The kernel takes 500 further steps
 * unless 10 barriers take 10 * (11 + 2 * 8) cycles, or up to 5 more each. */
static void clocks_count_the_warps_at_barriers(void)
{
    static const char check[] = "mov.u64 %rd11, %clock64;\nsub.s64 %rd12, %rd11, %rd10;\n"
                                "sub.s64 %rd12, %rd12, 270;\nsetp.lt.u64 %p1, %rd12, 50;\n"
                                "@%p1 bra right;\n";
    char body[40000] = "mov.u64 %rd10, %clock64;\n";
    Device device = plain;

    device.barrier_warp_cycles = 2;
    for (int i = 0; i < 10; i++)
        strcat(body, "bar.sync 0;\n");
    strcat(body, check);
    for (int i = 0; i < 500; i++)
        strcat(body, DEPENDENT);
    strcat(body, "right:\n");
    CU_ASSERT(
        play(&device, (Trial){ .ptx = repeat(body, "", 0, ""), .threads = 8 * LANES }).cycles <
        500 * plain.alu_latency);
}

/* ---- Blocks ---- */

static void blocks_come_in_waves(void)
{
    Device two = plain;
    const char *chain = repeat("", DEPENDENT, 400, "");
    double took[10];

    two.sms = 2;
    for (int blocks = 1; blocks < 10; blocks++)
        took[blocks] =
            play(&two, (Trial){ .ptx = chain, .blocks = blocks, .blocks_an_sm = 2 }).cycles;
    /* Four blocks fit at a time: the 5th and the 9th begin a wave; one more block in between costs
     * little. */
    for (int blocks = 2; blocks < 10; blocks++)
        if (blocks == 5 || blocks == 9)
            CU_ASSERT(took[blocks] - took[blocks - 1] > 400 * plain.alu_latency)
        else
            CU_ASSERT(took[blocks] - took[blocks - 1] < 100)
}

static void an_empty_grid_place_goes_to_the_first_sm_that_has_room(void)
{
    Device two = plain;
    /* Block 0 works long and the other blocks do not, so the second SM takes all of these. */
    const char *ptx =
        repeat("setp.ne.u32 %p1, %r4, 0;\n@%p1 bra done;\n", DEPENDENT, 800, "done:\n");

    two.sms = 2;
    const double four = play(&two, (Trial){ .ptx = ptx, .blocks = 4 }).cycles;
    const double one = play(&two, (Trial){ .ptx = ptx, .blocks = 1 }).cycles;
    CU_ASSERT_DOUBLE_EQUAL(four, one, 20);
}

/* ---- Samples ---- */

static void waves_are_left_out_of_large_launches(void)
{
    const char *chain = repeat("", INDEPENDENT, 100, "mov.u64 %rd2, %rd1;\n");
    Trial trial = {
        .ptx = chain, .threads = 64, .blocks = 203, .blocks_an_sm = 4, .most_played = 10000
    };
    const TimingResult some = play(&plain, trial);

    trial.most_played = 0;
    const TimingResult all = play(&plain, trial);
    CU_ASSERT(some.timed < some.blocks);
    CU_ASSERT_EQUAL(some.blocks, 203);
    CU_ASSERT_EQUAL((some.blocks - some.timed) % 4, 0);
    CU_ASSERT_EQUAL(all.timed, all.blocks);
    CU_ASSERT_DOUBLE_EQUAL(some.cycles / all.cycles, 1, 0.01);
}

/* ---- Repeated runs, and runs without a model ---- */

static void the_same_each_time(void)
{
    Device four = plain;
    Trial trial = { .ptx = KERNEL("mul.wide.u32 %rd5, %r6, 36;\nand.b64 %rd5, %rd5, 65532;\n"
                                  "add.s64 %rd6, %rd1, %rd5;\n"
                                  "ld.global.u32 %r20, [%rd6];\nadd.u32 %r0, %r20, 1;\n"),
                    .threads = 128,
                    .blocks = 100,
                    .blocks_an_sm = 3 };

    four.sms = 4;
    const TimingResult first = play(&four, trial), second = play(&four, trial);
    CU_ASSERT_EQUAL(first.cycles, second.cycles);
    CU_ASSERT_EQUAL(first.instructions, second.instructions);
    CU_ASSERT_EQUAL(first.l2_hits, second.l2_hits);
    CU_ASSERT_EQUAL(first.memory_write_bytes, second.memory_write_bytes);
}

static void no_trace_is_kept_unless_wanted(void)
{
    Trial trial = { .ptx = KERNEL(LOAD) };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_TRUE(trial.well);
    CU_ASSERT_EQUAL(trial.time.blocks, 0);
    CU_ASSERT_PTR_NULL(trial.launch.timed);
    trial_close(&trial);
}

/* Some warps wait at their own barriers: the model does not hang. */
/* A slice has proportionally fewer SMs and shared resources, so the time per block is the same. */
static void a_slice_takes_as_long_for_its_share(void)
{
    Device whole = plain, slice;

    whole.sms = 48;
    whole.memory_gbps *= 48;
    whole.l2_gbps *= 48;
    whole.l2_store_gbps *= 48;
    whole.l2_bytes *= 48;
    slice = whole;
    device_slice(&slice);
    CU_ASSERT_EQUAL(slice.sms, 12);
    Trial trial = { .ptx = KERNEL("ld.global.u32 %r20, [%rd2];\nadd.u32 %r0, %r20, 1;\n"),
                    .threads = 64,
                    .blocks_an_sm = 2 };
    trial.blocks = 48 * 5;
    const double of_whole = play(&whole, trial).cycles;
    trial.blocks = 12 * 5;
    const double of_slice = play(&slice, trial).cycles;
    CU_ASSERT_DOUBLE_EQUAL(of_slice / of_whole, 1, 0.05);
}

static CU_TestInfo tests[] = {
    { "each address of a constant takes its turn", each_address_of_a_constant_takes_its_turn },
    { "large tables of constants come from the next cache",
      large_tables_of_constants_come_from_the_next_cache },
    { "divisions of 0 take the long way", divisions_of_0_take_the_long_way },
    { "the long way waits for loads", the_long_way_waits_for_loads },
    { "accesses of a warp are four cycles apart", accesses_of_a_warp_are_four_cycles_apart },
    { "bank conflicts cost wavefronts", conflicts_cost_wavefronts },
    { "shared memory is as wide as described", shared_memory_is_as_wide_as_described },
    { "gathers wait for banks of the L1", gathers_wait_for_banks_of_the_l1 },
    { "a load comes from where the data is", a_load_comes_from_where_the_data_is },
    { "shared memory takes its part of the L1", shared_memory_takes_its_part_of_the_l1 },
    { "chased loads wait for each other", chased_loads_wait_for_each_other },
    { "loads are moved up", loads_are_moved_up },
    { "loads stay after stores", loads_stay_behind_stores },
    { "memory has a bandwidth", memory_has_a_bandwidth },
    { "memory moves whole atoms", memory_moves_whole_atoms },
    { "partly written atoms are read with error correction",
      parts_are_filled_if_there_is_error_correction },
    { "atomics at one address wait for each other", atomics_at_one_address_wait_for_each_other },
    { "lanes of a full warp reserve together", lanes_of_a_full_warp_reserve_together },
    { "atomics take a pass per sector", atomics_take_a_pass_per_sector },
    { "compare-and-swap of a sector takes longer", swaps_of_a_sector_take_longer },
    { "clocks count cycles", clocks_count_cycles },
    { "clocks count the warps at barriers", clocks_count_the_warps_at_barriers },
    { "blocks come in waves", blocks_come_in_waves },
    { "the first SM with room takes the next block",
      an_empty_grid_place_goes_to_the_first_sm_that_has_room },
    { "waves are left out of large launches", waves_are_left_out_of_large_launches },
    { "every run gives the same time", the_same_each_time },
    { "no trace is kept unless requested", no_trace_is_kept_unless_wanted },
    { "a slice takes equally long for its share", a_slice_takes_as_long_for_its_share },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time = { "test_sim_time", NULL, NULL, NULL, NULL, tests };
