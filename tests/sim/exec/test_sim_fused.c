/* test_sim_fused.c - additions that ptxas merges with a multiplication have one rounding. */
#include "rows.h"
#include "sim/exec/ops/handlers.h"
#include "sim/sim_launch.h"

/* %f1 = 1 + 2^-13 and %f2 = 1 - 2^-13: the product 1 - 2^-26 rounds to 1 (to even), so that the
 * difference from 1 is 0 with two roundings, and -2^-26 with one. */
#define FACTORS "mov.f32 %f1, 0f3F800400;\nmov.f32 %f2, 0f3F7FF800;\nmov.f32 %f4, 0f3F800000;\n"
#define DONE    "mov.b32 %r0, %f5;\n"

enum { ZERO = 0, ONE_ROUNDING = 0x32800000 };
#define MINUS 0x80000000u

static const struct {
    const char *name, *body;
    uint32_t want;
} rows[] = {
    { "product - x", "mul.f32 %f3, %f1, %f2;\nsub.f32 %f5, %f3, %f4;\n", MINUS | ONE_ROUNDING },
    { "x - product", "mul.f32 %f3, %f1, %f2;\nsub.f32 %f5, %f4, %f3;\n", ONE_ROUNDING },
    { "product + x", "mul.f32 %f3, %f1, %f2;\nneg.f32 %f6, %f4;\nadd.f32 %f5, %f3, %f6;\n",
      MINUS | ONE_ROUNDING },
    { "x + product, .ftz",
      "mul.ftz.f32 %f3, %f1, %f2;\nneg.f32 %f6, %f4;\nadd.ftz.f32 %f5, %f6, %f3;\n",
      MINUS | ONE_ROUNDING },
    { "by a constant", "mul.f32 %f3, %f1, 0f3F7FF800;\nsub.f32 %f5, %f3, 0f3F800000;\n",
      MINUS | ONE_ROUNDING },
    { "in another block",
      "mul.f32 %f3, %f1, %f2;\nsetp.gt.u32 %p1, %r1, 99;\n@%p1 bra L;\nbar.sync 0;\n"
      "L: sub.f32 %f5, %f3, %f4;\n",
      MINUS | ONE_ROUNDING },
    /* The upper half of (1 + 2^-27)(1 - 2^-27) - 1 = -2^-54. */
    { "of f64",
      "mov.f64 %fd1, 0d3FF0000002000000;\nmov.f64 %fd2, 0d3FEFFFFFFC000000;\n"
      "mul.f64 %fd3, %fd1, %fd2;\nsub.f64 %fd4, %fd3, 0d3FF0000000000000;\n"
      "mov.b64 {%r8, %r9}, %fd4;\nmov.b32 %f5, %r9;\n",
      0xbc900000 },
    { "a source that is written in two places",
      "setp.gt.u32 %p1, %r1, 99;\n@%p1 bra L;\nmov.f32 %f1, 0f3F800400;\n"
      "L: mul.f32 %f3, %f1, %f2;\nsub.f32 %f5, %f3, %f4;\n",
      MINUS | ONE_ROUNDING },
    { "an explicit rounding", "mul.rn.f32 %f3, %f1, %f2;\nsub.f32 %f5, %f3, %f4;\n", ZERO },
    { "a product with two readers",
      "mul.f32 %f3, %f1, %f2;\nmov.f32 %f7, %f3;\nsub.f32 %f5, %f3, %f4;\n", ZERO },
    /* The sources at the sum are not those of the multiplication. */
    { "a source that changes",
      "mul.f32 %f3, %f1, %f2;\nmov.f32 %f1, 0f40000000;\nsub.f32 %f5, %f3, %f4;\n", ZERO },
    { "a source that changes in a loop without the multiplication",
      "mov.u32 %r8, 0;\nmul.f32 %f3, %f1, %f2;\nL: sub.f32 %f5, %f3, %f4;\n"
      "mov.f32 %f1, 0f40000000;\nadd.u32 %r8, %r8, 1;\nsetp.lt.u32 %p1, %r8, 2;\n@%p1 bra L;\n",
      ZERO },
    { "a path around the multiplication",
      "setp.gt.u32 %p1, %r1, 99;\n@%p1 bra L;\nmul.f32 %f3, %f1, %f2;\n"
      "L: sub.f32 %f5, %f3, %f4;\n",
      ZERO },
};

static void sums_of_products(void)
{
    for (int level = 0; level <= cpu_simd_level(); level++)
        for (size_t i = 0; i < COUNT(rows); i++) {
            char ptx[4000];
            Trial trial = { .ptx = ptx };
            simd_level = level;
            snprintf(ptx, sizeof ptx, "%s%s%s%s", HEAD BEGIN FACTORS, rows[i].body, DONE, END);
            CU_ASSERT_TRUE_FATAL(trial_run(&trial));
            if (!trial.well || trial.out[7] != rows[i].want)
                FAIL_SAYING("%s: 0x%08x", rows[i].name, trial.out[7]);
            trial_close(&trial);
        }
    simd_level = -1;
}

static CU_TestInfo tests[] = {
    { "sums of products", sums_of_products },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_fused = { "test_sim_fused", NULL, NULL, NULL, NULL, tests };
