/* parse_constant.c - constant expressions: C's operators on 64-bit integers, which are signed
 * unless an operand is unsigned. Floating-point numbers may only have a sign.
 */
#include "sim/ptx/parse.h"

enum { UNARY = 11, ADDITIVE = 9 };

static bool read_level(Parser *p, Constant *value, int level);

/* After an exclamation mark there may be a predicate. */
static bool negates_constant(const Parser *p)
{
    Lexer ahead = p->lexer;
    Token next;

    lex_next(&ahead, &next);
    return next.kind != TOKEN_NAME || name_is(next.text, "WARP_SZ");
}

bool at_constant(const Parser *p)
{
    switch (p->token.kind) {
    case TOKEN_INTEGER:
    case TOKEN_FLOAT:
        return true;
    case TOKEN_NAME:
        return name_is(p->token.text, "WARP_SZ");
    case TOKEN_PUNCT:
        return p->token.punct == '-' || p->token.punct == '+' || p->token.punct == '~' ||
               p->token.punct == '(' || (p->token.punct == '!' && negates_constant(p));
    default:
        return false;
    }
}

/* ---- Two operands ---- */

static int binary_level(int punct)
{
    switch (punct) {
    case PAIR('|', '|'):
        return 1;
    case PAIR('&', '&'):
        return 2;
    case '|':
        return 3;
    case '^':
        return 4;
    case '&':
        return 5;
    case PAIR('=', '='):
    case PAIR('!', '='):
        return 6;
    case '<':
    case '>':
    case PAIR('<', '='):
    case PAIR('>', '='):
        return 7;
    case PAIR('<', '<'):
    case PAIR('>', '>'):
        return 8;
    case '+':
    case '-':
        return 9;
    case '*':
    case '/':
    case '%':
        return 10;
    default:
        return 0;
    }
}

static uint64_t divide(uint64_t a, uint64_t b, bool is_unsigned, bool remainder)
{
    if (is_unsigned)
        return remainder ? a % b : a / b;
    if (b == UINT64_MAX) /* by -1: the smallest number cannot be negated */
        return remainder ? 0 : -a;
    return (uint64_t) (remainder ? (int64_t) a % (int64_t) b : (int64_t) a / (int64_t) b);
}

static uint64_t shift_right(uint64_t a, uint64_t b, bool is_unsigned)
{
    if (is_unsigned)
        return b > 63 ? 0 : a >> b;
    return (uint64_t) ((int64_t) a >> (b > 63 ? 63 : b));
}

static bool less(const Constant *a, const Constant *b, bool is_unsigned)
{
    return is_unsigned ? a->bits < b->bits : (int64_t) a->bits < (int64_t) b->bits;
}

static uint64_t combine(int punct, const Constant *x, const Constant *y, bool is_unsigned)
{
    uint64_t a = x->bits, b = y->bits;

    switch (punct) {
    case PAIR('|', '|'):
        return a || b;
    case PAIR('&', '&'):
        return a && b;
    case '|':
        return a | b;
    case '^':
        return a ^ b;
    case '&':
        return a & b;
    case PAIR('=', '='):
        return a == b;
    case PAIR('!', '='):
        return a != b;
    case '<':
        return less(x, y, is_unsigned);
    case '>':
        return less(y, x, is_unsigned);
    case PAIR('<', '='):
        return !less(y, x, is_unsigned);
    case PAIR('>', '='):
        return !less(x, y, is_unsigned);
    case PAIR('<', '<'):
        return b > 63 ? 0 : a << b;
    case PAIR('>', '>'):
        return shift_right(a, b, x->is_unsigned);
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    default:
        return divide(a, b, is_unsigned, punct == '%');
    }
}

static bool apply(Parser *p, int punct, Constant *value, const Constant *right)
{
    bool is_unsigned = value->is_unsigned || right->is_unsigned;

    if (value->is_float || right->is_float)
        return parse_fail(p, p->token.line, "an operator between floating-point constants");
    if ((punct == '/' || punct == '%') && !right->bits)
        return parse_fail(p, p->token.line, "a constant divided by zero");
    value->bits = combine(punct, value, right, is_unsigned);
    value->is_unsigned = is_unsigned && (binary_level(punct) > 7 || binary_level(punct) < 6);
    return true;
}

/* ---- One operand ---- */

/* (.s64) x or (.u64) x; starts after the parenthesis. */
static bool read_cast(Parser *p, Constant *value)
{
    bool is_unsigned = at_dot(p, ".u64");

    if (!is_unsigned && !at_dot(p, ".s64"))
        return parse_expected(p, ".s64 or .u64");
    advance(p);
    if (!expect_punct(p, ')') || !read_level(p, value, UNARY))
        return false;
    value->is_unsigned = is_unsigned;
    return true;
}

/* Bounds the nesting, and so the recursion. */
static bool enter(Parser *p)
{
    if (p->expression_depth >= MOST_NESTING)
        return parse_fail(p, p->token.line, "a constant expression nested too deeply");
    p->expression_depth++;
    return true;
}

static bool read_conditional(Parser *p, Constant *value)
{
    Constant yes = { 0 }, no = { 0 };

    if (!read_level(p, value, 1))
        return false;
    if (!take_punct(p, '?'))
        return true;
    if (!enter(p))
        return false;
    bool good = read_conditional(p, &yes) && expect_punct(p, ':') && read_conditional(p, &no);
    p->expression_depth--;
    *value = value->bits ? yes : no;
    return good;
}

static bool read_parenthesis(Parser *p, Constant *value)
{
    if (p->token.kind == TOKEN_DOT)
        return read_cast(p, value);
    return read_conditional(p, value) && expect_punct(p, ')');
}

static bool read_sign(Parser *p, Constant *value)
{
    int sign = p->token.punct;

    advance(p);
    if (!read_level(p, value, UNARY))
        return false;
    if (value->is_float && sign == '-')
        value->bits ^= (uint64_t) 1 << 63;
    else if (value->is_float && sign != '+')
        return parse_fail(p, p->token.line, "an operator on a floating-point constant");
    else if (sign == '-')
        value->bits = -value->bits;
    else if (sign == '~')
        value->bits = ~value->bits;
    else if (sign == '!')
        value->bits = !value->bits;
    return true;
}

static bool read_primary(Parser *p, Constant *value)
{
    if (at_punct(p, '-') || at_punct(p, '+') || at_punct(p, '~') || at_punct(p, '!'))
        return read_sign(p, value);
    if (take_punct(p, '('))
        return read_parenthesis(p, value);
    if (p->token.kind == TOKEN_NAME && name_is(p->token.text, "WARP_SZ"))
        *value = (Constant){ .bits = 32 };
    else if (p->token.kind == TOKEN_INTEGER || p->token.kind == TOKEN_FLOAT)
        *value = (Constant){ .is_float = p->token.kind == TOKEN_FLOAT,
                             .single = p->token.single,
                             .is_unsigned = p->token.is_unsigned,
                             .bits = p->token.bits };
    else
        return parse_expected(p, "a constant");
    advance(p);
    return true;
}

/* Reads operators of precedence `level` and above, left to right. */
static bool read_level(Parser *p, Constant *value, int level)
{
    if (!enter(p))
        return false;
    bool good = read_primary(p, value);
    while (good && p->token.kind == TOKEN_PUNCT && level < UNARY) {
        int punct = p->token.punct, above = binary_level(punct);
        Constant right = { 0 };
        if (!above || above < level)
            break;
        advance(p);
        good = read_level(p, &right, above + 1) && apply(p, punct, value, &right);
    }
    p->expression_depth--;
    return good;
}

bool read_constant(Parser *p, Constant *value)
{
    *value = (Constant){ 0 };
    return read_conditional(p, value);
}

/* ---- Integers ---- */

bool read_offset(Parser *p, int64_t *offset)
{
    uint64_t sum = 0;

    while (at_punct(p, '+') || at_punct(p, '-')) {
        bool minus = at_punct(p, '-');
        Constant value = { 0 };
        advance(p);
        if (!read_level(p, &value, ADDITIVE + 1))
            return false;
        if (value.is_float)
            return parse_fail(p, p->token.line, "an offset that is not an integer");
        sum = minus ? sum - value.bits : sum + value.bits;
    }
    *offset = (int64_t) sum;
    return true;
}

bool read_count(Parser *p, uint64_t most, const char *what, uint64_t *count)
{
    Constant value;
    int line = p->token.line;

    *count = 0;
    if (!read_constant(p, &value))
        return false;
    if (value.is_float || value.bits > most)
        return parse_fail(p, line, "%s must be a number from 0 to %llu", what,
                          (unsigned long long) most);
    *count = value.bits;
    return true;
}
