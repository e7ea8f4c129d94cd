/* main.c - warpbook: the table of subcommands, and what each does from top to bottom. */
#include "calc_main.h"
#include "coursework.h"
#include "grade.h"
#include "learn.h"
#include "predictions.h"
#include "prove.h"
#include "report.h"
#include "sim_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DONE = 0, NOT_PASSED = 1, USAGE = 2, COULD_NOT = 3 };

typedef struct Options {
    const LabEntry *labs[64]; /* those asked for; all if none were */
    int count;
    const char *submission; /* NULL: labs/ itself */
    const char *device;     /* NULL: none was asked for */
    const char *course;     /* grade: a course file; NULL: course.ini, if it is there */
    const char *figures;    /* check: the file that what was measured goes to, too */
    const char *sealed;     /* grade: the folder for stand-ins of solutions/ (seal.h) */
    int cc;                 /* build: 90 for compute capability 9.0 */
    int level;
    bool quick, strict, lines, seeded, builds_only, timed_only;
    uint64_t seed;
} Options;

static const char usage[] =
    "usage: warpbook COMMAND [LAB...] [OPTION...]\n"
    "\n"
    "  grade      grade labs/*/kernel.cu, or another submission, on the GPU, or on a simulated "
    "one\n"
    "  check      prove that every lab is sound on this GPU\n"
    "  check-cheats  prove that cheats are caught and honest kernels are not\n"
    "  hint       what helps with a lab's last grading; then its hints, one by one\n"
    "  progress   show what is done and what is next; of one lab, its predictions, too\n"
    "  pack       write what students get of solutions/ and the course file: make course-kit\n"
    "  build      put a submission's build into the cache, for a GPU that grades it later\n"
    "  labs       list the labs\n"
    "  sim        run any CUDA program on the simulated GPU: warpbook sim --help\n"
    "  calc       the sums of the lessons, with their working: warpbook calc\n"
    "\n"
    "LAB: 06_transpose, transpose or 6. Without one: every lab.\n"
    "\n"
    "  --submission PATH   a folder shaped like labs/, or one kernel.cu (with one LAB)\n"
    "  --device N          that GPU, not the first\n"
    "  --device sim[:NAME] a simulated one: teaching, t4, rtx4060-laptop, h200, ...\n"
    "  --seed S            the inputs of an earlier grading again (hexadecimal)\n"
    "  --course FILE       grade: bars, curves and seeds of a course file (-: standard input),\n"
    "                      not of course.ini\n"
    "  --quick             fewer blocks, no self-test of the machine: a first idea\n"
    "  --strict            exit with 1 if a lab did not pass\n"
    "  --format text|lines a table, or key:value lines (docs/lines.md)\n"
    "  --level N           hint: the levels up to this one, 1 to 3\n"
    "  --builds-only       check-cheats: only those that the build refuses\n"
    "  --timed-only        check: without the kernels that are refused before they are timed\n"
    "  --seal DIR          grade, one LAB: write stand-ins for its solutions to DIR "
    "(gradebook's);\n"
    "                      pack: the students' tree\n"
    "  --cc X.Y            build, one LAB: for GPUs of that compute capability\n"
    "  --figures FILE      check, one LAB: write what was measured to FILE, too (docs/measured)\n"
    "  --version, --help\n"
    "\n"
    "Exit status: 0 graded, 1 with --strict when a lab did not pass (check: always when one is\n"
    "unsound), 2 wrong usage, 3 something could not be graded.\n";

/* ---- grade ---- */

static bool is_folder(const char *path)
{
    struct stat about;

    return !stat(path, &about) && S_ISDIR(about.st_mode);
}

/* Where a submission keeps a lab's kernel: as it is, DIR/06_transpose, or DIR/labs/06_transpose. */
static void find_source(const Session *session, const Options *options, const LabEntry *entry,
                        char *source, char *shown)
{
    const char *given = options->submission;

    if (!given) {
        put(shown, PATH, "labs/%s/kernel.cu", entry->folder);
        lab_file(session, entry, "kernel.cu", source);
        return;
    }
    put(source, PATH, "%s", given);
    if (is_folder(given)) {
        put(source, PATH, "%s/labs/%s/kernel.cu", given, entry->folder);
        if (!file_exists(source))
            put(source, PATH, "%s/%s/kernel.cu", given, entry->folder);
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
    if (!progress_save(session->progress, entry, progress))
        fprintf(stderr, "warpbook: progress could not be kept in %s: %s\n", session->progress,
                strerror(errno));
}

static void remember(const Session *session, const Result *result)
{
    Progress progress;
    time_t now = time(NULL);

    if (result->verdict == UNSOUND)
        return;
    progress_load(session->progress, result->entry, &progress);
    progress.latest = result->verdict;
    if (!progress.graded || better(result->verdict, progress.best))
        progress.best = result->verdict;
    progress.graded = true;
    progress.ratio = result->ratio;
    progress.symptom =
        symptom_in(result->why, result->printed, result->verdict, result->entry->lab);
    strftime(progress.date, sizeof progress.date, "%Y-%m-%d", localtime(&now));
    keep_progress(session, result->entry, &progress);
}

static void explain_predictions(const Session *session, const LabEntry *entry, bool again)
{
    char path[PATH];
    Progress progress;
    uint64_t before;

    progress_load(session->progress, entry, &progress);
    before = progress.explained;
    if (again)
        progress.explained = 0;
    print_predictions(lab_file(session, entry, "predictions.txt", path), entry->lab,
                      &progress.explained);
    if (progress.explained && progress.explained != before)
        keep_progress(session, entry, &progress);
}

/* Numbers are asked for before the first speed figure is shown: of one lab they are compared, of
 * several it is said once that they wait. */
static void show_predictions(const Session *session, const Options *options)
{
    char path[PATH];
    int waiting = 0;

    session_clear_line();
    for (int i = 0; i < options->count; i++) {
        const LabEntry *entry = options->labs[i];
        if (options->count == 1)
            explain_predictions(session, entry, false);
        else if (predictions_open(lab_file(session, entry, "predictions.txt", path), entry->lab))
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

static int run_grade(Options *options)
{
    static Session session;
    static Result results[64];
    static Coursework work;
    bool all_passed = true, sound = true;

    if (options->sealed && options->count != 1) {
        fprintf(stderr, "warpbook: --seal %s: for which LAB? Name one\n", options->sealed);
        return USAGE;
    }
    if (options->submission && !is_folder(options->submission) && options->count != 1) {
        fprintf(stderr, "warpbook: --submission %s is one file: name the one LAB it is for\n",
                options->submission);
        return USAGE;
    }
    if (options->submission && is_folder(options->submission) && !holds_a_kernel(options)) {
        fprintf(stderr,
                "warpbook: --submission %s holds no kernel.cu: expected in it are "
                "06_transpose/kernel.cu "
                "and the like, or labs/06_transpose/kernel.cu\n",
                options->submission);
        return USAGE;
    }
    if (options->submission && !file_exists(options->submission)) {
        fprintf(stderr, "warpbook: --submission %s: %s\n", options->submission, strerror(errno));
        return USAGE;
    }
    if (!coursework_take(options->course, &work))
        return USAGE;
    session = (Session){ .quick = options->quick, .live = isatty(2) && !options->lines };
    if (!session_open(&session, options->device))
        return could_not(&session);
    session.course = work.course;
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

/* ---- build ---- */

/* Of a submission that does not build it prints the lab's lines, as grade does. */
static int run_build(Options *options)
{
    static Session session;
    static Result result;
    Build built;

    if (options->count != 1 || !options->submission || !options->cc) {
        fprintf(stderr, "warpbook: build what? warpbook build LAB --submission FILE --cc 9.0\n");
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
    return built.fault == BUILD_MACHINE ? COULD_NOT : DONE;
}

/* ---- pack ---- */

static int run_pack(Options *options)
{
    static Session session;

    if (!options->sealed) {
        fprintf(stderr, "warpbook: pack into which folder? warpbook pack LAB... --seal DIR\n");
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

/* Opened late, so that nothing is lost where no GPU is to be had. */
static FILE *open_figures(const Session *session, const Options *options)
{
    FILE *file;

    if (!options->figures)
        return NULL;
    if (*session->simulated)
        die("--figures: no speed is measured on a simulated GPU");
    file = fopen(options->figures, "w");
    if (!file)
        die("%s: %s", options->figures, strerror(errno));
    report_figures_head(file, session, options->labs[0]);
    return file;
}

static int prove_labs(Session *session, const Options *options)
{
    FILE *figures = open_figures(session, options);
    int faults = 0;

    for (int i = 0; i < options->count; i++)
        faults += prove(session, options->labs[i], options->timed_only, figures);
    if (figures && fclose(figures))
        die("%s: %s", options->figures, strerror(errno));
    return faults;
}

static int prove_cheats(Session *session, const Options *options)
{
    return prove_strangers(session, options->labs, options->count, options->builds_only);
}

/* What is proved, and the sentence if all of it holds. */
static int run_proof(const Options *options, int (*faults_of)(Session *, const Options *),
                     const char *sound)
{
    static Session session;
    int faults;

    session = (Session){ .live = isatty(2), .seed = options->seeded ? options->seed : secret() };
    if (!session_open(&session, options->device))
        return could_not(&session);
    report_machine(&session);
    faults = faults_of(&session, options);
    session_close(&session);
    if (faults)
        printf("\n%d of what was looked at is not as it should be.\n", faults);
    else
        printf("\n%s\n", sound);
    return faults ? NOT_PASSED : DONE;
}

static int run_check(Options *options)
{
    if (options->figures && options->count != 1) {
        fprintf(stderr, "warpbook: --figures %s: those of which LAB? Name one\n", options->figures);
        return USAGE;
    }
    return run_proof(options, prove_labs,
                     options->timed_only ? "Every kernel that was timed is as it should be."
                                         : "Every lab is sound on this GPU.");
}

static int run_check_cheats(Options *options)
{
    return run_proof(options, prove_cheats,
                     "Every cheat got its verdict, no honest kernel a flag.");
}

static bool root_only(Session *session)
{
    if (session_find_root(session))
        return true;
    fprintf(stderr, "warpbook: %s\n", session->problem);
    return false;
}

static int run_hint(Options *options)
{
    static Session session;

    if (options->count != 1) {
        fprintf(stderr, "warpbook: a hint for which lab? make hint LAB=%s\n",
                lab_name(&all_labs[0]));
        return USAGE;
    }
    return root_only(&session) ? print_hint(session.progress, options->labs[0], options->level)
                               : COULD_NOT;
}

static int run_progress(Options *options)
{
    static Session session;

    if (!root_only(&session))
        return COULD_NOT;
    print_progress(session.progress);
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
    { "build", run_build, false },
    { "pack", run_pack, true },
    { "hint", run_hint, false },
    { "progress", run_progress, true },
    { "labs", run_labs, true },
};

/* ---- Options ---- */

static bool number(const char *text, int base, uint64_t most, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, base);
    return *text && !*end && !errno && *text != '-' && *value <= most;
}

static bool set_device(Options *o, const char *value)
{
    uint64_t n;

    o->device = value;
    return number(value, 10, 1023, &n) || !strcmp(value, "sim") ||
           (!strncmp(value, "sim:", 4) && value[4] && strlen(value) < 200);
}

static bool set_level(Options *o, const char *value)
{
    uint64_t n;
    bool fine = number(value, 10, LAB_HINTS, &n) && n > 0;

    o->level = (int) n;
    return fine;
}

static bool set_seed_option(Options *o, const char *value)
{
    o->seeded = true;
    return number(value, 16, UINT64_MAX, &o->seed);
}

static bool set_submission(Options *o, const char *value)
{
    o->submission = value;
    return *value && strlen(value) < PATH - 64;
}

static bool set_course(Options *o, const char *value)
{
    o->course = value;
    return *value;
}

static bool set_figures(Options *o, const char *value)
{
    o->figures = value;
    return *value;
}

static bool set_sealed(Options *o, const char *value)
{
    o->sealed = value;
    return *value && strlen(value) < PATH - 64;
}

static bool set_cc(Options *o, const char *value)
{
    int major, minor, end = 0;

    if (sscanf(value, "%2d.%1d%n", &major, &minor, &end) != 2 || value[end])
        return false;
    o->cc = 10 * major + minor;
    return o->cc > 0;
}

static bool set_format(Options *o, const char *value)
{
    o->lines = !strcmp(value, "lines");
    return o->lines || !strcmp(value, "text");
}

static bool set_quick(Options *o, const char *value)
{
    (void) value;
    return o->quick = true;
}

static bool set_builds_only(Options *o, const char *value)
{
    (void) value;
    return o->builds_only = true;
}

static bool set_timed_only(Options *o, const char *value)
{
    (void) value;
    return o->timed_only = true;
}

static bool set_strict(Options *o, const char *value)
{
    (void) value;
    return o->strict = true;
}

static const struct {
    const char *name;
    bool has_value;
    bool (*set)(Options *, const char *);
} option_table[] = {
    { "--submission", true, set_submission }, { "--device", true, set_device },
    { "--seed", true, set_seed_option },      { "--quick", false, set_quick },
    { "--strict", false, set_strict },        { "--format", true, set_format },
    { "--level", true, set_level },           { "--builds-only", false, set_builds_only },
    { "--figures", true, set_figures },       { "--timed-only", false, set_timed_only },
    { "--seal", true, set_sealed },           { "--cc", true, set_cc },
    { "--course", true, set_course },
};

/* Takes argv[*at], and its value from "--name=value" or the next argument. */
static bool take_option(Options *options, char **argv, int *at)
{
    char *equals = strchr(argv[*at], '=');
    size_t length = equals ? (size_t) (equals - argv[*at]) : strlen(argv[*at]);

    for (size_t i = 0; i < sizeof option_table / sizeof *option_table; i++) {
        const char *value = equals ? equals + 1 : argv[*at + 1];
        if (strlen(option_table[i].name) != length ||
            strncmp(argv[*at], option_table[i].name, length))
            continue;
        if (option_table[i].has_value ? !value : equals != NULL)
            break;
        if (!option_table[i].set(options, value)) {
            fprintf(stderr, "warpbook: %s: not a value for it: %s\n", option_table[i].name, value);
            return false;
        }
        *at += option_table[i].has_value && !equals;
        return true;
    }
    fprintf(stderr, "warpbook: %s: no such option, or its value is missing (--help)\n", argv[*at]);
    return false;
}

/* A name of the lab, or the path of its folder as a shell completes it: labs/06_transpose/. */
static bool take_lab(Options *options, const char *given)
{
    char text[PATH], *name = text, *slash;
    const LabEntry *entry;

    PUT(text, "%s", given);
    while ((slash = strrchr(name, '/')) && !slash[1])
        *slash = 0;
    name = slash ? slash + 1 : name;
    entry = lab_find(name);

    if (!entry) {
        fprintf(stderr, "warpbook: there is no lab %s; there are:", given);
        for (entry = all_labs; entry->folder; entry++)
            fprintf(stderr, " %s", lab_name(entry));
        fprintf(stderr, "\n");
        return false;
    }
    for (int i = 0; i < options->count; i++)
        if (options->labs[i] == entry)
            return true;
    options->labs[options->count++] = entry;
    return true;
}

int main(int argc, char **argv)
{
    Options options = { 0 };

    if (argc > 1 && !strcmp(argv[1], "sim"))
        return sim_run(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "calc"))
        return calc_run(argc - 2, argv + 2);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return fputs(usage, stdout) < 0;
        if (!strcmp(argv[i], "--version"))
            return puts("warpbook " WARPBOOK_VERSION) < 0;
    }
    child_on_signals(session_clear_line);
    prctl(PR_SET_DUMPABLE, 0); /* no child may read our memory: seeds, expected results */
    for (size_t c = 0; argc > 1 && c < sizeof commands / sizeof *commands; c++) {
        if (strcmp(argv[1], commands[c].name))
            continue;
        for (int i = 2; i < argc; i++)
            if (argv[i][0] == '-' ? !take_option(&options, argv, &i) : !take_lab(&options, argv[i]))
                return USAGE;
        if (!options.count && commands[c].all_if_none)
            for (const LabEntry *entry = all_labs; entry->folder && options.count < 64; entry++)
                options.labs[options.count++] = entry;
        return commands[c].run(&options);
    }
    fputs(usage, stderr);
    return USAGE;
}
