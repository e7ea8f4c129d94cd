/* test_sim_syscalls.c - printf, assert, clocks. */
#include "rows.h"
#include "sim/sim_launch.h"

/* ---- printf, assert, clocks ---- */

#define TEXTS                                                                                      \
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"                       \
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "      \
    ".param .b64 e);\n"                                                                            \
    ".global .align 1 .b8 abc[4] = {97, 98, 99, 0};\n"
#define PRINT                                                                                      \
    "mov.u64 %rd10, depot;\ncvta.local.u64 %rd11, %rd10;\nmov.u64 %rd12, format;\n"                \
    "cvta.global.u64 %rd12, %rd12;\n{\n.param .b64 p0;\n.param .b64 p1;\n.param .b32 q;\n"         \
    "st.param.b64 [p0+0], %rd12;\nst.param.b64 [p1+0], %rd11;\n"                                   \
    "call.uni (q), vprintf, (p0, p1);\nld.param.b32 %r0, [q+0];\n}\n"

static const struct Print {
    const char *format, *stores, *want; /* want: for lane 0 */
    uint32_t values;
} prints[] = {
    { "plain", "", "plain", 0 },
    { "%d|%5d|%-5d|%05d",
      "st.local.u32 [%rd10], -7;\nst.local.u32 [%rd10+4], 42;\n"
      "st.local.u32 [%rd10+8], 43;\nst.local.u32 [%rd10+12], 44;\n",
      "-7|   42|43   |00044", 4 },
    { "%u %x %X %o %#x %c%c%%",
      "st.local.u32 [%rd10], -1;\nst.local.u32 [%rd10+4], 48879;\n"
      "st.local.u32 [%rd10+8], 48879;\nst.local.u32 [%rd10+12], 8;\n"
      "st.local.u32 [%rd10+16], 16;\nst.local.u32 [%rd10+20], 65;\n"
      "st.local.u32 [%rd10+24], 66;\n",
      "4294967295 beef BEEF 10 0x10 AB%", 7 },
    { "%s,%5s,%.2s|%p",
      "mov.u64 %rd13, abc;\nst.local.u64 [%rd10], %rd13;\nst.local.u64 [%rd10+8], %rd13;\n"
      "st.local.u64 [%rd10+16], %rd13;\nst.local.u64 [%rd10+24], 4096;\n",
      "abc,  abc,ab|0x1000", 4 },
    { "%f %.2f %e %g %a",
      "st.local.f64 [%rd10], 0d3FF8000000000000;\nst.local.f64 [%rd10+8], 0d4000000000000000;\n"
      "st.local.f64 [%rd10+16], 0d4059000000000000;\nst.local.f64 [%rd10+24], "
      "0d3FB999999999999A;\nst.local.f64 [%rd10+32], 0d3FF0000000000000;\n",
      "1.500000 2.00 1.000000e+02 0.1 0x1p+0", 5 },
    { "%d %lld %d %llu %ld",
      "st.local.u32 [%rd10], 1;\nst.local.u64 [%rd10+8], -2;\nst.local.u32 [%rd10+16], 3;\n"
      "st.local.u64 [%rd10+24], -1;\nst.local.u64 [%rd10+32], 5;\n",
      "1 -2 3 18446744073709551615 5", 5 },
    { "%*d|%-*d|%.*f|%hhd",
      "st.local.u32 [%rd10], 4;\nst.local.u32 [%rd10+4], 7;\nst.local.u32 [%rd10+8], -3;\n"
      "st.local.u32 [%rd10+12], 7;\nst.local.u32 [%rd10+16], 1;\n"
      "st.local.f64 [%rd10+24], 0d3FF8000000000000;\nst.local.u32 [%rd10+32], 511;\n",
      "   7|7  |1.5|-1", 7 },
    { "%s", "st.local.u64 [%rd10], 5;\n", "(null)", 1 },
    { "%q %", "", "%q %", 0 },
    { "%999999999d|%.999999999f",
      "st.local.u32 [%rd10], 4;\nst.local.f64 [%rd10+8], 0d3FF8000000000000;\n", NULL, 2 },
};

static void bytes_of(const char *text, char *list, size_t size)
{
    size_t used = 0;

    for (; *text; text++)
        used += (size_t) snprintf(list + used, size - used, "%d, ", *text);
    snprintf(list + used, size - used, "0");
}

static void prints_what_it_should(void)
{
    for (size_t i = 0; i < COUNT(prints); i++) {
        char ptx[6000], list[400];
        Trial trial = { .ptx = ptx, .threads = 1 };
        bytes_of(prints[i].format, list, sizeof list);
        snprintf(ptx, sizeof ptx,
                 "%s.global .align 1 .b8 format[%zu] = {%s};\n%s.local .align 8 .b8 depot[64];\n"
                 "mov.u64 %%rd10, depot;\n%s%s%s",
                 HEAD TEXTS, strlen(prints[i].format) + 1, list, BEGIN, prints[i].stores, PRINT,
                 END);
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        CU_ASSERT_TRUE(trial.well);
        CU_ASSERT_EQUAL(trial.out[0], prints[i].values);
        if (prints[i].want)
            CU_ASSERT_STRING_EQUAL(trial.printed, prints[i].want);
        if (!trial.well || (prints[i].want && strcmp(trial.printed, prints[i].want))) {
            printf("\n    %s\n", trial.printed);
            show_findings(prints[i].format);
        }
        trial_close(&trial);
    }
}

static void prints_lane_by_lane(void)
{
    Trial trial = { .ptx = HEAD TEXTS
                    ".global .align 1 .b8 format[4] = {37, 100, 32, 0};\n" BEGIN
                    ".local .align 8 .b8 depot[64];\nsetp.lt.u32 %p1, %r1, 28;\n@%p1 bra L;\n"
                    "mov.u64 %rd10, depot;\nst.local.u32 [%rd10], %r1;\n" PRINT "L:\n" END };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_STRING_EQUAL(trial.printed, "28 29 30 31 ");
    trial_close(&trial);
}

static void asserts(void)
{
    Trial trial = {
        .ptx = HEAD TEXTS BEGIN
        "setp.ne.u32 %p1, %r1, 9;\n@%p1 bra L;\n{\n.param .b64 p0;\n.param .b64 p1;\n.param .b32 "
        "p2;\n"
        ".param .b64 p3;\n.param .b64 p4;\nmov.u64 %rd10, abc;\nst.param.b64 [p0+0], %rd10;\n"
        "st.param.b64 [p1+0], %rd10;\nst.param.b32 [p2+0], 16;\ncall.uni __assertfail, (p0, p1, "
        "p2, p3, "
        "p4);\n}\nL:\n" END
    };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_FALSE(trial.well);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found(FINDING_ASSERT));
    CU_ASSERT_PTR_NOT_NULL(strstr(found(FINDING_ASSERT)->text, "`abc' failed at abc:16"));
    CU_ASSERT_EQUAL(found(FINDING_ASSERT)->place.thread[0], 9);
    trial_close(&trial);
}

static void clocks_run(void)
{
    Trial trial = { .ptx = KERNEL(
                        "mov.u64 %rd10, %clock64;\nadd.s32 %r10, %r1, 1;\nadd.s32 %r10, %r1, 1;\n"
                        "mov.u64 %rd11, %clock64;\nsub.s64 %rd12, %rd11, %rd10;\ncvt.u32.u64 %r0, "
                        "%rd12;\nmov.u32 %r11, %clock;\n") };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_EQUAL(trial.out[5], 3);
    trial_close(&trial);
}

static CU_TestInfo tests[] = {
    { "printf", prints_what_it_should },
    { "printf, lane by lane", prints_lane_by_lane },
    { "assert", asserts },
    { "clocks", clocks_run },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_syscalls = { "test_sim_syscalls", NULL, NULL, NULL, NULL, tests };
