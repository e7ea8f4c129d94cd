/* test_toolchain.c - which nvcc is chosen, and which architectures it compiles for. */
#include "rows.h"
#include "build/toolchain.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

static Toolchain toolchain;

static void no_nvcc_is_said(void)
{
    setenv("WARPBOOK_NVCC", "/nowhere/nvcc", 1);
    toolchain_find(&toolchain);
    CU_ASSERT_PTR_NOT_NULL(strstr(toolchain.problem, "WARPBOOK_NVCC is /nowhere/nvcc"));
    setenv("WARPBOOK_NVCC", "/bin/true", 1);
    toolchain_find(&toolchain);
    CU_ASSERT_PTR_NOT_NULL(strstr(toolchain.problem, "/bin/true does not run"));
    unsetenv("WARPBOOK_NVCC");
}

static void architectures_suit_the_gpu(void)
{
    static const struct {
        const char *known;
        int cc, ptx, sm; /* ptx 0: cannot compile for this GPU */
        const char *says;
    } rows[] = {
        { " 75 80 90 120", 90, 80, 90, "" },
        { " 75 80 90 120", 80, 80, 80, "" },
        { " 75 80 90 120", 75, 75, 75, "" },
        { " 75 80 90 120", 130, 120, 0, "newer than this nvcc (13.0.88): compiled for 12.0" },
        { " 75 80 90 120", 89, 80, 0, "unknown to this nvcc" },
        { " 75 80 90 120", 61, 0, 0,
          "no longer supports this GPU (compute capability 6.1): use CUDA 12" },
        { " 50 52 60 61 70 75 80", 61, 61, 61, "" },
        { " 120 75 110 103 90 80", 103, 80, 103, "" }, /* unordered, as nvcc 13 prints them */
        { " 90 100", 100, 100, 100, "" },              /* a future nvcc, without 80 */
    };

    PUT(toolchain.version, "13.0.88");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int ptx = 0, sm = 0;
        char note[256];
        PUT(toolchain.archs, "%s", rows[i].known);
        CU_ASSERT_EQUAL(toolchain_archs(&toolchain, rows[i].cc, &ptx, &sm, note, sizeof note),
                        rows[i].ptx != 0);
        CU_ASSERT_EQUAL(ptx, rows[i].ptx);
        CU_ASSERT_EQUAL(sm, rows[i].sm);
        if (!strstr(note, rows[i].says) || !rows[i].says[0] != !note[0])
            FAIL_SAYING("%s", note);
    }
}

CU_SuiteInfo test_toolchain = {
    "toolchain",
    .pTests =
        (CU_TestInfo[]){
            { "no nvcc is said", no_nvcc_is_said },
            { "architectures suit the GPU", architectures_suit_the_gpu },
            CU_TEST_INFO_NULL,
        },
};
