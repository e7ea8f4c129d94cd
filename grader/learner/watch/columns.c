/* columns.c - adds columns to a compiler's messages. */
#include "learner/watch/columns.h"
#include "base/util.h"

#include <stdio.h>
#include <string.h>

enum { PREFIX = 2, CONTEXT_LINES = 3 };

static const char *next_line_of(const char *at)
{
    at += strcspn(at, "\n");
    return *at ? at + 1 : at;
}

/* The end of "labs/06_transpose/kernel.cu:12" at the beginning of a line, if ": " follows. */
static const char *place_end(const char *line)
{
    static const char name[] = "kernel.cu:";
    const char *end = memmem(line, strcspn(line, " \n"), name, sizeof name - 1);

    if (!end)
        return NULL;
    end += sizeof name - 1;
    end += strspn(end, "0123456789");
    return end[-1] != ':' && end[0] == ':' && end[1] == ' ' ? end : NULL;
}

/* The column that a ^ in the indented lines below the head points to; 0: there is none. */
static int column_below(const char *head)
{
    const char *line = next_line_of(head);

    for (int i = 0; i < CONTEXT_LINES && *line == ' '; i++, line = next_line_of(line)) {
        int blanks = (int) strspn(line, " ");
        if (line[blanks] == '^' && (line[blanks + 1] == '\n' || !line[blanks + 1]))
            return blanks >= PREFIX ? blanks - PREFIX + 1 : 0;
    }
    return 0;
}

char *text_with_columns(const char *text)
{
    char *result;
    size_t bytes;
    FILE *out = text_open(&result, &bytes);

    for (const char *next; *text; text = next) {
        const char *place = place_end(text);
        int column = place ? column_below(text) : 0;
        next = next_line_of(text);
        if (column)
            fprintf(out, "%.*s:%d%.*s", (int) (place - text), text, column, (int) (next - place),
                    place);
        else
            fwrite(text, 1, (size_t) (next - text), out);
    }
    text_close(out);
    return result;
}
