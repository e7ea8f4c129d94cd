/* settings.c - the settings from the environment, read once. An invalid value is reported on
 * stderr, and the default is used: the program itself does not fail.
 *
 *     SIM_DEVICE=KEY|PATH                    the described device; teaching
 *     SIM_DEVICES=FOLDER                     where descriptions are
 *     SIM_WHOLE=1                            all SMs of a large device, not only a slice
 *     SIM_REPORT=FILE                        counters and findings as JSON lines
 *     SIM_FORMAT=text|gcc|github             how findings are printed on stderr
 *     SIM_SARIF=FILE                         findings as SARIF 2.1.0
 *     SIM_TRACE=FILE                         when work ran and why warps waited, for Perfetto
 *     SIM_TABLE=1                            the table of kernels at the end, on stderr
 *     SIM_SCHED=forward|reverse|random:SEED  order of blocks and warps
 *     SIM_BUDGET=N                           maximum warp instructions per launch; 0: no limit
 *     SIM_CHECKS=all|none|LIST               checks in addition to bounds: races, uninitialised,
 *                                            leaks; default all
 *     SIM_THREADS=N                          threads that model the time of a long launch; default:
 *                                            one per processor, at most 8; results and reports must
 *                                            not change
 *     SIM_QUIET=1                            findings are not printed on stderr
 *     SIM_PROGRESS=1                         occasional lines while a long kernel runs
 *     SIM_PTX=FILE                           this PTX text instead of the program's own
 *     SIM_PTXAS=FILE                         the toolkit's ptxas, for programs without machine code
 *                                            for the device; default: none is run
 *     SIM_PTXAS_CACHE=FOLDER                 where its results are kept; default: nowhere
 *     SIM_FOUND=FILE                         a byte is written to it if there are findings
 *     SIM_AVX2=0                             no vector instructions beyond SSE2, for tests: results
 *                                            and reports must not change
 *
 * `warpbook sim` sets them from its options, by the same words (grader/sim/tool.c).
 */
#include "sim/runtime/runtime.h"
#include "sim/time/timeline.h"
#include "sim/exec/ops/handlers.h" /* simd_level */

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SIM_DEVICES
#define SIM_DEVICES "grader/sim/devices"
#endif

enum { MOST_THREADS = 64, MOST_QUEUES = 32, USUAL_QUEUES = 8 };

/* About five minutes. */
#define DEFAULT_BUDGET 20000000000ull

static bool read_number(const char *text, uint64_t *number)
{
    char *end;
    uint64_t value;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno || *text < '0' || *text > '9' || *end)
        return false;
    *number = value;
    return true;
}

static bool copy_text(char *to, size_t size, const char *text)
{
    size_t length = strlen(text);

    if (!length || length >= size)
        return false;
    memcpy(to, text, length + 1);
    return true;
}

/* ---- One function per variable; false: invalid value ---- */

static bool set_device(Settings *settings, const char *text)
{
    return copy_text(settings->device, sizeof settings->device, text);
}

static bool set_devices(Settings *settings, const char *text)
{
    return copy_text(settings->devices, sizeof settings->devices, text);
}

static bool set_found(Settings *settings, const char *text)
{
    return copy_text(settings->found, sizeof settings->found, text);
}

static bool set_report(Settings *settings, const char *text)
{
    return copy_text(settings->report, sizeof settings->report, text);
}

static bool set_sarif(Settings *settings, const char *text)
{
    return copy_text(settings->sarif, sizeof settings->sarif, text);
}

static bool set_format(Settings *settings, const char *text)
{
    settings->write = !strcmp(text, "gcc")      ? annotation_gcc
                      : !strcmp(text, "github") ? annotation_github
                                                : NULL;
    return settings->write || !strcmp(text, "text");
}

static bool set_trace(Settings *settings, const char *text)
{
    return copy_text(settings->trace, sizeof settings->trace, text);
}

static bool set_ptx(Settings *settings, const char *text)
{
    return copy_text(settings->ptx, sizeof settings->ptx, text);
}

static bool set_ptxas(Settings *settings, const char *text)
{
    return !*text || copy_text(settings->ptxas, sizeof settings->ptxas, text);
}

static bool set_ptxas_cache(Settings *settings, const char *text)
{
    return !*text || copy_text(settings->ptxas_cache, sizeof settings->ptxas_cache, text);
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

/* Enables the check that one word of the list names. */
static bool add_check(Settings *settings, const char *word, size_t length)
{
    const struct {
        const char *word;
        bool *check;
    } checks[] = {
        { "races", &settings->races },
        { "uninitialised", &settings->uninitialised },
        { "uninit", &settings->uninitialised },
        { "leaks", &settings->leaks },
    };

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (strlen(checks[i].word) == length && !strncmp(checks[i].word, word, length))
            return *checks[i].check = true;
    return false;
}

static bool set_checks(Settings *settings, const char *text)
{
    Settings set = *settings;
    const bool all = !strcmp(text, "all");

    set.races = set.uninitialised = set.leaks = all;
    if (!all && strcmp(text, "none"))
        for (const char *at = text;; at++) {
            size_t length = strcspn(at, ",");
            if (!add_check(&set, at, length))
                return false;
            at += length;
            if (!*at)
                break;
        }
    *settings = set;
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

static bool set_progress(Settings *settings, const char *text)
{
    return set_switch(&settings->progress, text);
}

static bool set_table(Settings *settings, const char *text)
{
    return set_switch(&settings->table, text);
}

static bool set_whole(Settings *settings, const char *text)
{
    return set_switch(&settings->whole, text);
}

static bool set_time(Settings *settings, const char *text)
{
    settings->time_all = !strcmp(text, "all");
    settings->time = settings->time_all;
    return settings->time_all || set_switch(&settings->time, text);
}

/* From 1 to `most`. */
static bool set_count(int *count, const char *text, int most)
{
    uint64_t number;

    if (!read_number(text, &number) || !number || number > (uint64_t) most)
        return false;
    *count = (int) number;
    return true;
}

static bool set_threads(Settings *settings, const char *text)
{
    return set_count(&settings->threads, text, MOST_THREADS);
}

static bool set_queues(Settings *settings, const char *text)
{
    return set_count(&settings->queues, text, MOST_QUEUES);
}

/* The processors that this process may use. */
static int usual_threads(void)
{
    enum { MOST = 8 };
    cpu_set_t set;
    const int count = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);

    return count < MOST ? count : MOST;
}

static bool set_avx2(Settings *settings, const char *text)
{
    bool on;
    const bool well = set_switch(&on, text);

    (void) settings;
    if (well && !on)
        simd_level = 0;
    return well;
}

/* ---- All settings ---- */

static const struct Setting {
    const char *name;
    bool (*set)(Settings *settings, const char *text);
    const char *form, *otherwise;
} all[] = {
    { "SIM_DEVICE", set_device, "the name of a device", "the teaching GPU is simulated" },
    { "SIM_DEVICES", set_devices, "the name of a folder", "the library's own folder is used" },
    { "SIM_REPORT", set_report, "the name of a file", "no report is written" },
    { "SIM_FORMAT", set_format, "text, gcc or github", "findings are printed as text" },
    { "SIM_SARIF", set_sarif, "the name of a file", "no SARIF is written" },
    { "SIM_TRACE", set_trace, "the name of a file", "no trace is written" },
    { "SIM_PTX", set_ptx, "the name of a file", "the program's own PTX is run" },
    { "SIM_PTXAS", set_ptxas, "the name of a file", "machine instructions are estimated" },
    { "SIM_PTXAS_CACHE", set_ptxas_cache, "the name of a folder", "nothing is kept" },
    { "SIM_SCHED", set_schedule, "forward, reverse or random:SEED", "forward is used" },
    { "SIM_BUDGET", set_budget, "a number of warp instructions", "the default is used" },
    { "SIM_CHECKS", set_checks, "all, none, or some of races,uninitialised,leaks",
      "all are checked" },
    { "SIM_QUIET", set_quiet, "0 or 1", "findings are reported" },
    { "SIM_TABLE", set_table, "0 or 1", "no table is printed" },
    { "SIM_TIME", set_time, "0, 1 or all", "time is not modelled" },
    { "SIM_THREADS", set_threads, "a number from 1 to 64", "as many as processors are used" },
    { "SIM_WHOLE", set_whole, "0 or 1", "a large device is simulated as a slice" },
    { "SIM_PROGRESS", set_progress, "0 or 1", "progress is shown on terminals only" },
    { "SIM_FOUND", set_found, "the name of a file", "no file is written" },
    { "CUDA_DEVICE_MAX_CONNECTIONS", set_queues, "a number from 1 to 32", "8 queues are used" },
    { "SIM_AVX2", set_avx2, "0 or 1", "AVX2 is used if the processor has it" },
};

void settings_read(Settings *settings)
{
    *settings = (Settings){
        .device = "teaching",
        .budget = DEFAULT_BUDGET,
        .races = true,
        .uninitialised = true,
        .leaks = true,
        .threads = usual_threads(),
        .queues = USUAL_QUEUES,
        .progress = isatty(2),
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *text = getenv(all[i].name);
        if (text && !all[i].set(settings, text))
            rt_say("%s=%.100s: it must be %s; %s", all[i].name, text, all[i].form,
                   all[i].otherwise);
    }
    if (*settings->trace) /* it consists of modelled times */
        settings->time = true;
}

/* ---- The folder of the descriptions ---- */

/* A build folder can be moved, or packed with the program. So it looks next to the library or one
 * folder up (sim/libcudart.so.13), and then where the library was built. */
void settings_devices(const Settings *settings, char *folder, size_t size)
{
    static const char here;
    static const char *const beside[] = { "devices", "../devices" };
    Dl_info about;
    const char *slash;

    snprintf(folder, size, "%s", settings->devices);
    if (*folder)
        return;
    slash = dladdr(&here, &about) && about.dli_fname ? strrchr(about.dli_fname, '/') : NULL;
    for (size_t i = 0; slash && i < sizeof beside / sizeof *beside; i++) {
        snprintf(folder, size, "%.*s/%s", (int) (slash - about.dli_fname), about.dli_fname,
                 beside[i]);
        if (!access(folder, F_OK))
            return;
    }
    snprintf(folder, size, "%s", SIM_DEVICES);
}
