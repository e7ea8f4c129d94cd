/* test_sweep.c - make sweep: each lab's values, its file, and both forms of its picture. */
#include "learner/sweep/sweep.h"
#include "base/util.h"
#include "draw/collect.h"
#include "draw/well_formed.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

static const Gpu devices[] = {
    { .sms = 8, .l2_bytes = 1 << 20 },   /* the Teaching GPU */
    { .sms = 132, .l2_bytes = 60 << 20 } /* an H200 */
};

/* The number of values that a lab sweeps on a device; every one is a valid size. */
static int values_of(const LabEntry *entry, const Gpu *gpu)
{
    const GpuInfo info = { .gpu = *gpu };
    const SweepRange *range = &entry->lab->sweep;
    const Case *lab_case = collect_choose_case(entry->lab, range->label);
    int count = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(lab_case);
    for (int i = 0; range->values[i]; i++) {
        Case c = collect_case(lab_case, &info);
        Arrays arrays = { 0 };
        if (!range->set(c.dim, gpu, range->values[i]))
            continue;
        count++;
        for (int d = 0; d < LAB_DIMS; d++)
            CU_ASSERT(c.dim[d] >= 0);
        CU_ASSERT(c.dim[0] > 0);
        CU_ASSERT(entry->lab->work(&c).bytes > 0);
        entry->lab->shape(&c, &arrays);
        CU_ASSERT(arrays.in[0].rows * arrays.in[0].cols > 0);
    }
    return count;
}

static void each_sweep_has_several_values_on_each_device(void)
{
    for (const LabEntry *entry = all_labs; entry->folder; entry++)
        for (size_t i = 0; entry->lab->sweep.what && i < COUNT(devices); i++) {
            const int count = values_of(entry, &devices[i]);
            CU_ASSERT(count >= 4 && count <= SWEEP_POINTS);
        }
}

static void a_lab_without_a_sweep_says_so(void)
{
    static const Lab plain = { .title = "plain" };
    static const LabEntry unknown = { "99_unknown", &plain };
    Options options = { .labs = { &unknown }, .count = 1 };

    CU_ASSERT_EQUAL(run_sweep(&options), NOT_PASSED);
}

static void the_tail_is_about_whole_waves(void)
{
    static const long expected[] = { 4, 7, 8, 9, 12, 15, 16, 17, 24, 25 };
    const SweepRange *range = &lab_find("tail_effect")->lab->sweep;

    for (size_t i = 0; i < COUNT(expected); i++) {
        long dim[LAB_DIMS] = { 0 };
        CU_ASSERT_TRUE(range->set(dim, &devices[0], range->values[i]));
        CU_ASSERT_EQUAL(dim[0], expected[i]);
    }
}

/* ---- The file and the pictures ---- */

static Sweep example(void)
{
    Sweep sweep = { .entry = lab_find("transpose"),
                    .what = "rows",
                    .unit = "GB/s",
                    .where = "Plain GPU, 2 SMs",
                    .kernel = "your kernel",
                    .points = { { "one < row", 50, 200 }, { "64", 0, 100 } },
                    .count = 2,
                    .why = "it crashed" };
    return sweep;
}

static const char *text_of(void (*write)(const Sweep *, FILE *), const Sweep *sweep)
{
    static char *text;
    size_t bytes;
    FILE *to;

    free(text);
    to = text_open(&text, &bytes);
    write(sweep, to);
    text_close(to);
    return text;
}

static void write_file_of(const Sweep *sweep, FILE *to)
{
    fprintf(to, "device: %s\n", sweep->where);
    sweep_write(sweep, to);
}

static void a_file_is_read_as_it_was_written(void)
{
    const Sweep sweep = example();
    const char *text = text_of(write_file_of, &sweep);
    Sweep read;

    CU_ASSERT_TRUE(sweep_read(sweep.entry, text, strlen(text), &read));
    CU_ASSERT_EQUAL(read.count, 2);
    CU_ASSERT_STRING_EQUAL(read.where, sweep.where);
    CU_ASSERT_STRING_EQUAL(read.what, sweep.what);
    CU_ASSERT_STRING_EQUAL(read.unit, sweep.unit);
    CU_ASSERT_STRING_EQUAL(read.kernel, sweep.kernel);
    CU_ASSERT_STRING_EQUAL(read.points[0].name, "one < row");
    CU_ASSERT_DOUBLE_EQUAL(read.points[0].yours, 50, 0);
    CU_ASSERT_DOUBLE_EQUAL(read.points[0].reference, 200, 0);
    CU_ASSERT_DOUBLE_EQUAL(read.points[1].yours, 0, 0);
    CU_ASSERT_FALSE(sweep_read(sweep.entry, "device: x\n", 10, &read));
}

static void bars_have_the_lengths_of_their_speeds(void)
{
    const Sweep sweep = example();
    const char *text = text_of(sweep_print, &sweep);
    const char *hashes = strstr(text, "one < row ###"), *dashes = strstr(text, " ---");

    CU_ASSERT_PTR_NOT_NULL_FATAL(hashes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(dashes);
    CU_ASSERT_EQUAL(strspn(hashes + 10, "#"), 11);
    CU_ASSERT_EQUAL(strspn(dashes + 1, "-"), 44);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "failed"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "it crashed"));
    for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1)
        CU_ASSERT(end - at <= 80);
}

static void draw_alone(const Sweep *sweep, FILE *to)
{
    sweep_draw(sweep, NULL, to);
}

static void draw_both(const Sweep *sweep, FILE *to)
{
    Sweep stored = *sweep;

    PUT(stored.where, "NVIDIA H200");
    sweep_draw(sweep, &stored, to);
}

static void the_picture_says_whether_an_h200s_sweep_is_stored(void)
{
    const Sweep sweep = example();
    const char *text = text_of(draw_alone, &sweep);

    CU_ASSERT_TRUE(is_well_formed(text));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "is not stored"));
    text = text_of(draw_both, &sweep);
    CU_ASSERT_TRUE(is_well_formed(text));
    CU_ASSERT_PTR_NULL(strstr(text, "is not stored"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "NVIDIA H200"));
}

static CU_TestInfo tests[] = {
    { "each sweep has several values on each device",
      each_sweep_has_several_values_on_each_device },
    { "a lab without a sweep says so", a_lab_without_a_sweep_says_so },
    { "the tail is about whole waves", the_tail_is_about_whole_waves },
    { "a file is read as it was written", a_file_is_read_as_it_was_written },
    { "bars have the lengths of their speeds", bars_have_the_lengths_of_their_speeds },
    { "the picture says whether an H200's sweep is stored",
      the_picture_says_whether_an_h200s_sweep_is_stored },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sweep = { "sweep", NULL, NULL, NULL, NULL, tests };
