/* batch.c - cuts open work into shares and writes the batch for a Slurm array.
 *
 * A task grades several kernels of one lab, since scheduling, the tests of bubblewrap and GPU, and
 * the build of the lab's references take at least as long as one grading, and since Slurm limits
 * arrays to 1000 tasks. A share must not be too large, because another array repeats what a lost
 * task had not begun. So a share takes about ten minutes.
 */
#include "gradebook/slurm/batch.h"
#include "gradebook/store/terms.h"
#include "base/util.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SHARE_S = 600,
    GUESS_S = 40, /* per kernel of a lab without gradings so far */
    SHARE_MOST = 200,
    SHARES = 1000, /* Slurm's MaxArraySize is 1001 unless set */
    SCRIPT_BYTES = 16384,
    PATH_MOST = 380, /* the task's --out */
};

/* ---- Shares ---- */

int share_size(const SlurmOptions *options, int jobs, double seconds, int open)
{
    double one_s = seconds > 1 ? seconds : seconds < 0 ? GUESS_S : 1;
    int size = SHARE_S / one_s < 1 ? 1 : (int) (SHARE_S / one_s);

    if (options->batch)
        return options->batch;
    if (size > SHARE_MOST)
        size = SHARE_MOST;
    if (jobs && size > (open + jobs - 1) / jobs) /* every task gets some */
        size = (open + jobs - 1) / jobs;
    return size < 1 ? 1 : size;
}

/* The average time of the lab's gradings so far. */
static double seconds_of(Store *store, int lab)
{
    sqlite3_stmt *row =
        store_ask(store,
                  "SELECT avg(a.seconds) FROM attempts a JOIN kernels k ON k.id = a.kernel"
                  " WHERE k.lab = ? AND a.outcome = 'graded'",
                  "t", all_labs[lab].folder);
    double seconds = -1;

    while (store_row(store, row))
        if (sqlite3_column_type(row, 0) != SQLITE_NULL)
            seconds = sqlite3_column_double(row, 0);
    return seconds;
}

static int count_open(const Queue *queue, int lab) /* -1: of all */
{
    int open = 0;

    for (int i = 0; i < queue->count; i++)
        open += task_open(&queue->tasks[i]) && (lab < 0 || queue->tasks[i].lab == lab);
    return open;
}

/* Shares of one lab, numbered from `share`; those beyond the limit are left for a later batch. */
static int cut_lab(const Queue *queue, int lab, int size, int share, FILE *order)
{
    int in_it = 0;

    for (int i = 0; i < queue->count && share < SHARES; i++) {
        const Task *task = &queue->tasks[i];
        if (!task_open(task) || task->lab != lab)
            continue;
        fprintf(order, "%d %lld %d %s\n", share, (long long) task->kernel, task->number,
                all_labs[lab].folder);
        if (++in_it == size) {
            share++;
            in_it = 0;
        }
    }
    return share + (in_it > 0);
}

static char *make_order(Store *store, const MarkingOptions *marking, const SlurmOptions *options,
                        const Queue *queue)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *order = text_open(&text, &bytes);
    int share = 0;

    for (int lab = 0; lab < LABS && all_labs[lab].folder; lab++)
        share = cut_lab(
            queue, lab,
            share_size(options, marking->jobs, seconds_of(store, lab), count_open(queue, -1)),
            share, order);
    text_close(order);
    return text;
}

/* ---- The job script ---- */

char *shell_quote(const char *word, char *quoted, size_t size)
{
    put(quoted, size, "'");
    for (; *word; word++)
        if (*word == '\'')
            append(quoted, size, "'\\''");
        else
            append(quoted, size, "%c", *word);
    return append(quoted, size, "'");
}

static char *make_script(const Sandbox *cell, const MarkingOptions *marking,
                         const SlurmOptions *options, const char *folder)
{
    char self[512] = "", program[2600], round[2600], root[2600], build[2600], device[1700];
    char *script = xcalloc(1, SCRIPT_BYTES);
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length <= 0 || length == sizeof self - 1)
        die("cannot find this program's path: it is too long");
    put(script, SCRIPT_BYTES,
        "#!/bin/bash\n"
        "# A task of gradebook's array: says where it is, then grades its share.\n"
        "round=%s root=%s program=%s\n"
        "cd \"$round\" || exit 3\n"
        "exec >> \"said/$SLURM_ARRAY_TASK_ID.txt\" 2>&1\n"
        "[ -e job ] || { echo \"$SLURM_ARRAY_JOB_ID\" > \"job.$SLURM_ARRAY_TASK_ID\" &&\n"
        "    mv \"job.$SLURM_ARRAY_TASK_ID\" job; }\n"
        "[ -d \"${TMPDIR:-/tmp}\" ] || unset TMPDIR\n"
        "cd \"$root\" && [ -x \"$program\" ] || {\n"
        "    echo \"the workbook is missing on this node, $(uname -n): its folder, with its\" \\\n"
        "        \"builds, must be in a place that all nodes see: $root\"\n"
        "    exit 3\n"
        "}\n"
        "jobs=${SLURM_CPUS_ON_NODE:-1}\n"
        "[ \"$jobs\" -le %d ] || jobs=%d\n"
        "export WARPBOOK_BUILD=%s\n"
        "exec \"$program\" slurm-task --out \"$round\" --jobs \"$jobs\" --devices %s --limit %.0f"
        "%s%s\n",
        shell_quote(folder, round, sizeof round), shell_quote(cell->root, root, sizeof root),
        shell_quote(self, program, sizeof program), SLOTS, SLOTS,
        shell_quote(cell->build, build, sizeof build),
        shell_quote(marking->device_count ? marking->devices[0] : "0", device, sizeof device),
        marking->limit_s, marking->quick ? " --quick" : "",
        options->trusting ? " --trust-submissions" : "");
    return script;
}

/* ---- The folder ---- */

static void __attribute__((noreturn)) fail(const char *path)
{
    die("cannot write %s: %s. Make room, and give the same command again; results so far are kept",
        path, strerror(errno));
}

static void write_kernels(Store *store, const Queue *queue, const char *folder)
{
    char path[800];

    for (int i = 0; i < queue->count; i++) {
        sqlite3_stmt *row;
        if (!task_open(&queue->tasks[i]))
            continue;
        row = store_ask(store, "SELECT source FROM kernels WHERE id = ?", "i",
                        queue->tasks[i].kernel);
        PUT(path, "%s/kernels/%lld.cu", folder, (long long) queue->tasks[i].kernel);
        while (store_row(store, row))
            if (!write_file(path, sqlite3_column_blob(row, 0),
                            (size_t) sqlite3_column_bytes(row, 0)))
                fail(path);
    }
}

static void write_text(const char *folder, const char *name, char *text)
{
    char path[800];

    if (!write_file(PUT(path, "%s/%s", folder, name), text, strlen(text)))
        fail(path);
    free(text);
}

void batch_make(Store *store, const Sandbox *cell, const MarkingOptions *marking,
                const SlurmOptions *options, const Queue *queue)
{
    static const char *const folders[] = { "kernels", "handed", "said" };
    char folder[512], making[600], path[800], *name = xcalloc(1, 64), real[PATH_MAX];

    /* The path as the nodes see it. */
    if (!realpath(PUT(path, "%s/slurm", cell->store), real) || strlen(real) > PATH_MOST)
        die("%s: %s", path, strlen(real) > PATH_MOST ? "choose a shorter path" : strerror(errno));
    PUT(folder, "%s/round", real);
    PUT(making, "%s.new", folder);
    remove_tree(making);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (!make_folders(PUT(path, "%s/%s", making, folders[i])))
            fail(path);
    write_kernels(store, queue, making);
    write_text(making, "course.ini", terms_text(store)); /* private: it contains seeds */
    write_text(making, "order", make_order(store, marking, options, queue));
    write_text(making, "job.sh", make_script(cell, marking, options, folder));
    write_text(making, "name", put(name, 64, "warpbook-%016llx", (unsigned long long) secret()));
    if (rename(making, folder))
        fail(folder);
}

/* ---- sbatch's options ---- */

/* Options that we set and a user must not override. */
static const char *const ours[] = { "-a",         "--array", "-J",     "--job-name",
                                    "--wrap",     "-W",      "--wait", "--test-only",
                                    "--parsable", "-H",      "--hold" };

bool slurm_may_pass(const char *option)
{
    if (*option != '-')
        return false;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        size_t length = strlen(ours[i]);
        if (!strncmp(option, ours[i], length) &&
            (ours[i][1] != '-' || !option[length] || option[length] == '='))
            return false;
    }
    return true;
}

static bool simulates(const MarkingOptions *marking)
{
    return marking->device_count && !strncmp(marking->devices[0], "sim", 3);
}

static void add_option(Words *words, const char *name, const char *value)
{
    char text[1200];

    if (value && *value)
        words_add(words, PUT(text, "%s=%s", name, value));
}

/* Later options win, so the user's come last. */
Words sbatch_options(const MarkingOptions *marking, const SlurmOptions *options, const Batch *round,
                     const char *unfit)
{
    const char *gres = options->gres ? options->gres : simulates(marking) ? "none" : "gpu:1";
    char array[60];
    Words words = { 0 };

    PUT(array, "0-%d", round->shares - 1);
    if (marking->jobs)
        APPEND(array, "%%%d", marking->jobs);
    add_option(&words, "--array", array);
    add_option(&words, "--job-name", round->name);
    add_option(&words, "--chdir",
               "/"); /* the node may not have our folder; the script changes to it */
    add_option(&words, "--output", "/dev/null"); /* the script writes its own file */
    add_option(&words, "--error", "/dev/null");
    add_option(&words, "--gres", strcmp(gres, "none") ? gres : NULL);
    add_option(&words, "--cpus-per-task",
               simulates(marking) ? "1" : "4"); /* nvcc, and both children */
    add_option(&words, "--account", options->account);
    add_option(&words, "--partition", options->partition);
    add_option(&words, "--exclude", unfit);
    for (int i = 0; i < options->option_count; i++)
        words_add(&words, options->options[i]);
    return words;
}
