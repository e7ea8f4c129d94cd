/* decide.c - the commands by which people decide about marks, and look back: decide, extend,
 * excuse, waiting and history. */
#include "gradebook/commands/command.h"
#include "gradebook/report/history.h"
#include "gradebook/report/results_query.h"
#include "gradebook/report/waiting.h"
#include "gradebook/store/decisions.h"
#include "gradebook/store/people.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What a decision changes ---- */

enum { LAB_BYTES = 40 };

typedef struct LabMarks {
    char name[200], lab[LAB_BYTES];
    bool known;
    double marks;
    char why[400];
} LabMarks;

/* A person's marks in all labs. */
static int read_marks(Store *store, int64_t person, LabMarks marks[LABS])
{
    sqlite3_stmt *rows = rows_ask(store);
    int count = 0;
    Row row;

    while (rows_next(store, rows, &row)) {
        LabMarks *m = &marks[count];
        if (row.student != person || count == LABS)
            continue;
        *m = (LabMarks){ .known = row.has_marks, .marks = row.marks };
        PUT(m->name, "%s", row.name);
        PUT(m->lab, "%s", row.lab);
        PUT(m->why, "%s", row.earned.why);
        count++;
    }
    return count;
}

static const char *marks_text(const LabMarks *m, char text[40])
{
    return m->known ? put(text, 40, "%.1f marks", m->marks) : put(text, 40, "no marks");
}

/* Prints the lab of the decision, and each other lab whose marks have changed. */
static void print_changes(const LabMarks *before, const LabMarks *after, int count, const char *lab)
{
    char was[40], is[40];
    int printed = 0;

    for (int i = 0; i < count; i++) {
        const LabMarks *b = &before[i], *a = &after[i];
        bool same = b->known == a->known && b->marks == a->marks;
        if (same && strcmp(a->lab, lab))
            continue;
        printf("%s, %s: %s%s%s (%s)\n", a->name, a->lab, same ? "still " : marks_text(b, was),
               same ? "" : " -> ", marks_text(a, is), a->why);
        printed++;
    }
    if (!printed)
        printf("Stored; no marks change.\n");
}

/* ---- Deciding ---- */

/* Opens an existing gradebook for writing, and finds the person. */
static bool open_for(Store *store, Options *options, int64_t *person, int *status)
{
    char problem[700];

    *status = COULD_NOT;
    if (!store_open(store, options->out, false)) /* it must already exist */
        return say(0, "%s", store->problem);
    store_close(store);
    if (!store_open(store, options->out, true))
        return say(0, "%s", store->problem);
    *status = USAGE;
    return take_course(store, options) &&
           (people_find(store, options->words[0], person, problem, sizeof problem) ||
            say(0, "%s", problem));
}

static int decide(Options *options, Decision *decision)
{
    static LabMarks before[LABS], after[LABS];
    Store store;
    int status, count;

    decision->author = author_of(options);
    decision->note = options->note;
    if (open_for(&store, options, &decision->person, &status)) {
        count = read_marks(&store, decision->person, before);
        if (options->undo && !decisions_undo(&store, decision)) {
            status = say(USAGE, "nothing to undo: %s has no such decision for %s",
                         options->words[0], *decision->lab ? decision->lab : "all labs");
        } else {
            if (!options->undo)
                decisions_add(&store, decision);
            read_marks(&store, decision->person, after);
            print_changes(before, after, count, decision->lab);
            status = DONE;
        }
    }
    store_close(&store);
    return status;
}

/* True if the words name a student and a lab, a note is given, and a value unless it is an undo. */
static bool take_decision(const Options *options, bool with_value, bool all_labs_too,
                          Decision *decision)
{
    const char *lab = options->words[1];
    const LabEntry *entry = lab ? lab_find(lab) : NULL;
    int words = 2 + (with_value && !options->undo);

    if (options->word_count != words)
        return say(0,
                   "usage: gradebook %s %s --note \"...\" --out DIR; to take the latest back: "
                   "gradebook %s STUDENT LAB%s --undo --note \"...\" --out DIR",
                   options->command->name, options->command->word_names, options->command->name,
                   all_labs_too ? "|all" : "");
    if (!entry && !(all_labs_too && !strcmp(lab, "all")))
        return say(0, "there is no lab '%s'", lab);
    if (entry && entry->lab->unmarked)
        return say(0, "%s is a warm-up without marks", entry->folder);
    if (!options->note)
        return say(0, "missing --note: the reason is kept with the decision");
    decision->lab = entry ? entry->folder : "";
    decision->value = with_value && !options->undo ? options->words[2] : "";
    return true;
}

int command_decide(Options *options)
{
    Decision decision = { .kind = "marks" };
    Decided decided;
    double marks;

    if (!take_decision(options, true, false, &decision))
        return USAGE;
    if (!options->undo && !decision_marks(decision.value, &decided, &marks))
        return say(USAGE, "'%s': expected pass, zero, or marks from 0 to 100", decision.value);
    return decide(options, &decision);
}

int command_extend(Options *options)
{
    Decision decision = { .kind = "extend" };
    double by_s;
    int64_t until;

    if (!take_decision(options, true, true, &decision))
        return USAGE;
    if (!options->undo && !decision_extension(decision.value, &by_s, &until))
        return say(USAGE,
                   "'%s': expected a span after the deadline, such as 2d, or a time with its zone, "
                   "such as '2026-12-02 23:59 +01:00'",
                   decision.value);
    return decide(options, &decision);
}

int command_excuse(Options *options)
{
    Decision decision = { .kind = "excuse" };

    return take_decision(options, false, false, &decision) ? decide(options, &decision) : USAGE;
}

/* ---- Looking back ---- */

static const Options *wanted;
static int status;

static void print_waiting(Store *store)
{
    Filter filter;

    if (!filter_of(store, wanted, &filter))
        status = USAGE;
    else if (!waiting_print(store, &filter, wanted->out, wanted->to))
        status = COULD_NOT;
}

int command_waiting(Options *options)
{
    int read;

    wanted = options;
    read = command_reading(options, print_waiting);
    return read ? read : status;
}

static void print_history(Store *store)
{
    const LabEntry *entry = wanted->words[1] ? lab_find(wanted->words[1]) : NULL;
    char problem[700];

    if (!history_print(store, wanted->words[0], entry ? entry->folder : "", problem,
                       sizeof problem))
        status = say(USAGE, "%s", problem);
}

int command_history(Options *options)
{
    int read;

    wanted = options;
    if (!options->words[0])
        return say(USAGE, "missing STUDENT: gradebook history STUDENT [LAB] --out DIR");
    if (options->words[1] && !lab_find(options->words[1]))
        return say(USAGE, "there is no lab '%s'", options->words[1]);
    read = command_reading(options, print_history);
    return read ? read : status;
}
