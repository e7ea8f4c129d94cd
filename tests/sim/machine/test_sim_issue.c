/* test_sim_issue.c - the estimated machine instructions and their threads, compared with the code
 * that ptxas 13.0 generates for sm_90. */
#include "sim/machine/issue.h"
#include "sim/report/report.h"
#include "rows.h"
#include "sim/sim_launch.h"
#include "base/util.h"

#include <unistd.h>

#define SOME_LANES "setp.ge.u32 %p1, %r2, 8;\n@%p1 bra OUT;\n" /* 8 of 32 continue */
#define NO_LANE    "setp.lt.u32 %p1, %r2, 32;\n@%p1 bra BEHIND;\n"
#define ADD        "add.u32 %r7, %r7, %r1;\n"
#define LOAD       "ld.global.u32 %r7, [%rd2];\n"
#define ANOTHER    "ld.global.u32 %r8, [%rd2];\n"
#define STORE      "st.global.u32 [%rd2], %r0;\n"

/* One warp; the text follows BEGIN. The figures are the difference from an empty kernel. */
static const struct {
    const char *body;
    int instructions, threads;
} rows[] = {
    { ADD, 1, 32 },
    /* Two PTX instructions, one machine instruction. */
    { "xor.b32 %r7, %r1, %r2;\nand.b32 %r8, %r7, %r4;\n", 1, 32 },
    { "shl.b32 %r7, %r1, 8;\nxor.b32 %r8, %r1, %r2;\nadd.u32 %r9, %r7, %r4;\n", 2, 64 },
    { "and.b32 %r7, %r1, 31;\nsetp.ne.s32 %p1, %r7, 0;\n", 1, 32 },
    /* A copy needs no instruction if one register is enough. */
    { "mov.u32 %r7, %r1;\nmov.u32 %r8, 5;\n", 0, 0 },
    { "mov.u32 %r7, 5;\nmov.u32 %r7, %r1;\nadd.u32 %r8, %r7, %r1;\n", 3, 96 },
    { "mov.u64 %rd7, 5;\nmov.u64 %rd7, 6;\n", 4, 128 },
    { "mul.f32 %f2, %f1, %f1;\nadd.f32 %f3, %f2, %f1;\n", 1, 32 },
    { "mul.rn.f32 %f2, %f1, %f1;\nadd.rn.f32 %f3, %f2, %f1;\n", 2, 64 },
    /* One PTX instruction, several machine instructions, some of which are usually off. */
    { "div.approx.f32 %f2, %f1, %f1;\n", 5, 96 },
    { "div.approx.ftz.f32 %f2, %f1, %f1;\n", 1, 32 },
    { "lg2.approx.f32 %f2, %f1;\n", 4, 64 },
    { "cvt.rzi.f32.f32 %f2, %f1;\n", 1, 32 },
    { "cvt.u64.u32 %rd5, %r1;\n", 0, 0 },
    /* A short branch is predicated and issued even if no lane takes it; a long one is not. */
    { NO_LANE ADD ADD "BEHIND:\n", 3, 32 },
    { NO_LANE ADD ADD ADD ADD ADD ADD ADD ADD "BEHIND:\n", 9, 32 },
    { NO_LANE ADD ADD ADD ADD ADD ADD ADD ADD ADD "BEHIND:\n", 2, 64 },
    /* A predicated branch may load one word for later steps, or several for itself, but not two for
     * later steps. */
    { LOAD NO_LANE LOAD "BEHIND:\n" ADD, 4, 96 },
    { LOAD NO_LANE LOAD ANOTHER "BEHIND:\n" ADD, 4, 128 },
    { LOAD NO_LANE LOAD ANOTHER "add.u32 %r9, %r7, %r8;\nBEHIND:\n" ADD, 6, 96 },
    /* The exit of a loop and the jump back are one branch: four iterations of three instructions,
     * and one before the loop. */
    { "mov.u32 %r7, 0;\nROUND:\nadd.u32 %r7, %r7, 1;\nsetp.eq.u32 %p1, %r7, 4;\n@%p1 bra BEHIND;\n"
      "bra.uni ROUND;\nBEHIND:\n",
      13, 12 * 32 },
};

/* Whole kernels, in which some lanes exit early. */
static const struct {
    const char *ptx;
    int instructions, threads;
} exits[] = {
    /* First the stack pointer, out, n (unused), tid, laneid, ctaid, ntid, the index, the address,
       and the two of SOME_LANES, the second of which is on for the lanes that exit. Then 8 lanes
       load the memory descriptor, store and exit. */
    { HEAD BEGIN SOME_LANES STORE "OUT:\nret;\n}\n", 14, 10 * 32 + 24 + 3 * 8 },
    /* n is loaded at its first use, by 8 lanes. */
    { HEAD BEGIN SOME_LANES "add.u32 %r9, %r3, %r1;\n" STORE "OUT:\nret;\n}\n", 15,
      9 * 32 + 24 + 5 * 8 },
};

typedef struct Sum {
    int instructions, threads;
} Sum;

static Sum sum_of(const char *ptx)
{
    Trial trial = { .ptx = ptx };
    Sum sum = { 0, 0 };

    CU_ASSERT_FATAL(trial_run(&trial));
    CU_ASSERT_FATAL(trial.well);
    Issue *issues = xcalloc((size_t) trial.code->step_count + 1, sizeof *issues);
    estimate_issues(trial.code, trial.launch.counts, issues);
    for (int i = 0; i < trial.code->step_count; i++) {
        sum.instructions += (int) issues[i].instructions;
        sum.threads += (int) issues[i].threads;
    }
    free(issues);
    trial_close(&trial);
    return sum;
}

static void expect(const char *ptx, Sum sum, int instructions, int threads)
{
    if (sum.instructions != instructions || sum.threads != threads)
        printf("\n    %sis %d instructions, %d threads, not %d, %d\n", ptx, sum.instructions,
               sum.threads, instructions, threads);
    CU_ASSERT_EQUAL(sum.instructions, instructions);
    CU_ASSERT_EQUAL(sum.threads, threads);
}

static void instructions_of_the_machine(void)
{
    const Sum empty = sum_of(KERNEL(""));

    for (size_t i = 0; i < COUNT(rows); i++) {
        char ptx[4000];
        Sum sum = sum_of(PUT(ptx, "%s%s%s", HEAD BEGIN, rows[i].body, END));
        sum.instructions -= empty.instructions;
        sum.threads -= empty.threads;
        expect(rows[i].body, sum, rows[i].instructions, rows[i].threads);
    }
    for (size_t i = 0; i < COUNT(exits); i++)
        expect(exits[i].ptx, sum_of(exits[i].ptx), exits[i].instructions, exits[i].threads);
}

/* The report once omitted steps that no lane reached, although the machine issues them, for example
 * the loads past the end of an array in lab 04: 30 threads per instruction instead of 20. */
static void what_no_lane_came_to_is_reported(void)
{
    Trial trial = { .ptx = KERNEL(NO_LANE ADD ADD "BEHIND:\n") };
    char path[64], wanted[80], *report;
    const Sum sum = sum_of(trial.ptx);

    CU_ASSERT_FATAL(trial_run(&trial));
    report_clear();
    report_launch(&trial.launch, NULL, NULL);
    CU_ASSERT_TRUE(report_at_exit(PUT(path, "/tmp/test_sim_issue.%d", (int) getpid()), false));
    report = read_file(path, 1 << 20, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report);
    PUT(wanted, "\"machine_instructions\":%d,\"machine_threads\":%d,", sum.instructions,
        sum.threads);
    CU_ASSERT_PTR_NOT_NULL(strstr(report, wanted));
    free(report);
    unlink(path);
    report_clear();
    trial_close(&trial);
}

CU_SuiteInfo test_sim_issue = {
    .pName = "sim_issue",
    .pTests =
        (CU_TestInfo[]){
            { "instructions of the machine", instructions_of_the_machine },
            { "steps that no lane reached are reported", what_no_lane_came_to_is_reported },
            CU_TEST_INFO_NULL,
        },
};
