/* compare.c - compares a kernel that has passed with the reference: counters, time and text. */
#include "learner/compare.h"
#include "base/child.h"
#include "build/stub.h"
#include "judge/session.h"
#include "learner/explain.h"
#include "learner/progress.h"
#include "learner/report.h"
#include "learner/submission.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { TWO_COLUMNS = 150, DIFF_BYTES = 1 << 20, DIFF_LIMIT_S = 20 };

static bool has_passed(const Workbook *book, const LabEntry *entry)
{
    Progress progress;

    progress_load(book->progress, entry, &progress);
    if (progress.graded && verdict_passed(progress.best))
        return true;
    printf("make compare shows the reference, so it waits until your kernel passes.\n"
           "Next: make hint LAB=%s\n",
           lab_name(entry));
    return false;
}

/* The width of the terminal in columns; 0 if output does not go to a terminal. */
static int terminal_columns(void)
{
    struct winsize size;

    return isatty(1) && !ioctl(1, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

static void print_diff(const char *source, const char *reference)
{
    char columns[16], *text = xmalloc(DIFF_BYTES);
    const int width = terminal_columns();
    char *lines[] = { "diff",    "-u",        "--label",       "yours",
                      "--label", "reference", (char *) source, (char *) reference,
                      NULL };
    char *sides[] = {
        "diff", "-y", "-t", "-W", PUT(columns, "%d", width), (char *) source, (char *) reference,
        NULL
    };
    const int status =
        child_run(width >= TWO_COLUMNS ? sides : lines, NULL, NULL, DIFF_LIMIT_S, text, DIFF_BYTES);

    if (status == 0)
        printf("Your kernel.cu is the reference, word for word.\n");
    else if (status == 1)
        printf("%s", text);
    else
        printf("The program diff is needed to compare the texts: %s and %s.\n", source, reference);
    free(text);
}

static void print_texts(const Workbook *book, const LabEntry *entry, const char *source)
{
    char made[PATH];
    static FileList rungs;
    const char *reference, *shown;

    list_rungs(book, entry, &rungs);
    if (!rungs.count)
        return;
    reference = rungs.path[rungs.count - 1];
    shown = reference + strlen(book->root) + 1;
    printf("\n");
    if (is_sealed(reference, made, sizeof made))
        printf("The reference's text is not in this tree, so only its figures are shown.\n");
    else {
        printf("Your text (-) and the reference's (+), %s:\n", shown);
        fflush(stdout);
        print_diff(source, reference);
    }
}

/* Always a simulated GPU, because a real one does not count what a kernel does. */
static bool open_simulated(Session *session, const Options *options)
{
    const bool simulated = options->device && !strncmp(options->device, "sim", 3);

    *session = (Session){ .quick = true, .live = isatty(2) };
    session->replayed = options->seeded;
    session->seed = options->seeded ? options->seed : secret();
    return session_open(session, simulated ? options->device : "sim");
}

int run_compare(Options *options)
{
    static Session session;
    char source[PATH], shown[PATH], why[sizeof session.problem];
    bool explained, sound;

    if (options->count != 1 || options->submission) {
        fprintf(stderr, "warpbook: compare needs a lab: make compare LAB=%s\n",
                lab_name(&all_labs[0]));
        return USAGE;
    }
    if (!workbook_find(&session.book, why, sizeof why)) {
        fprintf(stderr, "warpbook: %s\n", why);
        return COULD_NOT;
    }
    if (!has_passed(&session.book, options->labs[0]))
        return NOT_PASSED;
    if (!open_simulated(&session, options))
        return report_could_not(&session);
    submission_find(&session.book, options, options->labs[0], source, shown);
    explained = explain(&session, options->labs[0], source, shown, &sound);
    if (explained)
        print_texts(&session.book, options->labs[0], source);
    session_close(&session);
    return explained ? DONE : sound ? NOT_PASSED : COULD_NOT;
}
