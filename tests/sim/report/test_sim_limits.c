/* test_sim_limits.c - attribution of a launch's time: kernels whose limits are computed by hand;
 * sums, roofline and sentence.
 *
 * A cycle takes 1 ns and an SM has four schedulers, so a cycle of one scheduler counts 0.25 ns.
 */
#include "capture.h"
#include "sim/report/totals.h"
#include "sim/sim_time.h"

#include <math.h>

static TimingResult run(const Device *device, Trial trial)
{
    const TimingResult result = play(device, trial);

    /* The sums must match for every kernel: no time is lost or counted twice. */
    CU_ASSERT(result.ms > 0);
    CU_ASSERT_DOUBLE_EQUAL(spent_sum(&result.spent), result.ms * 1e6, 1e-6 * result.ms * 1e6);
    CU_ASSERT_DOUBLE_EQUAL(result.spent.at[AT_LAUNCH], device->launch_us * 1e3, 1e-9);
    for (int i = 0; i < LIMITS; i++)
        CU_ASSERT(result.spent.at[i] >= 0);
    return result;
}

static TimingResult threads(const char *ptx, int count)
{
    return run(&plain, (Trial){ .ptx = ptx, .threads = count });
}

/* Without the launch's overhead. */
static Limit limit_of(const TimingResult *result)
{
    Spent spent = result->spent;

    spent.at[AT_LAUNCH] = 0;
    return spent_most(&spent);
}

static double share_of(const TimingResult *result, Limit limit)
{
    return result->spent.at[limit] / (spent_sum(&result->spent) - result->spent.at[AT_LAUNCH]);
}

/* ---- Arithmetic ---- */

static void one_warp_waits_for_its_own_results(void)
{
    const TimingResult few = threads(repeat("", DEPENDENT, 10, ""), 32);
    const TimingResult more = threads(repeat("", DEPENDENT, 110, ""), 32);

    /* 500 cycles: the scheduler issues in 100 and waits in 400; the other three have no warp. */
    CU_ASSERT_DOUBLE_EQUAL(more.spent.at[AT_FP32] - few.spent.at[AT_FP32], 100 / 4.0, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(more.waits[WAIT_RESULT] - few.waits[WAIT_RESULT], 400 / 4.0, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(more.waits[WAIT_BLOCK] - few.waits[WAIT_BLOCK], 3 * 500 / 4.0, 1e-6);
    CU_ASSERT_EQUAL(limit_of(&more), AT_LATENCY);
    CU_ASSERT_EQUAL(more.spent.at[AT_TAIL], 0);
}

static void many_warps_issue_all_the_time(void)
{
    static const char five[] = "fma.rn.f32 %f1, %f2, %f3, %f4;\nfma.rn.f32 %f5, %f2, %f3, %f4;\n"
                               "fma.rn.f32 %f6, %f2, %f3, %f4;\nfma.rn.f32 %f7, %f2, %f3, %f4;\n"
                               "fma.rn.f32 %f0, %f2, %f3, %f4;\n";
    const TimingResult few = threads(repeat("", five, 20, ""), 1024);
    const TimingResult more = threads(repeat("", five, 120, ""), 1024);

    /* 8 warps per scheduler, each with 500 more instructions. */
    CU_ASSERT_DOUBLE_EQUAL(more.spent.at[AT_FP32] - few.spent.at[AT_FP32], 8 * 500, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(more.busy[AT_FP32] - few.busy[AT_FP32], 8 * 500, 1e-6);
    CU_ASSERT_EQUAL(limit_of(&more), AT_FP32);
    CU_ASSERT(share_of(&more, AT_FP32) > 0.8);
}

static void a_narrow_unit_makes_wait(void)
{
    static const char one[] = "fma.rn.f64 %fd1, %fd2, %fd3, %fd4;\n";
    const TimingResult few = threads(repeat("", one, 10, ""), 4 * 32);
    const TimingResult more = threads(repeat("", one, 110, ""), 4 * 32);

    /* One lane per scheduler: 32 cycles per warp. In 1 cycle it issues, in 8 its last result (the
     * same register) is not ready, and in the rest the unit is busy. */
    CU_ASSERT_DOUBLE_EQUAL(more.spent.at[AT_UNITS] - few.spent.at[AT_UNITS], 100 * 23, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(more.waits[WAIT_RESULT] - few.waits[WAIT_RESULT], 100 * 8, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(more.spent.at[AT_ISSUE] - few.spent.at[AT_ISSUE], 100, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(more.waits[WAIT_UNIT] - few.waits[WAIT_UNIT], 100 * 23, 1e-6);
    CU_ASSERT_EQUAL(limit_of(&more), AT_UNITS);
}

/* ---- Memory ---- */

static void memory_that_is_asked_for_much_is_the_limit(void)
{
    Device slow = plain;
    slow.memory_gbps = 1;
    const TimingResult result =
        run(&slow, (Trial){ .ptx = KERNEL("ld.global.u32 %r20, [%rd2];\nadd.u32 %r0, %r20, 1;\n"),
                            .threads = 256,
                            .blocks = 64,
                            .blocks_an_sm = 8 });

    /* 64 KiB once, one byte per cycle; written data stays in the L2. */
    CU_ASSERT_DOUBLE_EQUAL(result.busy[AT_DRAM], 65536, 1e-6);
    CU_ASSERT_EQUAL(limit_of(&result), AT_DRAM);
    CU_ASSERT(share_of(&result, AT_DRAM) > 0.8);
    CU_ASSERT(result.waits[WAIT_FAR] > 0.5 * result.cycles);
}

static void a_chain_of_loads_is_latency(void)
{
    static const char chase[] = "ld.global.u32 %r20, [%rd5];\ncvt.u64.u32 %rd6, %r20;\n"
                                "add.s64 %rd5, %rd5, %rd6;\n";
    const TimingResult result = threads(repeat("mov.u64 %rd5, %rd1;\n", chase, 100, ""), 4 * 32);

    CU_ASSERT_EQUAL(limit_of(&result), AT_LATENCY);
    CU_ASSERT(share_of(&result, AT_LATENCY) > 0.8);
    /* All loads but the first hit the L1. */
    CU_ASSERT(result.waits[WAIT_FAR] > 100 * (plain.l1_latency - 5));
}

#define SHARED_AT(scale)                                                                           \
    ".shared .align 4 .b8 s[8192];\nmov.u32 %r10, s;\n"                                            \
    "mul.lo.u32 %r11, %r1, " scale ";\nand.b32 %r11, %r11, 4095;\nadd.u32 %r12, %r10, %r11;\n"

static void conflicts_are_shared_memorys(void)
{
    static const char loads[] = "ld.shared.u32 %r13, [%r12];\nld.shared.u32 %r14, [%r12];\n"
                                "ld.shared.u32 %r15, [%r12];\nld.shared.u32 %r16, [%r12];\n";
    const TimingResult few = threads(repeat(SHARED_AT("128"), loads, 5, ""), 1024);
    const TimingResult more = threads(repeat(SHARED_AT("128"), loads, 25, ""), 1024);

    /* 80 loads by 32 warps, with 32 wavefronts each. */
    CU_ASSERT_DOUBLE_EQUAL(more.busy[AT_SHARED] - few.busy[AT_SHARED], 80 * 32 * 32, 1e-6);
    CU_ASSERT_EQUAL(limit_of(&more), AT_SHARED);
    CU_ASSERT(share_of(&more, AT_SHARED) > 0.95);
    CU_ASSERT_EQUAL(more.busy[AT_L2], few.busy[AT_L2]);
}

/* One lane per warp updates the same word; each update takes 30 ns. */
static void updates_of_one_address_wait_for_each_other(void)
{
    Device slow = plain;
    slow.integer_atomic_ns = 30;
    const TimingResult result =
        run(&slow, (Trial){ .ptx = KERNEL("red.global.add.u32 [%rd1], 1;\n"),
                            .threads = 1024,
                            .blocks = 8,
                            .blocks_an_sm = 2 });

    CU_ASSERT_EQUAL(limit_of(&result), AT_ATOMICS);
    /* 256 warps; all but the first wait. */
    CU_ASSERT_DOUBLE_EQUAL(result.busy[AT_ATOMICS], 255 * 30, 2 * 30);
}

/* ---- Blocks ---- */

static void one_block_more_than_a_wave_is_a_tail(void)
{
    const char *chain = repeat("", DEPENDENT, 1000, "");
    Device eight = plain;
    eight.sms = 8;
    const TimingResult one = run(&eight, (Trial){ .ptx = chain, .blocks = 8 });
    const TimingResult two = run(&eight, (Trial){ .ptx = chain, .blocks = 9 });

    CU_ASSERT_DOUBLE_EQUAL(share_of(&one, AT_TAIL), 0, 0.01);
    /* In the second of two equally long waves, 7 of 8 SMs have no block. */
    CU_ASSERT_DOUBLE_EQUAL(share_of(&two, AT_TAIL), 7 / 16.0, 0.01);
}

static void too_few_blocks_are_a_tail_too(void)
{
    Device eight = plain;
    eight.sms = 8;
    const TimingResult result =
        run(&eight, (Trial){ .ptx = repeat("", DEPENDENT, 1000, ""), .blocks = 2 });

    CU_ASSERT_EQUAL(limit_of(&result), AT_TAIL);
    CU_ASSERT_DOUBLE_EQUAL(share_of(&result, AT_TAIL), 6 / 8.0, 0.01);
}

/* Waves that are left out have no tail; only the last wave has one. */
static void a_sample_has_the_limits_of_all(void)
{
    char chain[TEXT];
    Device two = plain;

    snprintf(chain, sizeof chain, "%s", repeat("", DEPENDENT, 400, ""));
    two.sms = 2;
    const Trial all = { .ptx = chain, .threads = 128, .blocks = 64, .blocks_an_sm = 2 };
    Trial some = all;
    some.most_played = 1;
    const TimingResult whole = run(&two, all), sample = run(&two, some);

    CU_ASSERT(sample.timed < sample.blocks);
    CU_ASSERT_EQUAL(whole.timed, whole.blocks);
    for (int i = 0; i < LIMITS; i++)
        CU_ASSERT_DOUBLE_EQUAL(sample.spent.at[i] / sample.ms, whole.spent.at[i] / whole.ms,
                               0.02 * 1e6);
}

/* ---- Lines ---- */

static double of_step(const Trial *trial, Op op)
{
    double sum = 0;

    for (int i = 0; i < trial->code->step_count; i++)
        if (trial->code->steps[i].in && trial->code->steps[i].in->op == op &&
            trial->code->steps[i].space != SPACE_PARAM)
            sum += spent_sum(&trial->time.steps[0][i]) * trial->time.step_ns;
    return sum;
}

/* Warp 1 loads from memory, uses the value, and then arrives at the barrier where warp 0 waits. */
static void what_the_last_at_a_barrier_waited_for_is_to_blame(void)
{
    Gpu *gpu = gpu_open(&plain);
    Trial trial = { .ptx = KERNEL("setp.lt.u32 %p1, %r1, 32;\n@%p1 bra after;\n"
                                  "ld.global.u32 %r20, [%rd2];\nadd.u32 %r0, %r20, 1;\n"
                                  "after:\nbar.sync 0;\nadd.u32 %r0, %r0, 1;\n"),
                    .threads = 64,
                    .gpu = gpu };

    CU_ASSERT_PTR_NOT_NULL_FATAL(gpu);
    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_PTR_NOT_NULL_FATAL(trial.time.steps);
    /* Two of four schedulers wait for the load. */
    CU_ASSERT(of_step(&trial, OP_ld) > 2 * (plain.memory_latency - 50) / 4.0);
    CU_ASSERT(of_step(&trial, OP_bar) < plain.barrier_latency);
    CU_ASSERT(trial.time.waits[WAIT_BARRIER] > (plain.memory_latency - 50) / 4.0);
    trial_close(&trial);
    gpu_close(gpu);
}

/* ---- A whole program ---- */

static void put_item(Timeline *timeline, TimelineRow row, int stream, int64_t lead_ps, int64_t ps)
{
    TimelineItem *item = timeline_add(timeline, stream);
    const TimelineJob job = {
        .row = row, .use = { .blocks = 1 }, .lead_ps = lead_ps, .ps = ps, .shared = 1
    };

    timeline_done(item, &job);
}

static void each_moment_is_the_busiest_rows(void)
{
    Timeline *timeline = timeline_open(8, 2);
    int64_t ps[ROWS];

    CU_ASSERT_PTR_NOT_NULL_FATAL(timeline);
    put_item(timeline, ROW_UP, 1, 0, 100);      /* 0 to 100 */
    put_item(timeline, ROW_KERNEL, 2, 50, 80);  /* 50 to 130 */
    put_item(timeline, ROW_DOWN, 3, 90, 20);    /* 90 to 110, during both */
    put_item(timeline, ROW_KERNEL, 2, 150, 30); /* 150 to 180 */
    timeline_play(timeline, NULL);
    timeline_shares(timeline, ps);
    /* Kernels 110 in all; the upload only while it runs alone; the download nothing. */
    CU_ASSERT_EQUAL(ps[ROW_KERNEL], 110);
    CU_ASSERT_EQUAL(ps[ROW_UP], 50);
    CU_ASSERT_EQUAL(ps[ROW_DOWN], 0);
    CU_ASSERT_EQUAL(ps[ROW_MARK], 20);
    CU_ASSERT_EQUAL(timeline_transfer_ps(timeline), 100);
    timeline_close(timeline);
}

static void a_program_without_work_has_no_shares(void)
{
    int64_t ps[ROWS];
    Limits limits;
    const Report none = { .timeline = NULL };

    timeline_shares(NULL, ps);
    CU_ASSERT_EQUAL(ps[ROW_MARK], 0);
    CU_ASSERT_FALSE(report_limits(&none, &limits));
}

/* A kernel of 40 ns during a copy of 100 ns, then 10 idle ns. */
static void a_program_bound_by_transfers(void)
{
    Kernel kernel = { .timed = 1,
                      .launches = 1,
                      .time = {
                          .spent.at = { [AT_FP32] = 30, [AT_DRAM] = 10, [AT_LAUNCH] = 2000 } } };
    Kernel *kernels[] = { &kernel };
    Report report = { .kernels = kernels, .kernel_count = 1, .timeline = timeline_open(8, 2) };
    Limits limits;
    char text[300];

    CU_ASSERT_PTR_NOT_NULL_FATAL(report.timeline);
    put_item(report.timeline, ROW_UP, 1, 0, 100000);
    put_item(report.timeline, ROW_KERNEL, 2, 80000, 40000);
    timeline_play(report.timeline, NULL);
    CU_ASSERT_TRUE(report_limits(&report, &limits));
    CU_ASSERT_DOUBLE_EQUAL(limits.spent.at[AT_TRANSFER], 100, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(limits.spent.at[AT_FP32], 15, 1e-9); /* of the 20 ns after the copy */
    CU_ASSERT_DOUBLE_EQUAL(limits.spent.at[AT_DRAM], 5, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(limits.spent.at[AT_LAUNCH], 0, 1e-9);
    CU_ASSERT_EQUAL(spent_most(&limits.spent), AT_TRANSFER);
    limits_sentence(&limits, text, sizeof text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "transfers between host and device"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "83 %"));
    timeline_close(report.timeline);
}

/* 64 warps fit on an SM, but with one block per SM only the block's four are resident. */
static void warps_are_those_that_the_grid_has(void)
{
    const Device eight = { .sms = 8 }, unknown = { .sms = 0 };
    Kernel kernel = { .grid = { 8, 1, 1 },
                      .block = { 128, 1, 1 },
                      .timed = 1,
                      .has_occupancy = true,
                      .occupancy.warps_per_sm = 64 };
    Limits limits;

    CU_ASSERT_TRUE(kernel_limits(&kernel, &eight, &limits));
    CU_ASSERT_EQUAL(limits.warps, 4);
    CU_ASSERT_TRUE(kernel_limits(&kernel, &unknown, &limits));
    CU_ASSERT_EQUAL(limits.warps, 64);
    kernel.grid[1] = 1000;
    CU_ASSERT_TRUE(kernel_limits(&kernel, &eight, &limits));
    CU_ASSERT_EQUAL(limits.warps, 64);
}

/* ---- JSON and table ---- */

/* Half of 1000 ns in shared memory; a launch of 100 ns; 8 of 32 wavefronts are conflicts. */
static const Limits some = {
    .spent.at = { [AT_SHARED] = 500, [AT_DRAM] = 400.4, [AT_LAUNCH] = 100 },
    .waits = { [WAIT_UNIT] = 450, [WAIT_FAR] = 0.3 },
    .busy = { [AT_SHARED] = 800, [AT_DRAM] = 700 },
    .flops = 5000,
    .bytes = 10000,
    .warps = 64,
    .wavefronts = 32,
    .least_shared = 24,
    .lanes = 32
};
static const Device device = { .fp32_tflops = 10, .memory_gbps = 500 };

static void the_report_has_them(void)
{
    static const char want[] =
        ",\"limits\":{\"limit\":\"shared\",\"ns\":{\"shared\":500,\"dram\":400,\"launch\":100},"
        "\"waits_ns\":{\"unit\":450},\"busy_ns\":{\"shared\":800,\"dram\":700},\"flops\":5000,"
        "\"memory_bytes\":10000,\"intensity\":0.5,\"ridge\":20,\"roof_share\":0.02,"
        "\"sentence\":\"shared memory is busy 80 % of the time, and bank conflicts cost 1.3 "
        "times the wavefronts\"}";
    Capture capture;

    capture_begin(&capture, stderr);
    limits_write_json(&some, &device, stderr);
    CU_ASSERT_STRING_EQUAL(capture_end(&capture), want);
}

static void the_table_has_them(void)
{
    static const char want[] =
        "  limits                50.0 %  shared memory; busy 80.0 %\n"
        "                        40.0 %  DRAM; busy 70.0 %\n"
        "                        10.0 %  launches, idle GPU\n"
        "  roofline               0.5    flop per byte; ridge at 20; 2.0 % of the roof\n"
        "  summary            shared memory is busy 80 % of the time, and bank\n"
        "                     conflicts cost 1.3 times the wavefronts\n";
    Capture capture;

    capture_begin(&capture, stderr);
    limits_write_rows(&some, &device, stderr);
    CU_ASSERT_STRING_EQUAL(capture_end(&capture), want);
}

/* ---- Roofline and sentence ---- */

static void the_roofline_is_where_it_is(void)
{
    /* 10 TFLOP/s, 500 GB/s: the ridge is at 20. */
    static const struct {
        double flops, bytes, ns, intensity, reached;
    } rows[] = {
        { 1e6, 1e6, 4000, 1, 0.5 },    /* 250 of 500 GFLOP/s */
        { 80e6, 1e6, 10000, 80, 0.8 }, /* 8 of 10 TFLOP/s */
        { 0, 1e6, 4000, 0, 0.5 },      /* 250 GB/s */
        { 5e6, 0, 1000, 0, 0.5 },      /* nothing from memory */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Limits limits = { .spent.at[AT_DRAM] = rows[i].ns,
                                .flops = rows[i].flops,
                                .bytes = rows[i].bytes };
        const Roofline roof = roofline_of(&limits, 10, 500);
        CU_ASSERT_DOUBLE_EQUAL(roof.ridge, 20, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(roof.intensity, rows[i].intensity, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(roof.reached, rows[i].reached, 1e-9);
        CU_ASSERT_EQUAL(roof.is_cached, rows[i].bytes == 0);
    }
}

/* A unit that is almost always busy is the limit, whatever the warps wait for. */
static void what_is_at_work_all_the_time_limits(void)
{
    static const struct {
        Limits limits;
        Limit most;
    } rows[] = {
        { { .spent.at = { [AT_ISSUE] = 45, [AT_DRAM] = 20, [AT_LATENCY] = 35 },
            .busy[AT_DRAM] = 88 },
          AT_DRAM },
        { { .spent.at = { [AT_ISSUE] = 45, [AT_DRAM] = 20, [AT_LATENCY] = 35 },
            .busy[AT_DRAM] = 70 },
          AT_ISSUE },
        { { .spent.at = { [AT_LATENCY] = 60, [AT_DRAM] = 40 }, .busy[AT_DRAM] = 70 }, AT_LATENCY },
        { { .spent.at = { [AT_ISSUE] = 40, [AT_FP32] = 45, [AT_DRAM] = 15 }, .busy[AT_DRAM] = 82 },
          AT_FP32 },
        { { .spent.at = { [AT_ISSUE] = 45, [AT_FP32] = 40, [AT_DRAM] = 15 }, .busy[AT_DRAM] = 82 },
          AT_ISSUE },
        /* A pipeline whose copies and kernels take equally long; one whose kernels take longer. */
        { { .spent.at = { [AT_ISSUE] = 50, [AT_LATENCY] = 45, [AT_TRANSFER] = 5 },
            .busy[AT_TRANSFER] = 94 },
          AT_TRANSFER },
        { { .spent.at = { [AT_ISSUE] = 52, [AT_LATENCY] = 46, [AT_TRANSFER] = 2 },
            .busy[AT_TRANSFER] = 85 },
          AT_ISSUE },
        { { .spent.at = { [AT_SHARED] = 50, [AT_LATENCY] = 50 },
            .busy = { [AT_SHARED] = 85, [AT_L2] = 90 } },
          AT_L2 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(limits_most(&rows[i].limits), rows[i].most);
}

static void the_sentence_says_what_is_most(void)
{
    static const struct {
        Limits limits;
        const char *says, *not ;
    } rows[] = {
        { { .spent.at[AT_DRAM] = 80, .busy[AT_DRAM] = 90, .sectors = 10, .least_sectors = 10 },
          "only moving fewer",
          "times the sectors" },
        { { .spent.at[AT_DRAM] = 80, .busy[AT_DRAM] = 90, .sectors = 80, .least_sectors = 10 },
          "8.0 times the sectors",
          "only moving fewer" },
        { { .spent.at[AT_SHARED] = 80, .wavefronts = 33, .least_shared = 2 },
          "16.5 times the wavefronts",
          NULL },
        { { .spent.at[AT_SHARED] = 80, .wavefronts = 2, .least_shared = 2 },
          "without bank conflicts",
          "times the wavefronts" },
        { { .spent.at[AT_LATENCY] = 80, .waits[WAIT_FAR] = 60, .warps = 4 },
          "4 warps per SM do not hide",
          "barrier" },
        { { .spent.at[AT_LATENCY] = 80, .waits[WAIT_BARRIER] = 60 },
          "at a barrier",
          "warps per SM" },
        { { .spent.at[AT_ISSUE] = 80, .lanes = 8.5 }, "8.5 of 32 lanes", "addresses" },
        { { .spent.at[AT_ISSUE] = 80, .lanes = 32 }, "addresses", "of 32 lanes" },
        { { .spent.at[AT_TAIL] = 80 }, "SMs have no block", NULL },
        { { .spent.at[AT_ATOMICS] = 80 }, "one address", NULL },
        { { .spent.at[AT_LAUNCH] = 80 }, "the GPU is idle", NULL },
        { { .spent.at[AT_L2] = 80 }, "the L2", NULL },
        { { .spent.at[AT_L1] = 80 }, "load/store units", NULL },
        { { .spent.at[AT_UNITS] = 80 }, "FP64", NULL },
        { { .spent.at[AT_FP32] = 80, .lanes = 32 }, "compute-bound", "lanes" },
        { { .spent.at = { [AT_FP32] = 40, [AT_LATENCY] = 35, [AT_DRAM] = 25 } },
          "FP32 arithmetic takes 40 %, latency 35 %",
          "bound" },
    };
    char text[300];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        limits_sentence(&rows[i].limits, text, sizeof text);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, rows[i].says));
        CU_ASSERT(!rows[i].not || !strstr(text, rows[i].not ));
        CU_ASSERT(strlen(text) < sizeof text - 1);
        CU_ASSERT(*text && text[strlen(text) - 1] != '.');
    }
    limits_sentence(&(Limits){ .lanes = 32 }, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "");
    limits_sentence(&rows[0].limits, text, 10); /* too little room: truncated */
    CU_ASSERT_EQUAL(strlen(text), 9);
}

static CU_TestInfo tests[] = {
    { "one warp waits for its own results", one_warp_waits_for_its_own_results },
    { "many warps issue all the time", many_warps_issue_all_the_time },
    { "warps wait for a narrow unit", a_narrow_unit_makes_wait },
    { "memory with many requests is the limit", memory_that_is_asked_for_much_is_the_limit },
    { "a chain of loads is latency", a_chain_of_loads_is_latency },
    { "bank conflicts are charged to shared memory", conflicts_are_shared_memorys },
    { "updates of one address wait for each other", updates_of_one_address_wait_for_each_other },
    { "one more block than a wave is a tail", one_block_more_than_a_wave_is_a_tail },
    { "too few blocks are a tail, too", too_few_blocks_are_a_tail_too },
    { "a sample has the limits of all", a_sample_has_the_limits_of_all },
    { "a barrier is charged to the last warp's wait",
      what_the_last_at_a_barrier_waited_for_is_to_blame },
    { "each moment counts for the busiest row", each_moment_is_the_busiest_rows },
    { "a program without work has no shares", a_program_without_work_has_no_shares },
    { "a program bound by transfers", a_program_bound_by_transfers },
    { "the grid limits the number of warps", warps_are_those_that_the_grid_has },
    { "the report has the limits", the_report_has_them },
    { "the table has the limits", the_table_has_them },
    { "the roofline", the_roofline_is_where_it_is },
    { "a unit that is always busy is the limit", what_is_at_work_all_the_time_limits },
    { "the sentence names the largest limit", the_sentence_says_what_is_most },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_limits = { "sim_limits", NULL, NULL, NULL, NULL, tests };
