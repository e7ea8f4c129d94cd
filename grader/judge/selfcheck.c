/* selfcheck.c - `warpbook check`: checks that a lab is sound on this GPU.
 *
 * Starter, rungs, beyond and wrong kernels are graded like a submission; the first line of each
 * states the expected verdict. Rung 1 and the reference must also keep a distance from the bar,
 * and no rung with an expected verdict may be close to it. Otherwise a lab would grade by luck.
 */
#include "judge/selfcheck.h"
#include "judge/grade.h"
#include "judge/message.h"
#include "judge/figures.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Required distances from the bar (CONTRIBUTING.md): rung 1 below it, the reference above it,
 * other kernels on either side. */
static const double rung1_under = 0.15, reference_over = 0.10, off_bar = 0.05;

typedef struct SelfCheck {
    Session *session;
    const LabEntry *entry;
    FILE *figures; /* NULL: no figures file */
    int faults;
} SelfCheck;

static void row(SelfCheck *check, bool fine, const char *what, const char *said)
{
    printf("  %-4s %-34.34s %s\n", fine ? "ok" : "BAD", what, said);
    fflush(stdout);
    check->faults += !fine;
}

bool head_word(const char *source, int line, const char *key, char *word, size_t size)
{
    const char *at;
    size_t length;

    for (; line > 0 && *source; line--) {
        source += strcspn(source, "\n");
        source += *source == '\n';
    }
    at = strstr(source, key);
    if (!at || (size_t) (at - source) > strcspn(source, "\n") || strncmp(source, "//", 2))
        return false;
    at += strlen(key);
    at += strspn(at, " ");
    length = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (!length || length >= size || (*at >= '0' && *at <= '9'))
        return false;
    memcpy(word, at, length);
    word[length] = 0;
    return true;
}

bool expectation(const char *source, bool simulated, char *word, size_t size)
{
    return head_word(source, 0, "expect:", word, size) &&
           (!simulated || head_word(source, 0, "(sim:", word, size) || *word);
}

int least_cc(const char *source)
{
    const char *at = strstr(source, "(from cc ");
    int major = 0, minor = 0;

    if (!at || (size_t) (at - source) > strcspn(source, "\n") ||
        sscanf(at, "(from cc %2d.%1d)", &major, &minor) != 2)
        return 0;
    return 10 * major + minor;
}

static bool is_simulated(const SelfCheck *check)
{
    return *check->session->simulated;
}

static size_t line_length(const char *text)
{
    return strcspn(text, "\n");
}

static bool skipped_line(const char *line, size_t length)
{
    for (size_t i = 0; i + 4 <= length; i++)
        if (!strncmp(line + i, "TODO", 4))
            return true;
    return strspn(line, " \t") >= length;
}

bool is_subsequence(const char *starter, const char *rung)
{
    while (*starter) {
        size_t length = line_length(starter);
        if (!skipped_line(starter, length)) {
            while (*rung && (line_length(rung) != length || strncmp(rung, starter, length)))
                rung += line_length(rung) + (rung[line_length(rung)] == '\n');
            if (!*rung)
                return false;
            rung += length + (rung[length] == '\n');
        }
        starter += length + (starter[length] == '\n');
    }
    return true;
}

/* ---- Required files ---- */

/* Without such a case, rung 1 would not have to be slow anywhere. */
static bool shows_its_flaw(const Lab *lab)
{
    for (const Case *c = lab->cases; c->label; c++)
        if (c->kind == TIMED && !c->spares_rung1)
            return true;
    return lab->unmarked;
}

static void check_files(SelfCheck *check)
{
    static const char *const names[] = { "README.md", "kernel.h", "kernel.cu", "lab.c" };
    const Lab *lab = check->entry->lab;
    char path[PATH];
    int hints = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!file_exists(lab_file(&check->session->book, check->entry, names[i], path)))
            row(check, false, names[i], "is missing");
    for (int i = 0; i < LAB_HINTS; i++)
        hints += lab->hints[i] && lab->hints[i][0];
    if (!shows_its_flaw(lab))
        row(check, false, "lab.c", "has no timed case in which rung 1 must be slow");
    if (hints < LAB_HINTS)
        row(check, false, "hints", "three levels are required");
    if (lab->predictions[0].key &&
        !file_exists(lab_file(&check->session->book, check->entry, "predictions.txt", path)))
        row(check, false, "predictions.txt", "is missing");
}

static void check_starter_text(SelfCheck *check, const char *rung1)
{
    char path[PATH];
    char *starter, *handed_out, *rung;

    PUT(path, "%s/solutions/%s/0_starter.cu", check->session->book.root, check->entry->folder);
    starter = read_file(path, 1 << 20, NULL);
    handed_out =
        read_file(lab_file(&check->session->book, check->entry, "kernel.cu", path), 1 << 20, NULL);
    rung = read_file(rung1, 1 << 20, NULL);
    if (!starter || !rung)
        row(check, false, "0_starter.cu", "this file or rung 1 is missing");
    else if (!is_subsequence(starter, rung))
        row(check, false, "0_starter.cu", "has lines that rung 1 lacks: rung 1 may only add lines");
    else if (!strstr(starter, "TODO"))
        row(check, false, "0_starter.cu", "has no TODO that shows the student where to begin");
    if (starter && handed_out && strcmp(starter, handed_out))
        printf("  note labs/%s/kernel.cu differs from the starter: it has been edited\n",
               check->entry->folder);
    free(starter);
    free(handed_out);
    free(rung);
}

/* ---- Graded kernels ---- */

/* For example "slow  0.062 0.141"; or the verdict with the beginning of its reason. */
static void describe(const Result *result, const char *expected, char *text, size_t size)
{
    put(text, size, "%s", verdict_word(result->verdict));
    for (int i = 0; i < result->speeds; i++)
        if (result->speed[i].measured)
            append(text, size, " %.3f", result->speed[i].ratio.median);
    if (result->flags[0])
        append(text, size, " flag: %s", result->flags);
    if (expected)
        append(text, size, "; expected %s: %.300s", expected, result->why);
}

/* A simulated GPU may give no verdict on a timed case: either the call has no modelled time, or
 * the modelled device is blind to it. */
static bool is_unjudged(const SelfCheck *check, const Result *result)
{
    for (int i = 0; i < result->speeds; i++)
        if (result->speed[i].lab_case->kind == TIMED && !result->speed[i].measured)
            return is_simulated(check) &&
                   (result->verdict == CORRECT_ONLY || result->verdict == PASS);
    return false;
}

/* True if the verdict matches the promise in a kernel's first line; with `device` the hardware
 * decides between slow and pass. Where speed is not judged, a right kernel gets at most
 * `correct`. An `unsafe` kernel may fail on a real GPU before the simulated one checks it. */
static bool keeps_promise(const SelfCheck *check, const char *promise, const Result *result)
{
    Verdict verdict = result->verdict;
    bool unjudged = is_unjudged(check, result), fast = verdict_passed(verdict) || unjudged;

    if (!strcmp(promise, "slow") && unjudged)
        return true;
    if (!strcmp(promise, "correct") && is_simulated(check)) /* its flaw does not show there */
        return verdict == SLOW || fast || verdict == CORRECT_ONLY;

    if (!strcmp(promise, "device"))
        return verdict == SLOW || fast;
    if (!strcmp(promise, "pass"))
        return fast;
    if (!strcmp(promise, "wrong_or_unsafe")) /* the order of the cases decides */
        return verdict == WRONG || verdict == UNSAFE;
    if (!strcmp(promise, "any")) /* a GPU's memory decides, and whether it can read the host's */
        return !is_simulated(check);
    if (!strcmp(promise, "unsafe_or_stray")) /* the contents of memory decide */
        return verdict == UNSAFE || verdict == WRONG || verdict == STRAY ||
               (verdict == CRASH && !is_simulated(check));
    if (!strcmp(promise, "unsafe") && !is_simulated(check))
        return verdict == UNSAFE || verdict == WRONG || verdict == CRASH || verdict == TIMEOUT;
    return !strcmp(promise, verdict_word(verdict));
}

double distance_from_bar(const Result *result, bool above)
{
    double least = above ? 1e9 : -1e9;

    for (int i = 0; i < result->speeds; i++) {
        const CaseSpeed *s = &result->speed[i];
        double d = s->ratio.median - s->bar;
        if (s->lab_case->kind == TIMED && s->measured && (above || !s->lab_case->spares_rung1))
            least = above ? fmin(least, d) : fmax(least, d);
    }
    return least;
}

/* The speed of rung 1 in the timed case in which it is fastest; 0: none was measured. */
static double fastest_timed(const Result *rung1)
{
    double fastest = 0;

    for (int i = 0; i < rung1->speeds; i++) {
        const CaseSpeed *s = &rung1->speed[i];
        if (s->lab_case->kind == TIMED && s->measured && !s->lab_case->spares_rung1)
            fastest = fmax(fastest, s->ratio.median);
    }
    return fastest;
}

bool control_is_fast(const Result *rung1)
{
    const double timed = fastest_timed(rung1);

    for (int i = 0; i < rung1->speeds; i++) {
        const CaseSpeed *s = &rung1->speed[i];
        if (s->lab_case->kind == CONTROL && s->measured && s->ratio.median < sqrt(timed))
            return false;
    }
    return true;
}

/* True if another measurement could give another verdict: the case that decides is near its bar.
 * In a kernel that is clearly slow in one case, the other cases decide nothing. */
static bool beside_bar(const Result *result)
{
    return fabs(distance_from_bar(result, true)) < off_bar;
}

/* Writes the figures. Their keys begin with `name` without its ".cu". */
static void store_figures(const SelfCheck *check, const char *name, const Result *result)
{
    char key[100];

    if (check->figures)
        figures_print(check->figures, PUT(key, "%.*s", (int) strlen(name) - 3, name), result);
}

static void check_kernel(SelfCheck *check, const char *path, bool wrong, Result *result)
{
    char promise[16] = "", said[600];
    const char *name = path + strlen(check->session->book.root) + strlen("/solutions/") +
                       strlen(check->entry->folder) + 1;
    char *text = read_file(path, 1 << 20, NULL);
    bool promised = text && expectation(text, is_simulated(check), promise, sizeof promise);
    int from = promised ? least_cc(text) : 0;

    free(text);
    if (!promised) {
        row(check, false, name, "its first line lacks `// ... expect: VERDICT`");
        *result = (Result){ .verdict = UNSOUND };
        return;
    }
    if (check->session->gpu.cc < from) {
        row(check, true, name,
            PUT(said, "skipped: requires compute capability %d.%d", from / 10, from % 10));
        *result = (Result){ .verdict = UNSOUND };
        return;
    }
    check->session->ours = !wrong;
    grade(check->session, check->entry, path, name, result);
    store_figures(check, name, result);
    if (!keeps_promise(check, promise, result)) {
        describe(result, promise, said, sizeof said);
        row(check, false, name, said);
        return;
    }
    describe(result, NULL, said, sizeof said);
    if (!wrong && result->flags[0]) {
        APPEND(said, ": an honest kernel is flagged");
        row(check, false, name, said);
        return;
    }
    if (!wrong && strcmp(promise, "device") && beside_bar(result)) {
        APPEND(said, ": within %.2f of the bar", off_bar);
        row(check, false, name, said);
        return;
    }
    row(check, true, name, said);
}

/* Prints which timed cases are not judged here, and why. */
static void note_unjudged(const Result *reference)
{
    char why_not[400], text[440];

    for (int i = 0; i < reference->speeds; i++) {
        const CaseSpeed *s = &reference->speed[i];
        if (s->lab_case->kind != TIMED || !s->unjudged.saw)
            continue;
        message_unjudged(&s->unjudged, why_not, sizeof why_not);
        PUT(text, "not judged here: %s", why_not);
        print_wrapped(text, 7, 80);
    }
}

static void check_rungs(SelfCheck *check, const FileList *rungs)
{
    static Result result;

    for (int i = 0; i < rungs->count; i++) {
        check_kernel(check, rungs->path[i], false, &result);
        if (result.verdict == UNSOUND || !result.speeds)
            continue;
        if (i == 0 && distance_from_bar(&result, false) > -rung1_under)
            row(check, false, "rung 1", "is less than 0.15 below a bar");
        if (i == rungs->count - 1)
            note_unjudged(&result);
        if (i == rungs->count - 1 && distance_from_bar(&result, true) < reference_over)
            row(check, false, "the reference", "is less than 0.10 above a bar");
        if (i == 0 && !check->entry->lab->unmarked && !control_is_fast(&result))
            row(check, false, "the control case", "is slow on rung 1: the flaw affects it, too");
    }
}

static void check_starter(SelfCheck *check)
{
    static Result result;
    char path[PATH], said[600];

    PUT(path, "%s/solutions/%s/0_starter.cu", check->session->book.root, check->entry->folder);
    check->session->ours = false;
    grade(check->session, check->entry, path, "0_starter.cu", &result);
    describe(&result, result.verdict == UNCHANGED ? NULL : "unchanged", said, sizeof said);
    row(check, result.verdict == UNCHANGED && result.marks == 0, "0_starter.cu", said);
    if (result.as_it_ran == BUILD || result.as_it_ran == CRASH || result.as_it_ran == TIMEOUT ||
        result.as_it_ran == STRAY || result.as_it_ran == SUSPECT)
        row(check, false, "0_starter.cu",
            PUT(said, "is not a usable starting point: %s", result.why));
    if (result.speeds && distance_from_bar(&result, false) >= 0)
        row(check, false, "0_starter.cu", "reaches a bar without changes");
    if (result.as_it_ran == CORRECT_ONLY && is_simulated(check) &&
        check->entry->lab->mechanism[0].counter != NO_COUNTER)
        row(check, false, "0_starter.cu", "no bound of the lab's mechanism detects its flaw");
}

/* True for slow but right kernels, the only wrong ones whose speed is measured. */
static bool is_timed(const char *path)
{
    char promise[16] = "";
    char *text = read_file(path, 1 << 20, NULL);
    bool timed = text && expectation(text, false, promise, sizeof promise) &&
                 (!strcmp(promise, "slow") || !strcmp(promise, "device"));

    free(text);
    return timed;
}

int selfcheck(Session *session, const LabEntry *entry, bool timed_only, int sample, FILE *figures)
{
    SelfCheck check = { .session = session, .entry = entry, .figures = figures };
    static Result result;
    FileList rungs, others;

    printf("%02d %s\n", lab_number(entry), lab_name(entry));
    check_files(&check);
    list_rungs(&session->book, entry, &rungs);
    if (rungs.count < 2)
        row(&check, false, "solutions/", "at least two rungs are required");
    if (rungs.count)
        check_starter_text(&check, rungs.path[0]);
    check_starter(&check);
    check_rungs(&check, &rungs);
    list_solutions(&session->book, entry, "/beyond", &others);
    for (int i = 0; i < others.count; i++)
        check_kernel(&check, others.path[i], false, &result);
    list_solutions(&session->book, entry, "/wrong", &others);
    if (!others.count)
        row(&check, false, "wrong/",
            "contains no wrong kernel, so the lab's own test is not tested");
    for (int i = 0; i < others.count; i += sample)
        if (!timed_only || is_timed(others.path[i]))
            check_kernel(&check, others.path[i], true, &result);
    return check.faults;
}

/* ---- Cheats and honest kernels ---- */

typedef struct Folder {
    const char *path, *title;
    bool honest; /* kernels in it may pass */
} Folder;

static const Folder folders[] = {
    { "tests/cheats", "cheats: none may pass", false },
    { "tests/honest", "honest kernels in other styles: none may be flagged", true },
};

static bool is_selected(const LabEntry *entry, const LabEntry *const *labs, int count)
{
    for (int i = 0; i < count; i++)
        if (labs[i] == entry)
            return true;
    return false;
}

/* The flag in "expect: suspect, interference - why", or "". */
static void promised_flag(const char *source, const char *promise, char *flag, size_t size)
{
    char key[40];

    *flag = 0;
    head_word(source, 0, PUT(key, "%s,", promise), flag, size);
}

static void check_cheat(SelfCheck *check, const Folder *folder, const char *name, const char *path,
                        const char *promise, const char *flag)
{
    static Result result;
    char said[600];
    bool fine;

    grade(check->session, check->entry, path, name, &result);
    fine = keeps_promise(check, promise, &result) &&
           (folder->honest || !verdict_passed(result.verdict) || !strcmp(promise, "correct"));
    describe(&result, fine ? NULL : promise, said, sizeof said);
    if (folder->honest && result.flags[0]) {
        APPEND(said, ": an honest kernel is flagged");
        fine = false;
    } else if (*flag && !is_simulated(check) && !strstr(result.flags, flag)) {
        APPEND(said, ": the flag %s was expected", flag);
        fine = false;
    }
    row(check, fine, name, said);
}

int selfcheck_kernels(Session *session, const LabEntry *const *labs, int count, bool builds_only)
{
    SelfCheck check = { .session = session };
    static FileList files;

    session->ours = false;
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
        char path[PATH];
        PUT(path, "%s/%s", session->book.root, folders[f].path);
        list_files(path, ".cu", &files);
        printf("%s\n", folders[f].title);
        for (int i = 0; i < files.count; i++) {
            const char *name = files.path[i] + strlen(path) + 1;
            char promise[16] = "", lab[40] = "", flag[40] = "";
            char *text = read_file(files.path[i], 1 << 20, NULL);
            bool headed =
                text && expectation(text, is_simulated(&check), promise, sizeof promise) &&
                head_word(text, 1, "lab:", lab, sizeof lab) && (check.entry = lab_find(lab));
            if (headed && !is_simulated(&check))
                promised_flag(text, promise, flag, sizeof flag);
            free(text);
            if (!headed)
                row(&check, false, name,
                    "lacks `// expect: VERDICT` or `// lab: NAME` in its first two lines");
            else if (!strcmp(promise, "skipped"))
                printf("  --   %-34.34s skipped: needs a real clock, which a simulated GPU lacks\n",
                       name);
            else if (is_selected(check.entry, labs, count) &&
                     (!builds_only || !strcmp(promise, "build")))
                check_cheat(&check, &folders[f], name, files.path[i], promise, flag);
        }
    }
    return check.faults;
}
