/* test_profile.c - make profile: ncu's table, each lab's metrics, and the reasons why there are no
 * counters. The tables have the form that ncu documents for --csv --page raw --print-units base. */
#include "base/util.h"
#include "learner/profile/profile.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

/* ---- A table ---- */

#define LOADS  "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
#define PASSES "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
#define HEAD                                                                                       \
    "\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Block Size\",\"Grid Size\","         \
    "\"gpu__time_duration.sum\",\"" PASSES "\",\"" LOADS "\",\"unknown__metric.sum\"\n"            \
    "\"\",\"\",\"\",\"\",\"\",\"\",\"ns\",\"sector\",\"request\",\"\"\n"

static const char table[] =
    "==PROF== Connected to process 4711 (/tmp/profiled)\ndone\n" HEAD
    "\"0\",\"4711\",\"profiled\",\"first(float *, int)\",\"(256, 1, 1)\",\"(8, 1, 1)\","
    "\"1,000\",\"10\",\"10\",\"7\"\n"
    "\"1\",\"4711\",\"profiled\",\"a \"\"name\"\" (int)\",\"(32, 8, 1)\",\"(300, 17, 1)\","
    "\"12,345.5\",\"4,194,304\",\"131,072\",\"n/a\"\n";

static Profiled profiled;

static bool reads(const char *text)
{
    char why[200] = "";
    const bool well = profile_read(text, strlen(text), &profiled, why, sizeof why);

    CU_ASSERT(well == !*why);
    return well;
}

/* The row with these words, or NULL. */
static const ProfileRow *row_of(const char *words)
{
    for (const ProfileRow *row = profile_rows; row->words; row++)
        if (!strcmp(row->words, words))
            return row;
    return NULL;
}

static void a_table_is_read(void)
{
    const ProfiledKernel *kernel;
    double value;

    CU_ASSERT_TRUE_FATAL(reads(table));
    CU_ASSERT_EQUAL(profiled.launches, 2);
    CU_ASSERT_EQUAL(profiled.metric_count, 3); /* the unknown one is not kept */
    kernel = profile_longest(&profiled);
    CU_ASSERT_PTR_NOT_NULL_FATAL(kernel);
    CU_ASSERT_STRING_EQUAL(kernel->name, "a \"name\" ");
    CU_ASSERT_STRING_EQUAL(kernel->grid, "(300, 17, 1)");
    CU_ASSERT_STRING_EQUAL(kernel->block, "(32, 8, 1)");
    CU_ASSERT_TRUE(profile_value(&profiled, kernel, &profile_rows[0], &value));
    CU_ASSERT_DOUBLE_EQUAL(value, 12.3455, 1e-9); /* us */
    CU_ASSERT_TRUE(profile_value(&profiled, kernel, row_of("sectors per request, loads"), &value));
    CU_ASSERT_DOUBLE_EQUAL(value, 32, 0);
    CU_ASSERT_FALSE(
        profile_value(&profiled, kernel, row_of("sectors per request, stores"), &value));
}

static void what_is_no_table_is_refused(void)
{
    static const char *const texts[] = {
        "",
        "==PROF== Connected\ndone\n",
        HEAD,
        "\"ID\",\"Grid Size\"\n\"0\",\"(1, 1, 1)\"\n",
        "\"ID\",\"Kernel Name\n",
    };

    for (size_t i = 0; i < COUNT(texts); i++)
        CU_ASSERT_FALSE(reads(texts[i]));
}

/* A row with too few fields, a value that is no number, and a quotient by zero. */
static void a_damaged_row_has_no_value(void)
{
    double value;

    CU_ASSERT_TRUE(reads(HEAD "\"0\",\"1\",\"p\"\n"
                              "\"1\",\"1\",\"p\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"n/a\",\"8\","
                              "\"0\",\"\"\n"));
    CU_ASSERT_EQUAL(profiled.kernel_count, 1);
    CU_ASSERT_FALSE(profile_value(&profiled, &profiled.kernels[0], &profile_rows[0], &value));
    CU_ASSERT_FALSE(profile_value(&profiled, &profiled.kernels[0],
                                  row_of("sectors per request, loads"), &value));
}

/* Cut off anywhere, it is read or refused, and nothing else happens. */
static void a_table_may_end_anywhere(void)
{
    for (size_t bytes = 0; bytes < sizeof table; bytes++) {
        char *copy = strndup(table, bytes), why[200];
        CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
        profile_read(copy, bytes, &profiled, why, sizeof why);
        CU_ASSERT(profiled.kernel_count <= 2);
        free(copy);
    }
}

static const char *printed(const char *lab)
{
    static char *text;
    size_t bytes;
    FILE *to;

    free(text);
    to = text_open(&text, &bytes);
    profile_print(lab_find(lab), &profiled, to);
    text_close(to);
    return text;
}

static void the_table_has_the_lessons_rows(void)
{
    CU_ASSERT_TRUE_FATAL(reads(table));
    const char *text = printed("coalescing");

    CU_ASSERT_PTR_NOT_NULL(strstr(text, "the longest of 2 launches"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "32.00"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "12.3 us"));
    CU_ASSERT_PTR_NULL(strstr(text, "bank conflicts"));
    for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1)
        CU_ASSERT(end - at <= 80);
    CU_ASSERT_PTR_NOT_NULL(strstr(printed("transpose"), "bank conflicts"));
}

/* The table of rung 5_padded on an H200, as ncu 2025.3.1 printed it; its first line says how. */
static void a_real_table_is_read(void)
{
    static const char *const wanted[] = { "transpose_kernel, grid (122880, 1, 1), block (32, 8, 1)",
                                          "264.8 us",
                                          "77.3 %",
                                          "4.00",
                                          "4261282",
                                          "329122" };
    size_t bytes;
    char *text = read_file("tests/learner/h200_transpose.ncu.csv", 1 << 20, &bytes);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_TRUE_FATAL(reads(text));
    CU_ASSERT_EQUAL(profiled.kernel_count, 1);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(printed("transpose"), wanted[i]));
    free(text);
}

static bool is_topic(const char *word)
{
    for (const ProfileRow *row = profile_rows; row->words; row++)
        if (!strcmp(row->topic, word))
            return true;
    return false;
}

static void the_topics_of_labs_exist(void)
{
    for (const LabEntry *entry = all_labs; entry->folder; entry++) {
        char text[200];
        PUT(text, "%s", entry->lab->profile ? entry->lab->profile : "");
        for (char *rest = text, *word; *text && (word = strsep(&rest, " "));)
            CU_ASSERT(is_topic(word));
    }
}

static void each_lab_asks_for_its_metrics_once(void)
{
    for (const LabEntry *entry = all_labs; entry->folder; entry++) {
        char text[4000], seen[4000] = ",", part[200];
        int count = 0;
        profile_metrics(entry, text, sizeof text);
        CU_ASSERT(strlen(text) < sizeof text - 1);
        for (char *rest = text, *metric; (metric = strsep(&rest, ","));) {
            CU_ASSERT_PTR_NULL(strstr(seen, PUT(part, ",%s,", metric)));
            APPEND(seen, "%s,", metric);
            count++;
        }
        CU_ASSERT(count >= 3);
    }
}

/* ---- Reasons ---- */

static const char no_permission[] =
    "==PROF== Connected to process 99\n"
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
    "Performance Counters on the target device 0.\n";

static void the_reason_is_recognised(void)
{
    static const struct {
        const char *said;
        int status;
        ProfilePlace place;
        ProfileRefusal refusal;
    } rows[] = {
        { "==PROF== Connected\ndone\n", 0, { 0 }, PROFILE_FINE },
        { no_permission, 1, { 0 }, PROFILE_NO_PERMISSION },
        { no_permission, 0, { 0 }, PROFILE_NO_PERMISSION },
        { no_permission, 1, { .container = true }, PROFILE_IN_CONTAINER },
        { no_permission, 1, { .wsl = true }, PROFILE_IN_WSL },
        { no_permission, 1, { .container = true, .wsl = true }, PROFILE_IN_WSL },
        { "==ERROR== Profiling is not supported on this device.\n", 1, { 0 }, PROFILE_TOO_OLD },
        { "==ERROR== Driver resource was unavailable.\n", 1, { 0 }, PROFILE_BUSY },
        { "==ERROR== something else\n", 1, { 0 }, PROFILE_FAILED },
        { "profiled: the kernel: an illegal memory access\n", 1, { 0 }, PROFILE_FAILED },
        { "", -2, { .container = true }, PROFILE_FAILED },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CU_ASSERT_EQUAL(profile_refusal(rows[i].said, rows[i].status, &rows[i].place),
                        rows[i].refusal);
}

static const char *explained(ProfileRefusal refusal, const char *said)
{
    static char *text;
    size_t bytes;
    FILE *to;

    free(text);
    to = text_open(&text, &bytes);
    profile_explain(refusal, said, to);
    text_close(to);
    return text;
}

static void each_reason_has_its_remedy(void)
{
    static const struct {
        ProfileRefusal refusal;
        const char *part;
    } rows[] = {
        { PROFILE_NO_GPU, "no usable NVIDIA GPU" },
        { PROFILE_NO_NCU, "CUDA Toolkit" },
        { PROFILE_NO_PERMISSION, "NVreg_RestrictProfilingToAdminUsers=0" },
        { PROFILE_IN_CONTAINER, "SYS_ADMIN" },
        { PROFILE_IN_WSL, "Control Panel" },
        { PROFILE_TOO_OLD, "newest CUDA Toolkit" },
        { PROFILE_BUSY, "dcgmi" },
        { PROFILE_FAILED, "==ERROR== one reason" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *text = explained(rows[i].refusal, "==ERROR== one reason\n");
        CU_ASSERT_PTR_NOT_NULL(strstr(text, rows[i].part));
        for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1)
            CU_ASSERT(end - at <= 80);
    }
}

static CU_TestInfo tests[] = {
    { "a table is read", a_table_is_read },
    { "what is no table is refused", what_is_no_table_is_refused },
    { "a damaged row has no value", a_damaged_row_has_no_value },
    { "a table may end anywhere", a_table_may_end_anywhere },
    { "the table has the lesson's rows", the_table_has_the_lessons_rows },
    { "a real table is read", a_real_table_is_read },
    { "the topics of labs exist", the_topics_of_labs_exist },
    { "each lab asks for its metrics once", each_lab_asks_for_its_metrics_once },
    { "the reason is recognised", the_reason_is_recognised },
    { "each reason has its remedy", each_reason_has_its_remedy },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_profile = { "profile", NULL, NULL, NULL, NULL, tests };
