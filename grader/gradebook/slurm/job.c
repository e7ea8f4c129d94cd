/* job.c - divides open work into tasks and writes the batch for a Slurm array.
 *
 * A task grades several kernels of one lab, since scheduling, the tests of bubblewrap and GPU, and
 * the build of the lab's references take at least as long as one grading, and since Slurm by
 * default limits arrays to 1000 tasks. A task must not take too long, because the kernels that a
 * lost task has not begun wait for the next array. So a task takes about ten minutes.
 */
#include "gradebook/slurm/job.h"
#include "gradebook/store/terms.h"
#include "base/util.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TASK_S = 600,
    GUESS_S = 40, /* per kernel of a lab without gradings so far */
    MOST_KERNELS = 200,
    MOST_TASKS = 1000, /* Slurm's MaxArraySize is 1001 by default */
    MOST_PATH = 380,
};

/* ---- Tasks ---- */

int task_size(const SlurmOptions *options, int jobs, double seconds, int open)
{
    double one_s = seconds > 1 ? seconds : seconds < 0 ? GUESS_S : 1;
    int size = TASK_S / one_s < 1 ? 1 : (int) (TASK_S / one_s);

    if (options->batch)
        return options->batch;
    if (size > MOST_KERNELS)
        size = MOST_KERNELS;
    if (jobs && size > (open + jobs - 1) / jobs) /* give each task some of the kernels */
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

static int count_open(const Queue *queue)
{
    int open = 0;

    for (int i = 0; i < queue->count; i++)
        open += task_open(&queue->tasks[i]);
    return open;
}

/* Writes the tasks of one lab, one per line. Kernels that exceed the limit are left for a later
 * batch. */
static int write_tasks_of(const Queue *queue, int lab, int size, int tasks, FILE *list)
{
    int count = 0;

    for (int i = 0; i < queue->count && tasks < MOST_TASKS; i++) {
        const Task *task = &queue->tasks[i];
        if (!task_open(task) || task->lab != lab)
            continue;
        if (count == 0)
            fprintf(list, "%s ", all_labs[lab].folder);
        fprintf(list, "%s%lld.%d", count ? "," : "", (long long) task->kernel, task->number);
        if (++count == size) {
            fputc('\n', list);
            count = 0;
            tasks++;
        }
    }
    if (count)
        fputc('\n', list);
    return tasks + (count > 0);
}

static char *tasks_text(Store *store, const GradingOptions *grading, const SlurmOptions *options,
                        const Queue *queue)
{
    int open = count_open(queue), tasks = 0;
    char *text = NULL;
    size_t bytes = 0;
    FILE *list = text_open(&text, &bytes);

    for (int lab = 0; lab < LABS && all_labs[lab].folder; lab++)
        tasks = write_tasks_of(queue, lab,
                               task_size(options, grading->jobs, seconds_of(store, lab), open),
                               tasks, list);
    text_close(list);
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

static void set_variable(FILE *script, const char *name, const char *value)
{
    char quoted[8200];

    fprintf(script, "%s=%s\n", name, shell_quote(value, quoted, sizeof quoted));
}

/* The text of task.sh, after the variables that it needs. */
static char *script_text(const Sandbox *sandbox, const GradingOptions *grading,
                         const SlurmOptions *options, const char *folder, const char *name)
{
    const char *device = grading->device_count ? grading->devices[0] : "0";
    char self[512] = "", quoted[1700], *text = NULL;
    size_t bytes = 0;
    FILE *script = text_open(&text, &bytes);
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length <= 0 || length == sizeof self - 1)
        die("cannot find this program's path: it is too long");
    fputs("#!/bin/bash\n", script);
    set_variable(script, "batch", folder);
    set_variable(script, "name", name);
    set_variable(script, "root", sandbox->root);
    set_variable(script, "program", self);
    set_variable(script, "export WARPBOOK_BUILD", sandbox->build);
    fprintf(script, "options=(--devices %s --limit %.0f%s%s)\n\n",
            shell_quote(device, quoted, sizeof quoted), grading->limit_s,
            grading->quick ? " --quick" : "", options->trusting ? " --trust-submissions" : "");
    fputs(task_script, script);
    text_close(script);
    return text;
}

/* ---- The folder ---- */

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
                cannot_write(path);
    }
}

static void write_text(const char *folder, const char *name, char *text)
{
    char path[800];

    if (!write_file(PUT(path, "%s/%s", folder, name), text, strlen(text)))
        cannot_write(path);
    free(text);
}

void batch_make(Store *store, const Sandbox *sandbox, const GradingOptions *grading,
                const SlurmOptions *options, const Queue *queue)
{
    char folder[512], making[600], path[800], real[PATH_MAX], name[64];
    const char *const folders[] = { "kernels", "printed", name };

    /* The path as the nodes see it. */
    if (!realpath(PUT(path, "%s/slurm", sandbox->store), real) || strlen(real) > MOST_PATH)
        die("%s: %s", path, strlen(real) > MOST_PATH ? "choose a shorter path" : strerror(errno));
    PUT(folder, "%s/batch", real);
    PUT(making, "%s.new", folder);
    PUT(name, "warpbook-%016llx", (unsigned long long) secret());
    remove_tree(making);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (!make_folders(PUT(path, "%s/%s", making, folders[i])))
            cannot_write(path);
    write_kernels(store, queue, making);
    write_text(making, "course.ini", terms_text(store)); /* private: it contains seeds */
    write_text(making, "tasks", tasks_text(store, grading, options, queue));
    write_text(making, "job.sh", script_text(sandbox, grading, options, folder, name));
    write_text(making, "name", xstrdup(name));
    if (rename(making, folder))
        cannot_write(folder);
}

/* ---- sbatch's options ---- */

/* Options that gradebook sets and a user must not override. */
static const char *const reserved[] = { "-a",         "--array", "-J",     "--job-name",
                                        "--wrap",     "-W",      "--wait", "--test-only",
                                        "--parsable", "-H",      "--hold" };

bool slurm_may_pass(const char *option)
{
    if (*option != '-')
        return false;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        size_t length = strlen(reserved[i]);
        if (!strncmp(option, reserved[i], length) &&
            (reserved[i][1] != '-' || !option[length] || option[length] == '='))
            return false;
    }
    return true;
}

static bool simulates(const GradingOptions *grading)
{
    return grading->device_count && !strncmp(grading->devices[0], "sim", 3);
}

static void add_option(Words *words, const char *name, const char *value)
{
    char text[1200];

    if (value && *value)
        words_add(words, PUT(text, "%s=%s", name, value));
}

/* Later options win, so the user's come last. */
Words sbatch_options(const GradingOptions *grading, const SlurmOptions *options, const Batch *batch)
{
    const char *gres = options->gres ? options->gres : simulates(grading) ? "none" : "gpu:1";
    char array[60];
    Words words = { 0 };

    PUT(array, "0-%d", batch->tasks - 1);
    if (grading->jobs)
        APPEND(array, "%%%d", grading->jobs);
    add_option(&words, "--array", array);
    add_option(&words, "--job-name", batch->name);
    /* A node may lack the current folder. The script changes to the right one. */
    add_option(&words, "--chdir", "/");
    add_option(&words, "--output", "/dev/null"); /* the script redirects its output itself */
    add_option(&words, "--error", "/dev/null");
    add_option(&words, "--gres", strcmp(gres, "none") ? gres : NULL);
    add_option(&words, "--cpus-per-task",
               simulates(grading) ? "1" : "4"); /* for nvcc and both child processes */
    add_option(&words, "--account", options->account);
    add_option(&words, "--partition", options->partition);
    for (int i = 0; i < options->option_count; i++)
        words_add(&words, options->options[i]);
    return words;
}
