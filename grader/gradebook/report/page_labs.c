/* page_labs.c - the parts of the class's page that show data per lab. */
#include "gradebook/report/page_labs.h"
#include "gradebook/report/chart.h"
#include "base/registry.h"
#include "base/remedy.h"
#include "base/util.h"
#include "base/verdict.h"

#include <stdlib.h>
#include <string.h>

static const LabEntry *entry_of(const char *lab)
{
    for (const LabEntry *entry = all_labs; entry->folder; entry++)
        if (!strcmp(entry->folder, lab))
            return entry;
    return NULL; /* from another version of the workbook */
}

/* ---- Speeds ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* Speeds of correct kernels; the caller frees .ratios. */
static Speeds speeds_of(Export *export, int lab)
{
    const ResultsTable *results = &export->results;
    const LabEntry *entry = entry_of(results->labs[lab]);
    double *ratios = xcalloc((size_t) results->count + 1, sizeof *ratios);
    Speeds speeds = { .ratios = ratios, .of = results->count };

    for (int i = 0; i < results->count; i++) {
        const Row *row = &results->students[i].labs[lab];
        if (row->has_ratio && is_in("pass close slow correct", row->state))
            ratios[speeds.count++] = row->ratio;
    }
    qsort(ratios, (size_t) speeds.count, sizeof *ratios, ascending);
    for (int i = 0; entry && entry->lab->cases[i].label; i++)
        if (entry->lab->cases[i].kind == TIMED) {
            double bar = course_bar(&export->store->course, entry, i);
            speeds.bar_lo = speeds.bar_lo > 0 && speeds.bar_lo < bar ? speeds.bar_lo : bar;
            speeds.bar_hi = speeds.bar_hi > bar ? speeds.bar_hi : bar;
        }
    return speeds;
}

/* Marks of submissions; the caller frees .list. */
static MarksGiven marks_of_lab(const ResultsTable *results, int lab)
{
    double *list = xcalloc((size_t) results->count + 1, sizeof *list);
    MarksGiven marks = { .list = list };

    for (int i = 0; i < results->count; i++) {
        const Row *row = &results->students[i].labs[lab];
        if (row->kernel && row->has_marks)
            list[marks.count++] = row->marks;
        marks.missing += !strcmp(row_state(row), "missing");
    }
    qsort(list, (size_t) marks.count, sizeof *list, ascending);
    return marks;
}

/* ---- Charts ---- */

static void put_lab_charts(Export *export, Page *page, int lab)
{
    MarksGiven marks = marks_of_lab(&export->results, lab);
    Speeds speeds = speeds_of(export, lab);

    if (marks.count || speeds.count)
        page_print(page, "<div class=\"charts\">\n");
    if (marks.count)
        chart_marks(page, &marks);
    if (speeds.count) {
        chart_distribution(page, &speeds);
        chart_share_over(page, &speeds);
    }
    page_print(page,
               marks.count || speeds.count
                   ? "</div>\n"
                   : "<p class=\"soft\">No speed was measured, and there are no marks.</p>\n");
    free((void *) speeds.ratios);
    free((void *) marks.list);
}

void put_speeds(Export *export, Page *page)
{
    page_print(
        page, "<h2 id=\"speeds\">Marks and speeds</h2>\n<p class=\"soft\">Speeds of correct "
              "kernels relative "
              "to the lab's reference, by their slowest timed case. Last chart: the share of all "
              "students whose kernel is correct and reaches at least p times the reference's speed "
              "(fast_p of KernelBench, 2025). Dashed: the lab's bar.</p>\n");
    for (int i = 0; i < export->results.lab_count; i++) {
        page_print(page, "<h3>%s</h3>\n", export->results.labs[i]);
        put_lab_charts(export, page, i);
    }
}

/* ---- Files ---- */

typedef enum Picture { PICTURE_MARKS, PICTURE_SPEED, PICTURES } Picture;

/* Writes FOLDER/06_transpose-marks.svg or -speed.svg, if there is anything to show. */
static void write_picture(Export *export, int lab, Picture picture, const MarksGiven *marks,
                          const Speeds *speeds)
{
    static const char *const words[PICTURES] = { "marks", "speed" };
    const char *course = export->store->course.name;
    char path[1200], title[300], *text = NULL;
    size_t bytes = 0;
    FILE *to;
    Page page;

    if (!(picture == PICTURE_MARKS ? marks->count : speeds->count))
        return;
    to = text_open(&text, &bytes);
    chart_file_begin(&page, to,
                     PUT(title, "%s%s%s: %s", course, *course ? ", " : "",
                         export->results.labs[lab], words[picture]));
    if (picture == PICTURE_MARKS)
        chart_draw_marks(&page, marks);
    else
        chart_draw_distribution(&page, speeds);
    chart_file_end(&page);
    text_close(to);
    PUT(path, "%s/%s-%s.svg", export->folder, export->results.labs[lab], words[picture]);
    if (!write_file(path, text, bytes))
        die("cannot write %s: %m", path);
    free(text);
}

void export_pictures(Export *export)
{
    if (!make_folders(export->folder))
        die("cannot write %s: %m", export->folder);
    for (int lab = 0; lab < export->results.lab_count; lab++) {
        MarksGiven marks = marks_of_lab(&export->results, lab);
        Speeds speeds = speeds_of(export, lab);
        for (int picture = 0; picture < PICTURES; picture++)
            write_picture(export, lab, (Picture) picture, &marks, &speeds);
        free((void *) speeds.ratios);
        free((void *) marks.list);
    }
}

/* ---- One row per lab ---- */

static int count_of(const ResultsTable *results, int lab, const char *states)
{
    int count = 0;

    for (int i = 0; i < results->count; i++) {
        char word[20];
        const char *state = row_state(&results->students[i].labs[lab]);
        PUT(word, "%.*s", (int) strcspn(state, " "), state); /* "not graded" */
        count += is_in(states, word);
    }
    return count;
}

static void put_lab(Export *export, Page *page, int lab)
{
    static const char *const columns[] = {
        "pass close", "slow correct",       "wrong unsafe stray crash timeout build suspect",
        "unchanged",  "missing unreadable", "queued not"
    };
    const ResultsTable *results = &export->results;
    Speeds speeds = speeds_of(export, lab);

    page_print(page, "<tr><th scope=\"row\">%s</th>", results->labs[lab]);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        page_print(page, "<td class=\"number\">%d</td>", count_of(results, lab, columns[i]));
    page_print(page, "<td class=\"number\">");
    if (speeds.count)
        page_print(page, "%.2f", speeds.ratios[speeds.count / 2]);
    page_print(page, "</td></tr>\n");
    free((void *) speeds.ratios);
}

void put_labs(Export *export, Page *page)
{
    page_print(page,
               "<h2 id=\"labs\">Labs</h2>\n<div class=\"scroll\" role=\"region\" "
               "aria-labelledby=\"labs\" tabindex=\"0\"><table>"
               "<thead><tr><th scope=\"col\">Lab</th><th scope=\"col\" class=\"number\">Passed</th>"
               "<th scope=\"col\" class=\"number\">Correct, but slow or not timed</th>"
               "<th scope=\"col\" class=\"number\">Not correct</th>"
               "<th scope=\"col\" class=\"number\">Not begun</th>"
               "<th scope=\"col\" class=\"number\">Missing</th>"
               "<th scope=\"col\" class=\"number\">Still open</th>"
               "<th scope=\"col\" class=\"number\">Median speed</th></tr></thead>\n<tbody>\n");
    for (int i = 0; i < export->results.lab_count; i++)
        put_lab(export, page, i);
    page_print(page, "</tbody></table></div>\n");
}

/* ---- Common failures ---- */

enum { FAILURE = 400, SHOWN = 6 };

typedef struct Failure {
    char what[FAILURE]; /* first, since sorting reads it as text */
    int students;
} Failure;

static int by_what(const void *a, const void *b)
{
    return strcmp(((const Failure *) a)->what, ((const Failure *) b)->what);
}

static int by_students(const void *a, const void *b)
{
    const Failure *x = a, *y = b;

    return x->students != y->students ? y->students - x->students : by_what(a, b);
}

/* Names a kind of failure by its verdict and diagnosis, without the case. */
static void name_failure(Store *store, const Row *row, Verdict verdict, Failure *failure)
{
    sqlite3_stmt *rows = store_ask(
        store, "SELECT value FROM figures WHERE attempt = ? AND name = 'saw'", "i", row->attempt);
    Diagnosis diagnosis = { 0 };

    while (store_row(store, rows))
        diagnosis.saw = diagnosis_bits(store_text(rows, 0), verdict);
    diagnosis_say(&diagnosis, verdict, 0, failure->what, sizeof failure->what);
    if (!diagnosis.saw)
        append(failure->what, sizeof failure->what, ": %s", verdict_meaning(verdict));
    failure->students = 1;
}

static int gather(Export *export, int lab, Failure *failures)
{
    int count = 0, kinds = 0;

    for (int i = 0; i < export->results.count; i++) {
        const Row *row = &export->results.students[i].labs[lab];
        Verdict verdict;
        if (row->graded && verdict_from_word(row_state(row), &verdict) &&
            !verdict_passed(verdict) && verdict != CORRECT_ONLY && verdict != UNCHANGED)
            name_failure(export->store, row, verdict, &failures[count++]);
    }
    qsort(failures, (size_t) count, sizeof *failures, by_what);
    for (int i = 0; i < count; i++)
        if (kinds && !by_what(&failures[kinds - 1], &failures[i]))
            failures[kinds - 1].students++;
        else
            failures[kinds++] = failures[i];
    qsort(failures, (size_t) kinds, sizeof *failures, by_students);
    return kinds;
}

void put_failures(Export *export, Page *page)
{
    Failure *failures = xcalloc((size_t) export->results.count + 1, sizeof *failures);

    page_print(page, "<h2 id=\"failures\">Common failures</h2>\n");
    for (int lab = 0; lab < export->results.lab_count; lab++) {
        int kinds = gather(export, lab, failures);
        if (!kinds)
            continue;
        page_print(page, "<h3>%s</h3>\n<ul>\n", export->results.labs[lab]);
        for (int i = 0; i < kinds && i < SHOWN; i++)
            page_print(page, "<li>%d student%s: %s</li>\n", failures[i].students,
                       failures[i].students == 1 ? "" : "s", failures[i].what);
        page_print(page, "</ul>\n");
        if (kinds > SHOWN)
            page_print(page, "<p class=\"soft\">And %d more.</p>\n", kinds - SHOWN);
    }
    free(failures);
}
