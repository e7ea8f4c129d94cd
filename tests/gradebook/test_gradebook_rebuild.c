/* test_gradebook_rebuild.c - logs, backups, and gradebooks that are made from logs. */
#include "gradebook/store/attempt.h"
#include "gradebook/store/backup.h"
#include "rig.h"
#include "gradebook/store/log.h"
#include "gradebook/store/rebuild.h"
#include "gradebook/store/terms.h"
#include "base/util.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GOOD "format:1\nlab:06_transpose\nverdict:pass\nmarks:100.0\nratio:0.9\nend:06_transpose\n"

static char folder[64], old[100], rebuilt[100];
static int transpose;

static int begin(void)
{
    PUT(folder, "/tmp/warpbook-rebuild-XXXXXX");
    transpose = (int) (lab_find("transpose") - all_labs);
    if (!mkdtemp(folder))
        return 1;
    PUT(old, "%s/old", folder);
    PUT(rebuilt, "%s/rebuilt", folder);
    return 0;
}

static int end(void)
{
    remove_tree(folder);
    return 0;
}

static int64_t count(Store *store, const char *sql)
{
    return store_number(store, -1, sql, "");
}

static void hand_in(Store *store, const char *const texts[])
{
    bool requested[LABS] = { 0 };
    Class class = { 0 };
    ImportCounts counts;

    requested[transpose] = true;
    for (int i = 0; texts[i]; i++) {
        char name[20];
        Submission *submission = class_submission(&class, PUT(name, "student %d", i));
        PUT(submission->student, "%s", name);
        submission->layout = "plain";
        submission_file(submission, "06_transpose/kernel.cu", texts[i], strlen(texts[i]),
                        hash_bytes(HASH_START, texts[i], strlen(texts[i])), 0);
    }
    import_plainly(store, &class, requested, &counts);
    class_free(&class);
}

static void record(Store *store, int64_t kernel, int number, const char *out)
{
    Program program = {
        .out = { .fd = -1, .text = (char *) out, .used = strlen(out), .size = 9999 },
        .errors = { .fd = -1, .text = "a warning\n" },
        .began_s = now_s(),
    };
    Task task = { .kernel = kernel, .lab = transpose, .number = number };
    Attempt attempt;

    program.out.bytes = program.out.used;
    attempt_of(&program, "06_transpose", "sim", &attempt);
    attempt_record(store, &task, &attempt);
    attempt_free(&attempt);
}

static char *at(const char *place, const char *name, char path[300])
{
    return put(path, 300, "%s/logs/06_transpose/%s", place, name);
}

static const char *const texts[] = { "int a;", "int b;", "", NULL };

/* A class with three kernels and a course file; kernel 1 has a machine error and two gradings. */
static void make_old(Store *store)
{
    char course[100], *mistakes;

    remove_tree(old);
    CU_ASSERT_TRUE_FATAL(store_open(store, old, true));
    PUT(course, "%s/course", folder);
    CU_ASSERT_TRUE(write_file(course, "[6]\nbar of flat = 0.5\nseed = 1\n", 31));
    CU_ASSERT_TRUE_FATAL(terms_load(store, course, &mistakes));
    terms_keep(store);
    hand_in(store, texts);
    record(store, 1, 1, "");
    record(store, 1, 2, GOOD);
    record(store, 1, 3, GOOD);
    record(store, 2, 1, GOOD);
    record(store, 3, 1, GOOD);
}

/* Earlier, a gradebook without its database began to number kernels anew, and their logs replaced
 * the old ones. */
static void no_log_is_overwritten(void)
{
    char path[300], *text;
    Store store;

    make_old(&store);
    CU_ASSERT_TRUE(write_file(at(old, "2.2.txt", path), "from a killed run\n", 18));
    record(&store, 2, 2, GOOD);
    text = read_file(path, 100, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_STRING_EQUAL(text, "from a killed run\n");
    free(text);
    CU_ASSERT_TRUE(file_exists(at(old, "2.2-2.txt", path)));
    CU_ASSERT_EQUAL(count(&store, "SELECT count(*) FROM attempts WHERE kernel = 2 AND number = 2"
                                  " AND log = 'logs/06_transpose/2.2-2.txt'"),
                    1);
    text = read_file(at(old, "2.cu", path), 100, NULL);
    CU_ASSERT_STRING_EQUAL(text, "int b;");
    free(text);
    store_close(&store);
}

static char *rows_of(Store *store)
{
    sqlite3_stmt *rows = store_ask(
        store,
        "SELECT k.source || '|' || a.number || '|' || a.device || '|' || a.began || '|' ||"
        "  a.outcome || '|' || a.why || '|' || a.terms || '|' || coalesce(v.verdict || v.ratio, "
        "'-')"
        " FROM attempts a JOIN kernels k ON k.id = a.kernel LEFT JOIN verdicts v"
        " ON v.attempt = a.id ORDER BY a.kernel, a.number",
        "");
    char *text = NULL;
    size_t size;
    FILE *to = text_open(&text, &size);

    while (store_row(store, rows))
        fprintf(to, "%s\n", store_text(rows, 0));
    text_close(to);
    return text;
}

static void all_from_logs(void)
{
    char *before, *after, path[300];
    RebuildCounts counts;
    Store store;

    make_old(&store);
    before = rows_of(&store);
    store_close(&store);
    CU_ASSERT_EQUAL(unlink(PUT(path, "%s/gradebook.sqlite", old)), 0);
    CU_ASSERT_TRUE_FATAL(store_open(&store, rebuilt, true));
    rebuild_from_logs(&store, old, &counts);
    CU_ASSERT_EQUAL(counts.kernels, 3);
    CU_ASSERT_EQUAL(counts.attempts, 5);
    CU_ASSERT_EQUAL(counts.unreadable + counts.sourceless, 0);
    CU_ASSERT_TRUE(counts.course);
    after = rows_of(&store);
    CU_ASSERT_STRING_EQUAL(after, before);
    free(before);
    free(after);
    hand_in(&store, (const char *const[]){ "int b;", "int new;", "int a;", NULL });
    CU_ASSERT_EQUAL(count(&store, "SELECT count(*) FROM progress WHERE graded = 0"), 1);
    CU_ASSERT_EQUAL(count(&store, "SELECT count(*) FROM kernels"), 4);
    CU_ASSERT_EQUAL(store.course.lab[transpose].seed, 1);
    store_close(&store);
    CU_ASSERT_TRUE(file_exists(at(rebuilt, "1.3.txt", path)));
    CU_ASSERT_TRUE(file_exists(at(rebuilt, "2.cu", path)));
    remove_tree(rebuilt);
}

/* Damaged logs, and other files, next to the one good log of kernel 2. */
static void some_from_logs(void)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        { "1.1.txt", "" },
        { "1.2.txt", "outcome: graded\nwhy: \n---- stdout ----\n" },
        { "1.3.txt",
          "outcome: begun\nhost: h\ndevice: 0\nbegan: 1\nseconds: 0.000\n"
          "stdout_bytes: 0\nstderr_bytes: 0\nwhy: \n---- stdout ----\n---- stderr ----\n" },
        { "7.1.txt", "outcome: died\n" },
        { "99999999999999999999.1.txt", "x" },
        { "1.0.txt", "x" },
        { "1.1.txt.bak", "x" },
        { "1.1-x.txt", "x" },
    };
    char path[300], other[300];
    RebuildCounts counts;
    Store store;

    make_old(&store);
    store_close(&store);
    for (size_t i = 0; i < COUNT(rows); i++)
        CU_ASSERT_TRUE(write_file(at(old, rows[i].name, path), rows[i].text, strlen(rows[i].text)));
    CU_ASSERT_EQUAL(rename(at(old, "2.1.txt", path), at(old, "2.4-3.txt", other)), 0);
    CU_ASSERT_EQUAL(unlink(at(old, "3.cu", path)), 0);
    CU_ASSERT_TRUE_FATAL(store_open(&store, rebuilt, true));
    rebuild_from_logs(&store, old, &counts);
    CU_ASSERT_EQUAL(counts.attempts, 1);
    CU_ASSERT_EQUAL(counts.unreadable, 3);
    CU_ASSERT_EQUAL(counts.sourceless, 2);
    CU_ASSERT_EQUAL(count(&store, "SELECT kernel * 10 + number FROM attempts"), 21);
    store_close(&store);
    remove_tree(rebuilt);
}

static void backups(void)
{
    char file[100], database[200], problem[1800];
    struct stat is;
    Store writer, reader, copy;

    make_old(&writer);
    PUT(file, "%s/backup", folder);
    CU_ASSERT_TRUE_FATAL(store_open(&reader, old, false));
    store_do(&writer, "BEGIN IMMEDIATE", ""); /* a grading is being recorded */
    store_do(&writer,
             "DELETE FROM attempts WHERE kernel = 3 AND id NOT IN (SELECT attempt FROM"
             " verdicts)",
             "");
    store_do(&writer, "INSERT INTO imports (at, source) VALUES ('', 'half')", "");
    if (!backup_write(&reader, file, problem, sizeof problem))
        FAIL_SAYING("%s", problem);
    store_do(&writer, "COMMIT", "");
    CU_ASSERT_EQUAL(stat(file, &is), 0);
    CU_ASSERT_EQUAL(is.st_mode & 0777, 0600);
    CU_ASSERT_FALSE(backup_write(&reader, file, problem, sizeof problem)); /* it exists */
    PUT(file, "%s/none/backup", folder);
    CU_ASSERT_FALSE(backup_write(&reader, file, problem, sizeof problem));
    store_close(&reader);
    store_close(&writer);
    CU_ASSERT_TRUE(make_folders(PUT(file, "%s/restored", folder)));
    PUT(database, "%s/restored/gradebook.sqlite", folder);
    CU_ASSERT_EQUAL(rename(PUT(file, "%s/backup", folder), database), 0);
    CU_ASSERT_TRUE_FATAL(store_open(&copy, PUT(file, "%s/restored", folder), true));
    CU_ASSERT_EQUAL(count(&copy, "SELECT count(*) FROM attempts"), 5);
    CU_ASSERT_EQUAL(count(&copy, "SELECT count(*) FROM imports"), 1);
    store_close(&copy);
}

/* What happens in a temporary copy does not happen in the gradebook. */
static void temporary_copies(void)
{
    Store store, copy;

    make_old(&store);
    backup_open(&store, &copy);
    store_do(&copy, "DELETE FROM verdicts", "");
    CU_ASSERT_EQUAL(count(&copy, "SELECT count(*) FROM verdicts"), 0);
    store_close(&copy);
    CU_ASSERT_EQUAL(count(&store, "SELECT count(*) FROM verdicts"), 4);
    store_close(&store);
}

CU_SuiteInfo test_gradebook_rebuild = {
    "gradebook rebuild",
    .pInitFunc = begin,
    .pCleanupFunc = end,
    .pTests =
        (CU_TestInfo[]){
            { "no log is overwritten", no_log_is_overwritten },
            { "all from logs", all_from_logs },
            { "some from logs", some_from_logs },
            { "backups", backups },
            { "temporary copies", temporary_copies },
            CU_TEST_INFO_NULL,
        },
};
