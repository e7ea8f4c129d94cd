/* operands.c - fills in the operands of a step: planes, predicates, offsets.
 *
 * Each operand has a role (roles.h), which determines the width of its plane. If an operand does
 * not fit, the step is reported when it is executed, so handlers can rely on their operands.
 */
#include "sim/exec/code.h"

#include <stdlib.h>
#include <string.h>

enum { CONSTANT_ABSENT = -1, NOT_POSSIBLE = INT32_MIN };

/* ---- Constants: a hash table from value and width to plane ---- */

static PlaneConstant *find_constant(PlaneConstant *table, int room, uint64_t bits, int size)
{
    size_t i = (bits * 0x9e3779b97f4a7c15ull >> 20) + (size_t) size;

    while (table[i % (size_t) room].size &&
           (table[i % (size_t) room].bits != bits || table[i % (size_t) room].size != size))
        i++;
    return &table[i % (size_t) room];
}

static bool grow_constants(CodeMaker *maker)
{
    int room = maker->constants_room ? 2 * maker->constants_room : 64;
    PlaneConstant *table = calloc((size_t) room, sizeof *table);

    if (!table)
        return refuse(maker, "out of memory");
    for (int i = 0; i < maker->constants_room; i++) {
        const PlaneConstant *old = &maker->constants[i];
        if (old->size)
            *find_constant(table, room, old->bits, old->size) = *old;
    }
    free(maker->constants);
    maker->constants = table;
    maker->constants_room = room;
    return true;
}

/* Planes 0 and 1 stand for absent operands. */
static int constant(CodeMaker *maker, uint64_t bits, int size)
{
    if (2 * maker->constants_used >= maker->constants_room && !grow_constants(maker))
        return NOT_POSSIBLE;
    if (size == 4)
        bits = (uint32_t) bits;
    PlaneConstant *place = find_constant(maker->constants, maker->constants_room, bits, size);
    if (place->size)
        return ~place->plane;
    if (maker->constant_planes > MOST_CONSTANTS) {
        refuse(maker, "too many constants");
        return NOT_POSSIBLE;
    }
    if (!maker->constant_planes)
        maker->constant_planes = 2;
    *place = (PlaneConstant){ bits, size, maker->constant_planes };
    maker->constant_planes += size / 4;
    maker->constants_used++;
    return ~place->plane;
}

static void fill_plane(uint8_t *at, const PlaneConstant *constant)
{
    uint32_t low = (uint32_t) constant->bits;

    for (int lane = 0; lane < LANES; lane++) {
        const void *from = constant->size == 4 ? (const void *) &low : &constant->bits;
        size_t bytes = constant->size == 4 ? 4 : 8;
        memcpy(at + lane * constant->size, from, bytes);
    }
}

bool fill_constants(CodeMaker *maker)
{
    int planes = maker->constant_planes > 2 ? maker->constant_planes : 2;
    size_t bytes = (size_t) (planes + SPARE_PLANES) * PLANE;

    maker->code->constants = aligned_alloc(PLANE, bytes);
    if (!maker->code->constants)
        return refuse(maker, "out of memory");
    memset(maker->code->constants, 0, bytes);
    for (int i = 0; i < maker->constants_room; i++)
        if (maker->constants[i].size)
            fill_plane(maker->code->constants + (size_t) maker->constants[i].plane * PLANE,
                       &maker->constants[i]);
    maker->code->constant_count = planes;
    return true;
}

/* ---- Values ---- */

/* Reads the digits of 0f..., so that no bit of a NaN is lost. */
static bool hexadecimal(const Operand *operand, uint64_t *bits)
{
    char digits[9];

    if (!operand->single || operand->name.length != 10 || operand->name.at[0] != '0' ||
        (operand->name.at[1] | 32) != 'f')
        return false;
    memcpy(digits, operand->name.at + 2, 8);
    digits[8] = 0;
    *bits = strtoull(digits, NULL, 16);
    return true;
}

/* The bits of a constant, as f32 for types of 4 bytes. Returns false for other types. */
static bool float_bits(const Operand *operand, PtxType type, uint64_t *bits)
{
    double wide;
    float narrow;
    uint32_t narrow_bits;

    *bits = operand->bits;
    if (type_size(type) == 8)
        return true;
    if (type_size(type) != 4)
        return false;
    if (hexadecimal(operand, bits))
        return true;
    memcpy(&wide, &operand->bits, sizeof wide);
    narrow = (float) wide;
    memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
    *bits = narrow_bits;
    return true;
}

static uint64_t integer_bits(uint64_t bits, PtxType type)
{
    int size = type_size(type);

    return size > 0 && size < 4 ? bits & ((1ull << size * 8) - 1) : bits;
}

/* Finds the address of a variable in its space. Returns false if it has none. */
static bool variable_at(CodeMaker *maker, int variable, uint64_t *at)
{
    const Variable *v = &maker->module->variables[variable];

    switch (v->space) {
    case SPACE_GLOBAL:
    case SPACE_CONST:
        *at = maker->code->variable_address ? maker->code->variable_address[variable] : 0;
        return *at || refuse(maker, "variable %.*s has no address", v->name.length, v->name.at);
    case SPACE_PARAM:
    case SPACE_SHARED:
    case SPACE_LOCAL:
        *at = (uint64_t) maker->code->variable_offset[variable];
        return true;
    default:
        return false;
    }
}

static int variable_plane(CodeMaker *maker, const Operand *operand, int size)
{
    uint64_t at;
    int plane = maker->code->local_plane[operand->index];

    if (plane >= 0)
        return size == 8 && !operand->offset ? plane : NOT_POSSIBLE;
    if (!variable_at(maker, operand->index, &at))
        return NOT_POSSIBLE;
    return constant(maker, at + (uint64_t) operand->offset, size);
}

static int special_plane(CodeMaker *maker, Step *step, const Operand *operand, int size)
{
    int component = operand->component;

    if (special_bytes(operand->special) != size)
        return NOT_POSSIBLE;
    if (component < 0 || component > 2)
        return constant(maker, 0, size);
    if (special_is_clock(operand->special))
        step->inner = run_clock; /* until the step's own handler is known */
    return maker->code->special_plane[operand->special * 3 + component];
}

static int register_slot(const CodeMaker *maker, const Operand *operand, int size)
{
    PtxType type = maker->function->registers[operand->index].type;
    int bytes = type_size(type) < 4 ? 4 : type_size(type);

    if (type == TYPE_PRED ? size != -1 : size && size != bytes)
        return NOT_POSSIBLE;
    return maker->slot[operand->index];
}

/* Bytes per lane of the operand's plane, where any width is allowed; 0: it has no plane. */
static int natural_bytes(const CodeMaker *maker, const Operand *operand, PtxType type)
{
    if (operand->kind == OPERAND_REGISTER)
        type = maker->function->registers[operand->index].type;
    return type == TYPE_PRED ? 0 : type_size(type) < 4 ? 4 : type_size(type);
}

/* The plane (or predicate, size -1) of one operand that is neither an address nor a vector. */
static int slot_of(CodeMaker *maker, Step *step, const Operand *operand, PtxType type, int size)
{
    uint64_t bits;

    switch (operand->kind) {
    case OPERAND_REGISTER:
        return register_slot(maker, operand, size);
    case OPERAND_DISCARD:
        return size < 0 ? PREDICATE_UNWANTED : maker->unwanted;
    case OPERAND_INTEGER:
        if (size < 0)
            return operand->bits ? PREDICATE_TRUE : PREDICATE_FALSE;
        return constant(maker, integer_bits(operand->bits, type), size);
    case OPERAND_FLOAT:
        return float_bits(operand, type, &bits) && size > 0 ? constant(maker, bits, size)
                                                            : NOT_POSSIBLE;
    case OPERAND_SPECIAL:
        return size > 0 ? special_plane(maker, step, operand, size) : NOT_POSSIBLE;
    case OPERAND_VARIABLE:
        return size > 0 ? variable_plane(maker, operand, size) : NOT_POSSIBLE;
    case OPERAND_FUNCTION:
        return operand->index >= 0 && size == 8
                   ? constant(maker, FUNCTION_WINDOW + 16ull * (uint64_t) operand->index, 8)
                   : NOT_POSSIBLE;
    default:
        return NOT_POSSIBLE;
    }
}

/* ---- Addresses and vectors ---- */

/* The address of a variable, or an absolute one: the offset holds the whole address. */
static int fixed_address(CodeMaker *maker, Step *step, const Operand *operand, int64_t *offset)
{
    uint64_t at = 0;

    *offset = operand->offset;
    if (operand->index < 0)
        return CONSTANT_ABSENT;
    if (maker->code->local_plane[operand->index] >= 0)
        return maker->code->local_plane[operand->index];
    if (!variable_at(maker, operand->index, &at))
        return NOT_POSSIBLE;
    step->kernel_param = is_kernel_param(maker, operand->index);
    *offset = (int64_t) (at + (uint64_t) operand->offset);
    return CONSTANT_ABSENT;
}

/* A copy has up to three addresses: sources 0 and 1, and the mbarrier. */
static int address(CodeMaker *maker, Step *step, const Operand *operand, int source)
{
    int64_t *offset = source == 0   ? &step->offset
                      : source == 1 ? &step->copy.offset
                                    : &step->copy.barrier_offset;
    uint8_t *size = source == 0   ? &step->address_size
                    : source == 1 ? &step->copy.address_size
                                  : &step->copy.barrier_size;

    *size = 8;
    if (operand->kind != OPERAND_ADDRESS)
        return NOT_POSSIBLE;
    if (!operand->is_register)
        return fixed_address(maker, step, operand, offset);
    PtxType type = maker->function->registers[operand->index].type;
    if (type_size(type) != 4 && type_size(type) != 8)
        return NOT_POSSIBLE;
    *size = (uint8_t) type_size(type);
    *offset = operand->offset;
    step->kernel_param = step->space == SPACE_PARAM && maker->function->is_entry;
    return maker->slot[operand->index];
}

/* Each element has `size` bytes per lane; 0: the size of the first register among them. */
static bool vector(CodeMaker *maker, Step *step, const Operand *operand, PtxType type, int size)
{
    const Operand *elements = maker->function->operands + operand->first;

    if (operand->count < 1 || operand->count > 8)
        return false;
    for (int i = 0; i < operand->count && !size; i++)
        if (elements[i].kind == OPERAND_REGISTER)
            size = natural_bytes(maker, &elements[i], type);
    if (!size)
        size = type_size(type) < 4 ? 4 : type_size(type);
    for (int i = 0; i < operand->count; i++) {
        step->vector_at[i] = elements[i].kind == OPERAND_DISCARD
                                 ? -1
                                 : slot_of(maker, step, &elements[i], type, size);
        if (step->vector_at[i] == NOT_POSSIBLE)
            return false;
    }
    step->vector = (uint8_t) operand->count;
    step->data_size = (uint8_t) size;
    return true;
}

/* Data of loads, stores and atomics, all of the same width. */
static int data(CodeMaker *maker, Step *step, const Operand *operand)
{
    PtxType type = step->in->types[0];
    int size = natural_bytes(maker, operand, type);

    if (operand->kind == OPERAND_VECTOR)
        return operand->count == step->in->vector && vector(maker, step, operand, type, 0)
                   ? step->vector_at[0]
                   : NOT_POSSIBLE;
    if (operand->kind == OPERAND_DISCARD || (operand->kind != OPERAND_REGISTER && step->data_size))
        size = step->data_size ? step->data_size : size;
    if (!size || (step->data_size && step->data_size != size) || step->in->vector > 1)
        return NOT_POSSIBLE;
    step->data_size = (uint8_t) size;
    return slot_of(maker, step, operand, type, size);
}

/* mov packs or unpacks: the width of an element is that of the whole divided by the count. */
static int packed(CodeMaker *maker, Step *step, const Operand *operand)
{
    static const PtxType types[] = {
        [1] = TYPE_B8, [2] = TYPE_B16, [4] = TYPE_B32, [8] = TYPE_B64
    };
    int whole = type_size(step->in->types[0]);
    int bytes = operand->count > 0 ? whole / operand->count : 0;

    if (bytes * operand->count != whole || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
        return NOT_POSSIBLE;
    return vector(maker, step, operand, types[bytes], bytes < 4 ? 4 : bytes) ? step->vector_at[0]
                                                                             : NOT_POSSIBLE;
}

/* ---- Fragments of matrices ---- */

static bool add_fragment_plane(CodeMaker *maker, int slot)
{
    Code *code = maker->code;

    if (code->fragment_count == maker->fragments_room) {
        const int room = maker->fragments_room ? 2 * maker->fragments_room : 64;
        int *planes = realloc(code->fragments, (size_t) room * sizeof *planes);
        if (!planes)
            return refuse(maker, "out of memory");
        code->fragments = planes;
        maker->fragments_room = room;
    }
    code->fragments[code->fragment_count++] = slot;
    return true;
}

/* Adds the registers of an operand, all of 4 or all of 8 bytes, as the step's next fragment.
 * Returns the first register's plane. */
static int fragment(CodeMaker *maker, Step *step, const Operand *operand, PtxType type)
{
    const bool one = operand->kind == OPERAND_REGISTER;
    const Operand *elements = one ? operand : maker->function->operands + operand->first;
    const int count = one ? 1 : operand->count, first = maker->code->fragment_count;
    int which = 0, size = 0;

    while (which < 3 && step->tensor.count[which])
        which++;
    if ((!one && operand->kind != OPERAND_VECTOR) || count < 1 || step->tensor.count[which])
        return NOT_POSSIBLE;
    for (int i = 0; i < count; i++) {
        const int bytes = natural_bytes(maker, &elements[i], type);
        const int slot = slot_of(maker, step, &elements[i], type, bytes);
        if ((bytes != 4 && bytes != 8) || (size && bytes != size) || slot == NOT_POSSIBLE ||
            !add_fragment_plane(maker, slot))
            return NOT_POSSIBLE;
        size = bytes;
    }
    step->tensor.first[which] = first;
    step->tensor.count[which] = (uint8_t) count;
    step->tensor.bytes[which] = (uint8_t) size;
    return maker->code->fragments[first];
}

/* cvt: a register may be wider than the type; the step then records its width. */
static int converted(CodeMaker *maker, Step *step, const Operand *operand, char role)
{
    PtxType type = role_type(step->in, role);
    int least = role_bytes(step->in, role), bytes = least;

    if (operand->kind == OPERAND_REGISTER)
        bytes = natural_bytes(maker, operand, type);
    if (least <= 0 || bytes < least || bytes > 8)
        return NOT_POSSIBLE;
    *(role == 'd' ? &step->data_size : &step->convert.source_size) = (uint8_t) bytes;
    return slot_of(maker, step, operand, type, bytes);
}

static bool is_predicate(const CodeMaker *maker, const Operand *operand)
{
    return operand->kind == OPERAND_REGISTER &&
           maker->function->registers[operand->index].type == TYPE_PRED;
}

/* ---- The instruction ---- */

static int operand_slot(CodeMaker *maker, Step *step, const Operand *operand, char role, int source)
{
    const Instruction *in = step->in;

    if (role == 'a')
        return address(maker, step, operand, source);
    if (role == 'm')
        return data(maker, step, operand);
    if (role == 'f' || role == 'c')
        return fragment(maker, step, operand, role_type(in, role));
    if (role == 'd' || role == 's')
        return converted(maker, step, operand, role);
    if (role == 'i' && is_predicate(maker, operand)) {
        step->copy.is_suppressed = true;
        role = 'p';
    }
    if (role == 'v' && operand->kind == OPERAND_VECTOR)
        return packed(maker, step, operand);
    return slot_of(maker, step, operand, role_type(in, role), role_bytes(in, role));
}

static bool fill_destinations(CodeMaker *maker, Step *step, const Roles *roles)
{
    const Operand *operands = maker->function->operands + step->in->first;

    for (int i = 0; i < roles->destinations; i++) {
        int slot = NOT_POSSIBLE;
        if (operands[i].kind == OPERAND_REGISTER || operands[i].kind == OPERAND_DISCARD ||
            operands[i].kind == OPERAND_VECTOR)
            slot = operand_slot(maker, step, &operands[i], roles->role[i], -1);
        if (slot == NOT_POSSIBLE)
            return false;
        *(i ? &step->d2 : &step->d) = slot;
    }
    return true;
}

static bool fill_sources(CodeMaker *maker, Step *step, const Roles *roles)
{
    const Operand *operands = maker->function->operands + step->in->first;
    int *const slots[] = { &step->a, &step->b, &step->c, &step->e };
    bool *const negated[] = { &step->negated_a, &step->negated_b, &step->negated_c,
                              &step->negated_e };

    for (int i = roles->destinations; i < roles->count; i++) {
        int source = i - roles->destinations; /* forms have at most four sources */
        *slots[source] = operand_slot(maker, step, &operands[i], roles->role[i], source);
        if (*slots[source] == NOT_POSSIBLE ||
            (operands[i].negated && !is_predicate(maker, &operands[i])))
            return false;
        *negated[source] = operands[i].negated;
    }
    return true;
}

/* The index is the only operand of a branch or call that is a plane. */
static bool fill_index(CodeMaker *maker, Step *step, int operand, int bytes)
{
    if (operand >= step->in->count)
        return false;
    step->a = slot_of(maker, step, &maker->function->operands[step->in->first + operand], TYPE_B32,
                      bytes);
    return step->a != NOT_POSSIBLE;
}

static bool fill_target(CodeMaker *maker, Step *step)
{
    const Operand *operand = &maker->function->operands[step->in->first];

    step->jump.target = step->in->count == 1 ? operand->index : -1;
    return step->in->count == 1 && operand->kind == OPERAND_LABEL;
}

static bool fill_call(CodeMaker *maker, Step *step)
{
    const Instruction *in = step->in;

    if (in->call_returns >= in->count)
        return false;
    const Operand *target = &maker->function->operands[in->first + in->call_returns];
    step->jump.target = target->kind == OPERAND_FUNCTION ? target->index : -1;
    return target->kind == OPERAND_FUNCTION || fill_index(maker, step, in->call_returns, 8);
}

bool fill_operands(CodeMaker *maker, Step *step)
{
    if (step->in->op == OP_bra)
        return fill_target(maker, step);
    if (step->in->op == OP_brx)
        return fill_index(maker, step, 0, 4);
    if (step->in->op == OP_call)
        return fill_call(maker, step);
    return step->in->roles.known && fill_destinations(maker, step, &step->in->roles) &&
           fill_sources(maker, step, &step->in->roles);
}
