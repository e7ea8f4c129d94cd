/* main.c - warpbook: the table of subcommands, and one function for each. */
#include "calc/main.h"
#include "command_line.h"
#include "coursework.h"
#include "draw/command.h"
#include "learner/explain.h"
#include "judge/grade.h"
#include "learner/progress.h"
#include "learner/predictions.h"
#include "judge/selfcheck.h"
#include "judge/figures.h"
#include "learner/report.h"
#include "sim/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DONE = 0, NOT_PASSED = 1, USAGE = 2, COULD_NOT = 3 };

/* ---- grade ---- */

static bool is_folder(const char *path)
{
    struct stat about;

    return !stat(path, &about) && S_ISDIR(about.st_mode);
}

/* True if the file exists and no folder on its path below `folder` is a symbolic link, which could
 * lead to another student's work. (read_file() checks the file itself.) */
static bool lies_below(const char *folder, const char *path)
{
    char part[PATH];
    int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), next;

    for (const char *slash; at >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        PUT(part, "%.*s", (int) (slash - path), path);
        next = openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(at);
        at = next;
    }
    if (at < 0)
        return false;
    next = faccessat(at, path, F_OK, AT_SYMLINK_NOFOLLOW);
    close(at);
    return !next;
}

/* Finds a lab's kernel in a submission: the file itself, DIR/06_transpose or
 * DIR/labs/06_transpose. */
static void find_source(const Session *session, const Options *options, const LabEntry *entry,
                        char *source, char *shown)
{
    const char *given = options->submission;

    if (!given) {
        put(shown, PATH, "labs/%s/kernel.cu", entry->folder);
        lab_file(&session->book, entry, "kernel.cu", source);
        return;
    }
    put(source, PATH, "%s", given);
    if (is_folder(given)) {
        char below[PATH];
        PUT(below, "labs/%s/kernel.cu", entry->folder);
        if (!lies_below(given, below))
            PUT(below, "%s/kernel.cu", entry->folder);
        put(shown, PATH, "%s/%s", given, below);
        put(source, PATH, "%s", lies_below(given, below) ? shown : ""); /* empty if it has a link */
        return;
    }
    put(shown, PATH, "%s", source);
}

/* A folder without any lab's kernel is most likely the wrong folder, not an empty submission. */
static bool holds_a_kernel(const Options *options)
{
    for (const LabEntry *entry = all_labs; entry->folder; entry++) {
        char source[PATH], shown[PATH];
        find_source(NULL, options, entry, source, shown);
        if (file_exists(source))
            return true;
    }
    return false;
}

static void keep_progress(const Session *session, const LabEntry *entry, const Progress *progress)
{
    if (!progress_save(session->book.progress, entry, progress))
        fprintf(stderr, "warpbook: cannot save your progress in %s: %s\n", session->book.progress,
                strerror(errno));
}

static void remember(const Session *session, const Result *result)
{
    Progress progress;
    time_t now = time(NULL);

    if (result->verdict == UNSOUND)
        return;
    progress_load(session->book.progress, result->entry, &progress);
    progress.latest = result->verdict;
    if (!progress.graded || better(result->verdict, progress.best))
        progress.best = result->verdict;
    progress.graded = true;
    progress.ratio = result->ratio;
    progress.diagnosis = result->diagnosis;
    strftime(progress.date, sizeof progress.date, "%Y-%m-%d", localtime(&now));
    keep_progress(session, result->entry, &progress);
}

static void explain_predictions(const Session *session, const LabEntry *entry, bool again)
{
    char path[PATH];
    Progress progress;
    uint64_t before;

    progress_load(session->book.progress, entry, &progress);
    before = progress.explained;
    if (again)
        progress.explained = 0;
    print_predictions(lab_file(&session->book, entry, "predictions.txt", path), entry->lab,
                      &progress.explained);
    if (progress.explained && progress.explained != before)
        keep_progress(session, entry, &progress);
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
            explain_predictions(session, entry, false);
        else if (predictions_open(lab_file(&session->book, entry, "predictions.txt", path),
                                  entry->lab))
            waiting++;
    }
    if (waiting)
        print_waiting(waiting);
    printf("\n");
}

static int could_not(const Session *session)
{
    fprintf(stderr, "Cannot grade here: %s.\n", session->problem);
    return COULD_NOT;
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

static uint64_t seed_of(const Options *options, const Coursework *work, const LabEntry *entry)
{
    return options->seeded ? options->seed : coursework_seed(work, entry);
}

/* Returns false after reporting what is wrong with --submission. */
static bool submission_fits(const Options *options)
{
    if (options->submission && !is_folder(options->submission) && options->count != 1) {
        fprintf(stderr, "warpbook: --submission %s is a single file: name the LAB that it is for\n",
                options->submission);
        return false;
    }
    if (options->submission && is_folder(options->submission) && !holds_a_kernel(options)) {
        fprintf(stderr,
                "warpbook: --submission %s holds no kernel.cu; expected 06_transpose/kernel.cu "
                "or labs/06_transpose/kernel.cu (other labs likewise)\n",
                options->submission);
        return false;
    }
    if (options->submission && !file_exists(options->submission)) {
        fprintf(stderr, "warpbook: --submission %s: %s\n", options->submission, strerror(errno));
        return false;
    }
    return true;
}

static int run_grade(Options *options)
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
    if (!session_open(&session, options->device))
        return could_not(&session);
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
        find_source(&session, options, entry, source, shown);
        session.seed = seed_of(options, &work, entry);
        grade(&session, entry, source, shown, &results[i]);
        all_passed &= verdict_passed(results[i].verdict);
        sound &= results[i].verdict != UNSOUND;
        if (!options->submission)
            remember(&session, &results[i]);
        if (options->lines)
            report_lines(&results[i]);
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

/* ---- explain ---- */

/* Always a simulated GPU, because a real one does not count what a kernel does. */
static const char *simulated_device(const Options *options)
{
    return options->device && !strncmp(options->device, "sim", 3) ? options->device : "sim";
}

static int run_explain(Options *options)
{
    static Session session;
    char source[PATH], shown[PATH];
    bool explained, sound;

    if (options->count != 1) {
        fprintf(stderr, "warpbook: explain needs a lab: make explain LAB=%s\n",
                lab_name(&all_labs[0]));
        return USAGE;
    }
    if (!submission_fits(options))
        return USAGE;
    session = (Session){ .quick = true, .live = isatty(2) };
    session.replayed = options->seeded;
    session.seed = options->seeded ? options->seed : secret();
    if (!session_open(&session, simulated_device(options)))
        return could_not(&session);
    find_source(&session, options, options->labs[0], source, shown);
    explained = explain(&session, options->labs[0], source, shown, &sound);
    session_close(&session);
    return explained ? DONE : sound ? NOT_PASSED : COULD_NOT;
}

/* ---- build ---- */

/* If the submission does not build, prints the lab's lines as grade does. If it builds, prints the
 * object's path with --format lines. */
static int run_build(Options *options)
{
    static Session session;
    static Result result;
    Build built;

    if (options->count != 1 || !options->submission || !options->cc) {
        fprintf(stderr, "warpbook: build needs a lab, a file and a compute capability: warpbook "
                        "build LAB --submission FILE --cc 9.0\n");
        return USAGE;
    }
    if (!session_open_to_build(&session, options->cc))
        return could_not(&session);
    result = (Result){ .entry = options->labs[0], .verdict = UNSOUND };
    grade_build(&session, options->submission, &result, &built);
    session_close(&session);
    if (built.fault == BUILD_MACHINE)
        fprintf(stderr, "warpbook: %s\n", built.message);
    if (built.fault == BUILD_STUDENT)
        report_lines(&result);
    if (built.fault == BUILD_OK && options->lines)
        printf("object:%s\n", built.object);
    return built.fault == BUILD_MACHINE ? COULD_NOT : DONE;
}

/* ---- pack ---- */

static int run_pack(Options *options)
{
    static Session session;

    if (!options->sealed) {
        fprintf(stderr, "warpbook: pack needs a folder: warpbook pack LAB... --seal DIR\n");
        return USAGE;
    }
    if (!coursework_pack(options->course, options->sealed))
        return USAGE;
    if (!session_open_to_build(&session, 0))
        return could_not(&session);
    session.portable = true;
    for (int i = 0; i < options->count; i++) {
        char folder[PATH], why[4500];
        PUT(folder, "%s/solutions/%s", options->sealed, options->labs[i]->folder);
        fprintf(stderr, "  pack   %s\n", options->labs[i]->folder);
        if (!session_seal(&session, options->labs[i], folder, why, sizeof why)) {
            fprintf(stderr, "warpbook: %s\n", why);
            return COULD_NOT;
        }
    }
    session_close(&session);
    return DONE;
}

/* ---- The other commands ---- */

/* Opened late, so that an old file is not lost if no GPU is available. */
static FILE *open_figures(const Session *session, const Options *options)
{
    FILE *file;

    if (!options->figures)
        return NULL;
    if (*session->simulated)
        die("--figures needs a real GPU: a simulated one does not measure speed");
    file = fopen(options->figures, "w");
    if (!file)
        die("%s: %s", options->figures, strerror(errno));
    figures_head(file, session, options->labs[0]);
    return file;
}

static int check_labs(Session *session, const Options *options)
{
    FILE *figures = open_figures(session, options);
    int faults = 0;

    for (int i = 0; i < options->count; i++)
        faults += selfcheck(session, options->labs[i], options->timed_only, figures);
    if (figures && fclose(figures))
        die("%s: %s", options->figures, strerror(errno));
    return faults;
}

static int selfcheck_cheats(Session *session, const Options *options)
{
    return selfcheck_kernels(session, options->labs, options->count, options->builds_only);
}

/* Runs these checks; prints `sound` if none of them fails. */
static int run_selfcheck(const Options *options, int (*faults_of)(Session *, const Options *),
                         const char *sound)
{
    static Session session;
    int faults;

    session = (Session){ .live = isatty(2),
                         .replayed = options->seeded,
                         .seed = options->seeded ? options->seed : secret() };
    if (!session_open(&session, options->device))
        return could_not(&session);
    report_machine(&session);
    faults = faults_of(&session, options);
    session_close(&session);
    if (faults)
        printf("\n%d checks failed.\n", faults);
    else
        printf("\n%s\n", sound);
    return faults ? NOT_PASSED : DONE;
}

static int run_check(Options *options)
{
    if (options->figures && options->count != 1) {
        fprintf(stderr, "warpbook: --figures %s needs one LAB\n", options->figures);
        return USAGE;
    }
    return run_selfcheck(options, check_labs,
                         options->timed_only ? "Every timed kernel got its expected verdict."
                                             : "Every lab is sound on this GPU.");
}

static int run_check_cheats(Options *options)
{
    return run_selfcheck(options, selfcheck_cheats,
                         "Every cheat got its expected verdict, and no honest kernel was flagged.");
}

static bool root_only(Session *session)
{
    if (workbook_find(&session->book, session->problem, sizeof session->problem))
        return true;
    fprintf(stderr, "warpbook: %s\n", session->problem);
    return false;
}

static int run_hint(Options *options)
{
    static Session session;

    if (options->count != 1) {
        fprintf(stderr, "warpbook: hint needs a lab: make hint LAB=%s\n", lab_name(&all_labs[0]));
        return USAGE;
    }
    return root_only(&session) ? print_hint(session.book.progress, options->labs[0], options->level)
                               : COULD_NOT;
}

static int run_progress(Options *options)
{
    static Session session;

    if (!root_only(&session))
        return COULD_NOT;
    print_progress(session.book.progress);
    if (options->count == 1) {
        printf("\n");
        explain_predictions(&session, options->labs[0], true);
    }
    return DONE;
}

static int run_labs(Options *options)
{
    for (int i = 0; i < options->count; i++)
        printf("%-20s %s\n", options->labs[i]->folder, options->labs[i]->lab->title);
    return DONE;
}

static const struct {
    const char *name;
    int (*run)(Options *);
    bool all_if_none;
} commands[] = {
    { "grade", run_grade, true },
    { "check", run_check, true },
    { "check-cheats", run_check_cheats, true },
    { "explain", run_explain, false },
    { "build", run_build, false },
    { "pack", run_pack, true },
    { "hint", run_hint, false },
    { "progress", run_progress, true },
    { "labs", run_labs, true },
};

int main(int argc, char **argv)
{
    Options options = { 0 };
    OptionReader reader = { option_rows, &options, take_lab };

    if (argc > 1 && !strcmp(argv[1], "sim"))
        return sim_run(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "calc"))
        return calc_run(argc - 2, argv + 2);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[1], "draw") && (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")))
            return fputs(usage, stdout) < 0;
        if (!strcmp(argv[i], "--version"))
            return puts("warpbook " WARPBOOK_VERSION) < 0;
    }
    child_on_signals(session_clear_line);
    prctl(PR_SET_DUMPABLE, 0); /* no child may read the grader's memory: seeds, expected results */
    if (argc > 1 && !strcmp(argv[1], "draw"))
        return draw_run(argc - 1, argv + 1);
    for (size_t c = 0; argc > 1 && c < sizeof commands / sizeof *commands; c++) {
        if (strcmp(argv[1], commands[c].name))
            continue;
        if (options_read(&reader, argc - 1, argv + 1) < 0) {
            if (*reader.why)
                fprintf(stderr, "warpbook: %s\n", reader.why);
            return USAGE;
        }
        if (!options.count && commands[c].all_if_none)
            for (const LabEntry *entry = all_labs; entry->folder && options.count < 64; entry++)
                options.labs[options.count++] = entry;
        return commands[c].run(&options);
    }
    fputs(usage, stderr);
    return USAGE;
}
