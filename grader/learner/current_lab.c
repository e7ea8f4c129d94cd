/* current_lab.c - the lab that a learner works on, and the one that was passed last. */
#include "learner/current_lab.h"
#include "learner/portfolio/history.h"
#include "learner/progress.h"
#include "learner/state_file.h"
#include "learner/watch/labs.h"

#include <stdio.h>
#include <string.h>

static const LabEntry *passed_last(const Workbook *book)
{
    const LabEntry *last = NULL;
    char path[PATH], at[HISTORY_TIME], latest[HISTORY_TIME] = "";

    state_path(book->progress, "history", path, sizeof path);
    for (const LabEntry *entry = all_labs; entry->folder; entry++)
        if (history_last_pass(path, entry, at) && strcmp(at, latest) > 0) {
            memcpy(latest, at, sizeof at);
            last = entry;
        }
    return last;
}

/* The lab whose kernel was graded last, if it did not pass. Starters do not count: `make grade`
 * grades all of them. */
static const LabEntry *failed_last(const Workbook *book)
{
    const LabEntry *last = NULL;
    char latest[40] = "", at[40];
    Progress progress;
    bool failed = false;

    for (const LabEntry *entry = all_labs; entry->folder; entry++) {
        progress_load(book->progress, entry, &progress);
        PUT(at, "%s %s", progress.date, progress.time);
        if (!progress.graded || progress.latest == UNCHANGED || strcmp(at, latest) <= 0)
            continue;
        memcpy(latest, at, sizeof at);
        failed = !verdict_passed(progress.latest) && progress.latest != CORRECT_ONLY;
        last = entry;
    }
    return failed ? last : NULL;
}

const LabEntry *current_lab(const Workbook *book, LabWanted wanted)
{
    const LabEntry *last = wanted == WANTS_PASSED ? passed_last(book) : failed_last(book);

    return last ? last : lab_after(book, NULL);
}

bool lab_is_begun(const Workbook *book, const LabEntry *entry)
{
    Progress progress;

    progress_load(book->progress, entry, &progress);
    return progress.hints || (progress.graded && progress.latest != UNCHANGED);
}

/* Which lab was taken: on standard error, since results may be read by a program. */
static void say_which(const Workbook *book, const LabEntry *entry, LabWanted wanted)
{
    const char *which = "first one that is not done";

    if (wanted == WANTS_PASSED && lab_state(book, entry) != LAB_OPEN)
        which = "one that you passed last";
    else if (wanted == WANTS_OPEN && entry == failed_last(book))
        which = "one that you graded last";
    fprintf(stderr, "Lab %02d %s, the %s. LAB=NAME takes another one.\n", lab_number(entry),
            lab_name(entry), which);
}

bool one_lab(Options *options, const char *command, LabWanted wanted, int *status)
{
    static Workbook book;
    char why[700];
    const LabEntry *entry;

    *status = USAGE;
    if (options->count == 1)
        return true;
    if (options->count || options->submission) {
        fprintf(stderr, "warpbook: %s takes one lab: make %s LAB=%s\n", command, command,
                lab_name(options->count ? options->labs[0] : &all_labs[0]));
        return false;
    }
    if (!workbook_find(&book, why, sizeof why)) {
        *status = COULD_NOT;
        fprintf(stderr, "warpbook: %s\n", why);
        return false;
    }
    entry = current_lab(&book, wanted);
    if (!entry) {
        *status = DONE;
        printf("All labs are done. For one of them: make %s LAB=%s\n", command,
               lab_name(&all_labs[0]));
        return false;
    }
    say_which(&book, entry, wanted);
    options->labs[options->count++] = entry;
    options->lab_is_guessed = true;
    return true;
}
