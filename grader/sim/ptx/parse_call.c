/* parse_call.c - the operands of call, of which all but the target may be missing:
 * call (result, ...), target, (argument, ...), table;
 */
#include "sim/ptx/parse.h"

/* From behind the parenthesis. */
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

/* A function that nobody has declared may be one that the system has. */
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
        return parse_fail(p, line, "a call of what is no function");
    return operand_push(p, target);
}

/* What an indirect call may reach: a table, or an array of addresses. */
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
