/* test_sim_flow.c - random control flow, run by a warp and by each lane alone: the same results.
 *
 * Two kinds of programs: structured ones (if, while, do, switch, break, continue, return, calls of
 * functions of the same kind) and graphs of blocks that jump to any block, where a lane's fuel sets
 * the end. The lanes' data differ, so that they part all the time.
 */
#include "sim_launch.h"
#include "warp.h"

#include <stdarg.h>

enum { TEXT_BYTES = 1 << 17, VARIABLES = 6, PROGRAMS = 150 };

/* ---- Random programs ---- */

typedef struct Writer {
    char text[TEXT_BYTES];
    size_t used;
    uint64_t random;
    int labels, depth, counters;
    int loop[16], loops; /* labels of the loops that a break or continue may go to */
    bool may_return;     /* lanes may leave early */
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

/* A predicate that some lanes have: a bit of a hash of a variable. */
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
    statements(writer);
    if (pick(writer, 2)) {
        line(writer, "bra L%d;\nL%d:\n", end, other);
        statements(writer);
        line(writer, "L%d:\n", end);
    } else {
        line(writer, "L%d:\n", other);
    }
}

/* At most 1 to 5 rounds, by lane. */
static void loop_statement(Writer *writer)
{
    int label = writer->labels, counter = 40 + writer->counters;

    if (writer->counters >= 20)
        return;
    writer->labels += 3; /* next round, test, behind */
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
    else if (writer->may_return && !pick(writer, 3))
        line(writer, "@%%p1 bra RETURN;\n");
    else
        line(writer, "@%%p1 add.s32 %%r%d, %%r%d, 77;\n", variable(writer), variable(writer));
}

static void statements(Writer *writer)
{
    static void (*const kinds[])(Writer *) = { assignment,     assignment,     if_statement,
                                               if_statement,   loop_statement, switch_statement,
                                               leave_statement };
    int count = 1 + (int) pick(writer, 4);

    writer->depth++;
    for (int i = 0; i < count; i++)
        kinds[writer->depth > 5 || writer->used > TEXT_BYTES / 4 ? 0 : pick(writer, 7)](writer);
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
    if (writer->may_return) { /* before the brace: another end */
        writer->used -= 2;
        line(writer,
             "RETURN: add.s32 %%r0, %%r10, %%r11;\nst.global.u32 [%%rd2], %%r0;\nret;\n}\n");
    }
}

/* Blocks that go anywhere, until the fuel is out. */
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
        if (pick(writer, 6) == 0)
            line(writer,
                 "mov.u32 %%r0, 5;\nst.global.u32 [%%rd2], %%r0;\n@%%p1 exit;\n@!%%p1 ret;\n");
    }
    line(writer, "OVER:\n");
    end(writer);
}

/* ---- One lane alone ---- */

static int indexed(const Warp *warp, const Step *step, int lane)
{
    const uint32_t *a = plane(warp, step->a);
    const Function *function = warp->code->function;
    const Operand *last = &function->operands[step->in->first + step->in->count - 1];

    return function->tables[last->index].entries[a[lane]];
}

/* Without stack, masks of one bit. */
static void run_alone(Warp *warp, int lane)
{
    const Code *code = warp->code;
    int pc = 0;

    for (long steps = 0; pc < code->step_count && steps < 1000000; steps++) {
        const Step *step = &code->steps[pc++];
        uint32_t taken = step->guard < 0 ? UINT32_MAX : warp->predicates[step->guard];
        if (step->guard_negated)
            taken = ~taken;
        if (!(taken >> lane & 1))
            continue;
        if (step->in->op == OP_ret || step->in->op == OP_exit)
            return;
        if (step->in->op == OP_bra)
            pc = step->target;
        else if (step->in->op == OP_brx)
            pc = indexed(warp, step, lane);
        else
            step->run(warp, step, 1u << lane);
    }
}

static void each_alone(Trial *trial)
{
    Warp warp = { 0 };
    Block block = { .launch = &trial->launch, .warps = &warp, .warp_count = 1, .thread_count = 32 };

    memset(trial->array->host, 0, OUT_WORDS * 4);
    CU_ASSERT_TRUE_FATAL(warp_open(&warp, &block, 0));
    warp_begin(&warp, UINT32_MAX);
    for (int lane = 0; lane < LANES; lane++)
        run_alone(&warp, lane);
    warp_close(&warp);
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

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    bool well = trial.well && !finding_count() && (!meets || meets_at_end(&trial));
    each_alone(&trial);
    bool same = !memcmp(trial.out, trial.array->host, LANES * 4);
    CU_ASSERT_TRUE(well && same);
    if (!well || !same) {
        printf("\n    %s program %d: %s\n", name, number, well ? "different" : "not well");
        show_findings(name);
    }
    trial_close(&trial);
}

static void structured_programs(void)
{
    static Writer writer;

    for (int i = 0; i < PROGRAMS; i++) {
        writer = (Writer){ .random = (uint64_t) i * 77 + 1, .may_return = i % 2 };
        structured(&writer);
        compare_both(&writer, "structured", i, !writer.may_return);
    }
}

static void unstructured_programs(void)
{
    static Writer writer;

    for (int i = 0; i < PROGRAMS * 4; i++) {
        writer = (Writer){ .random = (uint64_t) i * 99 + 5 };
        unstructured(&writer);
        compare_both(&writer, "unstructured", i, false);
    }
}

static CU_TestInfo tests[] = {
    { "structured programs", structured_programs },
    { "blocks that go anywhere", unstructured_programs },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_flow = { "test_sim_flow", NULL, NULL, NULL, NULL, tests };
