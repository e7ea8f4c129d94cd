/* compare.c - compares a kernel that has passed with the reference: counters, time and text. */
#include "learner/compare.h"
#include "base/child.h"
#include "base/text.h"
#include "build/stub.h"
#include "judge/session.h"
#include "learner/explain/explain.h"
#include "learner/progress.h"
#include "learner/report.h"
#include "learner/submission.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    COLUMNS = 80,
    TWO_COLUMNS = 150,
    DIFF_BYTES = 1 << 20,
    DIFF_LIMIT_S = 20,
    UNBROKEN = 1 << 20
};

static bool has_passed(const Workbook *book, const LabEntry *entry)
{
    Progress progress;

    progress_load(book->progress, entry, &progress);
    if (progress.graded && verdict_passed(progress.best))
        return true;
    printf("make compare is available once your kernel passes: it shows the reference.\n"
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

/* "// rung: 3, expect: pass - one tile ..." becomes "// one tile ...": the words before it are for
 * the workbook's own tests. */
static void drop_expectation(char *text)
{
    for (char *from = text; (from = strstr(from, "// rung: ")); from += 3) {
        char *to = strstr(from, " - ");
        if (to && !memchr(from, '\n', (size_t) (to - from)))
            memmove(from + 3, to + 3, strlen(to + 3) + 1);
    }
}

/* Lines of a unified diff, broken between words at the terminal's width; what follows a break is
 * indented by a blank for the mark, and four. */
static void print_lines(const char *text, int columns)
{
    enum { MARK = 1, FOLLOWS = 5 };

    while (*text) {
        size_t left = strcspn(text, "\n");
        for (int indent = 0; left > (size_t) (columns - indent); indent = FOLLOWS) {
            size_t cut = (size_t) (columns - indent);
            while (cut > MARK && text[cut] != ' ')
                cut--;
            if (cut <= MARK + strspn(text + MARK, " "))
                cut = (size_t) (columns - indent); /* one long word */
            printf("%*s%.*s\n", indent, "", (int) cut, text);
            text += cut + strspn(text + cut, " ");
            left = strcspn(text, "\n");
            if (left <= (size_t) (columns - FOLLOWS))
                printf("%*s", FOLLOWS, "");
        }
        printf("%.*s\n", (int) left, text);
        text += left + (text[left] == '\n');
    }
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

    drop_expectation(text);
    if (status == 0)
        printf("Your kernel.cu is that file, word for word.\n");
    else if (status == 1)
        print_lines(text, width && width < TWO_COLUMNS ? width : UNBROKEN);
    else
        printf("The program diff is needed to compare the texts: %s and %s.\n", source, reference);
    free(text);
}

/* "solutions/06_transpose/5_padded.cu" */
static const char *rung_path(const Workbook *book, const FileList *rungs, int rung)
{
    return rungs->path[rung - 1] + strlen(book->root) + 1;
}

static void print_texts(const Workbook *book, const FileList *rungs, int rung, const char *source)
{
    char made[PATH], text[2 * PATH], other[30];
    const char *path = rungs->path[rung - 1];

    PUT(other, rung == rungs->count ? "the reference" : "rung %d", rung);
    printf("\n");
    if (is_sealed(path, made, sizeof made)) {
        PUT(text, "The text of %s is not in this tree, so only its figures are shown.", other);
        print_wrapped(text, 0, COLUMNS);
        return;
    }
    PUT(text, "Your text (-) and that of %s (+), %s:", other, rung_path(book, rungs, rung));
    print_wrapped(text, 0, COLUMNS);
    fflush(stdout);
    print_diff(source, path);
}

static bool has_rung(const FileList *rungs, const Options *options)
{
    if (rungs->count && options->rung <= rungs->count)
        return true;
    fprintf(stderr, "warpbook: lab %s has %d rungs\n", lab_name(options->labs[0]), rungs->count);
    return false;
}

/* Returns the exit status. */
static int compare(Session *session, const Options *options)
{
    static FileList rungs;
    const LabEntry *entry = options->labs[0];
    char source[PATH], shown[PATH];
    bool sound;

    list_rungs(&session->book, entry, &rungs);
    if (!has_rung(&rungs, options))
        return USAGE;
    submission_find(&session->book, options, entry, source, shown);
    if (!explain_beside(session, entry, source, shown, options->rung, &sound))
        return sound ? NOT_PASSED : COULD_NOT;
    print_texts(&session->book, &rungs, options->rung ? options->rung : rungs.count, source);
    return DONE;
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
    char why[sizeof session.problem];
    int status;

    if (options->submission) {
        fprintf(stderr, "warpbook: compare shows labs/*/kernel.cu; for another file: make explain "
                        "FLAGS=\"--submission FILE\"\n");
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
    status = compare(&session, options);
    session_close(&session);
    return status;
}
