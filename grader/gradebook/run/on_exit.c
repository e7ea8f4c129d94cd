/* on_exit.c - handles the result of a finished warpbook.
 *
 * After three machine errors in a row, a device must grade a starter again, or it is taken out of
 * service. A device whose speed drifts is taken out, too (gradebook/run/devices.h).
 */
#include "gradebook/run/on_exit.h"
#include "gradebook/run/stubs.h"
#include "gradebook/base/stop.h"
#include "gradebook/import/submission.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ERRORS_IN_A_ROW = 3 };
static const double signal_s = 0.3; /* delay between signals to processes of one task */

static void handle_self_test(Scheduler *s, Worker *worker, const Attempt *attempt)
{
    Device *gpu = worker->gpu;
    const char *lab = all_labs[worker->lab].folder;
    char why[1200], noise[300], made[700];

    gpu->preparing[worker->lab] = gpu->proving = false;
    if (!attempt_graded(attempt)) {
        gpu->proved = false;
        gpu_retire(s, gpu,
                   PUT(why, "it cannot grade the workbook's starter of %s: %s", lab, attempt->why));
        return;
    }
    if (device_noisy(&attempt->result, noise, sizeof noise)) {
        gpu->proved = false;
        gpu_retire(s, gpu, PUT(why, "its measurements are too noisy: %s, %s", lab, noise));
        return;
    }
    gpu_proved(s, gpu, &attempt->result, worker->program.out.text);
    device_drifts(gpu, worker->lab, &attempt->result, why, sizeof why);
    if (s->sandbox->trusting)
        gpu->prepared[worker->lab] = true;
    else if (!stub_keep(s->sandbox, gpu->uuid, lab, lab_digest(s, worker->lab),
                        PUT(made, "%s/sealed", worker->folder)))
        cannot_write(made);
}

/* Cancelling a Slurm task signals all its processes. gradebook may see the grading die before its
 * own signal arrives; that is not the kernel's fault. */
static bool was_cancelled(const Scheduler *s, const Attempt *attempt)
{
    if (!s->options->listed.count ||
        (attempt_graded(attempt) && strcmp(parsed_get(&attempt->result, "verdict"), "crash")))
        return false;
    sleep_s(signal_s);
    return stop_requested();
}

static void record(Scheduler *s, Worker *worker, const Attempt *attempt)
{
    if (!was_cancelled(s, attempt))
        attempt_record(s->store, worker->task, attempt);
}

/* A kernel that does not build needs no GPU: the build's result is its verdict. */
static void handle_build(Scheduler *s, Worker *worker)
{
    Task *task = worker->task;
    const Device *gpu = gpu_to_build_for(s, task->lab);
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
        record(s, worker, &attempt);
        task->number++;
        task->graded = true;
        progress_count(&s->progress, task->lab, now_s() - program->began_s);
        remove_tree(worker->built);
    }
    attempt_free(&attempt);
}

/* A submission in the runner's process could forge its result. */
static bool shares_a_process(const Scheduler *s, Attempt *attempt)
{
    if (s->sandbox->trusting || strcmp(parsed_get(&attempt->result, "isolation"), "shared"))
        return false;
    PUT(attempt->why,
        "on this machine a submission runs in the same process as the grader's runner, because GPU "
        "memory cannot be shared between processes; grade on another machine, or, if you trust "
        "every submission, use --trust-submissions");
    return true;
}

static void handle_grading(Scheduler *s, Worker *worker, Attempt *attempt)
{
    Device *gpu = worker->gpu;
    Task *task = worker->task;
    char why[1000];

    if (attempt_graded(attempt) &&
        (device_noisy(&attempt->result, attempt->why, sizeof attempt->why) ||
         (task->errors_left > 1 &&
          device_disturbed(&attempt->result, attempt->why, sizeof attempt->why))))
        attempt->outcome = "noisy", show(attempt->why);
    else if (attempt_graded(attempt) && shares_a_process(s, attempt))
        attempt->outcome = "unsound";
    record(s, worker, attempt);
    task->running = false;
    task->number++;
    if (attempt_graded(attempt)) {
        task->graded = true;
        gpu->errors = 0;
        progress_count(&s->progress, task->lab, now_s() - worker->program.began_s);
        if (device_drifts(gpu, task->lab, &attempt->result, why, sizeof why))
            gpu_retire(s, gpu, why);
    } else {
        task->errors_left--;
        PUT(task->failed_on, "%s", gpu->label);
        progress_error(&s->progress, !task_open(task));
        if (++gpu->errors >= ERRORS_IN_A_ROW)
            gpu->proved = false;
    }
    if (worker->built[0] && !task_open(task))
        remove_tree(worker->built);
}

void handle_exit(Scheduler *s, Worker *worker)
{
    Attempt attempt;

    if (worker->activity == BUILDING) {
        handle_build(s, worker);
    } else {
        attempt_of(&worker->program, all_labs[worker->lab].folder, worker->gpu->label, &attempt);
        if (worker->activity == GRADING)
            handle_grading(s, worker, &attempt);
        else
            handle_self_test(s, worker, &attempt);
        attempt_free(&attempt);
    }
    if (worker->task)
        unlink(worker->kernel);
    program_free(&worker->program);
    worker->activity = IDLE;
}
