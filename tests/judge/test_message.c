/* test_message.c - the sentences of a grading, from codes and numbers; compared with
 * tests/warpbook.golden. */
#include "judge/message.h"
#include "golden.h"
#include "rows.h"

#include <math.h>

static const Case flat = { "flat", .kind = TIMED, .bar = 0.75 };
static const Case one_row = { "one row", .kind = CONTROL };

static void processes(void)
{
    static const struct {
        ChildError error;
        int status;
    } rows[] = {
        { CHILD_FINE, 0 },        { CHILD_NOT_STARTED, 0 },
        { CHILD_EXITED, 7 << 8 }, /* as waitpid() returns it */
        { CHILD_EXITED, 11 },     { CHILD_EXITED, 31 },
        { CHILD_EXITED, 8 },      { CHILD_EXITED, 6 },
        { CHILD_EXITED, 9 },      { CHILD_NO_ANSWER, 0 },
        { CHILD_HOST_MEMORY, 0 }, { CHILD_CLOSED_CHANNEL, 0 },
        { CHILD_NOT_TEXT, 0 },    { CHILD_OUT_OF_TURN, 0 },
        { CHILD_FLOOD, 0 },       { CHILD_UNTAGGED, 0 },
        { CHILD_BAD_ANSWER, 0 },
    };
    char all[4000] = "";

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Child child = { .error = rows[i].error,
                              .status = rows[i].status,
                              .system_error = 2,
                              .limit_s = 10,
                              .memory_limit = (size_t) 6 << 30 };
        char text[400];
        message_child(&child, text, sizeof text);
        APPEND(all, "%s\n", text);
    }
    golden("processes", all);
}

static void stray_writes(void)
{
    static const struct {
        Diagnosis diagnosis;
        bool before;
    } rows[] = {
        { { .saw = SAW(SAW_INPUT), .array = "in", .element = 7 }, false },
        { { .array = "out", .element = 4 }, true },
        { { .array = "out", .element = 12 }, false },
        { { .array = "out", .element = 0 }, false },
    };
    char all[2000] = "", text[400];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        message_stray(&rows[i].diagnosis, rows[i].before, text, sizeof text);
        APPEND(all, "%s\n", text);
    }
    golden("stray writes", all);
}

static void wrong_results(void)
{
    static const Array out = { .type = F32, .rows = 31, .cols = 33, .name = "out" };
    static const Array sums = { .type = U32, .rows = 1, .cols = 100 };
    static const struct {
        const Array *array;
        const char *pattern;
        Diagnosis diagnosis;
    } rows[] = {
        { &out, "", { .element = 104, .got = 2, .want = 0.5, .wrong = 12, .compared = 1023 } },
        { &out,
          "",
          { .saw = SAW(SAW_UNWRITTEN), .element = 0, .got = NAN, .wrong = 1, .compared = 1 } },
        { &sums,
          "every 2nd element",
          { .element = 2, .got = 1, .want = 9, .wrong = 50, .compared = 100 } },
    };
    char all[2000] = "", text[400];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        message_wrong(&rows[i].diagnosis, rows[i].array, rows[i].pattern, text, sizeof text);
        APPEND(all, "%s\n", text);
    }
    golden("wrong results", all);
}

static void counters(void)
{
    static const Diagnosis special[] = {
        { .saw = SAW(SAW_WARP_ATOMICS), .array = "in", .value = 1.0, .limit = 0.25 },
        { .saw = SAW(SAW_SECTORS_WRITTEN),
          .array = "out",
          .value = 2,
          .per_request = 4,
          .limit = 1.15 },
        { .saw = SAW(SAW_SECTORS_READ),
          .array = "in",
          .value = 1.5,
          .per_request = 4,
          .limit = 1.15 },
        { .saw = SAW(SAW_SECTORS_READ), .value = 8, .per_request = 32, .limit = 1, .line = 7 },
        { .saw = SAW(SAW_SECTORS_WRITTEN), .value = 7.7, .per_request = 15.5, .limit = 1 },
    };
    char all[4000] = "", text[400];

    for (int code = SAW_SECTORS_READ; code <= SAW_IDLE_LANES; code++) {
        const Diagnosis diagnosis = { .saw = SAW(code),
                                      .array = "in",
                                      .value = 8,
                                      .limit = 1.15,
                                      .per_request = 32,
                                      .line = code % 2 ? 24 : 0 };
        message_counter(&diagnosis, text, sizeof text);
        APPEND(all, "%s\n", text);
    }
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        message_counter(&special[i], text, sizeof text);
        APPEND(all, "%s\n", text);
    }
    golden("counters", all);
}

static void speeds(void)
{
    const CaseSpeed speed = { .lab_case = &flat,
                              .bar = 0.75,
                              .ratio = { 0.5, 0.49, 0.51 },
                              .gbps = 40,
                              .reference_gbps = 80 };
    /* Lab 04 once ran at "0 of 0 GB/s". */
    const CaseSpeed computes = { .lab_case = &flat,
                                 .bar = 0.75,
                                 .ratio = { 0.5, 0.49, 0.51 },
                                 .student_ms = 2,
                                 .reference_ms = 1,
                                 .gbps = 0.3,
                                 .reference_gbps = 0.6,
                                 .gflops = 250.4 };
    const CaseSpeed steps = { .lab_case = &flat,
                              .bar = 0.75,
                              .ratio = { 0.5, 0.49, 0.51 },
                              .student_ms = 2,
                              .reference_ms = 1,
                              .gbps = 40,
                              .reference_gbps = 80,
                              .gsteps = 9.1 };
    const Diagnosis suspects[] = {
        { .saw = SAW(SAW_TOO_FAST), .lab_case = &flat, .value = 9000, .limit = 4800 },
        { .saw = SAW(SAW_SLOWED_REFERENCE), .lab_case = &flat, .value = 12 },
    };
    char all[2000] = "", text[400];

    for (int modelled = 0; modelled <= 1; modelled++) {
        message_slow(&speed, modelled, text, sizeof text);
        APPEND(all, "%s\n", text);
        message_slow(&computes, modelled, text, sizeof text);
        APPEND(all, "%s\n", text);
        message_slow(&steps, modelled, text, sizeof text);
        APPEND(all, "%s\n", text);
    }
    for (int i = 0; i < 2; i++) {
        message_suspect(&suspects[i], text, sizeof text);
        APPEND(all, "%s\n", text);
    }
    message_idle(&suspects[0], text, sizeof text);
    APPEND(all, "%s\n", text);
    message_close(text, sizeof text);
    APPEND(all, "%s\n", text);
    golden("speeds", all);
}

static void launches_that_take_the_time(void)
{
    char text[400];

    message_launches(400, 0.84, 0.952, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text,
                           "the call makes 400 launches, one per 2.1 us, and no kernel runs for "
                           "95 % of that time: you time launches, not the work in them. Launch "
                           "less often");
}

/* Reasons why a case is not judged, and what the note says about a control case. */
static void unjudged_cases(void)
{
    static const struct {
        DiagnosisCode code;
        const Case *lab_case;
        double value, limit;
    } rows[] = {
        { SAW_NOISY, &flat, 7.4, 0 },
        { SAW_NOISY, &one_row, 0, 0 }, /* because a timed case was noisy */
        { SAW_DISTURBED, &flat, 0, 0 },
        { SAW_DISTURBED, &flat, 12, 0 },
        { SAW_FAR_BELOW, &one_row, 0, 0 },
        { SAW_NO_SIZE, &flat, 0, 0.2 },
        { SAW_NO_SIZE, &flat, 0, 0 },
        { SAW_DEVICE_MEMORY, &flat, 6.4, 3.2 },
        { SAW_TOO_LARGE, &flat, 210, 0 },
        { SAW_TOO_LARGE, &one_row, 0, 0 },
        { SAW_UNTIMED, &flat, 1, 3 },
        { SAW_IDLE_GPU, &flat, 0, 0 },
        { SAW_BLIND, &flat, 0.82, 0.75 },
    };
    char all[4000] = "", text[600];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Diagnosis diagnosis = { .saw = SAW(rows[i].code),
                                      .lab_case = rows[i].lab_case,
                                      .value = rows[i].value,
                                      .limit = rows[i].limit };
        CU_ASSERT_NOT_EQUAL(diagnosis_possible(CORRECT_ONLY) & diagnosis.saw, 0);
        message_unjudged(&diagnosis, text, sizeof text);
        APPEND(all, "%s\n", text);
    }
    golden("unjudged cases", all);
}

static void notes(void)
{
    const Diagnosis blind = { .saw = SAW(SAW_BLIND), .lab_case = &flat, .value = 1, .limit = 0.75 };
    const Diagnosis too_large = { .saw = SAW(SAW_TOO_LARGE), .lab_case = &one_row };
    const CaseSpeed speed = { .lab_case = &flat, .timed_blocks = 96, .simulated_blocks = 4096 };
    char all[2000] = "", text[800] = "";

    message_samples(&speed, text, sizeof text);
    message_left_out(&blind, text, sizeof text);
    message_left_out(&too_large, text, sizeof text);
    APPEND(all, "%s\n", text);
    for (int bounded = 0; bounded <= 1; bounded++) {
        message_counters_only(&blind, bounded, text, sizeof text);
        APPEND(all, "%s\n", text);
    }
    message_ours_failed("its process exited", text, sizeof text);
    APPEND(all, "%s\n", text);
    golden("notes", all);
}

/* Only an array that the line does not name is a neighbour. */
static void neighbours_in_shared_memory(void)
{
    static const char source[] = "__shared__ int queue[8][64], count[8];\n"
                                 "queue[kind[i]][place] = i;\ncount[8] = 1;\n*to = 1;\n";
    static const struct {
        const char *why;
        bool says;
    } rows[] = {
        { "kernel.cu:2: writes `count[8]`, but `count` has 8 elements", true },
        { "kernel.cu:2: writes `queue[64]`, but `queue` has 64 elements", false },
        { "kernel.cu:3: writes `count[8]`, but `count` has 8 elements", false },
        { "kernel.cu:9: writes `count[8]`, but `count` has 8 elements", false },
        { "kernel.cu:2: writes `count[8]`", false },
        { "kernel.cu:2: writes `out[4]`, but `out` has 1 element", false }, /* float *to = out */
        { "writes `count[8]`, but `count` has 8 elements", false },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char why[400];
        PUT(why, "%s", rows[i].why);
        message_neighbour(source, why, sizeof why);
        if ((strstr(why, "Line 2 does not name `count`") != NULL) != rows[i].says)
            FAIL_SAYING("row %zu: %s", i, why);
    }
}

CU_SuiteInfo test_message = {
    "message",
    .pTests =
        (CU_TestInfo[]){
            { "processes", processes },
            { "stray writes", stray_writes },
            { "wrong results", wrong_results },
            { "counters", counters },
            { "speeds", speeds },
            { "launches that take the time", launches_that_take_the_time },
            { "unjudged cases", unjudged_cases },
            { "notes", notes },
            { "neighbours in shared memory", neighbours_in_shared_memory },
            CU_TEST_INFO_NULL,
        },
};
