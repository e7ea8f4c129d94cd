/* test_calc.c - the calculators against published figures.
 *
 * Sources: BPG: NVIDIA, CUDA C++ Best Practices Guide (2025). Fermi: P. Wang, NVIDIA, Fundamental
 * Optimizations in CUDA (2010). Boehm: How to Optimize a CUDA Matmul Kernel (A6000, 2022). Volkov:
 * Better Performance at Lower Occupancy (GTX 480, 2010). Ryoo: program optimization on a 128-core
 * GPU (2008). Orin: a forum's thread on the tail effect. hand: computed by hand from the
 * definition. labs: the draft kernels of our labs (H200, 2026-11-21).
 */
#include "calc/calc.h"
#include "sim/device/device.h"
#include "rows.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <float.h>
#include <limits.h>
#include <math.h>

/* Equal except for rounding errors; and equal to the digits that a source prints. */
#define NEAR(got, want)  CU_ASSERT_DOUBLE_EQUAL(got, want, 1e-9 * fabs((double) (want)))
#define ROUND(got, want) CU_ASSERT_DOUBLE_EQUAL(got, want, 5e-4 * fabs((double) (want)))

/* ---- Occupancy: of devices that no file describes, and of described ones ---- */

/* Compute capability 7.0: CUDA C++ Programming Guide, technical specifications. */
#define VOLTA                                                                                      \
    {                                                                                              \
        .cc = 70, .sms = 80, .threads_per_sm = 2048, .blocks_per_sm = 32,                          \
        .threads_per_block = 1024, .registers_per_sm = 65536, .register_unit = 256,                \
        .schedulers_per_sm = 4, .shared_per_sm_bytes = 98304, .shared_per_block_bytes = 49152,     \
        .shared_per_block_optin_bytes = 98304                                                      \
    }
/* Kepler's SM (K20X) with current allocation rules: only the number of blocks limits here. */
#define KEPLER                                                                                     \
    {                                                                                              \
        .cc = 50, .sms = 14, .threads_per_sm = 2048, .blocks_per_sm = 16,                          \
        .threads_per_block = 1024, .registers_per_sm = 65536, .register_unit = 256,                \
        .schedulers_per_sm = 4, .shared_per_sm_bytes = 49152, .shared_per_block_bytes = 49152,     \
        .shared_per_block_optin_bytes = 49152                                                      \
    }
/* Ryoo's SM: 8192 registers (the slide's 9192 is a slip) and 768 threads; registers are allocated
 * per block. */
#define G80                                                                                        \
    {                                                                                              \
        .cc = 50, .sms = 16, .threads_per_sm = 768, .blocks_per_sm = 8, .threads_per_block = 512,  \
        .registers_per_sm = 8192, .register_unit = 32, .schedulers_per_sm = 1,                     \
        .shared_per_sm_bytes = 16384, .shared_per_block_bytes = 16384,                             \
        .shared_per_block_optin_bytes = 16384                                                      \
    }

static void occupancy_of_older_gpus(void)
{
    static const Device volta = VOLTA, kepler = KEPLER, g80 = G80;
    static const struct {
        const Device *device;
        int registers, threads;
        size_t shared;
        int blocks;
        double share;
        Limiter limiter;
    } rows[] = {
        /* BPG 11.1.1: for the second row, warps must be allocated in fours, not only registers in
         * units of 256 */
        { &volta, 37, 128, 0, 12, 0.75, LIMIT_REGISTERS },
        { &volta, 37, 320, 0, 4, 0.625, LIMIT_REGISTERS },
        { &volta, 32, 256, 0, 8, 1, LIMIT_WARPS }, /* "32 registers or fewer for 100 %" */
        { &volta, 33, 256, 0, 6, 0.75, LIMIT_REGISTERS },
        { &kepler, 32, 32, 0, 16, 0.25, LIMIT_BLOCKS }, /* GPU lecture: one-warp blocks */
        { &g80, 10, 256, 4096, 3, 1, LIMIT_WARPS },     /* the cliff in Ryoo's paper */
        { &g80, 11, 256, 4096, 2, 2.0 / 3, LIMIT_REGISTERS },
        { &g80, 10, 256, 5120, 3, 1, LIMIT_WARPS },
        { &g80, 12, 256, 0, 2, 2.0 / 3, LIMIT_REGISTERS }, /* Ryoo, MRI: 2, 1, 1 blocks */
        { &g80, 24, 256, 0, 1, 1.0 / 3, LIMIT_REGISTERS },
        { &g80, 30, 256, 0, 1, 1.0 / 3, LIMIT_REGISTERS },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Occupancy o =
            device_occupancy(rows[i].device, rows[i].registers, rows[i].threads, rows[i].shared);
        CU_ASSERT_EQUAL(o.blocks_per_sm, rows[i].blocks);
        CU_ASSERT_EQUAL(o.limiter, rows[i].limiter);
        NEAR(o.share, rows[i].share);
    }
}

/* Boehm's third kernel, on compute capability 8.6, with its working. */
static void occupancy_with_its_working(void)
{
    Device d;
    char why[400];
    Occupancy o;

    CU_ASSERT_TRUE_FATAL(device_read("grader/sim/devices", "rtx3060", &d, why, sizeof why));
    o = device_occupancy(&d, 37, 1024, 8192);
    CU_ASSERT_EQUAL(o.blocks_per_sm, 1);
    ROUND(o.share, 0.6667);
    CU_ASSERT_EQUAL(o.limits[LIMIT_WARPS], 1);
    CU_ASSERT_EQUAL(o.limits[LIMIT_REGISTERS], 1);
    CU_ASSERT_EQUAL(o.limits[LIMIT_SHARED], 11); /* would be 12 without the reserved KiB */
    CU_ASSERT_EQUAL(o.warp_registers, 1280);
    CU_ASSERT_EQUAL(o.warp_registers * 32, 40960);
    CU_ASSERT_EQUAL(o.register_warps, 48);
    CU_ASSERT_EQUAL(o.block_shared_bytes, 9216);
    CU_ASSERT_EQUAL(device_occupancy(&d, 32, 256, 48 * 1024).limits[LIMIT_SHARED], 2);
    CU_ASSERT_EQUAL(device_occupancy(&d, 0, 256, 0).limits[LIMIT_REGISTERS], LONG_MAX);
}

/* ---- Waves ---- */

static void waves(void)
{
    static const struct {
        long blocks, sms, resident, full, tail;
        double efficiency, by_sms; /* in percent */
    } rows[] = {
        { 363, 16, 12, 1, 171, 94.53, 98.64 }, /* Orin; the profiler said 50 % */
        { 193, 16, 12, 1, 1, 50.26, 92.79 },
        { 192, 16, 12, 1, 0, 100, 100 },
        { 1, 16, 12, 0, 1, 0.5208, 6.25 },
        { 3, 2, 1, 1, 1, 75, 75 }, /* one and a half waves */
        /* labs 08: one row more than SMs; whole, in halves, quarters, eighths, sixteenths */
        { 133, 132, 1, 1, 1, 50.38, 50.38 },
        { 266, 132, 1, 2, 2, 67.17, 67.17 },
        { 532, 132, 1, 4, 4, 80.61, 80.61 },
        { 1064, 132, 1, 8, 8, 89.56, 89.56 },
        { 2128, 132, 1, 16, 16, 94.83, 94.83 },
        /* gpu notes: SGEMM 4096 in tiles of 128 x 256 and 1 per SM: 3.88 waves */
        { 512, 132, 1, 3, 116, 96.97, 96.97 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Waves w = calc_waves(rows[i].blocks, rows[i].sms, rows[i].resident);
        CU_ASSERT_EQUAL(w.full, rows[i].full);
        CU_ASSERT_EQUAL(w.tail, rows[i].tail);
        CU_ASSERT_EQUAL(w.waves, rows[i].full + (rows[i].tail > 0));
        ROUND(100 * w.efficiency, rows[i].efficiency);
        ROUND(100 * w.sm_efficiency, rows[i].by_sms);
    }
    CU_ASSERT_EQUAL(calc_waves(0, 1, 1).waves, 0);
    CU_ASSERT_EQUAL(calc_waves(-1, 1, 1).waves, 0);
    CU_ASSERT_EQUAL(calc_waves(LONG_MAX, 1, 1).waves, 0);
    CU_ASSERT_EQUAL(calc_waves(1, LONG_MAX, LONG_MAX).waves, 0);
    CU_ASSERT_EQUAL(calc_waves(1, 0, 1).waves, 0);
    CU_ASSERT_EQUAL(calc_waves(1, 1, 0).waves, 0);
    CU_ASSERT_EQUAL(calc_waves(1000000000000000, 1000000, 1024).waves, 976563);
}

/* ---- Little's law, roofline, Amdahl ---- */

static void little(void)
{
    static const struct {
        double latency, throughput, in_flight;
    } rows[] = {
        { 24, 8, 192 },                 /* Volkov: G80 and GT200, per SM */
        { 18, 32, 576 },                /* GF100 */
        { 18, 48, 864 },                /* GF104 */
        { 800 / 1.401, 177.4, 101299 }, /* Volkov: ns x GB/s, "less than 100 KB" */
        { 40, 0.5, 20 },                /* an escalator: seconds x people per second */
        { 10e3, 8, 80e3 },              /* Fermi: 10 us of PCIe at 8 GB/s */
        { 400, 0.5, 200 },              /* Fermi: instructions; 8 per warp make 25 warps */
        { 4, 128, 512 },                /* H200: four warps per scheduler, one chain each */
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        ROUND(calc_little(rows[i].latency, rows[i].throughput), rows[i].in_flight);
        ROUND(calc_little_rate(rows[i].in_flight, rows[i].latency), rows[i].throughput);
    }
    NEAR(calc_little_rate(1, 40), 0.025); /* one person on the escalator */
}

static void roofline(void)
{
    static const struct {
        double gflops, gbps, ridge;
    } ridges[] = {
        { 30000, 768, 39.06 },   /* Boehm: A6000 as quoted */
        { 35500, 936, 37.93 },   /* first principles: RTX 3090 */
        { 19170, 448, 42.79 },   /* RTX A4000 */
        { 125000, 900, 138.9 },  /* NVIDIA, deep learning performance guide: V100's tensor cores */
        { 125000, 3100, 40.32 }, /* and its L2 */
    };

    for (size_t i = 0; i < COUNT(ridges); i++) {
        double ridge = calc_ridge(ridges[i].gflops, ridges[i].gbps);
        ROUND(ridge, ridges[i].ridge);
        NEAR(calc_roofline(ridges[i].gflops, ridges[i].gbps, ridge), ridges[i].gflops);
        NEAR(calc_roofline(ridges[i].gflops, ridges[i].gbps, ridge / 2), ridges[i].gflops / 2);
        NEAR(calc_roofline(ridges[i].gflops, ridges[i].gbps, ridge * 2), ridges[i].gflops);
    }
    NEAR(calc_roofline(35500, 936, 1.0 / 12), 78); /* vector addition */
    /* n x n matrices, n / 6 FLOP per byte: limited by arithmetic from n = 228 on */
    CU_ASSERT_TRUE(calc_roofline(35500, 936, 227 / 6.0) < 35500);
    NEAR(calc_roofline(35500, 936, 228 / 6.0), 35500);
    CU_ASSERT_EQUAL(calc_roofline(35500, 936, 0), 0);
}

static void amdahl(void)
{
    static const struct {
        double share, n, gain, grown; /* grown: Gustafson's; 0: not checked */
    } rows[] = {
        { 0.75, INFINITY, 4, 0 }, /* BPG 3.1.3 */
        { 0.75, 8, 2.909, 6.25 },
        { 0.93, INFINITY, 14.29, 0 }, /* a kernel from a lecture */
        { 0.93, 1.7, 1.621, 0 },
        { 0.93, 100, 12.61, 93.07 },
        { 0.9, 16, 6.4, 0 }, /* Sheffield, from the serial part */
        { 0.95, 512, 19.284, 0 },
        { 0.95, INFINITY, 20, 0 },
        { 0.5, 2, 1.333, 0 },
        { 0.99, 512, 83.797, 0 },
        { 0.553, INFINITY, 2.237, 0 }, /* BLAST's profile (2011): corner forces; with the solver */
        { 0.54, INFINITY, 2.174, 0 },
        { 0.793, INFINITY, 4.831, 0 },
        { 0.927, INFINITY, 13.70, 0 },
        { 0, 8, 1, 1 },
        { 1, 8, 8, 8 },
        { 1, INFINITY, INFINITY, 0 },
        { 0.5, 0.5, 0.6667, 0 }, /* a part becomes slower */
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        double gain = calc_amdahl(rows[i].share, rows[i].n);
        if (isinf(rows[i].gain)) {
            CU_ASSERT_TRUE(isinf(gain));
            continue;
        }
        ROUND(gain, rows[i].gain);
        if (rows[i].grown) {
            ROUND(calc_gustafson(rows[i].share, rows[i].n), rows[i].grown);
        }
    }
}

static void numbers_that_cannot_be(void)
{
    static const double bad[] = { NAN, INFINITY, -INFINITY, -1, -DBL_MIN };

    for (size_t i = 0; i < COUNT(bad); i++) {
        CU_ASSERT_TRUE(isnan(calc_little(bad[i], 1)) && isnan(calc_little(1, bad[i])));
        CU_ASSERT_TRUE(isnan(calc_little_rate(bad[i], 1)) && isnan(calc_little_rate(1, bad[i])));
        CU_ASSERT_TRUE(isnan(calc_ridge(bad[i], 1)) && isnan(calc_ridge(1, bad[i])));
        CU_ASSERT_TRUE(isnan(calc_roofline(bad[i], 1, 1)) && isnan(calc_roofline(1, bad[i], 1)));
        CU_ASSERT_TRUE(isnan(calc_roofline(1, 1, bad[i])));
        CU_ASSERT_TRUE(isnan(calc_amdahl(bad[i], 2)) && isnan(calc_gustafson(bad[i], 2)));
        CU_ASSERT_TRUE(isnan(calc_gustafson(0.5, bad[i])));
        CU_ASSERT_TRUE(isnan(calc_amdahl(0.5, bad[i])) || bad[i] == INFINITY);
        CU_ASSERT_TRUE(isnan(calc_overlap_share(bad[i], 1, 1)));
        CU_ASSERT_TRUE(isnan(calc_overlap_share(3, bad[i], 1)));
        CU_ASSERT_TRUE(isnan(calc_overlap_share(3, 1, bad[i])));
    }
    CU_ASSERT_TRUE(isnan(calc_little(0, 1)) && isnan(calc_ridge(1, 0)));
    CU_ASSERT_TRUE(isnan(calc_amdahl(1.001, 2)) && isnan(calc_gustafson(0.5, 0.5)));
    CU_ASSERT_TRUE(isnan(calc_overlap_share(1, 1, 1)));
}

/* ---- Overlap ---- */

static void overlaps(void)
{
    static const struct {
        Pipeline pipeline;
        double finish;
    } rows[] = {
        /* BPG 9.1.2, one direction: tE + tT/n if tE >= tT, else tT + tE/n */
        { { { 10, 10, 0 }, 4, 4, 0 }, 12.5 },
        { { { 10, 20, 0 }, 4, 4, 0 }, 22.5 },
        { { { 20, 10, 0 }, 4, 4, 0 }, 22.5 },
        { { { 0, 10, 10 }, 4, 4, 0 }, 12.5 },
        /* labs 05, stages of 1: (c + 2) / c with enough buffers; then two buffers, then one */
        { { { 1, 1, 1 }, 1, 1, 0 }, 3 },
        { { { 1, 1, 1 }, 4, 4, 0 }, 1.5 },
        { { { 1, 1, 1 }, 16, 16, 0 }, 1.125 },
        { { { 1, 1, 1 }, 16, 3, 0 }, 1.125 },
        { { { 1, 1, 1 }, 4096, 2, 0 }, 1.5002 },
        { { { 1, 1, 1 }, 32, 1, 0 }, 3 },
        { { { 1, 8, 1 }, 32, 4, 0 }, 8.0625 }, /* the control case: at most 10 / 8 */
        { { { 5, 0, 0 }, 7, 1, 0 }, 5 },
        /* hand: 3 operations of 1 + 0.5, first one after another, then without waiting */
        { { { 1, 1, 1 }, 1, 1, 0.5 }, 4.5 },
        { { { 2, 2, 2 }, 2, 2, 0.5 }, 6 }, /* 4 steps of 1.5 */
    };
    static Overlap o;

    for (size_t i = 0; i < COUNT(rows); i++) {
        CU_ASSERT_TRUE(calc_overlap(&rows[i].pipeline, &o));
        ROUND(o.finish, rows[i].finish);
        NEAR(o.speedup, o.sum / o.finish);
    }
}

/* With enough buffers no operation waits twice, so the closed form holds for stages of any
 * length. */
static void the_closed_form(void)
{
    static Overlap o;
    uint64_t random = 3;

    for (int round = 0; round < 500; round++) {
        int chunks = 1 + (int) (next_random(&random) % 64);
        Pipeline p = { .chunks = chunks, .buffers = chunks };
        for (int s = 0; s < CALC_STAGES; s++)
            p.stage[s] = (double) (next_random(&random) % 1000 + (s == 1));
        CU_ASSERT_TRUE(calc_overlap(&p, &o));
        NEAR(o.finish, o.longest + (o.sum - o.longest) / chunks);
        p.buffers = 1; /* one chunk after another */
        CU_ASSERT_TRUE(calc_overlap(&p, &o));
        NEAR(o.finish, o.sum);
    }
}

/* labs 05: three stages of 1.216 ms; two, three, eight buffers: 0.58, 0.81, 0.87. */
static void overlap_measured(void)
{
    static const struct {
        double finish, share;
    } rows[] = { { 2.24, 0.58 }, { 1.69, 0.805 }, { 1.54, 0.867 }, { 3.648, 0 }, { 1.216, 1 } };

    for (size_t i = 0; i < COUNT(rows); i++)
        CU_ASSERT_DOUBLE_EQUAL(calc_overlap_share(3.648, 1.216, rows[i].finish), rows[i].share,
                               2e-3);
}

static void pipelines_that_cannot_be(void)
{
    static const Pipeline rows[] = {
        { { 0, 0, 0 }, 4, 4, 0 },
        { { -1, 1, 1 }, 4, 4, 0 },
        { { NAN, 1, 1 }, 4, 4, 0 },
        { { 1, INFINITY, 1 }, 4, 4, 0 },
        { { DBL_MAX, DBL_MAX, 1 }, 4, 4, 0 },
        { { 1, 1, 1 }, 0, 4, 0 },
        { { 1, 1, 1 }, CALC_CHUNKS + 1, 4, 0 },
        { { 1, 1, 1 }, 4, 0, 0 },
        { { 1, 1, 1 }, 4, 4, -1 },
        { { 1, 1, 1 }, 4, 4, NAN },
        { { 1, 1, 1 }, 4, 4, INFINITY },
    };
    static Overlap o;

    for (size_t i = 0; i < COUNT(rows); i++) {
        CU_ASSERT_FALSE(calc_overlap(&rows[i], &o));
        CU_ASSERT_EQUAL(o.finish, 0);
    }
}

CU_SuiteInfo test_calc = {
    "calc",
    .pTests =
        (CU_TestInfo[]){
            { "occupancy of older GPUs", occupancy_of_older_gpus },
            { "occupancy with its working", occupancy_with_its_working },
            { "waves", waves },
            { "little", little },
            { "roofline", roofline },
            { "amdahl", amdahl },
            { "numbers that cannot be", numbers_that_cannot_be },
            { "overlaps", overlaps },
            { "the closed form", the_closed_form },
            { "overlap, measured", overlap_measured },
            { "pipelines that cannot be", pipelines_that_cannot_be },
            CU_TEST_INFO_NULL,
        },
};
