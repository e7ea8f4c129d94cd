/* lockdown.c - the rights that a runner gives up before student code enters it.
 *
 * First it closes the descriptors it inherited (before CUDA opens its own). Once CUDA is up, it
 * sets limits and installs two mechanisms, each of which covers what the other cannot.
 *
 * Seccomp filters system calls by number and arguments, for all threads: no processes, no
 * sockets, no tracing, nothing deleted or renamed. The filter is a table with one row per system
 * call, which this file turns into a BPF program.
 *
 * Landlock restricts files. No file outside the system's folders can be opened, except the kernel
 * itself. No file can be opened for writing outside /proc and the GPU's devices, and none can be
 * created. The memory of other processes is out of reach. This holds for the calling thread and
 * the threads that it starts, which are the ones that student code runs on.
 *
 * Everything that CUDA needs once it is up stays allowed: mmap, ioctl, futex, threads, opening
 * devices. Code that escapes the sandbox still cannot write its verdict, which another process
 * decides.
 */
#include "base/lockdown.h"
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LAST_KEPT = 5, MORE_FILES = 256, FILE_BYTES = 64 << 20 };

static bool filtered, restricted;
static uint32_t spared; /* a child process that this process may still kill; 0: none */

const char *lockdown_state(void)
{
    return filtered     ? restricted ? "seccomp+landlock" : "seccomp"
           : restricted ? "landlock"
                        : "none";
}

void lockdown_spare(pid_t child)
{
    spared = (uint32_t) child;
}

/* ---- Descriptors and limits ---- */

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

void lockdown_begin(void)
{
    long most = sysconf(_SC_OPEN_MAX);

    if (!syscall(SYS_close_range, LAST_KEPT + 1, ~0u, 0))
        return;
    for (int fd = LAST_KEPT + 1; fd < (most > 0 && most < 1 << 20 ? most : 1 << 20); fd++)
        close(fd);
}

static void limit(int what, rlim_t value)
{
    struct rlimit now;

    if (getrlimit(what, &now))
        return;
    if (now.rlim_max == RLIM_INFINITY || value < now.rlim_max)
        now.rlim_max = value;
    now.rlim_cur = now.rlim_max;
    setrlimit(what, &now);
}

/* No limit on address space: CUDA reserves far more than it uses. */
static void set_limits(void)
{
    int next = fcntl(0, F_DUPFD_CLOEXEC, 0); /* about as many descriptors as CUDA holds open */

    if (next >= 0)
        close(next);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, FILE_BYTES);
    limit(RLIMIT_NOFILE, (rlim_t) (next < 0 ? 0 : next) + MORE_FILES);
}

/* ---- Files ---- */

/* Files that CUDA opens once it is up, and folders that libraries are loaded from. The workbook
 * and home folders are left out: they hold solutions, other kernels and earlier results. */
static const char *const readable[] = {
    "/usr",           "/lib",  "/lib64", "/lib32", "/opt", "/etc/ld.so.cache",
    "/etc/localtime", "/proc", "/sys",   NULL,
};

/* The GPU is a device, and threads are named in /proc. Not all of /dev: /dev/shm holds files that
 * other programs of the user share. */
static const char *const scratch[] = { "/proc",        "/dev/null",    "/dev/zero", "/dev/full",
                                       "/dev/random",  "/dev/urandom", "/dev/tty",  "/dev/dxg",
                                       "/dev/nvidia*", "/dev/dri",     NULL };

/* Collects the paths of `scratch` that exist. The caller frees them with globfree(). */
static void find_scratch(glob_t *found)
{
    memset(found, 0, sizeof *found);
    for (int i = 0; scratch[i]; i++)
        glob(scratch[i], i ? GLOB_APPEND : 0, NULL, found);
}

/* Creating files is denied everywhere; writing is allowed to some devices and /proc. A process
 * with any Landlock restriction also may not trace an unrestricted one. */
static void restrict_files(const char *kernel)
{
    const char *all[sizeof readable / sizeof *readable + 1];
    size_t count = 0;
    glob_t found;

    find_scratch(&found);
    Confinement confinement = { .reads_all = !kernel,
                                .scratch = (const char *const *) found.gl_pathv };
    for (const char *const *path = readable; kernel && *path; path++)
        all[count++] = *path;
    if (kernel) {
        all[count++] = kernel;
        all[count] = NULL;
        confinement.readable = all;
    }
    restricted = found.gl_pathc > 0 && confine(&confinement);
    globfree(&found);
}

/* ---- Seccomp: the rows ---- */

#ifdef __x86_64__
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <asm/sockios.h>

/* KILL: always. UNLESS_SPARING: unless this process has a guest that it may kill; the guest then
 * holds the student's code, and this process only allocates arrays. IF_EQUAL: if that argument has
 * the value. UNLESS_BITS: unless it has one of those bits. UNLESS_SELF: unless it is this process's
 * pid. UNLESS_SELF_OR_0: the same, or 0, which also means this process. MISSING: answers that there
 * is no such system call. */
typedef enum Action {
    KILL,
    UNLESS_SPARING,
    IF_EQUAL,
    UNLESS_BITS,
    UNLESS_SELF,
    UNLESS_SELF_OR_0,
    MISSING
} Action;

typedef struct Rule {
    int number;
    Action action;
    int argument;
    uint32_t value;
} Rule;

/* Newer than the headers of some systems that the grader is built on. */
enum {
    NR_pidfd_send_signal = 424,
    NR_io_uring_setup,
    NR_io_uring_enter,
    NR_io_uring_register,
    NR_open_tree,
    NR_move_mount,
    NR_fsopen,
    NR_fsconfig,
    NR_fsmount,
    NR_fspick,
    NR_pidfd_open,
    NR_clone3,
    NR_pidfd_getfd = 438,
    NR_process_madvise = 440,
    NR_mount_setattr = 442,
    NR_memfd_secret = 447,
    NR_fchmodat2 = 452,
    NR_setxattrat = 463,
    NR_removexattrat = 466,
    NR_file_setattr = 469,
    NR_sched_setattr = 314,
};

static const Rule rules[] = {
    /* Processes. glibc falls back from clone3, whose flags a filter cannot see, to clone. */
    { SYS_clone, UNLESS_BITS, 0, CLONE_THREAD },
    { NR_clone3, MISSING },
    { SYS_fork, KILL },
    { SYS_vfork, KILL },
    { SYS_execve, KILL },
    { SYS_execveat, KILL },
    { SYS_setsid, KILL },
    { SYS_setpgid, KILL },

    /* Other processes. abort() needs tgkill on its own thread. */
    { SYS_kill, UNLESS_SELF, 0 },
    { SYS_tgkill, UNLESS_SELF, 0 },
    { SYS_rt_sigqueueinfo, UNLESS_SELF, 0 },
    { SYS_rt_tgsigqueueinfo, UNLESS_SELF, 0 },
    { SYS_tkill, KILL },
    { SYS_ptrace, KILL },
    { SYS_process_vm_readv, KILL },
    { SYS_process_vm_writev, KILL },
    { SYS_kcmp, KILL },
    { NR_pidfd_open, KILL },
    { NR_pidfd_getfd, KILL },
    { NR_pidfd_send_signal, KILL },
    { NR_process_madvise, KILL },
    { SYS_fcntl, IF_EQUAL, 1, F_SETOWN }, /* this would send signals through a descriptor */
    { SYS_fcntl, IF_EQUAL, 1, F_SETOWN_EX },
    { SYS_fcntl, IF_EQUAL, 1, F_SETSIG },
    { SYS_ioctl, IF_EQUAL, 1, FIOSETOWN },
    { SYS_ioctl, IF_EQUAL, 1, SIOCSPGRP },
    { SYS_setpriority, KILL },
    { SYS_setrlimit, KILL },
    { SYS_prlimit64, UNLESS_SELF_OR_0, 0 },

    /* The network and local sockets. */
    { SYS_socket, KILL },
    { SYS_socketpair, KILL },
    { SYS_connect, KILL },
    { SYS_bind, KILL },
    { SYS_listen, KILL },
    { SYS_accept, KILL },
    { SYS_accept4, KILL },

    /* Files: none may be moved, deleted or created. (Landlock restricts which files are opened.) */
    { SYS_truncate, KILL },
    { SYS_unlink, KILL },
    { SYS_unlinkat, KILL },
    { SYS_rename, KILL },
    { SYS_renameat, KILL },
    { SYS_renameat2, KILL },
    { SYS_link, KILL },
    { SYS_linkat, KILL },
    { SYS_symlink, KILL },
    { SYS_symlinkat, KILL },
    { SYS_mkdir, KILL },
    { SYS_mkdirat, KILL },
    { SYS_rmdir, KILL },
    { SYS_mknod, KILL },
    { SYS_mknodat, KILL },
    { SYS_chmod, KILL },
    { SYS_fchmod, KILL },
    { SYS_fchmodat, KILL },
    { NR_fchmodat2, KILL },
    { SYS_chown, KILL },
    { SYS_fchown, KILL },
    { SYS_lchown, KILL },
    { SYS_fchownat, KILL },
    { SYS_setxattr, KILL }, /* attributes could carry a message to the next process; they also hold
                               rights (ACLs) */
    { SYS_lsetxattr, KILL },
    { SYS_fsetxattr, KILL },
    { NR_setxattrat, KILL },
    { SYS_removexattr, KILL },
    { SYS_lremovexattr, KILL },
    { SYS_fremovexattr, KILL },
    { NR_removexattrat, KILL },
    { NR_file_setattr, KILL },
    { SYS_utime, KILL },
    { SYS_utimes, KILL },
    { SYS_futimesat, KILL },
    { SYS_utimensat, KILL },

    /* The terminal that the grader was started from: no input may be injected into it. */
    { SYS_ioctl, IF_EQUAL, 1, TIOCSTI },
    { SYS_ioctl, IF_EQUAL, 1, TIOCLINUX },

    /* The system as a whole, and ways around this filter. */
    { SYS_seccomp, KILL },
    { SYS_prctl, IF_EQUAL, 0, PR_SET_SECCOMP },
    { SYS_unshare, KILL },
    { SYS_setns, KILL },
    { SYS_mount, KILL },
    { SYS_umount2, KILL },
    { SYS_pivot_root, KILL },
    { SYS_chroot, KILL },
    { NR_open_tree, KILL },
    { NR_move_mount, KILL },
    { NR_fsopen, KILL },
    { NR_fsconfig, KILL },
    { NR_fsmount, KILL },
    { NR_fspick, KILL },
    { NR_mount_setattr, KILL },
    { SYS_bpf, KILL },
    { SYS_perf_event_open, KILL },
    { SYS_userfaultfd, KILL },
    { NR_io_uring_setup, KILL },
    { NR_io_uring_enter, KILL },
    { NR_io_uring_register, KILL },
    { SYS_keyctl, KILL },
    { SYS_add_key, KILL },
    { SYS_request_key, KILL },
    { SYS_init_module, KILL },
    { SYS_finit_module, KILL },
    { SYS_kexec_load, KILL },
    { SYS_reboot, KILL },
    { SYS_delete_module, KILL },
    { SYS_swapon, KILL },
    { SYS_swapoff, KILL },
    { SYS_acct, KILL },
    { SYS_syslog, KILL },
    { SYS_quotactl, KILL },
    { SYS_sethostname, KILL },
    { SYS_setdomainname, KILL },
    { SYS_settimeofday, KILL },
    { SYS_clock_settime, KILL },
    { SYS_adjtimex, KILL },
    { SYS_clock_adjtime, KILL },
    { SYS_iopl, KILL },
    { SYS_ioperm, KILL },
    { SYS_vhangup, KILL },

    /* Objects that outlive a process, or that no limit counts. */
    { SYS_shmget, KILL },
    { SYS_shmat, KILL },
    { SYS_msgget, KILL },
    { SYS_semget, KILL },
    { SYS_mq_open, KILL },
    { NR_memfd_secret, KILL },
    /* A file in memory that does not count as any process's memory. */
    { SYS_memfd_create, UNLESS_SPARING },
    { SYS_sched_setparam, KILL },
    { SYS_sched_setscheduler, KILL },
    { NR_sched_setattr, KILL },
    { SYS_ioprio_set, KILL },
};

/* ---- Seccomp: the rows become a program ---- */

enum { RULES = sizeof rules / sizeof *rules, MOST_STEPS = 7 + RULES * 7 };

typedef struct Program {
    struct sock_filter steps[MOST_STEPS];
    unsigned short count;
} Program;

static void step(Program *program, struct sock_filter next)
{
    program->steps[program->count++] = next;
}

static void load_word(Program *program, size_t offset)
{
    step(program, (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t) offset));
}

/* Skips `yes` instructions if the test holds, otherwise `no`, and continues after them. */
static void jump(Program *program, int test, uint32_t value, unsigned char yes, unsigned char no)
{
    step(program,
         (struct sock_filter) BPF_JUMP((unsigned short) (BPF_JMP | test | BPF_K), value, yes, no));
}

static void answer(Program *program, uint32_t with)
{
    step(program, (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, with));
}

/* The lower half of an argument (x86-64 is little-endian). The arguments that are tested are
 * ints, and the kernel reads only that half of them. */
static size_t argument_at(int i)
{
    return offsetof(struct seccomp_data, args) + (size_t) i * sizeof(uint64_t);
}

/* If the argument passes the test, later rows may still deny the call, so the system call's
 * number is loaded again for them. */
static void add_condition(Program *program, const Rule *rule, uint32_t self)
{
    const bool names_process = rule->action == UNLESS_SELF || rule->action == UNLESS_SELF_OR_0;
    const uint32_t other = rule->action == UNLESS_SELF_OR_0 ? 0 : spared ? spared : self;
    const unsigned char steps = names_process ? 5 : 4;

    jump(program, BPF_JEQ, (uint32_t) rule->number, 0, steps);
    load_word(program, argument_at(rule->argument));
    if (rule->action == IF_EQUAL)
        jump(program, BPF_JEQ, rule->value, 0, 1);
    else if (rule->action == UNLESS_BITS)
        jump(program, BPF_JSET, rule->value, 1, 0);
    else {
        jump(program, BPF_JEQ, other, 2, 0);
        jump(program, BPF_JEQ, self, 1, 0);
    }
    answer(program, SECCOMP_RET_KILL_PROCESS);
    load_word(program, offsetof(struct seccomp_data, nr));
}

static void add_rule(Program *program, const Rule *rule, uint32_t self)
{
    if (rule->action == UNLESS_SPARING && spared)
        return;
    if (rule->action != KILL && rule->action != UNLESS_SPARING && rule->action != MISSING) {
        add_condition(program, rule, self);
        return;
    }
    jump(program, BPF_JEQ, (uint32_t) rule->number, 0, 1);
    answer(program,
           rule->action == MISSING ? SECCOMP_RET_ERRNO | ENOSYS : SECCOMP_RET_KILL_PROCESS);
}

static void write_program(Program *program)
{
    const uint32_t x32_numbers = 0x40000000;

    /* On another instruction set the same calls have other numbers; none of its calls is needed. */
    load_word(program, offsetof(struct seccomp_data, arch));
    jump(program, BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0);
    answer(program, SECCOMP_RET_KILL_PROCESS);
    load_word(program, offsetof(struct seccomp_data, nr));
    jump(program, BPF_JGE, x32_numbers, 0, 1);
    answer(program, SECCOMP_RET_KILL_PROCESS);
    for (int i = 0; i < RULES; i++)
        add_rule(program, &rules[i], (uint32_t) getpid());
    answer(program, SECCOMP_RET_ALLOW);
}

/* TSYNC: the filter also binds the threads that CUDA has started. */
static bool filter_calls(void)
{
    Program *program = calloc(1, sizeof *program);
    struct sock_fprog filter;
    bool done;

    if (!program)
        return false;
    write_program(program);
    filter = (struct sock_fprog){ program->count, program->steps };
    done = !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
    free(program);
    return done;
}
#else
static bool filter_calls(void)
{
    return false;
}
#endif

/* ---- All steps together ---- */

bool lockdown_close(const char *kernel)
{
    set_limits();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* other children cannot read this process's memory */
    restrict_files(kernel);
    filtered = filter_calls();
    return filtered;
}
