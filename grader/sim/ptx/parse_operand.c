/* parse_operand.c - operands: registers, constants, addresses, vectors. */
#include "sim/ptx/parse.h"

#include <ctype.h>
#include <string.h>

bool operand_push(Parser *p, Operand operand)
{
    if (!parse_room(p, &p->operands, p->operand_count, &p->operands_room, sizeof *p->operands,
                    MOST_OPERANDS, "operands"))
        return false;
    p->operands[p->operand_count++] = operand;
    return true;
}

/* ---- Names ---- */

/* The index in x y z w or in r g b a; -1: not a component. */
static int component_of(Name dotted)
{
    static const char letters[] = "xyzwrgba";
    const char *at = dotted.length == 2 ? memchr(letters, dotted.at[1], 8) : NULL;

    return at ? (int) (at - letters) % 4 : -1;
}

static bool take_component(Parser *p, int count, int *component)
{
    if (p->token.kind != TOKEN_DOT)
        return false;
    *component = component_of(p->token.text);
    if (*component < 0 || *component >= count)
        return parse_expected(p, "a component");
    advance(p);
    return true;
}

/* %tid.x; the fourth component of such registers is 0. */
static bool special_operand(Parser *p, const Symbol *symbol, Operand *operand)
{
    operand->kind = OPERAND_SPECIAL;
    operand->special = (Special) symbol->index;
    if (symbol->count && take_component(p, 4, &operand->component) && operand->component == 3)
        operand->kind = OPERAND_INTEGER;
    return !p->failed;
}

static bool range_operand(Parser *p, const Symbol *symbol, int number, Operand *operand)
{
    if (symbol->index < 0) {
        operand->kind = OPERAND_SPECIAL; /* see add_special_range */
        operand->special = (Special) (-symbol->index - 1);
        operand->component = number;
        return true;
    }
    operand->kind = OPERAND_REGISTER;
    operand->index = symbol_register(p, symbol, number, operand->name);
    return !p->failed;
}

/* A register of .reg .v4: one of its components, or all of them in braces. */
static bool vector_operand(Parser *p, const Symbol *symbol, Operand *operand)
{
    int component, count = symbol->count;

    if (take_component(p, count, &component))
        return range_operand(p, symbol, component, operand);
    if (p->failed)
        return false;
    operand->kind = OPERAND_VECTOR;
    operand->count = count;
    operand->first = p->module->functions[p->function].operand_count;
    for (int i = 0; i < count; i++) {
        Operand element = { .name = operand->name };
        if (!range_operand(p, symbol, i, &element) || !operand_add(p, element))
            return false;
    }
    return true;
}

/* A long name with % that is not declared is a special register that the simulator does not know:
 * only functions that use it cannot run. Registers of functions have short names. */
static bool is_like_special(Name name)
{
    enum { SHORTEST = 5 };

    return name.length > SHORTEST && name.at[0] == '%' && islower((unsigned char) name.at[1]) &&
           islower((unsigned char) name.at[2]) && islower((unsigned char) name.at[3]);
}

static bool unknown_special(Parser *p, Name name, Operand *operand)
{
    int component;

    *operand = (Operand){ .kind = OPERAND_SPECIAL, .name = name, .special = SPECIAL_UNKNOWN };
    if (p->token.kind == TOKEN_DOT)
        take_component(p, 4, &component);
    return !p->failed;
}

bool named_operand(Parser *p, Operand *operand)
{
    static const uint8_t kinds[] = {
        [SYMBOL_REGISTER] = OPERAND_REGISTER, [SYMBOL_VARIABLE] = OPERAND_VARIABLE,
        [SYMBOL_FUNCTION] = OPERAND_FUNCTION, [SYMBOL_LABEL] = OPERAND_LABEL,
        [SYMBOL_TABLE] = OPERAND_TABLE,
    };
    Name name = p->token.text;
    int number = 0, line = p->token.line;
    const Symbol *symbol = symbol_find(p, name, &number);

    if (!symbol && !is_like_special(name))
        return parse_fail_name(p, line, name, "is not declared");
    advance(p);
    if (!symbol)
        return unknown_special(p, name, operand);
    *operand = (Operand){ .name = name };
    switch (symbol->kind) {
    case SYMBOL_SPECIAL:
        return special_operand(p, symbol, operand);
    case SYMBOL_RANGE:
        return range_operand(p, symbol, number, operand);
    case SYMBOL_VECTOR:
        return vector_operand(p, symbol, operand);
    default:
        operand->kind = (OperandKind) kinds[symbol->kind];
        operand->index = symbol->index;
        return !p->failed;
    }
}

bool target_operand(Parser *p, OperandKind kind)
{
    Name name;

    return expect_name(p, &name) &&
           operand_push(p, (Operand){ .kind = kind, .index = -1, .name = name });
}

/* ---- Constants, vectors, addresses ---- */

static bool constant_operand(Parser *p, Operand *operand)
{
    const char *begin = p->token.text.at;
    Constant value;

    if (!read_constant(p, &value))
        return false;
    *operand = (Operand){ .kind = value.is_float ? OPERAND_FLOAT : OPERAND_INTEGER,
                          .single = value.single,
                          .bits = value.bits,
                          .name = { begin, (int) (p->token.text.at - begin) } };
    return true;
}

static bool is_discard(const Parser *p)
{
    return p->token.kind == TOKEN_NAME && name_is(p->token.text, "_");
}

/* Operands that may occur both alone and in braces. */
static bool simple_operand(Parser *p, Operand *operand)
{
    if (at_constant(p))
        return constant_operand(p, operand);
    if (is_discard(p)) {
        *operand = (Operand){ .kind = OPERAND_DISCARD, .name = p->token.text };
        advance(p);
        return true;
    }
    if (p->token.kind != TOKEN_NAME)
        return parse_expected(p, "an operand");
    return named_operand(p, operand);
}

static bool may_be_element(OperandKind kind)
{
    return kind == OPERAND_REGISTER || kind == OPERAND_INTEGER || kind == OPERAND_FLOAT ||
           kind == OPERAND_SPECIAL || kind == OPERAND_DISCARD;
}

/* Starts after the opening brace. */
static bool braces_operand(Parser *p, Operand *operand)
{
    const Function *f = &p->module->functions[p->function];

    *operand = (Operand){ .kind = OPERAND_VECTOR, .first = f->operand_count };
    do {
        Operand element;
        int line = p->token.line;
        if (!simple_operand(p, &element))
            return false;
        if (!may_be_element(element.kind))
            return parse_fail(p, line, "a vector element that is not a register or constant");
        if (operand->count == MOST_VECTOR)
            return parse_fail(p, line, "a vector of more than %d elements", MOST_VECTOR);
        if (!operand_add(p, element))
            return false;
        if (!operand->count++)
            operand->name.at = element.name.at;
    } while (take_punct(p, ','));
    operand->name.length = (int) (p->token.text.at - operand->name.at);
    return expect_punct(p, '}');
}

/* [texture, {x, y}]: the coordinates become an operand of their own, as a sampler before them
 * would. Starts after the comma. */
static bool coordinate_operands(Parser *p, Operand address)
{
    if (!operand_push(p, address))
        return false;
    do {
        Operand operand;
        if (take_punct(p, '{') ? !braces_operand(p, &operand) : !simple_operand(p, &operand))
            return false;
        if (!operand_push(p, operand))
            return false;
    } while (take_punct(p, ','));
    return expect_punct(p, ']');
}

/* Starts after the opening bracket. Returns with the operand, and ']' or ',' as the next token. */
static bool address_operand(Parser *p, Operand *operand)
{
    int line = p->token.line;
    int64_t offset = 0;

    if (!simple_operand(p, operand))
        return false;
    OperandKind kind = operand->kind;
    if (kind != OPERAND_REGISTER && kind != OPERAND_VARIABLE && kind != OPERAND_INTEGER)
        return parse_fail(p, line, "an address that is not a register, variable or number");
    if (kind == OPERAND_INTEGER)
        operand->index = -1;
    if (!read_offset(p, &offset))
        return false;
    operand->kind = OPERAND_ADDRESS;
    operand->is_register = kind == OPERAND_REGISTER;
    operand->offset = (int64_t) ((uint64_t) offset + operand->bits);
    operand->bits = 0;
    return true;
}

/* Starts after the exclamation mark. */
static bool negated_operand(Parser *p, Operand *operand)
{
    int line = p->token.line;

    if (p->token.kind != TOKEN_NAME)
        return parse_expected(p, "a predicate");
    if (!named_operand(p, operand))
        return false;
    operand->negated = true;
    return operand->kind == OPERAND_REGISTER ||
           parse_fail(p, line, "only a predicate can be negated");
}

bool read_operand(Parser *p)
{
    Operand operand;
    bool good;

    if (take_punct(p, '[')) {
        if (!address_operand(p, &operand))
            return false;
        if (p->has_coordinates && take_punct(p, ','))
            return coordinate_operands(p, operand);
        return expect_punct(p, ']') && operand_push(p, operand);
    }
    if (take_punct(p, '{'))
        good = braces_operand(p, &operand);
    else if (at_punct(p, '!') && !at_constant(p) && take_punct(p, '!'))
        good = negated_operand(p, &operand);
    else
        good = simple_operand(p, &operand) &&
               (operand.kind != OPERAND_VARIABLE || read_offset(p, &operand.offset));
    return good && operand_push(p, operand);
}

/* ---- All operands of an instruction ---- */

static bool read_plain_operands(Parser *p)
{
    do {
        if (!read_operand(p) || (take_punct(p, '|') && !read_operand(p)))
            return false;
    } while (take_punct(p, ','));
    return true;
}

/* Elements of vectors are already in place; the operands follow them, contiguously. */
static void place_operands(Parser *p, Instruction *in)
{
    Function *f = &p->module->functions[p->function];

    in->first = f->operand_count;
    in->count = p->operand_count;
    for (int i = 0; i < p->operand_count && !p->failed; i++) {
        const Operand *operand = &p->operands[i];
        bool open = operand->kind == OPERAND_LABEL || operand->kind == OPERAND_TABLE;
        if (open && operand->index < 0)
            pending_add(p, (Pending){ operand->name, in->ptx_line, f->operand_count, -1, -1 });
        operand_add(p, *operand);
    }
}

/* Drops the last operand of an instruction with .L2::cache_hint: the cache policy. */
static void drop_policy(Parser *p, const Instruction *in)
{
    static const char hint[] = ".L2::cache_hint";

    if (p->operand_count > 1 &&
        memmem(in->text.at, (size_t) in->text.length, hint, sizeof hint - 1))
        p->operand_count--;
}

void read_operands(Parser *p, Instruction *in)
{
    p->operand_count = 0;
    p->has_coordinates =
        in->op == OP_tex || in->op == OP_tld4 || in->op == OP_suld || in->op == OP_sust;
    if (in->op == OP_bra)
        target_operand(p, OPERAND_LABEL);
    else if (in->op == OP_call)
        read_call(p, in);
    else if (in->op == OP_brx && (!read_operand(p) || !expect_punct(p, ',')))
        return;
    else if (in->op == OP_brx)
        target_operand(p, OPERAND_TABLE);
    else if (!at_punct(p, ';'))
        read_plain_operands(p);
    if (p->failed)
        return;
    drop_policy(p, in);
    place_operands(p, in);
}

/* ---- call (result, ...), target, (argument, ...), table; all but the target may be missing ----
 */

/* Starts after the opening parenthesis. */
static bool read_list(Parser *p)
{
    if (take_punct(p, ')'))
        return true;
    do {
        if (!read_operand(p))
            return false;
    } while (take_punct(p, ','));
    return expect_punct(p, ')');
}

/* A function without a declaration may be a system call. */
static bool read_target(Parser *p)
{
    Operand target = { .kind = OPERAND_FUNCTION, .index = -1, .name = p->token.text };
    int number, line = p->token.line;

    if (p->token.kind != TOKEN_NAME)
        return parse_expected(p, "a function");
    bool is_declared = symbol_find(p, p->token.text, &number);
    if (is_declared || *p->token.text.at == '%')
        named_operand(p, &target);
    else
        advance(p);
    if (target.kind != OPERAND_FUNCTION && target.kind != OPERAND_REGISTER)
        return parse_fail(p, line, "a call of something that is not a function");
    return operand_push(p, target);
}

/* The possible targets of an indirect call: a table, or an array of addresses. */
static bool read_reach(Parser *p)
{
    int number;
    const Symbol *symbol =
        p->token.kind == TOKEN_NAME ? symbol_find(p, p->token.text, &number) : NULL;

    if (symbol && symbol->kind == SYMBOL_VARIABLE)
        return read_operand(p);
    return target_operand(p, OPERAND_TABLE);
}

void read_call(Parser *p, Instruction *in)
{
    if (take_punct(p, '(')) {
        if (!read_list(p) || !expect_punct(p, ','))
            return;
        in->call_returns = p->operand_count;
    }
    if (!read_target(p) || !take_punct(p, ','))
        return;
    if (take_punct(p, '(') && (!read_list(p) || !take_punct(p, ',')))
        return;
    read_reach(p);
}
