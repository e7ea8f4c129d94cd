/* export.c - the gradebook for other programs: a format is a row of the table at the end. */
#include "export.h"
#include "sheet.h"
#include "../util.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* "" for an unknown time. */
static const char *date(int64_t seconds, char text[32])
{
    time_t when = (time_t) seconds;
    struct tm parts;

    text[0] = 0;
    if (seconds && gmtime_r(&when, &parts))
        strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

/* ---- CSV: RFC 4180 ---- */

/* What begins like a formula gets an apostrophe: a spreadsheet would run it. Names are hostile. */
static void cell(FILE *to, const char *text, bool last)
{
    bool formula = *text && strchr("=+-@\t\r", *text);
    bool quoted = formula || strpbrk(text, ",\"\n\r;");

    if (quoted)
        fputc('"', to);
    if (formula)
        fputc('\'', to);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', to);
        fputc(*text, to);
    }
    fputs(quoted ? "\"" : "", to);
    fputs(last ? "\r\n" : ",", to);
}

static void number_cell(FILE *to, bool there, const char *format, double value)
{
    if (there)
        fprintf(to, format, value);
    fputc(',', to);
}

static void write_csv(Store *store, FILE *to)
{
    sqlite3_stmt *rows = rows_ask(store);
    char sent[32];
    Row row;

    fputs("student,number,lab,state,marks,ratio,why,note,flag,late,handed_in,source,predictions,"
          "kernel,same_as_others,attempts,device,simulated,driver,protocol,seed,graded_at,log\r\n",
          to);
    while (rows_next(store, rows, &row)) {
        cell(to, row.name, false);
        cell(to, row.number, false);
        cell(to, row.lab, false);
        cell(to, row.state, false);
        number_cell(to, row.has_marks, "%.1f", row.marks);
        number_cell(to, row.has_ratio, "%.5f", row.ratio);
        cell(to, row.why, false);
        cell(to, row.note, false);
        cell(to, row.flag, false);
        cell(to, row.late ? "yes" : "", false);
        cell(to, date(row.sent, sent), false);
        cell(to, row.source, false);
        cell(to, row.predicted ? "yes" : "", false);
        number_cell(to, row.kernel != 0, "%.0f", (double) row.kernel);
        number_cell(to, row.kernel != 0, "%.0f", (double) row.same);
        number_cell(to, row.kernel != 0, "%.0f", (double) row.attempts);
        cell(to, row.device, false);
        cell(to, *row.simulated ? "yes" : "", false);
        cell(to, row.driver, false);
        cell(to, row.protocol, false);
        cell(to, row.seed, false);
        cell(to, row.at, false);
        cell(to, row.log, true);
    }
}

/* ---- JSON ---- */

static void json_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(to, "\\%c", *text);
        else if ((unsigned char) *text < ' ')
            fprintf(to, "\\u%04x", (unsigned char) *text);
        else
            fputc(*text, to);
    fputc('"', to);
}

/* , "key": "value", unless it is empty. */
static void member(FILE *to, const char *key, const char *value)
{
    if (!*value)
        return;
    fprintf(to, ", \"%s\": ", key);
    json_text(to, value);
}

static void json_figures(Store *store, FILE *to, int64_t attempt)
{
    sqlite3_stmt *rows = store_ask(
        store, "SELECT name, value FROM figures WHERE attempt = ? ORDER BY name", "i", attempt);
    bool first = true;

    fputs(", \"figures\": {", to);
    while (store_row(store, rows)) {
        fputs(first ? "" : ", ", to);
        first = false;
        json_text(to, store_text(rows, 0));
        fputs(": ", to);
        json_text(to, store_text(rows, 1));
    }
    fputc('}', to);
}

static void json_lab(Store *store, FILE *to, const Row *row)
{
    char sent[32];

    fputs("        {\"lab\": ", to);
    json_text(to, row->lab);
    member(to, "state", row->state);
    if (row->has_marks)
        fprintf(to, ", \"marks\": %.1f", row->marks);
    if (row->has_ratio)
        fprintf(to, ", \"ratio\": %.5f", row->ratio);
    member(to, "why", row->why);
    member(to, "note", row->note);
    member(to, "flag", row->flag);
    if (row->kernel)
        fprintf(to,
                ", \"late\": %s, \"predictions\": %s, \"kernel\": %" PRId64
                ", \"same_as_others\": %d, \"attempts\": %d",
                row->late ? "true" : "false", row->predicted ? "true" : "false", row->kernel,
                row->same, row->attempts);
    member(to, "handed_in", date(row->sent, sent));
    member(to, "source", row->source);
    member(to, "path", row->path);
    member(to, "device", row->device);
    member(to, "uuid", row->uuid);
    member(to, "simulated", row->simulated);
    member(to, "driver", row->driver);
    member(to, "nvcc", row->nvcc);
    member(to, "version", row->version);
    member(to, "protocol", row->protocol);
    member(to, "seed", row->seed);
    member(to, "lab_hash", row->lab_hash);
    member(to, "graded_at", row->at);
    member(to, "log", row->log);
    if (row->attempt)
        json_figures(store, to, row->attempt);
    fputc('}', to);
}

static void json_remarks(Store *store, FILE *to, int64_t student)
{
    sqlite3_stmt *rows = store_ask(
        store,
        "SELECT s.source, r.kind, r.entry, r.sentence FROM seen"
        " JOIN submissions s ON s.id = seen.submission JOIN remarks r ON r.submission = s.id"
        " WHERE seen.import = (SELECT max(id) FROM imports) AND s.student = ?"
        " ORDER BY seen.place, r.id",
        "i", student);
    bool first = true;

    while (store_row(store, rows)) {
        fputs(first ? "\n        {\"source\": " : ",\n        {\"source\": ", to);
        first = false;
        json_text(to, store_text(rows, 0));
        member(to, "kind", store_text(rows, 1));
        member(to, "entry", store_text(rows, 2));
        member(to, "sentence", store_text(rows, 3));
        fputc('}', to);
    }
}

static void json_submissions(Store *store, FILE *to, int64_t student)
{
    sqlite3_stmt *rows = store_ask(
        store,
        "SELECT s.source, s.layout, s.late, s.sent, s.refused,"
        "  (SELECT count(*) FROM counted c WHERE c.submission = s.id)"
        " FROM seen JOIN submissions s ON s.id = seen.submission"
        " WHERE seen.import = (SELECT max(id) FROM imports) AND s.student = ? ORDER BY seen.place",
        "i", student);
    bool first = true;
    char sent[32];

    while (store_row(store, rows)) {
        fputs(first ? "\n        {\"source\": " : ",\n        {\"source\": ", to);
        first = false;
        json_text(to, store_text(rows, 0));
        member(to, "layout", store_text(rows, 1));
        member(to, "handed_in", date(sqlite3_column_int64(rows, 3), sent));
        fprintf(to, ", \"late\": %s, \"refused\": %s, \"labs_that_count\": %d}",
                sqlite3_column_int(rows, 2) ? "true" : "false",
                sqlite3_column_int(rows, 4) ? "true" : "false", sqlite3_column_int(rows, 5));
    }
}

static void json_end_student(Store *store, FILE *to, int64_t student)
{
    fputs("\n      ],\n      \"submissions\": [", to);
    json_submissions(store, to, student);
    fputs("\n      ],\n      \"remarks\": [", to);
    json_remarks(store, to, student);
    fputs("\n      ]\n    }", to);
}

static void write_json(Store *store, FILE *to)
{
    sqlite3_stmt *rows = rows_ask(store);
    int64_t student = 0;
    Row row;

    fprintf(to, "{\n  \"format\": 1,\n  \"program\": \"gradebook %s\",\n  \"students\": [",
            WARPBOOK_VERSION);
    while (rows_next(store, rows, &row)) {
        if (row.student != student) {
            if (student)
                json_end_student(store, to, student);
            fputs(student ? ",\n    {\n      \"name\": " : "\n    {\n      \"name\": ", to);
            json_text(to, row.name);
            member(to, "number", row.number);
            fputs(",\n      \"labs\": [\n", to);
        } else {
            fputs(",\n", to);
        }
        student = row.student;
        json_lab(store, to, &row);
    }
    if (student)
        json_end_student(store, to, student);
    fputs("\n  ]\n}\n", to);
}

/* ---- Formats ---- */

static const struct {
    const char *name;
    void (*write)(Store *store, FILE *to);
} formats[] = {
    { "csv", write_csv },
    { "json", write_json },
};

bool export_write(Store *store, const char *format, FILE *to)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i].name, format)) {
            formats[i].write(store, to);
            return true;
        }
    return false;
}

const char *export_formats(void)
{
    static char names[64];

    names[0] = 0;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        APPEND(names, "%s%s", i ? ", " : "", formats[i].name);
    return names;
}
