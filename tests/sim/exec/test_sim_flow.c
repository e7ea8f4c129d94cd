/* test_sim_flow.c - random control flow gives the same results in a warp and in each lane alone.
 *
 * Three kinds of programs: structured ones (if, while, do, switch, break, continue, goto, return),
 * graphs of blocks that jump to any block until a lane's fuel is used up, and functions of the
 * first kind that call each other and themselves, also through a register that differs by lane. The
 * lanes' data differ, so that they diverge all the time. SIM_FLOW=N in the environment runs N times
 * as many programs, different from those without it.
 */
#define MOST_SNIPPETS 30
#include "sim/sim_lane.h"
#include "sim/sim_launch.h"

#include <stdarg.h>

enum { TEXT_BYTES = 1 << 17, VARIABLES = 6, PROGRAMS = 1000, FUNCTIONS = 4 };

/* ---- Random programs ---- */

typedef struct Writer {
    char text[TEXT_BYTES];
    size_t used;
    uint64_t random;
    int labels, depth, counters;
    int loop[16], loops; /* labels of the enclosing loops, for break and continue */
    int after[16], ifs;  /* labels after the enclosing ifs, for goto */
    bool may_return;     /* lanes may leave early */
    bool may_call;
    int calls; /* calls still allowed in the function; 1 << calls bounds the run time */
} Writer;

static uint32_t pick(Writer *writer, uint32_t below)
{
    writer->random = writer->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t) (writer->random >> 33) % below;
}

static void line(Writer *writer, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    writer->used += (size_t) vsnprintf(writer->text + writer->used, TEXT_BYTES - writer->used,
                                       format, arguments);
    va_end(arguments);
    CU_ASSERT_FATAL(writer->used < TEXT_BYTES);
}

static int variable(Writer *writer)
{
    return 10 + (int) pick(writer, VARIABLES);
}

static void assignment(Writer *writer)
{
    static const char *const operations[] = { "add.s32", "xor.b32", "sub.s32", "mul.lo.s32",
                                              "min.u32" };

    line(writer, "%s %%r%d, %%r%d, %%r%d;\n", operations[pick(writer, 5)], variable(writer),
         variable(writer), variable(writer));
    line(writer, "mad.lo.s32 %%r%d, %%r%d, 3, %d;\n", variable(writer), variable(writer),
         (int) pick(writer, 1000));
}

/* A predicate that differs by lane: a bit of a hash of a variable. */
static void condition(Writer *writer)
{
    line(writer,
         "mul.lo.s32 %%r30, %%r%d, -1640531527;\nshr.u32 %%r30, %%r30, %d;\nand.b32 %%r30, %%r30, "
         "%d;\n"
         "setp.eq.u32 %%p1, %%r30, 0;\n",
         variable(writer), (int) (20 + pick(writer, 8)), pick(writer, 2) ? 1 : 3);
}

static void statements(Writer *writer);

static void if_statement(Writer *writer)
{
    int other = writer->labels++, end = writer->labels++;

    condition(writer);
    line(writer, "@%sp1 bra L%d;\n", pick(writer, 2) ? "!%" : "%", other);
    writer->after[writer->ifs++] = end;
    statements(writer);
    if (pick(writer, 2)) {
        line(writer, "bra L%d;\nL%d:\n", end, other);
        statements(writer);
    } else {
        line(writer, "L%d:\n", other);
    }
    writer->ifs--;
    line(writer, "L%d:\n", end);
}

/* At most 1 to 5 rounds, depending on the lane. */
static void loop_statement(Writer *writer)
{
    int label = writer->labels, counter = 40 + writer->counters;

    if (writer->counters >= 20)
        return;
    writer->labels += 3; /* next round, test, after the loop */
    writer->counters++;
    line(writer, "and.b32 %%r%d, %%r%d, 3;\n", counter, variable(writer));
    if (pick(writer, 2))
        line(writer, "bra L%d;\n", label + 1);
    line(writer, "L%d:\n", label);
    writer->loop[writer->loops++] = label;
    statements(writer);
    writer->loops--;
    line(writer,
         "L%d: add.s32 %%r%d, %%r%d, -1;\nsetp.gt.s32 %%p2, %%r%d, 0;\n@%%p2 bra L%d;\nL%d:\n",
         label + 1, counter, counter, counter, label, label + 2);
    writer->counters--;
}

static void switch_statement(Writer *writer)
{
    int label = writer->labels, cases = 2 + (int) pick(writer, 4);

    writer->labels += 8;
    line(writer, "and.b32 %%r30, %%r%d, 15;\nrem.u32 %%r30, %%r30, %d;\nT%d: .branchtargets ",
         variable(writer), cases, label);
    for (int i = 0; i < cases; i++)
        line(writer, "%sL%d", i ? ", " : "", label + i);
    line(writer, ";\nbrx.idx %%r30, T%d;\n", label);
    for (int i = 0; i < cases; i++) {
        line(writer, "L%d:\n", label + i);
        statements(writer);
        if (pick(writer, 3))
            line(writer, "bra L%d;\n", label + 7);
    }
    line(writer, "L%d:\n", label + 7);
}

static void leave_statement(Writer *writer)
{
    condition(writer);
    if (writer->loops && pick(writer, 3))
        line(writer, "@%%p1 bra L%d;\n",
             writer->loop[pick(writer, (uint32_t) writer->loops)] + (pick(writer, 2) ? 1 : 2));
    else if (writer->ifs && pick(writer, 2))
        line(writer, "@%%p1 bra L%d;\n", writer->after[pick(writer, (uint32_t) writer->ifs)]);
    else if (writer->may_return && !pick(writer, 3))
        line(writer, "@%%p1 bra RETURN;\n");
    else
        line(writer, "@%%p1 add.s32 %%r%d, %%r%d, 77;\n", variable(writer), variable(writer));
}

/* Calls one of two functions depending on the lane, or one for all lanes, with a value and half the
 * fuel. */
static void call_statement(Writer *writer)
{
    int label = writer->labels++, first = (int) pick(writer, FUNCTIONS);

    if (!writer->may_call || !writer->calls || writer->loops > 1) {
        assignment(writer);
        return;
    }
    writer->calls--;
    line(writer, "setp.le.s32 %%p3, %%r61, 0;\n@%%p3 bra L%d;\nshr.u32 %%r62, %%r61, 1;\n", label);
    line(writer,
         "{\n.param .b32 p0;\n.param .b32 p1;\n.param .b32 q;\n"
         "st.param.b32 [p0], %%r%d;\nst.param.b32 [p1], %%r62;\n",
         variable(writer));
    if (pick(writer, 2)) {
        line(writer, "call (q), f%d, (p0, p1);\n", first);
    } else {
        condition(writer);
        line(writer,
             "mov.u64 %%rd8, f%d;\nmov.u64 %%rd9, f%d;\nselp.b64 %%rd10, %%rd8, %%rd9, %%p1;\n"
             "P%d: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\n"
             "call (q), %%rd10, (p0, p1), P%d;\n",
             first, (int) pick(writer, FUNCTIONS), label, label);
    }
    line(writer, "ld.param.b32 %%r%d, [q];\n}\nL%d:\n", variable(writer), label);
}

static void statements(Writer *writer)
{
    static void (*const kinds[])(Writer *) = { assignment,      assignment,     if_statement,
                                               if_statement,    loop_statement, switch_statement,
                                               leave_statement, call_statement };
    int count = 1 + (int) pick(writer, 4);

    writer->depth++;
    for (int i = 0; i < count; i++)
        kinds[writer->depth > 5 || writer->used > TEXT_BYTES / 4 ? 0 : pick(writer, 8)](writer);
    writer->depth--;
}

/* Each variable starts with a hash of the lane. */
static void begin(Writer *writer)
{
    line(writer, "%s", HEAD BEGIN);
    for (int i = 0; i < VARIABLES; i++)
        line(writer, "mad.lo.s32 %%r%d, %%r1, %d, %d;\n", 10 + i, 7919 * (i + 1),
             (int) pick(writer, 100000));
}

static void end(Writer *writer)
{
    for (int i = 0; i < VARIABLES; i++)
        line(writer, "mad.lo.s32 %%r0, %%r0, 31, %%r%d;\n", 10 + i);
    line(writer, "%s", END);
}

static void structured(Writer *writer)
{
    begin(writer);
    for (int i = 0; i < 4; i++)
        statements(writer);
    end(writer);
    if (writer->may_return) { /* inserts another end before the brace */
        writer->used -= 2;
        line(writer,
             "RETURN: add.s32 %%r0, %%r10, %%r11;\nst.global.u32 [%%rd2], %%r0;\nret;\n}\n");
    }
}

/* ---- Functions that call each other ---- */

static void function_body(Writer *writer, int number)
{
    line(writer,
         ".func (.param .b32 r) f%d(.param .b32 a, .param .b32 b)\n{\n.reg .pred %%p<9>;\n"
         ".reg .b32 %%r<64>;\n.reg .b64 %%rd<16>;\nld.param.b32 %%r60, [a];\n"
         "ld.param.b32 %%r61, [b];\n",
         number);
    for (int i = 0; i < VARIABLES; i++)
        line(writer, "mad.lo.s32 %%r%d, %%r60, %d, %d;\n", 10 + i, 31 * i + 1,
             (int) pick(writer, 1000));
    writer->calls = 2;
    writer->labels = 0;
    for (int i = 0; i < 2; i++)
        statements(writer);
    line(writer, "RETURN: mad.lo.s32 %%r10, %%r11, 7, %%r10;\nst.param.b32 [r], %%r10;\n");
    condition(writer);
    line(writer, "@%%p1 %s;\nret;\n}\n", pick(writer, 20) ? "ret" : "exit");
}

static void calling(Writer *writer)
{
    line(writer, "%s", HEAD);
    for (int i = 0; i < FUNCTIONS; i++)
        line(writer, ".func (.param .b32 r) f%d(.param .b32 a, .param .b32 b);\n", i);
    for (int i = 0; i < FUNCTIONS; i++)
        function_body(writer, i);
    writer->may_return = false;
    writer->calls = 4;
    writer->labels = 0;
    line(writer, "%s", BEGIN "and.b32 %r61, %r1, 7;\n");
    for (int i = 0; i < VARIABLES; i++)
        line(writer, "mad.lo.s32 %%r%d, %%r1, %d, %d;\n", 10 + i, 7919 * (i + 1),
             (int) pick(writer, 100000));
    for (int i = 0; i < 3; i++)
        statements(writer);
    call_statement(writer);
    end(writer);
}

/* Blocks that jump to any block until the fuel is used up. */
static void unstructured(Writer *writer)
{
    int blocks = 2 + (int) pick(writer, 12);

    begin(writer);
    line(writer, "and.b32 %%r40, %%r10, 31;\n");
    for (int i = 0; i < blocks; i++) {
        line(writer,
             "B%d: add.s32 %%r40, %%r40, -1;\nsetp.lt.s32 %%p2, %%r40, 0;\n@%%p2 bra OVER;\n", i);
        assignment(writer);
        condition(writer);
        line(writer, "@%%p1 bra B%d;\n", (int) pick(writer, (uint32_t) blocks));
        if (pick(writer, 4) == 0)
            line(writer, "bra B%d;\n", (int) pick(writer, (uint32_t) blocks));
        if (pick(writer, 6) == 0) {
            condition(writer);
            line(writer, "@%%p1 st.global.u32 [%%rd2], %%r10;\n@%%p1 %s;\n",
                 pick(writer, 2) ? "exit" : "ret");
        }
    }
    line(writer, "OVER:\n");
    end(writer);
}

/* ---- Each lane alone ---- */

static bool each_alone(Trial *trial, uint32_t *words)
{
    Lane lane = { .module = trial->module,
                  .kernel_params = { trial->array->base, trial->n },
                  .array = trial->array->base,
                  .words = words,
                  .word_count = LANES };
    bool well = true;

    memset(words, 0, LANES * 4);
    for (lane.thread = 0; lane.thread < LANES && well; lane.thread++)
        well = lane_run(&lane, module_find(trial->module, "k"));
    if (!well)
        printf("\n    line %d of the PTX: cannot be run by one lane\n", lane.unknown->ptx_line);
    return well;
}

/* ---- Both ---- */

static bool meets_at_end(const Trial *trial)
{
    const Count *last = &trial->launch.counts[trial->code->step_count - 1];

    return last->executed == 1 && last->lanes == LANES;
}

static void compare_both(Writer *writer, const char *name, int number, bool meets)
{
    Trial trial = { .ptx = writer->text };
    uint32_t alone[LANES];

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    bool well = trial.well && !finding_count() && (!meets || meets_at_end(&trial));
    bool same = each_alone(&trial, alone) && !memcmp(trial.out, alone, sizeof alone);
    CU_ASSERT_TRUE(well && same);
    if (!well || !same) {
        printf("\n    %s program %d: %s\n", name, number, well ? "different" : "not well");
        show_findings(name);
    }
    trial_close(&trial);
}

/* The number of programs of a kind, and the first one's number. */
static int programs(int count, int *first)
{
    const char *times = getenv("SIM_FLOW");
    int factor = times ? atoi(times) : 0;

    *first = factor > 0 ? count : 0;
    return *first + count * (factor > 0 ? factor : 1);
}

static void structured_programs(void)
{
    static Writer writer;
    int i, end_at = programs(PROGRAMS, &i);

    for (; i < end_at; i++) {
        writer = (Writer){ .random = (uint64_t) i * 77 + 1, .may_return = i % 2 };
        structured(&writer);
        compare_both(&writer, "structured", i, !writer.may_return);
    }
}

static void unstructured_programs(void)
{
    static Writer writer;
    int i, end_at = programs(2 * PROGRAMS, &i);

    for (; i < end_at; i++) {
        writer = (Writer){ .random = (uint64_t) i * 99 + 5 };
        unstructured(&writer);
        compare_both(&writer, "unstructured", i, false);
    }
}

static void calling_programs(void)
{
    static Writer writer;
    int i, end_at = programs(PROGRAMS, &i);

    for (; i < end_at; i++) {
        writer = (Writer){ .random = (uint64_t) i * 55 + 3, .may_return = i % 2, .may_call = true };
        calling(&writer);
        compare_both(&writer, "calling", i, false);
    }
}

/* ---- Lanes that wait for each other within a region that others leave ---- */

/* Counts under a lock, which is released in the round that took it. */
#define COUNT_ONE(label)                                                                           \
    label ": atom.shared.cas.b32 %r10, [s], 0, 1; setp.ne.u32 %p2, %r10, 0;\n"                     \
          "@%p2 bra " label "_OVER;\n"                                                             \
          "ld.volatile.shared.u32 %r11, [s+4]; add.u32 %r11, %r11, 1;\n"                           \
          "st.volatile.shared.u32 [s+4], %r11; membar.cta; atom.shared.exch.b32 %r11, [s], "       \
          "0;\n" label "_OVER: @%p2 bra " label ";\n"

/* if (odd) { count; if (lane % 4 == 3) goto done; } wait for the others that stay; count; done: */
static void a_region_with_waits_ends(void)
{
    Trial trial = {
        .threads = 64,
        .ptx = KERNEL(
            ".shared .align 4 .b8 s[8]; setp.eq.u32 %p1, %r1, 0;\n"
            "@%p1 st.shared.u32 [s], %r0; @%p1 st.shared.u32 [s+4], %r0;\n"
            "bar.sync 0; and.b32 %r12, %r1, 1; setp.eq.u32 %p3, %r12, 0;\n"
            "@%p3 bra STAY;\n" COUNT_ONE(
                "ODD") "and.b32 %r12, %r1, 2; setp.ne.u32 %p4, %r12, 0; @%p4 bra DONE;\n"
                       "STAY: bar.warp.sync 0x77777777;\n" COUNT_ONE(
                           "ALL") "DONE: bar.sync 0; ld.volatile.shared.u32 %r0, [s+4];\n")
    };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_TRUE(trial.well && !finding_count());
    CU_ASSERT_EQUAL(trial.out[0], 32 + 48);
    CU_ASSERT_EQUAL(trial.out[63], 32 + 48);
    trial_close(&trial);
}

static CU_TestInfo tests[] = {
    { "structured programs", structured_programs },
    { "blocks that jump anywhere", unstructured_programs },
    { "functions that call each other", calling_programs },
    { "a region with waits ends", a_region_with_waits_ends },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_flow = { "test_sim_flow", NULL, NULL, NULL, NULL, tests };
