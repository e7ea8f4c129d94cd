/* test_stats.c - medians, quantiles, and whether the interval covers the median as often as
 * promised. */
#include "rows.h"
#include "base/stats.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

static void medians(void)
{
    static const struct {
        double values[6];
        size_t count;
        double median;
    } rows[] = {
        { { 7 }, 1, 7 },
        { { 3, 1 }, 2, 2 },
        { { 9, 1, 5 }, 3, 5 },
        { { 4, 1, 3, 2 }, 4, 2.5 },
        { { 2, 2, 2, 2, 1e9 }, 5, 2 },
        { { -1, -3, -2 }, 3, -2 },
        { { 1e308, 1.5e308 }, 2, 1.25e308 },
        { { INFINITY, 1, 2 }, 3, 2 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        double before[6];
        memcpy(before, rows[i].values, sizeof before);
        CU_ASSERT_DOUBLE_EQUAL(median(rows[i].values, rows[i].count) / rows[i].median, 1, 1e-12);
        CU_ASSERT_EQUAL(memcmp(before, rows[i].values, sizeof before), 0);
    }
}

static void quantiles(void)
{
    static const double values[] = { 40, 10, 30, 20, 50 };
    static const struct {
        double q, want;
    } rows[] = { { 0, 10 },   { 1, 50 },    { 0.5, 30 }, { 0.25, 20 },
                 { 0.1, 14 }, { 0.95, 48 }, { -1, 10 },  { 2, 50 } };

    for (size_t i = 0; i < COUNT(rows); i++)
        CU_ASSERT_DOUBLE_EQUAL(quantile(values, 5, rows[i].q), rows[i].want, 1e-12);
}

/* Ranks from 1, as in tables of the sign test; 0: no such rank, so the interval is the whole range.
 * Computed with exact integers: max k with 40 * sum(comb(n, i) for i < k) <= 2**n. */
static void ranks_as_in_tables(void)
{
    static const struct {
        size_t n, rank;
    } rows[] = {
        { 6, 1 },    { 8, 1 },    { 9, 2 },     { 10, 2 },     { 11, 2 },  { 12, 3 },
        { 14, 3 },   { 15, 4 },   { 16, 4 },    { 17, 5 },     { 20, 6 },  { 25, 8 },
        { 30, 10 },  { 40, 14 },  { 50, 18 },   { 60, 22 },    { 70, 27 }, { 100, 40 },
        { 120, 49 }, { 200, 86 }, { 500, 228 }, { 1000, 469 },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CU_ASSERT_EQUAL(interval_rank(rows[i].n, 0.05), rows[i].rank - 1);
    for (size_t n = 1; n < 6; n++)
        CU_ASSERT_EQUAL(interval_rank(n, 0.05), 0);
}

/* The same for every n up to 1000, as a hash of the exact ranks (0 for n < 6; two bytes each, low
 * byte first), and beyond, where a double cannot represent 2^-n. */
static void ranks_up_to_a_thousand(void)
{
    uint64_t hash = HASH_START;

    for (size_t n = 1; n <= 1000; n++) {
        size_t rank = n < 6 ? 0 : interval_rank(n, 0.05) + 1;
        unsigned char bytes[] = { (unsigned char) (rank & 255), (unsigned char) (rank >> 8) };
        hash = hash_bytes(hash, bytes, 2);
    }
    CU_ASSERT_EQUAL(hash, 0x97e028660e225a24ull);
    CU_ASSERT_EQUAL(interval_rank(10000, 0.05), 4901);
}

static void intervals(void)
{
    double values[15];
    Interval i;

    for (int k = 0; k < 15; k++)
        values[k] = (k * 7) % 15 + 1; /* 1 .. 15, mixed */
    i = median_interval(values, 15, 0.05);
    CU_ASSERT_EQUAL(i.median, 8);
    CU_ASSERT_EQUAL(i.lo, 4);
    CU_ASSERT_EQUAL(i.hi, 12);
    i = median_interval(values, 5, 0.05); /* 1 8 15 7 14: the whole range */
    CU_ASSERT_EQUAL(i.median, 8);
    CU_ASSERT_EQUAL(i.lo, 1);
    CU_ASSERT_EQUAL(i.hi, 15);
    i = median_interval(values, 1, 0.05);
    CU_ASSERT(i.lo == 1 && i.median == 1 && i.hi == 1);
}

/* ---- Coverage ---- */

static double uniform(uint64_t *state)
{
    return ((double) (next_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(uniform(state)));

    return radius * cos(2 * 3.14159265358979 * uniform(state));
}

/* Element k of n of a sample from the distribution under test; each distribution has median 0. */
typedef double Law(uint64_t *state, double k, double n);

static double plain(uint64_t *state, double k, double n)
{
    (void) k, (void) n;
    return normal(state);
}

/* Two clock states. */
static double two_humps(uint64_t *state, double k, double n)
{
    (void) k, (void) n;
    return (next_random(state) & 1 ? 3 : -3) + normal(state);
}

/* Drifts by half a standard deviation from the first to the last. */
static double drifting(uint64_t *state, double k, double n)
{
    return normal(state) + 0.5 * (k / (n - 1) - 0.5);
}

/* One in ten is far above the rest, so the median of all is where F = 0.5 / 0.9 of the rest. */
static double with_outliers(uint64_t *state, double k, double n)
{
    (void) k, (void) n;
    return (uniform(state) < 0.1 ? 1000 : normal(state)) - 0.139710298882;
}

static void coverage_is_as_promised(void)
{
    static Law *const laws[] = { plain, two_humps, drifting, with_outliers };
    static const size_t sizes[] = { 6, 15, 16, 40, 120 };

    for (size_t l = 0; l < COUNT(laws); l++)
        for (size_t s = 0; s < COUNT(sizes); s++) {
            enum { TRIALS = 2000 };
            uint64_t state = 1000 * l + s;
            int covered = 0;
            for (int trial = 0; trial < TRIALS; trial++) {
                double values[120];
                for (size_t k = 0; k < sizes[s]; k++)
                    values[k] = laws[l](&state, (double) k, (double) sizes[s]);
                Interval i = median_interval(values, sizes[s], 0.05);
                covered += i.lo <= 0 && 0 <= i.hi;
            }
            CU_ASSERT(covered >= TRIALS * 93 / 100);
            CU_ASSERT(covered <= TRIALS * 99 / 100);
        }
}

static void the_median_resists_outliers(void)
{
    double values[15];
    Interval i;

    for (int k = 0; k < 15; k++)
        values[k] = 1 + 0.001 * k;
    for (int spoilt = 0; spoilt <= 3; spoilt++) {
        i = median_interval(values, 15, 0.05);
        CU_ASSERT(1 <= i.median && i.median < 1.015);
        CU_ASSERT(1 <= i.lo && i.hi < 1.015);
        values[2 * spoilt] = 1e6;
    }
}

CU_SuiteInfo test_stats = {
    "stats",
    .pTests =
        (CU_TestInfo[]){
            { "medians", medians },
            { "quantiles", quantiles },
            { "ranks as in tables", ranks_as_in_tables },
            { "ranks up to a thousand", ranks_up_to_a_thousand },
            { "intervals", intervals },
            { "coverage is as promised", coverage_is_as_promised },
            { "the median resists outliers", the_median_resists_outliers },
            CU_TEST_INFO_NULL,
        },
};
