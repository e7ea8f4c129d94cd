/* test_gradebook_store.c - database rows: imports, open work, attempts. */
#include "rig.h"
#include "gradebook/store/queue.h"
#include "gradebook/store/parsed_result.h"
#include "gradebook/report/results_query.h"
#include "gradebook/store/attempt.h"
#include "base/util.h"
#include "golden.h"

#include <CUnit/CUnit.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static Store store;
static bool requested[LABS];
static int transpose;

static int begin(void)
{
    PUT(folder, "/tmp/warpbook-gradebook-XXXXXX");
    transpose = (int) (lab_find("transpose") - all_labs);
    memset(requested, 0, sizeof requested);
    requested[transpose] = true;
    return !mkdtemp(folder) || !store_open(&store, folder, true);
}

static int end(void)
{
    store_close(&store);
    remove_tree(folder);
    return 0;
}

/* A class of students' kernels: name, text, name, text, ..., NULL. */
static ImportCounts enrol_these(const char *const list[])
{
    Class class = { 0 };
    ImportCounts counts;

    for (; *list; list += 2) {
        Submission *submission = class_submission(&class, *list);
        PUT(submission->student, "%s", *list);
        submission->layout = "plain";
        submission_file(submission, "06_transpose/kernel.cu", list[1], strlen(list[1]),
                        hash_bytes(HASH_START, list[1], strlen(list[1])), 0);
    }
    import_plainly(&store, &class, requested, &counts);
    class_free(&class);
    return counts;
}

static int64_t count(const char *sql)
{
    return store_number(&store, -1, sql, "");
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

static void the_same_is_enrolled_once(void)
{
    static const char *const list[] = { "ann",    "int a;", "ben",    "int a;", "cid",
                                        "int a;", "dot",    "int b;", NULL };
    ImportCounts counts = enrol_these(list);

    CU_ASSERT_EQUAL(counts.students, 4);
    CU_ASSERT_EQUAL(counts.parts, 4);
    CU_ASSERT_EQUAL(counts.kernels, 2);
    enrol_these(list);
    CU_ASSERT_EQUAL(count("SELECT count(*) FROM submissions"), 4);
    CU_ASSERT_EQUAL(count("SELECT count(*) FROM kernels"), 2);
    CU_ASSERT_EQUAL(count("SELECT count(*) FROM imports"), 2);
    CU_ASSERT_EQUAL(open_tasks(), 2);
}

/* Earlier, texts were equal if the grader's lexer found the same tokens in them. The compiler also
 * ends a line at a lone CR, and joins lines at a backslash followed by blanks. So an empty
 * submission was graded as another student's kernel, and one student's #error became another
 * student's verdict. */
static void a_twin_for_the_lexer_is_no_twin(void)
{
    static const char *const list[] = { "ann", "int a;",
                                        "ben", "// nothing\rint a;",
                                        "cid", "",
                                        "dot", "/* nothing */",
                                        "eve", "int a;\n//\r#error dot's",
                                        "fay", "int a; // \\ \nint b;",
                                        "gil", "int a;\n// \\\t\n#error gil's",
                                        "hal", "int a;\f",
                                        NULL };
    ImportCounts counts = enrol_these(list);

    CU_ASSERT_EQUAL(counts.parts, 8);
    CU_ASSERT_EQUAL(counts.kernels, 8);
    CU_ASSERT_EQUAL(open_tasks(), 8);
}

/* A kernel with a zero byte never builds, so it must not count as identical to one that does. */
static void a_text_with_a_0_is_itself_only(void)
{
    Class class = { 0 };
    Submission *submission = class_submission(&class, "eve");
    ImportCounts counts;

    PUT(submission->student, "eve");
    submission->layout = "plain";
    submission_file(submission, "06_transpose/kernel.cu", "int a;\0x", 8, 1, 0);
    import_plainly(&store, &class, requested, &counts);
    class_free(&class);
    CU_ASSERT_EQUAL(count("SELECT count(*) FROM kernels"), 3);
    CU_ASSERT_EQUAL(counts.kernels, 1); /* the class now consists of eve alone */
    CU_ASSERT_EQUAL(open_tasks(), 1);
}

static void attempt(const char *out, const char *errors, int status)
{
    Program program = {
        .out = { .fd = -1, .text = (char *) out, .used = strlen(out), .size = 9999 },
        .errors = { .fd = -1, .text = (char *) errors },
        .began_s = now_s(),
        .status = status
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

#define GOOD                                                                                       \
    "format:1\nlab:06_transpose\nverdict:pass\nmarks:100.0\nratio:0.9\nwhy:a\\nb\\\\c\n"           \
    "case.1.ratio:0.9\nend:06_transpose\n"
#define BAD "format:1\nlab:06_transpose\nverdict:unsound\nwhy:no GPU\nend:06_transpose\n"

static void faults_and_gradings(void)
{
    QueueCounts counts;

    enrol_these((const char *const[]){ "fay", "int f;", NULL });
    attempt(BAD, "", 3 << 8);
    attempt("", "out of memory\n", SIGKILL);
    CU_ASSERT_EQUAL(open_tasks(), 1);
    attempt("format:1\nlab:06_tr", "", 0);
    CU_ASSERT_EQUAL(open_tasks(), 0); /* given up */
    queue_count(&store, &counts);
    CU_ASSERT_EQUAL(counts.given_up, 1);
    CU_ASSERT_EQUAL(count("SELECT count(DISTINCT outcome) FROM attempts"), 3);
    CU_ASSERT_EQUAL(count("SELECT count(*) FROM verdicts"), 0);
    store_do(&store, "INSERT INTO regrades (kernel, after, at) SELECT max(id), 3, '' FROM kernels",
             "");
    CU_ASSERT_EQUAL(open_tasks(), 1);
    attempt(GOOD, "", 0);
    CU_ASSERT_EQUAL(open_tasks(), 0);
    store_do(&store, "INSERT INTO regrades (kernel, after, at) SELECT max(id), 4, '' FROM kernels",
             "");
    attempt(GOOD, "", 0);
    CU_ASSERT_EQUAL(open_tasks(), 0);
    CU_ASSERT_EQUAL(count("SELECT max(number) FROM attempts"), 5);
    CU_ASSERT_EQUAL(count("SELECT count(*) FROM figures WHERE name = 'case.1.ratio'"), 2);
    CU_ASSERT_EQUAL(count("SELECT count(*) FROM figures"), 2);
    CU_ASSERT_EQUAL(count("SELECT why = 'a' || char(10) || 'b\\c' FROM verdicts"), 1);
}

static void one_writes_many_read(void)
{
    Store other;
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) /* locks work between processes */
        _exit(store_open(&other, folder, true) ? 1 : !strstr(other.problem, "another gradebook"));
    CU_ASSERT_TRUE_FATAL(pid > 0);
    waitpid(pid, &status, 0);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_TRUE(store_open(&other, folder, false));
    CU_ASSERT_EQUAL(store_number(&other, -1, "SELECT count(*) FROM attempts", ""), 5);
    store_close(&other);
    CU_ASSERT_FALSE(store_open(&other, "/nonexistent", false));
    store_close(&other);
}

static void rows_for_people(void)
{
    sqlite3_stmt *rows = rows_ask(&store);
    Row row;

    CU_ASSERT_TRUE_FATAL(rows_next(&store, rows, &row));
    CU_ASSERT_STRING_EQUAL(row.name, "fay");
    CU_ASSERT_STRING_EQUAL(row.state, "pass");
    CU_ASSERT_DOUBLE_EQUAL(row.marks, 100, 0);
    CU_ASSERT_EQUAL(row.attempts, 5);
    CU_ASSERT_EQUAL(row.same, 0);
    CU_ASSERT_FALSE(rows_next(&store, rows, &row));
}

/* The output of a grading, and the expected error. */
static void readings(void)
{
    static const struct {
        const char *text;
        bool fine;
    } rows[] = {
        { GOOD, true },
        { "", false },
        { "format:2\nlab:06_transpose\nverdict:pass\nend:06_transpose\n", false },
        { "format:1\nlab:07_reduction\nverdict:pass\nend:07_reduction\n", false },
        { "format:1\nlab:06_transpose\nverdict:pass\n", false },
        { "format:1\nlab:06_transpose\nverdict:pass\nend:06_transpose", false },
        { "format:1\nlab:06_transpose\nverdict:best\nend:06_transpose\n", false },
        { "format:1\nlab:06_transpose\nverdict:wrong\nverdict:pass\nend:06_transpose\n", false },
        { "format:1\nlab:06_transpose\nverdict:pass\nend:06_transpose\nx:y\n", false },
        { "format:1\nhello\n", false },
    };
    char all[2000] = "";

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ParsedResult result;
        char why[300];
        bool ok = parsed_read(rows[i].text, "06_transpose", &result, why, sizeof why);
        CU_ASSERT_EQUAL(ok, rows[i].fine);
        if (!ok)
            APPEND(all, "%s\n", why);
        parsed_free(&result);
    }
    golden_gradebook("results that cannot be parsed", all);
}

CU_SuiteInfo test_gradebook_store = {
    "gradebook store",
    .pInitFunc = begin,
    .pCleanupFunc = end,
    .pTests =
        (CU_TestInfo[]){
            { "identical kernels are stored once", the_same_is_enrolled_once },
            { "a text with a 0 equals no other text", a_text_with_a_0_is_itself_only },
            { "machine errors and gradings", faults_and_gradings },
            { "one process writes, many read", one_writes_many_read },
            { "rows for students", rows_for_people },
            { "parsed results", readings },
            { "equal tokens are not equal kernels", a_twin_for_the_lexer_is_no_twin },
            CU_TEST_INFO_NULL,
        },
};
