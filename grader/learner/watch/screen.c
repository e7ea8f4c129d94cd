/* screen.c - composes what `make watch` shows as text.
 *
 * First line: the lab and its state. Last line or lines: the keys, or a question. Between them the
 * body, broken at the right edge. If it does not fit, its last line says how much is left.
 */
#include "learner/watch/screen.h"
#include "learner/watch/keys.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAB = 8, KEYS = 400 };

/* ---- Lines of a text ---- */

/* The length of the colour sequence at `at`; 0: there is none. */
static size_t sgr(const char *at)
{
    size_t length = 2;

    if (at[0] != '\033' || at[1] != '[')
        return 0;
    while ((at[length] >= '0' && at[length] <= '9') || at[length] == ';')
        length++;
    return at[length] == 'm' ? length + 1 : 0;
}

static bool continues(char byte)
{
    return ((unsigned char) byte & 0xc0) == 0x80; /* inside a UTF-8 character */
}

/* Returns the end of the row that begins at `at` and is at most `columns` wide. */
static const char *row_end(const char *at, int columns)
{
    int column = 0;

    while (*at && *at != '\n') {
        size_t skip = sgr(at);
        int width = *at == '\t' ? TAB - column % TAB : 1;
        if (!skip && column && column + width > columns)
            return at;
        column += skip ? 0 : width;
        at += skip ? skip : 1;
        while (!skip && continues(*at))
            at++;
    }
    return at;
}

/* Moves past the line end that ends a row; a row that was broken has none. */
static const char *next_row(const char *end)
{
    return *end == '\n' ? end + 1 : end;
}

static int count_rows(const char *text, int columns)
{
    int rows = 0;

    for (; *text; rows++)
        text = next_row(row_end(text, columns));
    return rows;
}

static void print_row(FILE *out, const char *at, const char *end)
{
    for (int column = 0; at < end;) {
        size_t skip = sgr(at);
        if (skip)
            fwrite(at, 1, skip, out);
        else if (*at == '\t')
            fprintf(out, "%*s", TAB - column % TAB, "");
        else
            putc((unsigned char) *at < ' ' || *at == 127 ? '?' : *at, out);
        column += skip ? 0 : *at == '\t' ? TAB - column % TAB : !continues(*at);
        at += skip ? skip : 1;
    }
}

void screen_plain(char *text)
{
    char *to = text;

    for (size_t skip; *text; text += skip) {
        skip = sgr(text);
        if (!skip) {
            *to++ = *text;
            skip = 1;
        }
    }
    *to = 0;
}

/* ---- Parts ---- */

static int columns_of(const Screen *screen)
{
    return screen->columns > 1 ? screen->columns : 1;
}

/* The line or lines at the bottom. */
static char *foot(const Screen *screen, char *text, size_t size)
{
    if (screen->question)
        return put(text, size, "%s", screen->question);
    return keys_line(columns_of(screen), text, size);
}

/* Rows for the body: all but the head, the foot and an empty row next to each. */
int screen_page(const Screen *screen)
{
    char text[KEYS];
    int rows = screen->rows - 3 - count_rows(foot(screen, text, sizeof text), columns_of(screen));

    return rows > 1 ? rows : 1;
}

int screen_scroll_most(const Screen *screen)
{
    int rows = count_rows(screen->body, columns_of(screen)), page = screen_page(screen);

    return rows > page ? rows - page : 0;
}

static void print_head(FILE *out, const Screen *screen)
{
    int columns = columns_of(screen), head = (int) strlen(screen->head);
    int gap = columns - head - (int) strlen(screen->state);
    const char *colour = screen->state_colour;

    if (gap < 2)
        fprintf(out, "%.*s\n", columns, screen->head);
    else if (!colour)
        fprintf(out, "%s%*s%s\n", screen->head, gap, "", screen->state);
    else
        fprintf(out, "\033[1m%s\033[0m%*s\033[1;%sm%s\033[0m\n", screen->head, gap, "", colour,
                screen->state);
}

static void print_body(FILE *out, const Screen *screen)
{
    int columns = columns_of(screen), page = screen_page(screen), most = screen_scroll_most(screen);
    int first = screen->scroll > most ? most : screen->scroll,
        rows = count_rows(screen->body, columns);
    int left = rows - first > page ? rows - first - page + 1 : 0;
    const char *at = screen->body;

    for (int row = 0; *at && row < first + page - (left > 0); row++) {
        const char *end = row_end(at, columns);
        if (row >= first) {
            print_row(out, at, end);
            putc('\n', out);
        }
        at = next_row(end);
    }
    if (left)
        fprintf(out, "%.*s\n", columns,
                put((char[64]){ "" }, 64, "-- %d more lines: space, or the arrow keys --", left));
}

/* ---- All of it ---- */

/* Cuts off what does not fit into a very low terminal, from the bottom. */
static void cut_rows(char *text, int rows)
{
    char *at = text;

    for (int row = 0; row < rows && at; row++)
        at = strchr(row ? at + 1 : at, '\n');
    if (at)
        *at = 0;
}

char *screen_text(const Screen *screen)
{
    char *text, keys[KEYS];
    size_t bytes;
    FILE *out = text_open(&text, &bytes);

    print_head(out, screen);
    putc('\n', out);
    print_body(out, screen);
    putc('\n', out);
    foot(screen, keys, sizeof keys);
    for (const char *at = keys, *end; *at; at = next_row(end)) {
        end = row_end(at, columns_of(screen));
        if (at > keys)
            putc('\n', out);
        print_row(out, at, end);
    }
    text_close(out);
    cut_rows(text, screen->rows > 1 ? screen->rows : 1);
    return text;
}
