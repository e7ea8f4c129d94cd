/* device_days.c - how steadily each device measured on each day, from the stored gradings.
 *
 * A grading on a real GPU compares the reference with itself before it times the kernel (A/A); the
 * figure `resolution` is how far apart these two were. It also stores the reference's time. Both
 * say something about the device alone, whatever the kernel was.
 */
#include "gradebook/report/device_days.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double most_aa = 0.05, most_drift = 0.10; /* as in gradebook/run/devices.c */

/* ---- Reading ---- */

typedef struct Samples {
    double *aa, *drift; /* of the current day */
    int aa_count, drift_count, capacity;
} Samples;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static void summarize(DeviceDay *day, Samples *samples)
{
    day->measured = samples->drift_count;
    day->aa_median = day->aa_worst = -1;
    if (samples->aa_count) {
        qsort(samples->aa, (size_t) samples->aa_count, sizeof *samples->aa, by_value);
        day->aa_median = median(samples->aa, (size_t) samples->aa_count);
        day->aa_worst = samples->aa[samples->aa_count - 1];
    }
    if (samples->drift_count)
        day->drift_median = median(samples->drift, (size_t) samples->drift_count);
    for (int i = 0; i < samples->drift_count; i++)
        if (fabs(samples->drift[i]) > fabs(day->drift_worst))
            day->drift_worst = samples->drift[i];
    samples->aa_count = samples->drift_count = 0;
}

static void add_sample(Samples *samples, sqlite3_stmt *row)
{
    if (samples->drift_count == samples->capacity) {
        samples->capacity = samples->capacity ? 2 * samples->capacity : 256;
        samples->aa = xrealloc(samples->aa, (size_t) samples->capacity, sizeof *samples->aa);
        samples->drift =
            xrealloc(samples->drift, (size_t) samples->capacity, sizeof *samples->drift);
    }
    samples->drift[samples->drift_count++] = sqlite3_column_double(row, 2) - 1;
    if (sqlite3_column_type(row, 3) != SQLITE_NULL)
        samples->aa[samples->aa_count++] = sqlite3_column_double(row, 3);
}

/* The days, with all that SQL can count. */
static DeviceDay *read_days(Store *store, int *count)
{
    sqlite3_stmt *rows = store_ask(
        store,
        "SELECT a.device, substr(a.began, 1, 10), coalesce(max(v.device), ''),"
        "  sum(a.outcome = 'graded'), sum(a.outcome = 'noisy'),"
        "  sum(coalesce(v.flag, '') LIKE '%disturbed%')"
        " FROM attempts a LEFT JOIN verdicts v ON v.attempt = a.id GROUP BY 1, 2 ORDER BY 1, 2",
        "");
    DeviceDay *days = NULL;

    *count = 0;
    while (store_row(store, rows)) {
        DeviceDay *day;
        days = xrealloc(days, (size_t) *count + 1, sizeof *days);
        day = &days[(*count)++];
        *day = (DeviceDay){ .gradings = sqlite3_column_int(rows, 3),
                            .noisy = sqlite3_column_int(rows, 4),
                            .disturbed = sqlite3_column_int(rows, 5),
                            .aa_median = -1,
                            .aa_worst = -1 };
        PUT(day->device, "%s", store_text(rows, 0));
        PUT(day->day, "%s", store_text(rows, 1));
        PUT(day->gpu, "%s", store_text(rows, 2));
    }
    return days;
}

DeviceDay *device_days(Store *store, int *count)
{
    DeviceDay *days = read_days(store, count);
    Samples samples = { 0 };
    int at = 0;
    sqlite3_stmt *rows = store_ask(
        store,
        "SELECT device, day, ms / first_value(ms) OVER"
        "   (PARTITION BY uuid, lab, lab_hash, figure, dim ORDER BY attempt), aa"
        " FROM (SELECT a.device AS device, substr(a.began, 1, 10) AS day, v.uuid AS uuid,"
        "   k.lab AS lab, v.lab_hash AS lab_hash, t.name AS figure, d.value AS dim,"
        "   a.id AS attempt, CAST(t.value AS REAL) AS ms, CAST(r.value AS REAL) AS aa"
        "  FROM attempts a JOIN verdicts v ON v.attempt = a.id JOIN kernels k ON k.id = a.kernel"
        "  JOIN figures t ON t.attempt = a.id AND t.name LIKE 'case.%.reference_ms'"
        "  LEFT JOIN figures d ON d.attempt = a.id"
        "   AND d.name = replace(t.name, 'reference_ms', 'dim')"
        "  LEFT JOIN figures r ON r.attempt = a.id"
        "   AND r.name = replace(t.name, 'reference_ms', 'resolution'))"
        " WHERE ms > 0 ORDER BY device, day",
        "");

    while (store_row(store, rows)) {
        while (at < *count && (strcmp(days[at].device, store_text(rows, 0)) ||
                               strcmp(days[at].day, store_text(rows, 1))))
            summarize(&days[at++], &samples);
        add_sample(&samples, rows);
    }
    if (at < *count)
        summarize(&days[at], &samples);
    free(samples.aa);
    free(samples.drift);
    return days;
}

bool device_day_is_odd(const DeviceDay *day)
{
    return day->aa_worst > most_aa || fabs(day->drift_median) > most_drift || day->noisy ||
           day->disturbed;
}

/* ---- Showing ---- */

static const char *percent(double share, bool sign, char text[20])
{
    if (share < 0 && !sign)
        return put(text, 20, "-");
    return put(text, 20, sign ? "%+.1f %%" : "%.1f %%", 100 * share);
}

typedef struct Shown {
    char aa[20], aa_worst[20], drift[20], drift_worst[20];
} Shown;

static void show_day(const DeviceDay *day, Shown *shown)
{
    percent(day->aa_median, false, shown->aa);
    percent(day->aa_worst, false, shown->aa_worst);
    PUT(shown->drift, "-");
    PUT(shown->drift_worst, "-");
    if (!day->measured)
        return;
    percent(day->drift_median, true, shown->drift);
    percent(day->drift_worst, true, shown->drift_worst);
}

static const char about[] =
    "A/A: the reference compared with itself (median and worst). Drift: the reference's time "
    "compared with its first time on this GPU (median and worst). Noisy: attempts that were "
    "repeated. Disturbed: gradings that count although nearly every sample was disturbed. Days "
    "with an A/A above 5 %, a drift above 10 % or any noise are marked.";

void device_days_text(Store *store, FILE *to)
{
    int count;
    DeviceDay *days = device_days(store, &count);
    Shown shown;

    for (int i = 0; i < count; i++) {
        const DeviceDay *day = &days[i];
        if (!i || strcmp(day->device, days[i - 1].device)) {
            fprintf(to, "%s%s%s%s\n", i ? "\n" : "", day->device, *day->gpu ? ": " : "", day->gpu);
            fprintf(to, "  %-10s %8s %7s %7s %8s %8s %6s %9s\n", "day", "gradings", "A/A", "worst",
                    "drift", "worst", "noisy", "disturbed");
        }
        show_day(day, &shown);
        fprintf(to, "%c %-10s %8d %7s %7s %8s %8s %6d %9d\n", device_day_is_odd(day) ? '!' : ' ',
                day->day, day->gradings, shown.aa, shown.aa_worst, shown.drift, shown.drift_worst,
                day->noisy, day->disturbed);
    }
    fputc('\n', to);
    print_wrapped_to(to, count ? about : "Nothing has been graded yet.", 0, 80);
    free(days);
}

void device_days_page(Store *store, Page *page)
{
    int count;
    DeviceDay *days = device_days(store, &count);
    Shown shown;

    page_print(page,
               "<h2 id=\"devices\">Devices</h2>\n<p class=\"soft\">%s</p>\n"
               "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>",
               about);
    for (const char *const *name =
             (const char *const[]){ "Device", "GPU", "Day", "Gradings", "A/A", "Worst", "Drift",
                                    "Worst", "Noisy", "Disturbed", NULL };
         *name; name++)
        page_print(page, "<th scope=\"col\">%s</th>", *name);
    page_print(page, "</tr></thead><tbody>\n");
    for (int i = 0; i < count; i++) {
        const DeviceDay *day = &days[i];
        show_day(day, &shown);
        page_print(page, "<tr><td class=\"words\">%s</td><td class=\"words\">%s</td>", day->device,
                   day->gpu);
        page_print(page, "<td>%s%s</td><td class=\"number\">%d</td>",
                   device_day_is_odd(day) ? "⚑ " : "", day->day, day->gradings);
        page_print(page, "<td class=\"number\">%s</td><td class=\"number\">%s</td>", shown.aa,
                   shown.aa_worst);
        page_print(page, "<td class=\"number\">%s</td><td class=\"number\">%s</td>", shown.drift,
                   shown.drift_worst);
        page_print(page, "<td class=\"number\">%d</td><td class=\"number\">%d</td></tr>\n",
                   day->noisy, day->disturbed);
    }
    page_print(page, "</tbody></table></div>\n");
    free(days);
}
