/* export_html.c - a class on one page: numbers per lab, students, charts, and what a human should
 * check.
 *
 * The page is one file and readable without network or script: the script only sorts and filters
 * the table of students. Everything shown by colour is also shown by a word or sign.
 */
#include "gradebook/report/device_days.h"
#include "gradebook/report/chart.h"
#include "gradebook/report/formats.h"
#include "gradebook/report/markup.h"
#include "gradebook/report/overview.h"
#include "gradebook/report/page_labs.h"
#include "gradebook/report/page_pairs.h"
#include "base/registry.h"
#include "base/util.h"
#include "base/verdict.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- The table of students ---- */

/* How a state is shown: a sign and a CSS class in addition to its word. */
typedef struct Survey {
    const char *states, *class, *sign;
} Survey;

static const Survey looks[] = {
    { "pass close", "good", "✓" },
    { "correct slow", "mid", "○" },
    { "queued not unchanged missing withdrawn unreadable excused", "open", "–" },
    { NULL, "bad", "✗" },
};

static const Survey *survey_of(const char *state)
{
    char word[20];
    int i = 0;

    PUT(word, "%.*s", (int) strcspn(state, " "), state); /* "not graded" */
    while (looks[i].states && !is_in(looks[i].states, word))
        i++;
    return &looks[i];
}

static void put_cell(Page *page, const Row *row)
{
    const Survey *survey = survey_of(row_state(row));
    bool late = row->is_late, check = row_needs_review(row);
    double order = row->has_marks ? row->marks * 10 + (row->has_ratio ? row->ratio : 0) : -1;

    page_print(page, "<td class=\"%s\" data-sort=\"%.4f\" data-state=\"%s\" data-lab=\"%s\"",
               survey->class, order, row_state(row), row->lab);
    if (check)
        page_print(page, " data-flag=\"\"");
    page_print(page, ">%s %s<small>", survey->sign, row_state(row));
    if (row->has_marks)
        page_print(page, "%.0f", row->marks);
    if (row->has_ratio)
        page_print(page, "%s%.2f", row->has_marks ? " · " : "", row->ratio);
    page_print(page, "</small>");
    if (late || check || row->same > 0) {
        page_print(page, "<small>%s%s", late ? "late " : "", check ? "⚑ check " : "");
        if (row->same > 0)
            page_print(page, "same as %d other%s", (int) row->same, row->same > 1 ? "s" : "");
        page_print(page, "</small>");
    }
    page_print(page, "</td>\n");
}

static void put_student(Page *page, const ResultsTable *results, const Student *student)
{
    const Total total = results_total(results, student);

    page_print(page,
               "<tr><th scope=\"row\"><bdi>%s</bdi> <span class=\"soft\">%s %s%s</span></th>\n"
               "<td class=\"number\" data-sort=\"%.4f\">%.1f",
               student->name, student->number, student->labs->section,
               strcmp(student->labs->status, "withdrawn") ? "" : " withdrawn", marks_total(&total),
               marks_total(&total));
    if (total.open)
        page_print(page, "<small>%d open</small>", total.open);
    page_print(page, "</td>\n");
    for (int i = 0; i < results->lab_count; i++)
        put_cell(page, &student->labs[i]);
    page_print(page, "</tr>\n");
}

static void put_choice(Page *page, const char *value)
{
    page_print(page, "<option>%s</option>", value);
}

static void put_filter(Page *page, const ResultsTable *results)
{
    page_print(page, "<form id=\"filter\" hidden>\n<label>Name, number or section "
                     "<input name=\"name\" type=\"search\" autocomplete=\"off\"></label>\n"
                     "<label>Lab <select name=\"lab\"><option value=\"\">any</option>");
    for (int i = 0; i < results->lab_count; i++)
        put_choice(page, results->labs[i]);
    page_print(page, "</select></label>\n<label>Has <select name=\"state\">"
                     "<option value=\"\">any</option>");
    for (int i = 0; i < VERDICT_COUNT; i++)
        if (i != UNSOUND)
            put_choice(page, verdict_word((Verdict) i));
    put_choice(page, "missing");
    put_choice(page, "unreadable");
    put_choice(page, "excused");
    put_choice(page, "withdrawn");
    put_choice(page, "queued");
    put_choice(page, "not graded");
    page_print(page, "</select></label>\n"
                     "<label class=\"line\"><input name=\"flagged\" type=\"checkbox\"> "
                     "to be checked by a human</label>\n"
                     "<button type=\"reset\">Show all</button>\n"
                     "</form>\n<p id=\"shown\" class=\"soft\" role=\"status\"></p>\n");
}

static void put_students(Page *page, const ResultsTable *results)
{
    page_print(page, "<h2 id=\"table\">Students</h2>\n");
    put_filter(page, results);
    page_print(
        page,
        "<p class=\"soft\">Each lab: state; marks of 100 · speed (reference = 1). ✓ passed, ○ "
        "correct, ✗ not correct, – open.</p>\n"
        "<div class=\"scroll\" role=\"region\" aria-labelledby=\"table\" tabindex=\"0\">\n"
        "<table id=\"students\">\n<thead><tr><th scope=\"col\">Student</th>"
        "<th scope=\"col\" class=\"number\">Total</th>");
    for (int i = 0; i < results->lab_count; i++) {
        page_print(page, "<th scope=\"col\">%s</th>", results->labs[i]);
    }
    page_print(page, "</tr></thead>\n<tbody>\n");
    for (int i = 0; i < results->count; i++)
        put_student(page, results, &results->students[i]);
    page_print(page, "</tbody>\n</table>\n</div>\n");
}

/* ---- What a human should check ---- */

typedef struct Lists {
    Page *page;
    bool open;
} Lists;

static void end_list(Lists *lists)
{
    if (lists->open)
        page_print(lists->page, "</tbody></table></div>\n");
    lists->open = false;
}

static void put_head(void *context, const char *head)
{
    Lists *lists = context;

    end_list(lists);
    page_print(
        lists->page,
        "<h3>%s</h3>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"stack\"><thead><tr>"
        "<th scope=\"col\">Who</th><th scope=\"col\">What</th>"
        "<th scope=\"col\">Why</th></tr></thead><tbody>\n",
        head);
    lists->open = true;
}

static void put_entry(void *context, const char *who, const char *what, const char *sentence)
{
    char *first = xstrdup(sentence);

    first[strcspn(first, "\n")] = 0; /* the rest may be a compiler's output */
    page_print(((Lists *) context)->page,
               "<tr><td class=\"words\"><bdi>%s</bdi></td><td class=\"words\">%s</td>"
               "<td class=\"words\">%s</td></tr>\n",
               who, what, first);
    free(first);
}

static void put_lists(Export *export, Page *page)
{
    Lists lists = { page, false };
    const Listener listener = { &lists, put_head, put_entry };

    page_print(page, "<h2 id=\"look\">To be checked</h2>\n");
    overview_each(export->store, &export->options->filter, &export->results, &listener);
    end_list(&lists);
}

/* ---- The page ---- */

/* "GPU programming: class report" */
static const char *title_of(const Store *store, char title[200])
{
    const char *name = store->course.name;

    return put(title, 200, "%s%s", name, *name ? ": class report" : "Class report");
}

static void put_top(Page *page, const ResultsTable *results, const char *title)
{
    time_t now = time(NULL);
    char date[32];

    page_print(page,
               "<h1>%s</h1>\n"
               "<p>%d students, %d labs; written on %s by gradebook %s.</p>\n",
               title, results->count, results->lab_count, row_date((int64_t) now, date),
               WARPBOOK_VERSION);
    page_print(
        page,
        "<nav aria-label=\"On this page\"><ul><li><a href=\"#labs\">Labs</a></li>"
        "<li><a href=\"#table\">Students</a></li><li><a href=\"#speeds\">Marks and speeds</a></li>"
        "<li><a href=\"#failures\">Common failures</a></li>"
        "<li><a href=\"#look\">To be checked</a></li>"
        "<li><a href=\"#alike\">Similar kernels</a></li>"
        "<li><a href=\"#devices\">Devices</a></li></ul></nav>\n");
}

void export_html(Export *export)
{
    Page page;
    char title[200];

    title_of(export->store, title);
    page_begin(&page, export->to, &(PageHead){ title, page_style });
    page_print(&page, "<main>\n");
    put_top(&page, &export->results, title);
    put_labs(export, &page);
    put_students(&page, &export->results);
    put_speeds(export, &page);
    put_failures(export, &page);
    put_lists(export, &page);
    if (filter_is_everyone(&export->options->filter))
        put_pairs(export, &page);
    else
        page_print(&page, "<h2 id=\"alike\">Similar kernels</h2>\n<p class=\"soft\">A page of the "
                          "whole class lists them, since each pair names two students.</p>\n");
    device_days_page(export->store, &page);
    page_script(&page, page_sorting);
    page_print(&page, "</main>\n");
    page_end(&page);
}
