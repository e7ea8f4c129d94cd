/* ladder_place.c - compares a speed with the rungs that were measured for docs/measured. */
#include "learner/ladder_place.h"
#include "draw/collect.h"
#include "learner/bar.h"
#include "learner/record.h"

#include <stdlib.h>
#include <string.h>

/* Differences below this are noise, or the model's error. */
static const double same = 0.03;

/* From this share of a rung's speed on, a speed is close to it. */
static const double close_to = 0.9;

/* The highest rung that is not faster than `mine`, counted from 1; 0: none. */
static int rung_below(const double *ratios, int count, double mine)
{
    int below = 0;

    for (int i = 0; i < count; i++)
        if (ratios[i] > 0 && ratios[i] <= mine * (1 + same) &&
            (!below || ratios[i] >= ratios[below - 1]))
            below = i + 1;
    return below;
}

/* The slowest rung that is faster than `mine`; 0: none. */
static int rung_above(const double *ratios, int count, double mine)
{
    int above = 0;

    for (int i = 0; i < count; i++)
        if (ratios[i] > mine * (1 + same) && (!above || ratios[i] < ratios[above - 1]))
            above = i + 1;
    return above;
}

static void say_rung(const double *ratios, int rung, char *text, size_t size)
{
    char percent[16];

    append(text, size, "%d (%s)", rung, bar_percent(ratios[rung - 1], 0, percent, sizeof percent));
}

void ladder_place_say(const double *ratios, int count, double mine, char *text, size_t size)
{
    const int below = rung_below(ratios, count, mine), above = rung_above(ratios, count, mine);
    const bool level = below && mine <= ratios[below - 1] * (1 + same);
    const bool close = !level && above && mine >= ratios[above - 1] * close_to;

    put(text, size,
        level    ? "like rung "
        : close  ? "close to rung "
        : !above ? "above all rungs, also "
        : !below ? "below rung "
                 : "between rung ");
    if (below && !close)
        say_rung(ratios, below, text, size);
    if (above && !level) {
        append(text, size, below && !close ? " and " : "");
        say_rung(ratios, above, text, size);
    }
}

/* "an H200" from "Measured: NVIDIA H200, 132 SMs, 2026-11-21, docs/...". */
static void say_where(const Ladder *ladder, char *text, size_t size)
{
    const char *from = strstr(ladder->where, ": ");

    from = from ? from + 2 : ladder->where;
    append(text, size, ", speeds of the files there, measured on an %.*s.",
           (int) strcspn(from, ","), from);
}

static bool is_reference(const Workbook *book, const LabEntry *entry, int rung)
{
    static FileList files;

    list_rungs(book, entry, &files);
    return rung > 0 && rung == files.count;
}

/* The rungs' measured ratios in the case that counts; returns their number, 0 if unknown. Without
 * the reference's, a kernel faster than the last measured rung would seem to be above all. Modelled
 * speeds are not compared with measured ones: on another GPU the rungs are at other places. */
static int ratios_of(const Workbook *book, const Result *result, Ladder *ladder,
                     double ratios[MOST_RUNGS])
{
    const CaseSpeed *nearest = record_case(result);
    int rungs = 0;

    if (!nearest || !nearest->pairs ||
        !measured_ladder(book, result->entry, nearest->lab_case, ladder))
        return 0;
    for (int i = 0; i < ladder->count; i++) {
        const int number = atoi(ladder->rungs[i].name);
        if (number < 1 || number > MOST_RUNGS)
            continue;
        ratios[number - 1] = ladder->rungs[i].ratio;
        rungs = number > rungs ? number : rungs;
    }
    return is_reference(book, result->entry, rungs) ? rungs : 0;
}

bool ladder_place(const Workbook *book, const Result *result, char *text, size_t size)
{
    static Ladder ladder;
    const CaseSpeed *nearest = record_case(result);
    double ratios[MOST_RUNGS] = { 0 };
    const int rungs = ratios_of(book, result, &ladder, ratios);
    char place[160];

    if (!rungs)
        return false;
    ladder_place_say(ratios, rungs, nearest->ratio.median, place, sizeof place);
    put(text, size, "Your place in solutions/%s/: %s", result->entry->folder, place);
    say_where(&ladder, text, size);
    return true;
}
