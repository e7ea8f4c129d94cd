/* lines.c - counters of steps, by line of the PTX. */
#include "sim/machine/lines.h"
#include "sim/exec/loops.h"

#include <stdlib.h>

/* ---- The basic blocks of the PTX ---- */

static bool is_branch(const Step *step)
{
    return step->in &&
           (step->in->op == OP_bra || step->in->op == OP_brx || step->in->op == OP_ret ||
            step->in->op == OP_exit || step->in->op == OP_trap || step->in->op == OP_call);
}

void code_blocks(const Code *code, bool *starts)
{
    const Function *function = code->function;

    starts[0] = true;
    for (int i = 0; i < code->step_count; i++) {
        const Step *step = &code->steps[i];
        if (!is_branch(step))
            continue;
        starts[i + 1] = true;
        if (step->in->op == OP_bra && step->jump.target >= 0 &&
            step->jump.target <= code->step_count)
            starts[step->jump.target] = true;
    }
    for (int t = 0; t < function->table_count; t++)
        for (int i = 0; i < function->tables[t].count; i++)
            if (function->tables[t].entries[i] >= 0 &&
                function->tables[t].entries[i] < code->step_count)
                starts[function->tables[t].entries[i]] = true;
}

/* All steps of a basic block are reached by the same threads, which those without a guard count.
 * -1: all have guards. */
static double reached_by(const Code *code, const Count *counts, int first, int last)
{
    for (int i = first; i < last; i++)
        if (code->steps[i].guard < 0)
            return (double) counts[i].lanes;
    return -1;
}

/* If steps first .. last - 1 are a loop, the threads that entered it: those that reached it without
 * branching back. -1: they are none. */
static double entries_of(const Code *code, const Count *counts, int first, int last, double reached)
{
    const Step *end = &code->steps[last - 1];

    if (reached < 0 || !end->in || end->in->op != OP_bra || end->guard < 0 ||
        end->jump.target != first)
        return -1;
    return reached - (double) counts[last - 1].lanes;
}

/* ---- Lines ---- */

static void add_step(LineCounts *to, const LineCount *block, const Step *step, const Count *count,
                     const Selected *selected)
{
    const int line = step->in ? step->in->ptx_line : 0;
    LineCount *at;

    if (line < 1 || line >= to->count)
        return;
    at = &to->lines[line];
    if (at->step)
        return;
    *at = *block;
    at->step = step;
    at->lanes = (double) (count->lanes + count->round_lanes);
    at->selected = *selected;
    at->long_lanes = (double) count->long_lanes;
    at->long_warps = (double) count->long_warps;
    at->warps = (double) (count->executed + count->skipped + count->rounds);
    at->divergent = count->divergent + count->rounds;
    if (step->guard < 0)
        at->reached = at->lanes;
}

/* parts[i]: parts of warps that wait at step i for the others, after branches that split them. */
static void add_parts(const Code *code, const Count *counts, uint64_t *parts)
{
    for (int i = 0; i < code->step_count; i++)
        if (counts[i].divergent && code->steps[i].rpc >= 0 && code->steps[i].rpc < code->step_count)
            parts[code->steps[i].rpc] += counts[i].divergent;
}

/* What is known about each step of a function, besides its counts. */
typedef struct Steps {
    bool *starts;
    uint64_t *parts;
    Selected *selected;
    const LoopCount *loops; /* NULL: unknown */
} Steps;

static void add_blocks(LineCounts *to, int function, const Code *code, const Count *counts,
                       const Steps *steps)
{
    for (int first = 0, last; first < code->step_count; first = last) {
        for (last = first + 1; last < code->step_count && !steps->starts[last];)
            last++;
        LineCount block = { .function = function, .block = to->block_count++ };
        block.reached = reached_by(code, counts, first, last);
        block.entries = entries_of(code, counts, first, last, block.reached);
        block.loop = steps->loops && code->steps[last - 1].loop
                         ? &steps->loops[code->steps[last - 1].loop - 1]
                         : NULL;
        block.parts = steps->parts[first];
        for (int i = first; i < last; i++)
            add_step(to, &block, &code->steps[i], &counts[i], &steps->selected[i]);
    }
}

static bool add_code(LineCounts *to, int function, const Code *code, const Count *counts,
                     const LoopCount *loops)
{
    const size_t room = (size_t) code->step_count + 2;
    const Steps steps = { .starts = calloc(room, sizeof *steps.starts),
                          .parts = calloc(room, sizeof *steps.parts),
                          .selected = calloc(room, sizeof *steps.selected),
                          .loops = loops };
    const bool fine = steps.starts && steps.parts && steps.selected &&
                      find_selected(code, counts, steps.selected);

    if (fine) {
        code_blocks(code, steps.starts);
        add_parts(code, counts, steps.parts);
        add_blocks(to, function, code, counts, &steps);
    }
    free(steps.starts);
    free(steps.parts);
    free(steps.selected);
    return fine;
}

static int last_line(const Code *code)
{
    int last = 0;

    for (int i = 0; i < code->step_count; i++)
        if (code->steps[i].in && code->steps[i].in->ptx_line > last)
            last = code->steps[i].in->ptx_line;
    return last;
}

static const Count *counts_of(const Launch *launch, int function, const Code **code)
{
    *code = function ? launch->codes[function - 1] : launch->kernel;
    if (!function)
        return launch->counts;
    return launch->call_counts[function - 1] != launch->counts ? launch->call_counts[function - 1]
                                                               : NULL;
}

bool line_counts_make(const Launch *launch, LineCounts *counts)
{
    const int functions =
        launch->module && launch->codes && launch->call_counts ? launch->module->function_count : 0;
    const Code *code;

    *counts = (LineCounts){ 0 };
    for (int f = 0; f <= functions; f++)
        if (counts_of(launch, f, &code) && code && last_line(code) >= counts->count)
            counts->count = last_line(code) + 1;
    counts->lines = calloc((size_t) counts->count + 1, sizeof *counts->lines);
    for (int f = 0; counts->lines && f <= functions; f++) {
        const Count *of = counts_of(launch, f, &code);
        if (of && code && !add_code(counts, f, code, of, f ? NULL : launch->loops))
            line_counts_free(counts);
    }
    return counts->lines != NULL;
}

void line_counts_free(LineCounts *counts)
{
    free(counts->lines);
    *counts = (LineCounts){ 0 };
}

const LineCount *line_count_at(const LineCounts *counts, int line)
{
    if (line < 1 || line >= counts->count || !counts->lines[line].step)
        return NULL;
    return &counts->lines[line];
}
