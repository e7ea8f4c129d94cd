/* parse_initial.c - the values of a variable: numbers, addresses, and bytes of addresses.
 *
 * Braces enclose rows as in C; omitted values are zero. An address is kept as a relocation, since
 * variables have no addresses yet. nvcc writes misaligned addresses byte by byte, 0xFF(x),
 * 0xFF00(x), ...: the first byte creates the relocation, and the others must follow it.
 */
#include "sim/ptx/parse.h"

#include <stdlib.h>
#include <string.h>

typedef struct Filler {
    Parser *p;
    Variable *variable;
    size_t element;  /* bytes */
    size_t capacity; /* elements; for an open array: the maximum */
    size_t used;     /* elements up to the last one that was set */
    size_t room;     /* size of `initial` in bytes */
    const size_t *shape;
    int dimensions, relocation_room;
} Filler;

/* ---- Room ---- */

static bool make_bytes(Filler *f, size_t bytes)
{
    Parser *p = f->p;
    uint8_t *grown = NULL;

    if (bytes - f->room > MOST_INITIAL_BYTES - p->initial_bytes)
        return parse_fail(p, p->token.line, "more than 1 GiB of initialised variables");
    p->initial_bytes += bytes - f->room;
    grown = f->room ? realloc(f->variable->initial, bytes) : calloc(bytes ? bytes : 1, 1);
    if (!grown)
        return parse_fail(p, p->token.line, "not enough memory");
    if (f->room)
        memset(grown + f->room, 0, bytes - f->room);
    f->variable->initial = grown;
    f->room = bytes;
    return true;
}

/* The address of the element at this index, or NULL. */
static uint8_t *element_at(Filler *f, size_t index)
{
    size_t end = (index + 1) * f->element;

    if (index >= f->capacity) {
        parse_fail(f->p, f->p->token.line, "more values than the variable has elements");
        return NULL;
    }
    if (end > f->room && !make_bytes(f, end > 2 * f->room ? end : 2 * f->room))
        return NULL;
    if (f->used <= index)
        f->used = index + 1;
    return f->variable->initial + index * f->element;
}

/* ---- Numbers ---- */

static void store(uint8_t *to, size_t size, uint64_t bits)
{
    for (size_t i = 0; i < size; i++, bits >>= 8)
        to[i] = (uint8_t) bits;
}

static uint64_t f32_bits(double value)
{
    float single = (float) value;
    uint32_t bits;

    memcpy(&bits, &single, sizeof bits);
    return bits;
}

static uint64_t f64_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool put_number(Filler *f, size_t index, const Constant *constant)
{
    PtxType type = f->variable->type;
    uint64_t bits = constant->bits;
    double value;

    memcpy(&value, &bits, sizeof value);
    if (!constant->is_float)
        value = constant->is_unsigned ? (double) bits : (double) (int64_t) bits;
    if (constant->is_float && f->element != 4 && f->element != 8)
        return parse_fail(f->p, f->p->token.line,
                          "a floating-point value in a type of neither 4 nor 8 bytes");
    if (constant->is_float || type == TYPE_F32 || type == TYPE_F64)
        bits = f->element == 4 ? f32_bits(value) : f64_bits(value);
    uint8_t *to = element_at(f, index);
    if (to)
        store(to, f->element, bits);
    return to;
}

/* ---- Addresses ---- */

static bool relocation_add(Filler *f, Relocation relocation)
{
    Variable *variable = f->variable;

    if (!parse_room(f->p, &variable->relocations, variable->relocation_count, &f->relocation_room,
                    sizeof relocation, 1 << 26, "addresses"))
        return false;
    variable->relocations[variable->relocation_count++] = relocation;
    return true;
}

/* x, x + 8, generic(x), generic(x) + 8 */
static bool read_address(Parser *p, Relocation *relocation)
{
    Operand operand;
    int64_t more = 0;
    int line = p->token.line;

    relocation->generic = p->token.kind == TOKEN_NAME && name_is(p->token.text, "generic");
    if (relocation->generic) {
        advance(p);
        if (!expect_punct(p, '('))
            return false;
    }
    if (p->token.kind != TOKEN_NAME)
        return parse_expected(p, "a value");
    if (!named_operand(p, &operand))
        return false;
    if (operand.kind != OPERAND_VARIABLE && operand.kind != OPERAND_FUNCTION)
        return parse_fail(p, line, "the address of something that is not a variable or function");
    relocation->variable = operand.kind == OPERAND_VARIABLE ? operand.index : -1;
    relocation->function = operand.kind == OPERAND_FUNCTION ? operand.index : -1;
    if (!read_offset(p, &relocation->addend))
        return false;
    if (relocation->generic && (!expect_punct(p, ')') || !read_offset(p, &more)))
        return false;
    relocation->addend = (int64_t) ((uint64_t) relocation->addend + (uint64_t) more);
    return true;
}

static bool put_address(Filler *f, size_t index)
{
    Relocation relocation = { .offset = index * f->element, .size = (int) f->element };

    if (f->element != 4 && f->element != 8)
        return parse_fail(f->p, f->p->token.line, "an address in a type of neither 4 nor 8 bytes");
    return read_address(f->p, &relocation) && element_at(f, index) && relocation_add(f, relocation);
}

static bool continues(const Filler *f, const Relocation *next, int byte)
{
    const Variable *variable = f->variable;

    if (!variable->relocation_count)
        return false;
    const Relocation *last = &variable->relocations[variable->relocation_count - 1];
    return last->offset + (size_t) byte == next->offset && last->variable == next->variable &&
           last->function == next->function && last->addend == next->addend;
}

/* mask(address); starts at the parenthesis. */
static bool put_masked(Filler *f, size_t index, uint64_t mask)
{
    Parser *p = f->p;
    Relocation relocation = { .offset = index * f->element, .size = 8 };
    int byte = 0, line = p->token.line;

    while (byte < 8 && mask != (uint64_t) 0xff << 8 * byte)
        byte++;
    if (byte == 8 || f->element != 1)
        return parse_fail(p, line, "a mask that does not select one byte");
    advance(p);
    if (!read_address(p, &relocation) || !expect_punct(p, ')') || !element_at(f, index))
        return false;
    if (byte)
        return continues(f, &relocation, byte) ||
               parse_fail(p, line, "the bytes of an address are not consecutive");
    if (f->capacity - index < 8)
        return parse_fail(p, line, "an address that extends past the end of the variable");
    return element_at(f, index + 7) && relocation_add(f, relocation);
}

/* ---- Braces ---- */

static bool put_value(Filler *f, size_t index)
{
    Constant constant;

    if (!at_constant(f->p))
        return put_address(f, index);
    if (!read_constant(f->p, &constant))
        return false;
    if (at_punct(f->p, '('))
        return put_masked(f, index, constant.bits);
    return put_number(f, index, &constant);
}

/* The number of elements per step in this dimension. */
static size_t stride_of(const Filler *f, int level)
{
    size_t stride = 1;

    for (int i = level + 1; i < f->dimensions; i++)
        stride *= f->shape[i];
    return stride;
}

/* Reads the values in one pair of braces into the elements from `begin` on. Starts after the
 * opening brace. */
static bool fill(Filler *f, int level, size_t begin)
{
    Parser *p = f->p;
    size_t stride = stride_of(f, level), at = 0;
    size_t span = level && level < f->dimensions ? f->shape[level] * stride : f->capacity;

    while (!at_punct(p, '}')) {
        int line = p->token.line;
        bool row = take_punct(p, '{');
        if (row && level + 1 >= f->dimensions)
            return parse_fail(p, line, "more braces than dimensions");
        if (row && stride)
            at = (at + stride - 1) / stride * stride;
        if (at >= span)
            return parse_fail(p, line, "more values than the variable has elements");
        if (row ? !fill(f, level + 1, begin + at) : !put_value(f, begin + at))
            return false;
        at += row ? stride : 1;
        if (row && begin + at <= f->capacity && f->used < begin + at)
            f->used = begin + at;
        if (!take_punct(p, ','))
            break;
    }
    return expect_punct(p, '}');
}

void read_initial(Parser *p, Variable *variable, size_t element, const size_t *shape,
                  int dimensions)
{
    bool open = dimensions && !shape[0];
    Filler f = { .p = p,
                 .variable = variable,
                 .element = element,
                 .capacity = (open ? MOST_INITIAL_BYTES : variable->size) / element,
                 .shape = shape,
                 .dimensions = dimensions };

    if (variable->initial || variable->relocations) {
        parse_fail(p, p->token.line, "a variable with two initial values");
        return;
    }
    if (!open && !make_bytes(&f, variable->size))
        return;
    bool good = take_punct(p, '{') ? fill(&f, 0, 0) : put_value(&f, 0);
    if (!good || !open)
        return;
    variable->size = f.used * element;
    if (f.room < variable->size)
        make_bytes(&f, variable->size);
}
