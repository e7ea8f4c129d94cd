/* registers.c - finds the registers that each operation waits for, the ones it reads from the
 * register file, and their writers. */
#include "sim/machine/maker.h"

#include <stdlib.h>

const Operand *operand_of(const OperationMaker *maker, const Instruction *in, int i)
{
    return i < in->count ? &maker->function->operands[in->first + i] : NULL;
}

bool is_known_special(Special special)
{
    return special == SPECIAL_NTID || special == SPECIAL_NCTAID || special == SPECIAL_ENVREG ||
           special == SPECIAL_DYNAMIC_SMEM_SIZE || special == SPECIAL_TOTAL_SMEM_SIZE;
}

void find_writers(OperationMaker *maker)
{
    static const Instruction many;

    for (int i = 0; i < maker->function->instruction_count; i++) {
        const Instruction *in = &maker->function->instructions[i];
        const Operand *d = operand_of(maker, in, 0);
        if (d && d->kind == OPERAND_REGISTER)
            maker->writer[d->index] = maker->writer[d->index] ? &many : in;
    }
    for (int i = 0; i < maker->function->register_count; i++)
        if (maker->writer[i] == &many)
            maker->writer[i] = NULL;
}

/* A 64-bit integer addition, as in computing an address. */
static bool adds_long(const Instruction *in)
{
    return in->op == OP_add && in->guard < 0 && in->type_count && !type_is_float(in->types[0]) &&
           type_size(in->types[0]) == 8;
}

void find_addends(OperationMaker *maker)
{
    for (int i = 0; i < maker->function->register_count; i++)
        maker->only_added[i] = true;
    for (int i = 0; i < maker->function->instruction_count; i++) {
        const Instruction *in = &maker->function->instructions[i];
        for (int k = 0; k < in->count; k++) {
            const Operand *o = operand_of(maker, in, k);
            bool names =
                o->kind == OPERAND_REGISTER || (o->kind == OPERAND_ADDRESS && o->is_register);
            if (names && o->index >= 0 && (k > 0 || o->kind == OPERAND_ADDRESS) && !adds_long(in))
                maker->only_added[o->index] = false;
        }
    }
}

static void mark_read(OperationMaker *maker, const Operand *o)
{
    const bool names =
        o->kind == OPERAND_REGISTER || (o->kind == OPERAND_ADDRESS && o->is_register);

    if (names && o->index >= 0)
        maker->is_read[o->index] = true;
    for (int i = 0; o->kind == OPERAND_VECTOR && i < o->count; i++)
        mark_read(maker, &maker->function->operands[o->first + i]);
}

void find_read(OperationMaker *maker)
{
    for (int i = 0; i < maker->function->instruction_count; i++) {
        const Instruction *in = &maker->function->instructions[i];
        if (in->guard >= 0)
            maker->is_read[in->guard] = true;
        for (int k = 0; k < in->count; k++)
            if (k >= in->roles.destinations || operand_of(maker, in, k)->kind == OPERAND_ADDRESS)
                mark_read(maker, operand_of(maker, in, k));
    }
}

/* The machine's instruction returns nothing then: RED instead of ATOM, or RZ as the destination. */
static bool returns_nothing(const OperationMaker *maker, const Instruction *in)
{
    const Operand *result = operand_of(maker, in, 0);

    return in->op == OP_atom && result && result->kind == OPERAND_REGISTER &&
           !maker->is_read[result->index];
}

/* ---- Registers ---- */

static bool add_register(OperationMaker *maker, int index)
{
    Operations *made = maker->made;

    if (made->register_count == made->register_room) {
        int room = made->register_room ? 2 * made->register_room : 256;
        uint32_t *more = realloc(made->registers, (size_t) room * sizeof *more);
        if (!more)
            return false;
        made->registers = more;
        made->register_room = room;
    }
    made->registers[made->register_count++] = (uint32_t) (made->first_register + index);
    return true;
}

/* Adds the registers of an operand; those of an address are always read. */
static bool add_operand(OperationMaker *maker, const Operand *o, bool writes)
{
    bool well = true;

    if (o->kind == OPERAND_REGISTER || (o->kind == OPERAND_ADDRESS && o->is_register))
        return (o->kind == OPERAND_ADDRESS && writes) || add_register(maker, o->index);
    for (int i = 0; o->kind == OPERAND_VECTOR && i < o->count && well; i++)
        well = add_operand(maker, &maker->function->operands[o->first + i], writes);
    return well;
}

bool add_registers(OperationMaker *maker, Operation *to, const Instruction *in)
{
    const int destinations = in->roles.destinations;
    const int written = returns_nothing(maker, in) ? 0 : destinations;

    to->first = (uint32_t) maker->made->register_count;
    if (in->guard >= 0 && !add_register(maker, in->guard))
        return false;
    for (int i = destinations; i < in->count; i++)
        if (!add_operand(maker, operand_of(maker, in, i), false))
            return false;
    const int before = maker->made->register_count;
    to->reads = (uint8_t) (before - (int) to->first);
    for (int i = 0; i < written && i < in->count; i++)
        if (!add_operand(maker, operand_of(maker, in, i), true))
            return false;
    to->writes = (uint8_t) (maker->made->register_count - before);
    return true;
}

bool add_stack_registers(OperationMaker *maker, Operation *to, const Operation *step, int behind)
{
    const bool is_store = to->access.is_store;
    const int count = is_store ? step->writes : step->reads;
    const uint32_t from = step->first + (uint32_t) (is_store ? step->reads : behind);

    to->first = (uint32_t) maker->made->register_count;
    if (!count || (!is_store && behind >= count))
        return true;
    to->reads = is_store;
    to->writes = !is_store;
    return add_register(maker, (int) maker->made->registers[from] - maker->made->first_register);
}

bool add_return(OperationMaker *maker, Operation *to)
{
    to->first = (uint32_t) maker->made->register_count;
    to->reads = 1;
    to->writes = 0;
    return add_register(maker, maker->made->registers_used - 1);
}

bool add_result(OperationMaker *maker, Operation *to, const Instruction *in)
{
    const int before = maker->made->register_count;

    if (!add_operand(maker, operand_of(maker, in, 0), true))
        return false;
    to->writes = (uint8_t) (to->writes + maker->made->register_count - before);
    return true;
}

/* ---- Operands ---- */

/* Whether ptxas knows the value, so that it is not read from the register file. */
static bool is_constant_value(const OperationMaker *maker, const Operand *o)
{
    const Instruction *writer = maker->writer[o->index];
    const Operand *from = writer ? operand_of(maker, writer, 1) : NULL;
    if (!from || writer->op != OP_mov)
        return from && writer->op == OP_ld && writer->space == SPACE_PARAM;
    return from->kind == OPERAND_INTEGER || from->kind == OPERAND_FLOAT ||
           (from->kind == OPERAND_SPECIAL && is_known_special(from->special));
}

void find_operands(const OperationMaker *maker, const Step *step, Operation *to)
{
    const Instruction *in = step->in;

    if (to->action != DO_COMPUTE || !in->type_count || type_size(in->types[0]) != 4)
        return;
    for (int i = in->roles.destinations; i < in->count && to->operand_count < MOST_OPERANDS; i++) {
        const Operand *o = operand_of(maker, in, i);
        bool known = o->kind != OPERAND_REGISTER || is_constant_value(maker, o) ||
                     !maker->varies[o->index] ||
                     maker->function->registers[o->index].type == TYPE_PRED;
        const uint32_t number = (uint32_t) (maker->made->first_register + o->index);
        for (int k = 0; k < to->operand_count && !known; k++)
            known = to->operands[k] == number;
        if (!known)
            to->operands[to->operand_count++] = number;
    }
}
