/* test_compiler_errors.c - errors in kernel.cu as data, from the outputs of compilers. */
#include "build/diagnostics.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <string.h>

static const struct {
    const char *output;
    int count;
    CompilerError first;
} rows[] = {
    { "", 0, { 0 } },
    { "/f/kernel.cu(12): error: identifier \"x\" is undefined\n",
      1,
      { 12, 0, "identifier \"x\" is undefined" } },
    { "kernel.cu:7:5: error: no\n", 1, { 7, 5, "no" } },
    { "kernel.cu:7: fatal error: a.h: No such file\n", 1, { 7, 0, "a.h: No such file" } },
    /* each architecture is compiled separately */
    { "kernel.cu(3): error: a\nkernel.cu(3): error: a\nkernel.cu(4): error: b\n",
      2,
      { 3, 0, "a" } },
    { "kernel.cu(3): warning: a\n", 0, { 0 } },
    { "/usr/include/x.h(3): error: a\n", 0, { 0 } }, /* another file */
    { "kernel.cu(3): error: a \x1b[2J\n", 1, { 3, 0, "a ?[2J" } },
    { "kernel.cu(99999999999): error: a\n", 1, { 999999999, 0, "a" } },
    { "kernel.cu(): error: a\nkernel.cu:: error: b\n", 0, { 0 } },
};

static void errors_are_read(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        CompilerError errors[3] = { 0 };
        int count = compiler_errors(rows[i].output, "/f", errors, 3);
        if (count != rows[i].count || (count && (errors[0].line != rows[i].first.line ||
                                                 errors[0].column != rows[i].first.column ||
                                                 strcmp(errors[0].text, rows[i].first.text))))
            FAIL_SAYING("row %zu: %d errors, %d:%d '%s'", i, count, errors[0].line,
                        errors[0].column, errors[0].text);
    }
}

static void no_more_than_fit(void)
{
    CompilerError errors[2];

    CU_ASSERT_EQUAL(compiler_errors("kernel.cu(1): error: a\nkernel.cu(2): error: a\n"
                                    "kernel.cu(3): error: a\n",
                                    "/f", errors, 2),
                    2);
}

CU_SuiteInfo test_compiler_errors = {
    "compiler_errors",
    .pTests =
        (CU_TestInfo[]){
            { "errors are read", errors_are_read },
            { "no more than fit", no_more_than_fit },
            CU_TEST_INFO_NULL,
        },
};
