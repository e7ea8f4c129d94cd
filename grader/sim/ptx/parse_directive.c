/* parse_directive.c - declarations of variables, parameters and registers. */
#include "sim/ptx/parse.h"

/* The words between the state space and the name of a variable. */
typedef struct Spec {
    PtxType type;
    int vector, align;
    bool is_managed;
} Spec;

static void read_align(Parser *p, int *align)
{
    uint64_t value;
    int line = p->token.line;

    if (!read_count(p, MOST_ALIGN, "an alignment", &value))
        return;
    if (!value || (value & (value - 1)))
        parse_fail(p, line, "an alignment must be a power of two");
    *align = (int) value;
}

/* .attribute(.managed), .attribute(.unified(1, 2)) */
static void read_attribute(Parser *p, Spec *spec)
{
    int depth = 0;

    do {
        depth += at_punct(p, '(');
        depth -= at_punct(p, ')');
        spec->is_managed |= at_dot(p, ".managed");
        advance(p);
    } while (depth > 0 && p->token.kind != TOKEN_END);
}

/* .ptr .global .align 16: describes what a parameter points to. Not used. */
static void skip_pointer(Parser *p)
{
    Space space;
    int align;

    if (p->token.kind == TOKEN_DOT && space_word(p, p->token.text, &space))
        advance(p);
    if (take_dot(p, ".align"))
        read_align(p, &align);
}

/* Unknown types (.texref) are treated as handles. */
static void read_type(Parser *p, Spec *spec)
{
    PtxType type = type_word(p, p->token.text);

    if (type == TYPE_NONE) {
        parse_warn(p, p->token.line, p->token.text);
        type = spec->type == TYPE_NONE ? TYPE_B64 : spec->type;
    }
    spec->type = type;
    advance(p);
}

static bool read_spec(Parser *p, Spec *spec)
{
    *spec = (Spec){ .vector = 1 };
    while (p->token.kind == TOKEN_DOT) {
        if (take_dot(p, ".align"))
            read_align(p, &spec->align);
        else if (take_dot(p, ".attribute"))
            read_attribute(p, spec);
        else if (take_dot(p, ".ptr"))
            skip_pointer(p);
        else if (take_dot(p, ".v2"))
            spec->vector = 2;
        else if (take_dot(p, ".v4"))
            spec->vector = 4;
        else
            read_type(p, spec);
    }
    return spec->type != TYPE_NONE || parse_expected(p, "a type");
}

/* ---- The shape: name[2][3] ---- */

typedef struct ArrayShape {
    size_t of[MOST_DIMENSIONS + 1]; /* the last dimension may be a vector */
    int dimensions;
    size_t element; /* bytes */
    size_t size;    /* 0: the first dimension is open */
} ArrayShape;

static bool read_dimension(Parser *p, ArrayShape *shape)
{
    uint64_t value = 0;

    if (shape->dimensions == MOST_DIMENSIONS)
        return parse_fail(p, p->token.line, "more than %d dimensions", MOST_DIMENSIONS);
    if (at_punct(p, ']') && shape->dimensions)
        return parse_fail(p, p->token.line, "only the first dimension may be left empty");
    if (!at_punct(p, ']') && !read_count(p, MOST_VARIABLE_BYTES, "a dimension", &value))
        return false;
    shape->of[shape->dimensions++] = value;
    return expect_punct(p, ']');
}

static bool read_shape(Parser *p, const Spec *spec, ArrayShape *shape)
{
    int line = p->token.line;

    *shape = (ArrayShape){ .element = (size_t) type_size(spec->type) };
    if (!shape->element)
        return parse_fail(p, line, "a variable of this type has no size");
    while (take_punct(p, '['))
        if (!read_dimension(p, shape))
            return false;
    if (spec->vector > 1)
        shape->of[shape->dimensions++] = (size_t) spec->vector;
    shape->size = shape->element;
    for (int i = 0; i < shape->dimensions; i++) {
        if (shape->of[i] && shape->size > MOST_VARIABLE_BYTES / shape->of[i])
            return parse_fail(p, line, "a variable of more than 2^40 bytes");
        shape->size *= shape->of[i];
    }
    return true;
}

static int align_of(const Spec *spec)
{
    return spec->align ? spec->align : type_size(spec->type) * spec->vector;
}

/* ---- Variables ---- */

static int variable_add(Parser *p, Variable variable)
{
    Module *module = p->module;

    if (!parse_room(p, &module->variables, module->variable_count, &p->variable_room,
                    sizeof *module->variables, MOST_VARIABLES, "variables"))
        return -1;
    module->variables[module->variable_count] = variable;
    return module->variable_count++;
}

/* Several .extern and .common declarations of a name declare one variable. Returns -1 on failure.
 */
static int merge(Parser *p, const Symbol *symbol, const Variable *variable, Linkage linkage)
{
    Variable *old;

    if (symbol->kind != SYMBOL_VARIABLE)
        goto twice;
    old = &p->module->variables[symbol->index];
    if (p->depth || old->space != variable->space)
        goto twice;
    if (linkage.is_extern)
        return symbol->index;
    if (!old->is_extern && linkage.is_weak && old->size == variable->size)
        return symbol->index;
    if ((!old->is_extern && !linkage.is_common) || old->initial)
        goto twice;
    *old = *variable;
    return symbol->index;

twice:
    parse_fail_name(p, p->token.line, variable->name, "is declared twice");
    return -1;
}

static int declare(Parser *p, Variable variable, Linkage linkage)
{
    const Symbol *known = symbol_in_scope(p, variable.name);

    if (known)
        return merge(p, known, &variable, linkage);
    int index = variable_add(p, variable);
    if (index < 0 || !symbol_add(p, variable.name, SYMBOL_VARIABLE, index))
        return -1;
    return index;
}

/* Another text has defined the same weak variable; its values are skipped here. */
static bool is_defined(const Parser *p, Name name)
{
    const Symbol *known = symbol_in_scope(p, name);

    return known && known->kind == SYMBOL_VARIABLE && !p->module->variables[known->index].is_extern;
}

static void skip_initial(Parser *p)
{
    if (at_punct(p, '{'))
        skip_braces(p);
    else
        while (p->token.kind != TOKEN_END && !at_punct(p, ';') && !at_punct(p, ','))
            advance(p);
}

/* Variables that all blocks share belong to the module, wherever they are declared. */
static int owner_of(const Parser *p, Space space)
{
    return space == SPACE_GLOBAL || space == SPACE_CONST ? -1 : p->function;
}

static void read_variable(Parser *p, Space space, const Spec *spec, Linkage linkage)
{
    ArrayShape shape;
    Name name;

    if (!expect_name(p, &name) || !read_shape(p, spec, &shape))
        return;
    Variable variable = { .name = name,
                          .space = space,
                          .type = spec->type,
                          .size = shape.size,
                          .align = align_of(spec),
                          .is_extern = linkage.is_extern,
                          .is_visible = linkage.is_visible || linkage.is_weak || linkage.is_common,
                          .is_managed = spec->is_managed,
                          .function = owner_of(p, space) };
    const bool again = linkage.is_weak && is_defined(p, name);
    int index = declare(p, variable, linkage);
    if (index >= 0 && again && take_punct(p, '='))
        skip_initial(p);
    else if (index >= 0 && take_punct(p, '='))
        read_initial(p, &p->module->variables[index], shape.element, shape.of, shape.dimensions);
}

void read_variables(Parser *p, Space space, Linkage linkage)
{
    Spec spec;
    uint64_t bank;

    if (space == SPACE_CONST && take_punct(p, '[') &&
        (!read_count(p, 10, "a bank", &bank) || !expect_punct(p, ']')))
        return;
    if (!read_spec(p, &spec))
        return;
    do
        read_variable(p, space, &spec, linkage);
    while (take_punct(p, ','));
    expect_punct(p, ';');
}

/* ---- Parameters ---- */

static void read_parameter(Parser *p)
{
    enum { MOST_BYTES = 1 << 20 };
    bool is_register = take_dot(p, ".reg");
    int line = p->token.line;
    Spec spec;
    ArrayShape shape;
    Name name;

    if (!is_register && !take_dot(p, ".param")) {
        parse_expected(p, "a parameter");
        return;
    }
    if (!read_spec(p, &spec) || !expect_name(p, &name) || !read_shape(p, &spec, &shape))
        return;
    if (shape.size > MOST_BYTES) {
        parse_fail(p, line, "a parameter of more than %d bytes", MOST_BYTES);
        return;
    }
    if (!parse_room(p, &p->declarations, p->declaration_count, &p->declaration_room,
                    sizeof *p->declarations, 2 * MOST_PARAMETERS, "parameters"))
        return;
    p->declarations[p->declaration_count++] = (Declaration){ .name = name,
                                                             .type = spec.type,
                                                             .size = shape.size,
                                                             .align = align_of(&spec),
                                                             .is_register = is_register };
}

int read_parameters(Parser *p)
{
    int first = p->declaration_count;

    if (!expect_punct(p, '(') || take_punct(p, ')'))
        return 0;
    do
        read_parameter(p);
    while (take_punct(p, ','));
    expect_punct(p, ')');
    return p->declaration_count - first;
}

/* ---- Registers ---- */

/* %r<44>; starts after the <. */
static bool read_range(Parser *p, int *count)
{
    if (p->token.kind != TOKEN_INTEGER)
        return parse_expected(p, "a number");
    *count = p->token.bits < 1 << 30 ? (int) p->token.bits : 1 << 30;
    advance(p);
    return expect_punct(p, '>');
}

static void read_register(Parser *p, const Spec *spec)
{
    SymbolKind kind = spec->vector > 1 ? SYMBOL_VECTOR : SYMBOL_REGISTER;
    int count = spec->vector, line = p->token.line;
    Name name;

    if (!expect_name(p, &name))
        return;
    if (take_punct(p, '<')) {
        if (!read_range(p, &count))
            return;
        if (kind == SYMBOL_VECTOR) {
            parse_fail(p, line, "a range of vector registers is not simulated");
            return;
        }
        kind = SYMBOL_RANGE;
    }
    if (symbol_in_scope(p, name)) {
        parse_fail_name(p, line, name, "is declared twice");
        return;
    }
    int index = kind == SYMBOL_REGISTER ? register_add(p, name, spec->type) : ++p->symbols.ranges;
    Symbol *symbol = p->failed ? NULL : symbol_add(p, name, kind, index);
    if (symbol) {
        symbol->count = count;
        symbol->type = spec->type;
    }
}

void read_registers(Parser *p)
{
    Spec spec;

    if (p->function < 0) {
        parse_fail(p, p->token.line, "registers outside a function are not simulated");
        return;
    }
    if (!read_spec(p, &spec))
        return;
    do
        read_register(p, &spec);
    while (take_punct(p, ','));
    expect_punct(p, ';');
}
