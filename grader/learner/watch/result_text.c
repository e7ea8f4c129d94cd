/* result_text.c - what a program of `make watch` printed, in the words of watch or of a shell. */
#include "learner/watch/result_text.h"
#include "base/util.h"
#include "learner/command_line.h"
#include "learner/next.h"
#include "learner/watch/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Without the empty lines around it. */
static void print_trimmed(FILE *out, const char *from, size_t length)
{
    while (length && *from == '\n')
        from++, length--;
    while (length && (from[length - 1] == '\n' || from[length - 1] == ' '))
        length--;
    fprintf(out, "%.*s\n", (int) length, from);
}

/* What was printed, the page in one form only; a program that was killed may have left one half of
 * it. */
static void print_form(FILE *out, const char *printed, Form form)
{
    const char *first = strchr(printed, NEXT_FORM), *second, *end;
    char *text;
    size_t bytes;
    FILE *chosen = text_open(&text, &bytes);

    second = first ? strchr(first + 1, NEXT_FORM) : NULL;
    end = form == FORM_WATCH && second ? second : printed + strlen(printed);
    if (first)
        fprintf(chosen, "%.*s", (int) (first - printed), printed);
    printed = !first ? printed : form == FORM_SHELL && second ? second + 1 : first + 1;
    fprintf(chosen, "%.*s", (int) (end - printed), printed);
    text_close(chosen);
    print_trimmed(out, text, bytes);
    free(text);
}

char *result_text(const Job *job, Form form)
{
    char end[200], *text, *with_columns;
    size_t bytes;
    FILE *out = text_open(&text, &bytes);

    print_form(out, job->printed, form);
    if (WIFSIGNALED(job->status) || WEXITSTATUS(job->status) > COULD_NOT)
        fprintf(out, "\nThe grading %s.%s\n", end_in_words(job->status, end, sizeof end),
                form == FORM_WATCH ? " Save again to retry." : "");
    text_close(out);
    with_columns = text_with_columns(text);
    free(text);
    return with_columns;
}
