/* workers.c - devices in and out of service, and the workers on them.
 *
 * A worker runs one warpbook at a time. Each GPU has one worker; the simulated GPU has as many as
 * requested, since each process has its own. For real GPUs more workers build in advance on all
 * processors, so that a GPU need not wait for a compiler.
 */
#include "gradebook/run/workers.h"
#include "gradebook/run/stubs.h"
#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_slots(Marking *m, Device *gpu, int count)
{
    while (count-- > 0 && m->worker_count < SLOTS) {
        Worker *worker = &m->workers[m->worker_count];
        *worker = (Worker){ .gpu = gpu };
        PUT(worker->folder, "%s/work/%d", m->cell->store, m->worker_count);
        m->worker_count++;
    }
}

static int jobs_of(const Marking *m)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (m->options->jobs)
        return m->options->jobs;
    return processors > 0 && processors < SLOTS ? (int) processors : SLOTS;
}

void gpu_take_out(Marking *m, Device *gpu, const char *why)
{
    gpu->out = true;
    device_release(gpu);
    progress_say(&m->pace, "Device %s is taken out of service: %s", gpu->label, why);
}

int gpus_in_service(const Marking *m)
{
    int count = 0;

    for (int i = 0; i < m->gpu_count; i++)
        count += !m->gpus[i].out;
    return count;
}

bool gpu_have_lock(Marking *m, Device *gpu)
{
    if (gpu->simulated || m->cell->trusting || device_lock(gpu))
        return true;
    if (errno == EWOULDBLOCK || errno == EINTR) {
        m->waiting++;
        if (!gpu->told)
            progress_say(&m->pace,
                         "Another grading is using device %s; waiting until it has finished.",
                         gpu->label);
        gpu->told = true;
    } else {
        gpu_take_out(m, gpu, "its lock file cannot be opened");
    }
    return false;
}

uint64_t lab_digest(Marking *m, int lab)
{
    if (!m->digest[lab])
        m->digest[lab] = sealed_digest(m->cell, all_labs[lab].folder);
    return m->digest[lab];
}

bool gpu_find_sealed(Marking *m, Device *gpu, int lab)
{
    char folder[1000];

    if (m->cell->trusting || gpu->prepared[lab])
        return gpu->prepared[lab];
    gpu->prepared[lab] = sealed_find(m->cell, gpu->uuid, all_labs[lab].folder, lab_digest(m, lab),
                                     folder, sizeof folder);
    if (gpu->prepared[lab])
        gpu->sealed[lab] = xstrdup(folder);
    return gpu->prepared[lab];
}

Device *gpu_to_build_for(Marking *m, int lab)
{
    for (int i = 0; i < m->gpu_count; i++) {
        Device *gpu = &m->gpus[i];
        if (!gpu->out && !gpu->simulated && gpu->proved && gpu_find_sealed(m, gpu, lab))
            return gpu;
    }
    return NULL;
}

/* True if it is the device that the course file names. */
static bool counts(Marking *m, Device *gpu, const ParsedResult *reading)
{
    const Course *course = &m->store->course;
    const char *name = parsed_get(reading, "device");
    char why[300];
    const char *simulated = strchr(gpu->label, ':') ? strchr(gpu->label, ':') + 1 : "teaching";

    if (course_device_counts(course, name, gpu->simulated ? simulated : NULL))
        return true;
    gpu_take_out(m, gpu,
                 PUT(why, "it is %s%s, but in this course only results on %s count (device = ...)",
                     name, gpu->simulated ? ", simulated" : "", course->device));
    return false;
}

/* Divides the machine's memory among simultaneous gradings. */
static void set_fence(Marking *m, int gradings)
{
    m->fence = limits_for(gradings);
    if (m->options->memory_bytes)
        m->fence.memory_bytes = m->options->memory_bytes;
}

void gpu_meet(Marking *m, Device *gpu, const ParsedResult *reading, const char *printed)
{
    bool again = gpu->uuid[0]; /* a repeated self-test */

    gpu->faults = 0;
    if (gpu->proved)
        return;
    gpu->proved = true;
    if (again)
        return;
    device_meet(gpu, reading, printed);
    if (!counts(m, gpu, reading))
        return;
    progress_say(&m->pace, "Grading on %s (%s).", parsed_get(reading, "device"), gpu->label);
    if (gpu->simulated) {
        add_slots(m, gpu, jobs_of(m) - 1);
        set_fence(m, jobs_of(m));
        return;
    }
    for (Device *other = m->gpus; other < gpu; other++)
        if (!other->out && !strcmp(other->uuid, gpu->uuid))
            gpu_take_out(m, gpu, "it is the same GPU as another one in --devices");
    if (!gpu->out)
        device_keep_up(gpu, m->cell->build);
    for (int i = 0; i < m->worker_count; i++)
        if (!m->workers[i].gpu)
            return;
    add_slots(m, NULL, jobs_of(m));
}

void cannot_write(const char *path)
{
    die("cannot write %s: %s. Make room, and give the same command again; results so far are kept",
        path, strerror(errno));
}

void slots_open(Marking *m)
{
    const MarkingOptions *o = m->options;

    for (int i = 0; i < o->device_count || i == 0; i++)
        device_open(&m->gpus[m->gpu_count++], o->device_count ? o->devices[i] : NULL);
    set_fence(m, m->gpu_count);
    for (int i = 0; i < m->gpu_count; i++)
        add_slots(m, &m->gpus[i], 1);
}

void slots_close(Marking *m)
{
    for (int i = 0; i < m->worker_count; i++)
        if (m->workers[i].doing != NOTHING)
            program_free(&m->workers[i].program);
    for (int i = 0; i < m->gpu_count; i++)
        device_close(&m->gpus[i]);
}
