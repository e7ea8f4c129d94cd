/* collect.c - records the results of an array's tasks, and settles the rest when tasks have ended.
 */
#include "gradebook/slurm/collect.h"
#include "gradebook/slurm/result.h"
#include "gradebook/store/attempt.h"
#include "base/util.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAID_BYTES = 1 << 20 };

/* ---- Recording results ---- */

static Task *task_of(Cluster *c, int64_t kernel)
{
    int low = 0, high = c->queue.count;

    while (low < high) { /* queue_read orders by kernel */
        int middle = (low + high) / 2;
        if (c->queue.tasks[middle].kernel < kernel)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->queue.count && c->queue.tasks[low].kernel == kernel ? &c->queue.tasks[low]
                                                                        : NULL;
}

/* The terms that the batch was graded under, which may differ from the current ones; the caller
 * frees. */
static char *terms_of_round(const Cluster *c, int lab)
{
    Course *course = xcalloc(1, sizeof *course);
    char path[600], *text = NULL, *mistakes = NULL, *terms;

    course_load(PUT(path, "%s/course.ini", c->round.folder), course, &text, &mistakes);
    terms = course_terms(course, &all_labs[lab]);
    free(course);
    free(text);
    free(mistakes);
    return terms;
}

static void take_in(Cluster *c, WorkItem *errand, const Result *result)
{
    Task other = { .kernel = errand->kernel, .lab = errand->lab, .faults_left = 1 };
    Task *task = task_of(c, errand->kernel);
    Ended ended;
    char *terms;

    if (!task) { /* requested by another command, so not counted here */
        task = &other;
        c->pace.all++;
    }
    task->number = errand->number;
    ended_of(&result->program, all_labs[errand->lab].folder, &ended);
    ended.began = result->began;
    ended.seconds = result->seconds;
    ended.terms = terms = terms_of_round(c, errand->lab);
    take_over(c->store, task, result->device, &result->program, &ended);
    errand->taken = true;
    c->taken++;
    if (ended_graded(&ended)) {
        task->graded = true;
        progress_count(&c->pace, task->lab, result->seconds);
    } else {
        task->faults_left--;
        progress_fault(&c->pace, !task_open(task));
    }
    ended_free(&ended);
    free(terms);
}

static WorkItem *work_item_of(Cluster *c, long long kernel, int number)
{
    for (int i = 0; i < c->round.count; i++)
        if (c->round.errands[i].kernel == kernel && c->round.errands[i].number == number)
            return &c->round.errands[i];
    return NULL;
}

static void take_file(Cluster *c, const char *name)
{
    char path[700];
    long long kernel;
    int number, end = 0;
    WorkItem *errand;
    Result result;

    if (sscanf(name, "%lld.%d%n", &kernel, &number, &end) != 2 || name[end] ||
        !(errand = work_item_of(c, kernel, number)) || errand->taken)
        return;
    batch_handed(&c->round, errand, "", path, sizeof path);
    if (!result_read(path, &result))
        return;
    take_in(c, errand, &result);
    program_free(&result.program);
}

void slurm_take(Cluster *c)
{
    char path[700];
    DIR *folder = opendir(PUT(path, "%s/handed", c->round.folder));
    struct dirent *item;

    while (folder && (item = readdir(folder)))
        take_file(c, item->d_name);
    if (folder)
        closedir(folder);
}

/* ---- Tasks that have ended ---- */

/* The last line that a task printed; false without any. */
static bool last_line(const Cluster *c, int share, char *line, size_t size)
{
    char path[700],
        *text = read_file(PUT(path, "%s/said/%d.txt", c->round.folder, share), SAID_BYTES, NULL);
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

/* "Task 12_3 ended (TIMEOUT) on node7" */
static char *end_of(const Cluster *c, int share, char *text, size_t size)
{
    const TaskState *fate = &c->fates[share];

    put(text, size, "Slurm's task %s_%d ended (%s)", c->round.job, share,
        *fate->state ? fate->state : "state unknown to Slurm");
    if (*fate->node)
        append(text, size, " on %s", fate->node);
    return text;
}

/* Reports why a task has begun nothing, and excludes its node. */
static void tell_unfit(Cluster *c, int share)
{
    const char *node = c->fates[share].node;
    char said[300], end[200];
    size_t plain =
        strspn(node, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

    if (!last_line(c, share, said, sizeof said))
        PUT(said, "it printed nothing; check that its node can see %s", c->round.folder);
    if (!strcmp(c->fates[share].state, "FAILED") && *node && !node[plain] &&
        strlen(c->unfit) + strlen(node) + 2 < sizeof c->unfit && !strstr(c->unfit, node))
        APPEND(c->unfit, "%s%s", *c->unfit ? "," : "", node);
    if (!strcmp(said, c->told))
        return;
    PUT(c->told, "%s", said);
    progress_say(&c->pace, "%s and graded nothing: %s", end_of(c, share, end, sizeof end), said);
}

/* Settles a task from which no more results will come. */
static void settle(Cluster *c, int share)
{
    int begun = 0, left = 0;

    for (int i = 0; i < c->round.count; i++) {
        WorkItem *errand = &c->round.errands[i];
        char where[100], why[160], device[64];
        Result result;
        if (errand->share != share)
            continue;
        if (errand->taken) {
            begun++;
        } else if (batch_begun(&c->round, errand, where, sizeof where)) {
            begun++;
            end_of(c, share, why, sizeof why);
            APPEND(why, " before this was graded");
            result_lost(&result, PUT(device, "%s", c->fates[share].node), why);
            take_in(c, errand, &result);
            program_free(&result.program);
        } else {
            left++;
            errand->taken = true; /* by the next array */
        }
    }
    if (left && !begun)
        tell_unfit(c, share);
}

void slurm_settle(Cluster *c, double grace_s)
{
    double now = now_s();

    for (int i = 0; i < c->round.count; i++) {
        int share = c->round.errands[i].share;
        if (!c->round.errands[i].taken && c->ended_s[share] > 0 &&
            now - c->ended_s[share] > grace_s)
            settle(c, share);
    }
}
