/* scheduler.c - grades all open kernels: fills the workers (gradebook/run/dispatch.c), waits, kills
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

static void show_pace(Marking *m)
{
    int open[LABS] = { 0 }, grading = 0;

    for (int i = 0; i < m->queue.count; i++)
        open[m->queue.tasks[i].lab] += task_open(&m->queue.tasks[i]);
    for (int i = 0; i < m->worker_count; i++)
        if (m->workers[i].gpu && !m->workers[i].gpu->out) {
            grading++;
            m->pace.one_host |= !m->workers[i].gpu->simulated;
        }
    progress_show(&m->pace, open, grading);
}

/* The warpbook that waits for a lock reports it, but its output is not shown. */
static void tell_waiting(Marking *m, Worker *worker)
{
    if (worker->doing != PREPARES || worker->gpu->told || !worker->program.errors.used ||
        !strstr(worker->program.errors.text, "waiting until it has finished"))
        return;
    worker->gpu->told = true;
    progress_say(&m->pace, "Another grading is using device %s; waiting until it has finished.",
                 worker->gpu->label);
}

/* Kills gradings that exceed a limit. */
static void look_after(Marking *m)
{
    if (now_s() - m->looked_s < 0.5)
        return;
    m->looked_s = now_s();
    for (int i = 0; i < m->worker_count; i++) {
        Worker *worker = &m->workers[i];
        const char *folder = worker->doing == BUILDS && worker->built[0] ? worker->built : NULL;
        char why[sizeof worker->program.trouble];
        if (worker->doing == NOTHING)
            continue;
        tell_waiting(m, worker);
        if (worker->program.pid &&
            limits_broken(&m->fence, worker->program.pid, folder, why, sizeof why)) {
            program_kill(&worker->program);
            PUT(worker->program.trouble, "%s", why);
        }
    }
}

/* False once nothing runs and nothing can start. */
static bool step(Marking *m)
{
    Program *programs[SLOTS];
    int running = 0;

    feed_workers(m);
    for (int i = 0; i < m->worker_count; i++)
        if (m->workers[i].doing != NOTHING)
            programs[running++] = &m->workers[i].program;
    if (!running && !m->waiting)
        return false;
    if (m->waiting && !running)
        sleep_s(0.2);
    else
        program_wait(programs, running, m->waiting ? 0.2 : 0.5);
    look_after(m);
    for (int i = 0; i < m->worker_count; i++)
        if (m->workers[i].doing != NOTHING && program_over(&m->workers[i].program))
            end_slot(m, &m->workers[i]);
    show_pace(m);
    return true;
}

Marked marking_run(Store *store, const Sandbox *cell, const MarkingOptions *options)
{
    Marking *m = xcalloc(1, sizeof *m);
    char work[600];
    Marked marked;
    bool open = false;

    *m = (Marking){ .store = store, .cell = cell, .options = options };
    cgroup_open(&m->cgroup, &cell->environment);
    remove_tree(PUT(work, "%s/work", cell->store)); /* of a run that was killed */
    if (options->listed.count)
        queue_of_list(&options->listed, options->listed_lab, &m->queue);
    else
        queue_read(store, options->asked, options->only, &m->queue);
    progress_begin(&m->pace, m->queue.count);
    slots_open(m);
    while (!stop_asked() && step(m))
        ;
    slots_close(m);
    for (int i = 0; i < m->queue.count; i++)
        open |= task_open(&m->queue.tasks[i]);
    marked = stop_asked() ? MARKED_STOPPED : open ? MARKED_NO_DEVICE : MARKED_ALL;
    progress_end(&m->pace);
    cgroup_close(&m->cgroup);
    remove_tree(work);
    queue_free(&m->queue);
    free(m);
    return marked;
}
