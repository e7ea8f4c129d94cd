/* test_launches.c - lab 11's answers, compared with a plain loop over the tensors that a kernel
 * gets, and where these tensors lie. */
#include "../../labs/11_launches/kernel.h"
#include "base/registry.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>

enum { MOST = 1 << 18, WINDOW = 997, ALIGNED = 32, GUARD = -7 };

static float weights[MOST], gradient[MOST], updated[MOST], want[MOST];
static double error[MOST];
static const Lab *lab;
static Arrays arrays;
static int given; /* tensors of the last call */
static long floats_given;

/* Stands for a student's kernel. */
static void plain_update(const Tensor *tensors, int count, int task)
{
    given = count;
    floats_given = 0;
    for (int t = 0; t < count; t++) {
        floats_given += tensors[t].size;
        for (int i = 0; i < tensors[t].size; i++) {
            float g = tensors[t].gradient[i];
            if (task == CLIPPED_STEP)
                g = fminf(fmaxf(UNSCALE * g, -LIMIT), LIMIT);
            tensors[t].updated[i] = tensors[t].weights[i] - tensors[t].rate * g;
        }
    }
}

static Inputs prepare(const Case *c)
{
    const Inputs inputs = { &arrays, 0x1234 };

    lab = lab_find("launches")->lab;
    arrays = (Arrays){ 0 };
    lab->shape(c, &arrays);
    fill_f32s(arrays.in[0].fill, fill_key(inputs.seed, 0), 0, 1, arrays.in[0].cols, weights);
    fill_f32s(arrays.in[1].fill, fill_key(inputs.seed, 1), 0, 1, arrays.in[1].cols, gradient);
    arrays.in[0].data = weights;
    arrays.in[1].data = gradient;
    arrays.out[0].data = updated;
    for (size_t i = 0; i < arrays.out[0].cols; i++)
        updated[i] = GUARD;
    return inputs;
}

static bool is_small(const Case *c)
{
    return c->kind == CORRECT && c->dim[0] + 8 * c->dim[1] < MOST;
}

/* Every float is compared, in windows that begin and end anywhere. */
static void answers_are_right(void)
{
    for (const Case *c = lab_find("launches")->lab->cases; c->label; c++) {
        if (!is_small(c))
            continue;
        const Inputs inputs = prepare(c);
        const size_t all = arrays.out[0].cols;
        size_t wrong = 0;
        lab->call((void (*)(void)) plain_update, c, &arrays);
        for (size_t first = 0; first < all; first += WINDOW) {
            size_t count = all - first < WINDOW ? all - first : WINDOW;
            for (size_t i = 0; i < count; i++)
                error[i] = 0;
            lab->truth(c, &inputs, 0, first, count, want, error);
            for (size_t i = 0; i < count; i++) {
                wrong += fabs((double) updated[first + i] - want[i]) > error[i];
            }
        }
        CU_ASSERT_EQUAL(wrong, 0);
        CU_ASSERT_EQUAL(given, c->dim[1]);
        CU_ASSERT_EQUAL(floats_given, c->dim[0]);
    }
}

static void check_places(const Tensor *tensors, int count, int task)
{
    size_t end = 0, gradient_end = 0;

    (void) task;
    for (int t = 0; t < count; t++) {
        size_t at = (size_t) (tensors[t].updated - updated);
        size_t back = (size_t) (tensors[count - 1 - t].gradient - gradient);
        CU_ASSERT(at == end && at % (ALIGNED / sizeof(float)) == 0);
        CU_ASSERT(back >= gradient_end && back % (ALIGNED / sizeof(float)) == 0);
        CU_ASSERT_EQUAL((size_t) (tensors[t].weights - weights), at);
        end = at + (size_t) tensors[t].size;
        gradient_end = back + (size_t) tensors[count - 1 - t].size;
    }
    CU_ASSERT_EQUAL(end, arrays.out[0].cols);
    CU_ASSERT_EQUAL(gradient_end, arrays.in[1].cols);
}

/* Nothing lies between two tensors, and nothing follows the last one, so that a write past an end
 * is noticed. */
static void tensors_lie_next_to_each_other(void)
{
    for (const Case *c = lab_find("launches")->lab->cases; c->label; c++)
        if (is_small(c)) {
            prepare(c);
            lab->call((void (*)(void)) check_places, c, &arrays);
        }
}

CU_SuiteInfo test_launches = {
    "launches",
    .pTests =
        (CU_TestInfo[]){
            { "answers are right", answers_are_right },
            { "tensors lie next to each other", tensors_lie_next_to_each_other },
            CU_TEST_INFO_NULL,
        },
};
