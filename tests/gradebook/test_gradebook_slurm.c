/* test_gradebook_slurm.c - output of Slurm's programs, logs as results, tasks, shell quoting. */
#include "gradebook/slurm/client.h"
#include "gradebook/slurm/batch.h"
#include "gradebook/slurm/job.h"
#include "gradebook/store/attempt.h"
#include "gradebook/store/log.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static int begin(void)
{
    PUT(folder, "/tmp/warpbook-slurm-test-XXXXXX");
    return !mkdtemp(folder);
}

static int end(void)
{
    remove_tree(folder);
    return 0;
}

/* ---- Lines of squeue and sacct ---- */

static const struct {
    const char *line;
    bool taken, live, runs;
    const char *state, *node, *reason;
} lines[] = {
    { "12_3|RUNNING|node7|None\n", true, true, true, "RUNNING", "node7", "None" },
    { "12_3|PENDING||Resources\n", true, true, false, "PENDING", "", "Resources" },
    { "  12_3|COMPLETING|node7|None", true, true, true, "COMPLETING", "node7", "None" },
    { "12_3|TIMEOUT|node7|TimeLimit", true, false, false, "TIMEOUT", "node7", "TimeLimit" },
    { "12_3|CANCELLED by 1000|node7|", true, false, false, "CANCELLED", "node7", "" },
    { "12_3|CANCELLED+|None assigned", true, false, false, "CANCELLED", "", "" },
    { "12_3|PREEMPTED|node7", true, false, false, "PREEMPTED", "node7", "" },
    { "12_3|NODE_FAIL|node7|", true, false, false, "NODE_FAIL", "node7", "" },
    { "12_3|OUT_OF_MEMORY|node7|", true, false, false, "OUT_OF_MEMORY", "node7", "" },
    { "12_3|REQUEUE_HOLD|(null)|held", true, true, false, "REQUEUE_HOLD", "", "held" },
    { "12_3|SOMETHING_NEW|node7|", true, true, false, "SOMETHING_NEW", "node7", "" },
    { "12_3", false },
    { "12_|RUNNING|node7|None", false },
    { "12_x|RUNNING|node7|None", false },
    { "12_-1|RUNNING|node7|None", false },
    { "12_4|RUNNING|node7|None", false }, /* the tasks are 0 to 3 */
    { "12_99999999999999999999|RUNNING|n|", false },
    { "12_[0-3]|PENDING||Priority", false },
    { "123_3|RUNNING|node7|None", false }, /* another array */
    { "1_3|RUNNING|node7|None", false },
    { "squeue: error: something", false },
    { "", false },
};

static void lines_of_squeue(void)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        TaskState states[4] = { { 0 } };
        CU_ASSERT_EQUAL(slurm_parse_line(lines[i].line, "12", states, 4), lines[i].taken);
        CU_ASSERT_STRING_EQUAL(states[3].state, lines[i].taken ? lines[i].state : "");
        if (!lines[i].taken)
            continue;
        CU_ASSERT_EQUAL(states[3].live, lines[i].live);
        CU_ASSERT_EQUAL(states[3].runs, lines[i].runs);
        CU_ASSERT_STRING_EQUAL(states[3].node, lines[i].node);
        CU_ASSERT_STRING_EQUAL(states[3].reason, lines[i].reason);
    }
}

/* ---- Logs ---- */

#define RESULT "format:1\nlab:06_transpose\nverdict:slow\nmarks:1\nratio:0.5\nend:06_transpose\n"

static char *log_file(const char *result, const char *errors, char *text, size_t size)
{
    return put(text, size,
               "outcome: graded\nhost: node7\ndevice: 0\nbegan: 1790000000\nseconds: 12.500\n"
               "stdout_bytes: %zu\nstderr_bytes: %zu\nwhy: \n---- stdout ----\n%s"
               "---- stderr ----\n%s",
               strlen(result), strlen(errors), result, errors);
}

static bool read_log(const char *text, size_t size, Attempt *attempt)
{
    char path[100];

    CU_ASSERT_TRUE_FATAL(write_file(PUT(path, "%s/17.1.txt", folder), text, size));
    return attempt_read_log(path, "06_transpose", attempt);
}

static void a_log(void)
{
    char text[1000], host[64], path[100];
    Attempt attempt;

    CU_ASSERT_FALSE(attempt_read_log(PUT(path, "%s/18.1.txt", folder), "06_transpose", &attempt));
    log_file(RESULT, "warpbook: why\n", text, sizeof text);
    CU_ASSERT_TRUE_FATAL(read_log(text, strlen(text), &attempt));
    CU_ASSERT_TRUE(attempt_graded(&attempt));
    CU_ASSERT_STRING_EQUAL(attempt.host, "node7");
    CU_ASSERT_STRING_EQUAL(attempt.device, "0");
    CU_ASSERT_EQUAL(attempt.began, 1790000000);
    CU_ASSERT_DOUBLE_EQUAL(attempt.seconds, 12.5, 1e-9);
    CU_ASSERT_STRING_EQUAL(attempt.out, RESULT);
    CU_ASSERT_STRING_EQUAL(attempt.errors, "warpbook: why\n");
    CU_ASSERT_STRING_EQUAL(parsed_get(&attempt.result, "verdict"), "slow");
    attempt_free(&attempt);
    CU_ASSERT_STRING_EQUAL(attempt_log_host(PUT(path, "%s/17.1.txt", folder), host, sizeof host),
                           "node7");
}

/* A machine error needs no result. */
static void a_log_of_an_error(void)
{
    static const char text[] = "outcome: died\nhost: n\ndevice: 0\nbegan: 1\nseconds: 1\n"
                               "stdout_bytes: 0\nstderr_bytes: 0\nwhy: was killed\n"
                               "---- stdout ----\n---- stderr ----\n";
    Attempt attempt;

    CU_ASSERT_TRUE_FATAL(read_log(text, strlen(text), &attempt));
    CU_ASSERT_STRING_EQUAL(attempt.outcome, "died");
    CU_ASSERT_STRING_EQUAL(attempt.why, "was killed");
    attempt_free(&attempt);
}

/* A log that is cut anywhere gives no result. */
static void a_cut_log(void)
{
    char text[1000];
    Attempt attempt;

    log_file(RESULT, "x", text, sizeof text);
    for (size_t length = 0; length < strlen(text); length++)
        CU_ASSERT_FALSE(read_log(text, length, &attempt));
    CU_ASSERT_FALSE(read_log(text, strlen(text) + 1, &attempt)); /* a 0 at the end */
}

/* Each row replaces a part of a valid log. */
static const struct {
    const char *from, *to;
} invalid[] = {
    { "outcome: graded", "outcome: begun" },
    { "outcome: graded", "outcome: passed" },
    { "outcome: graded\n", "" },
    { "began: 1790000000", "began: -1" },
    { "began: 1790000000", "began: 1e300" },
    { "seconds: 12.500", "seconds: nan" },
    { "stdout_bytes: ", "stdout_bytes: 1" },
    { "stdout_bytes: ", "stdout_bytes: -" },
    { "stderr_bytes: 0", "stderr_bytes: 1" },
    { "---- stderr", "---- STDERR" },
    { "verdict:slow", "verdict:nice" },
    { "verdict:slow", "verdict:unsound" },
    { "lab:06_transpose", "lab:07_reduction" },
    { "end:06_transpose\n", "end:06_transpose " },
};

static void invalid_logs(void)
{
    char text[1000], changed[1000];
    Attempt attempt;

    log_file(RESULT, "", text, sizeof text);
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        const char *at = strstr(text, invalid[i].from);
        CU_ASSERT_PTR_NOT_NULL_FATAL(at);
        PUT(changed, "%.*s%s%s", (int) (at - text), text, invalid[i].to,
            at + strlen(invalid[i].from));
        CU_ASSERT_FALSE(read_log(changed, strlen(changed), &attempt));
    }
}

/* ---- The folder of a batch ---- */

static bool read_tasks(const char *tasks, Batch *batch)
{
    char path[100], problem[900];

    write_file(PUT(path, "%s/tasks", folder), tasks, strlen(tasks));
    write_file(PUT(path, "%s/name", folder), "warpbook-1\n", 11);
    return batch_read(folder, batch, problem, sizeof problem);
}

static void a_batch(void)
{
    char path[100], log[700];
    Batch batch;

    CU_ASSERT_TRUE_FATAL(read_tasks("06_transpose 17.1,18.3\n07_reduction 3.2\n", &batch));
    CU_ASSERT_EQUAL(batch.count, 3);
    CU_ASSERT_EQUAL(batch.tasks, 2);
    CU_ASSERT_EQUAL(batch.items[1].attempt.kernel, 18);
    CU_ASSERT_EQUAL(batch.items[1].attempt.number, 3);
    CU_ASSERT_EQUAL(batch.items[2].task, 1);
    CU_ASSERT_STRING_EQUAL(batch.job, "");
    write_file(PUT(path, "%s/job", folder), "12; rm -rf\n", 11);
    CU_ASSERT_FALSE(batch_find_job(&batch));
    write_file(path, "4711\n", 5);
    CU_ASSERT_TRUE(batch_find_job(&batch));
    CU_ASSERT_STRING_EQUAL(batch.job, "4711");
    PUT(path, "%s/warpbook-1/07_reduction/3.2.txt", folder);
    CU_ASSERT_STRING_EQUAL(batch_log(&batch, &batch.items[2], log, sizeof log), path);
    batch_free(&batch);
}

static void invalid_batches(void)
{
    static const char *const texts[] = { "",
                                         "06_transpose 17.1",
                                         "06_transpose\n",
                                         "06_transpose \n",
                                         "99_nothing 17.1\n",
                                         "06_transpose 0.1\n",
                                         "06_transpose -1.1\n",
                                         "06_transpose 17.0\n",
                                         "06_transpose 17\n",
                                         "06_transpose 17.1,\n",
                                         "06_transpose 17.1,,18.1\n",
                                         "06_transpose 17.1 18.1\n",
                                         "06_transpose 99999999999999999999.1\n",
                                         "06_transpose 17.9999999\n",
                                         "\n" };
    Batch batch;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CU_ASSERT_FALSE(read_tasks(texts[i], &batch));
}

/* An attempt can begin only once. */
static void beginnings(void)
{
    Store store = { 0 };
    Task task = { .kernel = 17, .number = 2 };
    char path[100], host[64];
    Attempt attempt;

    PUT(store.folder, "%s", folder);
    CU_ASSERT_TRUE(attempt_begin(&store, &task, "0"));
    CU_ASSERT_FALSE(attempt_begin(&store, &task, "1"));
    PUT(path, "%s/logs/%s/17.2.txt", folder, all_labs[0].folder);
    CU_ASSERT_FALSE(attempt_read_log(path, all_labs[0].folder, &attempt));
    CU_ASSERT_STRING_NOT_EQUAL(attempt_log_host(path, host, sizeof host), "");
}

/* ---- Tasks, options, quoting ---- */

static void sizes_of_tasks(void)
{
    static const struct {
        int batch, jobs;
        double seconds;
        int open, size;
    } rows[] = {
        { 0, 0, -1, 2700, 15 }, /* unknown, so 40 s each, for ten minutes */
        { 0, 0, 60, 2700, 10 },  { 0, 0, 3600, 2700, 1 }, { 0, 0, 0.01, 2700, 200 },
        { 0, 4, 60, 64, 10 },    { 0, 16, 60, 64, 4 },    { 0, 100, 60, 64, 1 },
        { 3, 100, 60, 2700, 3 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SlurmOptions options = { .batch = rows[i].batch };
        CU_ASSERT_EQUAL(task_size(&options, rows[i].jobs, rows[i].seconds, rows[i].open),
                        rows[i].size);
    }
}

static void options_that_may_pass(void)
{
    static const struct {
        const char *option;
        bool may;
    } rows[] = {
        { "--time=30", true },          { "--constraint=h200", true },
        { "--exclusive", true },        { "-w", true },
        { "--array=3", false },         { "-a3", false },
        { "--wrap=rm", false },         { "--wait", false },
        { "--wait-all-nodes=1", true }, { "--job-name", false },
        { "script.sh", false },         { "", false },
        { "--arrays-are-fine", true },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(slurm_may_pass(rows[i].option), rows[i].may);
}

/* A shell must return the word unchanged. */
static void quoted_words(void)
{
    static const char *const words[] = { "plain",        "with blank", "it's",     "'",   "''x''",
                                         "$HOME `ls`\\", "new\nline",  "\"*\" %j", ";&|", "-n" };
    char quoted[200], command[300], back[100];

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        FILE *shell;
        size_t used;
        PUT(command, "printf %%s %s", shell_quote(words[i], quoted, sizeof quoted));
        shell = popen(command, "r");
        CU_ASSERT_PTR_NOT_NULL_FATAL(shell);
        used = fread(back, 1, sizeof back - 1, shell);
        back[used] = 0;
        pclose(shell);
        CU_ASSERT_STRING_EQUAL(back, words[i]);
    }
}

CU_SuiteInfo test_gradebook_slurm = {
    "gradebook Slurm",
    .pInitFunc = begin,
    .pCleanupFunc = end,
    .pTests =
        (CU_TestInfo[]){
            { "lines of squeue and sacct", lines_of_squeue },
            { "a log", a_log },
            { "a log of an error", a_log_of_an_error },
            { "a cut log", a_cut_log },
            { "invalid logs", invalid_logs },
            { "a batch", a_batch },
            { "invalid batches", invalid_batches },
            { "an attempt begins once", beginnings },
            { "sizes of tasks", sizes_of_tasks },
            { "options that users may pass", options_that_may_pass },
            { "quoted words", quoted_words },
            CU_TEST_INFO_NULL,
        },
};
