/* feedback.c - a student's feedback on one lab, as a list for any format.
 *
 * The items are in reading order: the result, the speed, what limits it, the source line, and what
 * to try next. Identical kernels are graded once, so the graded file may be another student's: no
 * line of such a kernel is quoted.
 */
#include "gradebook/report/feedback.h"
#include "base/number.h"
#include "gradebook/import/submission.h"
#include "gradebook/report/results_table.h"
#include "base/registry.h"
#include "base/remedy.h"
#include "base/util.h"
#include "base/verdict.h"
#include "base/text.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { QUOTED_LINES = 3, QUOTED_BYTES = 200, CASES = 32, FIGURES = 400, COLUMNS = 80 };

static void __attribute__((format(printf, 3, 4)))
add(Advice *advice, AdviceKind kind, const char *format, ...)
{
    va_list values;
    char *text = NULL;

    va_start(values, format);
    text = xvasprintf(format, values);
    va_end(values);
    if (advice->count < ADVICE_ITEMS)
        advice->items[advice->count++].text = text, advice->items[advice->count - 1].kind = kind;
    else
        free(text);
}

/* ---- What the grading stored ---- */

typedef struct Figures {
    char *names[FIGURES], *values[FIGURES];
    int count;
} Figures;

static void figures_read(Store *store, const Row *row, Figures *figures)
{
    sqlite3_stmt *rows =
        store_ask(store, "SELECT name, value FROM figures WHERE attempt = ?", "i", row->attempt);

    figures->count = 0;
    while (store_row(store, rows)) {
        char *name = xstrdup(store_text(rows, 0)), *value = xstrdup(store_text(rows, 1));
        if (figures->count == FIGURES) {
            free(name);
            free(value);
            continue;
        }
        figures->names[figures->count] = name;
        figures->values[figures->count++] = value;
    }
}

static void figures_free(Figures *figures)
{
    for (int i = 0; i < figures->count; i++) {
        free(figures->names[i]);
        free(figures->values[i]);
    }
}

/* The value of case.N.KEY, or for 0 of KEY; "" if absent. */
static const char *figure(const Figures *figures, int number, const char *key)
{
    char name[80];

    if (number)
        PUT(name, "case.%d.%s", number, key);
    else
        PUT(name, "%s", key);
    for (int i = 0; i < figures->count; i++)
        if (!strcmp(figures->names[i], name))
            return figures->values[i];
    return "";
}

static const LabEntry *entry_of(const Row *row)
{
    for (const LabEntry *entry = all_labs; entry->folder; entry++)
        if (!strcmp(entry->folder, row->lab))
            return entry;
    return NULL; /* from another version of the workbook */
}

/* A bar that the course has changed since then replaces the stored one. */
static void set_bars(Store *store, const LabEntry *entry, Figures *figures)
{
    char name[80], text[40];

    for (int n = 1; entry && n <= CASES; n++) {
        const Case *own = case_labelled(entry->lab, figure(figures, n, "label"));
        PUT(name, "case.%d.bar", n);
        for (int i = 0; own && i < figures->count; i++)
            if (!strcmp(figures->names[i], name)) {
                int at = (int) (own - entry->lab->cases);
                free(figures->values[i]);
                figures->values[i] =
                    xstrdup(PUT(text, "%.4f", course_bar(&store->course, entry, at)));
            }
    }
}

static bool number(const Figures *figures, int n, const char *key, double *value)
{
    return parse_number(figure(figures, n, key), -DBL_MAX, DBL_MAX, value);
}

static void add_case(const Figures *figures, int n, Advice *advice)
{
    const char *label = figure(figures, n, "label"), *why_not = figure(figures, n, "why_not");
    const char *limiter = figure(figures, n, "limiter");
    double ratio, low, high, bar, gbps;
    char text[300] = "";

    if (number(figures, n, "ratio", &ratio)) {
        bool barred = number(figures, n, "bar", &bar);
        APPEND(text, "%.3f of the reference's speed", barred ? ratio_shown(ratio, bar, 3) : ratio);
        if (number(figures, n, "ratio_lo", &low) && number(figures, n, "ratio_hi", &high))
            APPEND(text, " (between %.3f and %.3f)", low, high);
        if (barred)
            APPEND(text, "; the bar is %.2f", bar);
        else
            APPEND(text, "; a control, not graded");
        if (number(figures, n, "gbps", &gbps) && gbps > 0)
            APPEND(text, "; %.0f GB/s", gbps);
        add(advice, FIGURE, "case %s: %s.", label, text);
    } else if (*why_not) {
        add(advice, FIGURE, "case %s: speed not graded: %s", label, why_not);
    }
    if (*limiter)
        add(advice, LIMIT, "case %s: %s", label, limiter);
}

static void add_cases(const Figures *figures, Verdict verdict, Advice *advice)
{
    const char *limiter = figure(figures, 0, "limiter");

    if (*limiter && !verdict_passed(verdict))
        add(advice, LIMIT, "%s", limiter);
    for (int n = 1; n <= CASES && *figure(figures, n, "label"); n++)
        add_case(figures, n, advice);
}

/* ---- Source lines ---- */

static bool is_alone(Store *store, const Row *row)
{
    return store_number(store, 0,
                        "SELECT count(DISTINCT s.student) FROM parts p"
                        " JOIN submissions s ON s.id = p.submission WHERE p.kernel = ?",
                        "i", row->kernel) == 1;
}

static void quote(const char *source, long line, Advice *advice)
{
    int length;

    for (long at = 1; at < line && source; at++) {
        source = strchr(source, '\n');
        source += source != NULL;
    }
    if (!source || !*source)
        return;
    source += strspn(source, " \t");
    length = (int) strcspn(source, "\r\n");
    add(advice, SOURCE, "%ld: %.*s%s", line, length < QUOTED_BYTES ? length : QUOTED_BYTES, source,
        length < QUOTED_BYTES ? "" : " ...");
    show(advice->items[advice->count - 1].text);
}

/* Quotes each line that a sentence refers to, as in "kernel.cu:27". */
static void quote_lines(Store *store, const Row *row, const char *text, Advice *advice)
{
    char *source = NULL;
    long reported[QUOTED_LINES];
    int count = 0;
    sqlite3_stmt *found =
        store_ask(store, "SELECT source FROM kernels WHERE id = ?", "i", row->kernel);

    while (store_row(store, found))
        if (!source)
            source = xstrndup(store_text(found, 0), (size_t) sqlite3_column_bytes(found, 0));
    for (const char *at = text;
         source && (at = strstr(at, "kernel.cu:")) && count < QUOTED_LINES;) {
        long line = strtol(at += strlen("kernel.cu:"), NULL, 10);
        bool known = line < 1;
        for (int i = 0; i < count; i++)
            known |= reported[i] == line;
        if (!known)
            quote(source, reported[count++] = line, advice);
    }
    free(source);
}

/* ---- The reason ---- */

/* True if students may see this line of the reason. They do not see the command after the
 * compiler's output. A compiler quotes the file that it read; if that may be another student's
 * file, only the messages are shown. */
static bool is_told(const char *line, size_t length, bool first, bool alone)
{
    if (length >= 10 && !strncmp(line, "All of it:", 10))
        return false;
    return alone || first || memmem(line, length, "kernel.cu:", 10);
}

static void add_reason(const Row *row, bool alone, Advice *advice)
{
    char *text = xcalloc(strlen(row->why) + 2, 1), *end = text;

    for (const char *line = row->why; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        if (is_told(line, length, line == row->why, alone))
            end += sprintf(end, "%s%.*s", end == text ? "" : "\n", (int) length, line);
    }
    for (char *at = text; (at = strstr(at, "/submission/"));) /* the sandbox's path */
        memmove(at, at + strlen("/submission/"), strlen(at + strlen("/submission/")) + 1);
    add(advice, SAYS, "%s", text);
    free(text);
}

static void add_hint(const Row *row, Verdict verdict, const Figures *figures, Advice *advice)
{
    const LabEntry *entry = entry_of(row);
    Diagnosis diagnosis;
    int remedy;

    if (!entry)
        return;
    if (verdict_passed(verdict) || verdict == CORRECT_ONLY) {
        if (entry->lab->question)
            add(advice, QUESTION, "%s", entry->lab->question);
        return;
    }
    diagnosis =
        (Diagnosis){ .saw = diagnosis_bits(figure(figures, 0, "saw"), verdict),
                     .lab_case = case_labelled(entry->lab, figure(figures, 0, "saw.case")) };
    remedy = remedy_for(&diagnosis, verdict, row->ratio, entry->lab);
    if (remedy)
        add(advice, HINT, "%s", entry->lab->remedies[remedy - 1].text);
    else if (verdict != BUILD && entry->lab->hints[0] && *entry->lab->hints[0])
        add(advice, HINT, "%s", entry->lab->hints[0]);
}

static void add_verdict(Store *store, const Row *row, Verdict verdict, Advice *advice)
{
    bool alone = is_alone(store, row);
    const char *printed;
    Figures figures;

    figures_read(store, row, &figures);
    set_bars(store, entry_of(row), &figures);
    printed = figure(&figures, 0, "printed");

    if (store_number(store, 0, "SELECT protocol = 'quick' FROM verdicts WHERE attempt = ?", "i",
                     row->attempt))
        add(advice, SAYS, "This was a quick grading, so its speed is a rough estimate.");
    if (*row->why)
        add_reason(row, alone, advice);
    if (*row->note)
        add(advice, SAYS, "%s", row->note);
    add_cases(&figures, verdict, advice);
    if (alone)
        quote_lines(store, row, row->why, advice);
    if (*printed && !verdict_passed(verdict))
        add(advice, PRINTED, "%s", printed);
    if (!*row->decided)
        add_hint(row, verdict, &figures, advice);
    figures_free(&figures);
}

void feedback_of(Store *store, const Row *row, Advice *advice)
{
    Verdict verdict;

    *advice = (Advice){ 0 };
    if (row->graded && verdict_from_word(row->state, &verdict))
        add_verdict(store, row, verdict, advice);
}

void feedback_free(Advice *advice)
{
    for (int i = 0; i < advice->count; i++)
        free(advice->items[i].text);
    *advice = (Advice){ 0 };
}

const char *feedback_state(const Row *row)
{
    return *row->decided && !row->earned.excused ? "decided" : row_state(row);
}

/* A decision replaces the state's meaning. */
static const char *decided_meaning(const Row *row)
{
    if (!strcmp(row->decided, "pass"))
        return "the course staff decided that it counts as a pass";
    return "the course staff decided the marks";
}

const char *feedback_meaning(const Row *row)
{
    static const struct {
        const char *state, *meaning;
    } others[] = {
        { "missing", "no kernel was submitted for this lab" },
        { "withdrawn", "this lab does not count" },
        { "unreadable", "something was submitted, but no kernel for this lab could be read" },
        { "queued", "not graded yet" },
        { "open", "marks will follow" },
        { "not graded",
          "not graded yet, because of a problem with the machine, not with your kernel" },
        { NULL, "" },
    };
    Verdict verdict;
    int i = 0;

    if (row->earned.excused)
        return "this lab does not count";
    if (*row->decided)
        return decided_meaning(row);
    if (row->graded && verdict_from_word(row->state, &verdict))
        return verdict_meaning(verdict);
    while (others[i].state && strcmp(others[i].state, row->state))
        i++;
    return others[i].meaning;
}

/* ---- As text ---- */

const char *feedback_head(AdviceKind kind)
{
    static const char *const heads[] = {
        [LIMIT] = "What limits its speed", [SOURCE] = "The source line",
        [PRINTED] = "Your code printed",   [HINT] = "What to try next",
        [QUESTION] = "Does it transfer?",
    };

    return heads[kind] ? heads[kind] : "";
}

/* Source lines and program output are printed as they are; the rest is wrapped. */
static void print_item(FILE *to, AdviceKind kind, const char *text, int indent)
{
    if (kind != SOURCE && kind != PRINTED && !strchr(text, '\n')) {
        print_wrapped_to(to, text, indent, COLUMNS);
        return;
    }
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        fprintf(to, "%*s%.*s\n", indent, "", (int) length, text);
    }
}

void feedback_print(FILE *to, const Advice *advice, int indent)
{
    for (int i = 0; i < advice->count; i++) {
        AdviceKind kind = advice->items[i].kind;
        const char *head = feedback_head(kind);
        if (*head && (!i || advice->items[i - 1].kind != kind))
            fprintf(to, "%*s%s%s\n", indent, "", head, strchr(head, '?') ? "" : ":");
        print_item(to, kind, advice->items[i].text, *head ? indent + 2 : indent);
    }
}
