/* escape.c - writes text from students into the formats of other programs. */
#include "base/escape.h"

#include <stdbool.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

#define C1_CONTROLS "\xc2\x80", "\xc2\x9f" /* U+0080 to U+009F: terminals obey them */

/* ---- UTF-8 ---- */

/* The code of the character, which has `length` bytes; each form has a least code. */
static unsigned code_of(const unsigned char *at, size_t length)
{
    static const unsigned char masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
    unsigned code = at[0] & masks[length];

    for (size_t i = 1; i < length; i++)
        code = code << 6 | (at[i] & 0x3f);
    return code;
}

size_t utf8_length(const char *text, size_t left)
{
    static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *at = (const unsigned char *) text;
    const size_t length = left == 0            ? 0
                          : at[0] < 0x80       ? 1
                          : at[0] >> 5 == 0x06 ? 2
                          : at[0] >> 4 == 0x0e ? 3
                          : at[0] >> 3 == 0x1e ? 4
                                               : 0;

    if (length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    const unsigned code = length ? code_of(at, length) : 0;
    return code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0
                                                                                        : length;
}

/* How a format writes characters. */
typedef struct Escape {
    void (*put_ascii)(FILE *out, char c);
    const char *invalid;    /* instead of bytes that are not UTF-8, and of these characters: */
    const char *refused[2]; /* the first and the last; NULL: none */
} Escape;

static bool is_refused(const Escape *escape, const char *at, size_t length)
{
    const char *const *ends = escape->refused;

    return ends[0] && strlen(ends[0]) == length && memcmp(at, ends[0], length) >= 0 &&
           memcmp(at, ends[1], length) <= 0;
}

static void write_characters(FILE *out, const char *text, const Escape *escape)
{
    size_t left = strlen(text);

    for (size_t length; left; text += length, left -= length) {
        length = utf8_length(text, left);
        if (length == 1)
            escape->put_ascii(out, *text);
        else if (length && !is_refused(escape, text, length))
            fwrite(text, 1, length, out);
        else
            fputs(escape->invalid, out);
        length += !length;
    }
}

static bool is_control(char c)
{
    return (c >= 0 && c < ' ') || c == 127;
}

/* ---- JSON ---- */

static void put_json(FILE *out, char c)
{
    if (is_control(c))
        fprintf(out, "\\u%04x", (unsigned) c);
    else
        fprintf(out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
}

void write_json(FILE *out, const char *text)
{
    static const Escape escape = { .put_ascii = put_json, .invalid = "\\ufffd" };

    putc('"', out);
    write_characters(out, text, &escape);
    putc('"', out);
}

/* ---- XML ---- */

/* A parser would turn a line end in an attribute into a blank. */
static void put_xml(FILE *out, char c)
{
    switch (c) {
    case '&':
        fputs("&amp;", out);
        return;
    case '<':
        fputs("&lt;", out);
        return;
    case '>':
        fputs("&gt;", out);
        return;
    case '"':
        fputs("&quot;", out);
        return;
    case '\t':
    case '\n':
    case '\r':
        fprintf(out, "&#%d;", c);
        return;
    default:
        if (is_control(c))
            fputs(REPLACEMENT, out);
        else
            putc(c, out);
    }
}

void write_xml(FILE *out, const char *text)
{
    static const Escape escape = { put_xml, REPLACEMENT, { "\xef\xbf\xbe", "\xef\xbf\xbf" } };

    write_characters(out, text, &escape); /* U+FFFE and U+FFFF are no characters of XML */
}

/* ---- URIs ---- */

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._~/", c));
}

void write_uri(FILE *out, const char *path)
{
    if (*path == '/')
        fputs("file://", out);
    for (; *path; path++)
        if (is_unreserved(*path))
            putc(*path, out);
        else
            fprintf(out, "%%%02X", (unsigned) (unsigned char) *path);
}

/* ---- GitHub ---- */

static void put_github_data(FILE *out, char c)
{
    if (c == '%' || c == '\r' || c == '\n')
        fprintf(out, "%%%02X", (unsigned) c);
    else
        putc(is_control(c) && c != '\t' ? '?' : c, out);
}

static void put_github_property(FILE *out, char c)
{
    if (c == ':' || c == ',')
        fprintf(out, "%%%02X", (unsigned) c);
    else
        put_github_data(out, c);
}

void write_github_data(FILE *out, const char *text)
{
    static const Escape escape = { put_github_data, REPLACEMENT, { C1_CONTROLS } };

    write_characters(out, text, &escape);
}

void write_github_property(FILE *out, const char *text)
{
    static const Escape escape = { put_github_property, REPLACEMENT, { C1_CONTROLS } };

    write_characters(out, text, &escape);
}

/* ---- Lines ---- */

static void put_one_line(FILE *out, char c)
{
    putc(c == '\n' || c == '\t' ? ' ' : is_control(c) ? '?' : c, out);
}

void write_one_line(FILE *out, const char *text)
{
    static const Escape escape = { put_one_line, REPLACEMENT, { C1_CONTROLS } };

    write_characters(out, text, &escape);
}
