/* test_wrap.c - prose wrapped at 80 columns. */
#include "base/text.h"
#include "capture.h"

#include <CUnit/CUnit.h>

static void wrapped(void)
{
    static const struct {
        const char *text;
        int indent, columns;
        const char *lines;
    } rows[] = {
        { "one two three", 0, 80, "one two three\n" },
        { "one two three", 4, 80, "    one two three\n" },
        { "one two three", 0, 7, "one two\nthree\n" },
        { "one two three", 0, 6, "one\ntwo\nthree\n" },
        { "one two three", 2, 9, "  one two\n  three\n" },
        { "one  two \t three ", 0, 80, "one two three\n" },
        { "a word-that-is-too-long for it", 2, 10, "  a\n  word-that-is-too-long\n  for it\n" },
        { "one\ntwo three", 1, 80, " one\n two three\n" },
        { "one\n\ntwo\n", 0, 80, "one\n\ntwo\n" },
        { "äöü äöü", 0, 7, "äöü äöü\n" }, /* 14 bytes, 7 columns */
        { "äöü äöü", 0, 6, "äöü\näöü\n" },
        { "", 4, 80, "" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Capture capture;
        capture_begin(&capture, stdout);
        print_wrapped(rows[i].text, rows[i].indent, rows[i].columns);
        CU_ASSERT_STRING_EQUAL(capture_end(&capture), rows[i].lines);
    }
}

/* A line that fits keeps its spaces; a wider one breaks between words. */
static void only_wide_lines_are_wrapped(void)
{
    static const char text[] = "  int  x;\n       ^\n\none two (three\n  four   five six\n";
    Capture capture;

    capture_begin(&capture, stdout);
    print_lines_wrapped(text, 1, 11);
    CU_ASSERT_STRING_EQUAL(capture_end(&capture),
                           "   int  x;\n        ^\n\n one two\n (three\n four five\n six\n");
}

CU_SuiteInfo test_wrap = {
    "wrap",
    .pTests =
        (CU_TestInfo[]){
            { "wrapped", wrapped },
            { "only wide lines are wrapped", only_wide_lines_are_wrapped },
            CU_TEST_INFO_NULL,
        },
};
