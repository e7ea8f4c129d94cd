/* export_json.c - exports everything for programs: docs/gradebook.schema.json.
 *
 * It prints one student at a time, so memory use does not grow with the class.
 */
#include "gradebook/report/formats.h"
#include "gradebook/report/json.h"
#include "base/util.h"

static void add_figures(Store *store, cJSON *lab, const Row *row)
{
    sqlite3_stmt *rows =
        store_ask(store, "SELECT name, value FROM figures WHERE attempt = ? ORDER BY name", "i",
                  row->attempt);
    cJSON *figures = json_object_in(lab, "figures");

    while (store_row(store, rows))
        json_text(figures, store_text(rows, 0), store_text(rows, 1));
}

static void add_decisions(cJSON *lab, const Row *row)
{
    json_text(lab, "decided", row->decided);
    json_text(lab, "decided_by", row->decided_by);
    json_text(lab, "decided_note", row->decided_note);
    json_text(lab, "extended", row->extended);
    json_text(lab, "extended_note", row->extended_note);
    if (row->excused) {
        json_flag(lab, "excused", true);
        json_text(lab, "excused_note", row->excused_note);
    }
    if (row->late_days)
        json_number(lab, "late_days", (double) row->late_days, 0);
}

static void add_lab(Store *store, cJSON *labs, const Row *row)
{
    cJSON *lab = json_object_of(labs);
    char sent[32];

    json_text(lab, "lab", row->lab);
    json_text(lab, "state", row->state);
    if (row->has_marks)
        json_number(lab, "marks", row->marks, 1);
    if (row->earned.known) {
        json_number(lab, "whole", row->earned.whole, 1);
        json_number(lab, "late_s", (double) row->earned.late_s, 0);
    }
    json_text(lab, "marks_why", row->earned.why);
    add_decisions(lab, row);
    if (row->quiz_asked) {
        json_number(lab, "quiz_right", row->quiz_right, 0);
        json_number(lab, "quiz_asked", row->quiz_asked, 0);
    }
    json_number(lab, "weight", row->weight, 3);
    if (row->has_ratio)
        json_number(lab, "ratio", row->ratio, 5);
    json_text(lab, "why", row->why);
    json_text(lab, "note", row->note);
    json_text(lab, "flag", row->flag);
    if (row->kernel) {
        json_flag(lab, "late", row->late);
        json_flag(lab, "predictions", row->predicted);
        json_number(lab, "kernel", (double) row->kernel, 0);
        json_number(lab, "same_as_others", row->same, 0);
        json_number(lab, "attempts", row->attempts, 0);
    }
    json_text(lab, "handed_in", row_date(row->sent, sent));
    json_text(lab, "source", row->source);
    json_text(lab, "path", row->path);
    json_text(lab, "device", row->device);
    json_text(lab, "uuid", row->uuid);
    json_text(lab, "simulated", row->simulated);
    json_text(lab, "driver", row->driver);
    json_text(lab, "nvcc", row->nvcc);
    json_text(lab, "version", row->version);
    json_text(lab, "protocol", row->protocol);
    json_text(lab, "seed", row->seed);
    json_text(lab, "lab_hash", row->lab_hash);
    json_text(lab, "graded_at", row->at);
    json_text(lab, "log", row->log);
    if (row->attempt)
        add_figures(store, lab, row);
}

static void add_submissions(Store *store, cJSON *list, int64_t student)
{
    sqlite3_stmt *rows =
        store_ask(store,
                  "SELECT s.source, s.layout, s.late, s.sent, s.refused,"
                  "  (SELECT count(*) FROM temp.handed_in c WHERE c.submission = s.id)"
                  " FROM seen JOIN submissions s ON s.id = seen.submission"
                  " JOIN temp.person_of o ON o.student = s.student"
                  " WHERE seen.import IN (SELECT import FROM counting) AND o.person = ?"
                  " ORDER BY seen.import, seen.place",
                  "i", student);
    char sent[32];

    while (store_row(store, rows)) {
        cJSON *submission = json_object_of(list);
        json_text(submission, "source", store_text(rows, 0));
        json_text(submission, "layout", store_text(rows, 1));
        json_text(submission, "handed_in", row_date(sqlite3_column_int64(rows, 3), sent));
        json_flag(submission, "late", sqlite3_column_int(rows, 2));
        json_flag(submission, "refused", sqlite3_column_int(rows, 4));
        json_number(submission, "labs_that_count", sqlite3_column_int(rows, 5), 0);
    }
}

static void add_remarks(Store *store, cJSON *list, int64_t student)
{
    sqlite3_stmt *rows = remarks_ask(store, student);

    while (store_row(store, rows)) {
        cJSON *remark = json_object_of(list);
        json_text(remark, "source", store_text(rows, 0));
        json_text(remark, "kind", store_text(rows, 1));
        json_text(remark, "entry", store_text(rows, 2));
        json_text(remark, "sentence", store_text(rows, 3));
    }
}

static void print_student(Export *export, const Student *student)
{
    const Total total = results_total(&export->results, student);
    cJSON *json = json_object(), *labs;

    json_text(json, "name", student->name);
    json_text(json, "number", student->number);
    json_text(json, "roster_id", student->labs->roster_id);
    json_text(json, "email", student->labs->email);
    json_text(json, "section", student->labs->section);
    json_text(json, "roster", student->labs->roster);
    json_text(json, "status", student->labs->status);
    json_number(json, "total", marks_total(&total), 1);
    json_number(json, "open", total.open, 0);
    labs = json_list_in(json, "labs");
    for (int i = 0; i < export->results.lab_count; i++)
        add_lab(export->store, labs, &student->labs[i]);
    add_submissions(export->store, json_list_in(json, "submissions"), student->id);
    add_remarks(export->store, json_list_in(json, "remarks"), student->id);
    json_print(export->to, json);
}

void export_json(Export *export)
{
    cJSON *course = cJSON_CreateString(export->store->course.name);
    char *name = course ? cJSON_PrintUnformatted(course) : NULL;

    fprintf(export->to, "{\"format\": 1, \"program\": \"gradebook %s\", ", WARPBOOK_VERSION);
    if (name && *export->store->course.name)
        fprintf(export->to, "\"course\": %s, ", name);
    fputs("\"students\": [", export->to);
    cJSON_free(name);
    cJSON_Delete(course);
    for (int i = 0; i < export->results.count; i++) {
        fputs(i ? ",\n" : "\n", export->to);
        print_student(export, &export->results.students[i]);
    }
    fputs("\n]}\n", export->to);
}
