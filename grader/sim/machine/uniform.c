/* uniform.c - finds values that ptxas can prove to be the same in all lanes of a warp.
 *
 * These are parameters, constants, block indices, and the results of integer arithmetic on them,
 * for example the k of an unrolled loop. ptxas keeps them in uniform registers and computes them on
 * the uniform datapath. A value that is written between a divergent branch and its reconvergence
 * point is not uniform.
 */
#include "sim/machine/maker.h"

#include <stdlib.h>
#include <string.h>

/* If the analysis of a function takes more steps, no value counts as uniform. */
static const long most_work = 20000000;

typedef struct Finder {
    OperationMaker *maker;
    bool *apart; /* by step: the warp may have diverged */
    bool *split; /* by step: a divergent branch, whose paths are marked in `apart` */
    int *open;   /* steps still to be visited */
    int *seen;   /* by step: the last branch whose search visited it, + 1 */
    long work;
} Finder;

/* ---- Where a warp may have diverged ---- */

/* Whether the thread ends at the step, or the step does not exist. */
static bool is_end(const Code *code, int step)
{
    const Instruction *in = step >= 0 && step < code->step_count ? code->steps[step].in : NULL;

    return !in || in->op == OP_ret || in->op == OP_exit;
}

static void mark(Finder *finder, int branch, int step, int *count)
{
    const Code *code = finder->maker->code;

    if (step < 0 || step >= code->step_count || step == code->steps[branch].rpc ||
        finder->seen[step] == branch + 1)
        return;
    finder->seen[step] = branch + 1;
    finder->apart[step] = true;
    finder->open[(*count)++] = step;
}

/* If one path ends the thread, the lanes of the other path are still converged. */
static void split_at(Finder *finder, int branch)
{
    const Code *code = finder->maker->code;
    int count = 0;

    finder->split[branch] = true;
    if (is_end(code, code->steps[branch].jump.target))
        return;
    mark(finder, branch, branch + 1, &count);
    mark(finder, branch, code->steps[branch].jump.target, &count);
    while (count) {
        const int at = finder->open[--count];
        const Step *step = &code->steps[at];
        finder->work++;
        if (step->in->op == OP_bra) {
            mark(finder, branch, step->jump.target, &count);
            if (step->guard >= 0)
                mark(finder, branch, at + 1, &count);
        } else if (!is_end(code, at)) {
            mark(finder, branch, at + 1, &count);
        }
    }
}

/* For a branch table: the warp may have diverged everywhere. */
static void split_all(Finder *finder)
{
    for (int i = 0; i < finder->maker->code->step_count; i++)
        finder->apart[i] = finder->split[i] = true;
}

/* ---- What varies ---- */

/* Whether the uniform datapath can execute the instruction, or it needs no instruction at all. */
static bool is_for_all(const Instruction *in)
{
    if (in->op == OP_ld)
        return in->space == SPACE_PARAM || in->space == SPACE_CONST;
    if (op_is(in->op, ALWAYS_UNIFORM))
        return true;
    return op_is(in->op, UNIFORM) && in->type_count && !type_is_float(in->types[0]) &&
           (in->type_count < 2 || !type_is_float(in->types[1]));
}

static bool operand_varies(const OperationMaker *maker, const Operand *o)
{
    if (o->kind == OPERAND_REGISTER || (o->kind == OPERAND_ADDRESS && o->is_register))
        return maker->varies[o->index];
    if (o->kind == OPERAND_SPECIAL)
        return !is_known_special(o->special) && o->special != SPECIAL_CTAID;
    return o->kind == OPERAND_VECTOR;
}

static bool result_varies(const Finder *finder, int step)
{
    const OperationMaker *maker = finder->maker;
    const Instruction *in = maker->code->steps[step].in;

    if (finder->apart[step] || !is_for_all(in) || !in->roles.known)
        return true;
    if (in->op == OP_ld && in->space == SPACE_PARAM && !maker->code->steps[step].kernel_param)
        return true; /* the result of a call */
    if (in->guard >= 0 && maker->varies[in->guard])
        return true;
    for (int i = in->roles.destinations; i < in->count; i++)
        if (operand_varies(maker, operand_of(maker, in, i)))
            return true;
    return false;
}

/* Returns whether `varies` changed. */
static bool set_operand(const OperationMaker *maker, const Operand *o, bool varies)
{
    bool is_new = false;

    if (o->kind == OPERAND_REGISTER && maker->varies[o->index] != varies) {
        maker->varies[o->index] = varies;
        return true;
    }
    for (int i = 0; o->kind == OPERAND_VECTOR && i < o->count; i++)
        is_new |= set_operand(maker, &maker->function->operands[o->first + i], varies);
    return is_new;
}

/* Sets the operands that the instruction writes, or all operands if their roles are unknown. */
static bool set_results(const OperationMaker *maker, const Instruction *in, bool varies)
{
    const int most = in->roles.known ? in->roles.destinations : in->count;
    bool is_new = false;

    for (int i = 0; i < most && i < in->count; i++)
        is_new |= set_operand(maker, operand_of(maker, in, i), varies);
    return is_new;
}

/* Returns whether it found another value that is not uniform. */
static bool visit(Finder *finder, int step)
{
    const OperationMaker *maker = finder->maker;
    const Step *at = &maker->code->steps[step];

    if (at->in->op == OP_brx && !finder->split[step]) {
        split_all(finder);
        return true;
    }
    if (at->in->op == OP_bra) {
        if (at->in->guard < 0 || !maker->varies[at->in->guard] || finder->split[step])
            return false;
        split_at(finder, step);
        return true;
    }
    return result_varies(finder, step) && set_results(maker, at->in, true);
}

static void forget(const OperationMaker *maker)
{
    memset(maker->varies, true, (size_t) maker->function->register_count);
}

/* Assumes that all written values are uniform, and removes the ones that are not, until nothing
 * changes. In functions other than kernels, all values may vary: their callers are unknown. */
static void visit_all(Finder *finder)
{
    const OperationMaker *maker = finder->maker;
    const int steps = maker->code->step_count;
    bool more = maker->function->is_entry;

    for (int i = 0; i < steps && more; i++)
        if (maker->code->steps[i].in)
            set_results(maker, maker->code->steps[i].in, false);
    while (more && finder->work < most_work) {
        more = false;
        for (int i = 0; i < steps && finder->work < most_work; i++)
            more |= maker->code->steps[i].in && visit(finder, i);
        finder->work += steps;
    }
    if (finder->work >= most_work)
        forget(maker);
}

bool find_varying(OperationMaker *maker)
{
    const size_t steps = (size_t) maker->code->step_count + 1;
    Finder finder = { .maker = maker,
                      .apart = calloc(steps, sizeof *finder.apart),
                      .split = calloc(steps, sizeof *finder.split),
                      .open = calloc(steps, sizeof *finder.open),
                      .seen = calloc(steps, sizeof *finder.seen) };
    const bool well = finder.apart && finder.split && finder.open && finder.seen;

    forget(maker);
    if (well)
        visit_all(&finder);
    free(finder.apart);
    free(finder.split);
    free(finder.open);
    free(finder.seen);
    return well;
}

/* Comparisons do not use the uniform datapath: ptxas 13.0 compares per lane and reads the uniform
 * register. */
bool is_uniform(const OperationMaker *maker, const Step *step)
{
    const Instruction *in = step->in;
    const Operand *to = operand_of(maker, in, 0);

    return step->class_ == CLASS_INT && in->op != OP_setp && is_for_all(in) && to &&
           to->kind == OPERAND_REGISTER && !maker->varies[to->index];
}
