/* page.c - prints one lab's grading. */
#include "learner/page.h"
#include "base/text.h"
#include "learner/bar.h"
#include "learner/left_to_do.h"
#include "learner/ladder_place.h"
#include "learner/next.h"
#include "learner/predictions.h"
#include "learner/record.h"
#include "learner/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 80, INDENT = 2, PRINTED_LINES = 3, REASON_LINES = 8 };

static Verdict as_it_ran(const Result *result)
{
    return result->verdict == UNCHANGED ? result->as_it_ran : result->verdict;
}

/* ---- The first line ---- */

/* The cases whose results are checked here. A simulated GPU only begins some. */
static uint64_t correct_rows(const Result *result)
{
    const Case *row = result->entry->lab->cases;
    const uint64_t known = result->right_cases | result->wrong_cases;
    uint64_t rows = 0;

    for (int i = 0; i < 64 && row[i].label; i++)
        if (row[i].kind == CORRECT && (!row[i].only_begun || known >> i & 1))
            rows |= 1ull << i;
    return rows;
}

static void say_cases(const Result *result, char *text, size_t size)
{
    const int right = __builtin_popcountll(result->right_cases);
    const int wrong = __builtin_popcountll(result->wrong_cases);
    const int all = __builtin_popcountll(correct_rows(result));

    *text = 0;
    if (right + wrong == 0)
        return;
    if (right == all)
        put(text, size, ": all %d cases right", all);
    else if (result->verdict == WRONG || (result->verdict == CRASH && wrong)) {
        put(text, size, ": %d right, %d %s", right, wrong,
            result->verdict == WRONG ? "wrong" : "failed");
        if (right + wrong < all)
            append(text, size, ", %d not run", all - right - wrong);
    } else if (!wrong && verdict_passed(result->verdict))
        put(text, size, ": all %d cases that ran are right", right);
    else if (!wrong && as_it_ran(result) != WRONG)
        put(text, size, ": %d of %d cases right", right, all);
}

static void print_head(const Result *result)
{
    char lab[64], verdict[120], cases[80];

    PUT(lab, "%02d %s", lab_number(result->entry), lab_name(result->entry));
    say_cases(result, cases, sizeof cases);
    if (result->verdict == UNCHANGED)
        PUT(verdict, "NOT STARTED: this is the starter");
    else if (result->verdict == BUILD)
        PUT(verdict, "does not build");
    else
        PUT(verdict, "%s%s", verdict_word(result->verdict), cases);
    for (char *c = verdict; *c && *c != ':'; c++)
        *c = *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c;
    printf("%-*s %s\n", COLUMNS - 42, lab, verdict);
}

/* ---- Speeds ---- */

/* "7.88", "131", "4210": at least three digits, never an exponent. */
static const char *three_digits(double value, char text[32])
{
    return put(text, 32, value < 100 ? "%.3g" : "%.0f", value);
}

/* "28 of 157 GFLOP/s": at most 18 characters, the room that is left in the line. */
static void say_short(double mine, double reference, const char *unit, char *text, size_t size)
{
    const bool tera = mine >= 999.5 || reference >= 999.5;
    const double by = tera ? 1000 : 1, a = mine / by, b = reference / by;

    put(text, size, "%.*f of %.*f %c%s", a < 9.95, a, b < 9.95, b, tera ? 'T' : 'G', unit);
}

/* "28 of 76 GB/s": what the task must move, or compute if there is more of that, or the lab's
 * steps. "" if a control case is too small to tell anything. */
static void say_rate(const CaseSpeed *s, char *text, size_t size)
{
    const double student_to_reference = s->student_ms / s->reference_ms;
    char one[32], two[32];

    *text = 0;
    if (strcmp(case_unit(s), "B/s"))
        say_short(case_rate(s), case_rate(s) * student_to_reference, case_unit(s), text, size);
    else if (s->gbps >= 1 || s->lab_case->kind == TIMED)
        put(text, size, "%s of %s GB/s", three_digits(s->gbps, one),
            three_digits(s->reference_gbps, two));
}

/* How much of a label is shown: "a single block" of "a single block: 256", not "a single block: ".
 */
static int label_columns(const char *label)
{
    enum { MOST = 16 };
    const size_t words = strcspn(label, ":");

    return strlen(label) > MOST && words < MOST ? (int) words : MOST;
}

static void print_speed(const CaseSpeed *s, bool unmarked)
{
    char bar[BAR_COLUMNS + 1], speed[16], needed[32], rate[64];
    const bool timed = s->lab_case->kind == TIMED;

    PUT(needed, "%s", unmarked ? "not judged" : "control");
    if (timed)
        append(put(needed, sizeof needed, "needs "), sizeof needed, "%s",
               bar_percent(s->bar, 0, speed, sizeof speed));
    bar_draw(s->ratio.median, timed ? s->bar : 0, bar, sizeof bar);
    bar_percent(s->ratio.median, timed ? s->bar : 0, speed, sizeof speed);
    say_rate(s, rate, sizeof rate);
    printf("  %-16.*s %s %5s, ", label_columns(s->lab_case->label), s->lab_case->label, bar, speed);
    if (*rate) /* room for 18 characters, after a blank if there is one to spare */
        printf("%-11s %*s%s\n", needed, strlen(rate) < 18, "", rate);
    else
        printf("%s\n", needed);
}

static void print_speeds(const Result *result)
{
    int printed = 0;

    for (int i = 0; i < result->speeds; i++)
        if (result->speed[i].measured) {
            print_speed(&result->speed[i], result->entry->lab->unmarked);
            printed++;
        }
    if (printed)
        printf("\n");
}

/* ---- Why ---- */

/* "  cases right  1, 2, 4" on at most two lines. */
static void print_cases(const Result *result, uint64_t cases, const char *title)
{
    enum { MOST = 2 * (COLUMNS - INDENT) - 20 };
    const Case *row = result->entry->lab->cases;
    char text[MOST + 200];
    int left = __builtin_popcountll(cases), said = 0;

    if (!cases)
        return;
    PUT(text, "%s ", title);
    for (int i = 0; i < 64 && row[i].label; i++)
        if (cases >> i & 1) {
            if (strlen(text) + strlen(row[i].label) > MOST) {
                APPEND(text, ", and %d more", left);
                break;
            }
            APPEND(text, "%s %s", said++ ? ";" : "", row[i].label);
            left--;
        }
    print_wrapped(text, INDENT, COLUMNS);
}

/* Only a GPU runs the cases that are too large to simulate. */
static void print_not_run(const Result *result)
{
    const Verdict verdict = as_it_ran(result);
    const uint64_t left = correct_rows(result) & ~(result->right_cases | result->wrong_cases);

    if (verdict_passed(verdict) || verdict == SLOW || verdict == CORRECT_ONLY)
        print_cases(result, left, "Not run, too slow to simulate:");
}

/* More than a screen of the compiler's lines would hide the first error. */
static void print_lines(const char *text, int most, int indent)
{
    for (int line = 0; *text && line < most; line++) {
        const size_t length = strcspn(text, "\n");
        char *first = xstrndup(text, length);
        print_lines_wrapped(first, indent, COLUMNS);
        free(first);
        text += length + (text[length] == '\n');
    }
    if (*text)
        printf("... (-v shows all of it)\n");
}

static void print_shortened(const char *line)
{
    const int room = COLUMNS - 6;

    if ((int) strlen(line) <= room)
        printf("      %s\n", line);
    else
        printf("      %.*s...\n", room - 3, line);
}

/* The line of kernel.cu that the diagnosis names, as it is written there. */
static void print_source_line(const Result *result)
{
    size_t size;
    char *text = read_file(result->source, 256 << 10, &size), line[400] = "";
    const char *at = text;
    bool found = text && result->diagnosis.line > 0;

    for (int i = 0; found && i < result->diagnosis.line; i++)
        found = next_line(&at, text + size, line, sizeof line);
    if (found && line[strspn(line, " \t")])
        print_shortened(line + strspn(line, " \t"));
    free(text);
}

/* The file that was graded, as messages name it: "labs/01_coalescing/kernel.cu", or a submission.
 */
static const char *graded_file(const Result *result, char *path, size_t size)
{
    char usual[PATH];
    const size_t length = strlen(result->source);

    PUT(usual, "labs/%s/kernel.cu", result->entry->folder);
    const size_t end = strlen(usual);
    if (!length || (length >= end && !strcmp(result->source + length - end, usual)))
        return put(path, size, "%s", usual);
    return put(path, size, "%s", result->source);
}

/* "kernel.cu:24: reads ..." becomes "labs/01_coalescing/kernel.cu:24: reads ...", which terminals
 * and editors can open. */
static void print_cause(const Result *result, const char *cause)
{
    char text[sizeof result->why + PATH + 200], file[PATH];
    const char *named = strstr(cause, "kernel.cu:");

    if (named && (named == cause || named[-1] == ' '))
        PUT(text, "%.*s%s%s", (int) (named - cause), cause, graded_file(result, file, sizeof file),
            named + strlen("kernel.cu"));
    else
        PUT(text, "%s", cause);
    print_wrapped(text, INDENT, COLUMNS);
}

/* The cause, with its case if the lab has several timed ones. */
static const char *say_case(const Result *result, char *text, size_t size)
{
    const Case *named = result->diagnosis.lab_case;
    int timed = 0;

    for (const Case *c = result->entry->lab->cases; c->label; c++)
        timed += c->kind == TIMED;
    return put(text, size, timed > 1 && named && named->kind == TIMED ? "%s (case %s)" : "%s",
               result->cause, named ? named->label : "");
}

static void print_slow(const Result *result)
{
    char text[sizeof result->cause + 200];

    if (*result->cause)
        print_cause(result, say_case(result, text, sizeof text));
    else if (*result->limiter)
        print_wrapped(PUT(text, "What limits it: %s.", result->limiter), INDENT, COLUMNS);
    else if (!record_case(result))
        print_cause(result, result->why);
    print_source_line(result);
}

static void print_reason(const Result *result)
{
    const Verdict verdict = as_it_ran(result);

    if (verdict == SLOW)
        print_slow(result);
    else if ((verdict == BUILD || verdict == UNSOUND) && strchr(result->why, '\n'))
        print_lines(result->why, REASON_LINES, 0);
    else if (*why_it_failed(result)) /* a pass may have a remark, too: it was close */
        print_cause(result, why_it_failed(result));
    if (verdict == WRONG && result->verdict != UNCHANGED) {
        print_cases(result, result->wrong_cases, "wrong:");
        print_cases(result, result->right_cases, "right:");
    }
    if (*result->flags)
        printf("  for a human to check: %s\n", result->flags);
    if (*result->printed) {
        printf("  your code printed:\n");
        print_lines(result->printed, PRINTED_LINES, 4);
    }
}

/* ---- Predictions ---- */

static PredictionScore score_of(const Session *session, const Result *result)
{
    char path[PATH];

    return predictions_score(lab_file(&session->book, result->entry, "predictions.txt", path),
                             result->entry->lab);
}

/* Appends "Predictions: 3 of 5 right (make progress LAB=x)." if any is filled in. They are
 * explained only there: the verdict must not leave the screen. */
static void say_predictions(const PredictionScore *score, const LabEntry *entry, char *text,
                            size_t size)
{
    if (!score->filled)
        return;
    append(text, size, "%sPredictions: %d of %d right", *text ? " " : "", score->right,
           score->asked);
    if (score->unread)
        append(text, size, ", %d not understood", score->unread);
    if (score->filled + score->unread < score->asked)
        append(text, size, ", %d not filled in", score->asked - score->filled - score->unread);
    if (next_in_watch())
        append(text, size, " (p explains them).");
    else
        append(text, size, " (make progress LAB=%s).", lab_name(entry));
}

/* A line that cannot be read would otherwise only seem to be missing. */
static void print_prediction_fault(const PredictionScore *score)
{
    char text[sizeof score->fault + 60];

    if (!score->faults)
        return;
    PUT(text, "%s", score->fault);
    if (score->faults > 1)
        APPEND(text, " (%d such lines)", score->faults);
    print_wrapped(text, INDENT, COLUMNS);
}

static void print_predictions_line(const Session *session, const Result *result)
{
    const PredictionScore score = score_of(session, result);
    char text[200] = "";

    say_predictions(&score, result->entry, text, sizeof text);
    if (*text)
        print_wrapped(text, INDENT, COLUMNS);
    print_prediction_fault(&score);
}

/* ---- After a pass ---- */

/* A control case shows an effect that the lab's bar does not judge. Below this share of the
 * reference's speed the kernel has made it slow. */
static const double control_least = 0.5;

static const CaseSpeed *slow_control(const Result *result)
{
    for (int i = 0; i < result->speeds; i++) {
        const CaseSpeed *s = &result->speed[i];
        if (s->lab_case->kind == CONTROL && s->measured && s->ratio.median < control_least)
            return s;
    }
    return NULL;
}

static void print_slow_control(const CaseSpeed *s)
{
    char text[400], percent[16];

    PUT(text,
        "But the control case %s runs at %s of the reference's speed. It has no bar; the lesson's "
        "Symptoms say what makes it slow.",
        s->lab_case->label, bar_percent(s->ratio.median, 0, percent, sizeof percent));
    print_wrapped(text, INDENT, COLUMNS);
}

/* What the lab is about still holds, or another case has become slow: no reason to praise. */
static bool is_well_done(const Result *result)
{
    return !*result->above && !slow_control(result);
}

static void say_way(const Result *result, const Progress *p, char *text, size_t size)
{
    /* The deciding case may have changed, but "from ... to" compares one and the same. */
    const CaseSpeed *now = record_now(result, p->first_case);
    char from[16], to[16];

    put(text, size, is_well_done(result) ? "Well done" : "Passed");
    if (now && p->first_ratio > 0 && p->first_ratio < now->ratio.median)
        append(text, size, ": from %s to %s of the reference's speed",
               bar_percent(p->first_ratio, 0, from, sizeof from),
               bar_percent(now->ratio.median, 0, to, sizeof to));
    if (p->attempts)
        append(text, size, "%s after %d attempt%s",
               strchr(text, ':') ? "; first pass" : ": first pass", p->attempts,
               p->attempts == 1 ? "" : "s");
    if (p->attempts && p->hints_used)
        append(text, size, " with %d hint%s", p->hints_used, p->hints_used == 1 ? "" : "s");
    append(text, size,
           p->attempts && !p->hints_used && !p->remedy_shown ? " without a hint." : ".");
}

static void print_pass(const Session *session, const Result *result, const Progress *p)
{
    const char *name = lab_name(result->entry);
    const PredictionScore score = score_of(session, result);
    char text[500];

    if (slow_control(result))
        print_slow_control(slow_control(result));
    print_left_to_do(&session->book, result, INDENT, COLUMNS);
    if (*session->simulated && result->entry->lab->not_modelled)
        print_wrapped(result->entry->lab->not_modelled, INDENT, COLUMNS);
    say_way(result, p, text, sizeof text);
    say_predictions(&score, result->entry, text, sizeof text);
    print_wrapped(text, INDENT, COLUMNS);
    print_prediction_fault(&score);
    if (ladder_place(&session->book, result, text, sizeof text))
        print_wrapped(text, INDENT, COLUMNS);
    printf("  Then: make quiz LAB=%s, make compare LAB=%s\n", name, name);
}

/* "[##........] 2 of 10 done.", and the lab after this one that is not done. */
static void print_done(const Session *session, const LabEntry *entry)
{
    int labs, done = next_count_done(session->book.progress, &labs);

    printf("[");
    for (int i = 0; i < labs; i++)
        printf("%c", i < done ? '#' : '.');
    printf("] %d of %d done.\n", done, labs);
    print_next_after(&session->book, entry);
}

/* ---- The last lines ---- */

static void print_failed(const Session *session, const Result *result, const Progress *progress)
{
    char step[400], text[500];

    next_step(result->entry, progress, step, sizeof step);
    PUT(text, "Next: %s", step);
    if (result->verdict == SLOW)
        APPEND(text, next_in_watch() ? "; e explains it" : "  (in full: make explain LAB=%s)",
               lab_name(result->entry));
    print_wrapped(text, 0, COLUMNS);
    if (result->verdict != BUILD && result->verdict != UNCHANGED && result->seed == session->seed)
        printf("Same inputs: make grade LAB=%s FLAGS=\"--seed %016" PRIx64 "\"\n",
               lab_name(result->entry), result->seed);
}

void print_page(const Session *session, const Result *result, const Progress *progress)
{
    print_head(result);
    printf("\n");
    print_speeds(result);
    print_reason(result);
    if (*session->simulated)
        print_not_run(result);
    if (*result->note && !*session->simulated)
        print_wrapped(result->note, INDENT, COLUMNS);
    if (!progress) {
        printf("Graded as a submission, so make progress does not record it.\n");
        return;
    }
    if (verdict_passed(result->verdict))
        print_pass(session, result, progress);
    else
        print_predictions_line(session, result);
    printf("\n");
    if (result->verdict == UNSOUND)
        printf("Next: fix the problem above. It lies with this machine or the grader, not with "
               "your\nkernel.\n");
    else if (verdict_passed(result->verdict) || result->verdict == CORRECT_ONLY)
        print_done(session, result->entry);
    else
        print_failed(session, result, progress);
}
