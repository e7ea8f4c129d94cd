/* uses.c - what a function does with the value that a load or an atomic gives. */
#include "uses.h"
#include "roles.h"

enum { NEVER = -1 };

static const Operand *operand_of(const Function *f, const Instruction *in, int i)
{
    return i < in->count && in->first + i < f->operand_count ? &f->operands[in->first + i] : NULL;
}

static bool names(const Function *f, const Operand *operand, int reg)
{
    if (operand->kind == OPERAND_VECTOR) {
        for (int i = 0; i < operand->count && operand->first + i < f->operand_count; i++)
            if (names(f, &f->operands[operand->first + i], reg))
                return true;
        return false;
    }
    if (operand->kind == OPERAND_ADDRESS)
        return operand->is_register && operand->index == reg;
    return operand->kind == OPERAND_REGISTER && operand->index == reg;
}

/* Instructions that pass bits on, or take some of them out. */
static bool only_moves(Op op)
{
    static const Op ops[] = { OP_mov, OP_and, OP_shr, OP_bfe, OP_prmt, OP_cvt, OP_selp };

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (op == ops[i])
            return true;
    return false;
}

static int use_by(const Function *f, const Instruction *in, int reg)
{
    Roles roles;
    const bool known = roles_of(in, &roles);
    int uses = in->guard == reg ? USE_COMPUTES | USE_ALL_OF_IT : 0;

    for (int i = known ? roles.destinations : 0; i < in->count; i++) {
        const Operand *operand = operand_of(f, in, i);
        if (!operand || !names(f, operand, reg))
            continue;
        if (in->op == OP_st && i == 1)
            uses |= in->space == SPACE_SHARED || in->space == SPACE_LOCAL ? USE_KEEPS : USE_STORES;
        else
            uses |= only_moves(in->op) ? USE_COMPUTES : USE_COMPUTES | USE_ALL_OF_IT;
    }
    return uses;
}

/* ---- Compare and swap ---- */

/* The register that an address comes from: cvta makes another of the same place. */
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

static bool replaces(const Function *f, const Instruction *load)
{
    for (int i = 0; i < f->instruction_count && load->op == OP_ld; i++) {
        const Instruction *in = &f->instructions[i];
        if (in->op == OP_atom && has_mod(in, MOD_cas) &&
            same_place(f, operand_of(f, load, 1), operand_of(f, in, 1)))
            return true;
    }
    return false;
}

/* ---- All of it ---- */

int uses_register(const Function *f, const Instruction *in, int operand, int element)
{
    const Operand *d = operand_of(f, in, operand);

    if (d && d->kind == OPERAND_VECTOR)
        d = element < d->count && d->first + element < f->operand_count
                ? &f->operands[d->first + element]
                : NULL;
    return d && d->kind == OPERAND_REGISTER ? d->index : NEVER;
}

static int find(const Function *f, const Instruction *in, int element)
{
    const int reg = uses_register(f, in, 0, element);
    int uses = replaces(f, in) ? USE_REPLACES : 0;

    if (!operand_of(f, in, 0))
        return USE_COMPUTES | USE_ALL_OF_IT; /* there is nothing to read */
    for (int i = 0; i < f->instruction_count && reg != NEVER; i++)
        uses |= use_by(f, &f->instructions[i], reg);
    return uses;
}

int uses_of(const Code *code, const Step *step, int element)
{
    static _Thread_local struct {
        const Step *step;
        const Instruction *in;
        int element, uses;
    } kept[64];
    const size_t at = ((uintptr_t) step / sizeof *step + (unsigned) element) % 64;

    if (kept[at].step != step || kept[at].in != step->in || kept[at].element != element) {
        kept[at].step = step;
        kept[at].in = step->in;
        kept[at].element = element;
        kept[at].uses = find(code->function, step->in, element);
    }
    return kept[at].uses;
}
