/* events.c - the progress of a grading, from the lines of `warpbook grade --events`. */
#include "learner/watch/events.h"
#include "base/util.h"

#include <stdio.h>
#include <string.h>

/* ---- Reading ---- */

static bool read_count(const char *line, const char *key, int *count)
{
    double value;

    if (!field_double(line, key, &value) || value < 0 || value > 10000)
        return false;
    *count = (int) value;
    return true;
}

static bool apply_building(Grading *grading, const char *line, double at_s)
{
    (void) line;
    (void) at_s;
    grading->building = true;
    return true;
}

static bool apply_built(Grading *grading, const char *line, double at_s)
{
    (void) line;
    grading->built = true;
    grading->built_s = at_s;
    return true;
}

static bool apply_cases(Grading *grading, const char *line, double at_s)
{
    Grading next = *grading;

    if (!read_count(line, "right", &next.right) || !read_count(line, "wrong", &next.wrong) ||
        !read_count(line, "skipped", &next.skipped) || !read_count(line, "of", &next.of))
        return false;
    next.counting = true;
    next.cases_s = at_s;
    *grading = next;
    return true;
}

static bool apply_timing(Grading *grading, const char *line, double at_s)
{
    (void) line;
    grading->timing = true;
    grading->cases_s = at_s;
    return true;
}

/* The label comes last, because it may hold blanks. */
static bool apply_speed(Grading *grading, const char *line, double at_s)
{
    GradedSpeed speed = { .at_s = at_s };
    const char *label = strstr(line, " case:");
    char kind[16];

    if (grading->speeds == GRADING_SPEEDS || !label || !field(line, "kind", kind, sizeof kind) ||
        !field_double(line, "ratio", &speed.ratio) || !field_double(line, "bar", &speed.bar))
        return false;
    PUT(speed.name, "%s", label + strlen(" case:"));
    speed.control = !strcmp(kind, "control");
    grading->speed[grading->speeds++] = speed;
    return true;
}

static bool apply_verdict(Grading *grading, const char *line, double at_s)
{
    if (!field(line, "verdict", grading->verdict, sizeof grading->verdict))
        return false;
    grading->verdict_s = at_s;
    return true;
}

bool event_apply(Grading *grading, const char *line, double at_s)
{
    static const struct {
        const char *word;
        bool (*apply)(Grading *, const char *, double);
    } rows[] = {
        { "building", apply_building }, { "built", apply_built }, { "cases", apply_cases },
        { "timing", apply_timing },     { "speed", apply_speed }, { "verdict", apply_verdict },
    };
    char word[16];

    if (strncmp(line, "event:", 6) || !field(line, "event", word, sizeof word))
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(word, rows[i].word))
            return rows[i].apply(grading, line, at_s);
    return false;
}

/* ---- Text ---- */

static void add_step(char *text, size_t size, const char *step, double at_s)
{
    append(text, size, "  %-58s%6.1f s\n", step, at_s);
}

static void add_cases(const Grading *g, char *text, size_t size)
{
    char step[100];

    PUT(step, "%d of %d cases right", g->right, g->of);
    if (g->wrong)
        APPEND(step, ", %d wrong", g->wrong);
    if (g->skipped)
        APPEND(step, ", %d too large to simulate", g->skipped);
    add_step(text, size, step, g->cases_s);
}

static void add_speed(const GradedSpeed *speed, char *text, size_t size)
{
    char step[140];

    PUT(step, "%s: %.0f %% of the reference's speed", speed->name, speed->ratio * 100);
    if (!speed->control)
        APPEND(step, ", needs %.0f %%", speed->bar * 100);
    add_step(text, size, step, speed->at_s);
}

char *grading_text(const Grading *g, bool final, char *text, size_t size)
{
    bool over = *g->verdict;

    put(text, size, "%s", "");
    if (g->built)
        add_step(text, size, "compiles", g->built_s);
    else if (!final && !over)
        append(text, size, "  %s\n", g->building ? "compiling ..." : "starting ...");
    if (g->counting && (!final || g->timing || over))
        add_cases(g, text, size);
    if (!final && g->built && !g->timing && !g->speeds && !over)
        append(text, size, "  checking ...\n");
    for (int i = 0; i < g->speeds; i++)
        add_speed(&g->speed[i], text, size);
    if (!final && g->timing && !over)
        append(text, size, "  timing ...\n");
    return text;
}
