/* parse_body.c - the body of a function: scopes, labels, instructions. */
#include "sim/ptx/parse.h"
#include "sim/ptx/roles.h"

#include <stdlib.h>

/* ---- Scopes, and names used before their declaration ---- */

bool scope_open(Parser *p)
{
    if (p->depth >= MOST_NESTING)
        return parse_fail(p, p->token.line, "more than %d nested blocks { }", MOST_NESTING);
    p->scopes[p->depth++] = (Scope){ p->symbols.count, p->pending_count };
    return true;
}

void pending_add(Parser *p, Pending pending)
{
    if (parse_room(p, &p->pending, p->pending_count, &p->pending_room, sizeof *p->pending, 1 << 26,
                   "labels"))
        p->pending[p->pending_count++] = pending;
}

static bool settle(Parser *p, const Pending *pending, const Symbol *symbol)
{
    Function *f = &p->module->functions[p->function];
    bool wants_table = pending->operand >= 0 && f->operands[pending->operand].kind == OPERAND_TABLE;

    if (wants_table != (symbol->kind == SYMBOL_TABLE))
        return parse_fail(p, pending->line, "'%.*s' is not a %s", symbol->name.length,
                          symbol->name.at, wants_table ? "table" : "label");
    if (pending->operand >= 0)
        f->operands[pending->operand].index = symbol->index;
    else
        f->tables[pending->table].entries[pending->entry] = symbol->index;
    return true;
}

/* A name can refer to a label of an outer scope, but only if this scope ended without declaring it.
 */
static void settle_pending(Parser *p, int first)
{
    int kept = first;

    for (int i = first; i < p->pending_count && !p->failed; i++) {
        const Pending *pending = &p->pending[i];
        const Symbol *symbol = symbol_find_target(p, pending->name);
        if (symbol && symbol->depth == p->depth)
            settle(p, pending, symbol);
        else if (p->depth > 1)
            p->pending[kept++] = *pending;
        else
            parse_fail_name(p, pending->line, pending->name, "is not declared");
    }
    p->pending_count = kept;
}

static void scope_close(Parser *p)
{
    const Scope *scope = &p->scopes[p->depth - 1];

    settle_pending(p, scope->first_pending);
    symbols_drop(p, scope->first_symbol);
    p->depth--;
}

/* ---- Instructions ---- */

Instruction *instruction_add(Parser *p)
{
    Function *f = &p->module->functions[p->function];

    if (p->instructions >= MOST_INSTRUCTIONS) {
        parse_fail(p, p->token.line, "more than %d instructions", MOST_INSTRUCTIONS);
        return NULL;
    }
    if (!parse_room(p, &f->instructions, f->instruction_count, &p->instruction_room,
                    sizeof *f->instructions, MOST_INSTRUCTIONS, "instructions"))
        return NULL;
    p->instructions++;
    Instruction *in = &f->instructions[f->instruction_count++];
    *in = (Instruction){ .vector = 1, .guard = -1 };
    return in;
}

Operand *operand_add(Parser *p, Operand operand)
{
    Function *f = &p->module->functions[p->function];

    if (!parse_room(p, &f->operands, f->operand_count, &p->operand_room, sizeof *f->operands,
                    1 << 26, "operands"))
        return NULL;
    f->operands[f->operand_count] = operand;
    return &f->operands[f->operand_count++];
}

/* @p or @!p; starts after the @. */
static bool read_guard(Parser *p, Instruction *in)
{
    const Function *f = &p->module->functions[p->function];
    Operand operand;
    int line = p->token.line;

    in->guard_negated = take_punct(p, '!');
    if (p->token.kind != TOKEN_NAME)
        return parse_expected(p, "a predicate");
    if (!named_operand(p, &operand))
        return false;
    if (operand.kind != OPERAND_REGISTER || f->registers[operand.index].type != TYPE_PRED)
        return parse_fail_name(p, line, operand.name, "is not a predicate");
    in->guard = operand.index;
    return true;
}

static void read_instruction(Parser *p)
{
    Instruction in = { .guard = -1, .line = p->lines.current + 1 };

    if (take_punct(p, '@') && !read_guard(p, &in))
        return;
    in.ptx_line = p->token.line;
    if (p->token.kind != TOKEN_NAME) {
        parse_expected(p, "an instruction");
        return;
    }
    read_opcode(p, &in);
    if (in.op == OP_unknown)
        skip_to_semicolon(p);
    else
        read_operands(p, &in);
    expect_punct(p, ';');
    if (in.op == OP_ret)
        store_results(p, &in);
    if (in.op == OP_call)
        store_arguments(p, &in);
    in.roles = roles_of(&in);
    Instruction *added = instruction_add(p);
    if (added)
        *added = in;
    if (in.op == OP_call)
        load_results(p, &in);
}

/* ---- Statements ---- */

static void read_label(Parser *p, Name name)
{
    const Function *f = &p->module->functions[p->function];
    int line = p->token.line;

    advance(p);
    if (p->token.kind == TOKEN_DOT && read_table(p, name))
        return;
    if (symbol_in_scope(p, name))
        parse_fail_name(p, line, name, "is declared twice");
    else
        symbol_add(p, name, SYMBOL_LABEL, f->instruction_count);
}

static void read_directive(Parser *p)
{
    Space space;

    if (read_common_directive(p))
        return;
    if (take_dot(p, ".reg")) {
        read_registers(p);
    } else if (space_word(p, p->token.text, &space)) {
        advance(p);
        read_variables(p, space, (Linkage){ 0 });
    } else {
        skip_directive(p);
    }
}

/* A name may be a label or an opcode; the next character decides. */
static bool is_label(const Parser *p)
{
    Lexer ahead = p->lexer;
    Token next;

    if (*ahead.at == ':')
        return true;
    if (*ahead.at == '.' || *ahead.at == ';')
        return false;
    lex_next(&ahead, &next);
    return next.kind == TOKEN_PUNCT && next.punct == ':';
}

static void read_statement(Parser *p)
{
    if (p->token.kind == TOKEN_DOT) {
        read_directive(p);
    } else if (p->token.kind == TOKEN_NAME && is_label(p)) {
        Name name = p->token.text;
        advance(p);
        read_label(p, name);
    } else if (!take_punct(p, ';')) {
        read_instruction(p);
    }
}

void read_body(Parser *p)
{
    int line = p->token.line, bottom = p->depth;

    advance(p);
    while (p->token.kind != TOKEN_END) {
        if (take_punct(p, '{')) {
            scope_open(p);
        } else if (take_punct(p, '}')) {
            if (p->depth == bottom)
                store_results(p, NULL);
            scope_close(p);
            if (p->depth < bottom)
                return;
        } else {
            read_statement(p);
        }
    }
    parse_fail(p, line, "a function without a closing '}'");
}
