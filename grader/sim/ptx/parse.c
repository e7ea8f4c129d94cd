/* parse.c - reads a PTX text: tokens, errors, and module scope. */
#include "sim/ptx/parse.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Errors ---- */

/* The text is not trusted: control characters are not printed. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

bool parse_fail(Parser *p, int line, const char *format, ...)
{
    char what[300];
    va_list arguments;

    if (p->failed)
        return false;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    make_printable(what);
    if (p->why_size)
        snprintf(p->why, p->why_size, "PTX line %d: %s", line, what);
    p->failed = true;
    p->token = (Token){ .kind = TOKEN_END, .line = line, .text = { p->token.text.at, 0 } };
    return false;
}

bool parse_fail_name(Parser *p, int line, Name name, const char *what)
{
    return parse_fail(p, line, "'%.*s' %s", name.length < 80 ? name.length : 80, name.at, what);
}

bool parse_expected(Parser *p, const char *what)
{
    const Token *token = &p->token;
    int length = token->text.length;

    if (token->kind == TOKEN_END)
        return parse_fail(p, token->line, "expected %s, found the end of the text", what);
    return parse_fail(p, token->line, "expected %s, found '%.*s%s'", what,
                      length < 40 ? length : 40, token->text.at, length < 40 ? "" : "...");
}

/* Reports each word once, with the line of its first occurrence. */
void parse_warn(Parser *p, int line, Name what)
{
    Module *module = p->module;
    char text[160], **warnings;
    int length = what.length < 60 ? what.length : 60;

    int start = snprintf(text, sizeof text, "%.*s is skipped", length, what.at);
    make_printable(text);
    for (int i = 0; i < module->warning_count; i++)
        if (!strncmp(module->warnings[i], text, (size_t) start))
            return;
    if (module->warning_count >= MOST_WARNINGS)
        return;
    snprintf(text + start, sizeof text - (size_t) start, " (PTX line %d)", line);
    size_t bytes = (size_t) (module->warning_count + 1) * sizeof *warnings;
    warnings = realloc(module->warnings, bytes);
    if (warnings) {
        module->warnings = warnings;
        warnings[module->warning_count] = strdup(text);
        module->warning_count += warnings[module->warning_count] != NULL;
    }
}

bool parse_room(Parser *p, void *array, int count, int *room, size_t size, int most,
                const char *what)
{
    void *old, *grown;

    if (p->failed)
        return false;
    if (count >= most)
        return parse_fail(p, p->token.line, "more than %d %s", most, what);
    if (count < *room)
        return true;
    int wanted = *room ? *room * 2 : 16;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, (size_t) wanted * size);
    if (!grown)
        return parse_fail(p, p->token.line, "not enough memory");
    memcpy(array, &grown, sizeof grown);
    *room = wanted;
    return true;
}

/* ---- Tokens ---- */

void advance(Parser *p)
{
    if (p->failed)
        return;
    lex_next(&p->lexer, &p->token);
    if (p->token.kind == TOKEN_BAD)
        parse_fail(p, p->token.line, "%s", p->token.bad);
}

bool at_punct(const Parser *p, int punct)
{
    return p->token.kind == TOKEN_PUNCT && p->token.punct == punct;
}

bool take_punct(Parser *p, int punct)
{
    if (!at_punct(p, punct))
        return false;
    advance(p);
    return true;
}

bool expect_punct(Parser *p, int punct)
{
    char what[] = { '\'', (char) punct, '\'', 0 };

    return take_punct(p, punct) || parse_expected(p, what);
}

bool at_dot(const Parser *p, const char *word)
{
    return p->token.kind == TOKEN_DOT && name_is(p->token.text, word);
}

bool take_dot(Parser *p, const char *word)
{
    if (!at_dot(p, word))
        return false;
    advance(p);
    return true;
}

bool expect_name(Parser *p, Name *name)
{
    *name = p->token.text;
    if (p->token.kind != TOKEN_NAME)
        return parse_expected(p, "a name");
    advance(p);
    return true;
}

void skip_braces(Parser *p)
{
    int line = p->token.line;
    long depth = 0;

    do {
        if (p->token.kind == TOKEN_END) {
            parse_fail(p, line, "a '{' without a matching '}'");
            return;
        }
        depth += at_punct(p, '{');
        depth -= at_punct(p, '}');
        advance(p);
    } while (depth > 0);
}

void skip_to_semicolon(Parser *p)
{
    while (p->token.kind != TOKEN_END && !at_punct(p, ';') && !at_punct(p, '}'))
        if (at_punct(p, '{'))
            skip_braces(p);
        else
            advance(p);
}

void skip_statement(Parser *p)
{
    skip_to_semicolon(p);
    take_punct(p, ';');
}

/* An unknown directive may end at a semicolon, after a block in braces, or at the end of its line.
 */
void skip_directive(Parser *p)
{
    int line = p->token.line;
    bool goes_on = false; /* the directive continues on the next line, for example after a comma */

    parse_warn(p, line, p->token.text);
    for (advance(p); p->token.kind != TOKEN_END && !at_punct(p, '}');) {
        bool joins = at_punct(p, ',') || at_punct(p, '(') || at_punct(p, ')') || at_punct(p, '=');
        if (take_punct(p, ';'))
            return;
        if (at_punct(p, '{')) {
            skip_braces(p);
            return;
        }
        if (p->token.line != line && !joins && !goes_on)
            return;
        goes_on = joins && !at_punct(p, ')');
        line = p->token.line;
        advance(p);
    }
}

/* Debug data: .section NAME { ... } */
static void skip_section(Parser *p)
{
    advance(p);
    while (p->token.kind == TOKEN_DOT || p->token.kind == TOKEN_NAME)
        advance(p);
    if (at_punct(p, '{'))
        skip_braces(p);
    else
        parse_expected(p, "'{'");
}

bool read_common_directive(Parser *p)
{
    if (at_dot(p, ".loc"))
        read_loc(p);
    else if (at_dot(p, ".file"))
        read_file_name(p);
    else if (at_dot(p, ".pragma"))
        skip_statement(p);
    else if (at_dot(p, ".section"))
        skip_section(p);
    else
        return false;
    return true;
}

/* ---- Module scope ---- */

/* The lexer reads 9.0 as a number; the text of the token keeps the digits. */
static void read_version(Parser *p)
{
    int major = 0, minor = 0;
    const char *at = p->token.text.at;

    if (p->token.kind != TOKEN_FLOAT) {
        parse_expected(p, "a version");
        return;
    }
    for (; *at >= '0' && *at <= '9' && major < 1000; at++)
        major = major * 10 + *at - '0';
    if (*at++ == '.')
        for (; *at >= '0' && *at <= '9' && minor < 1000; at++)
            minor = minor * 10 + *at - '0';
    p->module->isa_major = major;
    p->module->isa_minor = minor;
    advance(p);
}

/* sm_80 or sm_90a, and words that are ignored. */
static void read_target(Parser *p)
{
    do {
        Name name;
        if (!expect_name(p, &name))
            return;
        if (name.length < 5 || memcmp(name.at, "sm_", 3))
            continue;
        int target = 0;
        for (int i = 3; i < name.length && name.at[i] >= '0' && name.at[i] <= '9' && target < 1000;
             i++)
            target = target * 10 + name.at[i] - '0';
        p->module->target = target;
    } while (take_punct(p, ','));
}

static void read_address_size(Parser *p)
{
    if (p->token.kind == TOKEN_INTEGER && p->token.bits == 64)
        advance(p);
    else
        parse_fail(p, p->token.line, "only 64-bit addresses are simulated: compile without -m32");
}

static bool take_linkage(Parser *p, Linkage *linkage)
{
    if (take_dot(p, ".visible"))
        return linkage->is_visible = true;
    if (take_dot(p, ".extern"))
        return linkage->is_extern = true;
    if (take_dot(p, ".weak"))
        return linkage->is_weak = true;
    return take_dot(p, ".common") && (linkage->is_common = true);
}

static void read_declaration(Parser *p)
{
    Linkage linkage = { 0 };
    Space space;

    while (take_linkage(p, &linkage))
        ;
    if (at_dot(p, ".entry") || at_dot(p, ".func")) {
        read_function(p, linkage);
    } else if (p->token.kind == TOKEN_DOT && space_word(p, p->token.text, &space) &&
               space != SPACE_PARAM) {
        advance(p);
        read_variables(p, space, linkage);
    } else {
        skip_directive(p);
    }
}

/* The PTX of several object files follow each other: names link them. */
static void begin_text(Parser *p)
{
    if (++p->texts > MOST_TEXTS) {
        parse_fail(p, p->token.line, "more than %d linked texts", MOST_TEXTS);
        return;
    }
    if (p->texts > 1) {
        resolve_lines(p);
        symbols_hide_local(p);
        p->first_file = p->module->file_count;
    }
    read_version(p);
}

static void read_module_statement(Parser *p)
{
    if (read_common_directive(p) || take_punct(p, ';'))
        return;
    if (take_dot(p, ".version"))
        begin_text(p);
    else if (take_dot(p, ".target"))
        read_target(p);
    else if (take_dot(p, ".address_size"))
        read_address_size(p);
    else if (take_dot(p, ".reg"))
        read_registers(p);
    else if (p->token.kind == TOKEN_DOT)
        read_declaration(p);
    else
        parse_expected(p, "a directive");
}

static void read_module(Parser *p)
{
    advance(p);
    if (!p->failed && !at_dot(p, ".version"))
        parse_fail(p, p->token.line, "not a PTX text: it does not begin with .version");
    while (p->token.kind != TOKEN_END)
        read_module_statement(p);
    resolve_lines(p);
}

/* ---- The whole text ---- */

static void release(Parser *p)
{
    symbols_free(&p->symbols);
    lines_free(&p->lines);
    free(p->pending);
    free(p->operands);
    free(p->declarations);
}

static Module *copy_text(const char *ptx, size_t bytes)
{
    Module *module = calloc(1, sizeof *module);
    const char *end = memchr(ptx, 0, bytes);

    if (end)
        bytes = (size_t) (end - ptx);
    if (module)
        module->text = malloc(bytes + 1);
    if (!module || !module->text) {
        free(module);
        return NULL;
    }
    memcpy(module->text, ptx, bytes);
    module->text[bytes] = 0;
    module->text_bytes = bytes;
    return module;
}

Module *module_parse(const char *ptx, size_t bytes, char *why, size_t why_size)
{
    Parser *p = calloc(1, sizeof *p);

    if (!p || bytes > MOST_TEXT_BYTES || !(p->module = copy_text(ptx, bytes))) {
        if (why_size)
            snprintf(why, why_size, "PTX line 1: %s",
                     bytes > MOST_TEXT_BYTES ? "more than 64 MiB of text" : "not enough memory");
        free(p);
        return NULL;
    }
    p->why = why;
    p->why_size = why_size;
    p->lexer = (Lexer){ p->module->text, 1 };
    p->function = -1;
    p->lines.current = -1;
    words_open(p);
    if (symbols_open(p))
        read_module(p);
    Module *module = p->module;
    if (p->failed) {
        module_free(module);
        module = NULL;
    }
    release(p);
    free(p);
    return module;
}
