/* job.c - a program that runs next to `make watch`.
 *
 * A grading has children of its own in other process groups: the compiler, the runner, the guest.
 * SIGTERM lets it kill them. What it leaves behind is inherited by this process (a subreaper,
 * prctl(2)), which kills that, too.
 */
#include "learner/watch/job.h"
#include "base/child.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PRINTED = 256 << 10, PIECE = 4096 };
static const double patience_s = 0.3; /* for a job to kill its children */

void job_adopt_orphans(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* ---- The running jobs ---- */

enum { JOBS = 4 };
static pid_t running[JOBS];

/* Replaces one process id in the list by another; 0 stands for a free place. */
static void list_job(pid_t from, pid_t to)
{
    for (int i = 0; i < JOBS; i++)
        if (running[i] == from) {
            running[i] = to;
            return;
        }
}

static bool is_running(pid_t pid)
{
    for (int i = 0; i < JOBS; i++)
        if (running[i] == pid)
            return true;
    return false;
}

/* ---- Starting ---- */

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* In the child, which still has the parent's handlers, and all signals blocked: a SIGTERM for it
 * would otherwise become a byte in the parent's pipe. */
static void become(int out, int events)
{
    static const int handled[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH, SIGCHLD };
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigset_t none;

    for (size_t i = 0; i < sizeof handled / sizeof *handled; i++)
        signal(handled[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    child_place((int[]){ nothing, out, out, events }, (int[]){ 0, 1, 2, JOB_EVENTS }, 4);
}

static void run_program(void *argv)
{
    char *const *words = argv;

    execv("/proc/self/exe", words); /* also if make has replaced the file in the meantime */
    printf("cannot start warpbook %s: %s\n", words[1], strerror(errno));
}

bool job_start(Job *job, char *const argv[])
{
    return job_call(job, run_program, (void *) argv);
}

static pid_t fork_with_signals_blocked(void)
{
    sigset_t all, before;
    pid_t pid;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid = child_fork();
    if (pid)
        sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

bool job_call(Job *job, void (*run)(void *context), void *context)
{
    int out[2] = { -1, -1 }, events[2] = { -1, -1 };

    if (!job->printed)
        job->printed = xmalloc(PRINTED + 1);
    job->printed[0] = 0;
    job->used = job->line_used = 0;
    job->status = 0;
    job->out = job->events = -1;
    job->began_s = now_s();
    if (pipe2(out, O_CLOEXEC) || pipe2(events, O_CLOEXEC) ||
        (job->pid = fork_with_signals_blocked()) < 0) {
        int why = errno;
        for (int i = 0; i < 2; i++) {
            close_one(&out[i]);
            close_one(&events[i]);
        }
        job->pid = 0;
        errno = why;
        return false;
    }
    if (job->pid == 0) {
        become(out[1], events[1]);
        run(context);
        fflush(stdout);
        _exit(0);
    }
    list_job(0, job->pid);
    close(out[1]);
    close(events[1]);
    job->out = out[0];
    job->events = events[0];
    fcntl(job->out, F_SETFL, O_NONBLOCK);
    fcntl(job->events, F_SETFL, O_NONBLOCK);
    return true;
}

/* ---- Reading ---- */

void job_read(Job *job)
{
    char piece[PIECE];

    for (int i = 0; i < 16 && job->out >= 0; i++) {
        ssize_t got = read(job->out, piece, sizeof piece);
        if (got < 0)
            return; /* nothing more now */
        if (got == 0)
            close_one(&job->out);
        for (ssize_t k = 0; k < got && job->used < PRINTED; k++)
            if (piece[k])
                job->printed[job->used++] = piece[k];
        job->printed[job->used] = 0;
    }
}

bool job_event(Job *job, char *line, size_t size)
{
    char byte;

    while (job->events >= 0) {
        ssize_t got = read(job->events, &byte, 1);
        if (got == 0)
            close_one(&job->events);
        if (got <= 0)
            return false;
        if (byte == '\n') {
            put(line, size, "%.*s", (int) job->line_used, job->line);
            job->line_used = 0;
            return true;
        }
        if (job->line_used < sizeof job->line)
            job->line[job->line_used++] = byte;
    }
    return false;
}

/* ---- The end ---- */

/* True if it has exited. It stays a zombie, so that its process id is not reused. */
static bool has_exited(pid_t pid)
{
    siginfo_t about = { 0 };

    return waitid(P_PID, (id_t) pid, &about, WEXITED | WNOHANG | WNOWAIT) || about.si_pid;
}

/* A child of this process that is no running job; 0: there is none. */
static pid_t find_orphan(void)
{
    FILE *file = fopen("/proc/thread-self/children", "re");
    int pid, found = 0;

    while (file && !found && fscanf(file, "%d", &pid) == 1)
        found = is_running(pid) ? 0 : pid;
    if (file)
        fclose(file);
    return found;
}

/* Killing an orphan makes its own children orphans. */
static void kill_orphans(void)
{
    for (pid_t pid; (pid = find_orphan()) > 0;) {
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
}

static void bury(Job *job)
{
    kill(-job->pid, SIGKILL);
    while (waitpid(job->pid, &job->status, 0) < 0 && errno == EINTR)
        ;
    child_forget(job->pid);
    list_job(job->pid, 0);
    job->pid = 0;
    kill_orphans();
}

bool job_over(Job *job)
{
    if (!job->pid || !has_exited(job->pid))
        return false;
    job_read(job);
    bury(job);
    close_one(&job->out);
    return true;
}

void job_kill(Job *job)
{
    double until_s = now_s() + patience_s;

    if (job->pid) {
        kill(job->pid, SIGTERM);
        while (!has_exited(job->pid) && now_s() < until_s)
            poll(NULL, 0, 1);
        kill(job->pid, SIGKILL);
        bury(job);
    }
    close_one(&job->out);
    close_one(&job->events);
}

void job_free(Job *job)
{
    job_kill(job);
    free(job->printed);
    job->printed = NULL;
}
