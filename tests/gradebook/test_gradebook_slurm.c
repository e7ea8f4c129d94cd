/* test_gradebook_slurm.c - what Slurm's programs say, results as files, shares, and words for
 * shells.
 */
#include "gradebook/slurm/client.h"
#include "gradebook/slurm/batch.h"
#include "gradebook/slurm/result.h"
#include "gradebook/slurm/work_item.h"
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
    { "12_4|RUNNING|node7|None", false }, /* there are 4: 0 to 3 */
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
        TaskState fates[4] = { { 0 } };
        CU_ASSERT_EQUAL(slurm_take_line(lines[i].line, "12", fates, 4), lines[i].taken);
        CU_ASSERT_STRING_EQUAL(fates[3].state, lines[i].taken ? lines[i].state : "");
        if (!lines[i].taken)
            continue;
        CU_ASSERT_EQUAL(fates[3].live, lines[i].live);
        CU_ASSERT_EQUAL(fates[3].runs, lines[i].runs);
        CU_ASSERT_STRING_EQUAL(fates[3].node, lines[i].node);
        CU_ASSERT_STRING_EQUAL(fates[3].reason, lines[i].reason);
    }
}

/* ---- Results ---- */

static Result made(void)
{
    Result result = { .device = "node7: 0", .began = 1790000000, .seconds = 12.5 };

    result.program.status = 3 << 8;
    result.program.out =
        (Printed){ -1, strdup("format:1\n\nend:x\n"), 16, 16, 40 }; /* 40: more was printed */
    result.program.errors = (Printed){ -1, strdup("warpbook: why\n"), 14, 14, 14 };
    return result;
}

static void a_result_there_and_back(void)
{
    char path[100];
    Result out = made(), in;

    PUT(path, "%s/1.1", folder);
    CU_ASSERT_FALSE(result_read(path, &in));
    CU_ASSERT_TRUE_FATAL(result_write(path, &out));
    CU_ASSERT_TRUE_FATAL(result_read(path, &in));
    CU_ASSERT_STRING_EQUAL(in.device, "node7: 0");
    CU_ASSERT_EQUAL(in.began, 1790000000);
    CU_ASSERT_DOUBLE_EQUAL(in.seconds, 12.5, 1e-9);
    CU_ASSERT_EQUAL(in.program.status, 3 << 8);
    CU_ASSERT_FALSE(in.program.late);
    CU_ASSERT_STRING_EQUAL(in.program.trouble, "");
    CU_ASSERT_STRING_EQUAL(in.program.out.text, "format:1\n\nend:x\n");
    CU_ASSERT_EQUAL(in.program.out.bytes, 40);
    CU_ASSERT_STRING_EQUAL(in.program.errors.text, "warpbook: why\n");
    program_free(&in.program);
    program_free(&out.program);
}

/* Whatever is in it, it is taken for a fault of the machine, and nothing is read beyond it. */
static void a_damaged_result(void)
{
    char path[100], *text;
    size_t size;
    Result out = made(), in;

    PUT(path, "%s/2.1", folder);
    CU_ASSERT_TRUE_FATAL(result_write(path, &out));
    text = read_file(path, 10000, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    for (size_t length = 0; length < size; length++) {
        CU_ASSERT_TRUE(write_file(path, text, length));
        CU_ASSERT_TRUE_FATAL(result_read(path, &in));
        CU_ASSERT_STRING_NOT_EQUAL(in.program.trouble, "");
        program_free(&in.program);
    }
    free(text);
    program_free(&out.program);
}

static const char *const damaged[] = {
    "format:2\nbegan:1\nseconds:1\nstatus:0\nlate:0\nprinted:0\nout:0\nerrors:0\n\nend\n",
    "format:1\nbegan:1\nseconds:1\nstatus:0\nlate:0\nprinted:9\nout:9\nerrors:0\n\nend\n",
    "format:1\nbegan:1\nseconds:1\nstatus:0\nlate:0\nprinted:0\nout:-1\nerrors:1\n\nend\n",
    "format:1\nbegan:1\nseconds:1\nstatus:0\nlate:0\nprinted:0\nout:1e300\nerrors:0\n\nend\n",
    "format:1\nbegan:1\nseconds:nan\nstatus:0\nlate:0\nprinted:0\nout:0\nerrors:0\n\nend\n",
    "format:1\nbegan:1\nseconds:1\nstatus:0\nlate:2\nprinted:0\nout:0\nerrors:0\n\nend\n",
    "format:1\nbegan:1\nseconds:1\nstatus:0\nlate:0\nprinted:0\nout:0\nerrors:0\n\nEND\n",
};

static void results_that_lie(void)
{
    char path[100];
    Result in;

    PUT(path, "%s/3.1", folder);
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        write_file(path, damaged[i], strlen(damaged[i]));
        CU_ASSERT_TRUE_FATAL(result_read(path, &in));
        CU_ASSERT_STRING_EQUAL(in.program.trouble, "handed in a result that cannot be read");
        program_free(&in.program);
    }
}

/* ---- The folder of a round ---- */

static bool read_order(const char *order, Batch *round)
{
    char path[100], problem[900];

    write_file(PUT(path, "%s/order", folder), order, strlen(order));
    write_file(PUT(path, "%s/name", folder), "warpbook-1\n", 11);
    return batch_read(folder, round, problem, sizeof problem);
}

static void an_order(void)
{
    char path[100], who[100];
    Batch round;

    CU_ASSERT_TRUE_FATAL(read_order("0 17 1 06_transpose\n4 3 2 07_reduction\n", &round));
    CU_ASSERT_EQUAL(round.count, 2);
    CU_ASSERT_EQUAL(round.shares, 5);
    CU_ASSERT_EQUAL(round.errands[1].kernel, 3);
    CU_ASSERT_STRING_EQUAL(round.job, "");
    write_file(PUT(path, "%s/job", folder), "12; rm -rf\n", 11);
    CU_ASSERT_FALSE(batch_find_job(&round));
    write_file(path, "4711\n", 5);
    CU_ASSERT_TRUE(batch_find_job(&round));
    CU_ASSERT_STRING_EQUAL(round.job, "4711");
    make_folders(PUT(path, "%s/handed", folder));
    CU_ASSERT_FALSE(batch_begun(&round, &round.errands[0], who, sizeof who));
    CU_ASSERT_TRUE(batch_begin(&round, &round.errands[0], "12_0 0 node7"));
    CU_ASSERT_FALSE(batch_begin(&round, &round.errands[0], "12_0 1 node8"));
    CU_ASSERT_EQUAL(errno, EEXIST);
    CU_ASSERT_TRUE(batch_begun(&round, &round.errands[0], who, sizeof who));
    CU_ASSERT_STRING_EQUAL(who, "12_0 0 node7");
    batch_free(&round);
}

static void no_orders(void)
{
    static const char *const texts[] = { "",
                                         "0 17 1 06_transpose",
                                         "0 17 1 99_nothing\n",
                                         "-1 17 1 06_transpose\n",
                                         "0 0 1 06_transpose\n",
                                         "0 17 0 06_transpose\n",
                                         "999999999 17 1 06_transpose\n",
                                         "0 17 1 06_transpose more\n",
                                         "\n" };
    Batch round;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CU_ASSERT_FALSE(read_order(texts[i], &round));
}

/* ---- Shares, options, quoting ---- */

static void shares(void)
{
    static const struct {
        int batch, jobs;
        double seconds;
        int open, size;
    } rows[] = {
        { 0, 0, -1, 2700, 15 }, /* nothing known: 40 s each, ten minutes */
        { 0, 0, 60, 2700, 10 },  { 0, 0, 3600, 2700, 1 }, { 0, 0, 0.01, 2700, 200 },
        { 0, 4, 60, 64, 10 },    { 0, 16, 60, 64, 4 },    { 0, 100, 60, 64, 1 },
        { 3, 100, 60, 2700, 3 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SlurmOptions options = { .batch = rows[i].batch };
        CU_ASSERT_EQUAL(share_size(&options, rows[i].jobs, rows[i].seconds, rows[i].open),
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

/* A shell must give the word back as it was. */
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
    "gradebook: Slurm",
    .pInitFunc = begin,
    .pCleanupFunc = end,
    .pTests =
        (CU_TestInfo[]){
            { "lines of squeue and sacct", lines_of_squeue },
            { "a result there and back", a_result_there_and_back },
            { "a damaged result", a_damaged_result },
            { "results that lie", results_that_lie },
            { "an order", an_order },
            { "no orders", no_orders },
            { "shares", shares },
            { "options that may pass", options_that_may_pass },
            { "quoted words", quoted_words },
            CU_TEST_INFO_NULL,
        },
};
