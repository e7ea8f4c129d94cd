/* rt_settings.c - what the environment asks for, read once. A value that means nothing is said on
 * stderr, and the default is used: the program itself is not to fail for that.
 *
 *     SIM_DEVICE=KEY|PATH                    the described device; teaching
 *     SIM_REPORT=FILE                        counters and findings as JSON lines
 *     SIM_TABLE=1                            the table of kernels at the end, on stderr
 *     SIM_SCHED=forward|reverse|random:SEED  order of blocks and warps
 *     SIM_BUDGET=N                           warp instructions a launch may execute; 0: any number
 *     SIM_CHECKS=races,uninit|none           what is checked beside bounds; both
 *     SIM_QUIET=1                            findings are not told on stderr
 *     SIM_PTX=FILE                           this PTX text instead of that in the program
 */
#include "rt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* About five minutes. */
#define DEFAULT_BUDGET 20000000000ull

static bool read_number(const char *text, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    return !errno && *text >= '0' && *text <= '9' && !*end;
}

static bool copy_text(char *to, size_t size, const char *text)
{
    size_t length = strlen(text);

    if (!length || length >= size)
        return false;
    memcpy(to, text, length + 1);
    return true;
}

/* ---- One function a variable: false if the value is none ---- */

static bool set_device(Settings *settings, const char *text)
{
    return copy_text(settings->device, sizeof settings->device, text);
}

static bool set_report(Settings *settings, const char *text)
{
    return copy_text(settings->report, sizeof settings->report, text);
}

static bool set_ptx(Settings *settings, const char *text)
{
    return copy_text(settings->ptx, sizeof settings->ptx, text);
}

static bool set_schedule(Settings *settings, const char *text)
{
    static const char random[] = "random:";

    if (!strcmp(text, "forward"))
        settings->schedule = SCHEDULE_FORWARD;
    else if (!strcmp(text, "reverse"))
        settings->schedule = SCHEDULE_REVERSE;
    else if (!strncmp(text, random, strlen(random)) &&
             read_number(text + strlen(random), &settings->schedule_seed))
        settings->schedule = SCHEDULE_RANDOM;
    else
        return false;
    return true;
}

static bool set_budget(Settings *settings, const char *text)
{
    return read_number(text, &settings->budget);
}

static bool set_checks(Settings *settings, const char *text)
{
    bool races = false, uninitialised = false;

    if (!*text)
        return false;
    for (size_t length; *text; text += length + (text[length] == ',')) {
        length = strcspn(text, ",");
        if (length == 5 && !strncmp(text, "races", length))
            races = true;
        else if (length == 6 && !strncmp(text, "uninit", length))
            uninitialised = true;
        else if (length != 4 || strncmp(text, "none", length))
            return false;
    }
    settings->races = races;
    settings->uninitialised = uninitialised;
    return true;
}

static bool set_switch(bool *on, const char *text)
{
    *on = !strcmp(text, "1");
    return *on || !strcmp(text, "0") || !*text;
}

static bool set_quiet(Settings *settings, const char *text)
{
    return set_switch(&settings->quiet, text);
}

static bool set_table(Settings *settings, const char *text)
{
    return set_switch(&settings->table, text);
}

/* ---- All of them ---- */

static const struct Setting {
    const char *name;
    bool (*set)(Settings *settings, const char *text);
    const char *form, *otherwise;
} all[] = {
    { "SIM_DEVICE", set_device, "the name of a device", "the teaching GPU is simulated" },
    { "SIM_REPORT", set_report, "the name of a file", "no report is written" },
    { "SIM_PTX", set_ptx, "the name of a file", "the program's own PTX is run" },
    { "SIM_SCHED", set_schedule, "forward, reverse or random:SEED", "forward is used" },
    { "SIM_BUDGET", set_budget, "a number of warp instructions", "the default is used" },
    { "SIM_CHECKS", set_checks, "races, uninit, races,uninit or none", "both are checked" },
    { "SIM_QUIET", set_quiet, "0 or 1", "findings are told" },
    { "SIM_TABLE", set_table, "0 or 1", "there is no table" },
};

void settings_read(Settings *settings)
{
    *settings = (Settings){
        .device = "teaching", .budget = DEFAULT_BUDGET, .races = true, .uninitialised = true
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *text = getenv(all[i].name);
        if (text && !all[i].set(settings, text))
            rt_say("%s=%.100s: this is to be %s; %s", all[i].name, text, all[i].form,
                   all[i].otherwise);
    }
}
