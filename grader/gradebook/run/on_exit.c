/* on_exit.c - handles the result of a finished warpbook.
 *
 * After three machine errors in a row, a device must show again that it can grade, or it is taken
 * out of service. A device whose speed drifts is taken out, too (gradebook/run/devices.h).
 */
#include "gradebook/run/on_exit.h"
#include "gradebook/run/stubs.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROW_OF_FAULTS = 3 };

static void end_preparing(Marking *m, Worker *worker, const Ended *ended)
{
    Device *gpu = worker->gpu;
    const char *lab = all_labs[worker->lab].folder;
    char why[1200], noise[300], made[700];

    gpu->preparing[worker->lab] = gpu->proving = false;
    if (!ended_graded(ended)) {
        gpu->proved = false;
        gpu_take_out(m, gpu,
                     PUT(why, "it cannot grade the workbook's starter of %s: %s", lab, ended->why));
        return;
    }
    if (device_noisy(&ended->reading, noise, sizeof noise)) {
        gpu->proved = false;
        gpu_take_out(m, gpu, PUT(why, "its measurements are too noisy: %s, %s", lab, noise));
        return;
    }
    gpu_meet(m, gpu, &ended->reading, worker->program.out.text);
    device_drifts(gpu, worker->lab, &ended->reading, why, sizeof why);
    if (m->cell->trusting)
        gpu->prepared[worker->lab] = true;
    else if (!sealed_keep(m->cell, gpu->uuid, lab, lab_digest(m, worker->lab),
                          PUT(made, "%s/sealed", worker->folder)))
        cannot_write(made);
}

static void keep(Marking *m, Worker *worker, const Device *gpu, const Ended *ended)
{
    const Watch *watch = m->options->watch;

    take_over(m->store, worker->task, gpu->label, &worker->program, ended);
    if (watch)
        watch->ended(watch->context, worker->task, gpu->label, &worker->program, ended);
}

/* A kernel that does not build needs no GPU: the build's result is its verdict. */
static void take_build(Marking *m, Worker *worker)
{
    Task *task = worker->task;
    const Device *gpu = gpu_to_build_for(m, task->lab);
    Program *program = &worker->program;
    size_t head = gpu ? strlen(gpu->head) : 0;
    char *whole;
    Ended ended;

    task->running = false;
    task->built = true; /* if the build failed, the grading reports why */
    if (!gpu || !program->out.used || program->status || program->late)
        return;
    whole = xcalloc(1, head + program->out.used + 1);
    memcpy(whole, gpu->head, head);
    memcpy(whole + head, program->out.text, program->out.used);
    free(program->out.text);
    program->out.text = whole;
    ended_of(program, all_labs[task->lab].folder, &ended);
    if (ended_graded(&ended) && !strcmp(parsed_get(&ended.reading, "verdict"), "build")) {
        keep(m, worker, gpu, &ended);
        task->number++;
        task->graded = true;
        progress_count(&m->pace, task->lab, now_s() - program->began_s);
        remove_tree(worker->built);
    }
    ended_free(&ended);
}

/* A submission in the runner's process could forge its result. */
static bool shares_a_process(const Marking *m, Ended *ended)
{
    if (m->cell->trusting || strcmp(parsed_get(&ended->reading, "isolation"), "shared"))
        return false;
    PUT(ended->why,
        "on this machine a submission runs in the same process as the grader's runner, because GPU "
        "memory cannot be shared between processes; grade on another machine, or, if you trust "
        "every submission, use --trust-submissions");
    return true;
}

static void end_grading(Marking *m, Worker *worker, Ended *ended)
{
    Device *gpu = worker->gpu;
    Task *task = worker->task;
    char why[1000];

    if (ended_graded(ended) && (device_noisy(&ended->reading, ended->why, sizeof ended->why) ||
                                (task->faults_left > 1 &&
                                 device_disturbed(&ended->reading, ended->why, sizeof ended->why))))
        ended->outcome = "noisy";
    else if (ended_graded(ended) && shares_a_process(m, ended))
        ended->outcome = "unsound";
    keep(m, worker, gpu, ended);
    task->running = false;
    task->number++;
    if (ended_graded(ended)) {
        task->graded = true;
        gpu->faults = 0;
        progress_count(&m->pace, task->lab, now_s() - worker->program.began_s);
        if (device_drifts(gpu, task->lab, &ended->reading, why, sizeof why))
            gpu_take_out(m, gpu, why);
    } else {
        task->faults_left--;
        PUT(task->failed_on, "%s", gpu->label);
        progress_fault(&m->pace, !task_open(task));
        if (++gpu->faults >= ROW_OF_FAULTS)
            gpu->proved = false;
    }
    if (worker->built[0] && !task_open(task))
        remove_tree(worker->built);
}

void end_slot(Marking *m, Worker *worker)
{
    Ended ended;

    if (worker->doing == BUILDS) {
        take_build(m, worker);
    } else {
        ended_of(&worker->program, all_labs[worker->lab].folder, &ended);
        if (worker->doing == GRADES)
            end_grading(m, worker, &ended);
        else
            end_preparing(m, worker, &ended);
        ended_free(&ended);
    }
    if (worker->task)
        unlink(worker->kernel);
    program_free(&worker->program);
    worker->doing = NOTHING;
}
