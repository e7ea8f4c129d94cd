/* command_grade.c - `warpbook grade`: grades labs, reports each, and remembers the results. */
#include "command_grade.h"
#include "coursework.h"
#include "base/child.h"
#include "judge/grade.h"
#include "learner/formats/formats.h"
#include "learner/labs_table.h"
#include "learner/next.h"
#include "learner/page.h"
#include "learner/portfolio/history.h"
#include "learner/predictions.h"
#include "learner/quiz/quiz.h"
#include "learner/record.h"
#include "learner/report.h"
#include "learner/submission.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* How a grading is shown. */
typedef enum View {
    LINES,    /* for programs */
    DOCUMENT, /* in the format of other programs */
    FULL,     /* -v: everything */
    PAGE,     /* one lab */
    TABLE     /* several labs, one line each */
} View;

static View view_of(const Options *options)
{
    if (options->lines)
        return LINES;
    if (options->format)
        return DOCUMENT;
    return options->verbose ? FULL : options->count == 1 ? PAGE : TABLE;
}

/* Before the first speed figure is shown: compares the student's predictions. */
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

static void begin_document(const Format *format, const Session *session, Document *document)
{
    *document = (Document){ .out = stdout, .session = session };
    if (format->begin)
        format->begin(document);
}

static void show_head(const Session *session, const Options *options, Document *document)
{
    session_clear_line();
    switch (view_of(options)) {
    case LINES:
        report_lines_machine(session);
        return;
    case DOCUMENT:
        begin_document(options->format, session, document);
        return;
    case FULL:
        report_machine(session);
        if (!options->submission)
            show_predictions(session, options);
        return;
    case PAGE:
        report_gpu(session);
        return;
    case TABLE:
        report_gpu(session);
        printf("\n");
        labs_table_head();
        fflush(stdout);
    }
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

/* ---- Labs that have not changed ---- */

/* Only the table shows them from an earlier grading. */
static bool may_keep(const Options *options)
{
    return view_of(options) == TABLE && !options->again && !options->seeded && !options->submission;
}

/* ---- Building ahead ---- */

static void build_lab(const Session *session, const Options *options, const LabEntry *entry)
{
    char source[PATH], shown[PATH];
    static FileList rungs;
    Build built;

    submission_find(&session->book, options, entry, source, shown);
    list_rungs(&session->book, entry, &rungs);
    if (*source)
        session_build(session, entry, source, shown, &built);
    for (int i = 0; i < rungs.count; i++) /* rung 1, and the reference */
        if (i == 0 || i == rungs.count - 1)
            session_build(session, entry, rungs.path[i], NULL, &built);
}

/* Starts a process that builds the labs into the cache, from the last to the first, while this one
 * grades from the first to the last. Only where times are modelled: it would disturb measurements.
 * Returns 0 if there is none. */
static pid_t start_building(const Session *session, const Options *options, const bool *kept)
{
    pid_t builder;

    if (!*session->simulated || options->count < 2)
        return 0;
    fflush(NULL);
    builder = child_fork();
    if (builder)
        return builder > 0 ? builder : 0;
    for (int i = options->count - 1; i > 0; i--)
        if (!kept[i])
            build_lab(session, options, options->labs[i]);
    _exit(0);
}

static void stop_building(pid_t builder)
{
    if (!builder)
        return;
    kill(-builder, SIGKILL);
    while (waitpid(builder, NULL, 0) < 0 && errno == EINTR)
        ;
    child_forget(builder);
}

/* ---- Grading ---- */

/* One run of the command. */
typedef struct Run {
    Options *options;
    Session session;
    Coursework work;
    Result results[64]; /* of the labs that were graded */
    int graded;
    bool kept[64]; /* by the index in options->labs: not changed, and so not graded */
    int kept_count;
    uint64_t key[64];
    bool all_passed, sound;
    Document document; /* --format: for other programs */
} Run;

/* Finds the labs whose last grading is still current. */
static void find_kept(Run *run)
{
    char source[PATH], shown[PATH];

    for (int i = 0; i < run->options->count && !run->options->lines; i++) {
        const LabEntry *entry = run->options->labs[i];
        Progress progress;
        submission_find(&run->session.book, run->options, entry, source, shown);
        run->key[i] = record_key(&run->session, entry, source);
        progress_load(run->session.book.progress, entry, &progress);
        run->kept[i] =
            may_keep(run->options) && progress.graded && run->key[i] && run->key[i] == progress.key;
        run->kept_count += run->kept[i];
    }
}

static void show_kept(Run *run, const LabEntry *entry)
{
    Progress progress;
    char since[16];

    progress_load(run->session.book.progress, entry, &progress);
    labs_table_since(&progress, since, sizeof since);
    labs_table_row(entry, &progress, since);
    run->all_passed &= verdict_passed(progress.latest);
}

static void remember(const Session *session, const Result *result, uint64_t key, Progress *progress)
{
    record_result(session, result, key, progress);
    if (result->verdict != UNSOUND)
        history_keep(session->book.progress, result, session->gpu.name);
}

/* Other programs find the file from the working directory. */
static void print_in_format(Run *run, const Result *result, const char *shown)
{
    const Options *options = run->options;
    const char *file = options->submission ? shown : result->source;
    static Annotations annotations;

    annotations_of(result, path_from_here(file), &annotations);
    options->format->lab(&run->document, result, &annotations);
    fflush(stdout);
}

/* make watch shows the page with its keys, and leaves it in the terminal with commands. */
static void show_page(const Session *session, const Result *result, const Progress *progress)
{
    if (next_in_watch()) {
        putchar(NEXT_FORM);
        print_page(session, result, progress);
        putchar(NEXT_FORM);
        unsetenv(NEXT_IN_WATCH);
    }
    print_page(session, result, progress);
}

static void show_result(Run *run, const Result *result, const char *shown, uint64_t key)
{
    const Options *options = run->options;
    Progress progress = { 0 };

    if (options->submission)
        record_add(result, key, &progress);
    else
        remember(&run->session, result, key, &progress);
    switch (view_of(options)) {
    case LINES:
        print_lines(&run->session, result, shown);
        return;
    case DOCUMENT:
        print_in_format(run, result, shown);
        return;
    case FULL:
        report_table(result, run->graded == 1);
        return;
    case PAGE:
        show_page(&run->session, result, options->submission ? NULL : &progress);
        return;
    case TABLE:
        labs_table_row(result->entry, &progress, "");
    }
}

static void grade_one(Run *run, int i)
{
    char source[PATH], shown[PATH];
    const LabEntry *entry = run->options->labs[i];
    Result *result = &run->results[run->graded++];

    submission_find(&run->session.book, run->options, entry, source, shown);
    run->session.seed = seed_of(run->options, &run->work, entry);
    grade(&run->session, entry, source, shown, result);
    run->all_passed &= verdict_passed(result->verdict);
    run->sound &= result->verdict != UNSOUND;
    show_result(run, result, shown, run->key[i]);
}

/* The first of the grader's own errors; a row has no room for it. */
static void show_unsound(const Run *run)
{
    for (int i = 0; i < run->graded; i++)
        if (run->results[i].verdict == UNSOUND) {
            report_short(&run->results[i]);
            return;
        }
}

static void show_end(Run *run)
{
    const Options *options = run->options;

    if (options->format && options->format->end)
        options->format->end(&run->document, run->sound);
    if (view_of(options) == FULL)
        report_reasons(&run->session, run->results, run->graded, options->submission);
    if (view_of(options) == TABLE) {
        show_unsound(run);
        if (!options->submission)
            labs_table_end(run->session.book.progress, run->kept_count);
    }
    if (!options->lines && !options->format)
        coursework_counting(&run->work, &run->session, run->results, run->graded, options->quick);
}

/* Whether the i-th lab is the first further one below labs of the course. */
static bool further_begin(const Options *options, int i)
{
    return i > 0 && options->labs[i]->lab->further && !options->labs[i - 1]->lab->further;
}

static void grade_all(Run *run)
{
    pid_t builder;

    find_kept(run);
    builder = start_building(&run->session, run->options, run->kept);
    for (int i = 0; i < run->options->count; i++) {
        if (view_of(run->options) == TABLE && further_begin(run->options, i))
            labs_table_further();
        if (run->kept[i])
            show_kept(run, run->options->labs[i]);
        else
            grade_one(run, i);
    }
    stop_building(builder);
}

int run_grade(Options *options)
{
    static Run run;
    Session *session = &run.session;

    if (options->sealed && options->count != 1) {
        fprintf(stderr, "warpbook: --seal %s needs one LAB\n", options->sealed);
        return USAGE;
    }
    if (!submission_fits(options) || !coursework_take(options->course, &run.work))
        return USAGE;
    run.options = options;
    run.all_passed = run.sound = true;
    *session = (Session){ .quick = options->quick,
                          .live = isatty(2) && !options->lines && !options->format };
    session->events = options->events;
    session->two_at_a_time =
        view_of(options) == PAGE; /* someone waits, and nothing else is graded */
    if (!session_open(session, options->device))
        return report_could_not(session);
    session->course = run.work.course;
    session->replayed = options->seeded;
    session->seed = seed_of(options, &run.work, options->labs[0]);
    show_head(session, options, &run.document);
    grade_all(&run);
    show_end(&run);
    run.sound &= write_sealed(session, options);
    session_close(session);
    return !run.sound ? COULD_NOT : options->strict && !run.all_passed ? NOT_PASSED : DONE;
}
