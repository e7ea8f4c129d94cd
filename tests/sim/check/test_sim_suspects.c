/* test_sim_suspects.c - reads of unwritten memory are reported if their values matter. */
#include "rows.h"
#include "sim/sim_launch.h"

/* Loads an unwritten word to %r10. %p1: lanes below 16; %p2: all lanes; %p3: none. */
#define LOAD                                                                                       \
    ".shared .align 4 .b8 s[512];\nsetp.lt.u32 %p1, %r2, 16;\nsetp.lt.u32 %p2, %r2, 32;\n"         \
    "setp.gt.u32 %p3, %r2, 31;\nmov.u32 %r20, s;\nld.shared.u32 %r10, [s];\n"
#define COMPARED LOAD "setp.lt.u32 %p4, %r10, 7;\n"
#define FEW                                                                                        \
    ".shared .align 4 .b8 s[512];\nsetp.lt.u32 %p1, %r2, 16;\nmov.u32 %r20, s;\n"                  \
    "shl.b32 %r21, %r2, 2;\nadd.s32 %r20, %r20, %r21;\n@%p1 st.shared.u32 [%r20], %r2;\n"          \
    "bar.sync 0;\nld.shared.u32 %r10, [%r20];\n"

static const struct Row {
    const char *name, *ptx;
    bool matters;
} rows[] = {
    { "stored sum", KERNEL(LOAD "add.s32 %r0, %r10, 1;\n"), true },
    { "unused sum", KERNEL(LOAD "add.s32 %r11, %r10, 1;\n"), false },
    { "copied out of the block", KERNEL(LOAD "mov.u32 %r0, %r10;\n"), true },
    { "hidden by and", KERNEL(COMPARED "and.pred %p5, %p4, %p3;\nselp.u32 %r0, 1, 0, %p5;\n"),
      false },
    { "hidden by and, first",
      KERNEL(COMPARED "and.pred %p5, %p3, %p4;\nselp.u32 %r0, 1, 0, %p5;\n"), false },
    { "not hidden in all lanes",
      KERNEL(COMPARED "and.pred %p5, %p4, %p1;\nselp.u32 %r0, 1, 0, %p5;\n"), true },
    { "hidden by or", KERNEL(COMPARED "or.pred %p5, %p4, %p2;\nselp.u32 %r0, 1, 0, %p5;\n"),
      false },
    { "not hidden by or", KERNEL(COMPARED "or.pred %p5, %p4, %p3;\nselp.u32 %r0, 1, 0, %p5;\n"),
      true },
    { "masked with 0", KERNEL(LOAD "mov.u32 %r11, 0;\nand.b32 %r0, %r10, %r11;\n"), false },
    { "masked with 1", KERNEL(LOAD "mov.u32 %r11, 1;\nand.b32 %r0, %r10, %r11;\n"), true },
    { "masked with itself", KERNEL(LOAD "and.b32 %r0, %r10, %r10;\n"), true },
    { "all bits set", KERNEL(LOAD "or.b32 %r0, %r10, -1;\n"), false },
    { "not selected", KERNEL(LOAD "selp.b32 %r0, 5, %r10, %p2;\n"), false },
    { "selected", KERNEL(LOAD "selp.b32 %r0, 5, %r10, %p1;\n"), true },
    { "branch", KERNEL(COMPARED "@%p4 bra OVER;\nmov.u32 %r0, 1;\nOVER:\n"), true },
    { "address",
      KERNEL(LOAD "and.b32 %r11, %r10, 3;\nadd.s32 %r11, %r20, %r11;\n"
                  "st.shared.u8 [%r11], %r1;\n"),
      true },
    { "other lanes", KERNEL(LOAD "shfl.sync.idx.b32 %r11, %r10, 0, 31, -1;\n"), true },
    { "guard of a result", KERNEL(COMPARED "@%p4 mov.u32 %r0, 1;\n"), true },
    { "guard of nothing", KERNEL(COMPARED "@%p4 mov.u32 %r11, 1;\n"), false },
    { "guard of a store", KERNEL(COMPARED "@%p4 st.shared.u32 [s+4], %r1;\n"), true },
    { "overwritten", KERNEL(LOAD "add.s32 %r11, %r10, 1;\nmov.u32 %r11, 3;\nmov.u32 %r0, %r11;\n"),
      false },
    { "overwritten in some lanes",
      KERNEL(LOAD "add.s32 %r11, %r10, 1;\n@%p1 mov.u32 %r11, 3;\nmov.u32 %r0, %r11;\n"), true },
    { "stored by lanes that wrote", KERNEL(FEW "mov.u32 %r0, %r10;\n@!%p1 exit;\n"), false },
    { "stored by other lanes", KERNEL(FEW "mov.u32 %r0, %r10;\n@%p1 exit;\n"), true },
    { "copied within the block",
      KERNEL(LOAD "setp.lt.u32 %p4, %r10, 7;\nst.shared.u32 [s+128], %r10;\n"
                  "ld.shared.u32 %r11, [s+128];\n"),
      false },
    { "a copy within the block",
      KERNEL(LOAD "setp.lt.u32 %p4, %r10, 7;\nst.shared.u32 [s+128], %r10;\n"
                  "ld.shared.u32 %r11, [s+128];\nadd.s32 %r0, %r11, 1;\n"),
      true },
    { "kept sum", KERNEL(LOAD "add.s32 %r11, %r10, 1;\nst.shared.u32 [s+128], %r11;\n"), true },
};

static void check(const char *name, const char *ptx, bool matters, int threads)
{
    Trial trial = { .ptx = ptx, .threads = threads, .blocks = 3, .check_uninitialised = true };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_TRUE(trial.well);
    CU_ASSERT_EQUAL(found(FINDING_UNINITIALISED) != NULL, matters);
    if ((found(FINDING_UNINITIALISED) != NULL) != matters)
        printf("\n    %s, %d threads\n", name, threads);
    trial_close(&trial);
}

/* A full warp runs rows of steps until there is a suspect. */
static void values_that_matter_are_reported(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        check(rows[i].name, rows[i].ptx, rows[i].matters, 32);
        if (!strstr(rows[i].ptx, "shfl")) /* which needs all lanes */
            check(rows[i].name, rows[i].ptx, rows[i].matters, 24);
    }
}

/* The line is the load's, and the thread one that stores what depends on it. */
static void the_load_is_reported(void)
{
    Trial trial = { .ptx = KERNEL(FEW "add.s32 %r0, %r10, 1;\nsetp.ne.u32 %p6, %r2, 20;\n"
                                      "@%p6 exit;\n"),
                    .check_uninitialised = true };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    const Finding *finding = found(FINDING_UNINITIALISED);
    CU_ASSERT_PTR_NOT_NULL_FATAL(finding);
    CU_ASSERT_STRING_EQUAL(finding->text, "reads `s[20]`, which no thread has written yet");
    CU_ASSERT_EQUAL(finding->place.thread[0], 20);
    CU_ASSERT_NSTRING_EQUAL(finding->place.instruction, "ld.shared.u32", 13);
    trial_close(&trial);
}

/* PTX has a new register for each result, so that most are never overwritten. */
static void check_many(bool matters)
{
    enum { RESULTS = 300 };
    static char ptx[60000];
    char *at = ptx;

    at += sprintf(at, "%s.reg .b32 %%q<%d>;\n", HEAD BEGIN LOAD, RESULTS);
    for (int i = 0; i < RESULTS; i++)
        at += sprintf(at, "add.s32 %%q%d, %%r10, %d;\n", i, i);
    for (int i = 0; i < RESULTS && matters; i++)
        at += sprintf(at, "xor.b32 %%r11, %%r11, %%q%d;\n", i);
    sprintf(at, "%s%s", matters ? "mov.u32 %r0, %r11;\n" : "", END);
    check("many results", ptx, matters, 32);
}

static void many_results_are_followed(void)
{
    check_many(false);
    check_many(true);
}

/* A tile of a matrix product past the matrix's edge: all of its sums depend on all loads, and none
 * is stored. The list was full after a few loads, and the next one was reported. */
static void check_sums(bool matters)
{
    enum { LOADS = 120, SUMS = 32 };
    static char ptx[400000];
    char *at = ptx;

    at += sprintf(at, "%s.reg .b32 %%q<%d>;\n.reg .b32 %%t<%d>;\n", HEAD BEGIN LOAD, LOADS, SUMS);
    for (int k = 0; k < SUMS; k++)
        at += sprintf(at, "mov.u32 %%t%d, 0;\n", k);
    for (int i = 0; i < LOADS; i++) {
        at += sprintf(at, "ld.shared.u32 %%q%d, [s+%d];\n", i, 4 * i);
        for (int k = 0; k < SUMS; k++)
            at += sprintf(at, "mad.lo.s32 %%t%d, %%q%d, %d, %%t%d;\n", k, i, k + 2, k);
    }
    sprintf(at, "%s%s", matters ? "mov.u32 %r0, %t7;\n" : "", END);
    check("sums of many loads", ptx, matters, 32);
}

static void sums_of_many_loads_are_followed(void)
{
    check_sums(false);
    check_sums(true);
}

/* In a loop without a wait for copies, every load of shared memory had all copies in flight
 * searched for its bytes, in every round, and SGEMM's cases took more than their 10 seconds. Here
 * the first warp's loads are followed until it stores their sum; then those of the others are
 * counted. */
static void a_reported_line_is_only_counted(void)
{
    enum { ROUNDS = 5, WARPS = 3 };
    Trial trial = { .ptx = KERNEL(LOAD "mov.u32 %r11, 0;\nLOOP:\nld.shared.u32 %r10, [s+4];\n"
                                       "add.s32 %r0, %r0, %r10;\nadd.s32 %r11, %r11, 1;\n"
                                       "setp.lt.u32 %p4, %r11, 5;\n@%p4 bra LOOP;\n"),
                    .threads = 32 * WARPS,
                    .check_uninitialised = true };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    const Finding *finding = found(FINDING_UNINITIALISED);
    CU_ASSERT_PTR_NOT_NULL_FATAL(finding);
    CU_ASSERT_STRING_EQUAL(finding->text, "reads `s[1]`, which no thread has written yet");
    CU_ASSERT_EQUAL(finding->count, 1 + (WARPS - 1) * ROUNDS);
    trial_close(&trial);
}

static CU_TestInfo tests[] = {
    { "values that matter are reported", values_that_matter_are_reported },
    { "the load is reported", the_load_is_reported },
    { "many results are followed", many_results_are_followed },
    { "sums of many loads are followed", sums_of_many_loads_are_followed },
    { "a line that was reported is only counted", a_reported_line_is_only_counted },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_suspects = { "test_sim_suspects", NULL, NULL, NULL, NULL, tests };
