/* workers.c - devices in and out of service, and the workers on them.
 *
 * A worker runs one warpbook at a time. Each GPU has one worker; the simulated GPU has as many as
 * requested, since each process simulates its own GPU. For real GPUs, more workers build in advance
 * on all processors, so that a GPU need not wait for a compiler.
 */
#include "gradebook/run/workers.h"
#include "gradebook/run/stubs.h"
#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_workers(Scheduler *s, Device *gpu, int count)
{
    while (count-- > 0 && s->worker_count < MOST_WORKERS) {
        Worker *worker = &s->workers[s->worker_count];
        *worker = (Worker){ .gpu = gpu };
        PUT(worker->folder, "%s/work/%d", s->sandbox->store, s->worker_count);
        s->worker_count++;
    }
}

static int jobs_of(const Scheduler *s)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (s->options->jobs)
        return s->options->jobs;
    return processors > 0 && processors < MOST_WORKERS ? (int) processors : MOST_WORKERS;
}

void gpu_retire(Scheduler *s, Device *gpu, const char *why)
{
    gpu->out = true;
    device_release(gpu);
    progress_say(&s->progress, "Device %s is taken out of service: %s", gpu->label, why);
}

int gpus_in_service(const Scheduler *s)
{
    int count = 0;

    for (int i = 0; i < s->gpu_count; i++)
        count += !s->gpus[i].out;
    return count;
}

bool gpu_lock(Scheduler *s, Device *gpu)
{
    if (gpu->simulated || s->sandbox->trusting || device_lock(gpu))
        return true;
    if (errno == EWOULDBLOCK || errno == EINTR) {
        s->waiting++;
        if (!gpu->reported)
            progress_say(&s->progress,
                         "Another grading is using device %s; waiting for it to finish.",
                         gpu->label);
        gpu->reported = true;
    } else {
        gpu_retire(s, gpu, "its lock file cannot be opened");
    }
    return false;
}

uint64_t lab_digest(Scheduler *s, int lab)
{
    if (!s->digest[lab])
        s->digest[lab] = stub_digest(s->sandbox, all_labs[lab].folder);
    return s->digest[lab];
}

bool gpu_find_stub(Scheduler *s, Device *gpu, int lab)
{
    char folder[1000];

    if (s->sandbox->trusting || gpu->prepared[lab])
        return gpu->prepared[lab];
    gpu->prepared[lab] = stub_find(s->sandbox, gpu->uuid, all_labs[lab].folder, lab_digest(s, lab),
                                   folder, sizeof folder);
    if (gpu->prepared[lab])
        gpu->sealed[lab] = xstrdup(folder);
    return gpu->prepared[lab];
}

Device *gpu_to_build_for(Scheduler *s, int lab)
{
    for (int i = 0; i < s->gpu_count; i++) {
        Device *gpu = &s->gpus[i];
        if (!gpu->out && !gpu->simulated && gpu->proved && gpu_find_stub(s, gpu, lab))
            return gpu;
    }
    return NULL;
}

/* True if results on this device count, by the course file. */
static bool counts(Scheduler *s, Device *gpu, const ParsedResult *result)
{
    const Course *course = &s->store->course;
    const char *name = parsed_get(result, "device");
    char why[300];
    const char *simulated = strchr(gpu->label, ':') ? strchr(gpu->label, ':') + 1 : "teaching";

    if (course_device_counts(course, name, gpu->simulated ? simulated : NULL))
        return true;
    gpu_retire(s, gpu,
               PUT(why, "it is %s%s, but in this course only results on %s count (device = ...)",
                   name, gpu->simulated ? ", simulated" : "", course->device));
    return false;
}

/* Divides the machine's memory among simultaneous gradings. */
static void set_limits(Scheduler *s, int gradings)
{
    s->limits = limits_for(gradings);
    if (s->options->memory_bytes)
        s->limits.memory_bytes = s->options->memory_bytes;
}

void gpu_proved(Scheduler *s, Device *gpu, const ParsedResult *result, const char *printed)
{
    bool again = gpu->uuid[0]; /* a repeated self-test */

    gpu->errors = 0;
    if (gpu->proved)
        return;
    gpu->proved = true;
    if (again)
        return;
    device_identify(gpu, result, printed);
    if (!counts(s, gpu, result))
        return;
    progress_say(&s->progress, "Grading on %s (%s).", parsed_get(result, "device"), gpu->label);
    if (gpu->simulated) {
        add_workers(s, gpu, jobs_of(s) - 1);
        set_limits(s, jobs_of(s));
        return;
    }
    for (Device *other = s->gpus; other < gpu; other++)
        if (!other->out && !strcmp(other->uuid, gpu->uuid))
            gpu_retire(s, gpu, "it is the same GPU as another device in --devices");
    if (!gpu->out)
        device_keep_awake(gpu, s->sandbox->build);
    for (int i = 0; i < s->worker_count; i++)
        if (!s->workers[i].gpu)
            return;
    add_workers(s, NULL, jobs_of(s));
}

/* Gradings on the simulated GPU share the processors, which each would use alone otherwise. */
static void share_processors(Scheduler *s)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN), share = processors / jobs_of(s);
    char text[40];

    words_add(&s->cgroup.environment, PUT(text, "SIM_THREADS=%ld", share > 1 ? share : 1));
}

void workers_open(Scheduler *s)
{
    const GradingOptions *o = s->options;

    for (int i = 0; i < o->device_count || i == 0; i++)
        device_open(&s->gpus[s->gpu_count++], o->device_count ? o->devices[i] : NULL);
    set_limits(s, s->gpu_count);
    share_processors(s);
    for (int i = 0; i < s->gpu_count; i++)
        add_workers(s, &s->gpus[i], 1);
}

void workers_close(Scheduler *s)
{
    for (int i = 0; i < s->worker_count; i++)
        if (s->workers[i].activity != IDLE)
            program_free(&s->workers[i].program);
    for (int i = 0; i < s->gpu_count; i++)
        device_close(&s->gpus[i]);
}
