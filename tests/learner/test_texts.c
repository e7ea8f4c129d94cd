/* test_texts.c - a compiler's output, reduced to the lines that help; sources that differ only in
 * comments. */
#include "build/diagnostics.h"
#include "rows.h"
#include "base/tokens.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Compiler output ---- */

static const struct {
    const char *printed, *shown;
} complaints[] = {
    { "kernel.cu(12): error: identifier \"x\" is undefined\n    x = 1;\n    ^\n\n1 error detected "
      "in the "
      "compilation of \"kernel.cu\".\n",
      "K:12: error: identifier \"x\" is undefined\n    x = 1;\n    ^\n" },
    { "kernel.cu:2:10: fatal error: a.h: No such file\n    2 | #include \"a.h\"\n      |     ^\n"
      "compilation terminated.\nfatal   : Could not open input file /tmp/tmpxft_0_0-8_kernel.ii\n",
      "K:2:10: fatal error: a.h: No such file\n    2 | #include \"a.h\"\n      |     ^\n" },
    /* each architecture reports the same */
    { "kernel.cu(3): error: no\n  a\n  ^\n\nkernel.cu(3): error: no\n  a\n  ^\n\n",
      "K:3: error: no\n  a\n  ^\n" },
    { "kernel.cu(1): warning #177-D: unused\n  int x;\n      ^\n\nRemark: so it is\n\n"
      "kernel.cu(2): error: no\n",
      "K:2: error: no\n" },
    { "/usr/include/x.h(3): error: odd\n  secret\nkernel.cu(2): error: no\n", "K:2: error: no\n" },
    { "/usr/include/x.h(3): error: odd\n  secret\n", "/usr/include/x.h(3): error: odd\n" },
    { "kernel.cu(2): error: no member\n  t.y\n    ^\n          detected during:\n            "
      "instantiation of \"k\" at line 4\n\n",
      "K:2: error: no member\n  t.y\n    ^\n" },
    { "ptxas error   : Entry function 'k' uses too much shared data\n",
      "ptxas error   : Entry function 'k' uses "
      "too much shared data\n" },
    { "ptxas error   : Entry function 'k' uses too much shared data (0x10020 bytes, 0xc000 max)\n",
      "ptxas error   : Entry function 'k' uses too much shared data (65,568 bytes; at most "
      "49,152)\n" },
    { "ptxas error   : Entry function 'k' uses too much shared data (0x10 bytes, 0xc000)\n",
      "ptxas error   : Entry function 'k' uses too much shared data (0x10 bytes, 0xc000)\n" },
    { "kernel.cu(13): error: expected a \";\"\n  }\n  ^\n",
      "K:13: error: expected a \";\" (often missing at the end of the line before)\n  }\n  ^\n" },
    { "ptxas /tmp/tmpxft_0281b_0-6_kernel.compute_90.ptx, line 28; error   : Not a name\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n",
      "ptxas kernel.compute_90.ptx, line 28; error   : Not a name\n" },
    { "kernel.cu: Assembler messages:\nkernel.cu:2: Error: no such instruction: `blah'\n",
      "K:2: Error: no such instruction: `blah'\n" },
    { "/c/tmp-1/kernel.cu(2): error: x\n", "K:2: error: x\n" },
    { "kernel.cu(2): error: \x1b[31mred\x07\n", "K:2: error: ?[31mred?\n" },
    { "something else\n", "something else\n" },
    { "", "" },
};

static void a_complaint_is_cut_to_what_helps(void)
{
    char text[3500];

    for (size_t i = 0; i < sizeof complaints / sizeof *complaints; i++) {
        complaint(complaints[i].printed, "/c/tmp-1", "K", text, sizeof text);
        if (strcmp(text, complaints[i].shown))
            FAIL_SAYING("row %zu: %s", i, text);
    }
}

static void a_long_complaint_is_counted(void)
{
    char *printed = xmalloc(1 << 20), *out = printed, text[3500];
    int lines = 0;

    for (int i = 1; i <= 100; i++)
        out += sprintf(out, "kernel.cu(%d): error: %0500d\n  there\n  ^\n", i, i);
    complaint(printed, "/c", "kernel.cu", text, sizeof text);
    for (char *at = text; *at; at++)
        lines += *at == '\n';
    CU_ASSERT(lines <= 13);
    CU_ASSERT(strlen(text) < sizeof text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "(and 96 more)\n"));
    memset(printed, 'x', (1 << 20) - 1); /* one line without a line end */
    printed[(1 << 20) - 1] = 0;
    complaint(printed, "/c", "kernel.cu", text, sizeof text);
    CU_ASSERT_EQUAL(strlen(text), 241);
    free(printed);
}

/* ---- Equal except for comments ---- */

static const struct {
    const char *a, *b;
    bool same;
} pairs[] = {
    { "int a; // \\ \nint b;", "int a;", true }, /* a blank after the backslash */
    { "int a; // b\rint c;", "int a;", false },  /* a lone CR ends a line */
    { "int a; // b\rint c;", "int a; int c;", true },
    { "int a;\r\nint b;\r", "int a;\nint b;\n", true },
    { "int a;", "int  a ;\n", true },
    { "int a;", "inta;", false },
    { "int a; // x\nint b;", "int a;\r\n\r\n/* y\n */ int b;", true },
    { "a + b", "a+b", true },
    { "a + +b", "a ++b", false },
    { "a - -b", "a--b", false },
    { "x = y/ *p", "x = y/*p", false },
    { "f<<<1, 2>>>(x);", "f <<< 1,2 >>> ( x );", true },
    { "in\\\nt a;", "int a;", true },
    { "in\\\r\nt a;", "int a;", true },
    { "// a \\\n int b;\nint c;", "int c;", true },
    { "/\\\n/ a\nint c;", "int c;", true },
    { "s = \"a  b\";", "s = \"a b\";", false },
    { "s = \"// no\";", "s = \"\";", false },
    { "s = \"/* no */\";", "s = \"\";", false },
    { "s = \"\\\"// no\";", "s = \"\\\"\";", false },
    { "c = '\"'; // x", "c = '\"';", true },
    { "c = '\\''; // x", "c = '\\'';", true },
    { "n = 1'000; // x", "n = 1'000;", true },
    { "n = 1'000;", "n = 1000;", false },
    { "n = 1e+5;", "n = 1e + 5;", false },
    { "n = 1.0f;", "n = 1.0 f;", false },
    { "s = R\"(// a)\"; // x", "s = R\"(// a)\";", true },
    { "s = R\"(a  b)\";", "s = R\"(a b)\";", false },
    { "s = R\"x(a)\" // )x\";", "s = R\"x(a)\" )x\";", false },
    { "s = R\"(a\\)\"; // x", "s = R\"(a\\)\";", true },
    { "s = STR\"(// a\";", "s = STR\"(\";", false },
    { "#define A 1\nB", "#define A 1 B", false },
    { "#define A 1\n\n\nB", "#define  A  1 // one\nB", true },
    { "# define A 1\nB", "#define A 1\nB", true },
    { "#define F(x) 1\n", "#define F (x) 1\n", false },
    { "#define A 1 \\\n + 2\nB", "#define A 1 + 2\nB", true },
    { "#define A 1 /* x\n */ + 2\nB", "#define A 1 + 2\nB", true },
    { "#pragma unroll\nfor", "#pragma unroll for", false },
    { "#endif", "#endif\n", true },
    { "int a;", "int a; int b;", false },
    { "int a; int b;", "int a;", false },
    { "\xef\xbb\xbfint a;", "int a;", true },
    { "", " \n// nothing\n/* at all", true },
    { "", "x", false },
    { "\"open", "\"open\n", true },
    { "\\", "", false },
    { "R\"(open", "R\"(open", true },
    { "a / b", "a // b", false },
};

static void comments_and_blanks_make_no_difference(void)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (same_but_for_comments(pairs[i].a, pairs[i].b) != pairs[i].same ||
            same_but_for_comments(pairs[i].b, pairs[i].a) != pairs[i].same)
            FAIL_SAYING("row %zu: %s", i, pairs[i].a);
        CU_ASSERT(same_but_for_comments(pairs[i].a, pairs[i].a));
    }
}

CU_SuiteInfo test_texts = {
    "texts",
    .pTests =
        (CU_TestInfo[]){
            { "a complaint is cut to what helps", a_complaint_is_cut_to_what_helps },
            { "a long complaint is counted", a_long_complaint_is_counted },
            { "comments and blanks make no difference", comments_and_blanks_make_no_difference },
            CU_TEST_INFO_NULL,
        },
};
