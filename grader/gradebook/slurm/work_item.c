/* work_item.c - the folder through which a gradebook and the tasks of its Slurm array communicate.
 */
#include "gradebook/slurm/work_item.h"
#include "gradebook/import/extract.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ORDER_BYTES = 16 << 20, WORD_BYTES = 200, ERRANDS = 200000 };

void batch_folder(const char *store, char *folder, size_t size)
{
    put(folder, size, "%s/slurm/round", store);
}

bool batch_is_out(const char *store)
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
    bool there;

    PUT(link, "%s/slurm", store);
    if (batch_is_out(store))
        return true;
    if (shared && !access(shared, W_OK))
        batch_leave(store);
    if (shared && (access(shared, W_OK) || (unlink(link) && errno != ENOENT)))
        there = false;
    else
        there = shared ? make_link(link, shared) : make_folders(link);
    if (!there)
        put(problem, size, "cannot make a folder for Slurm's tasks in %s: %s",
            shared ? shared : store, strerror(errno));
    return there;
}

void batch_leave(const char *store)
{
    char link[600], real[4096];

    PUT(link, "%s/slurm", store);
    if (batch_is_out(store) || !realpath(link, real))
        return;
    rmdir(real); /* only if it is empty */
    unlink(link);
}

/* ---- Reading it ---- */

/* The first line of a small file; "" if missing. */
static void read_word(const Batch *round, const char *name, char *word, size_t size)
{
    char path[700], *text = read_file(PUT(path, "%s/%s", round->folder, name), WORD_BYTES, NULL);

    put(word, size, "%.*s", text ? (int) strcspn(text, "\n") : 0, text ? text : "");
    free(text);
}

static int place_of(const char *lab)
{
    for (int i = 0; i < LABS && all_labs[i].folder; i++)
        if (!strcmp(lab, all_labs[i].folder))
            return i;
    return -1;
}

static bool read_errand(const char *line, WorkItem *errand)
{
    char lab[100];
    long long kernel;
    int end = 0;

    *errand = (WorkItem){ 0 };
    if (sscanf(line, "%d %lld %d %99s%n", &errand->share, &kernel, &errand->number, lab, &end) !=
            4 ||
        line[end] != '\n')
        return false;
    errand->kernel = kernel;
    errand->lab = place_of(lab);
    return errand->share >= 0 && errand->share < ERRANDS && kernel > 0 && errand->number > 0 &&
           errand->lab >= 0;
}

static bool read_order(Batch *round, const char *order)
{
    int lines = 0;

    for (const char *at = order; (at = strchr(at, '\n')); at++)
        lines++;
    if (lines == 0 || lines > ERRANDS)
        return false;
    round->errands = xcalloc((size_t) lines, sizeof *round->errands);
    for (const char *at = order; *at; at = strchr(at, '\n') + 1) {
        WorkItem *errand = &round->errands[round->count++];
        if (round->count > lines || !read_errand(at, errand))
            return false;
        if (errand->share >= round->shares)
            round->shares = errand->share + 1;
    }
    return true;
}

bool batch_find_job(Batch *round)
{
    read_word(round, "job", round->job, sizeof round->job);
    if (strspn(round->job, "0123456789") != strlen(round->job))
        round->job[0] = 0;
    return round->job[0] != 0;
}

bool batch_read(const char *folder, Batch *round, char *problem, size_t size)
{
    char path[700], *order;
    bool whole;

    *round = (Batch){ 0 };
    PUT(round->folder, "%s", folder);
    order = read_file(PUT(path, "%s/order", folder), ORDER_BYTES, NULL);
    whole = order && read_order(round, order);
    free(order);
    read_word(round, "name", round->name, sizeof round->name);
    batch_find_job(round);
    if (whole && round->name[0])
        return true;
    put(problem, size,
        "%s exists, but its list of work for a Slurm array cannot be read. Cancel the array if it "
        "is still running (squeue --me), remove that folder, and give the same command again",
        folder);
    batch_free(round);
    return false;
}

bool batch_write(const Batch *round, const char *name, const char *text)
{
    char path[700];

    return write_file(PUT(path, "%s/%s", round->folder, name), text, strlen(text));
}

void batch_free(Batch *round)
{
    free(round->errands);
    round->errands = NULL;
    round->count = 0;
}

/* ---- Attempts ---- */

void batch_handed(const Batch *round, const WorkItem *errand, const char *end, char *path,
                  size_t size)
{
    put(path, size, "%s/handed/%lld.%d%s", round->folder, (long long) errand->kernel,
        errand->number, end);
}

bool batch_begin(const Batch *round, const WorkItem *errand, const char *who)
{
    char path[700];
    size_t length = strlen(who);
    bool written;
    int fd;

    batch_handed(round, errand, ".begun", path, sizeof path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    written = write(fd, who, length) == (ssize_t) length;
    return !close(fd) && written;
}

bool batch_begun(const Batch *round, const WorkItem *errand, char *who, size_t size)
{
    char path[700], *text;

    batch_handed(round, errand, ".begun", path, sizeof path);
    text = read_file(path, WORD_BYTES, NULL);
    put(who, size, "%.*s", text ? (int) strcspn(text, "\n") : 0, text ? text : "");
    free(text);
    return text != NULL;
}
