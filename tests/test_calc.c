/* test_calc.c - the calculators against published figures, and the command with any input.
 *
 * Sources: BPG: NVIDIA, CUDA C++ Best Practices Guide (2025). Fermi: P. Wang, NVIDIA, Fundamental
 * Optimizations in CUDA (2010). Boehm: How to Optimize a CUDA Matmul Kernel (A6000, 2022). Volkov:
 * Better Performance at Lower Occupancy (GTX 480, 2010). Ryoo: program optimization on a 128-core
 * GPU (2008). Orin: a forum's thread on the tail effect. hand: computed by hand from the
 * definition. labs: the draft kernels of our labs (H200, 2026-11-21).
 */
#include "calc.h"
#include "calc_main.h"
#include "capture.h"
#include "device.h"
#include "util.h"

#include <CUnit/CUnit.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Equal but for rounding; and as a source prints it. */
#define NEAR(got, want)  CU_ASSERT_DOUBLE_EQUAL(got, want, 1e-9 * fabs((double) (want)))
#define ROUND(got, want) CU_ASSERT_DOUBLE_EQUAL(got, want, 5e-4 * fabs((double) (want)))

/* ---- Sectors ---- */

static WarpAccess plain(int bytes, long offset, long stride)
{
    return (
        WarpAccess){ .bytes = bytes, .lanes = 32, .offset = offset, .stride = stride, .width = 32 };
}

static void sectors_and_lines(void)
{
    static const struct {
        int bytes;
        long offset, stride;
        int sectors;
        double efficiency;
        int lines;
    } rows[] = {
        /* BPG 10.2.1.4, strides; efficiencies 1/stride down to 12.5 % */
        { 4, 0, 1, 4, 1, 1 },
        { 4, 0, 2, 8, 0.5, 2 },
        { 4, 0, 3, 12, 1.0 / 3, 3 },
        { 4, 0, 4, 16, 0.25, 4 },
        { 4, 0, 5, 20, 0.2, 5 },
        { 4, 0, 6, 24, 1.0 / 6, 6 },
        { 4, 0, 7, 28, 1.0 / 7, 7 },
        { 4, 0, 8, 32, 0.125, 8 },
        { 4, 0, 16, 32, 0.125, 16 },
        { 4, 0, 32, 32, 0.125, 32 }, /* by lines 3.125 %: not the sectors' figure */
        { 4, 0, 33, 32, 0.125, 32 },
        /* BPG 10.2.1.3, offsets */
        { 4, 1, 1, 5, 0.8, 2 },
        { 4, 4, 1, 5, 0.8, 2 },
        { 4, 7, 1, 5, 0.8, 2 },
        { 4, 8, 1, 4, 1, 2 },
        { 4, 16, 1, 4, 1, 2 },
        { 4, 31, 1, 5, 0.8, 2 },
        { 4, 32, 1, 4, 1, 1 },
        /* Fermi: one word for all lanes */
        { 4, 0, 0, 1, 0.125, 1 },
        /* hand: order within the warp costs nothing; a structure of three floats; wide lanes */
        { 4, 31, -1, 4, 1, 1 },
        { 4, 0, -8, 32, 0.125, 9 },
        { 16, 0, 1, 16, 1, 4 },
        { 8, 1, 1, 9, 256.0 / 288, 3 },
        { 1, 0, 1, 1, 1, 1 },
        /* labs 01: 16 columns of floats, 3, 4 */
        { 4, 0, 16, 32, 0.125, 16 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        WarpAccess access = plain(rows[i].bytes, rows[i].offset, rows[i].stride);
        SectorCount count = calc_sectors(&access);
        CU_ASSERT_EQUAL(count.sectors, rows[i].sectors);
        CU_ASSERT_EQUAL(count.moved_bytes, 32 * rows[i].sectors);
        NEAR(count.efficiency, rows[i].efficiency);
        CU_ASSERT_EQUAL(count.lines, rows[i].lines);
        access.store = true;
        CU_ASSERT_EQUAL(calc_sectors(&access).sectors, rows[i].sectors);
    }
}

/* 12.5 % twice, but 32 bytes and 1024: Fermi, and 3.125 % of a line. */
static void a_percentage_alone_misleads(void)
{
    WarpAccess same = plain(4, 0, 0), far = plain(4, 0, 32);
    SectorCount one = calc_sectors(&same), other = calc_sectors(&far);

    CU_ASSERT_EQUAL(one.efficiency, other.efficiency);
    CU_ASSERT_EQUAL(one.moved_bytes, 32);
    CU_ASSERT_EQUAL(other.moved_bytes, 1024);
    NEAR(one.lines_efficiency, 0.03125);
    NEAR(other.lines_efficiency, 0.03125);
    CU_ASSERT_EQUAL(one.least, 1);
    CU_ASSERT_EQUAL(other.least, 4);
}

/* Boehm's first two kernels, warps of 32 x 1 and of a row of 32. hand. */
static void sectors_of_rows(void)
{
    static const struct {
        WarpAccess access;
        int sectors;
    } rows[] = {
        { { 4, 32, 0, 4096, 32, 0, false }, 32 },  /* its load of A: lanes along rows */
        { { 4, 32, 0, 0, 32, 0, false }, 1 },      /* of B: broadcast */
        { { 4, 32, 0, 1, 8, 100, false }, 5 + 1 }, /* four rows of 8, at words 0 100 200 300: 1 2 1
                                                      2 */
        { { 4, 32, 0, 1, 16, 1000, false }, 4 },
        { { 4, 8, 0, 1, 32, 0, false }, 1 }, /* eight lanes on */
        { { 4, 1, 7, 1, 32, 0, false }, 1 },
        { { 4, 2, 7, 1, 32, 0, false }, 2 },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CU_ASSERT_EQUAL(calc_sectors(&rows[i].access).sectors, rows[i].sectors);
}

/* ---- Banks ---- */

static void bank_conflicts(void)
{
    static const struct {
        WarpAccess access;
        int wavefronts, least;
    } rows[] = {
        /* BPG 10.2.3 and gcd(stride, 32); labs 02: pitches 63 to 72; A.1: columns of tiles */
        { { 4, 32, 0, 1, 32, 0, false }, 1, 1 },
        { { 4, 32, 0, 2, 32, 0, false }, 2, 1 },
        { { 4, 32, 0, 3, 32, 0, false }, 1, 1 },
        { { 4, 32, 0, 4, 32, 0, false }, 4, 1 },
        { { 4, 32, 0, 8, 32, 0, false }, 8, 1 },
        { { 4, 32, 0, 16, 32, 0, false }, 16, 1 },
        { { 4, 32, 0, 17, 32, 0, false }, 1, 1 },
        { { 4, 32, 0, 31, 32, 0, false }, 1, 1 },
        { { 4, 32, 0, 32, 32, 0, false }, 32, 1 },
        { { 4, 32, 0, 33, 32, 0, false }, 1, 1 },
        { { 4, 32, 0, 34, 32, 0, false }, 2, 1 },
        { { 4, 32, 0, 36, 32, 0, false }, 4, 1 },
        { { 4, 32, 0, 40, 32, 0, false }, 8, 1 },
        { { 4, 32, 0, 48, 32, 0, false }, 16, 1 },
        { { 4, 32, 0, 63, 32, 0, false }, 1, 1 },
        { { 4, 32, 0, 64, 32, 0, false }, 32, 1 },
        { { 4, 32, 0, 65, 32, 0, false }, 1, 1 },
        { { 4, 32, 0, 66, 32, 0, false }, 2, 1 },
        { { 4, 32, 0, 72, 32, 0, false }, 8, 1 },
        { { 4, 32, 0, -1, 32, 0, false }, 1, 1 },
        { { 4, 32, 0, 0, 32, 0, false }, 1, 1 }, /* one word: broadcast */
        /* Boehm's fifth kernel, scalar reads of shared memory */
        { { 4, 32, 0, 8, 16, 0, false }, 4, 1 },  /* regN: 16 columns, stride 8 */
        { { 4, 32, 0, 0, 16, 64, false }, 2, 1 }, /* regM: two rows, 64 words apart */
        /* labs 07: 2 s tid in a block of 256; the last has only 4 lanes left */
        { { 4, 32, 0, 8, 32, 0, false }, 8, 1 },
        { { 4, 16, 0, 16, 32, 0, false }, 8, 1 },
        { { 4, 8, 0, 32, 32, 0, false }, 8, 1 },
        { { 4, 4, 0, 64, 32, 0, false }, 4, 1 },
        /* wide lanes (labs 02): the least is 1, 2, 4; a broadcast of 16 bytes counts 2, stored 4 */
        { { 8, 32, 0, 1, 32, 0, false }, 2, 2 },
        { { 16, 32, 0, 1, 32, 0, false }, 4, 4 },
        { { 16, 32, 0, 0, 32, 0, false }, 2, 2 },
        { { 16, 32, 0, 0, 32, 0, true }, 4, 4 },
        { { 16, 32, 0, 9, 32, 0, false }, 4, 4 }, /* a pitch of 36 words: 4 mod 32 */
        { { 16, 32, 0, 8, 32, 0, false }, 32, 4 },
        /* bytes in a word are one word; hand: bytes 3 and 128 are words 0 and 32, one bank */
        { { 1, 32, 0, 1, 32, 0, false }, 1, 1 },
        { { 1, 32, 3, 1, 32, 0, false }, 1, 1 },
        { { 1, 2, 3, 125, 32, 0, false }, 2, 1 },
        { { 2, 32, 1, 2, 32, 0, false }, 1, 1 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        BankCount count = calc_banks(&rows[i].access);
        CU_ASSERT_EQUAL(count.wavefronts, rows[i].wavefronts);
        CU_ASSERT_EQUAL(count.least, rows[i].least);
        NEAR(count.degree, (double) rows[i].wavefronts / rows[i].least);
    }
}

/* Whatever the pattern: at least one, at most one a lane; never outside the table of banks. */
static void patterns_at_random(void)
{
    uint64_t random = 5;

    for (int round = 0; round < 3000; round++) {
        WarpAccess access = {
            .bytes = 1 << next_random(&random) % 5,
            .lanes = 1 + (int) (next_random(&random) % 32),
            .offset = (long) (next_random(&random) % (CALC_ELEMENTS + 1)),
            .stride = (long) (next_random(&random) % (2 * CALC_ELEMENTS + 1)) - CALC_ELEMENTS,
            .width = 1 + (int) (next_random(&random) % 32),
            .pitch = (long) (next_random(&random) % 4000) - 2000,
            .store = round % 2,
        };
        SectorCount sectors = calc_sectors(&access);
        BankCount banks = calc_banks(&access);
        CU_ASSERT_TRUE(sectors.sectors >= sectors.least && sectors.sectors <= 32);
        CU_ASSERT_TRUE(sectors.lines >= 1 && sectors.lines <= sectors.sectors);
        CU_ASSERT_TRUE(sectors.efficiency > 0 && sectors.efficiency <= 1);
        CU_ASSERT_TRUE(banks.wavefronts >= banks.least && banks.wavefronts <= 32);
    }
}

static void accesses_that_cannot_be(void)
{
    static const WarpAccess rows[] = {
        { 0 },
        { 3, 32, 0, 1, 32, 0, false },
        { 32, 32, 0, 1, 32, 0, false },
        { -4, 32, 0, 1, 32, 0, false },
        { 4, 0, 0, 1, 32, 0, false },
        { 4, 33, 0, 1, 32, 0, false },
        { 4, 32, -1, 1, 32, 0, false },
        { 4, 32, 0, LONG_MAX, 32, 0, false },
        { 4, 32, 0, LONG_MIN, 32, 0, false },
        { 4, 32, 0, 1, 0, 0, false },
        { 4, 32, 0, 1, 33, 0, false },
        { 4, 32, 0, 1, 16, LONG_MAX, false },
        { INT_MIN, 32, 0, 1, 32, 0, false },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        CU_ASSERT_EQUAL(calc_sectors(&rows[i]).sectors, 0);
        CU_ASSERT_EQUAL(calc_banks(&rows[i]).wavefronts, 0);
        CU_ASSERT_EQUAL(calc_element(&rows[i], 31), 0);
    }
}

/* ---- Occupancy: devices that no file describes, and those that one does ---- */

/* Compute capability 7.0: CUDA C++ Programming Guide, technical specifications. */
#define VOLTA                                                                                      \
    {                                                                                              \
        .cc = 70, .sms = 80, .threads_per_sm = 2048, .blocks_per_sm = 32,                          \
        .threads_per_block = 1024, .registers_per_sm = 65536, .register_unit = 256,                \
        .schedulers_per_sm = 4, .shared_per_sm_bytes = 98304, .shared_per_block_bytes = 49152,     \
        .shared_per_block_optin_bytes = 98304                                                      \
    }
/* Kepler's SM (K20X), with the allocation of today's: only its blocks limit here. */
#define KEPLER                                                                                     \
    {                                                                                              \
        .cc = 50, .sms = 14, .threads_per_sm = 2048, .blocks_per_sm = 16,                          \
        .threads_per_block = 1024, .registers_per_sm = 65536, .register_unit = 256,                \
        .schedulers_per_sm = 4, .shared_per_sm_bytes = 49152, .shared_per_block_bytes = 49152,     \
        .shared_per_block_optin_bytes = 49152                                                      \
    }
/* Ryoo's SM: 8192 registers (the slide's 9192 is a slip), 768 threads; registers go to blocks. */
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
        /* BPG 11.1.1: the second needs warps in fours, not only registers in 256s */
        { &volta, 37, 128, 0, 12, 0.75, LIMIT_REGISTERS },
        { &volta, 37, 320, 0, 4, 0.625, LIMIT_REGISTERS },
        { &volta, 32, 256, 0, 8, 1, LIMIT_WARPS }, /* "32 registers or fewer for 100 %" */
        { &volta, 33, 256, 0, 6, 0.75, LIMIT_REGISTERS },
        { &kepler, 32, 32, 0, 16, 0.25, LIMIT_BLOCKS }, /* GPU lecture: blocks of one warp */
        { &g80, 10, 256, 4096, 3, 1, LIMIT_WARPS },     /* Ryoo's cliff */
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

/* Boehm's third kernel, on compute capability 8.6: the working, too. */
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
    CU_ASSERT_EQUAL(o.limits[LIMIT_SHARED], 11); /* 12 but for the KiB that is reserved */
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
        double efficiency, by_sms; /* per cent */
    } rows[] = {
        { 363, 16, 12, 1, 171, 94.53, 98.64 }, /* Orin, whose profiler said 50 % */
        { 193, 16, 12, 1, 1, 50.26, 92.79 },
        { 192, 16, 12, 1, 0, 100, 100 },
        { 1, 16, 12, 0, 1, 0.5208, 6.25 },
        { 3, 2, 1, 1, 1, 75, 75 }, /* one and a half waves */
        /* labs 08: a row more than SMs, whole, in halves, quarters, eighths, sixteenths */
        { 133, 132, 1, 1, 1, 50.38, 50.38 },
        { 266, 132, 1, 2, 2, 67.17, 67.17 },
        { 532, 132, 1, 4, 4, 80.61, 80.61 },
        { 1064, 132, 1, 8, 8, 89.56, 89.56 },
        { 2128, 132, 1, 16, 16, 94.83, 94.83 },
        /* gpu notes: SGEMM 4096 in tiles of 128 x 256 and 1 a SM: 3.88 waves */
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
        { 24, 8, 192 },                 /* Volkov: G80 and GT200, a SM */
        { 18, 32, 576 },                /* GF100 */
        { 18, 48, 864 },                /* GF104 */
        { 800 / 1.401, 177.4, 101299 }, /* Volkov: ns x GB/s, "less than 100 KB" */
        { 40, 0.5, 20 },                /* an escalator: s x people a second */
        { 10e3, 8, 80e3 },              /* Fermi: 10 us of PCIe at 8 GB/s */
        { 400, 0.5, 200 },              /* Fermi: instructions; 8 a warp make 25 warps */
        { 4, 128, 512 },                /* H200: four warps a scheduler, one chain each */
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
    /* n x n matrices, n / 6 FLOP a byte: bound by arithmetic from 228 on */
    CU_ASSERT_TRUE(calc_roofline(35500, 936, 227 / 6.0) < 35500);
    NEAR(calc_roofline(35500, 936, 228 / 6.0), 35500);
    CU_ASSERT_EQUAL(calc_roofline(35500, 936, 0), 0);
}

static void amdahl(void)
{
    static const struct {
        double share, n, gain, grown; /* grown: Gustafson's, 0: not looked at */
    } rows[] = {
        { 0.75, INFINITY, 4, 0 }, /* BPG 3.1.3 */
        { 0.75, 8, 2.909, 6.25 },
        { 0.93, INFINITY, 14.29, 0 }, /* a lecture's kernel */
        { 0.93, 1.7, 1.621, 0 },
        { 0.93, 100, 12.61, 93.07 },
        { 0.9, 16, 6.4, 0 }, /* Sheffield, by the serial part */
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
        { 0.5, 0.5, 0.6667, 0 }, /* a part that got slower */
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
        /* labs 05, stages of 1: (c + 2) / c with buffers enough; two buffers; one */
        { { { 1, 1, 1 }, 1, 1, 0 }, 3 },
        { { { 1, 1, 1 }, 4, 4, 0 }, 1.5 },
        { { { 1, 1, 1 }, 16, 16, 0 }, 1.125 },
        { { { 1, 1, 1 }, 16, 3, 0 }, 1.125 },
        { { { 1, 1, 1 }, 4096, 2, 0 }, 1.5002 },
        { { { 1, 1, 1 }, 32, 1, 0 }, 3 },
        { { { 1, 8, 1 }, 32, 4, 0 }, 8.0625 }, /* the control: 10 / 8 at most */
        { { { 5, 0, 0 }, 7, 1, 0 }, 5 },
        /* hand: 3 operations of 1 + 0.5, one after another and then none to wait for */
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

/* With buffers enough no operation waits twice: the closed form, for stages of any length. */
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
        p.buffers = 1; /* one after another */
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

/* ---- The command ---- */

static const char *run(const char *line, int *status)
{
    static Capture out, err;
    static char said[2 * sizeof out.text];
    char text[1000], *words[64];
    int count = 0;

    PUT(text, "%s", line);
    for (char *word = strtok(text, " "); word && count < 64; word = strtok(NULL, " "))
        words[count++] = word;
    setenv("WARPBOOK_BUILD", "grader/sim", 1); /* where the folder devices is */
    capture_begin(&out, stdout);
    capture_begin(&err, stderr);
    *status = calc_run(count, words);
    capture_end(&err);
    capture_end(&out);
    unsetenv("WARPBOOK_BUILD");
    return PUT(said, "%s%s", out.text, err.text);
}

static void what_it_says(void)
{
    static const struct {
        const char *line;
        int status;
        const char *says;
    } rows[] = {
        { "", 0, "usage: warpbook calc NAME" },
        { "--help", 0, "  waves " },
        { "wave", 2, "there is no calculator wave" },
        { "waves --help", 0, "  warpbook calc waves --blocks" },
        { "waves --blocks 3 -h", 0, "  warpbook calc waves --blocks" },
        { "waves --blocks 363 --sms 16 --resident 12", 0, "363 / (2 x 192) = 94.5 %" },
        { "waves --blocks=363 --sms=16 --resident=12", 0, "98.6 %" },
        { "waves --blocks 160 --device sim:t4 --resident 4", 0, "40 SMs x 4 = 160" },
        { "waves --blocks 160 --device t4 --sms 10 --resident 4", 0, "10 SMs x 4 = 40" },
        { "waves --device sim --blocks 9 --resident 1", 0, "8 SMs" },
        { "waves --blocks 3", 2, "--sms is missing (of the GPU): give it, or --device" },
        { "waves 363", 2, "363: say which number it is" },
        { "waves --blocks", 2, "--blocks: its value is missing" },
        { "waves --blocks --sms 3", 2, "--blocks: its value is missing" },
        { "waves --fast 3", 2, "--fast: there is no such option" },
        { "waves --", 2, "there is no such option" },
        { "waves --blocks 0", 2, "--blocks 0: is to be a whole number from 1 to" },
        { "waves --blocks -3", 2, "--blocks -3: is to be a whole number" },
        { "waves --blocks 1.5", 2, "is to be a whole number" },
        { "waves --blocks nan", 2, "--blocks nan: is to be a whole number" },
        { "waves --blocks inf", 2, "is to be a whole number" },
        { "waves --blocks 0x10", 2, "is to be a whole number" },
        { "waves --blocks 1e999", 2, "is to be a whole number" },
        { "waves --blocks 12k", 2, "is to be a whole number" },
        { "waves --blocks 1e", 2, "is to be a whole number" },
        { "waves --blocks .", 2, "is to be a whole number" },
        { "waves --blocks 11111111111111111111111111111111111111111111111111", 2, "is to be" },
        { "waves --device 0 --blocks 1 --resident 1", 2, "not a real one's number" },
        { "waves --device sim: --blocks 1 --resident 1", 2, "is no name of a device" },
        { "waves --device sim:gtx480", 2, "there is no device `gtx480`; there are: a100" },
        { "waves --device /dev/null", 2, "name is missing" },
        { "amdahl --device t4", 2, "there is no such option" },
        { "occupancy --threads 256", 2, "--device is missing" },
        { "occupancy --device t4 --threads 256 --registers 40 --shared 8KiB", 0, "= 100.0 %" },
        { "occupancy --device t4 --threads 256 --shared 8kB", 2, "is to be bytes, or KiB" },
        { "occupancy --device t4 --threads 256 --shared 0.3KiB", 2, "is to be bytes" },
        { "occupancy --device t4 --threads 256 --shared 65KiB", 0, "not one block fits" },
        { "occupancy --device t4 --threads 1025", 2, "from 1 to 1024" },
        { "occupancy --device a100 --threads 288 --registers 255", 0, "not one block fits" },
        { "occupancy --device t4 --threads 64 --registers 0", 0, "100.0 %" },
        { "sectors", 0, "sectors     = 4;" },
        { "sectors --stride 32", 0, "128 / 1024 = 12.5 %" },
        { "sectors --offset 1", 0, "128 / 160 = 80.0 %" },
        { "sectors --stride -1 --offset 31", 0, "= 100.0 %" },
        { "sectors --bytes 3", 2, "--bytes 3: is to be 1, 2, 4, 8 or 16" },
        { "sectors --width 8", 2, "--pitch is missing" },
        { "sectors --pitch 8", 2, "--width is missing" },
        { "sectors --store=1", 2, "takes no value" },
        { "sectors --width 16 --pitch 100 --store", 0, "writes 4 bytes" },
        { "banks --stride 32", 0, "32 / 1 = 32" },
        { "banks --stride 33", 0, "no conflict" },
        { "banks --bytes 16 --stride 0 --store", 0, "4 / 4 = 1" },
        { "little --latency 600 --gbps 4000", 0, "2400000 bytes" },
        { "little --latency 800 --device h200", 0, "More than there can be" },
        { "little --latency 0 --gbps 4000", 2, "--latency 0: is to be a number from 0.001 to" },
        { "ilp --latency 18 --rate 32", 0, "= 576" },
        { "ilp --latency 4 --device h200", 0, "4 on each scheduler" },
        { "roofline --tflops 35.5 --gbps 936", 0, "37.93 FLOP a byte" },
        { "roofline --tflops 35.5 --gbps 936 --intensity 0.08333", 0, "memory" },
        { "roofline --device t4 --flop 1e9", 2, "--bytes is missing" },
        { "roofline --device t4 --bytes 1e9", 2, "--flop is missing" },
        { "roofline --device t4 --bytes 1e9 --flop 1 --intensity 2", 2, "leave one out" },
        { "roofline --tflops 30 --gbps 768 --flop 137.05e9 --bytes 268e6", 0, "4.568 ms" },
        { "amdahl --share 75% --times 8", 0, "= 2.909" },
        { "amdahl --share 0.75 --times 8", 0, "= 6.25" },
        { "amdahl --share 101% --times 8", 2, "is to be a part, or a percentage, from 0 to 1" },
        { "amdahl --share 1 --times 8", 0, "without limit" },
        { "overlap --up 10 --kernel 10 --chunks 4", 0, "= 12.5 ms" },
        { "overlap --kernel 0 --chunks 4", 2, "nothing takes any time" },
        { "overlap --up 1.216 --kernel 1.216 --down 1.216 --chunks 32 --buffers 2 --measured 2.24",
          0, "57.9 %" },
        { "overlap --kernel 1 --chunks 4097", 2, "from 1 to 4096" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        int status;
        const char *said = run(rows[i].line, &status);
        CU_ASSERT_EQUAL(status, rows[i].status);
        CU_ASSERT_PTR_NOT_NULL(strstr(said, rows[i].says));
        if (status != rows[i].status || !strstr(said, rows[i].says))
            printf("calc %s: %d\n%s", rows[i].line, status, said);
    }
}

static bool is_narrow(const char *text)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
        if (strcspn(text, "\n") > 80)
            return false;
    return true;
}

/* Help runs each example; then the largest numbers. */
static void all_in_80_columns(void)
{
    static const char *const lines[] = {
        "",
        "sectors --help",
        "banks --help",
        "occupancy --help",
        "waves --help",
        "little --help",
        "ilp --help",
        "roofline --help",
        "amdahl --help",
        "overlap --help",
        "sectors --stride -2147483648 --offset 2147483648 --bytes 16 --width 7 --pitch -2147483648",
        "banks --stride 2147483648 --offset 2147483648 --bytes 16 --width 7 --pitch 2147483647",
        "occupancy --device h200 --threads 1024 --registers 255 --shared 232448",
        "occupancy --device h200 --threads 33 --registers 33 --shared 100001",
        "waves --blocks 999999999999999 --sms 999999 --resident 1023",
        "little --latency 123456789012 --gbps 123456789.123 --sms 123456 --bytes 1048575",
        "little --latency 123456789012 --gbps 123456789.123 --device h200 --bytes 1048575",
        "ilp --latency 999999999 --rate 999999.1 --chains 1023",
        "roofline --tflops 999999.123 --gbps 999999999.1 --flop 1.2345e23 --bytes 999999999999999",
        "amdahl --share 0.123456789 --times 123456789012",
        "overlap --up 123456789.1 --kernel 123456789.2 --down 123456789.3 --chunks 4095 "
        "--buffers 4094 --each 123456.1 --measured 999999999",
        "overlap --up 123456789.1 --kernel 123456789.2 --down 123456789.3 --chunks 20 "
        "--measured 123456789",
    };

    for (size_t i = 0; i < COUNT(lines); i++) {
        int status;
        const char *said = run(lines[i], &status);
        CU_ASSERT_TRUE(is_narrow(said));
        CU_ASSERT_EQUAL(status, 0);
        if (!is_narrow(said) || status)
            printf("calc %s:\n%s", lines[i], said);
    }
}

CU_SuiteInfo test_calc = {
    "calc",
    .pTests =
        (CU_TestInfo[]){
            { "sectors and lines", sectors_and_lines },
            { "a percentage alone misleads", a_percentage_alone_misleads },
            { "sectors of rows", sectors_of_rows },
            { "bank conflicts", bank_conflicts },
            { "patterns at random", patterns_at_random },
            { "accesses that cannot be", accesses_that_cannot_be },
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
            { "what it says", what_it_says },
            { "all in 80 columns", all_in_80_columns },
            CU_TEST_INFO_NULL,
        },
};
