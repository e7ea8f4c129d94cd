/* file.c - a sweep as lines of text, one figure each. */
#include "learner/sweep/sweep.h"
#include "base/number.h"
#include "base/util.h"

#include <string.h>

/* At least four digits, never an exponent. */
static void write_figure(const SweepPoint *point, const char *whose, double value, FILE *to)
{
    fprintf(to, value < 1000 ? "%s/%s %.4g\n" : "%s/%s %.0f\n", point->name, whose, value);
}

void sweep_write(const Sweep *sweep, FILE *to)
{
    fprintf(to, "sweep: %s\nkernel: %s\nunit: %s\n\n", sweep->what, sweep->kernel, sweep->unit);
    for (int i = 0; i < sweep->count; i++) {
        write_figure(&sweep->points[i], "yours", sweep->points[i].yours, to);
        write_figure(&sweep->points[i], "reference", sweep->points[i].reference, to);
    }
}

static bool take_head(const char *line, const char *key, char *to, size_t size)
{
    const size_t length = strlen(key);

    if (strncmp(line, key, length))
        return false;
    put(to, size, "%s", line + length);
    return true;
}

static SweepPoint *point_of(Sweep *sweep, const char *name)
{
    SweepPoint *point;

    for (int i = 0; i < sweep->count; i++)
        if (!strcmp(sweep->points[i].name, name))
            return &sweep->points[i];
    if (sweep->count == SWEEP_POINTS)
        return NULL;
    point = &sweep->points[sweep->count++];
    PUT(point->name, "%.39s", name);
    return point;
}

/* "64/yours 371.3" */
static void take_figure(Sweep *sweep, char *line)
{
    char *number = strrchr(line, ' '), *slash;
    SweepPoint *point;
    double value;

    if (!number || (*number = 0, !(slash = strrchr(line, '/'))))
        return;
    *slash = 0;
    value = number_or_zero(number + 1);
    point = point_of(sweep, line);
    if (point && !strcmp(slash + 1, "yours"))
        point->yours = value;
    if (point && !strcmp(slash + 1, "reference"))
        point->reference = value;
}

bool sweep_read(const LabEntry *entry, const char *text, size_t bytes, Sweep *sweep)
{
    char line[300], date[32] = "", other[300];

    *sweep = (Sweep){ .entry = entry };
    for (const char *at = text; next_line(&at, text + bytes, line, sizeof line);)
        if (!take_head(line, "device: ", sweep->where, sizeof sweep->where) &&
            !take_head(line, "sweep: ", sweep->what, sizeof sweep->what) &&
            !take_head(line, "kernel: ", sweep->kernel, sizeof sweep->kernel) &&
            !take_head(line, "unit: ", sweep->unit, sizeof sweep->unit) &&
            !take_head(line, "date: ", date, sizeof date) &&
            !take_head(line, "driver: ", other, sizeof other) &&
            !take_head(line, "CUDA: ", other, sizeof other) &&
            !take_head(line, "command: ", other, sizeof other))
            take_figure(sweep, line);
    if (*date)
        APPEND(sweep->where, ", %s", date);
    return sweep->count > 0;
}
