/* issue.c - estimates how many machine instructions ptxas generates from the PTX, and how many
 * threads execute them. Only the ratio is shown. It corresponds to a profiler's average number of
 * not-predicated-off threads per warp instruction.
 *
 * This ratio is not that of the PTX, for three reasons. A machine instruction is issued even if its
 * predicate is off for all lanes. Where PTX branches over a few instructions, machine code has
 * predicates instead, and a warp issues the instructions even if no lane needs them. And many PTX
 * instructions that all lanes execute (addresses, constants) have no machine instruction, or are
 * executed later (parameters).
 */
#include "sim/machine/issue.h"

#include <stdlib.h>

/* At most this many instructions are predicated instead of branched over. */
enum { MOST_PREDICATED = 8 };

/* ---- The weight of an instruction ---- */

static bool is_pred(const Instruction *in)
{
    return in->type_count && in->types[0] == TYPE_PRED;
}

typedef struct Weight {
    int all, on; /* machine instructions; those whose predicate is usually on */
} Weight;

/* Constants and copies are part of other instructions. A special register costs one instruction,
 * the address of a shared variable two. */
static int weight_of_move(const Code *code, const Instruction *in)
{
    const Operand *from = in->count > 1 ? &code->function->operands[in->first + 1] : NULL;

    if (in->op != OP_mov || !from)
        return 0;
    return from->kind == OPERAND_VARIABLE ? 2 : from->kind == OPERAND_SPECIAL;
}

static bool changes_type_only(const Instruction *in)
{
    const bool rounds = has_mod(in, MOD_rni) || has_mod(in, MOD_rzi) || has_mod(in, MOD_rmi) ||
                        has_mod(in, MOD_rpi);

    return in->op == OP_cvt && in->type_count > 1 && in->types[0] != TYPE_S64 && !rounds &&
           type_is_float(in->types[0]) == type_is_float(in->types[1]);
}

/* For f32 of any magnitude: very small and very large operands are scaled before and after. */
static bool is_scaled(const Instruction *in)
{
    return in->type_count && in->types[0] == TYPE_F32 && has_mod(in, MOD_approx) &&
           !has_mod(in, MOD_ftz) &&
           (in->op == OP_rcp || in->op == OP_sqrt || in->op == OP_rsqrt || in->op == OP_ex2 ||
            in->op == OP_lg2);
}

static bool is_quick_fraction(const Instruction *in)
{
    return in->op == OP_div && has_mod(in, MOD_approx) && !has_mod(in, MOD_ftz);
}

static Weight weight_of(const Code *code, const Step *step)
{
    static const Weight none = { 0, 0 }, one = { 1, 1 }, two = { 2, 2 }, long_quotient = { 91, 89 },
                        quotient = { 18, 14 }, fraction = { 8, 8 }, reduced = { 7, 6 },
                        reduced_with_result = { 12, 11 }, scaled = { 4, 2 },
                        quick_fraction = { 5, 3 };
    const Instruction *in = step->in;

    if (!in)
        return one;
    /* A vote, the first lane, the number of lanes, a predicate, the atomic; then a shuffle, the
     * rank of each lane, a product (ptxas 13.0 for sm_90). */
    if (step->treatment == WARP_REDUCED)
        return reduced;
    if (is_warp_reduced(step->treatment))
        return reduced_with_result;
    if (step->treatment == FUSED || step->treatment == ABSORBED || step->treatment == JOINED)
        return none;
    if (step->treatment == COPIED)
        return type_size(in->types[0]) == 8 ? two : one;
    if (in->op == OP_mov || in->op == OP_cvta)
        return (Weight){ weight_of_move(code, in), weight_of_move(code, in) };
    if (changes_type_only(in) || (is_pred(in) && in->op != OP_setp) ||
        (in->op == OP_mul && has_mod(in, MOD_wide)))
        return none;
    if ((in->op == OP_div || in->op == OP_rem) && !type_is_float(in->types[0]))
        return type_size(in->types[0]) == 8 ? long_quotient : quotient;
    if ((in->op == OP_div || in->op == OP_sqrt || in->op == OP_rcp) && !has_mod(in, MOD_approx))
        return fraction;
    if (is_scaled(in))
        return scaled;
    if (is_quick_fraction(in))
        return quick_fraction;
    return step->class_ == CLASS_NOTHING ? none : one;
}

/* One more iteration of the loop that implements some atomics on shared memory (fitted to the
 * counters of an H200: 35 patterns of floats, doubles and long integers). */
static Weight weight_of_round(const Step *step)
{
    static const Weight word = { 6, 5 }, two_words = { 8, 7 };

    return step->in && type_size(step->in->types[0]) == 8 ? two_words : word;
}

/* ---- Branches that become predicates ---- */

static bool ends(const Step *step)
{
    return !step->in || step->in->op == OP_ret || step->in->op == OP_exit;
}

static bool names(const Operand *o, int reg)
{
    const bool is_named =
        o->kind == OPERAND_REGISTER || (o->kind == OPERAND_ADDRESS && o->is_register);

    return is_named && o->index == reg;
}

static bool names_any(const Code *code, const Instruction *in, int reg)
{
    for (int i = 0; in && i < in->count; i++)
        if (names(&code->function->operands[in->first + i], reg))
            return true;
    return false;
}

/* Whether step `at` loads a value from global memory that no step before `last` uses. */
static bool is_for_later(const Code *code, int at, int last)
{
    const Step *step = &code->steps[at];

    if (step->in->op != OP_ld || step->space != SPACE_GLOBAL || !step->in->count)
        return false;
    for (int i = at + 1; i < last; i++)
        if (names_any(code, code->steps[i].in, code->function->operands[step->in->first].index))
            return false;
    return true;
}

/* Whether steps first .. last - 1 can be predicated: they are few, contain no barrier and no branch
 * to another step, and at most one of them loads a value for later steps. */
static bool is_short(const Code *code, int first, int last)
{
    int weight = 0, for_later = 0;

    for (int i = first; i < last; i++) {
        const Step *step = &code->steps[i];
        if (!step->in || ends(step) || step->class_ == CLASS_BARRIER || step->in->op == OP_call ||
            step->in->op == OP_brx)
            return false;
        if (step->in->op == OP_bra &&
            (step->guard < 0 || step->jump.target <= i || step->jump.target > last))
            return false;
        weight += weight_of(code, step).all;
        for_later += is_for_later(code, i, last);
        if (weight > MOST_PREDICATED || for_later > 1)
            return false;
    }
    return true;
}

/* The steps of an if branch or an else branch; its last step may jump over the other branch. */
typedef struct Arm {
    int first, last; /* last: the first step after it */
} Arm;

static bool is_jump(const Step *step)
{
    return step->in && step->in->op == OP_bra && step->guard < 0;
}

/* Whether predicates can replace the branch, which jumps over one arm or selects one of two.
 * `taken`: the steps executed by lanes that take it; `other`: by lanes that do not. */
static bool is_predicated(const Code *code, int at, Arm *taken, Arm *other)
{
    const Step *branch = &code->steps[at], *steps = code->steps;
    int second;

    if (!branch->in || branch->in->op != OP_bra || branch->guard < 0 ||
        branch->jump.target <= at + 1 || ends(&steps[branch->jump.target]))
        return false;
    *taken = (Arm){ branch->jump.target, branch->jump.target };
    *other = (Arm){ at + 1, branch->jump.target };
    if (is_short(code, other->first, other->last))
        return true;
    /* "@p bra A; bra.uni B; A: ...; bra.uni C; B: ...; C:", or "@p bra B; ...; bra.uni C; B: ...;
     * C:" */
    bool leads_on = is_jump(&steps[at + 1]) && branch->jump.target == at + 2;
    second = leads_on ? steps[at + 1].jump.target : branch->jump.target;
    if (second <= at + 2 || second > code->step_count || !is_jump(&steps[second - 1]) ||
        steps[second - 1].jump.target <= second)
        return false;
    *(leads_on ? taken : other) = (Arm){ leads_on ? at + 2 : at + 1, second - 1 };
    *(leads_on ? other : taken) = (Arm){ second, steps[second - 1].jump.target };
    return is_short(code, taken->first, taken->last) && is_short(code, other->first, other->last);
}

/* Whether step `at` is the jump back of a loop that ends with an exit branch and a jump back.
 * Machine code has only a conditional branch back. */
static bool is_way_back(const Code *code, int at)
{
    const Step *before = at && at < code->step_count ? &code->steps[at - 1] : NULL;

    return before && is_jump(&code->steps[at]) && code->steps[at].jump.target < at && before->in &&
           before->in->op == OP_bra && before->guard >= 0;
}

static bool is_exit(const Code *code, int at)
{
    const Step *branch = &code->steps[at];

    return branch->in && branch->in->op == OP_bra && branch->guard >= 0 &&
           branch->jump.target > at && ends(&code->steps[branch->jump.target]);
}

/* ---- All steps ---- */

typedef struct IssuePlan {
    uint64_t passed;      /* warps that issue it although none of their lanes needs it */
    bool is_none;         /* no machine instruction */
    bool under_predicate; /* in machine code, where PTX has a branch */
} IssuePlan;

static void pass(IssuePlan *plans, int count, uint64_t warps)
{
    for (int i = 0; i < count; i++) {
        plans[i].passed += warps;
        plans[i].under_predicate = true;
    }
}

static void plan_branch(const Code *code, const Count *counts, int at, IssuePlan *plans)
{
    uint64_t all = counts[at].executed - counts[at].divergent;
    Arm taken, other;

    if (!is_predicated(code, at, &taken, &other))
        return;
    pass(&plans[other.first], other.last - other.first, all);
    pass(&plans[taken.first], taken.last - taken.first, counts[at].skipped);
    plans[at].is_none = true;
    if (is_jump(&code->steps[at + 1]))
        plans[at + 1].is_none = true;
    for (int end = at + 1; taken.last > taken.first && end < code->step_count; end++)
        if (end == taken.last || end == other.last)
            plans[end].is_none |= is_jump(&code->steps[end]);
}

/* ---- Parameters and descriptors are read at their first use ---- */

/* PTX loads all parameters at the start of a kernel. Machine code loads each parameter at its first
 * use, with the lanes that are active there (LDC, ULDC: ptxas 13.0 for sm_90), or usually where PTX
 * does if that use is predicated. */
static int wanted_at(const Code *code, const IssuePlan *plans, int at)
{
    const Instruction *in = code->steps[at].in;
    int reg = -1;

    if (in && in->op == OP_ld && code->steps[at].space == SPACE_PARAM && in->count &&
        in->vector <= 1)
        reg = code->function->operands[in->first].index;
    for (int i = at + 1; reg >= 0 && i < code->step_count; i++) {
        const Instruction *user = code->steps[i].in;
        if (!names_any(code, user, reg))
            continue;
        if (user->op != OP_cvta && user->op != OP_mov)
            return plans[i].under_predicate ? at : i;
        reg = code->function->operands[user->first].index;
    }
    return at;
}

/* The first step that accesses global memory, which needs a descriptor; step 0 if that access is
 * predicated; -1: none. */
static int first_global(const Code *code, const IssuePlan *plans)
{
    for (int i = 0; i < code->step_count; i++) {
        const Step *step = &code->steps[i];
        if (step->in && step->space == SPACE_GLOBAL &&
            (step->class_ == CLASS_LOAD || step->class_ == CLASS_STORE ||
             step->class_ == CLASS_ATOMIC))
            return plans[i].under_predicate ? 0 : i;
    }
    return -1;
}

/* ---- Sums ---- */

static void take_away(uint64_t *number, uint64_t less)
{
    *number -= less < *number ? less : *number; /* a failed kernel may not reach its end */
}

/* Lanes that branch to the end exit directly, without executing the last step. */
static void leave(const Code *code, const Count *counts, int at, Issue *issues)
{
    Issue *end = &issues[code->steps[at].jump.target];

    take_away(&end->instructions, counts[at].executed);
    take_away(&end->threads, counts[at].lanes);
}

static void add(Issue *issue, Weight weight, uint64_t warps, uint64_t lanes)
{
    issue->instructions += (uint64_t) weight.all * warps;
    issue->threads += (uint64_t) weight.on * lanes;
}

/* Adds instructions that are issued as often as step `at`, by the lanes of step `on`. */
static void add_as(const Count *counts, const IssuePlan *plans, Weight weight, int at, int on,
                   Issue *issue)
{
    add(issue, weight, counts[at].executed + counts[at].skipped + plans[at].passed,
        counts[on].lanes);
}

void estimate_issues(const Code *code, const Count *counts, Issue *issues)
{
    static const Weight one = { 1, 1 };
    IssuePlan *plans = calloc((size_t) code->step_count + 1, sizeof *plans);

    if (!plans)
        return;
    for (int i = 0; i < code->step_count; i++)
        plan_branch(code, counts, i, plans);
    for (int i = 0; i < code->step_count; i++) {
        if (plans[i].is_none || is_way_back(code, i))
            continue;
        const int at = wanted_at(code, plans, i), on = is_way_back(code, i + 1) ? i + 1 : at;
        add_as(counts, plans, weight_of(code, &code->steps[i]), at, on, &issues[i]);
        add(&issues[i], weight_of_round(&code->steps[i]), counts[i].rounds, counts[i].round_lanes);
    }
    /* Not in PTX: machine code also loads the stack pointer and the descriptor of global memory. */
    const int global = first_global(code, plans);
    if (code->function->is_entry)
        add_as(counts, plans, one, 0, 0, &issues[0]);
    if (global >= 0)
        add_as(counts, plans, one, global, global, &issues[global]);
    for (int i = 0; i < code->step_count; i++)
        if (is_exit(code, i))
            leave(code, counts, i, issues);
    free(plans);
}

void find_predicated(const Code *code, bool *none)
{
    IssuePlan *plans = calloc((size_t) code->step_count + 1, sizeof *plans);
    Count *counts = calloc((size_t) code->step_count + 1, sizeof *counts);

    for (int i = 0; plans && counts && i < code->step_count; i++)
        plan_branch(code, counts, i, plans);
    for (int i = 0; plans && counts && i < code->step_count; i++)
        none[i] = plans[i].is_none;
    free(plans);
    free(counts);
}
