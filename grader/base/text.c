/* text.c - wraps prose for a terminal. */
#include "base/text.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of columns that UTF-8 text takes: bytes that do not continue a character. */
static int width_of(const char *text, size_t bytes)
{
    int width = 0;

    for (size_t i = 0; i < bytes; i++)
        width += ((unsigned char) text[i] & 0xC0) != 0x80;
    return width;
}

void print_wrapped_to(FILE *to, const char *text, int indent, int columns)
{
    int column = 0; /* 0: nothing on this line yet */

    while (*text) {
        size_t word = strcspn(text, " \t\n");
        int width = width_of(text, word);
        if (word && column && column + 1 + width > columns) {
            fputc('\n', to);
            column = 0;
        }
        if (word) {
            fprintf(to, "%*s%.*s", column ? 1 : indent, "", (int) word, text);
            column += (column ? 1 : indent) + width;
        }
        text += word;
        if (*text == '\n') {
            fputc('\n', to);
            column = 0;
        }
        text += *text != 0;
    }
    if (column)
        fputc('\n', to);
}

void print_lines_wrapped(const char *text, int indent, int columns)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        char *line = xstrndup(text, length);
        if (indent + width_of(text, length) > columns)
            print_wrapped(line, indent, columns);
        else
            printf("%*s%s\n", *line ? indent : 0, "", line);
        free(line);
        text += length + (text[length] == '\n');
    }
}

void print_wrapped(const char *text, int indent, int columns)
{
    print_wrapped_to(stdout, text, indent, columns);
}
