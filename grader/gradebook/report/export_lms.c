/* export_lms.c - one result file per student, in the formats of learning systems: Gradescope's
 * results.json and Classroom 50's result.json. Both have a score and a list of tests; each test is
 * a lab. */
#include "gradebook/report/feedback.h"
#include "gradebook/report/feedback_files.h"
#include "gradebook/report/json.h"
#include "gradebook/report/markup.h"
#include "base/util.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_marked(const Row *row)
{
    return row->earned.known;
}

static bool is_passed(const Row *row)
{
    return !strcmp(row->decided, "pass") || !strcmp(row->state, "pass") ||
           !strcmp(row->state, "close") || (!is_marked(row) && !strcmp(row->state, "correct"));
}

/* Weighted by the lab's weight in the course, so that scores add up to the total. */
static double score_of(const Row *row)
{
    return is_marked(row) ? row->marks * row->weight : 0;
}

static double full_score(const Row *row)
{
    return is_marked(row) ? 100 * row->weight : 0;
}

/* The text for the student; the caller frees it. */
static char *output_of(Store *store, const Row *row)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = text_open(&text, &bytes);
    Advice advice;

    feedback_of(store, row, &advice);
    fprintf(to, "%s: %s\n", feedback_state(row), feedback_meaning(row));
    if (strcmp(row->earned.why, feedback_meaning(row)))
        fprintf(to, "%s\n", row->earned.why);
    feedback_print(to, &advice, 0);
    feedback_free(&advice);
    text_close(to);
    return text;
}

/* ---- Gradescope ---- */

static void gradescope_test(Export *export, cJSON *tests, const Row *row)
{
    cJSON *test = json_object_of(tests);
    char *output = output_of(export->store, row);

    json_text(test, "name", row->lab);
    json_number(test, "score", score_of(row), 1);
    json_number(test, "max_score", full_score(row), 1);
    json_text(test, "status", is_passed(row) ? "passed" : "failed");
    json_text(test, "output_format", "text"); /* not HTML, since it contains students' text */
    json_text(test, "output", output);
    free(output);
}

static void write_gradescope(Export *export, const Student *student, FILE *to)
{
    cJSON *json = json_object(), *tests;
    double score = 0;

    for (int i = 0; i < export->results.lab_count; i++)
        score += score_of(&student->labs[i]);
    json_number(json, "score", score, 1);
    json_text(json, "output_format", "text");
    json_text(json, "visibility", "after_published");
    json_text(json, "stdout_visibility", "hidden");
    tests = json_list_in(json, "tests");
    for (int i = 0; i < export->results.lab_count; i++)
        gradescope_test(export, tests, &student->labs[i]);
    json_print(to, json);
}

typedef struct GradescopeIndex {
    cJSON *json, *emails, *submissions;
} GradescopeIndex;

/* Adds the keys by which Gradescope's submission_metadata.json gives the student. */
static void add_keys(Export *export, const Student *student, const char *file, void *context)
{
    const GradescopeIndex *index = context;
    sqlite3_stmt *rows =
        store_ask(export->store,
                  "SELECT DISTINCT s.source FROM submissions s JOIN temp.person_of o"
                  " ON o.student = s.student WHERE o.person = ? AND s.layout = 'gradescope'",
                  "i", student->id);
    char email[200];

    while (store_row(export->store, rows)) {
        const char *number = strstr(store_text(rows, 0), "submission_");
        if (number)
            json_text(index->submissions, number + strlen("submission_"), file);
    }
    PUT(email, "%s", student->labs->email);
    for (char *at = email; *at; at++)
        *at = (char) tolower((unsigned char) *at);
    if (*email)
        json_text(index->emails, email, file);
    else
        fprintf(stderr,
                "%s: no e-mail address: Gradescope finds the result only for the submission "
                "that was graded\n",
                student->name);
}

static void write_part(Export *export, const char *name, const char *text, mode_t mode)
{
    char path[1200];

    PUT(path, "%s/%s", export->folder, name);
    if (!write_file(path, text, strlen(text)) || chmod(path, mode))
        die("cannot write %s: %m", path);
}

/* Writes the results, and what makes the folder a complete autograder (Gradescope's documentation,
 * "Submission metadata" and "Autograder specifications"). */
void export_gradescope(Export *export)
{
    static const FileKind kinds[] = { { ".json", write_gradescope }, { 0 } };
    GradescopeIndex index = { .json = json_object() };
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = text_open(&text, &bytes);

    index.emails = json_object_in(index.json, "emails");
    index.submissions = json_object_in(index.json, "submissions");
    files_write(export, kinds, add_keys, &index);
    json_print(to, index.json);
    text_close(to);
    write_part(export, "index.json", text, 0600);
    write_part(export, "run_autograder", run_autograder, 0700);
    write_part(export, "setup.sh",
               "#!/bin/sh\ncommand -v python3 > /dev/null || apt-get install -y python3\n", 0700);
    free(text);
}

/* ---- Classroom 50: whole numbers only ---- */

static void write_classroom(Export *export, const Student *student, FILE *to)
{
    cJSON *json = json_object(), *tests;
    double score = 0, most = 0;
    const char *latest = "";

    json_text(json, "schema", "classroom50/result/v1");
    tests = json_list_in(json, "tests");
    for (int i = 0; i < export->results.lab_count; i++) {
        const Row *row = &student->labs[i];
        cJSON *test = json_object_of(tests);
        double full = round(full_score(row));
        json_text(test, "test-name", row->lab);
        json_flag(test, "passed", is_passed(row));
        json_number(test, "score", round(score_of(row)), 0);
        json_number(test, "max-score", full, 0);
        score += round(score_of(row));
        most += full;
        latest = strcmp(row->at, latest) > 0 ? row->at : latest;
    }
    json_number(json, "score", score, 0);
    json_number(json, "max-score", most, 0);
    json_text(json, "datetime", latest);
    json_print(to, json);
}

void export_classroom(Export *export)
{
    static const FileKind kinds[] = { { ".json", write_classroom }, { 0 } };

    files_write(export, kinds, NULL, NULL);
}
