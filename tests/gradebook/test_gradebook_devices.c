/* test_gradebook_devices.c - how steadily each device measured on each day. */
#include "gradebook/report/device_days.h"
#include "base/util.h"
#include "golden.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];
static Store store;

static int begin(void)
{
    PUT(folder, "/tmp/warpbook-devices-XXXXXX");
    return !mkdtemp(folder) || !store_open(&store, folder, true);
}

static int end(void)
{
    store_close(&store);
    remove_tree(folder);
    return 0;
}

/* One grading each, of a kernel of its own. */
static const struct {
    const char *device, *uuid, *began, *outcome, *flag, *dim, *ms, *aa;
} gradings[] = {
    { "0", "GPU-a", "2026-11-01T10:00:00Z", "graded", "", "8 8", "1.0", "0.010" },
    { "0", "GPU-a", "2026-11-01T10:00:01Z", "graded", "", "8 8", "1.02", "0.020" },
    { "0", "GPU-a", "2026-11-01T10:00:02Z", "graded", "", "8 8", "0.95", "0.030" },
    { "0", "GPU-a", "2026-11-01T10:00:03Z", "graded", "", "9 9", "7.0", "0.030" }, /* other size */
    { "1", "GPU-b", "2026-11-01T10:00:00Z", "graded", "", "8 8", "2.0", "0.001" }, /* other GPU */
    { "0", "GPU-a", "2026-11-02T10:00:00Z", "graded", "disturbed", "8 8", "1.2", "0.060" },
    { "0", "", "2026-11-02T10:00:01Z", "noisy", "", "", "", "" },
    { "0", "", "2026-11-02T10:00:02Z", "died", "", "", "", "" },
    { "1", "GPU-c", "2026-11-02T10:00:00Z", "graded", "", "8 8", "9.0", "0.001" }, /* replaced */
    { "sim", "GPU-sim", "2026-11-02T10:00:00Z", "graded", "", "8 8", "0.5", "" },
    { "sim", "GPU-sim", "2026-11-02T10:00:01Z", "graded", "", "", "", "" }, /* wrong: not timed */
};

static void add_figure(int64_t attempt, const char *name, const char *value)
{
    if (*value)
        store_do(&store, "INSERT INTO figures VALUES (?, ?, ?)", "itt", attempt, name, value);
}

static void store_gradings(void)
{
    for (size_t i = 0; i < COUNT(gradings); i++) {
        int64_t attempt;
        store_do(&store, "INSERT INTO kernels (lab, hash, source) VALUES ('06_transpose', ?, '')",
                 "i", (int64_t) i);
        store_do(&store,
                 "INSERT INTO attempts (kernel, number, device, began, seconds, outcome, why, log)"
                 " VALUES (?, 1, ?, ?, 1, ?, '', '')",
                 "ittt", store_last(&store), gradings[i].device, gradings[i].began,
                 gradings[i].outcome);
        attempt = store_last(&store);
        if (strcmp(gradings[i].outcome, "graded"))
            continue;
        store_do(&store,
                 "INSERT INTO verdicts VALUES (?, 'pass', 100, 1, '', '', ?, 'H200', ?, '', '',"
                 " '', '', 'full', '', '', '')",
                 "itt", attempt, gradings[i].flag, gradings[i].uuid);
        add_figure(attempt, "case.1.dim", gradings[i].dim);
        add_figure(attempt, "case.1.reference_ms", gradings[i].ms);
        add_figure(attempt, "case.1.resolution", gradings[i].aa);
    }
}

static void each_day(void)
{
    static const struct {
        const char *device, *day;
        int gradings, noisy, disturbed, measured;
        double aa_median, aa_worst, drift_median, drift_worst;
        bool odd;
    } rows[] = {
        { "0", "2026-11-01", 4, 0, 0, 4, 0.025, 0.03, 0, -0.05, false },
        { "0", "2026-11-02", 1, 1, 1, 1, 0.06, 0.06, 0.2, 0.2, true },
        { "1", "2026-11-01", 1, 0, 0, 1, 0.001, 0.001, 0, 0, false },
        { "1", "2026-11-02", 1, 0, 0, 1, 0.001, 0.001, 0, 0, false },
        { "sim", "2026-11-02", 2, 0, 0, 1, -1, -1, 0, 0, false },
    };
    DeviceDay *days;
    int count;

    store_gradings();
    days = device_days(&store, &count);
    CU_ASSERT_EQUAL_FATAL(count, (int) COUNT(rows));
    for (int i = 0; i < count; i++) {
        CU_ASSERT_STRING_EQUAL(days[i].device, rows[i].device);
        CU_ASSERT_STRING_EQUAL(days[i].day, rows[i].day);
        CU_ASSERT_EQUAL(days[i].gradings, rows[i].gradings);
        CU_ASSERT_EQUAL(days[i].noisy, rows[i].noisy);
        CU_ASSERT_EQUAL(days[i].disturbed, rows[i].disturbed);
        CU_ASSERT_EQUAL(days[i].measured, rows[i].measured);
        CU_ASSERT_DOUBLE_EQUAL(days[i].aa_median, rows[i].aa_median, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(days[i].aa_worst, rows[i].aa_worst, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(days[i].drift_median, rows[i].drift_median, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(days[i].drift_worst, rows[i].drift_worst, 1e-9);
        CU_ASSERT_EQUAL(device_day_is_odd(&days[i]), rows[i].odd);
    }
    free(days);
}

static void as_text(void)
{
    char *text = NULL;
    size_t size;
    FILE *to = text_open(&text, &size);

    device_days_text(&store, to);
    text_close(to);
    golden_gradebook("devices", text);
    free(text);
}

CU_SuiteInfo test_gradebook_devices = {
    "gradebook devices",
    .pInitFunc = begin,
    .pCleanupFunc = end,
    .pTests =
        (CU_TestInfo[]){
            { "each day", each_day },
            { "as text", as_text },
            CU_TEST_INFO_NULL,
        },
};
