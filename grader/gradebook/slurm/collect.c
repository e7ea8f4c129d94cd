/* collect.c - imports the logs of an array's attempts, and settles the rest when tasks have ended.
 */
#include "gradebook/slurm/collect.h"
#include "gradebook/import/submission.h"
#include "gradebook/store/attempt.h"
#include "gradebook/store/log.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRINTED_BYTES = 1 << 20 };

/* ---- Recording ---- */

static Task *find_task(Cluster *c, int64_t kernel)
{
    for (int i = 0; i < c->queue.count; i++)
        if (c->queue.tasks[i].kernel == kernel)
            return &c->queue.tasks[i];
    return NULL;
}

/* The terms that the batch was graded under, which may differ from the current ones; the caller
 * frees. */
static char *terms_of_batch(const Cluster *c, int lab)
{
    Course *course = xcalloc(1, sizeof *course);
    char path[600], *text = NULL, *mistakes = NULL, *terms;

    course_load(PUT(path, "%s/course.ini", c->batch.folder), course, &text, &mistakes);
    terms = course_measured(course, &all_labs[lab]);
    free(course);
    free(text);
    free(mistakes);
    return terms;
}

static void record(Cluster *c, WorkItem *item, Attempt *attempt)
{
    Task other = { .kernel = item->attempt.kernel, .lab = item->lab, .errors_left = 1 };
    Task *task = find_task(c, item->attempt.kernel);
    char *terms = terms_of_batch(c, item->lab);

    if (!task) { /* requested by another command, so not in the queue */
        task = &other;
        c->progress.all++;
    }
    task->number = item->attempt.number;
    attempt->terms = terms;
    attempt_record(c->store, task, attempt);
    item->settled = true;
    c->recorded++;
    if (attempt_graded(attempt)) {
        task->graded = true;
        progress_count(&c->progress, task->lab, attempt->seconds);
    } else {
        task->errors_left--;
        progress_error(&c->progress, !task_open(task));
    }
    free(terms);
}

static bool waits(const TaskState *state)
{
    return state->live && !state->runs;
}

void slurm_collect(Cluster *c)
{
    for (int i = 0; i < c->batch.count; i++) {
        WorkItem *item = &c->batch.items[i];
        char path[900], device[sizeof((Attempt *) 0)->device];
        Attempt attempt;
        if (item->settled || waits(&c->states[item->task]) ||
            !attempt_read_log(batch_log(&c->batch, item, path, sizeof path),
                              all_labs[item->lab].folder, &attempt))
            continue;
        PUT(device, "%.40s: %.20s", attempt.host, attempt.device);
        PUT(attempt.device, "%s", device);
        record(c, item, &attempt);
        attempt_free(&attempt);
    }
}

/* ---- Tasks that have ended ---- */

/* Copies the last line that a task printed; returns false if it printed nothing. */
static bool last_line(const Cluster *c, int task, char *line, size_t size)
{
    char path[700], *text = read_file(PUT(path, "%s/printed/%d.txt", c->batch.folder, task),
                                      PRINTED_BYTES, NULL);
    size_t length = text ? strlen(text) : 0, begin;

    while (length && text[length - 1] == '\n')
        text[--length] = 0;
    for (begin = length; begin && text[begin - 1] != '\n'; begin--)
        ;
    put(line, size, "%s", text ? text + begin : "");
    show(line);
    free(text);
    return *line != 0;
}

/* "Slurm's task 12_3 ended (TIMEOUT) on node7" */
static char *describe_end(const Cluster *c, int task, char *text, size_t size)
{
    const TaskState *state = &c->states[task];

    put(text, size, "Slurm's task %s_%d ended (%s)", c->batch.job, task,
        *state->state ? state->state : "state unknown to Slurm");
    if (*state->node)
        append(text, size, " on %s", state->node);
    return text;
}

/* Reports why a task has not begun any attempt. */
static void report_useless(Cluster *c, int task)
{
    char line[300], end[200];

    if (!last_line(c, task, line, sizeof line))
        PUT(line, "it printed nothing; check that its node can read %s", c->batch.folder);
    if (!strcmp(line, c->message))
        return;
    PUT(c->message, "%s", line);
    progress_say(&c->progress, "%s and graded nothing: %s", describe_end(c, task, end, sizeof end),
                 line);
}

static void record_lost(Cluster *c, WorkItem *item, const char *log)
{
    char why[240], host[64];
    Attempt attempt;

    describe_end(c, item->task, why, sizeof why);
    APPEND(why, " before this kernel was graded");
    attempt_lost(&attempt, attempt_log_host(log, host, sizeof host), why);
    record(c, item, &attempt);
    attempt_free(&attempt);
}

/* Settles one task, from which no more results will come. */
static void settle(Cluster *c, int task)
{
    bool begun = false, left = false;

    for (int i = 0; i < c->batch.count; i++) {
        WorkItem *item = &c->batch.items[i];
        char path[900];
        if (item->task != task)
            continue;
        if (file_exists(batch_log(&c->batch, item, path, sizeof path))) {
            begun = true;
            if (!item->settled)
                record_lost(c, item, path);
        } else if (!item->settled) {
            left = item->settled = true;
        }
    }
    if (left && !begun)
        report_useless(c, task);
}

void slurm_settle(Cluster *c, double grace_s)
{
    double now = now_s();

    for (int i = 0; i < c->batch.count; i++) {
        int task = c->batch.items[i].task;
        if (!c->batch.items[i].settled && c->ended_s[task] > 0 && now - c->ended_s[task] > grace_s)
            settle(c, task);
    }
}
