/* test_calc_access.c - sectors and banks of an access against published figures.
 *
 * Sources are those of test_calc.c.
 */
#include "calc/calc.h"
#include "rows.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <limits.h>
#include <math.h>

/* Equal except for rounding errors. */
#define NEAR(got, want) CU_ASSERT_DOUBLE_EQUAL(got, want, 1e-9 * fabs((double) (want)))

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
        { 4, 0, 32, 32, 0.125, 32 }, /* by lines 3.125 %, unlike by sectors */
        { 4, 0, 33, 32, 0.125, 32 },
        /* BPG 10.2.1.3, offsets */
        { 4, 1, 1, 5, 0.8, 2 },
        { 4, 4, 1, 5, 0.8, 2 },
        { 4, 7, 1, 5, 0.8, 2 },
        { 4, 8, 1, 4, 1, 2 },
        { 4, 16, 1, 4, 1, 2 },
        { 4, 31, 1, 5, 0.8, 2 },
        { 4, 32, 1, 4, 1, 1 },
        /* Fermi: all lanes read one word */
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

/* Both are 12.5 %, but of 32 bytes and of 1024: Fermi, and 3.125 % of a line. */
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

/* Boehm's first two kernels, with warps of 32 x 1 and of a row of 32 (hand). */
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
        { { 4, 8, 0, 1, 32, 0, false }, 1 }, /* the next eight lanes */
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
        /* wide lanes (labs 02): the minimum is 1, 2, 4; a broadcast of 16 bytes takes 2, a store of
         * it 4 */
        { { 8, 32, 0, 1, 32, 0, false }, 2, 2 },
        { { 16, 32, 0, 1, 32, 0, false }, 4, 4 },
        { { 16, 32, 0, 0, 32, 0, false }, 2, 2 },
        { { 16, 32, 0, 0, 32, 0, true }, 4, 4 },
        { { 16, 32, 0, 9, 32, 0, false }, 4, 4 }, /* a pitch of 36 words: 4 mod 32 */
        { { 16, 32, 0, 8, 32, 0, false }, 32, 4 },
        /* bytes of one word count as one word; hand: bytes 3 and 128 are in words 0 and 32, the
         * same bank */
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

/* For any pattern, the count is at least one, at most one per lane, and within the table of
 * banks. */
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

CU_SuiteInfo test_calc_access = {
    "calc_access",
    .pTests =
        (CU_TestInfo[]){
            { "sectors and lines", sectors_and_lines },
            { "a percentage alone misleads", a_percentage_alone_misleads },
            { "sectors of rows", sectors_of_rows },
            { "bank conflicts", bank_conflicts },
            { "patterns at random", patterns_at_random },
            { "accesses that cannot be", accesses_that_cannot_be },
            CU_TEST_INFO_NULL,
        },
};
