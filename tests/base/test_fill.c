/* test_fill.c - the contents of inputs: the same everywhere, well spread, different for every
 * index. */
#include "fill.h"

#include <CUnit/CUnit.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MANY = 1 << 20 };

static const Fill uniform = { FILL_UNIFORM, 0, 0 };
static const Fill small = { FILL_SMALL, 0, 0 };
static const Fill wide = { FILL_WIDE, 0, 0 };

static uint32_t word(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Computed once by a Python program written from the comments of fill_hash.h, with unlimited
 * integers: a printed seed gives the same inputs in a later version. */
static void golden_values(void)
{
    static const struct {
        uint64_t seed;
        int array;
        uint64_t index;
        uint32_t bits, uniform;
        int32_t small, range; /* range: -5 .. 99 */
        uint32_t wide;
    } rows[] = {
        { 1, 0, 0, 0x87a891a7, 0x3d751200, -5, 50, 0xbdc3d448 },
        { 1, 0, 1, 0xe7d2ae06, 0x3f4fa55c, 8, 90, 0x3ff3e957 },
        { 1, 1, 0, 0xba05ebc7, 0x3ee817a8, -6, 71, 0xc85d02f5 },
        { 0x123456789abcdef, 0, 5, 0x634b9437, 0xbe65a360, -4, 35, 0xb6b1a5ca },
        { 0x123456789abcdef, 3, 0x100000000, 0xf7875660, 0x3f6f0eac, 8, 96, 0x417bc3ab },
        { 0x123456789abcdef, 3, 0x100000001, 0x94c9d3db, 0x3e264e90, -5, 56, 0xc8ca64e9 },
        { UINT64_MAX, 2, 0x10000003039, 0x648e319f, 0xbe5b8e80, -4, 36, 0xbdb24718 },
        { 7, 0, 1000003, 0xe083ff01, 0x3f4107fc, -8, 87, 0xc4f041ff },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        FillKey key = fill_key(rows[i].seed, rows[i].array);
        Fill range = { FILL_RANGE, -5, 100 };
        size_t index = (size_t) rows[i].index;
        CU_ASSERT_EQUAL(fill_bits(key, index), rows[i].bits);
        CU_ASSERT_EQUAL(word(fill_f32(uniform, key, index)), rows[i].uniform);
        CU_ASSERT_EQUAL(fill_i32(small, key, index), rows[i].small);
        CU_ASSERT_EQUAL(fill_i32(range, key, index), rows[i].range);
        CU_ASSERT_EQUAL(word(fill_f32(wide, key, index)), rows[i].wide);
        CU_ASSERT_EQUAL(fill_f32(small, key, index), (float) rows[i].small);
        CU_ASSERT_EQUAL(fill_f32(range, key, index), (float) rows[i].range);
    }
    /* The first spike of that array. */
    CU_ASSERT_EQUAL(fill_f32(uniform, fill_key(1, 0), 452), 516.76416015625f);
}

static void absorb(uint32_t v[4], uint32_t word)
{
    v[3] ^= word;
    FILL_ROUND(v);
    v[0] ^= word;
}

/* With this round, HalfSipHash-1-3 must give the test vector of the Linux kernel's siphash
 * self-test: key 00 to 07, message 00 to 07. */
static void published_vector(void)
{
    const uint32_t a = 0x03020100, b = 0x07060504;
    uint32_t v[4] = { a, b, 0x6c796765 ^ a, 0x74656462 ^ b };

    absorb(v, 0x03020100);
    absorb(v, 0x07060504);
    absorb(v, 8u << 24); /* the message's length in bytes */
    v[2] ^= 0xff;
    for (int round = 0; round < 3; round++)
        FILL_ROUND(v);
    CU_ASSERT_EQUAL(v[1] ^ v[3], 0x577999b1);
}

static void many_at_once_are_the_same(void)
{
    static const size_t firsts[] = { 0, 1, 3, 1000, ((size_t) 1 << 34) - 20 };
    static const size_t steps[] = { 1, 2, 7, 11264, (size_t) 1 << 33 };
    static const size_t counts[] = { 0, 1, 31, 32, 35, 200, 700 };
    static const FillKind kinds[] = { FILL_UNIFORM, FILL_SUMMED, FILL_RUNS, FILL_WIDE,
                                      FILL_SIGNED };
    FillKey key = fill_key(11, 2);
    uint32_t bits[700];
    float values[700];
    int wrong = 0;

    for (int n = 0; n < 5 * 5 * 7 * 5; n++) {
        size_t first = firsts[n % 5], step = steps[n / 5 % 5], count = counts[n / 25 % 7];
        Fill fill = { kinds[n / 175], 0, 9 };
        fill_bits_of(key, first, step, count, bits);
        fill_f32s(fill, key, first, step, count, values);
        for (size_t i = 0; i < count; i++)
            wrong += bits[i] != fill_bits(key, first + i * step) ||
                     values[i] != fill_f32(fill, key, first + i * step);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* Every bit of key and position affects every bit of a word: on average 16 of 32 bits change. */
static void one_bit_changes_half(void)
{
    FillKey key = fill_key(10, 0);
    uint32_t words[4], other[4];
    int changed = 0;

    fill_words(key, 12345, words);
    for (int bit = 0; bit < 128; bit++) {
        FillKey flipped = { key.a ^ (bit < 32 ? 1u << bit : 0),
                            key.b ^ (32 <= bit && bit < 64 ? 1u << (bit - 32) : 0) };
        fill_words(flipped, 12345 ^ (bit < 64 ? 0 : 1ull << (bit - 64)), other);
        for (int i = 0; i < 4; i++) {
            int differ = __builtin_popcount(words[i] ^ other[i]);
            CU_ASSERT(3 <= differ && differ <= 29); /* fails for one random word in four million */
            changed += differ;
        }
    }
    CU_ASSERT(abs(changed - 128 * 64) < 320); /* five standard deviations */
}

static void uniform_is_uniform(void)
{
    FillKey key = fill_key(2, 0);
    double sum = 0, squares = 0;
    int spikes = 0, tenth[20] = { 0 };

    for (size_t i = 0; i < MANY; i++) {
        float value = fill_f32(uniform, key, i);
        bool spike = (fill_bits(key, i) & 1023) == 0;
        spikes += spike;
        if (spike)
            value /= 1024;
        CU_ASSERT_FATAL(-1 <= value && value < 1);
        sum += value;
        squares += value * value;
        tenth[(int) ((value + 1) * 10)]++;
    }
    CU_ASSERT(fabs(sum / MANY) < 0.003); /* five standard deviations: 5 * 0.577 / 1024 */
    CU_ASSERT_DOUBLE_EQUAL(squares / MANY, 1.0 / 3, 0.002);
    CU_ASSERT(880 < spikes && spikes < 1170); /* 1024, standard deviation 32 */
    for (int t = 0; t < 20; t++)
        CU_ASSERT(abs(tenth[t] - MANY / 20) < 1200); /* 52429, standard deviation 223 */
}

static void small_is_never_zero(void)
{
    FillKey key = fill_key(3, 1);
    int seen[17] = { 0 };

    for (size_t i = 0; i < MANY; i++) {
        int value = fill_i32(small, key, i);
        CU_ASSERT_FATAL(-8 <= value && value <= 8);
        seen[value + 8]++;
    }
    for (int v = -8; v <= 8; v++)
        CU_ASSERT(v ? abs(seen[v + 8] - MANY / 16) < 1300 : !seen[8]);
}

static void range_keeps_its_bounds(void)
{
    static const struct {
        int lo, hi;
    } rows[] = {
        { 0, 256 },
        { -5, 100 },
        { 7, 8 },
        { -1, 1 },
        { INT_MIN, INT_MAX },
        { INT_MAX - 1, INT_MAX },
        { INT_MIN, INT_MIN + 1 },
    };

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        Fill range = { FILL_RANGE, rows[r].lo, rows[r].hi };
        FillKey key = fill_key(4, (int) r);
        int low = INT_MAX, high = INT_MIN;
        for (size_t i = 0; i < 100000; i++) {
            int value = fill_i32(range, key, i);
            CU_ASSERT_FATAL(rows[r].lo <= value && value < rows[r].hi);
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        if ((double) rows[r].hi - rows[r].lo < 1000) { /* then every value occurs */
            CU_ASSERT_EQUAL(low, rows[r].lo);
            CU_ASSERT_EQUAL(high, rows[r].hi - 1);
        } else {
            CU_ASSERT(low < INT_MIN / 1000 * 999);
            CU_ASSERT(high > INT_MAX / 1000 * 999);
        }
    }
}

static void wide_is_wide(void)
{
    FillKey key = fill_key(5, 0);
    int seen[40] = { 0 }, negative = 0;

    for (size_t i = 0; i < MANY; i++) {
        float value = fill_f32(wide, key, i);
        CU_ASSERT_FATAL(isfinite(value) && value != 0);
        int exponent = ilogbf(value);
        CU_ASSERT_FATAL(-20 <= exponent && exponent < 20);
        seen[exponent + 20]++;
        negative += value < 0;
    }
    CU_ASSERT(abs(negative - MANY / 2) < 2600);
    for (int e = 0; e < 40; e++)
        CU_ASSERT(fabs(seen[e] - MANY / 40.0) < 0.1 * MANY / 40); /* 12 or 13 of 512 */
}

/* The share of elements that agree: one in 2^23 if they are random, one in 16 for small ones. */
static int agree(FillKey a, size_t index_a, FillKey b, size_t index_b)
{
    int equal = 0;

    for (size_t i = 0; i < 100000; i++)
        equal += fill_bits(a, index_a + i) == fill_bits(b, index_b + i);
    return equal;
}

static void seeds_arrays_and_far_indices_differ(void)
{
    static const struct {
        uint64_t seed_a, seed_b;
        int array_a, array_b;
        uint64_t index_a, index_b;
    } rows[] = {
        { 1, 2, 0, 0, 0, 0 },              /* neighbouring seeds */
        { 1, 1ull << 32 | 1, 0, 0, 0, 0 }, /* high halves only */
        { 0, 1ull << 63, 0, 0, 0, 0 },
        { 1, 1, 0, 1, 0, 0 }, /* arrays of one call */
        { 1, 1, 0, 3, 0, 0 },
        { 1, 1, 0, 0, 0, 1 }, /* neighbours */
        { 1, 1, 0, 0, 0, 32 },
        { 1, 1, 0, 0, 0, 65536 },
        { 1, 1, 0, 0, 0, 1ull << 31 },
        { 1, 1, 0, 0, 0, 1ull << 32 }, /* what an int or a uint32_t would lose */
        { 1, 1, 0, 0, 1ull << 32, 1ull << 33 },
        { 1, 1, 0, 0, (1ull << 32) - 50000, 50000 }, /* across the step */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT(agree(fill_key(rows[i].seed_a, rows[i].array_a), (size_t) rows[i].index_a,
                        fill_key(rows[i].seed_b, rows[i].array_b), (size_t) rows[i].index_b) <= 2);
    CU_ASSERT_EQUAL(agree(fill_key(1, 0), 5, fill_key(1, 0), 5), 100000);
}

/* Correlation of elements that are `distance` apart, or in another array; one standard deviation is
 * 1 / sqrt(n). Spikes are scaled down, because they would otherwise dominate. */
static double correlation(FillKey a, FillKey b, size_t distance)
{
    double sum = 0;

    for (size_t i = 0; i < MANY; i++) {
        float x = fill_f32(uniform, a, i), y = fill_f32(uniform, b, i + distance);
        sum += (fabsf(x) >= 1 ? x / 1024 : x) * (fabsf(y) >= 1 ? y / 1024 : y);
    }
    return 3 * sum / MANY;
}

static void elements_are_uncorrelated(void)
{
    static const size_t distances[] = { 1,  2,   3,    4,    31,      32,     33,
                                        64, 256, 1024, 4096, 1 << 16, 1 << 24 };
    FillKey key = fill_key(6, 0), other = fill_key(6, 1), next = fill_key(7, 0);

    CU_ASSERT(fabs(correlation(key, key, 0) - 1) < 0.01);
    for (size_t d = 0; d < sizeof distances / sizeof *distances; d++)
        CU_ASSERT(fabs(correlation(key, key, distances[d])) < 0.005);
    CU_ASSERT(fabs(correlation(key, other, 0)) < 0.005);
    CU_ASSERT(fabs(correlation(key, next, 0)) < 0.005);
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

    return (x > y) - (x < y);
}

/* Among 2^20 random 32-bit words, 2^40 / 2^33 = 128 pairs are equal, within five standard
 * deviations. A period, or a hash with few results, would give more pairs; an invertible hash gives
 * none. */
static void as_many_equal_as_random(void)
{
    static uint32_t bits[MANY];
    FillKey key = fill_key(8, 0);
    int equal = 0;

    for (size_t i = 0; i < MANY; i++)
        bits[i] = fill_bits(key, i);
    qsort(bits, MANY, sizeof *bits, ascending);
    for (size_t i = 1; i < MANY; i++)
        equal += bits[i] == bits[i - 1];
    CU_ASSERT(72 <= equal && equal <= 184);
}

/* The sum that the grader computes equals the sum that a kernel computes, at any length. */
static void sums_are_known(void)
{
    static const size_t counts[] = { 0, 1, 1023, 1024, 1025, 2048, 5000, 102400 };
    static const Fill summed = { FILL_SUMMED, 0, 0 };

    for (uint64_t seed = 1; seed < 4; seed++) {
        FillKey key = fill_key(seed, 0);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            int64_t sum = 0;
            for (size_t i = 0; i < counts[c]; i++) {
                float value = fill_f32(summed, key, i);
                sum += (int64_t) value;
                CU_ASSERT_EQUAL(value, (float) fill_i32(summed, key, i));
            }
            CU_ASSERT_EQUAL(sum, fill_sum(key, counts[c]));
        }
    }
}

/* Chunks have different sums, which spread over the whole possible range. */
static void sums_of_chunks_are_spread(void)
{
    FillKey key = fill_key(9, 0);
    int below = 0, least = 0, most = 0;

    for (size_t chunk = 0; chunk < 10000; chunk++) {
        int sum = fill_chunk_sum(key, chunk);
        below += sum < 0;
        least = sum < least ? sum : least;
        most = sum > most ? sum : most;
    }
    CU_ASSERT(below > 4800 && below < 5200);
    CU_ASSERT_EQUAL(least, -FILL_SUM);
    CU_ASSERT_EQUAL(most, FILL_SUM - 1);
}

/* FILL_SIGNED: the hashes give the number of positive elements of each chunk, which differs from
 * chunk to chunk; where they are differs, too. */
static void positive_elements_are_known(void)
{
    static const Fill is_signed = { FILL_SIGNED, 0, 100 };
    enum { CHUNKS = 200 };
    FillKey key = fill_key(12, 0);
    int at[FILL_CHUNK] = { 0 }, least = FILL_CHUNK, most = 0;

    for (size_t chunk = 0; chunk < CHUNKS; chunk++) {
        int positive = 0;
        for (size_t i = 0; i < FILL_CHUNK; i++) {
            int32_t value = fill_i32(is_signed, key, chunk * FILL_CHUNK + i);
            CU_ASSERT_FATAL(value != 0 && -100 <= value && value <= 100);
            positive += value > 0;
            at[i] += value > 0;
        }
        CU_ASSERT_EQUAL(positive, (int) fill_chunk_positive(fill_chunk_bits(key, chunk)));
        least = positive < least ? positive : least;
        most = positive > most ? positive : most;
    }
    CU_ASSERT(least < FILL_POSITIVE + 16 && most > FILL_POSITIVE + 112);
    for (size_t i = 0; i < FILL_CHUNK; i++) /* half of 200 on average; 6 standard deviations */
        CU_ASSERT(at[i] > CHUNKS / 2 - 43 && at[i] < CHUNKS / 2 + 43);
}

/* FILL_SKEWED: nine in ten elements have the lowest value, which also has its share of the rest.
 * FILL_RUNS: the value changes only from warp to warp. */
static void skewed_and_runs(void)
{
    const Fill skewed = { FILL_SKEWED, 3, 11 }, runs = { FILL_RUNS, 0, 8 };
    FillKey key = fill_key(3, 1);
    int count[8] = { 0 }, seen[8] = { 0 };

    for (size_t i = 0; i < MANY; i++) {
        int32_t value = fill_i32(skewed, key, i) - 3, run = fill_i32(runs, key, i);
        CU_ASSERT_FATAL(0 <= value && value < 8 && 0 <= run && run < 8);
        CU_ASSERT_EQUAL(run, fill_i32(runs, key, i / 32 * 32));
        count[value]++;
        seen[run]++;
    }
    CU_ASSERT_DOUBLE_EQUAL(count[0] / (double) MANY, 0.9 + 0.1 / 8, 0.002);
    for (int k = 1; k < 8; k++)
        CU_ASSERT_DOUBLE_EQUAL(count[k] / (double) MANY, 0.1 / 8, 0.001);
    for (int k = 0; k < 8; k++)
        CU_ASSERT_DOUBLE_EQUAL(seen[k] / (double) MANY, 1.0 / 8, 0.01);
}

/* Like FILL_UNIFORM, but without its spikes. */
static void unit_has_no_spikes(void)
{
    static const Fill unit = { FILL_UNIT, 0, 0 }, uniform = { FILL_UNIFORM, 0, 0 };
    FillKey key = fill_key(5, 2);
    int spikes = 0;

    for (size_t i = 0; i < MANY; i++) {
        float value = fill_f32(unit, key, i), other = fill_f32(uniform, key, i);
        CU_ASSERT_FATAL(-1 <= value && value < 1);
        CU_ASSERT_FATAL(other == value || other == 1024 * value);
        spikes += other != value;
    }
    CU_ASSERT(spikes > 0);
}

CU_SuiteInfo test_fill = {
    "fill",
    .pTests =
        (CU_TestInfo[]){
            { "golden values", golden_values },
            { "a published vector of the round", published_vector },
            { "many at once are the same", many_at_once_are_the_same },
            { "one bit changes half of the bits", one_bit_changes_half },
            { "uniform is uniform", uniform_is_uniform },
            { "small is never zero", small_is_never_zero },
            { "range keeps its bounds", range_keeps_its_bounds },
            { "wide is wide", wide_is_wide },
            { "seeds, arrays and far indices differ", seeds_arrays_and_far_indices_differ },
            { "elements are uncorrelated", elements_are_uncorrelated },
            { "as many equal elements as in random data", as_many_equal_as_random },
            { "sums are known", sums_are_known },
            { "sums of chunks are spread", sums_of_chunks_are_spread },
            { "positive elements are known", positive_elements_are_known },
            { "skewed and runs", skewed_and_runs },
            { "unit has no spikes", unit_has_no_spikes },
            CU_TEST_INFO_NULL,
        },
};
