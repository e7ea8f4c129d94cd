/* measured.c - reads a ladder from docs/measured, where `make figures` stored it. */
#include "base/number.h"
#include "base/util.h"
#include "draw/collect.h"
#include "sim/device/device.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20, LINE = 300 };

/* Splits "4_tile/square/GB/s 1650" into its rung and unit, if it belongs to this case. Names of
 * rungs contain no slash; names with a slash are kernels of beyond/ and wrong/. */
static bool split(char *line, const char *label, const char **unit, double *value)
{
    char *number = strrchr(line, ' '), *case_at = strchr(line, '/');
    const size_t length = strlen(label);

    if (!number || !case_at || strncmp(case_at + 1, label, length) || case_at[1 + length] != '/')
        return false;
    *number = 0;
    *case_at = 0;
    *unit = case_at + 1 + length + 1;
    *value = number_or_zero(number + 1);
    return isdigit((unsigned char) *line) && *value > 0;
}

static Rung *rung_of(Ladder *ladder, const char *name)
{
    Rung *rung;

    for (int i = 0; i < ladder->count; i++)
        if (!strcmp(ladder->rungs[i].name, name))
            return &ladder->rungs[i];
    if (ladder->count == MOST_RUNGS)
        return NULL;
    rung = &ladder->rungs[ladder->count++];
    PUT(rung->name, "%s", name);
    return rung;
}

static void take_line(Ladder *ladder, char *line, const char *label)
{
    const char *unit;
    double value;
    Rung *rung = split(line, label, &unit, &value) ? rung_of(ladder, line) : NULL;

    if (rung && !strcmp(unit, "ratio"))
        rung->ratio = value;
    if (rung && !strcmp(unit, ladder->unit))
        rung->rate = value;
}

/* Finds the description of the device: "NVIDIA H200, 132 SMs" is an H200. Returns false if there is
 * no such file. */
static bool read_device(const char *about, Device *device)
{
    char build[PATH], folder[PATH + 20], key[40], why[900];
    const size_t length = strcspn(about, ",");
    size_t from = length;

    while (from && about[from - 1] != ' ')
        from--;
    PUT(key, "%.*s", (int) (length - from), about + from);
    for (char *c = key; *c; c++)
        *c = (char) tolower((unsigned char) *c);
    if (!find_build_folder(build, sizeof build) || strchr(key, '/'))
        return false;
    PUT(folder, "%s/devices", build);
    return device_read(folder, key, device, why, sizeof why);
}

/* Without a description of the device, the limit is unknown and the unit is GB/s. */
static void choose_unit(Ladder *ladder, const LabEntry *entry, const Case *c, const char *about)
{
    Device device;

    if (read_device(about, &device))
        ladder_choose_unit(ladder, entry->lab, c, device.fp32_tflops, device.memory_gbps);
}

static void take_head(const char *text, const char *key, char *value, size_t size)
{
    const char *at = strstr(text, key);

    put(value, size, "%.*s", at ? (int) strcspn(at + strlen(key), "\n") : 0,
        at ? at + strlen(key) : "");
}

bool measured_ladder(const Workbook *book, const LabEntry *entry, const Case *c, Ladder *ladder)
{
    char path[PATH + 100], line[LINE], about[80], date[20];
    size_t bytes;
    char *text;
    const char *at;

    PUT(path, "%s/docs/measured/%s.check.txt", book->root, entry->folder);
    if (!(text = read_file(path, MOST_BYTES, &bytes)))
        return false;
    take_head(text, "device: ", about, sizeof about);
    take_head(text, "date: ", date, sizeof date);
    *ladder = (Ladder){ .unit = "GB/s", .bar = c->bar };
    choose_unit(ladder, entry, c, about);
    PUT(ladder->where, "Measured: %s, %s, docs/measured/%s.check.txt.", about, date, entry->folder);
    for (at = text; next_line(&at, text + bytes, line, sizeof line);)
        take_line(ladder, line, c->label);
    if (ladder->count)
        ladder->rungs[ladder->count - 1].is_reference = true;
    free(text);
    return ladder->count > 0;
}
