/* process.c - runs programs in parallel, each with limits, without blocking on any of them.
 *
 * Each leads a process group and asks the kernel to kill it when the grader dies (child.c). Its
 * output is read at each call of program_over, a bounded amount at a time, and kept up to a size,
 * so a flood of output uses up neither memory nor time.
 */
#include "base/process.h"
#include "base/child.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static Printed printed_of(int fd, size_t keep)
{
    Printed printed = { .fd = fd, .text = xcalloc(1, keep + 1), .size = keep };

    fcntl(fd, F_SETFL, O_NONBLOCK);
    return printed;
}

/* Returns a descriptor from which the text can be read, without storing it in a file; -1 with errno
 * set. */
static int open_input(const char *input)
{
    int ends[2];
    size_t length = input ? strlen(input) : 0;
    bool written;

    if (!length)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return -1;
    written = write(ends[1], input, length) == (ssize_t) length;
    close(ends[1]);
    if (written && !fcntl(ends[0], F_SETFL, 0)) /* a read on this end blocks until the text's end */
        return ends[0];
    close(ends[0]);
    errno = EFBIG;
    return -1;
}

bool program_start(Program *program, char *const argv[], char *const environment[],
                   const char *folder, double limit_s, size_t keep, size_t file_bytes)
{
    return program_start_with(program, NULL, argv, environment, folder, limit_s, keep, file_bytes);
}

bool program_start_with(Program *program, const char *input, char *const argv[],
                        char *const environment[], const char *folder, double limit_s, size_t keep,
                        size_t file_bytes)
{
    int out[2] = { -1, -1 }, errors[2] = { -1, -1 };
    int given = open_input(input);

    *program = (Program){ .out.fd = -1, .errors.fd = -1, .began_s = now_s() };
    program->until_s = program->began_s + limit_s;
    if (given < 0 || pipe2(out, O_CLOEXEC) || pipe2(errors, O_CLOEXEC) ||
        (program->pid = child_fork()) < 0) {
        PUT(program->trouble, "could not be started: %s", strerror(errno));
        program->pid = 0;
        for (int i = 0; i < 2; i++) {
            close_one(&out[i]);
            close_one(&errors[i]);
        }
        close_one(&given);
        return false;
    }
    if (program->pid == 0) {
        child_place((int[]){ given, out[1], errors[1] }, (int[]){ 0, 1, 2 }, 3);
        if (folder && chdir(folder))
            _exit(127);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){ file_bytes, file_bytes });
        if (environment)
            environ = (char **) environment;
        child_exec(argv);
    }
    close_one(&out[1]);
    close_one(&errors[1]);
    close_one(&given);
    program->out = printed_of(out[0], keep);
    program->errors = printed_of(errors[0], keep);
    return true;
}

/* Reads at most 1 MiB per call. Returns false at the end of the output. */
static bool take(Printed *printed)
{
    char piece[16384];

    for (int i = 0; i < 64 && printed->fd >= 0; i++) {
        ssize_t got = read(printed->fd, piece, sizeof piece);
        if (got < 0)
            return errno == EAGAIN || errno == EINTR;
        if (got == 0)
            return false;
        printed->bytes += (unsigned long long) got;
        for (ssize_t k = 0; k < got && printed->used < printed->size; k++)
            if (piece[k])
                printed->text[printed->used++] = piece[k];
    }
    return printed->fd >= 0;
}

static void take_both(Program *program)
{
    if (!take(&program->out))
        close_one(&program->out.fd);
    if (!take(&program->errors))
        close_one(&program->errors.fd);
}

/* True if it has exited. It is not reaped yet, so its process group cannot belong to another
 * process when bury() kills it. */
static bool is_over(const Program *program)
{
    siginfo_t about = { 0 };

    return !waitid(P_PID, (id_t) program->pid, &about, WEXITED | WNOHANG | WNOWAIT) && about.si_pid;
}

/* The program has exited. Takes what is still in the pipes; a process it left behind may hold
 * them open. */
static void bury(Program *program)
{
    kill(-program->pid, SIGKILL);
    while (waitpid(program->pid, &program->status, 0) < 0 && errno == EINTR)
        ;
    child_forget(program->pid);
    program->pid = 0;
    take_both(program);
    close_one(&program->out.fd);
    close_one(&program->errors.fd);
}

bool program_over(Program *program)
{
    if (!program->pid)
        return true;
    take_both(program);
    if (is_over(program)) {
        bury(program);
        return true;
    }
    if (now_s() < program->until_s)
        return false;
    program_kill(program);
    program->late = true;
    return true;
}

void program_wait(Program *const programs[], int count, double most_s)
{
    struct pollfd wait[2 * 64];
    nfds_t used = 0;
    double until = now_s() + most_s;

    for (int i = 0; i < count && used + 2 <= sizeof wait / sizeof *wait; i++) {
        if (!programs[i]->pid)
            continue;
        wait[used++] = (struct pollfd){ programs[i]->out.fd, POLLIN, 0 };
        wait[used++] = (struct pollfd){ programs[i]->errors.fd, POLLIN, 0 };
        if (programs[i]->out.fd < 0) /* output closed, still running: check again soon */
            most_s = most_s < 0.02 ? most_s : 0.02;
        if (programs[i]->until_s < until)
            until = programs[i]->until_s;
    }
    if (until - now_s() < most_s)
        most_s = until - now_s();
    poll(wait, used, most_s > 0 ? (int) (most_s * 1000) + 1 : 0);
}

void program_kill(Program *program)
{
    if (!program->pid)
        return;
    kill(-program->pid, SIGKILL);
    kill(program->pid, SIGKILL);
    bury(program);
}

void program_free(Program *program)
{
    if (!program->out.text) /* it was never started */
        return;
    program_kill(program);
    close_one(&program->out.fd);
    close_one(&program->errors.fd);
    free(program->out.text);
    free(program->errors.text);
    *program = (Program){ .out.fd = -1, .errors.fd = -1 };
}

void program_say_end(const Program *program, char *text, size_t size)
{
    if (program->trouble[0])
        put(text, size, "%s", program->trouble);
    else if (program->late)
        put(text, size, "did not end within %.0f s", program->until_s - program->began_s);
    else if (WIFSIGNALED(program->status))
        put(text, size, "was killed by signal %d (%s)", WTERMSIG(program->status),
            strsignal(WTERMSIG(program->status)));
    else
        put(text, size, "exited with status %d", WEXITSTATUS(program->status));
}
