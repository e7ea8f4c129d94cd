/* export_feedback.c - each student's feedback, as text and as a page. */
#include "gradebook/report/feedback.h"
#include "gradebook/report/feedback_files.h"
#include "gradebook/report/markup.h"
#include "base/util.h"

#include <string.h>

/* Students do not see remarks that a human should check first. */
static bool is_for_student(const char *kind)
{
    return is_in("refused changed extra ambiguous", kind);
}

static void print_remarks(Export *export, const Student *student, FILE *to)
{
    sqlite3_stmt *rows = remarks_ask(export->store, student->id);
    bool begun = false;

    while (store_row(export->store, rows)) {
        if (!is_for_student(store_text(rows, 1)))
            continue;
        if (!begun)
            fprintf(to, "Other files in your submission:\n");
        begun = true;
        fprintf(to, "  %s%s%s: %s\n", store_text(rows, 0), *store_text(rows, 2) ? ", " : "",
                store_text(rows, 2), store_text(rows, 3));
    }
}

/* The reason for the marks; "" if the state already says it. */
static const char *reason_of(const Row *row)
{
    return strcmp(row->earned.why, feedback_meaning(row)) ? row->earned.why : "";
}

/* When it was submitted; "" if that is unknown: the time of a file is none, unless the course takes
 * it. */
static const char *time_of(const Row *row, char text[32])
{
    return row_date(row->first_sent ? row->sent : 0, text);
}

static void print_total(Export *export, const Student *student, FILE *to)
{
    const Total total = results_total(&export->results, student);

    fprintf(to, "Total: %.1f of 100", marks_total(&total));
    if (total.open)
        fprintf(to, ", for the labs marked so far; marks for %d lab%s will follow", total.open,
                total.open > 1 ? "s" : "");
    fputs("\n\n", to);
}

static void write_text(Export *export, const Student *student, FILE *to)
{
    char sent[32];

    if (*export->store->course.name)
        fprintf(to, "%s\n", export->store->course.name);
    fprintf(to, "%s%s%s%s\n\n", student->name, *student->number ? " (" : "", student->number,
            *student->number ? ")" : "");
    print_total(export, student, to);
    for (int i = 0; i < export->results.lab_count; i++) {
        const Row *row = &student->labs[i];
        Advice advice;
        const char *reason = reason_of(row);
        fprintf(to, "%s: %s: %s\n", row->lab, feedback_state(row), feedback_meaning(row));
        if (row->has_marks)
            fprintf(to, "    %.1f of 100 marks%s%s\n", row->marks, *reason ? ": " : "", reason);
        else
            fprintf(to, "    %s%s\n", row->earned.open ? "marks will follow: " : "",
                    row->earned.why);
        if (*time_of(row, sent) || row->is_late)
            fprintf(to, "    submitted%s%s%s\n", *sent ? " " : "", sent,
                    row->is_late ? ", late" : "");
        feedback_of(export->store, row, &advice);
        feedback_print(to, &advice, 4);
        feedback_free(&advice);
        fputc('\n', to);
    }
    print_remarks(export, student, to);
}

/* ---- As a page ---- */

static void put_item(Page *page, const Advice *advice, int i)
{
    AdviceKind kind = advice->items[i].kind;
    const char *head = feedback_head(kind);
    bool code = kind == SOURCE || kind == PRINTED || strchr(advice->items[i].text, '\n');

    if (*head && (!i || advice->items[i - 1].kind != kind)) {
        page_print(page, "<h3>%s</h3>\n", head);
    }
    page_print(page, code ? "<pre>%s</pre>\n" : "<p>%s</p>\n", advice->items[i].text);
}

static void put_lab(Export *export, Page *page, const Row *row)
{
    const char *reason = reason_of(row);
    Advice advice;
    char sent[32];

    page_print(page, "<section><h2>%s</h2>\n<p><strong>%s</strong>: %s.", row->lab,
               feedback_state(row), feedback_meaning(row));
    if (row->has_marks)
        page_print(page, " %.1f of 100 marks%s%s.", row->marks, *reason ? ": " : "", reason);
    else
        page_print(page, " %s%s.", row->earned.open ? "Marks will follow: " : "", row->earned.why);
    if (*time_of(row, sent) || row->is_late)
        page_print(page, " Submitted%s%s%s.", *sent ? " " : "", sent, row->is_late ? ", late" : "");
    page_print(page, "</p>\n");
    feedback_of(export->store, row, &advice);
    for (int i = 0; i < advice.count; i++)
        put_item(page, &advice, i);
    feedback_free(&advice);
    page_print(page, "</section>\n");
}

static void put_remarks(Export *export, Page *page, const Student *student)
{
    sqlite3_stmt *rows = remarks_ask(export->store, student->id);
    bool begun = false;

    while (store_row(export->store, rows)) {
        if (!is_for_student(store_text(rows, 1)))
            continue;
        if (!begun)
            page_print(page, "<h2>Other files in your submission</h2>\n<ul>\n");
        begun = true;
        page_print(page, "<li>%s%s%s: %s</li>\n", store_text(rows, 0),
                   *store_text(rows, 2) ? ", " : "", store_text(rows, 2), store_text(rows, 3));
    }
    if (begun)
        page_print(page, "</ul>\n");
}

void feedback_page(Export *export, const Student *student, FILE *to)
{
    Page page;

    page_begin(&page, to, &(PageHead){ student->name, page_style });
    page_print(&page, "<main>\n");
    if (*export->store->course.name)
        page_print(&page, "<p>%s</p>\n", export->store->course.name);
    page_print(&page, "<h1><bdi>%s</bdi></h1>\n", student->name);
    if (*student->number)
        page_print(&page, "<p>%s</p>\n", student->number);
    page_print(&page, "<p>");
    print_total(export, student, to);
    page_print(&page, "</p>\n");
    for (int i = 0; i < export->results.lab_count; i++)
        put_lab(export, &page, &student->labs[i]);
    put_remarks(export, &page, student);
    page_print(&page, "</main>\n");
    page_end(&page);
}

void export_feedback(Export *export)
{
    static const FileKind kinds[] = { { ".txt", write_text }, { ".html", feedback_page }, { 0 } };

    files_write(export, kinds, NULL, NULL);
}
