/* limits.c - limits on the memory, processes and disk space that one grading uses in total.
 *
 * Linux's own limits apply to single processes (RLIMIT_AS would break CUDA, which reserves far more
 * memory than it uses) or need a delegated cgroup. So gradebook checks the usage twice per second.
 * Every process in a sandbox descends from the process that gradebook started, since the sandbox
 * has its own PID namespace, whose first process inherits orphans. A grading can exceed a limit for
 * half a second, but no longer.
 */
#include "gradebook/run/limits.h"
#include "base/util.h"

#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PROCESSES = 256, /* a compilation needs about ten */
    DEPTH = 32,      /* of nested folders; no build has more */
    DISK_MIB = 512,
    LEAST_MIB = 2048, /* a compilation alone needs half of this */
    MOST_MIB = 16384, /* warpbook kills a kernel's process earlier, at 6 GiB */
};

typedef struct Usage {
    size_t bytes;
    int processes;
} Usage;

Limits limits_for(int gradings)
{
    double pages = (double) sysconf(_SC_PHYS_PAGES), page = (double) sysconf(_SC_PAGESIZE);
    double mib = 0.8 * pages * page / 1048576 / (gradings > 0 ? gradings : 1);

    mib = mib < LEAST_MIB ? LEAST_MIB : mib > MOST_MIB ? MOST_MIB : mib;
    return (Limits){ (size_t) mib << 20, PROCESSES, (size_t) DISK_MIB << 20 };
}

/* The private memory of a process, without mapped files; the lines are in KiB. */
static size_t own_bytes(pid_t pid)
{
    static const char *const names[] = { "RssAnon:", "RssShmem:", "VmSwap:" };
    char path[64], line[200];
    size_t kib = 0;
    FILE *status = fopen(PUT(path, "/proc/%d/status", (int) pid), "re");

    while (status && fgets(line, sizeof line, status))
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (!strncmp(line, names[i], strlen(names[i])))
                kib += strtoul(line + strlen(names[i]), NULL, 10);
    if (status)
        fclose(status);
    return kib << 10;
}

static void add_process(pid_t pid, int most, Usage *held);

/* Adds the processes that one thread has started. */
static void add_children(const char *path, int most, Usage *held)
{
    FILE *children = fopen(path, "re");
    int child;

    while (children && held->processes <= most && fscanf(children, "%d", &child) == 1)
        add_process(child, most, held);
    if (children)
        fclose(children);
}

/* Recursion stops at `most` processes. */
static void add_process(pid_t pid, int most, Usage *held)
{
    char path[400];
    struct dirent *thread;
    DIR *threads = opendir(PUT(path, "/proc/%d/task", (int) pid));

    if (!threads)
        return;
    held->processes++;
    held->bytes += own_bytes(pid);
    while (held->processes <= most && (thread = readdir(threads)))
        if (thread->d_name[0] != '.')
            add_children(PUT(path, "/proc/%d/task/%s/children", (int) pid, thread->d_name), most,
                         held);
    closedir(threads);
}

static size_t seen_bytes; /* by the walk that calls add_file() */

/* Stops the walk at a folder that is nested too deeply. */
static int add_file(const char *path, const struct stat *about, int kind, struct FTW *at)
{
    (void) path;
    if (kind == FTW_NS || at->level == 0)
        return 0; /* already gone; the folder itself */
    seen_bytes += (size_t) about->st_blocks * 512;
    if ((kind != FTW_D && kind != FTW_DNR) || at->level <= DEPTH)
        return 0;
    seen_bytes = SIZE_MAX;
    return 1;
}

/* Disk usage below a folder; links are not followed. */
static size_t disk_bytes(const char *folder)
{
    seen_bytes = 0;
    nftw(folder, add_file, 32, FTW_PHYS);
    return seen_bytes;
}

bool limits_broken(const Limits *limits, pid_t pid, const char *folder, char *why, size_t size)
{
    Usage held = { 0 };

    add_process(pid, limits->processes, &held);
    if (held.processes > limits->processes)
        put(why, size, "it had more than %d processes and was killed", limits->processes);
    else if (held.bytes > limits->memory_bytes)
        put(why, size, "it held more than %zu MiB of memory and was killed",
            limits->memory_bytes >> 20);
    else if (folder && disk_bytes(folder) > limits->disk_bytes)
        put(why, size, "it wrote more than %zu MiB and was killed", limits->disk_bytes >> 20);
    else
        return false;
    return true;
}
