/* test_sgemm.c - lab 09's test of a whole product: it accepts right products and finds each
 * wrong element. */
#include "base/registry.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>

enum { M = 37, N = 53, K = 29, COUNT = M * N };

static const Lab *lab;
static Arrays arrays;
static Case lab_case;
static float got[COUNT];

static Inputs product(long variant)
{
    static double error[COUNT];
    Inputs inputs = { &arrays, 0x1234 + (uint64_t) variant };

    lab = lab_find("sgemm")->lab;
    lab_case = (Case){ "test", { M, N, K, variant } };
    arrays = (Arrays){ 0 };
    lab->shape(&lab_case, &arrays);
    lab->truth(&lab_case, &inputs, 0, 0, COUNT, got, error);
    return inputs;
}

static bool is_right(const Inputs *inputs, size_t *first, size_t *count)
{
    return lab->check(&lab_case, inputs, 0, got, first, count);
}

static void right_products_pass(void)
{
    size_t first, count;

    for (long variant = 0; variant < 3; variant++) {
        Inputs inputs = product(variant);
        CU_ASSERT(is_right(&inputs, &first, &count));
    }
}

/* A right product passes if it is computed in floats and in another order than truth's. */
static void right_real_products_pass(void)
{
    size_t first, count;

    for (long variant = 3; variant < 6; variant++) {
        Inputs inputs = product(variant);
        CU_ASSERT(is_right(&inputs, &first, &count));
        for (size_t at = 0; at < COUNT; at++) {
            float sum = 0, old = 0;
            for (size_t k = K; k-- > 0;)
                sum = fmaf(input_f32(&inputs, 0, at / N * K + k),
                           input_f32(&inputs, 1, k * N + at % N), sum);
            if (variant > 3)
                old = input_f32(&inputs, 2, at);
            got[at] = variant == 3 ? sum : variant == 4 ? 0.75f * sum + 2 * old : 2 * sum - 3 * old;
        }
        CU_ASSERT(is_right(&inputs, &first, &count));
    }
}

/* An element that is missing, doubled or not finite, among real numbers as in the timed case. */
static void wrong_real_elements_are_found(void)
{
    Inputs inputs = product(5);
    size_t first, count;

    for (size_t at = 0; at < COUNT; at++) {
        const float right = got[at], wrong[] = { 0, 2 * right, NAN, INFINITY, 1e30f };
        if (fabsf(right) < 0.01f)
            continue;
        got[at] = wrong[at % 5];
        CU_ASSERT(!is_right(&inputs, &first, &count));
        CU_ASSERT(first <= at && at < first + count);
        got[at] = right;
    }
}

/* The check also reports a range that contains the element. */
static void each_wrong_element_is_found(void)
{
    static const float by[] = { 1, -1, 0.5f, 1e30f, NAN, INFINITY };
    size_t first, count;
    Inputs inputs = product(1);

    for (size_t at = 0; at < COUNT; at++) {
        float right = got[at];
        got[at] += by[at % 6];
        CU_ASSERT(!is_right(&inputs, &first, &count));
        CU_ASSERT(first <= at && at < first + count);
        got[at] = right;
    }
}

/* Two errors that cancel in the sum of a row do not cancel in the test. */
static void swapped_elements_are_found(void)
{
    size_t first, count;
    Inputs inputs = product(0);
    int swapped = 0;

    for (size_t at = 0; at + 1 < COUNT; at += 7) {
        float left = got[at], right = got[at + 1];
        if (left == right)
            continue;
        got[at] = right;
        got[at + 1] = left;
        CU_ASSERT(!is_right(&inputs, &first, &count));
        got[at] = left;
        got[at + 1] = right;
        swapped++;
    }
    CU_ASSERT(swapped > 200);
}

/* One element against the definition, in the middle of truth's range. */
static void truth_of_a_window(void)
{
    Inputs inputs = product(1);

    for (size_t at = 0; at < COUNT; at += 13) {
        size_t count = COUNT - at < 70 ? COUNT - at : 70;
        float window[70];
        double error[70] = { 0 }, sum = 0;
        lab->truth(&lab_case, &inputs, 0, at, count, window, error);
        for (size_t i = 0; i < count; i++)
            CU_ASSERT_EQUAL(window[i], got[at + i]);
        for (size_t k = 0; k < K; k++)
            sum += (double) input_f32(&inputs, 0, at / N * K + k) *
                   input_f32(&inputs, 1, k * N + at % N);
        CU_ASSERT_EQUAL(got[at], 2 * sum - 3 * (double) input_f32(&inputs, 2, at));
    }
}

CU_SuiteInfo test_sgemm = {
    "sgemm",
    .pTests =
        (CU_TestInfo[]){
            { "right products pass", right_products_pass },
            { "each wrong element is found", each_wrong_element_is_found },
            { "swapped elements are found", swapped_elements_are_found },
            { "right real products pass", right_real_products_pass },
            { "wrong real elements are found", wrong_real_elements_are_found },
            { "truth of a window", truth_of_a_window },
            CU_TEST_INFO_NULL,
        },
};
