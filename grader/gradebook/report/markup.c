/* markup.c - a self-contained HTML page.
 *
 * A Content-Security-Policy forbids the page to load, send or run anything, except the styles and
 * the script that carry this file's random number. If a student's text ever entered a page as
 * markup, it could not run.
 */
#include "gradebook/report/markup.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

void page_put(Page *page, const char *markup)
{
    fputs(markup, page->to);
}

void page_text(Page *page, const char *text)
{
    for (; *text; text++)
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

void page_format(Page *page, const char *format, ...)
{
    char *text = NULL;
    va_list values;

    va_start(values, format);
    text = xvasprintf(format, values);
    va_end(values);
    page_text(page, text);
    free(text);
}

void page_begin(Page *page, FILE *to, const char *title)
{
    *page = (Page){ .to = to };
    PUT(page->nonce, "%016" PRIx64 "%016" PRIx64, secret(), secret());
    fprintf(to,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'nonce-%s'; script-src 'nonce-%s'; base-uri 'none'; form-action 'none'\">\n"
            "<meta name=\"referrer\" content=\"no-referrer\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
            page->nonce, page->nonce);
    page_text(page, title);
    fprintf(to, "</title>\n<style nonce=\"%s\">\n%s</style>\n</head>\n<body>\n<main>\n",
            page->nonce, page_style);
}

void page_script(Page *page, const char *script)
{
    fprintf(page->to, "<script nonce=\"%s\">\n%s</script>\n", page->nonce, script);
}

void page_end(Page *page)
{
    fputs("</main>\n</body>\n</html>\n", page->to);
}
