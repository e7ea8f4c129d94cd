/* test_scan.c - lab 10's answers, compared with a plain loop over the input, and its test of a
 * whole output, which must find each wrong element. */
#include "base/registry.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>

enum { N = 5003, TASKS = 2, KINDS = 7, SUMS = 0, LARGE = 1, BELOW_0 = 6 };

static const Lab *lab;
static Arrays arrays;
static Case lab_case;
static int32_t want[N];
static size_t results; /* elements of `want` */

/* Sums are known only of scans; every kind of contents can be compacted. */
static bool exists(long task, long kind)
{
    return task == 1 ? kind != SUMS : kind == SUMS || kind == LARGE || kind == BELOW_0;
}

static Inputs expect(long task, long kind)
{
    Inputs inputs = { &arrays, 0x1234 + (uint64_t) kind };
    int32_t sum = 0;

    lab = lab_find("scan")->lab;
    lab_case = (Case){ "test", { N, task, kind } };
    arrays = (Arrays){ 0 };
    lab->shape(&lab_case, &arrays);
    results = 0;
    for (size_t i = 0; i < N; i++) {
        int32_t x = fill_i32(arrays.in[0].fill, fill_key(inputs.seed, 0), i);
        if (task == 0)
            want[results++] = sum += x;
        else if (x > 0)
            want[results++] = x;
    }
    return inputs;
}

/* Windows begin inside a chunk, at its edge, in the last one, and after the last kept element. */
static void windows_are_right(void)
{
    static const size_t firsts[] = { 0, 1, 1023, 1024, 2048, 4095, 4990 };
    int32_t got[100];
    double error[100];

    for (long task = 0; task < TASKS; task++)
        for (long kind = 0; kind < KINDS; kind++)
            for (size_t w = 0; w < sizeof firsts / sizeof *firsts; w++) {
                size_t first = firsts[w], count = N - first < 100 ? N - first : 100;
                if (!exists(task, kind))
                    continue;
                Inputs inputs = expect(task, kind);
                for (size_t i = 0; i < count; i++)
                    error[i] = 0;
                lab->truth(&lab_case, &inputs, 0, first, count, got, error);
                for (size_t i = 0; i < count; i++) {
                    CU_ASSERT_EQUAL(error[i] > 0, first + i >= results);
                    CU_ASSERT(first + i >= results || got[i] == want[first + i]);
                }
            }
}

static void the_number_kept_is_right(void)
{
    for (long kind = LARGE; kind < KINDS; kind++) {
        Inputs inputs = expect(1, kind);
        int32_t kept = -1;
        double error = 0;
        lab->truth(&lab_case, &inputs, 1, 0, 1, &kept, &error);
        CU_ASSERT_EQUAL(kept, (int32_t) results);
        CU_ASSERT_EQUAL(error, 0);
    }
}

static void a_whole_output_is_checked(void)
{
    for (long task = 0; task < TASKS; task++)
        for (long kind = 0; kind < KINDS; kind++) {
            if (!exists(task, kind))
                continue;
            Inputs inputs = expect(task, kind);
            size_t first = 0, count = 0, step = results > 700 ? 611 : 1;
            CU_ASSERT(lab->check(&lab_case, &inputs, 0, want, &first, &count));
            for (size_t at = 0; at < results; at += step) {
                want[at] ^= 1;
                CU_ASSERT_FALSE(lab->check(&lab_case, &inputs, 0, want, &first, &count));
                CU_ASSERT(first <= at && at < first + count && first + count <= N);
                want[at] ^= 1;
            }
        }
}

CU_SuiteInfo test_scan = {
    "scan",
    .pTests =
        (CU_TestInfo[]){
            { "windows are right", windows_are_right },
            { "the number kept is right", the_number_kept_is_right },
            { "a whole output is checked", a_whole_output_is_checked },
            CU_TEST_INFO_NULL,
        },
};
