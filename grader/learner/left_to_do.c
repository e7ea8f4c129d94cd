/* left_to_do.c - what a kernel that passes still leaves open. */
#include "learner/left_to_do.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { SOURCE_MOST = 256 << 10, LINES_NAMED = 8 };

/* True if one of the lines of `text` is this one. */
static bool has_line(const char *text, const char *line, size_t length)
{
    for (; *text; text += text[0] == '\n') {
        const size_t here = strcspn(text, "\n");
        if (here == length && !memcmp(text, line, length))
            return true;
        text += here;
    }
    return false;
}

static bool contains(const char *line, size_t length, const char *word)
{
    return memmem(line, length, word, strlen(word));
}

int open_todos(const char *starter, const char *kernel, char *text, size_t size)
{
    int number = 1, found = 0;

    *text = 0;
    for (; *kernel; number++) {
        const size_t length = strcspn(kernel, "\n");
        if (contains(kernel, length, "TODO") && has_line(starter, kernel, length) &&
            found++ < LINES_NAMED)
            append(text, size, "%s%d", found > 1 ? ", " : "kernel.cu:", number);
        kernel += length + (kernel[length] == '\n');
    }
    return found;
}

static void print_todos(const Workbook *book, const Result *result, int indent, int columns)
{
    char path[PATH], lines[120], text[300];
    char *starter, *kernel = read_file(result->source, SOURCE_MOST, NULL);

    PUT(path, "%s/solutions/%s/0_starter.cu", book->root, result->entry->folder);
    starter = read_file(path, SOURCE_MOST, NULL);
    if (starter && kernel && open_todos(starter, kernel, lines, sizeof lines)) {
        PUT(text, "Still marked TODO: %s. Delete what is done.", lines);
        print_wrapped(text, indent, columns);
    }
    free(starter);
    free(kernel);
}

void print_left_to_do(const Workbook *book, const Result *result, int indent, int columns)
{
    if (*result->above)
        print_wrapped(result->above, indent, columns);
    print_todos(book, result, indent, columns);
}
