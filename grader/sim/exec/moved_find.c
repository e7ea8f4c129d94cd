/* moved_find.c - finds the moved registers of a kernel (moved.h), and what can read them without
 * their values. */
#include "sim/exec/fixed.h"
#include "sim/exec/moved.h"

/* ---- What moves ---- */

static bool moves(const Finder *finder, const Operand *operand)
{
    return operand->kind == OPERAND_REGISTER && finder->lives[operand->index].moves;
}

/* The same value for all lanes, in every block. */
static bool is_alike(const Life *lives, const Operand *operand)
{
    return operand->kind == OPERAND_INTEGER ||
           (operand->kind == OPERAND_REGISTER && lives[operand->index].is_alike);
}

static bool stays_or_moves(const Finder *finder, const Operand *operand)
{
    return moves(finder, operand) || is_fixed_source(finder, operand);
}

static bool is_product(const Finder *finder, const Operand *a, const Operand *b)
{
    return (moves(finder, a) && is_alike(finder->lives, b)) ||
           (is_alike(finder->lives, a) && moves(finder, b));
}

static bool is_sum(const Finder *finder, const Operand *a, const Operand *b)
{
    return (moves(finder, a) || moves(finder, b)) && stays_or_moves(finder, a) &&
           stays_or_moves(finder, b);
}

static bool is_integer(PtxType type)
{
    return type == TYPE_S32 || type == TYPE_U32 || type == TYPE_B32 || type == TYPE_S64 ||
           type == TYPE_U64 || type == TYPE_B64;
}

bool moved_widens(const Instruction *in)
{
    const PtxType from = (PtxType) in->types[in->op == OP_cvt ? 1 : 0];

    if (from != TYPE_S32 && from != TYPE_U32)
        return false;
    if (in->op == OP_cvt)
        return (in->types[0] == TYPE_S64 || in->types[0] == TYPE_U64) && !in->mod_count;
    return in->op == OP_mul && in->mod_count == 1 && has_mod(in, MOD_wide);
}

/* Bytes of the result. */
static int bytes_of(const Instruction *in)
{
    return moved_widens(in) ? 8 : type_size(in->types[0]);
}

static bool is_linear(const Finder *finder, const Instruction *in)
{
    const Operand *a = finder->function->operands + in->first + 1, *b = a + 1, *c = a + 2;
    const bool low = in->mod_count == 1 && has_mod(in, MOD_lo);

    switch (in->op) {
    case OP_mov:
        return in->count == 2 && moves(finder, a);
    case OP_cvt:
        return in->count == 2 && moved_widens(in) && moves(finder, a);
    case OP_add:
    case OP_sub:
        return in->count == 3 && !in->mod_count && is_sum(finder, a, b);
    case OP_mul:
        return in->count == 3 && (low || moved_widens(in)) && is_product(finder, a, b);
    case OP_mad:
        return in->count == 4 && low &&
               (is_product(finder, a, b)
                    ? stays_or_moves(finder, c)
                    : is_fixed_source(finder, a) && is_fixed_source(finder, b) && moves(finder, c));
    case OP_shl:
        return in->count == 3 && !in->mod_count && moves(finder, a) && is_alike(finder->lives, b);
    default:
        return false;
    }
}

bool moves_with_block(const Finder *finder, const Instruction *in)
{
    const Operand *to = finder->function->operands + in->first;

    return is_integer(in->types[0]) && is_linear(finder, in) &&
           type_size(finder->function->registers[to->index].type) == bytes_of(in);
}

/* ---- What can do without the value ---- */

static bool is_comparison(const Instruction *in)
{
    return in->op == OP_setp && in->count == 3 && in->roles.destinations == 1 &&
           (in->types[0] == TYPE_S32 || in->types[0] == TYPE_U32 || in->types[0] == TYPE_B32);
}

static bool is_word_access(const Instruction *in)
{
    return (in->op == OP_ld || in->op == OP_st) && in->space == SPACE_GLOBAL && in->vector <= 1 &&
           in->count == 2 && type_size(in->types[0]) == 4;
}

static int register_that_moves(const Life *lives, const Operand *operand)
{
    return operand->kind == OPERAND_REGISTER && lives[operand->index].moves &&
                   !lives[operand->index].is_fixed
               ? operand->index
               : -1;
}

int moved_source(const CodeMaker *maker, const Instruction *in)
{
    const Operand *operands = maker->function->operands + in->first;
    const Life *lives = maker->lives;

    if (is_comparison(in)) {
        const int a = register_that_moves(lives, &operands[1]);
        const int b = register_that_moves(lives, &operands[2]);
        return is_alike(lives, &operands[2]) ? a : is_alike(lives, &operands[1]) ? b : -1;
    }
    const Operand *address = is_word_access(in) ? &operands[in->op == OP_ld ? 1 : 0] : NULL;
    return address && address->kind == OPERAND_ADDRESS && address->is_register &&
                   lives[address->index].moves && !lives[address->index].is_fixed
               ? address->index
               : -1;
}

bool is_skipped(const CodeMaker *maker, int at)
{
    const Function *f = maker->function;

    return maker->moved[at] &&
           !maker->lives[f->operands[f->instructions[at].first].index].needs_value;
}

/* ---- What is worth it ---- */

static void read_register(Finder *finder, int at, int reg)
{
    Life *life = &finder->lives[reg];

    if (!life->moves || life->is_fixed)
        return;
    if (finder->maker->moved[at] ||
        moved_source(finder->maker, &finder->function->instructions[at]) == reg)
        life->is_wanted = true;
    else
        life->needs_value = true;
}

static void read_operand(Finder *finder, int at, const Operand *operand)
{
    if (operand->kind == OPERAND_REGISTER ||
        (operand->kind == OPERAND_ADDRESS && operand->is_register))
        read_register(finder, at, operand->index);
    else if (operand->kind == OPERAND_VECTOR)
        for (int i = 0; i < operand->count; i++)
            read_operand(finder, at, &finder->function->operands[operand->first + i]);
}

/* What reads a moved register comes after what writes it, so it has been visited. */
static void visit_backwards(Finder *finder, int at, int *count)
{
    const Instruction *in = &finder->function->instructions[at];
    const Operand *operands = finder->function->operands + in->first;
    bool *moved = &finder->maker->moved[at];
    Life *to = *moved ? &finder->lives[operands->index] : NULL;

    if (to && !to->is_wanted)
        *moved = to->moves = false;
    if (*moved)
        to->moved = ++*count;
    for (int i = in->roles.known ? in->roles.destinations : 0; i < in->count; i++)
        read_operand(finder, at, &operands[i]);
}

void keep_useful_moves(Finder *finder)
{
    int count = 0;

    for (int at = finder->function->instruction_count - 1; at >= 0; at--)
        visit_backwards(finder, at, &count);
    finder->maker->code->moved_count = count;
}
