/* test_tuning.c - lab 14's expected results: windows of a product equal the whole of it, and what
 * honest floats give is within the error, numbers of 11 bits are not. */
#include "base/registry.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

enum { M = 37, N = 141, K = 300, COUNT = M * N, SMALL = 0, REAL = 1 };

static const Lab *lab;
static Arrays arrays;
static Case lab_case;
static Inputs inputs;
static float want[COUNT];
static double error[COUNT];

static void prepare(long kind)
{
    lab = lab_find("tuning")->lab;
    lab_case = (Case){ "test", { M, N, K, kind } };
    arrays = (Arrays){ 0 };
    lab->shape(&lab_case, &arrays);
    inputs = (Inputs){ &arrays, 0x1234 };
    memset(error, 0, sizeof error);
    lab->truth(&lab_case, &inputs, 0, 0, COUNT, want, error);
}

/* A float without its last 13 bits. */
static float cut(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    bits &= ~(uint32_t) 0x1FFF;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float product(size_t at, bool short_inputs)
{
    size_t row = at / N, col = at % N;
    float sum = 0;

    for (size_t i = 0; i < K; i++) {
        float a = input_f32(&inputs, 0, row * K + i), b = input_f32(&inputs, 1, i * N + col);
        sum += short_inputs ? cut(a) * cut(b) : a * b;
    }
    return sum;
}

static size_t wrong_of(bool short_inputs)
{
    size_t wrong = 0;

    for (size_t at = 0; at < COUNT; at++)
        wrong += !(fabs((double) product(at, short_inputs) - (double) want[at]) <= error[at]);
    return wrong;
}

static void integers_are_exact(void)
{
    prepare(SMALL);
    CU_ASSERT_EQUAL(wrong_of(false), 0);
    for (size_t at = 0; at < COUNT; at++)
        CU_ASSERT_EQUAL(error[at], 0);
}

static void reals_are_near(void)
{
    prepare(REAL);
    CU_ASSERT_EQUAL(wrong_of(false), 0);
    CU_ASSERT(wrong_of(true) > COUNT / 4);
}

/* Windows within a panel of 64 columns, across panels, across rows, and at the end. */
static void windows_are_right(void)
{
    static const size_t firsts[] = { 0, 1, 63, 64, 100, 140, 141, 3 * N + 130, COUNT - 128 };
    float got[128];
    double errors[128];

    for (long kind = SMALL; kind <= REAL; kind++)
        for (size_t w = 0; w < sizeof firsts / sizeof *firsts; w++)
            for (size_t count = 1; count <= 128; count += 127) {
                prepare(kind);
                memset(errors, 0, sizeof errors);
                memset(got, 0xFF, sizeof got);
                lab->truth(&lab_case, &inputs, 0, firsts[w], count, got, errors);
                CU_ASSERT_EQUAL(memcmp(got, want + firsts[w], count * sizeof *got), 0);
                CU_ASSERT_EQUAL(memcmp(errors, error + firsts[w], count * sizeof *errors), 0);
            }
}

CU_SuiteInfo test_tuning = {
    "tuning",
    .pTests =
        (CU_TestInfo[]){
            { "integers are exact", integers_are_exact },
            { "reals are near, and short inputs are not", reals_are_near },
            { "windows are right", windows_are_right },
            CU_TEST_INFO_NULL,
        },
};
