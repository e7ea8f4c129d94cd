/* source.c - the source with the costs of each line. */
#include "learner/see/page.h"
#include "base/util.h"
#include "learner/explain/explain.h"

#include <stdlib.h>
#include <string.h>

/* ---- Text ---- */

/* How many bytes follow the first byte of a character; -1: it begins none. */
static int bytes_after(unsigned char first)
{
    return first < 0x80   ? 0
           : first < 0xc2 ? -1
           : first < 0xe0 ? 1
           : first < 0xf0 ? 2
           : first < 0xf5 ? 3
                          : -1;
}

void see_clean_text(char *text)
{
    for (unsigned char *c = (unsigned char *) text; *c; c++) {
        const int more = bytes_after(*c);
        int follow = 0;
        while (follow < more && (c[follow + 1] & 0xc0) == 0x80)
            follow++;
        if (more < 0 || follow < more || *c == 127 || (*c < ' ' && *c != '\n' && *c != '\t'))
            *c = *c == '\r' ? ' ' : '?';
        else
            c += more;
    }
}

/* ---- Columns ---- */

/* The columns: what a line costs, as a number that the colour follows, and in words. */
static double time_of(const LineCost *cost)
{
    return spent_sum(&cost->spent);
}

static double wavefronts_of(const LineCost *cost)
{
    return cost->shared.passes;
}

static double idle_of(const LineCost *cost)
{
    return see_idle(cost) * cost->instructions;
}

static const struct {
    const char *id, *name;
    bool is_count;
    double (*of)(const LineCost *cost);
} columns[] = {
    { "time", "time", false, time_of },
    { "sectors", "sectors", true, see_sectors },
    { "wavefronts", "wavefronts", true, wavefronts_of },
    { "idle", "idle lanes", false, idle_of },
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const LineCost *cost_at(const SeenKernel *k, int line)
{
    for (int i = 0; i < k->line_count; i++)
        if (k->lines[i].line == line)
            return &k->lines[i];
    return NULL;
}

static void say(const SeenKernel *k, int column, const LineCost *cost, char *text, size_t size)
{
    const double whole = see_call_ns(k), value = columns[column].of(cost);

    *text = 0;
    if (!strcmp(columns[column].id, "time") && whole > 0)
        put(text, size, "%.1f %%", 100 * value / whole);
    else if (!strcmp(columns[column].id, "idle") && value > 0)
        put(text, size, "%.1f of 32", see_idle(cost));
    else if (columns[column].is_count && value > 0)
        see_count(value, text, size);
}

/* What the full width of a bar stands for: the whole call's time, or the most of any line. */
static double most_of(const SeenKernel *k, int column)
{
    double most = 0;

    if (columns[column].of == time_of)
        return see_call_ns(k);

    for (int i = 0; i < k->line_count; i++)
        if (columns[column].of(&k->lines[i]) > most)
            most = columns[column].of(&k->lines[i]);
    return most;
}

static void put_cells(Page *page, const SeenKernel *k, const LineCost *cost)
{
    char text[60];

    for (int c = 0; c < COLUMNS; c++) {
        const double most = most_of(k, c);
        *text = 0;
        if (cost)
            say(k, c, cost, text, sizeof text);
        if (*text)
            page_print(page, "<td class=\"heat %s\" style=\"--h:%.3f\">%s</td>", columns[c].id,
                       most > 0 ? columns[c].of(cost) / most : 0, text);
        else
            page_print(page, "<td class=\"heat %s\"></td>", columns[c].id);
    }
}

static void put_row(Page *page, const SeenKernel *k, int number, const char *text, size_t length)
{
    const LineCost *cost = cost_at(k, number);
    char *line = xstrndup(text, length), did[400] = "";

    if (cost)
        explain_line(cost, did, sizeof did);
    page_print(page, "<tr id=\"%s-%d\"><th scope=\"row\">%d</th>", k->id, number, number);
    put_cells(page, k, cost);
    page_print(page, "<td class=\"code\"><code>%s</code>", line);
    if (*did)
        page_print(page, "<small>%s</small>", did);
    page_print(page, "</td></tr>\n");
    free(line);
}

static void put_rows(Page *page, const SeenKernel *k)
{
    const char *at = k->source;

    for (int number = 1; *at; number++) {
        const size_t length = strcspn(at, "\n");
        put_row(page, k, number, at, length);
        at += length + (at[length] == '\n');
    }
}

/* The share of time, in %, that no line of the file takes. */
static double elsewhere(const SeenKernel *k)
{
    double sum = 0;

    for (int i = 0; i < k->line_count; i++)
        sum += spent_sum(&k->lines[i].spent);
    return see_call_ns(k) > 0 ? 100 - 100 * sum / see_call_ns(k) : 0;
}

/* Where that time goes; the tail and transfers only if they matter. */
static const char *why_elsewhere(const SeenKernel *k, char *text, size_t size)
{
    const double *at = k->limited.limits.spent.at, tail = 100 * at[AT_TAIL] / see_call_ns(k);

    put(text, size, "it goes into launches%s, and the start and end of blocks",
        at[AT_TRANSFER] > 0 ? ", transfers" : "");
    if (tail >= 1)
        put(text, size,
            "SMs have no block during %.1f %% (the tail), the rest goes into launches%s"
            ", and the start and end of blocks",
            tail, at[AT_TRANSFER] > 0 ? ", transfers" : "");
    return text;
}

static void put_table(Page *page, const SeenKernel *k)
{
    char why[200];

    page_print(page, "<h3>%s, %s</h3>\n", k->name, k->file);
    if (k->has_run && !k->line_count)
        page_print(page, "<p>No line of this file runs on the GPU.</p>\n");
    if (k->line_count && elsewhere(k) > 5)
        page_print(page, "<p>%.1f %% of the time is not the work of a line: %s.</p>\n",
                   elsewhere(k), why_elsewhere(k, why, sizeof why));
    page_print(page,
               "<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
               "aria-label=\"Source of %s\">\n<table class=\"source\">\n"
               "<thead><tr><th scope=\"col\">line</th>",
               k->id);
    for (int c = 0; c < COLUMNS; c++)
        page_print(page, "<th scope=\"col\" class=\"heat %s\">%s</th>", columns[c].id,
                   columns[c].name);
    page_print(page, "<th scope=\"col\">code</th></tr></thead>\n<tbody>\n");
    put_rows(page, k);
    page_print(page, "</tbody>\n</table>\n</div>\n");
}

static void put_switch(Page *page)
{
    page_print(page, "<fieldset class=\"switch\">\n<legend>Colour by</legend>\n");
    for (int c = 0; c < COLUMNS; c++)
        page_print(page,
                   "<label><input type=\"radio\" name=\"heat\" id=\"heat-%s\"%s> %s</label>\n",
                   columns[c].id, c ? "" : " checked", columns[c].name);
    page_print(page, "</fieldset>\n");
}

void see_source(Page *page, const Seen *seen)
{
    page_print(page, "<section id=\"source\">\n<h2>Source, with costs by line</h2>\n"
                     "<p>Counters of the whole call, as in <code>make explain</code>. Sectors are "
                     "those of global memory, wavefronts those of shared memory. Idle lanes are "
                     "the average per instruction of the line.</p>\n");
    put_switch(page);
    for (int i = 0; i < seen->count; i++)
        if (seen->kernels[i].source)
            put_table(page, &seen->kernels[i]);
    page_print(page, "</section>\n");
}
