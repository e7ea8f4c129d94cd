/* test_one_gpu.c - which GPUs a runner can see. */
#include "runner/one_gpu.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *listed; /* NULL: not set */
    int device, number;
    const char *seen;
} rows[] = {
    { NULL, 0, 0, "0" },
    { NULL, 3, 0, "3" },
    { "2", 0, 0, "2" },
    { "3,1", 0, 0, "3" },
    { "3,1", 1, 0, "1" },
    { "GPU-8a1f,GPU-77e0", 1, 0, "GPU-77e0" },
    { "MIG-GPU-8a1f/1/0", 0, 0, "MIG-GPU-8a1f/1/0" },
    /* Fewer GPUs than that: the variable is not changed, and CUDA reports the error. */
    { "3,1", 2, 2, "3,1" },
    { "3,", 1, 1, "3," },
    { "", 0, 0, "" }, /* the user wants no GPU at all */
    { "", 1, 1, "" },
};

static void each_row(void)
{
    char *before = getenv("CUDA_VISIBLE_DEVICES");

    before = before ? strdup(before) : NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].listed)
            setenv("CUDA_VISIBLE_DEVICES", rows[i].listed, 1);
        else
            unsetenv("CUDA_VISIBLE_DEVICES");
        CU_ASSERT_EQUAL(see_one_gpu(rows[i].device), rows[i].number);
        CU_ASSERT_STRING_EQUAL(getenv("CUDA_VISIBLE_DEVICES"), rows[i].seen);
    }
    unsetenv("CUDA_VISIBLE_DEVICES");
    if (before)
        setenv("CUDA_VISIBLE_DEVICES", before, 1);
    free(before);
}

CU_SuiteInfo test_one_gpu = {
    "one_gpu",
    .pTests =
        (CU_TestInfo[]){
            { "of several GPUs one is seen", each_row },
            CU_TEST_INFO_NULL,
        },
};
