/* task.c - one task of a Slurm array: grades its share on the node where it runs.
 *
 * It makes its own gradebook on the node's local disk with one student per kernel of its share, and
 * lets gradebook/run/scheduler.c grade them as anywhere else, with the same devices, sandbox and
 * limits. In addition it records the start of each attempt in the batch's folder, and writes its
 * result there. An attempt starts only once: a requeued task reports the interrupted attempt as
 * lost and continues with the next one.
 */
#include "gradebook/slurm/task.h"
#include "gradebook/store/import_submissions.h"
#include "gradebook/slurm/result.h"
#include "gradebook/slurm/work_item.h"
#include "gradebook/base/stop.h"
#include "gradebook/store/terms.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LEFTOVER_S = 60 };
static const double signal_s = 0.3;

typedef struct TaskContext {
    Batch round;
    int share;
    char job[64];  /* "12_3", the same after a requeue */
    char who[150]; /* "12_3 1 node7": job, number of requeues, node */
    char node[48];
    char folder[600]; /* its own, on the local disk */
    Store store;
    WorkItem **errands; /* by the kernel's id in the task's own gradebook */
    int64_t kernels;
    bool doubted; /* the shared folder belongs to another batch or cannot be written */
} TaskContext;

/* ---- The task's identity ---- */

static const char *asked_of_slurm(const char *name)
{
    const char *value = getenv(name);

    return value && *value && strspn(value, "0123456789") == strlen(value) ? value : NULL;
}

static bool find_place(TaskContext *work)
{
    const char *job = asked_of_slurm("SLURM_ARRAY_JOB_ID");
    const char *share = asked_of_slurm("SLURM_ARRAY_TASK_ID");
    const char *restarts = asked_of_slurm("SLURM_RESTART_COUNT");

    if (!job || !share || gethostname(work->node, sizeof work->node - 1))
        return false;
    work->share = (int) strtol(share, NULL, 10);
    PUT(work->job, "%s_%s", job, share);
    PUT(work->who, "%s %s %s", work->job, restarts ? restarts : "0", work->node);
    return true;
}

/* Once slurmstepd, our parent, is gone, Slurm may give our GPU to another job, so we exit, too. */
static void *watch_parent(void *parent)
{
    while (getppid() == *(pid_t *) parent)
        sleep_s(0.5);
    kill(getpid(), SIGTERM);
    sleep_s(5);
    _exit(3);
}

static void heed_parent(void)
{
    static pid_t parent;
    pthread_t thread;

    parent = getppid();
    if (!pthread_create(&thread, NULL, watch_parent, &parent))
        pthread_detach(thread);
}

/* ---- A gradebook of its own ---- */

static const char *local_folder(void)
{
    const char *folder = getenv("TMPDIR");

    return folder && *folder ? folder : "/tmp";
}

/* True for the folder of a killed task: it is ours, a minute old, and its gradebook is not locked.
 */
static bool is_leftover(const char *folder)
{
    char path[700];
    struct stat about;
    bool left = false;
    int fd;

    if (lstat(folder, &about) || !S_ISDIR(about.st_mode) || about.st_uid != geteuid() ||
        time(NULL) - about.st_mtime < LEFTOVER_S)
        return false;
    fd = open(PUT(path, "%s/gradebook.lock", folder), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    left = fd < 0 ? errno == ENOENT : flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (fd >= 0)
        close(fd);
    return left;
}

static void remove_leftovers(void)
{
    char pattern[600];
    glob_t found;

    PUT(pattern, "%s/warpbook-slurm-*", local_folder());
    if (glob(pattern, 0, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (is_leftover(found.gl_pathv[i]))
            remove_tree(found.gl_pathv[i]);
    globfree(&found);
}

static bool make_folder(TaskContext *work)
{
    remove_leftovers();
    PUT(work->folder, "%s/warpbook-slurm-XXXXXX", local_folder());
    if (mkdtemp(work->folder))
        return true;
    fprintf(stderr, "%s: cannot make a folder in %s: %s\n", work->node, local_folder(),
            strerror(errno));
    work->folder[0] = 0;
    return false;
}

static void add_to_class(const TaskContext *work, Class *class, const WorkItem *errand, int place)
{
    char path[700], name[200];
    size_t size = 0;
    char *source =
        read_file(PUT(path, "%s/kernels/%lld.cu", work->round.folder, (long long) errand->kernel),
                  HANDIN_KERNEL_BYTES, &size);
    Submission *handin;

    if (!source)
        die("%s: cannot read %s: %s", work->node, path, strerror(errno));
    handin = class_add(class);
    handin->layout = "plain";
    PUT(handin->student, "%d", place);
    PUT(handin->source, "%d", place);
    submission_file(handin, PUT(name, "%s/kernel.cu", all_labs[errand->lab].folder), source, size,
                    0, 0);
    free(source);
}

/* Maps each kernel of the task's gradebook to its work item. */
static void map_kernels(TaskContext *work)
{
    sqlite3_stmt *rows;

    work->kernels = store_number(&work->store, 0, "SELECT max(id) FROM kernels", "");
    work->errands = xcalloc((size_t) work->kernels + 1, sizeof *work->errands);
    rows = store_ask(&work->store,
                     "SELECT c.kernel, st.name FROM counted c JOIN students st ON st.id = "
                     "c.student",
                     "");
    while (store_row(&work->store, rows)) {
        long place = strtol(store_text(rows, 1), NULL, 10);
        if (place >= 0 && place < work->round.count)
            work->errands[sqlite3_column_int64(rows, 0)] = &work->round.errands[place];
    }
}

/* ---- Handing in ---- */

/* On a node that Slurm cannot reach, tasks of an older array may still run. */
static bool is_still_ours(TaskContext *work)
{
    Batch now;
    char problem[900];
    bool same = batch_read(work->round.folder, &now, problem, sizeof problem) &&
                !strcmp(now.name, work->round.name);

    batch_free(&now);
    if (!same && !work->doubted)
        fprintf(stderr, "%s: %s now belongs to another array\n", work->who, work->round.folder);
    work->doubted |= !same;
    return same;
}

static void hand_in(TaskContext *work, const WorkItem *errand, const Result *result)
{
    char path[700];

    batch_handed(&work->round, errand, "", path, sizeof path);
    if (is_still_ours(work) && !result_write(path, result))
        die("%s: cannot write %s: %s", work->node, path, strerror(errno));
}

static bool begins(void *context, const Task *task)
{
    TaskContext *work = context;
    const WorkItem *errand = task->kernel <= work->kernels ? work->errands[task->kernel] : NULL;

    if (!errand || work->doubted || stop_asked() || !is_still_ours(work))
        return false;
    if (batch_begin(&work->round, errand, work->who))
        return true;
    if (errno != EEXIST)
        die("%s: cannot write in %s: %s", work->node, work->round.folder, strerror(errno));
    return false; /* started elsewhere meanwhile */
}

/* Cancelling a task signals all its processes, and we may see the graded one die before our own
 * signal arrives: that is not the kernel's fault. */
static bool was_cancelled(const Ended *ended)
{
    if (ended_graded(ended) && strcmp(parsed_get(&ended->reading, "verdict"), "crash"))
        return false;
    sleep_s(signal_s);
    return stop_asked();
}

static void has_ended(void *context, const Task *task, const char *device, const Program *program,
                      const Ended *ended)
{
    TaskContext *work = context;
    Result result = { .began = ended->began, .seconds = ended->seconds, .program = *program };

    if (was_cancelled(ended))
        return; /* it counts as lost */
    PUT(result.device, "%s: %s", work->node, device);
    hand_in(work, work->errands[task->kernel], &result);
}

/* Reports an attempt as lost if this task began it before it was requeued. */
static void hand_in_lost(TaskContext *work, const WorkItem *errand, const char *who)
{
    size_t length = strlen(work->job);
    char path[700], why[160];
    const char *node;
    Result result;

    batch_handed(&work->round, errand, "", path, sizeof path);
    if (file_exists(path) || strncmp(who, work->job, length) || who[length] != ' ')
        return;
    node = strchr(who + length + 1, ' ');
    node = node ? node + 1 : "?";
    PUT(why, "Slurm's task %s on %s was requeued before this was graded", work->job, node);
    result_lost(&result, node, why);
    hand_in(work, errand, &result);
    program_free(&result.program);
}

/* ---- All of it ---- */

/* The task's share, without attempts that have already begun. */
static int collect(TaskContext *work, Class *class, bool asked[LABS])
{
    for (int i = 0; i < work->round.count; i++) {
        const WorkItem *errand = &work->round.errands[i];
        char who[200];
        if (errand->share != work->share)
            continue;
        if (batch_begun(&work->round, errand, who, sizeof who)) {
            hand_in_lost(work, errand, who);
            continue;
        }
        add_to_class(work, class, errand, i);
        asked[errand->lab] = true;
    }
    return class->count;
}

static TaskEnd grade(TaskContext *work, Class *class, MarkingOptions *marking, bool trusting)
{
    Watch watch = { work, begins, has_ended };
    Sandbox cell = { 0 };
    Enrolled enrolled;
    char problem[1200], course[600], *mistakes;
    Marked marked = MARKED_NO_DEVICE;

    if (!store_open(&work->store, work->folder, true)) {
        fprintf(stderr, "%s: %s\n", work->node, work->store.problem);
    } else if (!terms_load(&work->store, PUT(course, "%s/course.ini", work->round.folder),
                           &mistakes)) {
        fprintf(stderr, "%s: %s", work->node, mistakes);
        free(mistakes);
    } else if (!sandbox_open(&cell, work->folder, trusting, problem, sizeof problem)) {
        fprintf(stderr, "%s: %s\n", work->node, problem);
    } else {
        enrol(&work->store, class, "share", marking->asked, NULL, &enrolled);
        terms_keep(&work->store);
        map_kernels(work);
        marking->watch = &watch;
        marked = marking_run(&work->store, &cell, marking);
    }
    sandbox_close(&cell);
    store_close(&work->store);
    return marked == MARKED_STOPPED     ? TASK_STOPPED
           : marked == MARKED_NO_DEVICE ? TASK_UNFIT
                                        : TASK_DONE;
}

TaskEnd slurm_task(const char *folder, const MarkingOptions *options, bool trusting)
{
    TaskContext *work = xcalloc(1, sizeof *work);
    MarkingOptions marking = *options;
    Class class = { 0 };
    char problem[900];
    TaskEnd end = TASK_UNFIT;

    memset(marking.asked, 0, sizeof marking.asked);
    work->store.lock_fd = -1;
    if (!find_place(work))
        fprintf(stderr, "slurm-task is for gradebook's Slurm arrays only. Use gradebook grade "
                        "--executor slurm\n");
    else if (!batch_read(folder, &work->round, problem, sizeof problem))
        fprintf(stderr, "%s: %s\n", work->node, problem);
    else if (heed_parent(), collect(work, &class, marking.asked) == 0)
        end = TASK_DONE;
    else if (make_folder(work))
        end = grade(work, &class, &marking, trusting);
    if (work->folder[0])
        remove_tree(work->folder);
    class_free(&class);
    batch_free(&work->round);
    free(work->errands);
    free(work);
    return end;
}
