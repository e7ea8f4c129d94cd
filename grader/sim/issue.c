/* issue.c - how many instructions of the machine stand behind those of PTX, and with how many
 * threads: an estimate, of which only the ratio is shown, beside a profiler's threads a warp
 * instruction whose predicate is on.
 *
 * Three things make PTX's own ratio larger. A machine's instruction is issued even if its predicate
 * is off for all lanes. Where PTX jumps over a few instructions, the machine has predicates in
 * their place, and a warp of which no lane wants them issues them all the same. And much of what
 * all lanes do in PTX (parameters, addresses, constants) is no instruction at all.
 */
#include "issue.h"

#include <stdlib.h>

/* So much may be under predicates in place of behind a branch. */
enum { MOST_PREDICATED = 10 };

/* ---- What an instruction weighs ---- */

static bool is_pred(const Instruction *in)
{
    return in->type_count && in->types[0] == TYPE_PRED;
}

typedef struct Weight {
    int all, on; /* instructions; those of them whose predicate is on, mostly */
} Weight;

/* Constants and copies are part of other instructions; what the hardware knows is read, and the
 * address of a shared variable is put together. */
static int weight_of_move(const Code *code, const Instruction *in)
{
    const Operand *from = in->count > 1 ? &code->function->operands[in->first + 1] : NULL;

    if (in->op != OP_mov || !from)
        return 0;
    return from->kind == OPERAND_VARIABLE ? 2 : from->kind == OPERAND_SPECIAL;
}

/* A shift whose result the next one adds is one instruction with it. */
static bool is_shift_added(const Code *code, const Instruction *in)
{
    const Function *f = code->function;
    const Instruction *next = in + 1;

    if (in->op != OP_shl || type_size(in->types[0]) != 4 ||
        next >= f->instructions + f->instruction_count || next->op != OP_add)
        return false;
    for (int o = 1; o < next->count; o++)
        if (f->operands[next->first + o].kind == OPERAND_REGISTER &&
            f->operands[next->first + o].index == f->operands[in->first].index)
            return true;
    return false;
}

static bool changes_type_only(const Instruction *in)
{
    return in->op == OP_cvt && in->type_count > 1 && in->types[0] != TYPE_S64 &&
           type_is_float(in->types[0]) == type_is_float(in->types[1]);
}

static Weight weight_of(const Code *code, const Step *step)
{
    static const Weight none = { 0, 0 }, one = { 1, 1 }, long_quotient = { 91, 89 },
                        quotient = { 18, 14 }, fraction = { 8, 8 }, one_for_all = { 7, 6 },
                        one_tells_all = { 12, 11 };
    const Instruction *in = step->in;

    if (!in)
        return one;
    /* A vote, who is first, how many there are, a predicate, the atomic; a shuffle, whose turn each
     * would have been, a product (what ptxas 13.0 makes of them for sm_90). */
    if (step->treatment == ONE_FOR_ALL)
        return one_for_all;
    if (step->treatment == ONE_TELLS_ALL)
        return one_tells_all;
    if (in->op == OP_mov || in->op == OP_cvta)
        return (Weight){ weight_of_move(code, in), weight_of_move(code, in) };
    if (changes_type_only(in) || (is_pred(in) && in->op != OP_setp) ||
        (in->op == OP_mul && has_mod(in, MOD_wide)) || is_shift_added(code, in))
        return none;
    if ((in->op == OP_div || in->op == OP_rem) && !type_is_float(in->types[0]))
        return type_size(in->types[0]) == 8 ? long_quotient : quotient;
    if ((in->op == OP_div || in->op == OP_sqrt || in->op == OP_rcp) && !has_mod(in, MOD_approx))
        return fraction;
    return step->class_ == CLASS_NOTHING ? none : one;
}

/* A round more of the loop that some atomics on shared memory are (an H200's counts: 35 patterns of
 * floats, doubles and long integers). */
static Weight weight_of_round(const Step *step)
{
    static const Weight word = { 6, 5 }, two_words = { 8, 7 };

    return step->in && type_size(step->in->types[0]) == 8 ? two_words : word;
}

/* ---- Branches that are none ---- */

static bool ends(const Step *step)
{
    return !step->in || step->in->op == OP_ret || step->in->op == OP_exit;
}

/* Whether steps first .. last - 1 can be under predicates: a few, of which none needs all lanes,
 * and from which none leads elsewhere. */
static bool is_short(const Code *code, int first, int last)
{
    int weight = 0;

    for (int i = first; i < last; i++) {
        const Step *step = &code->steps[i];
        if (!step->in || ends(step) || step->class_ == CLASS_BARRIER || step->in->op == OP_call ||
            step->in->op == OP_brx)
            return false;
        if (step->in->op == OP_bra && (step->guard < 0 || step->target <= i || step->target > last))
            return false;
        weight += weight_of(code, step).all;
        if (weight > MOST_PREDICATED)
            return false;
    }
    return true;
}

/* An if and its else: steps, of which the last may lead over the other's. */
typedef struct Arm {
    int first, last; /* last: behind it */
} Arm;

static bool is_jump(const Step *step)
{
    return step->in && step->in->op == OP_bra && step->guard < 0;
}

/* A branch in whose place there may be predicates: over one arm, or to one of two. taken: what the
 * lanes do that take it; other: those that do not. */
static bool is_predicated(const Code *code, int at, Arm *taken, Arm *other)
{
    const Step *branch = &code->steps[at], *steps = code->steps;
    int second;

    if (!branch->in || branch->in->op != OP_bra || branch->guard < 0 || branch->target <= at + 1 ||
        ends(&steps[branch->target]))
        return false;
    *taken = (Arm){ branch->target, branch->target };
    *other = (Arm){ at + 1, branch->target };
    if (is_short(code, other->first, other->last))
        return true;
    /* "@p bra A; bra.uni B; A: ...; bra.uni C; B: ...; C:", or "@p bra B; ...; bra.uni C; B: ...;
     * C:" */
    bool leads_on = is_jump(&steps[at + 1]) && branch->target == at + 2;
    second = leads_on ? steps[at + 1].target : branch->target;
    if (second <= at + 2 || second > code->step_count || !is_jump(&steps[second - 1]) ||
        steps[second - 1].target <= second)
        return false;
    *(leads_on ? taken : other) = (Arm){ leads_on ? at + 2 : at + 1, second - 1 };
    *(leads_on ? other : taken) = (Arm){ second, steps[second - 1].target };
    return is_short(code, taken->first, taken->last) && is_short(code, other->first, other->last);
}

static bool is_exit(const Code *code, int at)
{
    const Step *branch = &code->steps[at];

    return branch->in && branch->in->op == OP_bra && branch->guard >= 0 && branch->target > at &&
           ends(&code->steps[branch->target]);
}

/* ---- All ---- */

typedef struct Plan {
    uint64_t passed; /* warps of which no lane came to it, but which issue it all the same */
    bool is_none;    /* it is no instruction */
} Plan;

static void plan_branch(const Code *code, const Count *counts, int at, Plan *plans)
{
    uint64_t all = counts[at].executed - counts[at].divergent;
    Arm taken, other;

    if (!is_predicated(code, at, &taken, &other))
        return;
    for (int i = other.first; i < other.last; i++)
        plans[i].passed += all;
    for (int i = taken.first; i < taken.last; i++)
        plans[i].passed += counts[at].skipped;
    plans[at].is_none = true;
    if (is_jump(&code->steps[at + 1]))
        plans[at + 1].is_none = true;
    for (int end = at + 1; taken.last > taken.first && end < code->step_count; end++)
        if (end == taken.last || end == other.last)
            plans[end].is_none |= is_jump(&code->steps[end]);
}

static void take_away(uint64_t *number, uint64_t less)
{
    *number -= less < *number ? less : *number; /* a kernel that failed may lack its end */
}

/* A lane that jumps to the end leaves at once, and does not come to the end. */
static void leave(const Code *code, const Count *counts, int at, Issue *issues)
{
    Issue *end = &issues[code->steps[at].target];

    take_away(&end->instructions, counts[at].executed - counts[at].divergent);
    take_away(&end->threads, counts[at].lanes);
}

void estimate_issues(const Code *code, const Count *counts, Issue *issues)
{
    Plan *plans = calloc((size_t) code->step_count + 1, sizeof *plans);

    if (!plans)
        return;
    for (int i = 0; i < code->step_count; i++)
        plan_branch(code, counts, i, plans);
    for (int i = 0; i < code->step_count; i++) {
        Weight weight = weight_of(code, &code->steps[i]);
        if (plans[i].is_none)
            continue;
        issues[i].instructions +=
            (uint64_t) weight.all * (counts[i].executed + counts[i].skipped + plans[i].passed);
        issues[i].threads += (uint64_t) weight.on * counts[i].lanes;
        if (!counts[i].rounds)
            continue;
        weight = weight_of_round(&code->steps[i]);
        issues[i].instructions += (uint64_t) weight.all * counts[i].rounds;
        issues[i].threads += (uint64_t) weight.on * counts[i].round_lanes;
    }
    for (int i = 0; i < code->step_count; i++)
        if (is_exit(code, i))
            leave(code, counts, i, issues);
    free(plans);
}

void find_predicated(const Code *code, bool *none)
{
    Plan *plans = calloc((size_t) code->step_count + 1, sizeof *plans);
    Count *counts = calloc((size_t) code->step_count + 1, sizeof *counts);

    for (int i = 0; plans && counts && i < code->step_count; i++)
        plan_branch(code, counts, i, plans);
    for (int i = 0; plans && counts && i < code->step_count; i++)
        none[i] = plans[i].is_none;
    free(plans);
    free(counts);
}
