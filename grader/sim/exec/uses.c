/* uses.c - finds how a function uses the values of its loads and atomics. */
#include "sim/exec/uses.h"

#include <stdlib.h>

enum { NEVER = -1 };

static const Operand *operand_of(const Function *f, const Instruction *in, int i)
{
    return i < in->count && in->first + i < f->operand_count ? &f->operands[in->first + i] : NULL;
}

/* ---- All registers of a function ---- */

static void add(uint8_t *uses, const Function *f, int reg, int use)
{
    if (reg >= 0 && reg < f->register_count)
        uses[reg] |= (uint8_t) use;
}

static void add_operand(uint8_t *uses, const Function *f, const Operand *operand, int use)
{
    if (operand->kind == OPERAND_VECTOR) {
        for (int i = 0; i < operand->count && operand->first + i < f->operand_count; i++)
            add_operand(uses, f, &f->operands[operand->first + i], use);
    } else if (operand->kind == OPERAND_REGISTER ||
               (operand->kind == OPERAND_ADDRESS && operand->is_register)) {
        add(uses, f, operand->index, use);
    }
}

static int use_of(const Instruction *in, int i)
{
    if (in->op == OP_st && i == 1 && in->space == SPACE_PARAM)
        return USE_STORES | USE_PASSES;
    if (in->op == OP_st && i == 1)
        return in->space == SPACE_SHARED || in->space == SPACE_LOCAL ? USE_KEEPS : USE_STORES;
    return op_is(in->op, MOVES_BITS) ? USE_COMPUTES : USE_COMPUTES | USE_ALL_OF_IT;
}

uint8_t *uses_make(const Function *f)
{
    uint8_t *uses = calloc((size_t) f->register_count + 1, 1);

    for (int k = 0; uses && k < f->instruction_count; k++) {
        const Instruction *in = &f->instructions[k];
        add(uses, f, in->guard, USE_COMPUTES | USE_ALL_OF_IT);
        for (int i = in->roles.destinations; i < in->count; i++)
            if (operand_of(f, in, i))
                add_operand(uses, f, operand_of(f, in, i), use_of(in, i));
    }
    return uses;
}

/* ---- Compare and swap ---- */

/* The register that an address comes from: cvta gives the same address in another register. */
static int place_of(const Function *f, int reg)
{
    for (int i = 0; i < f->instruction_count; i++) {
        const Instruction *in = &f->instructions[i];
        const Operand *to = operand_of(f, in, 0), *from = operand_of(f, in, 1);
        if (in->op == OP_cvta && to && from && to->kind == OPERAND_REGISTER && to->index == reg &&
            from->kind == OPERAND_REGISTER)
            return from->index;
    }
    return reg;
}

static bool same_place(const Function *f, const Operand *a, const Operand *b)
{
    return a && b && a->kind == OPERAND_ADDRESS && b->kind == OPERAND_ADDRESS &&
           a->is_register == b->is_register && a->offset == b->offset &&
           (a->index == b->index ||
            (a->is_register && place_of(f, a->index) == place_of(f, b->index)));
}

bool uses_one_place(const Function *f, const Instruction *load, const Instruction *store)
{
    return load->op == OP_ld && store->op == OP_st &&
           same_place(f, operand_of(f, load, 1), operand_of(f, store, 0));
}

static bool is_swap(const Instruction *in)
{
    return in->op == OP_atom && has_mod(in, MOD_cas);
}

static const Function *callee_of(const Module *module, const Function *f, const Instruction *call)
{
    const Operand *target = operand_of(f, call, call->call_returns);

    return call->op == OP_call && target && target->kind == OPERAND_FUNCTION &&
                   target->index < module->function_count
               ? &module->functions[target->index]
               : NULL;
}

/* Whether the function is like atomicCAS() as nvcc -G compiles it: without loops, it leads to an
 * atom.cas of `bytes` bytes. */
static bool is_call_of_swap(const Module *module, const Function *f, int bytes, int depth)
{
    enum { MOST_INSTRUCTIONS = 64, MOST_DEPTH = 3 };
    bool finds = false;

    if (f->instruction_count > MOST_INSTRUCTIONS || depth == MOST_DEPTH)
        return false;
    for (int i = 0; i < f->instruction_count; i++) {
        const Instruction *in = &f->instructions[i];
        const Function *callee = callee_of(module, f, in);
        if (in->op == OP_bra && in->guard >= 0)
            return false;
        finds |= is_swap(in) && type_size(in->types[0]) == bytes;
        finds |= callee && is_call_of_swap(module, callee, bytes, depth + 1);
    }
    return finds;
}

bool uses_for_swap(const Module *module, const Function *f, const Instruction *load)
{
    for (int i = 0; i < f->instruction_count && load->op == OP_ld; i++) {
        const Instruction *in = &f->instructions[i];
        const Function *callee = callee_of(module, f, in);
        if (is_swap(in) && same_place(f, operand_of(f, load, 1), operand_of(f, in, 1)))
            return true;
        if (callee && is_call_of_swap(module, callee, type_size(load->types[0]), 0))
            return true;
    }
    return false;
}

/* ---- A load ---- */

int uses_register(const Function *f, const Instruction *in, int operand, int element)
{
    const Operand *d = operand_of(f, in, operand);

    if (d && d->kind == OPERAND_VECTOR)
        d = element < d->count && d->first + element < f->operand_count
                ? &f->operands[d->first + element]
                : NULL;
    return d && d->kind == OPERAND_REGISTER ? d->index : NEVER;
}

int uses_of(const Code *code, const Step *step, int element)
{
    const int reg = uses_register(code->function, step->in, 0, element);

    if (!code->uses || !operand_of(code->function, step->in, 0))
        return USE_COMPUTES | USE_ALL_OF_IT; /* the uses are unknown */
    return reg == NEVER ? 0 : code->uses[reg];
}

/* ---- Later uses ---- */

static bool is_operand(const Function *f, const Operand *operand, int reg)
{
    if (operand->kind != OPERAND_VECTOR)
        return (operand->kind == OPERAND_REGISTER ||
                (operand->kind == OPERAND_ADDRESS && operand->is_register)) &&
               operand->index == reg;
    for (int i = 0; i < operand->count && operand->first + i < f->operand_count; i++)
        if (is_operand(f, &f->operands[operand->first + i], reg))
            return true;
    return false;
}

static bool is_among(const Function *f, const Instruction *in, int from, int to, int reg)
{
    for (int i = from; i < to; i++)
        if (operand_of(f, in, i) && is_operand(f, operand_of(f, in, i), reg))
            return true;
    return false;
}

bool uses_as(const Function *f, const Instruction *in, int operand, int reg)
{
    return is_among(f, in, operand, operand + 1, reg);
}

/* The steps that a search has found but not visited yet. */
typedef struct Search {
    bool *found;
    int *left;
    int count;
} Search;

static void search_add(Search *search, const Code *code, int step)
{
    if (step < 0 || step >= code->step_count || search->found[step])
        return;
    search->found[step] = true;
    search->left[search->count++] = step;
}

/* Visits a step; true: it reads the register, or it is unknown what comes next. */
static bool search_finds(Search *search, const Code *code, int at, int reg)
{
    const Step *step = &code->steps[at];
    const Instruction *in = step->in;

    if (in->guard == reg || in->op == OP_brx ||
        is_among(code->function, in, in->roles.destinations, in->count, reg))
        return true;
    if (in->guard < 0 && is_among(code->function, in, 0, in->roles.destinations, reg))
        return false;
    if (in->op == OP_bra)
        search_add(search, code, step->jump.target);
    if (in->guard >= 0 || (in->op != OP_bra && in->op != OP_ret && in->op != OP_exit))
        search_add(search, code, at + 1);
    return false;
}

bool uses_later(const Code *code, int reg, int from)
{
    Search search = { .found = calloc((size_t) code->step_count + 1, sizeof *search.found),
                      .left = calloc((size_t) code->step_count + 1, sizeof *search.left) };
    bool finds = !search.found || !search.left;

    if (!finds)
        search_add(&search, code, from);
    while (!finds && search.count)
        finds = search_finds(&search, code, search.left[--search.count], reg);
    free(search.found);
    free(search.left);
    return finds;
}
