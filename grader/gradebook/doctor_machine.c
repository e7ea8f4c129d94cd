/* doctor_machine.c - is the machine around the GPUs fit to grade? It changes nothing: it tries
 * bubblewrap in a temporary folder. */
#include "gradebook/doctor_machine.h"
#include "gradebook/run/sandbox.h"
#include "build/toolchain.h"
#include "base/util.h"

#include <archive.h>
#include <errno.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum { LANDLOCK_VERSION_FLAG = 1, CORES_A_GPU = 4, A_YEAR_WHEN_THIS_WAS_WRITTEN = 2026 };

static const double gib = 1024.0 * 1024 * 1024;

/* The first line of a small file; "" if it cannot be read. */
static const char *first_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "re");

    *line = 0;
    if (file && fgets(line, (int) size, file))
        line[strcspn(line, "\n")] = 0;
    if (file)
        fclose(file);
    return line;
}

/* All of a file in /proc, whose size is not known in advance; "" if it cannot be read. */
static const char *whole(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    size_t used = file ? fread(text, 1, size - 1, file) : 0;

    text[used] = 0;
    if (file)
        fclose(file);
    return text;
}

/* ---- What gradings run in ---- */

static void look_at_toolkit(Checkup *checkup, HealthReport *all)
{
    Toolchain toolchain;

    toolchain_find(&toolchain);
    if (toolchain.problem[0])
        health_advise(health_row(all, HEALTH_FAIL, "CUDA Toolkit", "not usable"), "%s",
                      toolchain.problem);
    else if (!toolchain.libraries[0])
        health_advise(health_row(all, HEALTH_FAIL, "CUDA Toolkit", "nvcc %s, no libcudart.so",
                                 toolchain.version),
                      "The toolkit's runtime library is missing. Install the complete toolkit.");
    else
        health_row(all, HEALTH_OK, "CUDA Toolkit", "nvcc %s", toolchain.version);
    if (!toolchain.problem[0])
        PUT(checkup->toolkit, "%s", toolchain.version);
}

static void look_at_programs(Checkup *checkup, HealthReport *all)
{
    static const char *const programs[] = { "warpbook", "runner", "runner-sim" };
    char build[512], path[600];

    (void) checkup;
    if (!file_exists("common/lab.h") || !find_build_folder(build, sizeof build)) {
        health_advise(
            health_row(all, HEALTH_FAIL, "workbook", "not found here"),
            "Run gradebook in the folder that contains labs/ and Makefile, after make gradebook.");
        return;
    }
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (!file_exists(PUT(path, "%s/%s", build, programs[i]))) {
            health_advise(health_row(all, HEALTH_FAIL, "workbook", "%s is missing", path),
                          "It was not built, most likely because make found no nvcc. Install nvcc, "
                          "then run make gradebook.");
            return;
        }
    health_row(all, HEALTH_OK, "workbook", "built in %s", build);
}

static void look_at_cell(Checkup *checkup, HealthReport *all)
{
    const char *folder = getenv("TMPDIR");
    char store[500], problem[1200] = "";
    Sandbox cell = { 0 };

    if (checkup->trusting) {
        health_advise(
            health_row(all, HEALTH_WARN, "bubblewrap", "not used (--trust-submissions)"),
            "A submission that escapes warpbook's own sandbox can read and write all your files.");
        return;
    }
    PUT(store, "%s/warpbook-doctor-XXXXXX", folder && *folder ? folder : "/tmp");
    if (!mkdtemp(store)) {
        health_advise(
            health_row(all, HEALTH_FAIL, "temporary folder", "%s: %s", store, strerror(errno)),
            "$TMPDIR (or /tmp) must be a writable folder.");
        return;
    }
    if (sandbox_open(&cell, store, false, problem, sizeof problem))
        health_row(all, HEALTH_OK, "bubblewrap", "can run warpbook%s",
                   cell.sized ? "" : ", but cannot limit its files in memory (needs 0.7)");
    else
        health_advise(health_row(all, HEALTH_FAIL, "bubblewrap", "cannot run gradings"), "%s",
                      problem);
    sandbox_close(&cell);
    remove_tree(store);
}

/* Kernel settings that forbid user namespaces, with the forbidding value. */
static const struct {
    const char *path, *forbids, *setting;
} namespaces[] = {
    { "/proc/sys/user/max_user_namespaces", "0", "user.max_user_namespaces=15000" },
    { "/proc/sys/kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1" },
    { "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
      "kernel.apparmor_restrict_unprivileged_userns=0 (or a profile for bwrap)" },
};

static void look_at_namespaces(Checkup *checkup, HealthReport *all)
{
    char value[40];

    (void) checkup;
    if (!file_exists("/proc/self/ns/user")) {
        health_advise(
            health_row(all, HEALTH_FAIL, "user namespaces", "not supported by this Linux kernel"),
            "bubblewrap needs them. Use another kernel or machine, or --trust-submissions.");
        return;
    }
    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++)
        if (!strcmp(first_line(namespaces[i].path, value, sizeof value), namespaces[i].forbids)) {
            health_advise(health_row(all, geteuid() ? HEALTH_FAIL : HEALTH_WARN, "user namespaces",
                                     "%s is %s", namespaces[i].path, value),
                          "bubblewrap needs them. An administrator can allow them: sysctl %s",
                          namespaces[i].setting);
            return;
        }
    health_row(all, HEALTH_OK, "user namespaces", "allowed");
}

static void look_at_sandbox(Checkup *checkup, HealthReport *all)
{
    char actions[200];
    long landlock = -1;

    (void) checkup;
#ifdef SYS_landlock_create_ruleset
    landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION_FLAG);
#endif
    if (landlock > 0)
        health_row(all, HEALTH_OK, "Landlock", "version %ld", landlock);
    else
        health_advise(
            health_row(all, HEALTH_WARN, "Landlock", "not supported by this Linux kernel, or off"),
            "Only seccomp and bubblewrap keep submissions and the archive reader away from your "
            "files. Linux 5.13 and newer have Landlock.");
    if (strstr(first_line("/proc/sys/kernel/seccomp/actions_avail", actions, sizeof actions),
               "errno") ||
        prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0)
        health_row(all, HEALTH_OK, "seccomp", "available");
    else
        health_advise(health_row(all, HEALTH_FAIL, "seccomp", "not supported by this Linux kernel"),
                      "Without it a submission can start programs and use a network from inside "
                      "its sandbox. Use another Linux kernel.");
}

void cgroup_diagnose(const char *root, const char *own, HealthReport *all)
{
    static const char advice[] =
        "Each process of a grading is limited, but not the grading as a whole; if the machine runs "
        "out of memory, another process may be killed. With systemd, start gradebook by "
        "systemd-run --user --scope -p Delegate=yes.";
    const char *line = strncmp(own, "0::", 3) ? strstr(own, "\n0::") : own;
    char path[700], controllers[300];

    line = line ? strstr(line, "::") + 2 : NULL;
    if (!file_exists(PUT(path, "%s/cgroup.controllers", root)) || !line) {
        health_advise(health_row(all, HEALTH_WARN, "cgroup v2", "not mounted at %s", root), "%s",
                      advice);
        return;
    }
    PUT(path, "%s%.*s", root, (int) strcspn(line, "\n"), line);
    APPEND(path, "/cgroup.procs");
    if (access(path, W_OK)) {
        health_advise(health_row(all, HEALTH_WARN, "cgroup v2", "not delegated to this user"), "%s",
                      advice);
        return;
    }
    PUT(path, "%s%.*s/cgroup.controllers", root, (int) strcspn(line, "\n"), line);
    if (!strstr(first_line(path, controllers, sizeof controllers), "memory"))
        health_advise(
            health_row(all, HEALTH_WARN, "cgroup v2", "delegated, without memory control"), "%s",
            advice);
    else
        health_row(all, HEALTH_OK, "cgroup v2", "delegated, with memory control");
}

static void look_at_cgroup(Checkup *checkup, HealthReport *all)
{
    char own[8192];

    (void) checkup;
    cgroup_diagnose("/sys/fs/cgroup", whole("/proc/self/cgroup", own, sizeof own), all);
}

/* ---- Where results are stored ---- */

const char *network_disk(int64_t type)
{
    static const struct {
        int64_t type;
        const char *name;
    } kinds[] = {
        { 0x6969, "NFS" },       { 0xff534d42, "CIFS" },   { 0x517b, "SMB" },
        { 0xfe534d42, "SMB2" },  { 0x0bd00bd0, "Lustre" }, { 0x47504653, "GPFS" },
        { 0x00c36400, "Ceph" },  { 0x19830326, "BeeGFS" }, { 0x01021997, "9P" },
        { 0x5346414f, "AFS" },   { 0x6b414653, "AFS" },    { 0x65735546, "FUSE" },
        { 0x7461636f, "OCFS2" }, { 0x01161970, "GFS2" },   { 0xaad7aaea, "PanFS" },
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((type & 0xffffffff) == kinds[i].type)
            return kinds[i].name;
    return NULL;
}

/* The nearest existing parent folder. */
static void existing(const char *out, char *folder, size_t size)
{
    put(folder, size, "%s", out);
    while (*folder && !file_exists(folder)) {
        char *slash = strrchr(folder, '/');
        if (!slash)
            put(folder, size, ".");
        else
            slash[slash == folder] = 0;
    }
}

static void look_at_room(const char *what, const char *path, double least_gib, double good_gib,
                         HealthReport *all)
{
    struct statvfs room;
    double free_gib;

    if (statvfs(path, &room)) {
        health_row(all, HEALTH_FAIL, what, "%s: %s", path, strerror(errno));
        return;
    }
    free_gib = (double) room.f_bavail * (double) room.f_frsize / gib;
    if (room.f_flag & ST_RDONLY)
        health_advise(health_row(all, HEALTH_FAIL, what, "%s is read-only", path),
                      "Choose another folder.");
    else if (free_gib < good_gib)
        health_advise(
            health_row(all, free_gib < least_gib ? HEALTH_FAIL : HEALTH_WARN, what,
                       "%.1f GiB free at %s", free_gib, path),
            "A course of 300 students writes several GiB of logs and builds. A full disk stops "
            "grading; no result is lost, and grading can resume once there is space.");
    else
        health_row(all, HEALTH_OK, what, "%.0f GiB free at %s", free_gib, path);
}

static void look_at_disk(Checkup *checkup, HealthReport *all)
{
    const char *temporary = getenv("TMPDIR"), *network;
    char folder[500];
    struct statfs about;

    existing(checkup->out ? checkup->out : ".", folder, sizeof folder);
    look_at_room("disk for results", folder, 1, 10, all);
    look_at_room("disk for work", temporary && *temporary ? temporary : "/tmp", 0.5, 4, all);
    if (statfs(folder, &about))
        return;
    network = network_disk((int64_t) about.f_type);
    if (network)
        health_advise(health_row(all, HEALTH_WARN, "kind of disk", "%s at %s", network, folder),
                      "A network file system may not keep SQLite's locks, and two programs at once "
                      "can damage the database. Put --out on a local disk. With --executor slurm "
                      "the folder must be shared: then run one gradebook at a time.");
    else if ((about.f_type & 0xffffffff) == 0x01021994)
        health_advise(health_row(all, HEALTH_WARN, "kind of disk", "memory (tmpfs) at %s", folder),
                      "Results there are lost when the machine restarts. Put --out on a disk.");
    else
        health_row(all, HEALTH_OK, "kind of disk", "local");
}

/* ---- Cores, memory, time ---- */

static void look_at_cores(Checkup *checkup, HealthReport *all)
{
    int gpus = checkup->gpus > 0 ? checkup->gpus : 1, wanted = CORES_A_GPU * gpus, cores = 0;
    double load[1] = { 0 };
    cpu_set_t set;

    if (!sched_getaffinity(0, sizeof set, &set))
        cores = CPU_COUNT(&set);
    if (cores < 1)
        cores = (int) sysconf(_SC_NPROCESSORS_ONLN);
    if (getloadavg(load, 1) == 1 && load[0] > cores / 2.0)
        health_advise(
            health_row(all, HEALTH_WARN, "processors", "%d, load average %.1f", cores, load[0]),
            "Other work disturbs measurements: more samples are dropped, and gradings take "
            "longer.");
    else if (cores < wanted)
        health_advise(health_row(all, HEALTH_WARN, "processors", "%d for %d GPU%s", cores, gpus,
                                 gpus > 1 ? "s" : ""),
                      "Per GPU, the student's kernel, the reference, the grader and compilers keep "
                      "%d processors busy; with fewer, the GPU has to wait.",
                      CORES_A_GPU);
    else
        health_row(all, HEALTH_OK, "processors", "%d", cores);
}

static void look_at_memory(Checkup *checkup, HealthReport *all)
{
    int gpus = checkup->gpus > 0 ? checkup->gpus : 1;
    char text[8192];
    const char *line = strstr(whole("/proc/meminfo", text, sizeof text), "MemAvailable:");
    double free_gib = line ? strtod(line + 13, NULL) / (1024 * 1024) : -1;

    if (free_gib < 0)
        health_advise(health_row(all, HEALTH_WARN, "memory", "cannot be read"),
                      "/proc/meminfo is missing.");
    else if (free_gib < 4.0 * gpus)
        health_advise(health_row(all, free_gib < 1 ? HEALTH_FAIL : HEALTH_WARN, "memory",
                                 "%.1f GiB available", free_gib),
                      "A grading holds both kernels' arrays and up to 1 GiB of files in memory: 4 "
                      "GiB per GPU is safe.");
    else
        health_row(all, HEALTH_OK, "memory", "%.0f GiB available", free_gib);
}

static void look_at_time(Checkup *checkup, HealthReport *all)
{
    struct timex clock = { 0 };
    time_t now = time(NULL);
    struct tm here;
    char shown[80];

    (void) checkup;
    localtime_r(&now, &here);
    strftime(shown, sizeof shown, "%Y-%m-%d %H:%M %Z (%z)", &here);
    if (here.tm_year + 1900 < A_YEAR_WHEN_THIS_WAS_WRITTEN)
        health_advise(health_row(all, HEALTH_FAIL, "clock", "%s", shown),
                      "The clock is wrong: results would carry a date in the past. An "
                      "administrator can set it (timedatectl).");
    else if (adjtimex(&clock) == TIME_ERROR || (clock.status & STA_UNSYNC))
        health_advise(health_row(all, HEALTH_WARN, "clock", "%s, not synchronised", shown),
                      "No service synchronises it (timedatectl set-ntp true). In a container this "
                      "may not be visible: then compare it with another clock.");
    else
        health_row(all, HEALTH_OK, "clock", "%s", shown);
    if (!getenv("TZ") && !file_exists("/etc/localtime"))
        health_advise(health_row(all, HEALTH_WARN, "time zone", "not set: UTC"),
                      "Deadlines and times are in UTC. To change that, set TZ in the environment, "
                      "for example TZ=Europe/Berlin.");
    else
        health_row(all, HEALTH_OK, "time zone", "%s", getenv("TZ") ? getenv("TZ") : "the system's");
}

static void look_at_libraries(Checkup *checkup, HealthReport *all)
{
    (void) checkup;
    health_row(all, HEALTH_OK, "libraries", "SQLite %s, %s", sqlite3_libversion(),
               archive_version_string());
}

/* ---- All of it ---- */

static void (*const looks[])(Checkup *, HealthReport *) = {
    look_at_programs, look_at_toolkit, look_at_cell,      look_at_namespaces,
    look_at_sandbox,  look_at_cgroup,  look_at_disk,      look_at_cores,
    look_at_memory,   look_at_time,    look_at_libraries,
};

void machine_diagnose(Checkup *checkup, HealthReport *all)
{
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        looks[i](checkup, all);
}
