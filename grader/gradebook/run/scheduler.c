/* scheduler.c - grades all open kernels: starts workers (gradebook/run/dispatch.c), waits, kills
 * programs that exceed a limit, and handles finished ones (gradebook/run/on_exit.c).
 *
 * All state is in the database: killing this program loses only the gradings that are running.
 */
#include "gradebook/run/scheduler.h"
#include "gradebook/run/on_exit.h"
#include "gradebook/run/dispatch.h"
#include "gradebook/run/workers.h"
#include "gradebook/base/stop.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

static void show_progress(Scheduler *s)
{
    int open[LABS] = { 0 }, grading = 0;

    for (int i = 0; i < s->queue.count; i++)
        open[s->queue.tasks[i].lab] += task_open(&s->queue.tasks[i]);
    for (int i = 0; i < s->worker_count; i++)
        if (s->workers[i].gpu && !s->workers[i].gpu->out) {
            grading++;
            s->progress.one_host |= !s->workers[i].gpu->simulated;
        }
    progress_show(&s->progress, open, grading);
}

/* A warpbook that waits for a lock reports this, but its output is not shown, so gradebook reports
 * it. */
static void report_waiting(Scheduler *s, Worker *worker)
{
    if (worker->activity != TESTING || worker->gpu->reported || !worker->program.errors.used ||
        !strstr(worker->program.errors.text, "Another grading is using"))
        return;
    worker->gpu->reported = true;
    progress_say(&s->progress, "Another grading is using device %s; waiting for it to finish.",
                 worker->gpu->label);
}

/* Kills gradings that exceed a limit. */
static void check_limits(Scheduler *s)
{
    if (now_s() - s->checked_s < 0.5)
        return;
    s->checked_s = now_s();
    for (int i = 0; i < s->worker_count; i++) {
        Worker *worker = &s->workers[i];
        const char *folder =
            worker->activity == BUILDING && worker->built[0] ? worker->built : NULL;
        char why[sizeof worker->program.trouble];
        if (worker->activity == IDLE)
            continue;
        report_waiting(s, worker);
        if (worker->program.pid &&
            limits_broken(&s->limits, worker->program.pid, folder, why, sizeof why)) {
            program_kill(&worker->program);
            PUT(worker->program.trouble, "%s", why);
        }
    }
}

/* Returns false once no worker runs and none can start. */
static bool step(Scheduler *s)
{
    Program *programs[MOST_WORKERS];
    int running = 0;

    dispatch_work(s);
    for (int i = 0; i < s->worker_count; i++)
        if (s->workers[i].activity != IDLE)
            programs[running++] = &s->workers[i].program;
    if (!running && !s->waiting)
        return false;
    if (s->waiting && !running)
        sleep_s(0.2);
    else
        program_wait(programs, running, s->waiting ? 0.2 : 0.5);
    check_limits(s);
    for (int i = 0; i < s->worker_count; i++)
        if (s->workers[i].activity != IDLE && program_over(&s->workers[i].program))
            handle_exit(s, &s->workers[i]);
    show_progress(s);
    return true;
}

RunEnd scheduler_run(Store *store, const Sandbox *sandbox, const GradingOptions *options)
{
    Scheduler *s = xcalloc(1, sizeof *s);
    char work[600];
    RunEnd end;
    bool open = false;

    *s = (Scheduler){ .store = store, .sandbox = sandbox, .options = options };
    cgroup_open(&s->cgroup, &sandbox->environment);
    remove_tree(PUT(work, "%s/work", sandbox->store)); /* left by a run that was killed */
    if (options->listed.count)
        queue_of_list(&options->listed, options->listed_lab, &s->queue);
    else
        queue_read(store, options->requested, options->only_wanted, &s->queue);
    progress_begin(&s->progress, s->queue.count);
    workers_open(s);
    while (!stop_requested() && step(s))
        ;
    workers_close(s);
    for (int i = 0; i < s->queue.count; i++)
        open |= task_open(&s->queue.tasks[i]);
    end = stop_requested() ? RUN_STOPPED : open ? RUN_NO_DEVICE : RUN_DONE;
    progress_end(&s->progress);
    cgroup_close(&s->cgroup);
    remove_tree(work);
    queue_free(&s->queue);
    free(s);
    return end;
}
