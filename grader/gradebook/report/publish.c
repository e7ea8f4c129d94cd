/* publish.c - the marks that students see: frozen when the instructor publishes them. */
#include "gradebook/report/publish.h"
#include "gradebook/store/people.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- What was published ---- */

/* A result as it was published last; publication 0: never. */
typedef struct Published {
    int64_t publication, visible, attempt, kernel, late_s;
    char *state, *why, *note, *marks_why, at[32];
    bool has_marks, has_ratio, excused;
    double marks, whole, ratio;
} Published;

static int student_of(const ResultsTable *results, int64_t person)
{
    for (int i = 0; i < results->count; i++)
        if (results->students[i].id == person)
            return i;
    return -1;
}

static int lab_of(const ResultsTable *results, const char *lab)
{
    for (int i = 0; i < results->lab_count; i++)
        if (!strcmp(results->labs[i], lab))
            return i;
    return -1;
}

static void forget(Published *one)
{
    free(one->state);
    free(one->why);
    free(one->note);
    free(one->marks_why);
    *one = (Published){ 0 };
}

static void take(Published *one, sqlite3_stmt *row)
{
    forget(one);
    *one = (Published){
        .publication = sqlite3_column_int64(row, 2),
        .attempt = sqlite3_column_int64(row, 3),
        .kernel = sqlite3_column_int64(row, 4),
        .state = xstrdup(store_text(row, 5)),
        .why = xstrdup(store_text(row, 6)),
        .note = xstrdup(store_text(row, 7)),
        .has_ratio = sqlite3_column_type(row, 8) != SQLITE_NULL,
        .ratio = sqlite3_column_double(row, 8),
        .has_marks = sqlite3_column_type(row, 9) != SQLITE_NULL,
        .marks = sqlite3_column_double(row, 9),
        .whole = sqlite3_column_double(row, 10),
        .late_s = sqlite3_column_int64(row, 11),
        .marks_why = xstrdup(store_text(row, 12)),
        .excused = sqlite3_column_int(row, 14) != 0,
        .visible = sqlite3_column_int64(row, 15),
    };
    PUT(one->at, "%s", store_text(row, 13));
}

/* What was published last for each row of the results, of all publications that students may see
 * at this time. */
static Published *published_read(Store *store, const ResultsTable *results, int64_t time)
{
    Published *list = xcalloc((size_t) results->row_count + 1, sizeof *list);
    sqlite3_stmt *rows;

    people_match(store);
    rows = store_ask(store,
                     "SELECT k.person, p.lab, p.publication, p.attempt, p.kernel, p.state, p.why,"
                     "  p.note, p.ratio, p.marks, p.whole, p.late_s, p.marks_why, c.at, p.excused,"
                     "  c.visible"
                     " FROM published p JOIN publications c ON c.id = p.publication"
                     " JOIN temp.person_keys k ON k.key = p.person"
                     " WHERE c.visible <= ? ORDER BY p.id",
                     "i", time);
    while (store_row(store, rows)) {
        int student = student_of(results, sqlite3_column_int64(rows, 0));
        int lab = lab_of(results, store_text(rows, 1));
        if (student >= 0 && lab >= 0)
            take(&list[student * results->lab_count + lab], rows);
    }
    return list;
}

static void published_free(const ResultsTable *results, Published *list)
{
    for (int i = 0; i < results->row_count; i++)
        forget(&list[i]);
    free(list);
}

/* ---- What has changed ---- */

typedef enum Change { SAME, NEW, CHANGED, OPEN, CHANGES } Change;

static Change change_of(const Row *row, const Published *old)
{
    if (row->earned.open)
        return OPEN;
    if (!old->publication && !strcmp(row->state, "withdrawn"))
        return SAME; /* there is nothing to publish */
    if (!old->publication)
        return NEW;
    return old->has_marks == row->has_marks && old->excused == row->earned.excused &&
                   (!row->has_marks || fabs(old->marks - row->marks) < 0.05) &&
                   !strcmp(old->state, row->state)
               ? SAME
               : CHANGED;
}

static void print_marks(FILE *to, const char *state, bool excused, bool has_marks, double marks)
{
    fprintf(to, "%s", excused ? "excused" : state);
    if (has_marks)
        fprintf(to, " %.1f", marks);
}

static void print_change(FILE *to, const Row *row, const Published *old)
{
    fprintf(to, "  %s%s%s%s: ", row->name, *row->number ? " (" : "", row->number,
            *row->number ? ")" : "");
    print_marks(to, old->state, old->excused, old->has_marks, old->marks);
    fprintf(to, " -> ");
    print_marks(to, row->state, row->earned.excused, row->has_marks, row->marks);
    if (*row->decided)
        fprintf(to, " (decided by %s: %s)\n", row->decided_by, row->decided_note);
    else
        fprintf(to, " (%.*s)\n", (int) strcspn(row->earned.why, "\n"), row->earned.why);
}

static int print_lab(const ResultsTable *results, const Published *list, int lab,
                     bool only_published, FILE *to)
{
    int counts[CHANGES] = { 0 };
    bool published = false;
    const char *since = "";

    for (int i = lab; i < results->row_count; i += results->lab_count) {
        published |= list[i].publication != 0;
        since = list[i].publication && strcmp(list[i].at, since) > 0 ? list[i].at : since;
        counts[change_of(&results->rows[i], &list[i])]++;
    }
    if ((only_published && !published) || counts[SAME] == results->count)
        return 0;
    fprintf(to, "%s: %d changed", results->labs[lab], counts[CHANGED]);
    if (published)
        fprintf(to, " since %.10s", since);
    fprintf(to, ", %d new, %d open\n", counts[NEW], counts[OPEN]);
    for (int i = lab; i < results->row_count; i += results->lab_count)
        if (change_of(&results->rows[i], &list[i]) == CHANGED)
            print_change(to, &results->rows[i], &list[i]);
    return 1 + counts[CHANGED];
}

int publish_print_changes(Store *store, const ResultsTable *results, bool only_published, FILE *to)
{
    Published *list = published_read(store, results, INT64_MAX);
    int lines = 0;

    for (int lab = 0; lab < results->lab_count; lab++)
        lines += print_lab(results, list, lab, only_published, to);
    published_free(results, list);
    return lines;
}

/* ---- Publishing ---- */

static void add_row(Store *store, int64_t publication, const Row *row)
{
    store_do(store,
             "INSERT INTO published (publication, person, lab, attempt, kernel, state, why, note,"
             "  ratio, marks, whole, late_s, marks_why, excused)"
             " VALUES (?, ?, ?, ?, ?, ?, ?, ?, CASE WHEN ? THEN ? END, CASE WHEN ? THEN ? END,"
             "  ?, ?, ?, ?)",
             "ittiitttididditi", publication, row->key, row->lab, row->attempt, row->kernel,
             row->state, row->why, row->note, (int64_t) row->has_ratio, row->ratio,
             (int64_t) row->has_marks, row->marks, row->earned.whole, row->earned.late_s,
             row->earned.why, (int64_t) row->earned.excused);
}

/* True if students would see the result earlier than after the last publication. */
static bool is_earlier(const Published *old, const Publication *publication)
{
    return old->visible > publication->from && old->visible > (int64_t) time(NULL);
}

int publish(Store *store, const ResultsTable *results, const Publication *publication)
{
    Published *list = published_read(store, results, INT64_MAX);
    int64_t id;
    int added = 0;

    store_do(store, "BEGIN IMMEDIATE", "");
    store_do(store,
             "INSERT INTO publications (at, author, visible, note)"
             " VALUES (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?, ?)",
             "tit", publication->author, publication->from, publication->note);
    id = store_last(store);
    for (int i = 0; i < results->row_count; i++) {
        Change change = change_of(&results->rows[i], &list[i]);
        if (change == OPEN || (change == SAME && !is_earlier(&list[i], publication)))
            continue;
        add_row(store, id, &results->rows[i]);
        added++;
    }
    store_do(store, added ? "COMMIT" : "ROLLBACK", "");
    published_free(results, list);
    return added;
}

/* ---- What students see ---- */

static void replace(const char **text, const char *by)
{
    free((char *) *text);
    *text = xstrdup(by);
}

static void show_published(Row *row, const Published *one)
{
    bool other = row->kernel != one->kernel;

    if (change_of(row, one) != SAME)
        replace(&row->decided, ""); /* decided after publishing */
    replace(&row->state, one->state);
    replace(&row->why, one->why);
    replace(&row->note, one->note);
    row->attempt = one->attempt;
    row->kernel = one->kernel;
    row->graded = one->attempt != 0;
    row->has_ratio = one->has_ratio;
    row->ratio = one->ratio;
    row->has_marks = one->has_marks;
    row->marks = one->marks;
    row->earned.known = one->has_marks;
    row->earned.open = false;
    row->earned.excused = one->excused;
    row->earned.marks = one->marks;
    row->earned.whole = one->whole;
    row->earned.late_s = one->late_s;
    row->is_late = one->late_s > 0 || (row->is_late && !other);
    PUT(row->earned.why, "%s", one->marks_why);
    if (other)
        row->sent = 0; /* of a submission that came later */
}

/* Of a withdrawn student who submitted nothing, no marks will follow. */
static void show_nothing(Row *row)
{
    if (!strcmp(row->state, "withdrawn"))
        return;
    replace(&row->state, "open");
    replace(&row->why, "");
    replace(&row->note, "");
    row->attempt = 0;
    row->graded = row->has_ratio = row->has_marks = false;
    row->earned = (Marks){ .open = true };
    PUT(row->earned.why, "not published yet");
}

/* Removes the labs that are not kept, and updates what refers to their rows. */
static void keep_labs(ResultsTable *results, const bool *kept)
{
    int labs = 0, rows = 0;

    for (int i = 0; i < results->row_count; i++)
        if (kept[i % results->lab_count])
            results->rows[rows++] = results->rows[i];
        else
            row_free(&results->rows[i]);
    for (int lab = 0; lab < results->lab_count; lab++)
        labs += kept[lab];
    results->row_count = rows;
    results->lab_count = labs;
    results_index(results);
}

bool published_apply(Store *store, ResultsTable *results)
{
    Published *list = published_read(store, results, (int64_t) time(NULL));
    bool *kept = xcalloc((size_t) results->lab_count + 1, sizeof *kept), any = false;

    for (int i = 0; i < results->row_count; i++) {
        kept[i % results->lab_count] |= list[i].publication != 0;
        any |= list[i].publication != 0;
        if (list[i].publication)
            show_published(&results->rows[i], &list[i]);
        else
            show_nothing(&results->rows[i]);
    }
    published_free(results, list);
    if (any)
        keep_labs(results, kept);
    free(kept);
    return any;
}
