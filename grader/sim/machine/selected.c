/* selected.c - steps that ptxas may compute only for the lanes that need them.
 *
 * Instead of a selp that takes a value or leaves it, ptxas can guard the instruction that computes
 * the value; instead of adding a selp's 1 or 0, it can guard the addition. */
#include "sim/machine/lines.h"

#include <stdlib.h>

typedef struct Selections {
    const Code *code;
    const Count *counts;
    /* by register: the step that alone writes it, and the one that alone reads it; -1: none or
     * several */
    int *writer, *reader;
} Selections;

enum { NONE = -1, SEVERAL = -2 };
static const Selected unknown = { -1, false };

static const Operand *operand_at(const Code *code, int step, int i)
{
    const Instruction *in = code->steps[step].in;

    return in && i < in->count ? &code->function->operands[in->first + i] : NULL;
}

static int register_at(const Code *code, int step, int i)
{
    const Operand *o = operand_at(code, step, i);

    return o && o->kind == OPERAND_REGISTER ? o->index : NONE;
}

/* ---- Writers and readers ---- */

static void note(int *of, int reg, int step)
{
    if (reg >= 0 && of[reg] != step)
        of[reg] = of[reg] == NONE ? step : SEVERAL;
}

static void note_operand(const Selections *to, int *of, const Operand *o, int step)
{
    if (o->kind == OPERAND_REGISTER || (o->kind == OPERAND_ADDRESS && o->is_register))
        note(of, o->index, step);
    for (int i = 0; o->kind == OPERAND_VECTOR && i < o->count; i++)
        note_operand(to, of, &to->code->function->operands[o->first + i], step);
}

static void note_step(const Selections *to, int step)
{
    const Instruction *in = to->code->steps[step].in;

    if (!in)
        return;
    note(to->reader, in->guard, step);
    for (int i = 0; i < in->count; i++) {
        const Operand *o = operand_at(to->code, step, i);
        const bool writes = i < in->roles.destinations && o->kind != OPERAND_ADDRESS;
        note_operand(to, writes ? to->writer : to->reader, o, step);
    }
}

/* ---- Which lanes need a value ---- */

static double share_of(const Selections *from, int selp, bool first)
{
    const Count *count = &from->counts[selp];
    const double share = count->lanes ? (double) count->chosen / (double) count->lanes : 0;

    return first ? share : 1 - share;
}

static bool is_selp(const Code *code, int step)
{
    return step >= 0 && code->steps[step].in && code->steps[step].in->op == OP_selp;
}

/* The step's value goes to a selp and nowhere else, perhaps by way of a mov. */
static Selected taken_by_selp(const Selections *from, int step)
{
    const Code *code = from->code;
    int reg = register_at(code, step, 0), to = reg >= 0 ? from->reader[reg] : NONE;

    if (to >= 0 && code->steps[to].in && code->steps[to].in->op == OP_mov) {
        reg = register_at(code, to, 0);
        to = reg >= 0 && from->writer[reg] == to ? from->reader[reg] : NONE;
    }
    if (!is_selp(code, to) || from->writer[reg] < 0)
        return unknown;
    return (Selected){ share_of(from, to, register_at(code, to, 1) == reg), false };
}

/* The step adds a constant that a selp chooses. */
static Selected added_by_choice(const Selections *from, int step)
{
    const Code *code = from->code;
    const Instruction *in = code->steps[step].in;

    for (int i = in->roles.destinations; in->op == OP_add && i < in->count; i++) {
        const int reg = register_at(code, step, i), selp = reg >= 0 ? from->writer[reg] : NONE;
        if (!is_selp(code, selp))
            continue;
        const Operand *a = operand_at(code, selp, 1), *b = operand_at(code, selp, 2);
        if (a->kind == OPERAND_INTEGER && b->kind == OPERAND_INTEGER)
            return (Selected){ share_of(from, selp, a->bits != 0), !a->bits || !b->bits };
    }
    return unknown;
}

static Selected selected_at(const Selections *from, int step)
{
    Selected selected = unknown;

    if (from->code->steps[step].in && from->code->steps[step].guard < 0)
        selected = added_by_choice(from, step);
    return selected.share >= 0 ? selected : taken_by_selp(from, step);
}

bool find_selected(const Code *code, const Count *counts, Selected *selected)
{
    const size_t registers = (size_t) code->function->register_count + 1;
    Selections from = { .code = code, .counts = counts };

    from.writer = malloc(registers * sizeof *from.writer);
    from.reader = malloc(registers * sizeof *from.reader);
    for (size_t i = 0; from.writer && from.reader && i < registers; i++)
        from.writer[i] = from.reader[i] = NONE;
    for (int i = 0; from.writer && from.reader && i < code->step_count; i++)
        note_step(&from, i);
    for (int i = 0; from.writer && from.reader && i < code->step_count; i++)
        selected[i] = selected_at(&from, i);
    const bool fine = from.writer && from.reader;
    free(from.writer);
    free(from.reader);
    return fine;
}
