/* main.c - gradebook grades a whole course: the table of subcommands and their functions.
 *
 * A run, in order: store/terms reads the course file; import/ reads the submissions, in an isolated
 * process; store/import_submissions enters them into the database; store/queue lists the kernels to
 * grade; run/scheduler grades each in a sandbox; store/attempt records the results; report/ shows
 * them.
 */
#include "gradebook/run/sandbox.h"
#include "gradebook/doctor.h"
#include "gradebook/store/import_roster.h"
#include "gradebook/store/import_submissions.h"
#include "gradebook/report/export.h"
#include "gradebook/run/scheduler.h"
#include "gradebook/report/overview.h"
#include "gradebook/import/isolated.h"
#include "gradebook/store/queue.h"
#include "gradebook/options.h"
#include "gradebook/slurm/slurm.h"
#include "gradebook/base/stop.h"
#include "gradebook/store/terms.h"
#include "build/workbook.h"
#include "base/util.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DONE = 0, USAGE = 2, COULD_NOT = 3, STOPPED = 130 };
enum { LIMIT_S = 1800 }; /* per kernel and lab; warpbook's own limits are far lower */

static int say(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int say(int status, const char *format, ...)
{
    va_list arguments;

    fputs("gradebook: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return status;
}

/* ---- grade ---- */

static void print_remarks_of_class(const Class *class, const ImportCounts *counts)
{
    fprintf(stderr, "%d students, %d submissions, %d kernels (%d different).\n", counts->students,
            counts->submissions, counts->parts, counts->kernels);
    for (int i = 0; i < class->count; i++)
        for (int k = 0; k < class->list[i]->remark_count && k < SUBMISSION_REMARKS; k++) {
            const Remark *remark = &class->list[i]->remarks[k];
            if (!strcmp(remark->kind, "refused") || !strcmp(remark->kind, "ambiguous"))
                fprintf(stderr, "%s, %s%s%s: %s\n", class->list[i]->student, class->list[i]->source,
                        *remark->entry ? ", " : "", remark->entry, remark->sentence);
        }
}

/* Opens the sandbox for gradings. With Slurm, each node tests its own sandbox. */
static bool open_sandbox(Sandbox *sandbox, Options *options, char *problem, size_t size)
{
    bool slurm = options->slurm.requested;
    char job[40];

    options->slurm.trusting = options->trusting;
    if (!sandbox_open(sandbox, options->out, options->trusting || slurm, problem, size) ||
        (slurm && !options->trusting && !sandbox_lies_apart(sandbox, problem, size)) ||
        !sandbox_hides(sandbox, options->submissions, problem, size))
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

/* True if the gradebook is inside the submissions. The next run would read it as a submission. */
static bool is_among(const char *store, const char *submissions)
{
    char *real = realpath(submissions, NULL);
    size_t length = real ? strlen(real) : 0;
    bool among = real && !strncmp(store, real, length) && (!store[length] || store[length] == '/');

    free(real);
    return among;
}

static bool read_submissions(Store *store, const Options *options, const Sandbox *sandbox)
{
    Class class;
    ImportCounts counts;
    char problem[1000];
    Manifest *manifest;

    if (options->grading.listed.count) {
        bool read = kernels_import(store, options->submissions, options->grading.listed_lab,
                                   &options->grading.listed, problem, sizeof problem);
        return read || say(0, "%s", problem);
    }
    if (is_among(sandbox->store, options->submissions)) {
        say(0, "--out %s is inside the submissions: choose a folder outside them", options->out);
        return false;
    }
    if (!isolated_read(options->submissions, &class, problem, sizeof problem)) {
        say(0, "%s", problem);
        class_free(&class);
        return false;
    }
    manifest = manifest_read(sandbox->root);
    import_submissions(store, &class, options->submissions, options->grading.requested, manifest,
                       &counts);
    print_remarks_of_class(&class, &counts);
    manifest_free(manifest);
    class_free(&class);
    return true;
}

static int mark(Store *store, const Sandbox *sandbox, const Options *options)
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

/* Loads the course file. Without --devices, its device is used. */
static bool take_course(Store *store, Options *options)
{
    char *mistakes;

    if (!terms_load(store, options->course, &mistakes)) {
        say(0, "the course file has errors; nothing was done:");
        fprintf(stderr, "%s", mistakes);
        free(mistakes);
        return false;
    }
    if (!options->grading.device_count && !strncmp(store->course.device, "sim:", 4))
        options->grading.devices[options->grading.device_count++] = store->course.device;
    return true;
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

static int run_grade(Options *options)
{
    Store store;
    Sandbox sandbox = { 0 };
    char problem[1200];
    int status;

    stop_on_signals();
    if (!options->submissions)
        return say(USAGE, "missing SUBMISSIONS: gradebook grade SUBMISSIONS --out DIR");
    if (!store_open(&store, options->out, true))
        status = say(COULD_NOT, "%s", store.problem);
    else if (store.logs = options->logs, !take_course(&store, options))
        status = USAGE;
    else if (!open_sandbox(&sandbox, options, problem, sizeof problem))
        status = say(COULD_NOT, "%s", problem);
    else if (!read_submissions(&store, options, &sandbox))
        status = stop_requested() ? STOPPED : COULD_NOT;
    else {
        terms_keep(&store);
        request_changed(&store, options);
        status = mark(&store, &sandbox, options);
    }
    sandbox_close(&sandbox);
    store_close(&store);
    return status;
}

/* ---- regrade ---- */

/* The kernel that counts for a student, found by name or number. If there is none, prints the
 * reason and returns 0. */
static int64_t find_kernel(Store *store, const Options *options, const char *lab)
{
    int64_t students =
        store_number(store, 0, "SELECT count(*) FROM students WHERE name = ?1 OR number = ?1", "t",
                     options->student);
    int64_t kernel =
        store_number(store, 0,
                     "SELECT c.kernel FROM counted c JOIN students st ON st.id = c.student"
                     " WHERE (st.name = ?1 OR st.number = ?1) AND c.lab = ?2",
                     "tt", options->student, lab);

    if (students == 0)
        say(0, "no student %s in this gradebook (by name or number)", options->student);
    else if (students > 1)
        say(0, "%d students match %s: give the number instead", (int) students, options->student);
    else if (!kernel)
        say(0, "%s has submitted nothing for %s", options->student, lab);
    return students == 1 ? kernel : 0;
}

static void request_regrade(Store *store, int64_t kernel)
{
    int64_t others =
        store_number(store, 0, "SELECT count(*) - 1 FROM counted WHERE kernel = ?", "i", kernel);

    /* A queued kernel will be graded anyway. */
    store_do(store,
             "INSERT INTO regrades (kernel, after, at)"
             " SELECT p.kernel, p.attempts, datetime('now') FROM progress p"
             " WHERE p.kernel = ? AND NOT " SQL_OPEN,
             "i", kernel);
    if (others > 0)
        fprintf(
            stderr,
            "%d other student%s submitted the same kernel: the result counts for all of them.\n",
            (int) others, others > 1 ? "s" : "");
}

static int run_regrade(Options *options)
{
    const LabEntry *entry = options->lab ? lab_find(options->lab) : NULL;
    Store store;
    Sandbox sandbox = { 0 };
    char problem[1200];
    int status = COULD_NOT;

    if (!options->student || !entry)
        return say(USAGE,
                   "missing --student or --lab: gradebook regrade --student S --lab L --out DIR");
    stop_on_signals();
    options->grading.requested[entry - all_labs] = true;
    if (!store_open(&store, options->out, false)) /* it must already exist */
        say(0, "%s", store.problem);
    else if (store_close(&store), !store_open(&store, options->out, true))
        say(0, "%s", store.problem);
    else if (!take_course(&store, options))
        status = USAGE;
    else if (!open_sandbox(&sandbox, options, problem, sizeof problem))
        say(0, "%s", problem);
    else if ((options->grading.only = find_kernel(&store, options, entry->folder))) {
        terms_keep(&store);
        request_regrade(&store, options->grading.only);
        status = mark(&store, &sandbox, options);
    }
    sandbox_close(&sandbox);
    store_close(&store);
    return status;
}

/* ---- import-roster ---- */

static int run_roster(Options *options)
{
    Store store;
    char *mistakes;
    int count, status = COULD_NOT;

    if (!options->submissions)
        return say(USAGE, "missing roster FILE: gradebook import-roster FILE.csv --out DIR");
    if (!store_open(&store, options->out, true)) {
        say(0, "%s", store.problem);
    } else if (!import_roster(&store, options->submissions, &count, &mistakes)) {
        status = say(USAGE, "the roster has errors; nothing was imported:");
        fprintf(stderr, "%s", mistakes);
        free(mistakes);
    } else {
        fprintf(stderr,
                "%d people imported. To list students without a submission: gradebook report --out "
                "%s\n",
                count, options->out);
        status = DONE;
    }
    store_close(&store);
    return status;
}

/* ---- doctor ---- */

static int run_doctor(Options *options)
{
    int status = doctor(&options->grading, options->out, options->trusting);

    if (fflush(stdout) || ferror(stdout))
        return say(COULD_NOT, "cannot write: %s", strerror(errno));
    return status;
}

/* ---- Commands that only read ---- */

static int run_reading(Options *options, void (*show_it)(Store *store))
{
    Store store;
    int status = DONE;

    if (!store_open(&store, options->out, false))
        status = say(COULD_NOT, "%s", store.problem);
    else if (!take_course(&store, options))
        status = USAGE;
    else
        show_it(&store);
    store_close(&store);
    if (fflush(stdout) || ferror(stdout))
        status = say(COULD_NOT, "cannot write: %s", strerror(errno));
    return status;
}

static int run_status(Options *options)
{
    return run_reading(options, overview_status);
}

static int run_report(Options *options)
{
    return run_reading(options, overview_report);
}

static const Options *wanted;

static void write_export(Store *store)
{
    export_write(store, wanted->format, stdout, wanted->to);
}

static int run_export(Options *options)
{
    wanted = options;
    if (!options->format || !export_is_format(options->format))
        return say(USAGE, "missing or unknown format: use --format %s", export_formats());
    if (export_needs_folder(options->format) != (options->to != NULL))
        return say(USAGE,
                   options->to ? "%s is written to standard output: omit --to"
                               : "%s writes files for each student: add --to FOLDER",
                   options->format);
    return run_reading(options, write_export);
}

static const struct {
    const char *name;
    int (*run)(Options *);
    bool takes_submissions, needs_no_out;
} commands[] = {
    { "grade", run_grade, true },
    { "status", run_status, false },
    { "report", run_report, false },
    { "regrade", run_regrade, false },
    { "export", run_export, false },
    { "import-roster", run_roster, true },
    { "doctor", run_doctor, false, .needs_no_out = true },
};

int main(int argc, char **argv)
{
    Options options = { .grading = { .limit_s = LIMIT_S } };

    program_name = "gradebook";
    setlocale(LC_CTYPE, "C.UTF-8"); /* names in archives */
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return fputs(usage, stdout) < 0;
        if (!strcmp(argv[i], "--version"))
            return puts("gradebook " WARPBOOK_VERSION) < 0;
    }
    prctl(PR_SET_DUMPABLE, 0); /* submissions must not read our memory */
    umask(077);                /* only the instructor may read marks and submissions */
    for (const LabEntry *entry = all_labs; entry->folder && entry - all_labs < LABS; entry++)
        options.grading.requested[entry - all_labs] = true;
    for (size_t c = 0; argc > 1 && c < sizeof commands / sizeof *commands; c++)
        if (!strcmp(argv[1], commands[c].name))
            return take_arguments(&options, argc, argv, commands[c].takes_submissions,
                                  commands[c].needs_no_out)
                       ? commands[c].run(&options)
                       : USAGE;
    if (argc > 1)
        return say(USAGE, "unknown command '%s' (see --help)", argv[1]);
    fputs(usage, stderr);
    return USAGE;
}
