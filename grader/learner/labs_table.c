/* labs_table.c - prints all labs in one table. */
#include "learner/labs_table.h"
#include "learner/bar.h"
#include "learner/next.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DETAIL_COLUMNS = BAR_COLUMNS + 16 };

void labs_table_head(void)
{
    printf("     %-14s  %-11s  %-*s    needed  graded\n", "lab", "state", BAR_COLUMNS + 3,
           "speed, % of the reference");
}

/* The deciding case and what was seen there, "case flat: the tail, never written". */
static void detail_of(const Progress *p, char *text, size_t size)
{
    const Diagnosis *d = &p->diagnosis;
    int said = 0;

    *text = 0;
    for (int i = 0; i < DIAGNOSIS_COUNT; i++)
        if (d->saw & diagnosis_possible(p->latest) & SAW(i))
            append(text, size, "%s%s", said++ ? ", " : "", diagnosis_clause((DiagnosisCode) i));
    if (p->latest == CORRECT_ONLY)
        put(text, size, "its speed cannot be judged here");
    else if (d->lab_case)
        append(text, size, "%scase %s", *text ? ", " : "", d->lab_case->label);
    if (strlen(text) > DETAIL_COLUMNS)
        strcpy(text + DETAIL_COLUMNS - 2, "..");
}

void labs_table_further(void)
{
    printf("     further labs\n");
}

static bool has_speed(const Progress *p)
{
    return p->reached > 0 &&
           (p->latest == UNCHANGED || p->latest == SLOW || verdict_passed(p->latest));
}

void labs_table_row(const LabEntry *entry, const Progress *p, const char *since)
{
    char bar[BAR_COLUMNS + 1], speed[16], needed[16], text[400];
    const char *state = verdict_label(p->latest);

    if (has_speed(p))
        PUT(text, "%s %6s   %6s", bar_draw(p->reached, p->bar, bar, sizeof bar),
            bar_percent(p->reached, p->bar, speed, sizeof speed),
            bar_percent(p->bar, 0, needed, sizeof needed));
    else if (p->latest == UNCHANGED || verdict_passed(p->latest))
        PUT(text, "%s", "");
    else
        detail_of(p, text, sizeof text);
    if (*since)
        printf(" %02d  %-14.14s  %-11s  %-*s  %s\n", lab_number(entry), lab_name(entry), state,
               DETAIL_COLUMNS, text, since);
    else
        printf(" %02d  %-14.14s  %-*s%s\n", lab_number(entry), lab_name(entry), *text ? 13 : 0,
               state, text);
    fflush(stdout);
}

void labs_table_since(const Progress *progress, char *text, size_t size)
{
    time_t now = time(NULL);
    char today[16];

    strftime(today, sizeof today, "%Y-%m-%d", localtime(&now));
    if (!strcmp(today, progress->date))
        put(text, size, "%s", progress->time);
    else
        put(text, size, "%s", strlen(progress->date) > 5 ? progress->date + 5 : "older");
}

void labs_table_end(const char *file, int kept)
{
    int labs, done = next_count_done(file, &labs);

    if (kept)
        printf("\nA row with a time has not changed since; FLAGS=--again grades it again.");
    printf("\n%d of %d done.\n", done, labs);
    print_next(file);
}
