/* lines.c - the lines of the student's kernel that cost most, and what they did. */
#include "learner/explain/explain.h"
#include "learner/explain/explained.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE = 66 };

static double each(double all, double count)
{
    return count > 0 ? all / count : 0;
}

/* "loads 32.0 sectors per request, 4.0 would hold the data" */
static void say_sectors(const char *what, const LineTraffic *t, char *text, size_t size)
{
    const double least = t->asked / 32;

    if (t->requests <= 0)
        return;
    append(text, size, "%s%s: %.1f sectors per request on average", *text ? "; " : "", what,
           each(t->passes, t->requests));
    if (t->passes > 1.2 * least && least > 0)
        append(text, size, ", %.1f would hold the data", each(least, t->requests));
}

void explain_line(const LineCost *cost, char *text, size_t size)
{
    const LineTraffic *s = &cost->shared;
    const double lanes = each(cost->lanes, cost->instructions);

    *text = 0;
    say_sectors("loads", &cost->load, text, size);
    say_sectors("stores", &cost->store, text, size);
    say_sectors("atomics", &cost->atomic, text, size);
    if (s->requests > 0)
        append(text, size, "%sshared memory %.1f wavefronts per request", *text ? "; " : "",
               each(s->passes, s->requests));
    if (s->requests > 0 && s->passes > 1.2 * s->asked)
        append(text, size, ", %.1f without bank conflicts", each(s->asked, s->requests));
    if (lanes > 0 && lanes < 28)
        append(text, size, "%s%.1f of 32 lanes active in this line", *text ? "; " : "", lanes);
}

/* Copies line `number` of a text, trimmed and without control characters; "" if there is no such
 * line. */
static void take_line(const char *text, int number, char *line, size_t size)
{
    size_t length;

    *line = 0;
    for (; text && number > 1; number--) {
        text = strchr(text, '\n');
        text += text != NULL;
    }
    if (!text)
        return;
    text += strspn(text, " \t");
    length = strcspn(text, "\r\n");
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    put(line, size, "%.*s%s", length > SOURCE ? SOURCE - 3 : (int) length, text,
        length > SOURCE ? "..." : "");
    for (char *at = line; *at; at++)
        if ((unsigned char) *at < ' ' || *at == 127)
            *at = '?';
}

void explain_print_lines(const Explained *e)
{
    static const double least = 3; /* % */
    const Seen *seen = &e->yours;
    char *text = read_file(e->source, 256 << 10, NULL);
    double shown = 0;

    if (seen->line_count && explain_share(seen, spent_sum(&seen->lines[0].spent)) >= least)
        printf("Your lines that cost most\n");
    for (int i = 0; i < seen->line_count; i++) {
        const LineCost *cost = &seen->lines[i];
        char line[4 * SOURCE], did[400];
        const double part = explain_share(seen, spent_sum(&cost->spent));
        if (part < least)
            break;
        printf("  %5.1f %%  kernel.cu:%d, mostly %s\n", part, cost->line,
               limit_words[spent_most(&cost->spent)]);
        take_line(text, cost->line, line, sizeof line);
        if (*line)
            printf("           %s\n", line);
        explain_line(cost, did, sizeof did);
        if (*did)
            print_wrapped(did, 11, COLUMNS);
        shown += part;
    }
    if (shown > 0 && shown < 50)
        printf("  %5.1f %%  other lines, including those of headers\n", 100 - shown);
    free(text);
}
