/* test_prove.c - what `make check` reads in the text of kernels. */
#include "prove.h"

#include <CUnit/CUnit.h>
#include <string.h>

static void first_lines_promise_a_verdict(void)
{
    static const struct {
        const char *source, *word; /* NULL: none is promised */
        bool simulated;
    } rows[] = {
        { "// rung: 3, expect: slow - idea\nint x;\n", "slow" },
        { "// expect: wrong\n", "wrong" },
        { "// expect:pass", "pass" },
        { "// rung: beyond, expect: device: hardware decides\n", "device" },
        { "int x; // expect: pass\n", NULL },
        { "// a kernel\n// expect: pass\n", NULL },
        { "// expect: \n", NULL },
        { "// expect: 7\n", NULL },
        { "// expect: averyveryverylongword\n", NULL },
        { "// expect: suspect, interference - why\n", "suspect" },
        { "", NULL },
        { "// expect: wrong (sim: unsafe) - why\n", "wrong" },
        { "// expect: wrong (sim: unsafe) - why\n", "unsafe", true },
        { "// expect: slow, clock (sim: skipped) - why\n", "skipped", true },
        { "// expect: wrong - why\n// (sim: unsafe)\n", "wrong", true },
        { "// (sim: unsafe)\n", NULL, true },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char word[16] = "";
        bool found = expectation(rows[i].source, rows[i].simulated, word, sizeof word);
        CU_ASSERT_EQUAL(found, rows[i].word != NULL);
        if (found && rows[i].word)
            CU_ASSERT_STRING_EQUAL(word, rows[i].word);
    }
}

static void learning_only_adds(void)
{
    static const char rung[] = "// rung: 1\nint f()\n{\n    int a = 1;\n\n    return a;\n}\n";
    static const struct {
        const char *starter;
        bool subsequence;
    } rows[] = {
        { "int f()\n{\n}\n", true },
        { "int f()\n{\n    // TODO: say what\n    return a;\n}\n", true },
        { "\n\nint f()\n\n{\n}", true },
        { "", true },
        { "int f()\n{\n    return a;\n    int a = 1;\n}\n", false }, /* another order */
        { "int f()\n{\n    int b;\n}\n", false },
        { "int f()\n{\n}\n}\n", false }, /* one line more often */
        { "int f() \n", false },         /* a blank more */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(is_subsequence(rows[i].starter, rung), rows[i].subsequence);
}

CU_SuiteInfo test_prove = {
    "prove",
    .pTests =
        (CU_TestInfo[]){
            { "first lines promise a verdict", first_lines_promise_a_verdict },
            { "learning only adds", learning_only_adds },
            CU_TEST_INFO_NULL,
        },
};
