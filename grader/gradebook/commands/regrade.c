/* regrade.c - the command that grades kernels again: of one student, of a whole lab, or those that
 * a CSV lists. */
#include "gradebook/commands/grade.h"
#include "gradebook/base/stop.h"
#include "gradebook/report/worksheet.h"
#include "gradebook/store/people.h"
#include "gradebook/store/requests.h"
#include "gradebook/store/terms.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Request {
    int64_t person, kernel;
    const char *lab;
    char note[400];
} Request;

typedef struct Requests {
    Request *list;
    int count;
    char *mistakes; /* a line each; NULL: none */
} Requests;

/* ---- Finding the kernels ---- */

/* Finds what counts for a student, given by name, number or e-mail address. On failure, returns
 * false with the reason in `problem`. */
static bool find_one(Store *store, const char *student, const char *lab, Request *request,
                     char *problem, size_t size)
{
    const LabEntry *entry = lab_find(lab);

    if (!entry) {
        put(problem, size, "there is no lab %s", lab);
        return false;
    }
    request->lab = entry->folder;
    if (!people_find(store, student, &request->person, problem, size))
        return false;
    request->kernel =
        store_number(store, 0, "SELECT kernel FROM temp.handed_in WHERE person = ? AND lab = ?",
                     "it", request->person, entry->folder);
    if (!request->kernel)
        put(problem, size, "%s has submitted nothing for %s", student, entry->folder);
    return request->kernel != 0;
}

static void take_row(Store *store, const Worksheet *sheet, int row, const int columns[3],
                     const char *shown, Requests *requests, FILE *mistakes)
{
    Request *request = &requests->list[requests->count];
    char student[400], lab[100], problem[1000];

    worksheet_text(sheet, row, columns[0], student, sizeof student);
    worksheet_text(sheet, row, columns[1], lab, sizeof lab);
    if (!*student && !*lab)
        return;
    if (columns[2] >= 0)
        worksheet_text(sheet, row, columns[2], request->note, sizeof request->note);
    if (find_one(store, student, lab, request, problem, sizeof problem))
        requests->count++;
    else
        fprintf(mistakes, "%s, row %d: %s\n", shown, row + 1, problem);
}

/* Reads the whole file before anything is stored. */
static bool read_requests(Store *store, const char *path, Requests *requests)
{
    Worksheet sheet;
    char problem[600];
    size_t bytes = 0;
    FILE *mistakes;
    int columns[3];

    if (!worksheet_read(path, &sheet, problem, sizeof problem))
        return say(0, "%s", problem), false;
    columns[0] = worksheet_column(&sheet, "student");
    columns[1] = worksheet_column(&sheet, "lab");
    columns[2] = worksheet_column(&sheet, "note");
    mistakes = text_open(&requests->mistakes, &bytes);
    if (columns[0] < 0 || columns[1] < 0)
        fprintf(mistakes,
                "%s: the first row must name the columns student, lab and, if you give "
                "reasons, note\n",
                path);
    requests->list = xcalloc((size_t) sheet.rows, sizeof(Request));
    for (int row = 1; row < sheet.rows && columns[0] >= 0 && columns[1] >= 0; row++)
        take_row(store, &sheet, row, columns, path, requests, mistakes);
    text_close(mistakes);
    worksheet_free(&sheet);
    if (bytes) {
        say(0, "the requests have errors; nothing was stored:");
        fputs(requests->mistakes, stderr);
    } else if (!requests->count)
        say(0, "%s has no requests", path);
    return !bytes && requests->count;
}

/* Each student's kernel for the lab. */
static bool find_all(Store *store, const char *lab, Requests *requests)
{
    sqlite3_stmt *rows;

    people_match(store);
    requests->list =
        xcalloc((size_t) store_number(store, 0, "SELECT count(*) FROM temp.handed_in", ""),
                sizeof(Request));
    rows = store_ask(store, "SELECT person, kernel FROM temp.handed_in WHERE lab = ?", "t", lab);
    while (store_row(store, rows))
        requests->list[requests->count++] = (Request){ .person = sqlite3_column_int64(rows, 0),
                                                       .kernel = sqlite3_column_int64(rows, 1),
                                                       .lab = lab };
    return requests->count || say(0, "no student has submitted anything for %s", lab);
}

static bool find_requests(Store *store, const Options *options, Requests *requests)
{
    char problem[1000];

    if (options->requests)
        return read_requests(store, options->requests, requests);
    if (!options->student)
        return find_all(store, lab_find(options->lab)->folder, requests);
    requests->list = xcalloc(1, sizeof(Request));
    requests->count = 1;
    return find_one(store, options->student, options->lab, requests->list, problem,
                    sizeof problem) ||
           (say(0, "%s", problem), false);
}

/* ---- Requesting them ---- */

/* The note of a row in the CSV takes precedence over --note. */
static void request_all(Store *store, const Requests *requests, const Options *options)
{
    const char *author = author_of(options), *reason = options->note ? options->note : "";
    int64_t kernels, students;

    requests_begin(store);
    store_do(store, "BEGIN IMMEDIATE", "");
    for (int i = 0; i < requests->count; i++) {
        const Request *request = &requests->list[i];
        requests_add(store, request->kernel);
        requests_note(store, request->person, request->lab, request->kernel, author,
                      *request->note ? request->note : reason);
    }
    store_do(store, "COMMIT", "");
    kernels = store_number(store, 0, "SELECT count(*) FROM temp.wanted", "");
    students = store_number(store, 0,
                            "SELECT count(DISTINCT person) FROM temp.handed_in WHERE kernel IN"
                            " (SELECT kernel FROM temp.wanted)",
                            "");
    fprintf(stderr, "Grading %d kernel%s again, for %d student%s.\n", (int) kernels,
            kernels == 1 ? "" : "s", (int) students, students == 1 ? "" : "s");
}

static bool check_usage(const Options *options)
{
    bool one_lab = options->lab && !options->requests && !(options->student && options->all);

    if (one_lab || (options->requests && !options->lab && !options->student && !options->all))
        return true;
    say(0, "give --student S --lab L, or --lab L --all, or --requests FILE "
           "(gradebook regrade --help)");
    return false;
}

int command_regrade(Options *options)
{
    Store store;
    Sandbox sandbox = { 0 };
    Requests requests = { 0 };
    char problem[1200];
    int status = COULD_NOT;

    if (!check_usage(options))
        return USAGE;
    stop_on_signals();
    options->grading.only_wanted = true;
    if (!store_open(&store, options->out, false)) /* it must already exist */
        say(0, "%s", store.problem);
    else if (store_close(&store), !store_open(&store, options->out, true))
        say(0, "%s", store.problem);
    else if (!take_course(&store, options))
        status = USAGE;
    else if (!grade_open_sandbox(&sandbox, options, problem, sizeof problem))
        say(0, "%s", problem);
    else if (find_requests(&store, options, &requests)) {
        terms_keep(&store);
        request_all(&store, &requests, options);
        status = grade_open_kernels(&store, &sandbox, options);
    } else if (options->requests)
        status = USAGE;
    free(requests.list);
    free(requests.mistakes);
    sandbox_close(&sandbox);
    store_close(&store);
    return status;
}
