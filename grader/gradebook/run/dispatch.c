/* dispatch.c - gives each free worker the next thing to do, and starts it.
 *
 * A device must first show that it can grade: the starter of the first lab is graded on it, which
 * also builds the references, seals them (gradebook/run/stubs.h) and identifies the GPU. This is
 * repeated once for each other lab.
 */
#include "gradebook/run/dispatch.h"
#include "gradebook/store/terms.h"
#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEEP_BYTES = 1 << 20,   /* of what a grading prints */
    FILE_BYTES = 512 << 20, /* of one file that it writes */
    GPU_WAIT_S = 24 * 3600, /* another grading may hold the GPU */
    AHEAD = 8,              /* builds running or waiting, per GPU */
};

/* ---- Starting ---- */

static bool start(Marking *m, Worker *worker, Doing doing, const Device *gpu, double limit_s)
{
    CellJob job = { .lab = all_labs[worker->lab].folder,
                    .kernel = worker->kernel,
                    .device = gpu->name,
                    .sealed = gpu->sealed[worker->lab],
                    .built = worker->built[0] ? worker->built : NULL,
                    .cc = doing == BUILDS ? gpu->cc : NULL,
                    .quick = m->options->quick,
                    .ours = doing == PREPARES,
                    .waits = !gpu->uuid[0] };
    char made[700];
    Words command = { 0 }, cell;
    char *terms = doing == GRADES ? terms_of(m->store, job.lab) : NULL; /* ours needs none */

    if (doing == PREPARES && !m->cell->trusting) {
        job.sealed = PUT(made, "%s/sealed", worker->folder);
        remove_tree(made);
        if (!make_folders(made))
            die("cannot write %s: %s", made, strerror(errno));
    }
    cgroup_begin(&m->cgroup, &m->fence, &command);
    sandbox_command(m->cell, &job, &cell);
    for (int i = 0; i < cell.count; i++)
        words_add(&command, cell.word[i]);
    if (program_start_with(&worker->program, terms, command.word, m->cgroup.environment.word,
                           m->cell->root, limit_s, KEEP_BYTES, FILE_BYTES))
        worker->doing = doing;
    words_free(&command);
    words_free(&cell);
    free(terms);
    return worker->doing != NOTHING;
}

/* Grades the lab's starter to test the device. */
static void start_preparing(Marking *m, Worker *worker, int lab)
{
    Device *gpu = worker->gpu;

    worker->task = NULL;
    worker->lab = lab;
    worker->built[0] = 0;
    PUT(worker->kernel, "%s/solutions/%s/0_starter.cu", m->cell->root, all_labs[lab].folder);
    gpu->preparing[lab] = true;
    gpu->proving |= !gpu->proved;
    if (!start(m, worker, PREPARES, gpu, gpu->simulated ? m->options->limit_s : GPU_WAIT_S))
        gpu_take_out(m, gpu, worker->program.trouble);
}

/* The sandbox shows the source as a file of its own. */
static void write_kernel(Marking *m, Worker *worker)
{
    sqlite3_stmt *row =
        store_ask(m->store, "SELECT source FROM kernels WHERE id = ?", "i", worker->task->kernel);

    PUT(worker->kernel, "%s/kernel.cu", worker->folder);
    while (store_row(m->store, row))
        if (!make_folders(worker->folder) ||
            !write_file(worker->kernel, sqlite3_column_blob(row, 0),
                        (size_t) sqlite3_column_bytes(row, 0)))
            cannot_write(worker->kernel);
}

/* A build is made in one sandbox and graded in another, so it is stored outside both. */
static void place_build(const Marking *m, Worker *worker, const Device *gpu)
{
    worker->built[0] = 0;
    if (gpu->simulated || m->cell->trusting)
        return;
    PUT(worker->built, "%s/work/built-%lld", m->cell->store, (long long) worker->task->kernel);
    if (!make_folders(worker->built))
        cannot_write(worker->built);
}

static void start_task(Marking *m, Worker *worker, Doing doing, Task *task, Device *gpu)
{
    /* An early build has already begun the attempt. */
    if (m->options->listed.count && !task->built && !attempt_begin(m->store, task, gpu->label)) {
        task->faults_left = 0;
        return;
    }
    worker->task = task;
    worker->lab = task->lab;
    task->running = true;
    place_build(m, worker, gpu);
    write_kernel(m, worker);
    if (!start(m, worker, doing, gpu, m->options->limit_s)) {
        task->running = false;
        gpu_take_out(m, gpu, worker->program.trouble);
    }
}

/* ---- What next? ---- */

/* Two gradings that move data through host memory disturb each other: on a host with four H200s
 * (2026-11-22) lab 05's reference compared with itself varied by 6 % while another GPU graded the
 * same lab. */
static bool host_is_taken(const Marking *m, int lab)
{
    for (int i = 0; all_labs[lab].lab->streams && i < m->worker_count; i++) {
        const Worker *worker = &m->workers[i];
        if ((worker->doing == GRADES || worker->doing == PREPARES) && !worker->gpu->simulated &&
            all_labs[worker->lab].lab->streams)
            return true;
    }
    return false;
}

/* The next task for this device. Tasks that the machine has failed come last, preferably on another
 * device. A real GPU takes built tasks first, then a lab that is not prepared there yet. */
static Task *next_task(Marking *m, Device *gpu)
{
    bool others = gpus_in_service(m) > 1;
    Task *best = NULL;
    int best_rank = 0;

    for (int i = 0; i < m->queue.count; i++) {
        Task *task = &m->queue.tasks[i];
        bool prepared = gpu->proved && gpu_find_sealed(m, gpu, task->lab);
        int rank = 1 + 2 * task->faults_left + task->built;
        if (!task_open(task) || task->running || (!prepared && gpu->preparing[task->lab]) ||
            (!gpu->simulated && host_is_taken(m, task->lab)) ||
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

/* Gives a device's worker its next work, if there is any. */
static void feed(Marking *m, Worker *worker)
{
    Device *gpu = worker->gpu;
    Task *task;

    if (gpu->out || (!gpu->proved && gpu->proving) || !(task = next_task(m, gpu)))
        return;
    if (gpu->uuid[0] && !gpu_have_lock(m, gpu))
        return;
    if (!gpu->proved || !gpu->prepared[task->lab])
        start_preparing(m, worker, task->lab);
    else
        start_task(m, worker, GRADES, task, gpu);
}

/* Builds the next task, unless enough builds wait for a GPU. */
static void feed_builder(Marking *m, Worker *worker)
{
    int ahead = 0;

    for (int i = 0; i < m->queue.count; i++)
        ahead += task_open(&m->queue.tasks[i]) && m->queue.tasks[i].built;
    for (int i = 0; i < m->worker_count; i++)
        ahead += m->workers[i].doing == BUILDS;
    for (int i = 0; i < m->queue.count && ahead < AHEAD * gpus_in_service(m); i++) {
        Task *task = &m->queue.tasks[i];
        Device *gpu;
        if (!task_open(task) || task->running || task->built ||
            !(gpu = gpu_to_build_for(m, task->lab)))
            continue;
        start_task(m, worker, BUILDS, task, gpu);
        return;
    }
}

void feed_workers(Marking *m)
{
    m->waiting = 0;
    for (int i = 0; i < m->worker_count; i++) {
        if (m->workers[i].doing != NOTHING)
            continue;
        if (m->workers[i].gpu)
            feed(m, &m->workers[i]);
        else
            feed_builder(m, &m->workers[i]);
    }
}
