/* command_grade.c - `warpbook grade`: grades labs, reports each, and remembers the results. */
#include "command_grade.h"
#include "coursework.h"
#include "judge/grade.h"
#include "learner/portfolio/history.h"
#include "learner/predictions.h"
#include "learner/progress.h"
#include "learner/quiz/quiz.h"
#include "learner/report.h"
#include "learner/submission.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void remember(const Session *session, const Result *result)
{
    Progress progress;
    time_t now = time(NULL);

    if (result->verdict == UNSOUND)
        return;
    progress_load(session->book.progress, result->entry, &progress);
    progress_graded(&progress, result->verdict, result->hash);
    progress.ratio = result->ratio;
    progress.diagnosis = result->diagnosis;
    strftime(progress.date, sizeof progress.date, "%Y-%m-%d", localtime(&now));
    progress_keep(session->book.progress, result->entry, &progress);
    history_keep(session->book.progress, result, session->gpu.name);
}

/* Before the first speed figure is shown: for one lab, compares the student's predictions; for
 * several, prints once how many labs still lack them. */
static void show_predictions(const Session *session, const Options *options)
{
    char path[PATH];
    int waiting = 0;

    session_clear_line();
    for (int i = 0; i < options->count; i++) {
        const LabEntry *entry = options->labs[i];
        if (options->count == 1)
            explain_predictions(&session->book, entry, false);
        else if (predictions_open(lab_file(&session->book, entry, "predictions.txt", path),
                                  entry->lab))
            waiting++;
    }
    if (waiting)
        print_waiting(waiting);
    printf("\n");
}

static bool write_sealed(const Session *session, const Options *options)
{
    char why[1000];

    if (!options->sealed ||
        session_seal(session, options->labs[0], options->sealed, why, sizeof why))
        return true;
    fprintf(stderr, "warpbook: --seal %s: %s\n", options->sealed, why);
    return false;
}

/* A course that counts the quiz needs the right answers. */
static void print_lines(const Session *session, const Result *result, const char *shown)
{
    const bool asks = session->course.lab[result->entry - all_labs].policy.quiz >= 0;
    char *answers = asks ? quiz_right_answers(result, shown) : NULL;

    report_lines_with(result, answers ? answers : "");
    free(answers);
}

static uint64_t seed_of(const Options *options, const Coursework *work, const LabEntry *entry)
{
    return options->seeded ? options->seed : coursework_seed(work, entry);
}

int run_grade(Options *options)
{
    static Session session;
    static Result results[64];
    static Coursework work;
    bool all_passed = true, sound = true;

    if (options->sealed && options->count != 1) {
        fprintf(stderr, "warpbook: --seal %s needs one LAB\n", options->sealed);
        return USAGE;
    }
    if (!submission_fits(options) || !coursework_take(options->course, &work))
        return USAGE;
    session = (Session){ .quick = options->quick, .live = isatty(2) && !options->lines };
    session.events = options->events;
    if (!session_open(&session, options->device))
        return report_could_not(&session);
    session.course = work.course;
    session.replayed = options->seeded;
    session.seed = seed_of(options, &work, options->labs[0]);
    if (options->lines)
        report_lines_machine(&session);
    else
        report_machine(&session);
    if (!options->lines && !options->submission)
        show_predictions(&session, options);
    for (int i = 0; i < options->count; i++) {
        char source[PATH], shown[PATH];
        const LabEntry *entry = options->labs[i];
        submission_find(&session.book, options, entry, source, shown);
        session.seed = seed_of(options, &work, entry);
        grade(&session, entry, source, shown, &results[i]);
        all_passed &= verdict_passed(results[i].verdict);
        sound &= results[i].verdict != UNSOUND;
        if (!options->submission)
            remember(&session, &results[i]);
        if (options->lines)
            print_lines(&session, &results[i], shown);
        else
            report_table(&results[i], i == 0);
    }
    if (!options->lines)
        report_reasons(&session, results, options->count, options->submission);
    if (!options->lines)
        coursework_counting(&work, &session, results, options->count, options->quick);
    sound &= write_sealed(&session, options);
    session_close(&session);
    return !sound ? COULD_NOT : options->strict && !all_passed ? NOT_PASSED : DONE;
}
