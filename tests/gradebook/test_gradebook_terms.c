/* test_gradebook_terms.c - terms of attempts, marks by the current course file, and older
 * gradebooks. */
#include "gradebook/store/import_roster.h"
#include "rig.h"
#include "gradebook/store/queue.h"
#include "rows.h"
#include "gradebook/report/results_query.h"
#include "gradebook/store/attempt.h"
#include "gradebook/store/schema.h"
#include "gradebook/store/terms.h"
#include "base/util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], file[80];
static Store store;
static bool requested[LABS];
static int transpose;

static int begin(void)
{
    transpose = (int) (lab_find("transpose") - all_labs);
    memset(requested, 0, sizeof requested);
    requested[transpose] = true;
    return rig_open(&store, folder, file);
}

static int end(void)
{
    return rig_close(&store, folder);
}

static void hand_in(Class *class, const char *who, const char *source, const char *text,
                    int64_t sent, bool timed)
{
    Submission *submission = class_submission(class, source);

    PUT(submission->student, "%s", who);
    submission->layout = "plain";
    submission->sent = sent;
    submission->timed = timed;
    submission_file(submission, "06_transpose/kernel.cu", text, strlen(text),
                    hash_bytes(HASH_START, text, strlen(text)), 0);
}

static void enrol_class(Class *class)
{
    ImportCounts counts;

    import_plainly(&store, class, requested, &counts);
    class_free(class);
}

static int open_tasks(void)
{
    Queue queue;
    int open;

    queue_read(&store, requested, 0, &queue);
    open = queue.count;
    queue_free(&queue);
    return open;
}

/* Grades the first open kernel as slow, with ratio 0.5 and rung 1 at 0.25. */
static void grade_one(void)
{
    static const char out[] = "format:1\nlab:06_transpose\nverdict:slow\nmarks:1\nratio:0.5\n"
                              "case.1.label:flat\ncase.1.kind:timed\ncase.1.bar:0.75\n"
                              "case.1.ratio:0.5\ncase.1.floor:0.25\ncase.2.kind:control\n"
                              "case.2.ratio:0.9\nend:06_transpose\n";
    Program program = {
        .out = { .fd = -1, .text = (char *) out, .used = strlen(out), .size = 9999 },
        .errors = { .fd = -1, .text = "" },
        .began_s = now_s(),
    };
    Queue queue;
    Attempt attempt;

    queue_read(&store, requested, 0, &queue);
    CU_ASSERT_TRUE_FATAL(queue.count > 0);
    program.out.bytes = program.out.used;
    attempt_of(&program, "06_transpose", "sim", &attempt);
    attempt_record(&store, &queue.tasks[0], &attempt);
    attempt_free(&attempt);
    queue_free(&queue);
}

static void set_course(const char *text)
{
    char *reported;

    CU_ASSERT_TRUE_FATAL(write_file(file, text, strlen(text)));
    if (!terms_load(&store, file, &reported))
        FAIL_SAYING("%s", reported);
    free(reported);
    terms_keep(&store);
}

static int64_t count(const char *sql)
{
    return store_number(&store, -1, sql, "");
}

/* Kernels are graded again if the measurement has changed, and only then. */
static void only_what_is_measured_counts(void)
{
    static const struct {
        const char *course;
        int open; /* number of open kernels afterwards */
    } rows[] = {
        { "[all]\nweight = 2\nbase = 10\nlate_factor = 0.5\nclose = curve\n", 0 },
        { "[6]\nbar of flat = 0.6\n", 0 }, /* the stored speed is judged again */
        { "[7]\nseed = 5\n", 0 },          /* restored: the first attempt counts again */
        { "[6]\nseed = 5\n", 1 },
        { "[course]\ndevice = sim:h200\n[6]\nseed = 5\n", 1 },
        { "[6]\nbar of flat = 0.6\n", 0 },
        { "[6]\nseed = 5\n", 0 },
    };
    Class class = { 0 };

    hand_in(&class, "ann", "ann", "int a;", 1000, true);
    enrol_class(&class);
    CU_ASSERT_EQUAL(open_tasks(), 1);
    grade_one();
    for (size_t i = 0; i < COUNT(rows); i++) {
        set_course(rows[i].course);
        if (open_tasks() != rows[i].open)
            FAIL_SAYING("row %zu: %d open", i, open_tasks());
        if (rows[i].open)
            grade_one();
        CU_ASSERT_EQUAL(open_tasks(), 0);
    }
    CU_ASSERT_EQUAL(count("SELECT count(*) FROM attempts"), 3);
    CU_ASSERT_EQUAL(count("SELECT count(DISTINCT terms) FROM attempts"), 3);
    set_course("");
    CU_ASSERT_EQUAL(open_tasks(), 0);
}

/* The stored file counts until another one is given to grade; a file given to report is not stored.
 */
static void the_latest_counts(void)
{
    int64_t kept;
    char *reported;

    set_course("[6]\nweight = 7\n");
    kept = count("SELECT count(*) FROM courses");
    set_course("[6]\nweight = 7\n");
    CU_ASSERT_EQUAL(count("SELECT count(*) FROM courses"), kept);
    CU_ASSERT_TRUE_FATAL(write_file(file, "[6]\nweight = 8\n", 15));
    CU_ASSERT_TRUE(terms_load(&store, file, &reported));
    CU_ASSERT_EQUAL(store.course.lab[transpose].policy.weight, 8);
    CU_ASSERT_TRUE(terms_load(&store, NULL, &reported));
    CU_ASSERT_EQUAL(store.course.lab[transpose].policy.weight, 7);
    CU_ASSERT_TRUE_FATAL(write_file(file, "[6]\nweight = x\n", 15));
    CU_ASSERT_FALSE(terms_load(&store, file, &reported));
    CU_ASSERT_PTR_NOT_NULL(strstr(reported, ":2: weight = x"));
    free(reported);
    CU_ASSERT_EQUAL(count("SELECT count(*) FROM current_terms WHERE text <> '' OR bars <> ''"), 0);
}

/* ---- Marks ---- */

static Row row_of(const char *name)
{
    sqlite3_stmt *rows = rows_ask(&store);
    Row row, found = { .state = "no row" };

    while (rows_next(&store, rows, &row))
        if (!strcmp(row.name, name))
            found = row; /* only its numbers are valid later, not its texts */
    return found;
}

static void marks_follow_from_the_course(void)
{
    static const struct {
        const char *course;
        double marks;
        const char *why;
    } rows[] = {
        { "", 75, "the starter reaches about 0.250" },
        { "[6]\nbase = 0\n", 50, "the bar is 0.75" },
        { "[6]\nbase = 36\ngain = 0.5\n", 50, "" }, /* half of the base, half of the rest */
        { "[6]\ndeadline = 2026-01-01 00:00 Z\nlate_factor = 0.1\n", 75, "" },
        { "[6]\ndeadline = 2025-01-01 00:00 Z\nlate_factor = 0.8\nlate_unit = 1h\n", 60, "late" },
    };
    Class class = { 0 };
    Row row;

    set_course("");
    hand_in(&class, "ann", "ann2", "int b;", 1735689601, true); /* one second into 2025 */
    enrol_class(&class);
    grade_one();
    for (size_t i = 0; i < COUNT(rows); i++) {
        set_course(rows[i].course);
        row = row_of("ann");
        if (fabs(row.marks - rows[i].marks) > 1e-9)
            FAIL_SAYING("row %zu: %.3f, %s", i, row.marks, row.earned.why);
        CU_ASSERT_PTR_NOT_NULL(strstr(row.earned.why, rows[i].why));
    }
}

enum { BEFORE = 1893450000, AFTER = 1893456000 + 5400 }; /* 2030 */

/* A kernel that is submitted again unchanged keeps its first time. Times of files count if the
 * course says so. If one of several times is unknown, the result is unknown. */
static void since_when(void)
{
    static const char policy[] = "[6]\ndeadline = 2030-01-01 00:00 Z\nlate_factor = 0.5\n";
    static const char files[] = "[course]\ntimes = files\n[6]\ndeadline = 2030-01-01 00:00 Z\n"
                                "late_factor = 0.5\n";
    Class class = { 0 };

    set_course(policy);
    hand_in(&class, "early", "e1", "int a;", BEFORE, true);
    hand_in(&class, "early", "e2", "int a;", AFTER, true);
    hand_in(&class, "late", "l1", "int a;", AFTER, true);
    hand_in(&class, "files", "f1", "int a;", AFTER, false);
    hand_in(&class, "none", "n1", "int a;", 0, false);
    hand_in(&class, "mixed", "m1", "int a;", 0, false);
    hand_in(&class, "mixed", "m2", "int a;", AFTER, true);
    /* Earlier, a newer file next to a kernel made a lab late that had been submitted on time. */
    hand_in(&class, "newer file", "b1", "int a;", AFTER, false);
    class_submission(&class, "b1")->files[0].changed = BEFORE;
    hand_in(&class, "timed", "t1", "int a;", AFTER, true);
    class_submission(&class, "t1")->files[0].changed = BEFORE;
    enrol_class(&class);
    CU_ASSERT_EQUAL(row_of("early").earned.late_s, 0);
    CU_ASSERT_EQUAL(row_of("timed").earned.late_s, 5400);
    CU_ASSERT_EQUAL(row_of("late").earned.late_s, 5400);
    CU_ASSERT_DOUBLE_EQUAL(row_of("late").marks, 37.5, 1e-9);
    CU_ASSERT_EQUAL(row_of("files").earned.late_s, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(row_of("files").earned.why, "is unknown"));
    CU_ASSERT_PTR_NOT_NULL(strstr(row_of("none").earned.why, "is unknown"));
    CU_ASSERT_PTR_NOT_NULL(strstr(row_of("mixed").earned.why, "is unknown"));
    set_course(files);
    CU_ASSERT_EQUAL(row_of("files").earned.late_s, 5400);
    CU_ASSERT_EQUAL(row_of("newer file").earned.late_s, 0);
    CU_ASSERT_EQUAL(row_of("timed").earned.late_s, 5400);
    CU_ASSERT_PTR_NOT_NULL(strstr(row_of("none").earned.why, "is unknown"));
    /* Earlier, exporting an assignment again made an unchanged kernel late. */
    set_course(policy);
    hand_in(&class, "early", "e3", "int a;", AFTER, true);
    enrol_class(&class);
    CU_ASSERT_EQUAL(row_of("early").earned.late_s, 0);
    CU_ASSERT_DOUBLE_EQUAL(row_of("early").marks, 75, 1e-9);
    set_course("");
}

/* ---- The roster ---- */

static const char *standing(const char *name, char text[40])
{
    sqlite3_stmt *rows = rows_ask(&store);
    Row row;

    put(text, 40, "no row");
    while (rows_next(&store, rows, &row))
        if (!strcmp(row.name, name))
            put(text, 40, "%s %s %s", row.roster, row.section, row.state);
    return text;
}

static void the_roster(void)
{
    static const char csv[] = "id,name,section\n1,Early,A\n2,Absent One,B\n3,Twin\n4,twin\n";
    Class class = { 0 };
    char *reported, text[40];
    int people;

    CU_ASSERT_STRING_EQUAL(standing("early", text),
                           "  slow"); /* without a roster, no student is reported as unknown */
    CU_ASSERT_TRUE_FATAL(write_file(file, csv, sizeof csv - 1));
    CU_ASSERT_TRUE(import_roster(&store, file, &people, &reported));
    CU_ASSERT_EQUAL(people, 4);
    hand_in(&class, "early", "e1", "int a;", 100, true);
    hand_in(&class, "TWIN", "t1", "int a;", 100, true);
    hand_in(&class, "stranger", "s1", "int a;", 100, true);
    enrol_class(&class);
    CU_ASSERT_STRING_EQUAL(standing("Early", text), " A slow"); /* the roster's name */
    CU_ASSERT_STRING_EQUAL(standing("Absent One", text), "absent B missing");
    CU_ASSERT_STRING_EQUAL(standing("TWIN", text), "unclear  slow");
    CU_ASSERT_STRING_EQUAL(standing("twin", text),
                           "unclear  missing"); /* the member may be this student */
    CU_ASSERT_STRING_EQUAL(standing("stranger", text), "unknown  slow");
    CU_ASSERT_TRUE(row_of("Absent One").student < 0);
    CU_ASSERT_EQUAL(row_of("Absent One").marks, 0);
    CU_ASSERT_TRUE(row_of("Absent One").has_marks);
    CU_ASSERT_TRUE_FATAL(write_file(file, "id\n", 3));
    CU_ASSERT_FALSE(
        import_roster(&store, file, &people, &reported)); /* the previous roster still counts */
    free(reported);
    CU_ASSERT_STRING_EQUAL(standing("Absent One", text), "absent B missing");
}

/* ---- Older versions ---- */

static int run_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    int status = sqlite3_open(path, &db);

    status = status ? status : sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_close(db);
    return status;
}

/* The terms of version 5 had bars. */
static const char old_terms[] =
    "UPDATE attempts SET terms = '[06_transpose]' || char(10) || 'bar of flat = 0.6' || char(10)"
    "  WHERE id = 1;"
    "UPDATE attempts SET terms = '[course]' || char(10) || 'device = x]y' || char(10)"
    "  || '[06_transpose]' || char(10) || 'bar of flat = 0.6' || char(10) || 'seed = 5' || char(10)"
    "  WHERE id = 2;"
    "INSERT INTO terms (lab, text, at)"
    "  SELECT '06_transpose', terms, '2026' FROM attempts WHERE id = 2;"
    "PRAGMA user_version = 5";

static void bars_leave_the_terms(void)
{
    char old[80], path[120], *sql = read_file("tests/gradebook/gradebook_v1.sql", 1 << 20, NULL);
    Store upgraded;

    CU_ASSERT_PTR_NOT_NULL_FATAL(sql);
    CU_ASSERT_TRUE_FATAL(make_folders(PUT(old, "%s/version5", folder)));
    PUT(path, "%s/gradebook.sqlite", old);
    CU_ASSERT_EQUAL_FATAL(run_sql(path, sql), SQLITE_OK);
    for (int version = 1; version < 5; version++)
        CU_ASSERT_EQUAL_FATAL(run_sql(path, upgrades[version]), SQLITE_OK);
    CU_ASSERT_EQUAL_FATAL(run_sql(path, old_terms), SQLITE_OK);
    CU_ASSERT_TRUE_FATAL(store_open(&upgraded, old, true));
    CU_ASSERT_EQUAL(store_number(&upgraded, -1, "SELECT terms = '' FROM attempts WHERE id = 1", ""),
                    1);
    CU_ASSERT_EQUAL(store_number(&upgraded, -1,
                                 "SELECT a.terms = '[course]' || char(10) || 'device = x]y' ||"
                                 " char(10) || '[06_transpose]' || char(10) || 'seed = 5' ||"
                                 " char(10) AND a.terms = t.text AND t.bars ="
                                 " 'bar of flat = 0.6' || char(10)"
                                 " FROM attempts a, terms t WHERE a.id = 2",
                                 ""),
                    1);
    store_close(&upgraded);
    free(sql);
}

/* Columns of all tables and texts of all views, except what only version 1 had. */
static char *shape_of(Store *of)
{
    sqlite3_stmt *rows = store_ask(
        of,
        "SELECT m.name || ' ' || group_concat(c.name || c.type || c.\"notnull\", ' ') FROM"
        " sqlite_master m JOIN pragma_table_info(m.name) c"
        "  WHERE m.type = 'table' AND m.name <> 'prepared' GROUP BY m.name"
        " UNION ALL SELECT name || sql FROM sqlite_master WHERE type = 'view' ORDER BY 1",
        "");
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    while (store_row(of, rows))
        fprintf(to, "%s\n", store_text(rows, 0));
    fclose(to);
    return text;
}

static void an_older_gradebook(void)
{
    char old[80], path[120], *sql, *was, *is;
    Store upgraded;

    PUT(old, "%s/old", folder);
    CU_ASSERT_TRUE_FATAL(make_folders(old));
    sql = read_file("tests/gradebook/gradebook_v1.sql", 1 << 20, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sql);
    CU_ASSERT_EQUAL_FATAL(run_sql(PUT(path, "%s/gradebook.sqlite", old), sql), SQLITE_OK);
    free(sql);
    CU_ASSERT_TRUE_FATAL(store_open(&upgraded, old, false)); /* a reader upgrades it, too */
    store_close(&upgraded);
    CU_ASSERT_TRUE_FATAL(store_open(&upgraded, old, true));
    was = shape_of(&store);
    is = shape_of(&upgraded);
    CU_ASSERT_TRUE(strlen(was) > 500);
    CU_ASSERT_STRING_EQUAL(is, was);
    free(was);
    free(is);
    CU_ASSERT_EQUAL(store_number(&upgraded, -1, "PRAGMA user_version", ""), STORE_SCHEMA);
    CU_ASSERT_EQUAL(store_number(&upgraded, -1, "SELECT sum(graded) FROM progress", ""), 2);
    CU_ASSERT_EQUAL(store_number(&upgraded, -1, "SELECT count(*) FROM verdicts", ""), 2);
    store_close(&upgraded);
    CU_ASSERT_EQUAL_FATAL(run_sql(path, "PRAGMA user_version = 99"), SQLITE_OK);
    CU_ASSERT_FALSE(store_open(&upgraded, old, true));
    CU_ASSERT_PTR_NOT_NULL(strstr(upgraded.problem, "a newer version"));
    store_close(&upgraded);
}

CU_SuiteInfo test_gradebook_terms = {
    "gradebook terms",
    .pInitFunc = begin,
    .pCleanupFunc = end,
    .pTests =
        (CU_TestInfo[]){
            { "only changed measurements grade again", only_what_is_measured_counts },
            { "the latest counts", the_latest_counts },
            { "marks follow from the course", marks_follow_from_the_course },
            { "submission times", since_when },
            { "the roster", the_roster },
            { "an older gradebook", an_older_gradebook },
            { "bars leave the terms", bars_leave_the_terms },
            CU_TEST_INFO_NULL,
        },
};
