/* slurm.c - grades open kernels as job arrays of a Slurm cluster, one GPU per task.
 *
 * One array runs at a time, with its own folder (slurm/batch.h). The kernels to grade are divided
 * into tasks and written there (slurm/job.c), and sbatch submits the array. Each task runs
 * `gradebook grade` on its node (slurm/task.sh), which writes its logs to that folder. Only the
 * gradebook that follows the array writes to the database: it imports the logs as they come
 * (slurm/collect.c) and asks squeue which tasks have ended. An attempt that an ended task had begun
 * but not finished is a machine error. The next array grades the kernels that are still open. The
 * folder is the only state: after a crash, gradebook finds the array by its number or, if that was
 * not written, by its name.
 */
#include "gradebook/slurm/slurm.h"
#include "base/number.h"
#include "gradebook/slurm/client.h"
#include "gradebook/slurm/batch.h"
#include "gradebook/slurm/collect.h"
#include "gradebook/base/stop.h"
#include "base/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOK_S = 1, /* between two checks for results */
    ASK_S = 5,
    ASK_MOST_S = 30, /* between two queries to Slurm */
    GRACE_S = 60,    /* until a file is visible over a network (NFS caches directories) */
    IDLE_ARRAYS = 2, /* arrays without results, in a row */
};

/* $WARPBOOK_PATIENCE multiplies all waiting times, as in warpbook. */
static double patient(double seconds)
{
    const char *text = getenv("WARPBOOK_PATIENCE");
    double factor = text ? number_or_zero(text) : 1;

    return seconds * (factor > 0 && factor < 1e6 ? factor : 1);
}

static void wait_s(double seconds)
{
    for (double until = now_s() + seconds; now_s() < until && !stop_requested();)
        sleep_s(0.1);
}

/* ---- Submitting ---- */

static bool call_sbatch(Cluster *c, char *error, size_t size)
{
    Words words = sbatch_options(c->grading, c->options, &c->batch);
    char script[600];
    bool accepted =
        slurm_submit((const char *const *) words.word, PUT(script, "%s/job.sh", c->batch.folder),
                     c->batch.job, sizeof c->batch.job, error, size);

    words_free(&words);
    return accepted;
}

/* ---- The array's number ---- */

static void note_job(Cluster *c)
{
    char line[40];

    if (!batch_write(&c->batch, "job", PUT(line, "%s\n", c->batch.job)))
        progress_say(&c->progress, "Cannot write %s/job: %s", c->batch.folder, strerror(errno));
}

/* Looks the array up by name until Slurm answers; returns true if Slurm knows it. */
static bool find_job(Cluster *c, int times)
{
    char error[400];

    while (!stop_requested()) {
        Reply reply =
            slurm_find(c->batch.name, c->batch.job, sizeof c->batch.job, error, sizeof error);
        if (reply == REPLY_KNOWN || batch_find_job(&c->batch))
            return true;
        if (reply == REPLY_UNKNOWN && --times <= 0)
            return false;
        if (reply == REPLY_NONE && strcmp(c->message, error)) {
            progress_say(&c->progress, "Slurm does not answer (%s); trying again.", error);
            PUT(c->message, "%s", error);
        }
        wait_s(patient(reply == REPLY_NONE ? ASK_S : 1));
    }
    return false;
}

/* Submits the array. Returns false if Slurm rejects it. */
static bool submit(Cluster *c)
{
    char error[400] = "";

    if (call_sbatch(c, error, sizeof error))
        return true;
    /* The array may have been submitted, with only the answer lost. */
    if (strstr(error, "ontact") && find_job(c, 1))
        return true;
    if (!stop_requested())
        progress_say(&c->progress, "Slurm rejected the job: %s", error);
    return false;
}

/* ---- Asking Slurm ---- */

/* Reports why all remaining tasks wait, once per reason. */
static void report_waiting(Cluster *c, int waits, const char *reason)
{
    char text[200];

    PUT(text, "No task of array %s is running; %d task%s wait%s (%s).", c->batch.job, waits,
        waits == 1 ? "" : "s", waits == 1 ? "s" : "", *reason ? reason : "Slurm gives no reason");
    if (!waits || c->running || !strcmp(reason, "None") || !strcmp(text, c->message))
        return;
    PUT(c->message, "%s", text);
    progress_say(&c->progress, "%s%s", text,
                 strstr(reason, "Held") || strstr(reason, "held") ? " scontrol release starts them."
                                                                  : "");
}

static void update_states(Cluster *c)
{
    char error[400], reason[64] = "";
    int waits = 0;
    bool forgotten = false;
    Reply reply = slurm_states(c->batch.job, c->states, c->batch.tasks, error, sizeof error);

    if (reply == REPLY_NONE) {
        if (strcmp(c->message, error))
            progress_say(&c->progress, "Slurm does not answer (%s); still looking for results.",
                         error);
        PUT(c->message, "%s", error);
        return;
    }
    c->running = 0;
    for (int i = 0; i < c->batch.tasks; i++) {
        const TaskState *state = &c->states[i];
        c->running += state->runs;
        if (state->live && !state->runs && waits++ == 0)
            PUT(reason, "%s", state->reason);
        if (state->live)
            c->ended_s[i] = 0;
        else if (c->ended_s[i] == 0)
            c->ended_s[i] = now_s();
        forgotten |= !state->state[0];
    }
    if (forgotten)
        slurm_recall(c->batch.job, c->states, c->batch.tasks);
    report_waiting(c, waits, reason);
}

/* ---- One array ---- */

static int unsettled(const Cluster *c)
{
    int count = 0;

    for (int i = 0; i < c->batch.count; i++)
        count += !c->batch.items[i].settled;
    return count;
}

static void show_progress(Cluster *c)
{
    int open[LABS] = { 0 };

    for (int i = 0; i < c->queue.count; i++)
        open[c->queue.tasks[i].lab] += task_open(&c->queue.tasks[i]);
    progress_show(&c->progress, open, c->running);
}

/* Collects results until the array has ended. Returns false if gradebook was stopped. */
static bool follow(Cluster *c)
{
    double began = now_s(), asked_s = 0;

    while (unsettled(c)) {
        double since = (now_s() - began) / 20;
        double pause = since < ASK_S ? ASK_S : since > ASK_MOST_S ? ASK_MOST_S : since;
        if (stop_requested())
            return false;
        if (!asked_s || now_s() - asked_s > patient(pause)) {
            update_states(c);
            asked_s = now_s();
        }
        slurm_collect(c);
        slurm_settle(c, patient(GRACE_S));
        show_progress(c);
        if (unsettled(c))
            wait_s(patient(LOOK_S));
    }
    return true;
}

static void open_batch(Cluster *c)
{
    char folder[512], problem[900];

    batch_folder(c->sandbox->store, folder, sizeof folder);
    if (!batch_read(folder, &c->batch, problem, sizeof problem))
        die("%s", problem);
    c->states = xcalloc((size_t) c->batch.tasks, sizeof *c->states);
    c->ended_s = xcalloc((size_t) c->batch.tasks, sizeof *c->ended_s);
    c->recorded = c->running = 0;
    c->message[0] = 0;
    for (int i = 0; i < c->batch.count; i++) /* recorded by an earlier, interrupted run */
        c->batch.items[i].settled = store_number(
            c->store, 0, "SELECT 1 FROM attempts WHERE kernel = ? AND number = ?", "ii",
            c->batch.items[i].attempt.kernel, (int64_t) c->batch.items[i].attempt.number);
}

static void close_batch(Cluster *c, bool over)
{
    char old[600];

    if (over &&
        *c->batch.folder) { /* renamed first, so that a partial folder is not read as a batch */
        remove_tree(PUT(old, "%s.old", c->batch.folder));
        if (rename(c->batch.folder, old))
            die("cannot rename %s: %s", c->batch.folder, strerror(errno));
        remove_tree(old);
    }
    batch_free(&c->batch);
    free(c->states);
    free(c->ended_s);
    c->states = NULL;
    c->ended_s = NULL;
}

/* Finds or submits the array. Returns false if that fails. */
static bool have_job(Cluster *c, bool fresh)
{
    if (c->batch.job[0])
        progress_say(&c->progress, "Continuing with Slurm array %s.", c->batch.job);
    if (c->batch.job[0])
        return true;
    if ((fresh || !find_job(c, 3)) && (stop_requested() || !submit(c)))
        return false;
    note_job(c);
    progress_say(&c->progress, "Slurm array %s: %d kernels in %d task%s.", c->batch.job,
                 unsettled(c), c->batch.tasks, c->batch.tasks == 1 ? "" : "s");
    return true;
}

/* Runs one array from start to end. Sets *end if grading cannot continue. */
static bool run_array(Cluster *c, bool fresh, RunEnd *end)
{
    bool submitted, over;

    open_batch(c);
    submitted = have_job(c, fresh);
    over = submitted && follow(c);
    if (submitted && !over)
        progress_say(&c->progress, "Slurm array %s keeps running; to cancel it: scancel %s",
                     c->batch.job, c->batch.job);
    *end = stop_requested() ? RUN_STOPPED : RUN_NO_DEVICE;
    close_batch(c, over || (!submitted && !stop_requested()));
    return over;
}

static bool read_queue(Cluster *c)
{
    int open = 0;

    queue_free(&c->queue);
    queue_read(c->store, c->grading->requested, c->grading->only_wanted, &c->queue);
    for (int i = 0; i < c->queue.count; i++)
        open += task_open(&c->queue.tasks[i]);
    return open > 0;
}

RunEnd slurm_run(Store *store, const Sandbox *sandbox, const GradingOptions *grading,
                 const SlurmOptions *options)
{
    Cluster *c = xcalloc(1, sizeof *c);
    RunEnd end = RUN_STOPPED;
    char problem[900];
    bool open;
    int idle = 0;

    if (!batch_place(sandbox->store, options->shared, problem, sizeof problem))
        die("%s", problem);
    *c = (Cluster){ .store = store, .sandbox = sandbox, .grading = grading, .options = options };
    open = read_queue(c);
    progress_begin(&c->progress, c->queue.count);
    while (!stop_requested()) {
        bool fresh = !batch_exists(sandbox->store);
        if (fresh && !open)
            end = RUN_DONE;
        else if (fresh && idle == IDLE_ARRAYS)
            end = RUN_NO_DEVICE;
        if (fresh && (!open || idle == IDLE_ARRAYS))
            break;
        if (fresh)
            batch_make(store, sandbox, grading, options, &c->queue);
        if (!run_array(c, fresh, &end))
            break;
        idle = c->recorded ? 0 : idle + 1;
        open = read_queue(c);
        end = RUN_STOPPED;
    }
    progress_end(&c->progress);
    batch_leave(sandbox->store);
    queue_free(&c->queue);
    free(c);
    return end;
}

bool slurm_runs(const char *store, char *job, size_t size)
{
    Batch batch = { 0 };

    if (!batch_exists(store))
        return false;
    batch_folder(store, batch.folder, sizeof batch.folder);
    put(job, size, "%s", batch_find_job(&batch) ? batch.job : "?");
    return true;
}
