/* devices.c - the devices that grade: identity, locks and health. */
#include "gradebook/run/devices.h"
#include "base/number.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { SLOW_ROW = 3 };

static const double noisy = 0.05; /* the same as in warpbook (judge/timing_gpu.c) */
static const double drift = 0.10; /* verdicts are ratios, so a smaller drift does not matter */

void device_open(Device *gpu, const char *name)
{
    *gpu = (Device){ .name = name, .lock_fd = -1, .head = xcalloc(1, 1) };
    PUT(gpu->label, "%s", name ? name : "this machine");
    gpu->simulated = name && !strncmp(name, "sim", 3);
}

void device_close(Device *gpu)
{
    device_release(gpu);
    if (gpu->lock_fd >= 0)
        close(gpu->lock_fd);
    for (int lab = 0; lab < LABS; lab++)
        free(gpu->sealed[lab]);
    free(gpu->head);
    gpu->head = NULL;
}

void device_identify(Device *gpu, const ParsedResult *result, const char *printed)
{
    const char *lab = strstr(printed, "\nlab:");
    size_t length = lab ? (size_t) (lab + 1 - printed) : 0;

    PUT(gpu->uuid, "%s", parsed_get(result, "uuid"));
    PUT(gpu->cc, "%s", parsed_get(result, "compute_capability"));
    gpu->simulated = *parsed_get(result, "simulated") != 0;
    free(gpu->head);
    gpu->head = xcalloc(1, length + 1);
    memcpy(gpu->head, printed, length);
    if (!gpu->name) /* from now on, always use the device that warpbook chose */
        gpu->name = gpu->simulated ? "sim" : "0";
}

void device_keep_awake(Device *gpu, const char *build)
{
    const char *named = getenv("WARPBOOK_RUNNER");
    char runner[600];
    char *const argv[] = { runner, "--device", (char *) gpu->name, NULL };
    char answer[CHILD_LINE];

    PUT(runner, "%s%s", named ? named : build, named ? "" : "/runner");
    if (child_start(&gpu->keeper, argv, 1))
        child_ask(&gpu->keeper, 60, answer, "hello");
}

void device_release(Device *gpu)
{
    child_end(&gpu->keeper);
}

bool device_lock(Device *gpu)
{
    char path[600];

    if (gpu->lock_fd < 0)
        gpu->lock_fd = open_gpu_lock(gpu->uuid, path, sizeof path);
    return gpu->lock_fd >= 0 && !flock(gpu->lock_fd, LOCK_EX | LOCK_NB);
}

/* A figure of a case, numbered from 1; "" if absent. */
static const char *figure(const ParsedResult *result, int number, const char *name)
{
    char key[40];

    return parsed_get(result, PUT(key, "case.%d.%s", number, name));
}

bool device_noisy(const ParsedResult *result, char *why, size_t size)
{
    for (int i = 1; i <= GPU_CASES; i++) {
        double resolution = number_or_zero(figure(result, i, "resolution"));
        if (resolution > noisy) {
            put(why, size, "case %s: the reference compared with itself varies by %.0f %%",
                figure(result, i, "label"), resolution * 100);
            return true;
        }
    }
    return false;
}

bool device_disturbed(const ParsedResult *result, char *why, size_t size)
{
    if (!strstr(parsed_get(result, "flag"), "disturbed"))
        return false;
    put(why, size, "nearly every sample was disturbed");
    return true;
}

bool device_drifts(Device *gpu, int lab, const ParsedResult *result, char *why, size_t size)
{
    double worst = 0, first_ms = 0, now_ms = 0;
    int measured = 0, worst_case = 0;

    for (int i = 1; i <= GPU_CASES; i++) {
        FirstTime *first_time = &gpu->first_time[lab][i - 1];
        const char *dim = figure(result, i, "dim");
        double ms = number_or_zero(figure(result, i, "reference_ms"));
        if (ms <= 0)
            continue;
        if (first_time->reference_ms <= 0 || strcmp(dim, first_time->dim)) {
            PUT(first_time->dim, "%s", dim);
            first_time->reference_ms = ms;
        }
        measured++;
        if (ms / first_time->reference_ms > worst) {
            worst = ms / first_time->reference_ms;
            first_ms = first_time->reference_ms;
            now_ms = ms;
            worst_case = i;
        }
    }
    if (!measured)
        return false;
    gpu->slow_row = worst > 1 + drift ? gpu->slow_row + 1 : 0;
    if (gpu->slow_row < SLOW_ROW)
        return false;
    put(why, size,
        "the reference became slower: %.3f ms instead of %.3f ms in case %s of %s; the GPU is "
        "hot, or another program uses it",
        now_ms, first_ms, figure(result, worst_case, "label"), all_labs[lab].folder);
    return true;
}
