/* on_exit.c - handles the result of a finished warpbook.
 *
 * After three machine errors in a row, a device must show again that it can grade, or it is taken
 * out of service. A device whose speed drifts is taken out, too (gradebook/run/devices.h).
 */
#include "gradebook/run/on_exit.h"
#include "gradebook/run/stubs.h"
#include "gradebook/base/stop.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROW_OF_FAULTS = 3 };
static const double signal_s = 0.3; /* until a signal to all processes has reached us */

static void end_preparing(Marking *m, Worker *worker, const Attempt *attempt)
{
    Device *gpu = worker->gpu;
    const char *lab = all_labs[worker->lab].folder;
    char why[1200], noise[300], made[700];

    gpu->preparing[worker->lab] = gpu->proving = false;
    if (!attempt_graded(attempt)) {
        gpu->proved = false;
        gpu_take_out(
            m, gpu,
            PUT(why, "it cannot grade the workbook's starter of %s: %s", lab, attempt->why));
        return;
    }
    if (device_noisy(&attempt->result, noise, sizeof noise)) {
        gpu->proved = false;
        gpu_take_out(m, gpu, PUT(why, "its measurements are too noisy: %s, %s", lab, noise));
        return;
    }
    gpu_meet(m, gpu, &attempt->result, worker->program.out.text);
    device_drifts(gpu, worker->lab, &attempt->result, why, sizeof why);
    if (m->cell->trusting)
        gpu->prepared[worker->lab] = true;
    else if (!sealed_keep(m->cell, gpu->uuid, lab, lab_digest(m, worker->lab),
                          PUT(made, "%s/sealed", worker->folder)))
        cannot_write(made);
}

/* Cancelling a Slurm task signals all its processes. We may see the grading die before our own
 * signal arrives; that is not the kernel's fault. */
static bool was_cancelled(const Marking *m, const Attempt *attempt)
{
    if (!m->options->listed.count ||
        (attempt_graded(attempt) && strcmp(parsed_get(&attempt->result, "verdict"), "crash")))
        return false;
    sleep_s(signal_s);
    return stop_asked();
}

static void record(Marking *m, Worker *worker, const Attempt *attempt)
{
    if (!was_cancelled(m, attempt))
        attempt_record(m->store, worker->task, attempt);
}

/* A kernel that does not build needs no GPU: the build's result is its verdict. */
static void take_build(Marking *m, Worker *worker)
{
    Task *task = worker->task;
    const Device *gpu = gpu_to_build_for(m, task->lab);
    Program *program = &worker->program;
    size_t head = gpu ? strlen(gpu->head) : 0;
    char *whole;
    Attempt attempt;

    task->running = false;
    task->built = true; /* if the build failed, the grading reports why */
    if (!gpu || !program->out.used || program->status || program->late)
        return;
    whole = xcalloc(1, head + program->out.used + 1);
    memcpy(whole, gpu->head, head);
    memcpy(whole + head, program->out.text, program->out.used);
    free(program->out.text);
    program->out.text = whole;
    attempt_of(program, all_labs[task->lab].folder, gpu->label, &attempt);
    if (attempt_graded(&attempt) && !strcmp(parsed_get(&attempt.result, "verdict"), "build")) {
        record(m, worker, &attempt);
        task->number++;
        task->graded = true;
        progress_count(&m->pace, task->lab, now_s() - program->began_s);
        remove_tree(worker->built);
    }
    attempt_free(&attempt);
}

/* A submission in the runner's process could forge its result. */
static bool shares_a_process(const Marking *m, Attempt *attempt)
{
    if (m->cell->trusting || strcmp(parsed_get(&attempt->result, "isolation"), "shared"))
        return false;
    PUT(attempt->why,
        "on this machine a submission runs in the same process as the grader's runner, because GPU "
        "memory cannot be shared between processes; grade on another machine, or, if you trust "
        "every submission, use --trust-submissions");
    return true;
}

static void end_grading(Marking *m, Worker *worker, Attempt *attempt)
{
    Device *gpu = worker->gpu;
    Task *task = worker->task;
    char why[1000];

    if (attempt_graded(attempt) &&
        (device_noisy(&attempt->result, attempt->why, sizeof attempt->why) ||
         (task->faults_left > 1 &&
          device_disturbed(&attempt->result, attempt->why, sizeof attempt->why))))
        attempt->outcome = "noisy";
    else if (attempt_graded(attempt) && shares_a_process(m, attempt))
        attempt->outcome = "unsound";
    record(m, worker, attempt);
    task->running = false;
    task->number++;
    if (attempt_graded(attempt)) {
        task->graded = true;
        gpu->faults = 0;
        progress_count(&m->pace, task->lab, now_s() - worker->program.began_s);
        if (device_drifts(gpu, task->lab, &attempt->result, why, sizeof why))
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
    Attempt attempt;

    if (worker->doing == BUILDS) {
        take_build(m, worker);
    } else {
        attempt_of(&worker->program, all_labs[worker->lab].folder, worker->gpu->label, &attempt);
        if (worker->doing == GRADES)
            end_grading(m, worker, &attempt);
        else
            end_preparing(m, worker, &attempt);
        attempt_free(&attempt);
    }
    if (worker->task)
        unlink(worker->kernel);
    program_free(&worker->program);
    worker->doing = NOTHING;
}
