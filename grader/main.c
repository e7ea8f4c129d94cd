/* main.c - warpbook: the table of subcommands, and one function for each. */
#include "calc/main.h"
#include "learner/command_line.h"
#include "command_grade.h"
#include "coursework.h"
#include "draw/command.h"
#include "learner/compare.h"
#include "learner/current_lab.h"
#include "learner/explain/explain.h"
#include "learner/formats/formats.h"
#include "learner/next.h"
#include "judge/grade.h"
#include "learner/progress.h"
#include "learner/predictions.h"
#include "judge/selfcheck.h"
#include "judge/figures.h"
#include "learner/portfolio/portfolio.h"
#include "learner/profile/profile.h"
#include "learner/quiz/quiz.h"
#include "learner/report.h"
#include "learner/see/see.h"
#include "learner/submission.h"
#include "learner/watch/reset.h"
#include "learner/watch/watch.h"
#include "learner/sweep/sweep.h"
#include "learner/trace.h"
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
    const Case *asked = options->label ? explain_case(options->labs[0], options->label) : NULL;

    if (!submission_fits(options) || (options->label && !asked))
        return USAGE;
    session = (Session){ .quick = true,
                         .live = isatty(2),
                         .verbose = options->verbose,
                         .reports_doing = true,
                         .events = options->events };
    session.replayed = options->seeded;
    session.seed = options->seeded ? options->seed : secret();
    if (!session_open(&session, simulated_device(options)))
        return report_could_not(&session);
    submission_find(&session.book, options, options->labs[0], source, shown);
    explained = explain(&session, options->labs[0], source, shown, asked, &sound);
    if (explained && options->trace)
        sound = explained = trace_kernel(&session, options->labs[0], source, asked, options->trace);
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
        return report_could_not(&session);
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
        return report_could_not(&session);
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
    char command[200];
    FILE *file;

    if (!options->figures)
        return NULL;
    if (*session->simulated)
        die("--figures needs a real GPU: a simulated one does not measure speed");
    file = fopen(options->figures, "w");
    if (!file)
        die("%s: %s", options->figures, strerror(errno));
    figures_head(file, session,
                 PUT(command, "warpbook check %s --figures FILE, by make figures",
                     lab_name(options->labs[0])));
    fputs("\n", file);
    return file;
}

static int check_labs(Session *session, const Options *options)
{
    FILE *figures = open_figures(session, options);
    int faults = 0;

    for (int i = 0; i < options->count; i++)
        faults += selfcheck(session, options->labs[i], options->timed_only,
                            options->sample ? options->sample : 1, figures);
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
        return report_could_not(&session);
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
                         : options->sample > 1
                             ? "Every kernel of the sample got its expected verdict."
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
    const LabEntry *entry = options->labs[0];

    if (!root_only(&session))
        return COULD_NOT;
    if (!options->lab_is_guessed || lab_is_begun(&session.book, entry))
        return print_hint(session.book.progress, entry, options->level);
    printf("You have not begun this lab. Read labs/%s/README.md first.\n"
           "make hint LAB=%s shows a hint anyway.\n",
           entry->folder, lab_name(entry));
    return DONE;
}

static int run_progress(Options *options)
{
    static Session session;

    if (!root_only(&session))
        return COULD_NOT;
    print_progress(session.book.progress);
    if (options->count == 1) {
        printf("\n");
        explain_predictions(&session.book, options->labs[0], true);
    }
    return DONE;
}

static int run_labs(Options *options)
{
    for (int i = 0; i < options->count; i++)
        printf("%-20s %s\n", options->labs[i]->folder, options->labs[i]->lab->title);
    return DONE;
}

/* Which labs a command takes. */
typedef enum Labs {
    ANY_LABS,   /* the command decides */
    ALL_LABS,   /* those named, or all */
    OPEN_LAB,   /* the one named, or the first one that is not done */
    PASSED_LAB, /* the one named, or the one passed last */
} Labs;

static const struct {
    const char *name;
    int (*run)(Options *);
    Labs labs;
} commands[] = {
    { "grade", run_grade, ALL_LABS },       { "next", run_next, ANY_LABS },
    { "check", run_check, ALL_LABS },       { "check-cheats", run_check_cheats, ALL_LABS },
    { "explain", run_explain, OPEN_LAB },   { "compare", run_compare, PASSED_LAB },
    { "see", see_run, OPEN_LAB },           { "build", run_build, ANY_LABS },
    { "pack", run_pack, ALL_LABS },         { "hint", run_hint, OPEN_LAB },
    { "watch", run_watch, ANY_LABS },       { "reset", run_reset, ANY_LABS },
    { "progress", run_progress, ALL_LABS }, { "quiz", run_quiz, PASSED_LAB },
    { "report", run_portfolio, ALL_LABS },  { "sweep", run_sweep, OPEN_LAB },
    { "profile", run_profile, OPEN_LAB },   { "labs", run_labs, ALL_LABS },
};

static int run_command(size_t c, Options *options)
{
    const Labs labs = commands[c].labs;
    int status;

    if (options->core && (options->count || labs != ALL_LABS)) {
        fputs("warpbook: --core stands for labs, so it goes with no other lab and not with "
              "commands that take one lab\n",
              stderr);
        return USAGE;
    }
    if (!options->count && labs == ALL_LABS)
        for (const LabEntry *entry = all_labs; entry->folder && options->count < 64; entry++)
            if (!options->core || !entry->lab->further)
                options->labs[options->count++] = entry;
    if ((labs == OPEN_LAB || labs == PASSED_LAB) &&
        !one_lab(options, commands[c].name, labs == OPEN_LAB ? WANTS_OPEN : WANTS_PASSED, &status))
        return status;
    return commands[c].run(options);
}

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
            return fputs(warpbook_usage, stdout) < 0;
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
        if (options.format && commands[c].run != run_grade) {
            fprintf(stderr, "warpbook: --format %s is a format of grade\n", options.format->word);
            return USAGE;
        }
        return run_command(c, &options);
    }
    fputs(warpbook_usage, stderr);
    return USAGE;
}
