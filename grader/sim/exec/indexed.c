/* indexed.c - finds array elements: mul.wide by the size of an element, add.s64 to the array's
 * address, and a load or store of words, in this order, where nothing else reads the first two
 * results. One handler does all three (ops/memory_indexed.c). */
#include "sim/exec/code.h"
#include "sim/exec/ops/memory.h"

static const Operand *operand_of(const CodeMaker *maker, int at, int i)
{
    return &maker->function->operands[maker->function->instructions[at].first + i];
}

static bool is_register(const Operand *operand, int reg)
{
    return operand->kind == OPERAND_REGISTER && operand->index == reg;
}

/* The register that the instruction writes, if only the next one reads it; -1: none. */
static int passed_on(const CodeMaker *maker, int at)
{
    const Operand *to = operand_of(maker, at, 0);

    if (to->kind != OPERAND_REGISTER)
        return -1;
    const Life *life = &maker->lives[to->index];
    return life->shares && life->first == at && life->last == at + 1 ? to->index : -1;
}

/* log2 of the factor of a mul.wide; -1: it is not a power of two, or this is another instruction.
 */
static int shift_of(const CodeMaker *maker, int at)
{
    const Instruction *in = &maker->function->instructions[at];

    if (in->op != OP_mul || in->count != 3 || !has_mod(in, MOD_wide) ||
        (in->types[0] != TYPE_S32 && in->types[0] != TYPE_U32) ||
        operand_of(maker, at, 1)->kind != OPERAND_REGISTER ||
        operand_of(maker, at, 2)->kind != OPERAND_INTEGER)
        return -1;
    const uint64_t factor = operand_of(maker, at, 2)->bits;
    return factor && !(factor & (factor - 1)) && factor <= 1 << 16 ? __builtin_ctzll(factor) : -1;
}

/* The plane of what is added to this register, if it is the same for all lanes; -1: not. */
static int base_of(const CodeMaker *maker, int at, int reg)
{
    const Instruction *in = &maker->function->instructions[at];

    if (in->op != OP_add || in->count != 3 || has_mod(in, MOD_cc) ||
        (in->types[0] != TYPE_S64 && in->types[0] != TYPE_U64 && in->types[0] != TYPE_B64))
        return -1;
    const int own = is_register(operand_of(maker, at, 1), reg) ? 1 : 2;
    const Operand *base = operand_of(maker, at, 3 - own);
    if (!is_register(operand_of(maker, at, own), reg) || base->kind != OPERAND_REGISTER ||
        !maker->lives[base->index].is_fixed || !maker->lives[base->index].is_alike)
        return -1;
    return maker->slot[base->index];
}

static bool is_access_to(const CodeMaker *maker, int at, int reg)
{
    const Instruction *in = &maker->function->instructions[at];

    if ((in->op != OP_ld && in->op != OP_st) || in->space != SPACE_GLOBAL || in->count != 2)
        return false;
    const Operand *address = operand_of(maker, at, in->op == OP_ld ? 1 : 0);
    return address->kind == OPERAND_ADDRESS && address->is_register && address->index == reg;
}

void find_indexed(CodeMaker *maker)
{
    Step *steps = maker->code->steps;

    for (int i = 0; i + 2 < maker->code->step_count; i++) {
        const int shift = steps[i].bare > 2 && !maker->moved[i] ? shift_of(maker, i) : -1;
        const int index = shift < 0 ? -1 : passed_on(maker, i);
        const int base = index < 0 ? -1 : base_of(maker, i + 1, index);
        const int address = base < 0 ? -1 : passed_on(maker, i + 1);
        Run *run = address < 0 || !is_access_to(maker, i + 2, address) || steps[i].inner
                       ? NULL
                       : memory_indexed(&steps[i + 2]);
        if (!run)
            continue;
        steps[i].inner = steps[i].run;
        steps[i].run = run;
        steps[i].e = base;
        steps[i].indexed.shift = (uint8_t) shift;
    }
}
