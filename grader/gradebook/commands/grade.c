/* grade.c - the command that reads submissions and grades them.
 *
 * A run, in order: store/terms reads the course file; import/ reads the submissions, in an isolated
 * process; store/import_submissions enters them into the database; store/queue lists the kernels to
 * grade; run/scheduler grades each in a sandbox; store/attempt records the results.
 */
#include "gradebook/commands/grade.h"
#include "gradebook/run/sandbox.h"
#include "gradebook/store/import_submissions.h"
#include "gradebook/store/people.h"
#include "gradebook/store/judged.h"
#include "gradebook/run/scheduler.h"
#include "gradebook/import/isolated.h"
#include "gradebook/store/log.h"
#include "gradebook/store/queue.h"
#include "gradebook/slurm/slurm.h"
#include "gradebook/base/stop.h"
#include "gradebook/store/terms.h"
#include "build/workbook.h"
#include "base/util.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the remarks of one of these kinds, at most `most` of them. */
static void print_remarks(const Class *class, const char *kinds, int most)
{
    int count = 0;

    for (int i = 0; i < class->count; i++)
        for (int k = 0; k < class->list[i]->remark_count && k < SUBMISSION_REMARKS; k++) {
            const Remark *remark = &class->list[i]->remarks[k];
            if (is_in(kinds, remark->kind) && count++ < most)
                fprintf(stderr, "%s, %s%s%s: %s\n", class->list[i]->student, class->list[i]->source,
                        *remark->entry ? ", " : "", remark->entry, remark->sentence);
        }
    if (count > most)
        fprintf(stderr, "and %d more (gradebook report lists them)\n", count - most);
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

/* counts->kernels is about the whole gradebook, the others about this import. */
static void print_import(const Class *class, const ImportCounts *counts)
{
    fprintf(stderr,
            "%d student%s, %d submission%s, %d kernel%s. The whole gradebook has %d different "
            "kernel%s.\n",
            counts->students, plural(counts->students), counts->submissions,
            plural(counts->submissions), counts->parts, plural(counts->parts), counts->kernels,
            plural(counts->kernels));
    fputs(counts->notes, stderr);
    print_remarks(class, "matched", 10);
    print_remarks(class, "refused ambiguous", INT_MAX);
    if (counts->losses)
        fprintf(stderr, "Replaced, as requested by --replace:\n%s", counts->losses);
}

static void print_refusal(const Options *options, const ImportCounts *counts)
{
    const bool named = options->assignment && *options->assignment;

    if (counts->contradiction)
        say(0,
            "nothing was imported: the name of %s says %s, and --labs says another lab. If the "
            "name is wrong: --replace",
            options->words[0], counts->contradiction);
    if (!counts->losses)
        return;
    say(0, "nothing was imported, because students would lose a submission:");
    fprintf(stderr,
            "%sThis would replace the earlier import of %s%s%s. If it is another assignment, name "
            "it: --assignment NAME, or choose its labs with --labs. If these students shall become "
            "missing: --replace.\n",
            counts->losses, named ? "'" : "the same assignment", named ? options->assignment : "",
            named ? "'" : "");
}

bool grade_open_sandbox(Sandbox *sandbox, Options *options, char *problem, size_t size)
{
    bool slurm = options->slurm.requested;
    char job[40];

    options->slurm.trusting = options->trusting;
    if (!sandbox_open(sandbox, options->out, options->trusting || slurm, problem, size) ||
        (slurm && !options->trusting && !sandbox_lies_apart(sandbox, problem, size)) ||
        !sandbox_hides(sandbox, options->words[0], problem, size))
        return false;
    if (!slurm && slurm_runs(sandbox->store, job, sizeof job)) {
        put(problem, size,
            "Slurm array %s is still grading kernels of this gradebook. Continue with --executor "
            "slurm, or cancel the array (scancel %s), remove %s/slurm, and run this command again",
            job, job, options->out);
        return false;
    }
    return true;
}

/* True if the gradebook would be inside the submissions. The next run would read it as one of
 * them. The end of `out` need not exist yet. */
static bool is_among(const char *out, const char *submissions)
{
    char *real = realpath(submissions, NULL), *above = NULL, path[4096];
    size_t length = real ? strlen(real) : 0;
    bool among;

    PUT(path, "%s", out);
    while (!(above = realpath(*path ? path : ".", NULL)) && *path) {
        char *slash = strrchr(path, '/');
        if (slash && slash == path && path[1])
            slash[1] = 0;
        else
            *(slash ? slash : path) = 0;
    }
    among =
        real && above && !strncmp(above, real, length) && (!above[length] || above[length] == '/');
    free(real);
    free(above);
    return among;
}

static bool import_class(Store *store, const Options *options, const Sandbox *sandbox, Class *class)
{
    Manifest *manifest = manifest_read(sandbox->root);
    const ImportRequest request = { .source = options->words[0],
                                    .assignment = options->assignment ? options->assignment : "",
                                    .requested = options->grading.requested,
                                    .labs_named = options->labs_named,
                                    .replace = options->replace,
                                    .manifest = manifest };
    ImportCounts counts;
    bool imported = import_submissions(store, class, &request, &counts);

    if (imported) {
        print_import(class, &counts);
        print_open_people(store, options);
    } else {
        print_refusal(options, &counts);
    }
    free(counts.notes);
    free(counts.losses);
    manifest_free(manifest);
    return imported;
}

static bool read_submissions(Store *store, const Options *options, const Sandbox *sandbox)
{
    char problem[1000];
    bool read;
    Class class;

    if (options->grading.listed.count) {
        read = kernels_import(store, options->words[0], options->grading.listed_lab,
                              &options->grading.listed, problem, sizeof problem);
        return read || say(0, "%s", problem);
    }
    read = isolated_read(options->words[0], &class, problem, sizeof problem);
    if (!read)
        say(0, "%s", problem);
    read = read && import_class(store, options, sandbox, &class);
    class_free(&class);
    return read;
}

int grade_open_kernels(Store *store, const Sandbox *sandbox, const Options *options)
{
    RunEnd end = options->slurm.requested
                     ? slurm_run(store, sandbox, &options->grading, &options->slurm)
                     : scheduler_run(store, sandbox, &options->grading);
    QueueCounts counts;

    if (options->grading.listed.count) /* in a Slurm task, the logs report what happened */
        return end == RUN_DONE ? DONE : end == RUN_STOPPED ? STOPPED : COULD_NOT;
    queue_count(store, &counts);
    if (counts.given_up)
        fprintf(stderr,
                "%d could not be graded because the machine failed. To see why: gradebook "
                "report --out %s\n",
                counts.given_up, options->out);
    if (end == RUN_STOPPED) {
        fprintf(stderr, "Stopped; %d left. Run the same command to continue.\n", counts.open);
        return STOPPED;
    }
    if (end == RUN_NO_DEVICE)
        return say(
            COULD_NOT,
            "no usable device remains; %d still to grade. Fix the devices, then run the same "
            "command to continue.",
            counts.open);
    fprintf(stderr, "Grading finished. To see the results: gradebook report --out %s\n",
            options->out);
    return counts.given_up ? COULD_NOT : DONE;
}

/* Requests new gradings of kernels whose stored speeds cannot decide about a changed bar. */
static void request_undecided(Store *store, const Options *options)
{
    judged_find(store);
    for (int lab = 0; all_labs[lab].folder; lab++) {
        int count = options->grading.requested[lab] && !options->grading.listed.count
                        ? judged_request(store, all_labs[lab].folder)
                        : 0;
        if (count)
            fprintf(stderr,
                    "%s: the bars have changed. For %d kernel%s the stored speeds cannot decide: "
                    "grading again.\n",
                    all_labs[lab].folder, count, count > 1 ? "s" : "");
    }
}

/* Requests new gradings of kernels whose lab has changed since they were graded. */
static void request_changed(Store *store, const Options *options)
{
    Workbook book;
    char problem[200];

    for (int lab = 0; workbook_find(&book, problem, sizeof problem) && all_labs[lab].folder;
         lab++) {
        int count = options->grading.requested[lab]
                        ? queue_request_changed(store, all_labs[lab].folder,
                                                lab_hash(&book, &all_labs[lab]))
                        : 0;
        if (count)
            fprintf(stderr, "%s has changed since %d kernel%s graded: grading again.\n",
                    all_labs[lab].folder, count, count > 1 ? "s were" : " was");
    }
}

/* Requests full gradings of kernels that --quick has graded. */
static void request_quick(Store *store, const Options *options)
{
    const GradingOptions *grading = &options->grading;

    for (int lab = 0; !grading->quick && !grading->listed.count && all_labs[lab].folder; lab++) {
        int count = grading->requested[lab] ? queue_request_quick(store, all_labs[lab].folder) : 0;
        if (count)
            fprintf(stderr, "%s: %d kernel%s graded with --quick only: grading again.\n",
                    all_labs[lab].folder, count, count > 1 ? "s were" : " was");
    }
}

/* Without submissions, a course file is stored and graded by. That needs submissions of earlier
 * runs, so the gradebook must exist. */
static bool open_gradebook(Store *store, const Options *options)
{
    if (!options->words[0]) {
        if (!store_open(store, options->out, false))
            return false;
        store_close(store);
    }
    return store_open(store, options->out, true);
}

int command_grade(Options *options)
{
    const bool importing = options->words[0];
    Store store;
    Sandbox sandbox = { 0 };
    char problem[1200];
    int status;

    stop_on_signals();
    if (!importing && (!options->course || options->grading.listed.count))
        return say(USAGE, "missing SUBMISSIONS: gradebook grade SUBMISSIONS --out DIR");
    if (importing && !options->grading.listed.count && is_among(options->out, options->words[0]))
        return say(COULD_NOT, "--out %s is inside the submissions: choose a folder outside them",
                   options->out);
    if (!open_gradebook(&store, options))
        status = say(COULD_NOT, "%s", store.problem);
    else if (store.logs = options->logs, !take_course(&store, options))
        status = USAGE;
    else if (!grade_open_sandbox(&sandbox, options, problem, sizeof problem))
        status = say(COULD_NOT, "%s", problem);
    else if (importing && !read_submissions(&store, options, &sandbox))
        status = stop_requested() ? STOPPED : COULD_NOT;
    else {
        terms_keep(&store);
        if (!store.logs)
            log_sources(&store);
        request_changed(&store, options);
        request_undecided(&store, options);
        request_quick(&store, options);
        status = grade_open_kernels(&store, &sandbox, options);
    }
    sandbox_close(&sandbox);
    store_close(&store);
    return status;
}
