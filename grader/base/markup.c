/* markup.c - a self-contained HTML page.
 *
 * A Content-Security-Policy forbids the page to load, send or run anything, except the styles and
 * the script that carry this file's random number. If a student's text ever entered a page as
 * markup, it could not run.
 */
#include "base/markup.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static void put_escaped(Page *page, const char *text, size_t length)
{
    for (const char *end = text + length; text < end; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", page->to);
            break;
        case '<':
            fputs("&lt;", page->to);
            break;
        case '>':
            fputs("&gt;", page->to);
            break;
        case '"':
            fputs("&quot;", page->to);
            break;
        case '\'':
            fputs("&#39;", page->to);
            break;
        default:
            fputc(*text, page->to);
        }
}

/* Writes the value of the conversion at `at`; returns the text after the conversion. */
static const char *put_value(Page *page, const char *at, va_list *values)
{
    size_t length = 1 + strcspn(at + 1, "%sdfg") + 1;
    char conversion[16];
    const char *text;

    PUT(conversion, "%.*s", (int) length, at);
    switch (at[length - 1]) {
    case '%':
        fputc('%', page->to);
        break;
    case 's':
        text = va_arg(*values, const char *);
        put_escaped(page, text, strlen(text));
        break;
    case 'd':
        fprintf(page->to, conversion, va_arg(*values, int));
        break;
    case 'f':
    case 'g':
        fprintf(page->to, conversion, va_arg(*values, double));
        break;
    default:
        die("markup: unknown conversion '%s'", at);
    }
    return at + length;
}

void page_print(Page *page, const char *markup, ...)
{
    va_list values;

    va_start(values, markup);
    while (*markup) {
        size_t plain = strcspn(markup, "%");
        fwrite(markup, 1, plain, page->to);
        markup += plain;
        if (*markup)
            markup = put_value(page, markup, &values);
    }
    va_end(values);
}

void page_sentence(Page *page, const char *text)
{
    for (const char *end; *text; text = end) {
        end = *text == '`' ? strchr(text + 1, '`') : NULL;
        if (end) {
            fputs("<code>", page->to);
            put_escaped(page, text + 1, (size_t) (end++ - text) - 1);
            fputs("</code>", page->to);
        } else {
            end = text + 1 + strcspn(text + 1, "`");
            put_escaped(page, text, (size_t) (end - text));
        }
    }
}

void page_begin(Page *page, FILE *to, const PageHead *head)
{
    *page = (Page){ .to = to };
    PUT(page->nonce, "%016" PRIx64 "%016" PRIx64, secret(), secret());
    page_print(page,
               "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
               "style-src %s%s%s; script-src 'nonce-%s'; base-uri 'none'; form-action 'none'\">\n"
               "<meta name=\"referrer\" content=\"no-referrer\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s</title>\n",
               head->has_pictures ? "'unsafe-inline" : "'nonce-",
               head->has_pictures ? "" : page->nonce, "'", page->nonce, head->title);
    fprintf(to, "<style nonce=\"%s\">\n%s</style>\n</head>\n<body>\n", page->nonce, head->style);
}

void page_script(Page *page, const char *script)
{
    fprintf(page->to, "<script nonce=\"%s\">\n%s</script>\n", page->nonce, script);
}

void page_end(Page *page)
{
    fputs("</body>\n</html>\n", page->to);
}
