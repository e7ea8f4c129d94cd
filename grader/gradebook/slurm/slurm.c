/* slurm.c - grades open kernels as job arrays of a Slurm cluster, one GPU per task.
 *
 * One array runs at a time, with its own folder (gradebook/slurm/work_item.h). Its life: the open
 * work is cut into shares and written there (gradebook/slurm/batch.c); sbatch is called; each task
 * grades its share on its node, as a separate gradebook, and writes one file per result
 * (gradebook/slurm/task.c). Only this process writes to the database: it records the files as they
 * come (gradebook/slurm/collect.c) and asks squeue which tasks have ended. An attempt that an ended
 * task had begun but not finished is a machine error. Then the next array grades all that is still
 * open. The folder is the only state: after a crash, gradebook finds the array by its number or, if
 * that was not written, by its name.
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
    ASK_MOST_S = 30, /* between two questions to Slurm */
    GRACE_S = 60,    /* until a file is visible over a network (NFS caches directories) */
    IDLE_ROUNDS = 2, /* arrays without results, in a row */
};

/* $WARPBOOK_PATIENCE multiplies our waiting (worker.c). */
static double patient(double seconds)
{
    const char *text = getenv("WARPBOOK_PATIENCE");
    double factor = text ? number_or_zero(text) : 1;

    return seconds * (factor > 0 && factor < 1e6 ? factor : 1);
}

static void wait_s(double seconds)
{
    for (double until = now_s() + seconds; now_s() < until && !stop_asked();)
        sleep_s(0.1);
}

/* ---- Submitting ---- */

static bool submit_without(Cluster *c, const char *unfit, char *said, size_t size)
{
    Words words = sbatch_options(c->marking, c->options, &c->round, unfit);
    char script[600];
    bool fine =
        slurm_submit((const char *const *) words.word, PUT(script, "%s/job.sh", c->round.folder),
                     c->round.job, sizeof c->round.job, said, size);

    words_free(&words);
    return fine;
}

/* ---- The array's number ---- */

static void note_job(Cluster *c)
{
    char line[40];

    if (!batch_write(&c->round, "job", PUT(line, "%s\n", c->round.job)))
        progress_say(&c->pace, "Cannot write %s/job: %s", c->round.folder, strerror(errno));
}

/* Asks for the array by name until Slurm answers; true if Slurm knows it. */
static bool find_job(Cluster *c, int times)
{
    char said[400];

    while (!stop_asked()) {
        Asked asked =
            slurm_find(c->round.name, c->round.job, sizeof c->round.job, said, sizeof said);
        if (asked == ASKED_KNOWS || batch_find_job(&c->round))
            return true;
        if (asked == ASKED_NONE && --times <= 0)
            return false;
        if (asked == ASKED_MUTE && strcmp(c->told, said)) {
            progress_say(&c->pace, "Slurm does not answer (%s); trying again.", said);
            PUT(c->told, "%s", said);
        }
        wait_s(patient(asked == ASKED_MUTE ? ASK_S : 1));
    }
    return false;
}

/* False if Slurm rejects it. */
static bool submit(Cluster *c)
{
    char said[400] = "";

    if (submit_without(c, c->unfit, said, sizeof said) ||
        (*c->unfit && submit_without(c, "", said, sizeof said)))
        return true;
    /* Perhaps only the answer was lost. */
    if (strstr(said, "ontact") && find_job(c, 1))
        return true;
    if (!stop_asked())
        progress_say(&c->pace, "Slurm rejected the job: %s", said);
    return false;
}

/* ---- Asking Slurm ---- */

/* Reports why all remaining tasks wait, once per reason. */
static void tell_waiting(Cluster *c, int waits, const char *reason)
{
    char text[200];

    PUT(text, "No task of array %s is running; %d task%s wait%s (%s).", c->round.job, waits,
        waits == 1 ? "" : "s", waits == 1 ? "s" : "", *reason ? reason : "Slurm gives no reason");
    if (!waits || c->runs || !strcmp(reason, "None") || !strcmp(text, c->told))
        return;
    PUT(c->told, "%s", text);
    progress_say(&c->pace, "%s%s", text,
                 strstr(reason, "Held") || strstr(reason, "held") ? " scontrol release starts them."
                                                                  : "");
}

static void ask(Cluster *c)
{
    char said[400], reason[64] = "";
    int waits = 0;
    bool forgotten = false;
    Asked asked = slurm_fates(c->round.job, c->fates, c->round.shares, said, sizeof said);

    if (asked == ASKED_MUTE) {
        if (strcmp(c->told, said))
            progress_say(&c->pace, "Slurm does not answer (%s); still looking for results.", said);
        PUT(c->told, "%s", said);
        return;
    }
    c->runs = 0;
    for (int i = 0; i < c->round.shares; i++) {
        const TaskState *fate = &c->fates[i];
        c->runs += fate->runs;
        if (fate->live && !fate->runs && waits++ == 0)
            PUT(reason, "%s", fate->reason);
        if (fate->live)
            c->ended_s[i] = 0;
        else if (c->ended_s[i] == 0)
            c->ended_s[i] = now_s();
        forgotten |= !fate->state[0];
    }
    if (forgotten)
        slurm_recall(c->round.job, c->fates, c->round.shares);
    tell_waiting(c, waits, reason);
}

/* ---- A round ---- */

static int untaken(const Cluster *c)
{
    int count = 0;

    for (int i = 0; i < c->round.count; i++)
        count += !c->round.errands[i].taken;
    return count;
}

static void show_pace(Cluster *c)
{
    int open[LABS] = { 0 };

    for (int i = 0; i < c->queue.count; i++)
        open[c->queue.tasks[i].lab] += task_open(&c->queue.tasks[i]);
    progress_show(&c->pace, open, c->runs);
}

/* False if it was stopped. */
static bool follow(Cluster *c)
{
    double began = now_s(), asked = 0;

    while (untaken(c)) {
        double since = (now_s() - began) / 20;
        double pause = since < ASK_S ? ASK_S : since > ASK_MOST_S ? ASK_MOST_S : since;
        if (stop_asked())
            return false;
        if (!asked || now_s() - asked > patient(pause)) {
            ask(c);
            asked = now_s();
        }
        slurm_take(c);
        slurm_settle(c, patient(GRACE_S));
        show_pace(c);
        if (untaken(c))
            wait_s(patient(LOOK_S));
    }
    return true;
}

static void open_round(Cluster *c)
{
    char folder[512], problem[900];

    batch_folder(c->cell->store, folder, sizeof folder);
    if (!batch_read(folder, &c->round, problem, sizeof problem))
        die("%s", problem);
    c->fates = xcalloc((size_t) c->round.shares, sizeof *c->fates);
    c->ended_s = xcalloc((size_t) c->round.shares, sizeof *c->ended_s);
    c->taken = c->runs = 0;
    c->told[0] = 0;
    for (int i = 0; i < c->round.count; i++) /* recorded by an earlier, interrupted run */
        c->round.errands[i].taken =
            store_number(c->store, 0, "SELECT 1 FROM attempts WHERE kernel = ? AND number = ?",
                         "ii", c->round.errands[i].kernel, (int64_t) c->round.errands[i].number);
}

static void close_round(Cluster *c, bool over)
{
    char old[600];

    if (over &&
        *c->round.folder) { /* renamed first, so that a partial folder is not read as a batch */
        remove_tree(PUT(old, "%s.old", c->round.folder));
        if (rename(c->round.folder, old))
            die("cannot rename %s: %s", c->round.folder, strerror(errno));
        remove_tree(old);
    }
    batch_free(&c->round);
    free(c->fates);
    free(c->ended_s);
    c->fates = NULL;
    c->ended_s = NULL;
}

/* Finds or submits the array; false if there is none. */
static bool have_job(Cluster *c, bool new)
{
    if (c->round.job[0])
        progress_say(&c->pace, "Continuing with Slurm array %s.", c->round.job);
    if (c->round.job[0])
        return true;
    if ((new || !find_job(c, 3)) && (stop_asked() || !submit(c)))
        return false;
    note_job(c);
    progress_say(&c->pace, "Slurm array %s: %d kernels in %d task%s.", c->round.job, untaken(c),
                 c->round.shares, c->round.shares == 1 ? "" : "s");
    return true;
}

/* Runs one array from start to end. Sets *marked when nothing more can be done. */
static bool work(Cluster *c, bool new, Marked *marked)
{
    bool there, over;

    open_round(c);
    there = have_job(c, new);
    over = there && follow(c);
    if (there && !over)
        progress_say(&c->pace, "Slurm array %s keeps running; to cancel it: scancel %s",
                     c->round.job, c->round.job);
    *marked = stop_asked() ? MARKED_STOPPED : MARKED_NO_DEVICE;
    close_round(c, over || (!there && !stop_asked()));
    return over;
}

static bool read_queue(Cluster *c)
{
    int open = 0;

    queue_free(&c->queue);
    queue_read(c->store, c->marking->asked, c->marking->only, &c->queue);
    for (int i = 0; i < c->queue.count; i++)
        open += task_open(&c->queue.tasks[i]);
    return open > 0;
}

Marked slurm_run(Store *store, const Sandbox *cell, const MarkingOptions *marking,
                 const SlurmOptions *options)
{
    Cluster *c = xcalloc(1, sizeof *c);
    Marked marked = MARKED_STOPPED;
    char problem[900];
    bool open;
    int idle = 0;

    if (!batch_place(cell->store, options->shared, problem, sizeof problem))
        die("%s", problem);
    *c = (Cluster){ .store = store, .cell = cell, .marking = marking, .options = options };
    open = read_queue(c);
    progress_begin(&c->pace, c->queue.count);
    while (!stop_asked()) {
        bool new = !batch_is_out(cell->store);
        if (new && !open)
            marked = MARKED_ALL;
        else if (new &&idle == IDLE_ROUNDS)
            marked = MARKED_NO_DEVICE;
        if (new && (!open || idle == IDLE_ROUNDS))
            break;
        if (new)
            batch_make(store, cell, marking, options, &c->queue);
        if (!work(c, new, &marked))
            break;
        idle = c->taken ? 0 : idle + 1;
        open = read_queue(c);
        marked = MARKED_STOPPED;
    }
    progress_end(&c->pace);
    batch_leave(cell->store);
    queue_free(&c->queue);
    free(c);
    return marked;
}

bool slurm_is_out(const char *store, char *job, size_t size)
{
    Batch round = { 0 };

    if (!batch_is_out(store))
        return false;
    batch_folder(store, round.folder, sizeof round.folder);
    put(job, size, "%s", batch_find_job(&round) ? round.job : "?");
    return true;
}
