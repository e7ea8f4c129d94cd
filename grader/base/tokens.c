/* tokens.c - compares two sources as streams of tokens.
 *
 * A stream holds the tokens one after the other, each terminated by a 0 byte. Comments and blanks
 * are dropped; literals are kept. In preprocessor lines, where a blank or a line end can matter,
 * it is a token too. The result is used to hint at similar submissions and to detect an unchanged
 * starter; it never affects a student's marks.
 */
#include "base/tokens.h"
#include "base/util.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct Lexer {
    const char *at;
    char *out;
    bool directive;  /* in a preprocessor line */
    bool line_start; /* no token in this line yet */
    bool blank;      /* seen since the last token */
} Lexer;

/* A line ends at LF, CR LF or a lone CR. */
static size_t line_end(const char *at)
{
    return at[0] == '\n' ? 1 : at[0] != '\r' ? 0 : at[1] == '\n' ? 2 : 1;
}

/* A backslash at the end of a line joins it with the next one. Blanks may follow the backslash, as
 * in GCC. */
static size_t splice(const char *at)
{
    size_t blanks = at[0] == '\\' ? strspn(at + 1, " \t\v\f") : 0;
    size_t end = at[0] == '\\' ? line_end(at + 1 + blanks) : 0;

    return end ? 1 + blanks + end : 0;
}

static char peek(Lexer *lexer)
{
    size_t skip;

    while ((skip = splice(lexer->at)))
        lexer->at += skip;
    return *lexer->at == '\r' ? '\n' : *lexer->at;
}

static char take(Lexer *lexer)
{
    char c = peek(lexer);

    lexer->at += c == '\n' ? line_end(lexer->at) : c != 0;
    return c;
}

static char peek_second(const Lexer *lexer)
{
    Lexer ahead = *lexer;

    take(&ahead);
    return peek(&ahead);
}

static void keep(Lexer *lexer)
{
    *lexer->out++ = take(lexer);
}

static void end_token(Lexer *lexer)
{
    *lexer->out++ = 0;
    lexer->line_start = lexer->blank = false;
}

static bool is_word(char c)
{
    return isalnum((unsigned char) c) || c == '_' || c == '$' || (unsigned char) c >= 0x80;
}

/* ---- What is skipped ---- */

static void skip_line_comment(Lexer *lexer)
{
    while (peek(lexer) && peek(lexer) != '\n')
        take(lexer);
}

static void skip_block_comment(Lexer *lexer)
{
    take(lexer);
    take(lexer);
    while (peek(lexer) && !(peek(lexer) == '*' && peek_second(lexer) == '/'))
        take(lexer);
    take(lexer);
    take(lexer);
}

static void end_line(Lexer *lexer)
{
    take(lexer);
    if (lexer->directive) {
        *lexer->out++ = '\n';
        end_token(lexer);
    }
    lexer->directive = false;
    lexer->line_start = true;
}

static void skip_blanks(Lexer *lexer)
{
    for (;;) {
        char c = peek(lexer);
        if (c == '\n')
            end_line(lexer);
        else if (c && strchr(" \t\r\v\f", c))
            take(lexer);
        else if (c == '/' && peek_second(lexer) == '/')
            skip_line_comment(lexer);
        else if (c == '/' && peek_second(lexer) == '*')
            skip_block_comment(lexer);
        else
            return;
        lexer->blank = true;
    }
}

/* ---- What is kept ---- */

static void keep_quoted(Lexer *lexer)
{
    char quote = peek(lexer);

    keep(lexer);
    while (peek(lexer) && peek(lexer) != '\n') {
        char c = peek(lexer);
        keep(lexer);
        if (c == quote)
            return;
        if (c == '\\' && peek(lexer) && peek(lexer) != '\n')
            keep(lexer);
    }
}

/* R"end( ... )end": no character inside is special, not even a backslash. */
static void keep_raw(Lexer *lexer)
{
    const char *open = lexer->at + 1, *close;
    size_t length = strcspn(open, "( )\\\t\v\f\n");

    if (open[length] != '(' || length > 16) {
        keep_quoted(lexer);
        return;
    }
    for (close = open + length; *close; close++)
        if (close[0] == ')' && !strncmp(close + 1, open, length) && close[1 + length] == '"')
            break;
    if (*close)
        close += length + 2;
    memcpy(lexer->out, lexer->at, (size_t) (close - lexer->at));
    lexer->out += close - lexer->at;
    lexer->at = close;
}

static void keep_word(Lexer *lexer)
{
    static const char *const prefixes[] = { "R", "LR", "uR", "UR", "u8R" };
    char *word = lexer->out;

    while (is_word(peek(lexer)))
        keep(lexer);
    if (peek(lexer) != '"')
        return;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if ((size_t) (lexer->out - word) == strlen(prefixes[i]) &&
            !memcmp(word, prefixes[i], strlen(prefixes[i]))) {
            keep_raw(lexer);
            return;
        }
}

/* Numbers as the preprocessor defines them: 1e+5, 0x1p-3, 1'000, 1.0f. */
static void keep_number(Lexer *lexer)
{
    for (;;) {
        char c = peek(lexer), next;
        if (!is_word(c) && c != '.' && !(c == '\'' && is_word(peek_second(lexer))))
            return;
        keep(lexer);
        next = peek(lexer);
        if (strchr("eEpP", c) && (next == '+' || next == '-'))
            keep(lexer);
    }
}

static void keep_operator(Lexer *lexer)
{
    static const char *const operators[] = {
        "<<<", ">>>", "<<=", ">>=", "...", "->*", "->", "++", "--", "<<", ">>", "<=", ">=", "==",
        "!=",  "&&",  "||",  "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "::", "##", ".*"
    };

    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        Lexer ahead = *lexer;
        const char *o = operators[i];
        while (*o && peek(&ahead) == *o) {
            take(&ahead);
            o++;
        }
        if (*o)
            continue;
        for (o = operators[i]; *o; o++)
            keep(lexer);
        return;
    }
    keep(lexer);
}

static void keep_token(Lexer *lexer)
{
    char c = peek(lexer);

    if (c == '#' && lexer->line_start)
        lexer->directive = true;
    /* `#define F(x)` differs from `#define F (x)`. */
    if (c == '(' && lexer->directive && lexer->blank) {
        *lexer->out++ = ' ';
        *lexer->out++ = 0;
    }
    if (c == '"' || c == '\'')
        keep_quoted(lexer);
    else if (isdigit((unsigned char) c) ||
             (c == '.' && isdigit((unsigned char) peek_second(lexer))))
        keep_number(lexer);
    else if (is_word(c))
        keep_word(lexer);
    else
        keep_operator(lexer);
    end_token(lexer);
}

char *token_stream(const char *source, size_t *size)
{
    /* In the worst case each byte is a token with a blank token before it, each terminated by a
     * 0. */
    char *stream = xmalloc(4 * strlen(source) + 8);
    Lexer lexer = { .at = source, .out = stream, .line_start = true };

    if (!strncmp(source, "\xef\xbb\xbf", 3)) /* a byte order mark */
        lexer.at += 3;
    for (skip_blanks(&lexer); peek(&lexer); skip_blanks(&lexer))
        keep_token(&lexer);
    if (lexer.directive) /* the last line has no line end */
        end_line(&lexer);
    *size = (size_t) (lexer.out - stream);
    return stream;
}

bool same_but_for_comments(const char *a, const char *b)
{
    size_t a_size, b_size;
    char *a_stream = token_stream(a, &a_size), *b_stream = token_stream(b, &b_size);
    bool same = a_size == b_size && !memcmp(a_stream, b_stream, a_size);

    free(a_stream);
    free(b_stream);
    return same;
}
