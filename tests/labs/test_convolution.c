/* test_convolution.c - lab 13's expected results: what honest floats give passes, in any order of
 * additions; numbers of 11 bits do not; and a window has the same results as the whole. */
#include "base/registry.h"
#include "../../labs/13_convolution/kernel.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

enum { ROWS = 45, COLS = 50, COUNT = ROWS * COLS };

static const Lab *lab;
static Arrays arrays;
static Case lab_case;
static Inputs inputs;
static Filter filter;
static float in[COUNT], got[COUNT], want[COUNT];
static double error[COUNT];

/* The lab's function takes the filter by value: this one keeps it. */
static void keep_filter(float *out, const float *from, int rows, int cols, Filter given,
                        float *scratch)
{
    (void) out, (void) from, (void) rows, (void) cols, (void) scratch;
    filter = given;
}

/* Contents as in the case whose label contains `label`, at this test's size. */
static void prepare(const char *label, int radius)
{
    lab = lab_find("convolution")->lab;
    for (const Case *c = lab->cases; c->label; c++)
        if (strstr(c->label, label))
            lab_case = *c;
    lab_case.dim[0] = ROWS;
    lab_case.dim[1] = COLS;
    lab_case.dim[2] = radius;
    arrays = (Arrays){ 0 };
    lab->shape(&lab_case, &arrays);
    inputs = (Inputs){ &arrays, 0x1234 };
    lab->call((void (*)(void)) keep_filter, &lab_case, &arrays);
    memset(error, 0, sizeof error);
    lab->truth(&lab_case, &inputs, 0, 0, COUNT, want, error);
    for (size_t i = 0; i < COUNT; i++)
        in[i] = input_f32(&inputs, 0, i);
}

static float pixel(int y, int x, int bits)
{
    const uint32_t mask = ~0u << (24 - bits);
    uint32_t word;
    float value;

    y = y < 0 ? 0 : y < ROWS ? y : ROWS - 1;
    x = x < 0 ? 0 : x < COLS ? x : COLS - 1;
    memcpy(&word, &in[y * COLS + x], sizeof word);
    word &= mask;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* All taps in turn, with a table of weights, or sums across first; pixels cut to `bits` bits. */
static void convolve_floats(bool table, int bits)
{
    const int r = filter.radius;

    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLS; x++) {
            float all = 0, down = 0;
            for (int i = -r; i <= r; i++) {
                float across = 0;
                for (int j = -r; j <= r; j++) {
                    float weight = filter.down[REACH + i] * filter.across[REACH + j];
                    all += weight * pixel(y + i, x + j, bits);
                    across += filter.across[REACH + j] * pixel(y + i, x + j, bits);
                }
                down += filter.down[REACH + i] * across;
            }
            got[y * COLS + x] = table ? all : down;
        }
}

/* The largest distance from the right results, relative to what is allowed. */
static double worst(void)
{
    double most = 0;

    for (size_t i = 0; i < COUNT; i++) {
        double off = fabs((double) got[i] - (double) want[i]);
        if (off > 0)
            most = fmax(most, error[i] > 0 ? off / error[i] : INFINITY);
    }
    return most;
}

static void honest_floats_pass(void)
{
    static const char *const contents[] = { "1 x 1, radius 2", "real numbers", "spikes", NULL };

    for (size_t kind = 0; contents[kind]; kind++)
        for (int radius = 0; radius <= REACH; radius += radius < 3 ? 1 : 6) {
            prepare(contents[kind], radius);
            convolve_floats(true, 24);
            CU_ASSERT(worst() < 0.6);
            convolve_floats(false, 24);
            CU_ASSERT(worst() < 0.6);
        }
}

static void pixels_of_11_bits_are_found(void)
{
    static const int radii[] = { 0, 2, REACH };

    for (size_t i = 0; i < 3; i++) {
        prepare("real numbers", radii[i]);
        convolve_floats(false, 11);
        CU_ASSERT(worst() > 2);
    }
}

static void integers_are_exact(void)
{
    prepare("1 x 1, radius 2", REACH);
    for (size_t i = 0; i < COUNT; i++) {
        CU_ASSERT_EQUAL(error[i], 0);
        CU_ASSERT(fabs((double) want[i]) < 0x1p24);
    }
}

static void truth_of_a_window(void)
{
    static const size_t counts[] = { 1, 3, COLS - 1, COLS, COLS + 1, 130 };

    prepare("real numbers", 5);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (size_t at = 0; at + counts[k] <= COUNT; at += 61) {
            float window[130];
            double off[130] = { 0 };
            lab->truth(&lab_case, &inputs, 0, at, counts[k], window, off);
            CU_ASSERT_EQUAL(memcmp(window, want + at, counts[k] * sizeof *window), 0);
            CU_ASSERT_EQUAL(memcmp(off, error + at, counts[k] * sizeof *off), 0);
        }
}

static void weights_beyond_the_radius_are_0(void)
{
    prepare("real numbers", 3);
    for (int i = 0; i <= 2 * REACH; i++) {
        const bool inside = i >= REACH - 3 && i <= REACH + 3;
        CU_ASSERT_EQUAL(filter.across[i] != 0, inside);
        CU_ASSERT_EQUAL(filter.down[i] != 0, inside);
    }
    CU_ASSERT_NOT_EQUAL(memcmp(filter.across, filter.down, sizeof filter.down), 0);
}

CU_SuiteInfo test_convolution = {
    "convolution",
    .pTests =
        (CU_TestInfo[]){
            { "honest floats pass", honest_floats_pass },
            { "pixels of 11 bits are found", pixels_of_11_bits_are_found },
            { "integers are exact", integers_are_exact },
            { "truth of a window", truth_of_a_window },
            { "weights beyond the radius are 0", weights_beyond_the_radius_are_0 },
            CU_TEST_INFO_NULL,
        },
};
