/* dispatch.c - chooses and starts the next activity of each free worker.
 *
 * A device must first show that it can grade: the starter of the first lab is graded on it. This
 * also builds the references, seals them (gradebook/run/stubs.h) and identifies the GPU. It is
 * repeated once for each other lab.
 */
#include "gradebook/run/dispatch.h"
#include "gradebook/store/log.h"
#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEEP_BYTES = 1 << 20,   /* kept of a grading's output */
    FILE_BYTES = 512 << 20, /* limit of each file that a grading writes */
    GPU_WAIT_S = 24 * 3600, /* another grading may hold the GPU */
    AHEAD = 8,              /* builds per GPU that are running or waiting */
};

/* ---- Starting ---- */

static bool start(Scheduler *s, Worker *worker, Activity activity, const Device *gpu,
                  double limit_s)
{
    SandboxJob job = { .lab = all_labs[worker->lab].folder,
                       .kernel = worker->kernel,
                       .device = gpu->name,
                       .sealed = gpu->sealed[worker->lab],
                       .built = worker->built[0] ? worker->built : NULL,
                       .cc = activity == BUILDING ? gpu->cc : NULL,
                       .quick = s->options->quick,
                       .trusted = activity == TESTING,
                       .waits = !gpu->uuid[0] };
    char made[700];
    Words command = { 0 }, sandbox;
    char *terms = activity == GRADING ? course_terms(&s->store->course, &all_labs[worker->lab])
                                      : NULL; /* starters have none */
    int options;

    if (activity == TESTING && !s->sandbox->trusting) {
        job.sealed = PUT(made, "%s/sealed", worker->folder);
        remove_tree(made);
        if (!make_folders(made))
            die("cannot write %s: %s", made, strerror(errno));
    }
    cgroup_begin(&s->cgroup, &s->limits, &command);
    options = sandbox_command(s->sandbox, &job, &sandbox);
    for (int i = 0; i < sandbox.count; i++)
        words_add(&command, sandbox.word[i]);
    if (program_start_with(&worker->program, terms, command.word, s->cgroup.environment.word,
                           s->sandbox->root, limit_s, KEEP_BYTES, FILE_BYTES))
        worker->activity = activity;
    if (options >= 0)
        close(options);
    words_free(&command);
    words_free(&sandbox);
    free(terms);
    return worker->activity != IDLE;
}

/* Grades the lab's starter to test the device. */
static void start_preparing(Scheduler *s, Worker *worker, int lab)
{
    Device *gpu = worker->gpu;

    worker->task = NULL;
    worker->lab = lab;
    worker->built[0] = 0;
    PUT(worker->kernel, "%s/solutions/%s/0_starter.cu", s->sandbox->root, all_labs[lab].folder);
    gpu->preparing[lab] = true;
    gpu->proving |= !gpu->proved;
    if (!start(s, worker, TESTING, gpu, gpu->simulated ? s->options->limit_s : GPU_WAIT_S))
        gpu_retire(s, gpu, worker->program.trouble);
}

/* Writes the source to a separate file, which the sandbox shows. */
static void write_kernel(Scheduler *s, Worker *worker)
{
    sqlite3_stmt *row =
        store_ask(s->store, "SELECT source FROM kernels WHERE id = ?", "i", worker->task->kernel);

    PUT(worker->kernel, "%s/kernel.cu", worker->folder);
    while (store_row(s->store, row))
        if (!make_folders(worker->folder) ||
            !write_file(worker->kernel, sqlite3_column_blob(row, 0),
                        (size_t) sqlite3_column_bytes(row, 0)))
            cannot_write(worker->kernel);
}

/* A build is made in one sandbox and graded in another, so it is stored outside both. */
static void place_build(const Scheduler *s, Worker *worker, const Device *gpu)
{
    worker->built[0] = 0;
    if (gpu->simulated || s->sandbox->trusting)
        return;
    PUT(worker->built, "%s/work/built-%lld", s->sandbox->store, (long long) worker->task->kernel);
    if (!make_folders(worker->built))
        cannot_write(worker->built);
}

static void start_task(Scheduler *s, Worker *worker, Activity activity, Task *task, Device *gpu)
{
    /* An early build has already begun the attempt. */
    if (s->options->listed.count && !task->built && !attempt_begin(s->store, task, gpu->label)) {
        task->errors_left = 0;
        return;
    }
    worker->task = task;
    worker->lab = task->lab;
    task->running = true;
    place_build(s, worker, gpu);
    write_kernel(s, worker);
    if (!start(s, worker, activity, gpu, s->options->limit_s)) {
        task->running = false;
        gpu_retire(s, gpu, worker->program.trouble);
    }
}

/* ---- Choosing the next activity ---- */

/* Two gradings that move data through host memory disturb each other: on a host with four H200s
 * (2026-11-22) lab 05's reference compared with itself varied by 6 % while another GPU graded the
 * same lab. */
static bool host_is_taken(const Scheduler *s, int lab)
{
    for (int i = 0; all_labs[lab].lab->streams && i < s->worker_count; i++) {
        const Worker *worker = &s->workers[i];
        if ((worker->activity == GRADING || worker->activity == TESTING) &&
            !worker->gpu->simulated && all_labs[worker->lab].lab->streams)
            return true;
    }
    return false;
}

/* The next task for this device. Tasks with machine errors come last, preferably on another device.
 * A real GPU takes built tasks first, then a lab that is not prepared there yet. */
static Task *next_task(Scheduler *s, Device *gpu)
{
    bool others = gpus_in_service(s) > 1;
    Task *best = NULL;
    int best_rank = 0;

    for (int i = 0; i < s->queue.count; i++) {
        Task *task = &s->queue.tasks[i];
        bool prepared = gpu->proved && gpu_find_stub(s, gpu, task->lab);
        int rank = 1 + 2 * task->errors_left + task->built;
        if (!task_open(task) || task->running || (!prepared && gpu->preparing[task->lab]) ||
            (!gpu->simulated && host_is_taken(s, task->lab)) ||
            (others && task->failed_on[0] && !strcmp(task->failed_on, gpu->label)) ||
            (prepared && !gpu->simulated && !task->built))
            continue;
        if (rank > best_rank) {
            best = task;
            best_rank = rank;
        }
    }
    return best;
}

/* Starts the next activity of a device's worker, if there is any. */
static void feed(Scheduler *s, Worker *worker)
{
    Device *gpu = worker->gpu;
    Task *task;

    if (gpu->out || (!gpu->proved && gpu->proving) || !(task = next_task(s, gpu)))
        return;
    if (gpu->uuid[0] && !gpu_lock(s, gpu))
        return;
    if (!gpu->proved || !gpu->prepared[task->lab])
        start_preparing(s, worker, task->lab);
    else
        start_task(s, worker, GRADING, task, gpu);
}

/* Builds the next task, unless enough builds wait for a GPU. */
static void dispatch_build(Scheduler *s, Worker *worker)
{
    int ahead = 0;

    for (int i = 0; i < s->queue.count; i++)
        ahead += task_open(&s->queue.tasks[i]) && s->queue.tasks[i].built;
    for (int i = 0; i < s->worker_count; i++)
        ahead += s->workers[i].activity == BUILDING;
    for (int i = 0; i < s->queue.count && ahead < AHEAD * gpus_in_service(s); i++) {
        Task *task = &s->queue.tasks[i];
        Device *gpu;
        if (!task_open(task) || task->running || task->built ||
            !(gpu = gpu_to_build_for(s, task->lab)))
            continue;
        start_task(s, worker, BUILDING, task, gpu);
        return;
    }
}

void dispatch_work(Scheduler *s)
{
    s->waiting = 0;
    for (int i = 0; i < s->worker_count; i++) {
        if (s->workers[i].activity != IDLE)
            continue;
        if (s->workers[i].gpu)
            feed(s, &s->workers[i]);
        else
            dispatch_build(s, &s->workers[i]);
    }
}
