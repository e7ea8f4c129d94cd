/* lex.c - splits PTX text into tokens. The text ends with a 0, so looking ahead by one character is
 * always safe; no token extends past the 0.
 */
#include "sim/ptx/lex.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* ---- Characters. ctype.h depends on the locale, which the program may have set ---- */

enum { DIGIT = 1, LETTER = 2, HEX = 4, START = 8 };

static const uint8_t classes[256] = {
    ['0' ... '9'] = DIGIT | HEX, ['a' ... 'f'] = LETTER | HEX,
    ['g' ... 'z'] = LETTER,      ['A' ... 'F'] = LETTER | HEX,
    ['G' ... 'Z'] = LETTER,      ['_'] = START | LETTER,
    ['$'] = START | LETTER,      ['%'] = START,
};

static bool is(char c, int class_)
{
    return classes[(unsigned char) c] & class_;
}

static int hex_value(char c)
{
    return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

static bool bad(Lexer *lexer, Token *token, const char *what)
{
    token->kind = TOKEN_BAD;
    token->bad = what;
    lexer->at = token->text.at;
    return false;
}

/* ---- Between tokens ---- */

static void skip_line(Lexer *lexer)
{
    while (*lexer->at && *lexer->at != '\n')
        lexer->at++;
}

/* Returns false if the comment is not terminated. */
static bool skip_comment(Lexer *lexer)
{
    const char *at = lexer->at + 2;
    int line = lexer->line;

    for (; *at && !(at[0] == '*' && at[1] == '/'); at++)
        line += *at == '\n';
    if (!*at)
        return false;
    lexer->at = at + 2;
    lexer->line = line;
    return true;
}

static bool skip_blanks(Lexer *lexer)
{
    for (;; lexer->at++) {
        char c = *lexer->at;
        if (c == '\n') {
            lexer->line++;
        } else if (c == '#' || (c == '/' && lexer->at[1] == '/')) {
            skip_line(lexer);
            lexer->at--;
        } else if (c == '/' && lexer->at[1] == '*') {
            if (!skip_comment(lexer))
                return false;
            lexer->at--;
        } else if (c != ' ' && c != '\t' && c != '\r' && c != '\v' && c != '\f') {
            return true;
        }
    }
}

/* ---- Numbers ---- */

/* Reads a float given by its bits: 0f3F800000 or 0d3FF0000000000000. */
static bool read_bits(Lexer *lexer, Token *token, int digits)
{
    const char *at = lexer->at + 2;
    uint64_t bits = 0;
    int count = 0;

    for (; count < digits && is(at[count], HEX); count++)
        bits = bits << 4 | (uint64_t) hex_value(at[count]);
    if (count < digits || is(at[count], LETTER | DIGIT))
        return bad(lexer, token, "a floating-point constant with a wrong number of digits");
    if (digits == 8) {
        uint32_t low = (uint32_t) bits;
        float single;
        memcpy(&single, &low, sizeof single);
        double wide = single;
        memcpy(&bits, &wide, sizeof bits);
    }
    token->kind = TOKEN_FLOAT;
    token->single = digits == 8;
    token->bits = bits;
    lexer->at = at + count;
    return true;
}

/* Reads 1.5 or 2e10 with the C library, in the C locale. */
static bool read_decimal(Lexer *lexer, Token *token)
{
    char text[64], *end = text;
    size_t length = 0;
    double value = 0;

    while (length < sizeof text - 1 && (is(lexer->at[length], DIGIT) || lexer->at[length] == '.' ||
                                        (lexer->at[length] | 32) == 'e' ||
                                        (length && (lexer->at[length - 1] | 32) == 'e' &&
                                         (lexer->at[length] == '-' || lexer->at[length] == '+'))))
        length++;
    memcpy(text, lexer->at, length);
    text[length] = 0;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t) 0);
    if (c) {
        value = strtod_l(text, &end, c);
        freelocale(c);
    }
    if (end == text || *end || is(lexer->at[length], LETTER | DIGIT))
        return bad(lexer, token, "a malformed number");
    token->kind = TOKEN_FLOAT;
    memcpy(&token->bits, &value, sizeof value);
    lexer->at += length;
    return true;
}

static int digit_of(char c, int base)
{
    int value = is(c, HEX) ? hex_value(c) : 99;

    return value < base ? value : -1;
}

static bool read_integer(Lexer *lexer, Token *token, int base)
{
    const char *at = lexer->at, *first = at;
    uint64_t value = 0;
    bool fits = true;

    for (int digit; (digit = digit_of(*at, base)) >= 0; at++) {
        fits &= value <= (UINT64_MAX - (uint64_t) digit) / (uint64_t) base;
        value = value * (uint64_t) base + (uint64_t) digit;
    }
    token->is_unsigned = *at == 'U' || value > INT64_MAX;
    bool empty = at == first;
    at += *at == 'U';
    if (empty || is(*at, LETTER | DIGIT))
        return bad(lexer, token, "a malformed number");
    if (!fits)
        return bad(lexer, token, "a number of more than 64 bits");
    token->kind = TOKEN_INTEGER;
    token->bits = value;
    lexer->at = at;
    return true;
}

static bool read_number(Lexer *lexer, Token *token)
{
    const char *at = lexer->at;
    int second = at[0] == '0' ? at[1] | 32 : 0;

    if (second == 'f' || second == 'd')
        return read_bits(lexer, token, second == 'f' ? 8 : 16);
    if (second == 'x' || second == 'b') {
        lexer->at += 2;
        return read_integer(lexer, token, second == 'x' ? 16 : 2);
    }
    while (is(*at, DIGIT))
        at++;
    if (*at == '.' || (*at | 32) == 'e')
        return read_decimal(lexer, token);
    return read_integer(lexer, token, lexer->at[0] == '0' && at - lexer->at > 1 ? 8 : 10);
}

/* ---- Words ---- */

static void read_name(Lexer *lexer, Token *token)
{
    const char *at = lexer->at + 1;

    while (is(*at, LETTER | DIGIT))
        at++;
    token->kind = TOKEN_NAME;
    lexer->at = at;
}

/* .shared::cta is one word; the colon of a label stands alone. */
static void read_dotted(Lexer *lexer, Token *token)
{
    const char *at = lexer->at + 1;

    while (is(*at, LETTER | DIGIT) ||
           (at[0] == ':' && at[1] == ':' && is(at[2], LETTER | DIGIT) && ++at))
        at++;
    token->kind = TOKEN_DOT;
    lexer->at = at;
}

static bool read_string(Lexer *lexer, Token *token)
{
    const char *at = lexer->at + 1;

    for (; *at && *at != '"' && *at != '\n'; at++)
        at += at[0] == '\\' && at[1] && at[1] != '\n';
    if (*at != '"')
        return bad(lexer, token, "an unterminated string");
    token->kind = TOKEN_STRING;
    token->text = (Name){ lexer->at + 1, (int) (at - lexer->at - 1) };
    lexer->at = at + 1;
    return true;
}

static void read_punct(Lexer *lexer, Token *token)
{
    static const char pairs[][3] = { "<<", ">>", "<=", ">=", "==", "!=", "&&", "||" };
    const char *at = lexer->at;

    token->kind = TOKEN_PUNCT;
    token->punct = (unsigned char) *at;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (at[0] == pairs[i][0] && at[1] == pairs[i][1])
            token->punct = PAIR(at[0], at[1]);
    lexer->at += token->punct > 255 ? 2 : 1;
}

void lex_next(Lexer *lexer, Token *token)
{
    bool whole = skip_blanks(lexer);
    char c = *lexer->at;

    *token = (Token){ .line = lexer->line, .text = { lexer->at, 0 } };
    if (!whole)
        bad(lexer, token, "an unterminated comment");
    else if (!c)
        token->kind = TOKEN_END;
    else if (is(c, DIGIT))
        read_number(lexer, token);
    else if (is(c, LETTER) || (is(c, START) && is(lexer->at[1], LETTER | DIGIT)))
        read_name(lexer, token);
    else if (c == '.' && is(lexer->at[1], LETTER | DIGIT))
        read_dotted(lexer, token);
    else if (c == '"')
        read_string(lexer, token);
    else
        read_punct(lexer, token);
    if (token->kind != TOKEN_STRING)
        token->text.length = (int) (lexer->at - token->text.at);
}
