/* batch.c - the folder through which a gradebook and the tasks of its Slurm array communicate.
 */
#include "gradebook/slurm/batch.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TASKS_BYTES = 16 << 20, WORD_BYTES = 200, MOST_ITEMS = 200000 };

void batch_folder(const char *store, char *folder, size_t size)
{
    put(folder, size, "%s/slurm/batch", store);
}

bool batch_exists(const char *store)
{
    char folder[600];

    batch_folder(store, folder, sizeof folder);
    return file_exists(folder);
}

/* ---- The folder ---- */

static bool make_link(const char *link, const char *shared)
{
    char real[4096], folder[4200];
    int why;

    if (!realpath(shared, real) || !mkdtemp(PUT(folder, "%s/warpbook-XXXXXX", real)))
        return false;
    if (!symlink(folder, link))
        return true;
    why = errno;
    rmdir(folder);
    errno = why;
    return false;
}

bool batch_place(const char *store, const char *shared, char *problem, size_t size)
{
    char link[600];
    bool made;

    PUT(link, "%s/slurm", store);
    if (batch_exists(store))
        return true;
    if (shared && !access(shared, W_OK))
        batch_leave(store);
    if (shared && (access(shared, W_OK) || (unlink(link) && errno != ENOENT)))
        made = false;
    else
        made = shared ? make_link(link, shared) : make_folders(link);
    if (!made)
        put(problem, size, "cannot make a folder for Slurm's tasks in %s: %s",
            shared ? shared : store, strerror(errno));
    return made;
}

void batch_leave(const char *store)
{
    char link[600], real[4096];

    PUT(link, "%s/slurm", store);
    if (batch_exists(store) || !realpath(link, real))
        return;
    rmdir(real); /* only if it is empty */
    unlink(link);
}

/* ---- Reading ---- */

/* The first line of a small file; "" if missing. */
static void read_word(const Batch *batch, const char *name, char *word, size_t size)
{
    char path[700], *text = read_file(PUT(path, "%s/%s", batch->folder, name), WORD_BYTES, NULL);

    put(word, size, "%.*s", text ? (int) strcspn(text, "\n") : 0, text ? text : "");
    free(text);
}

/* Adds the kernels of one task: "06_transpose 17.1,18.1". */
static bool read_task(Batch *batch, char *line)
{
    char *list = strchr(line, ' ');
    KernelList kernels = { 0 };
    int lab;
    bool valid;

    if (!list)
        return false;
    *list++ = 0;
    lab = lab_index(line);
    valid = lab >= 0 && kernels_parse(list, &kernels) && batch->count + kernels.count <= MOST_ITEMS;
    if (valid)
        batch->items =
            xrealloc(batch->items, (size_t) (batch->count + kernels.count), sizeof *batch->items);
    for (int i = 0; valid && i < kernels.count; i++)
        batch->items[batch->count++] =
            (WorkItem){ .task = batch->tasks, .lab = lab, .attempt = kernels.list[i] };
    batch->tasks++;
    free(kernels.list);
    return valid;
}

static bool read_tasks(Batch *batch)
{
    char path[700], *text = read_file(PUT(path, "%s/tasks", batch->folder), TASKS_BYTES, NULL);
    bool valid = text && *text;

    for (char *line = text, *end; valid && *line; line = end + 1) {
        if ((end = strchr(line, '\n')))
            *end = 0;
        valid = end && read_task(batch, line);
    }
    free(text);
    return valid;
}

bool batch_find_job(Batch *batch)
{
    read_word(batch, "job", batch->job, sizeof batch->job);
    if (strspn(batch->job, "0123456789") != strlen(batch->job))
        batch->job[0] = 0;
    return batch->job[0] != 0;
}

bool batch_read(const char *folder, Batch *batch, char *problem, size_t size)
{
    bool valid;

    *batch = (Batch){ 0 };
    PUT(batch->folder, "%s", folder);
    valid = read_tasks(batch);
    read_word(batch, "name", batch->name, sizeof batch->name);
    batch_find_job(batch);
    if (valid && batch->name[0] && !strchr(batch->name, '/'))
        return true;
    put(problem, size,
        "%s exists, but its list of tasks cannot be read. Cancel the Slurm array if it is still "
        "running (squeue --me), remove that folder, and run the same command again",
        folder);
    batch_free(batch);
    return false;
}

bool batch_write(const Batch *batch, const char *name, const char *text)
{
    char path[700];

    return write_file(PUT(path, "%s/%s", batch->folder, name), text, strlen(text));
}

void batch_free(Batch *batch)
{
    free(batch->items);
    batch->items = NULL;
    batch->count = 0;
}

char *batch_log(const Batch *batch, const WorkItem *item, char *path, size_t size)
{
    return put(path, size, "%s/%s/%s/%lld.%d.txt", batch->folder, batch->name,
               all_labs[item->lab].folder, (long long) item->attempt.kernel, item->attempt.number);
}
