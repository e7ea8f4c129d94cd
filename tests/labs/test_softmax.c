/* test_softmax.c - lab 12's expected results: what honest floats give passes, NaN where it is
 * right, and only there. */
#include "base/registry.h"
#include "judge/compare.h"

#include <CUnit/CUnit.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 70, COLS = 96, LONG_ROWS = 3, LONG_COLS = 2053, COUNT = ROWS * COLS };

static const Lab *lab;
static Arrays arrays;
static Case lab_case;
static Inputs inputs;
static float in[COUNT], got[COUNT], want[COUNT];
static double error[COUNT];

static float element_of(size_t i)
{
    const Fill fill = arrays.in[0].fill;
    const FillKey key = fill_key(inputs.seed, 0);
    float value;

    if (arrays.in[0].type == F32)
        return fill_f32(fill, key, i);
    int32_t bits = fill_i32(fill, key, i);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Contents as in the case whose label contains `label`, of at most COUNT elements. */
static void prepare_rows(const char *label, size_t rows, size_t cols, uint64_t seed)
{
    lab = lab_find("softmax")->lab;
    for (const Case *c = lab->cases; c->label; c++)
        if (strstr(c->label, label))
            lab_case = *c;
    lab_case.dim[0] = (long) rows;
    lab_case.dim[1] = (long) cols;
    arrays = (Arrays){ 0 };
    lab->shape(&lab_case, &arrays);
    inputs = (Inputs){ &arrays, seed };
    memset(error, 0, sizeof error);
    lab->truth(&lab_case, &inputs, 0, 0, rows * cols, want, error);
    for (size_t i = 0; i < rows * cols; i++)
        in[i] = element_of(i);
}

static void prepare(const char *label)
{
    prepare_rows(label, ROWS, COLS, 0x1234);
}

/* An online softmax in floats, with the elements cut to `bits` bits. */
static void softmax_of_floats(int bits)
{
    const uint32_t mask = ~0u << (24 - bits);

    for (size_t first = 0; first < COUNT; first += COLS) {
        float max = -FLT_MAX, sum = 0, x[COLS];
        for (size_t j = 0; j < COLS; j++) {
            uint32_t word;
            memcpy(&word, &in[first + j], sizeof word);
            word &= mask;
            memcpy(&x[j], &word, sizeof word);
            float before = max;
            max = fmaxf(max, x[j]);
            sum = sum * expf(before - max) + expf(x[j] - max);
        }
        for (size_t j = 0; j < COLS; j++)
            got[first + j] = expf(x[j] - max) / sum;
    }
}

enum { POISON = 0xff };

static Difference differences(void)
{
    Difference d = { 0 };

    compare(&d, F32, got, want, error, 0, COUNT, POISON);
    return d;
}

static const char *const contents[] = { "3 x 5",        "up to 100", "spikes",        "equal",
                                        "lowest float", "nine in",   "highest float", NULL };

static void honest_floats_pass(void)
{
    for (size_t i = 0; contents[i]; i++) {
        prepare(contents[i]);
        softmax_of_floats(24);
        CU_ASSERT_EQUAL(differences().wrong, 0);
    }
}

static void inputs_of_11_bits_are_found(void)
{
    prepare("3 x 5");
    softmax_of_floats(11);
    CU_ASSERT(differences().wrong > 0);
}

/* As the formula says: the maximum, then the sum, one element after the other. */
static void row_by_the_formula(const float *x, float *y, size_t cols)
{
    float max = -INFINITY, sum = 0;

    for (size_t j = 0; j < cols; j++)
        max = fmaxf(max, x[j]);
    for (size_t j = 0; j < cols; j++)
        sum += expf(x[j] - max);
    for (size_t j = 0; j < cols; j++)
        y[j] = expf(x[j] - max) / sum;
}

/* In one of 200 gradings the first rung was wrong in the case with spikes. If the largest element
 * is about 17 above the others and comes early, each of the others is lost when it is added to 1.
 * These ten are all seeds of the first 20,000 for which that exceeded the tolerance. */
static void terms_may_be_lost_one_by_one(void)
{
    static const uint64_t seeds[] = {
        823, 5286, 5602, 5842, 5908, 14723, 14825, 17764, 17859, 18459
    };

    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        Difference d = { 0 };
        prepare_rows("spikes", LONG_ROWS, LONG_COLS, seeds[i]);
        for (size_t row = 0; row < LONG_ROWS; row++)
            row_by_the_formula(in + row * LONG_COLS, got + row * LONG_COLS, LONG_COLS);
        compare(&d, F32, got, want, error, 0, (size_t) LONG_ROWS * LONG_COLS, POISON);
        CU_ASSERT_EQUAL(d.wrong, 0);
    }
}

/* The first element of each kind is changed to `value`: where NaN is right, where 0 is, elsewhere.
 */
static void changed(bool (*kind)(float), float value, bool right)
{
    size_t i = 0;
    Difference d;

    while (i < COUNT && !kind(want[i]))
        i++;
    CU_ASSERT_FATAL(i < COUNT);
    got[i] = value;
    d = differences();
    CU_ASSERT_EQUAL(d.wrong, !right);
    if (!right)
        CU_ASSERT_EQUAL(d.first, i);
    softmax_of_floats(24);
}

static bool is_nan(float x)
{
    return isnan(x);
}

static bool is_zero(float x)
{
    return x == 0;
}

static bool is_positive(float x)
{
    return x > 0;
}

static void nan_is_right_only_where_it_is(void)
{
    float unwritten;

    memset(&unwritten, POISON, sizeof unwritten);
    prepare("nine in");
    softmax_of_floats(24);
    changed(is_nan, NAN, true);
    changed(is_nan, 0, false);
    changed(is_nan, unwritten, false);
    changed(is_zero, NAN, false);
    changed(is_zero, -0.0f, true);
    changed(is_zero, FLT_MIN, false); /* where in is -inf, 0 is exact */
    changed(is_positive, NAN, false);
    changed(is_positive, 0, false);
}

/* A row is kept between calls: a window must not get another row's, nor that of other contents. */
static void truth_of_a_window(void)
{
    for (size_t kind = 0; contents[kind]; kind++) {
        prepare(contents[kind]);
        for (size_t at = 0; at < COUNT; at += 61) {
            size_t count = COUNT - at < 130 ? COUNT - at : 130;
            float window[130];
            double off[130] = { 0 };
            lab->truth(&lab_case, &inputs, 0, at, count, window, off);
            CU_ASSERT_EQUAL(memcmp(window, want + at, count * sizeof *window), 0);
            CU_ASSERT_EQUAL(memcmp(off, error + at, count * sizeof *off), 0);
        }
    }
}

CU_SuiteInfo test_softmax = {
    "softmax",
    .pTests =
        (CU_TestInfo[]){
            { "honest floats pass", honest_floats_pass },
            { "terms may be lost one by one", terms_may_be_lost_one_by_one },
            { "inputs of 11 bits are found", inputs_of_11_bits_are_found },
            { "NaN is right only where it is", nan_is_right_only_where_it_is },
            { "truth of a window", truth_of_a_window },
            CU_TEST_INFO_NULL,
        },
};
