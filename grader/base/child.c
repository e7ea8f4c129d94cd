/* child.c - a child process: resource limits, a line protocol, and always killed with its whole
 * process group.
 *
 * The child leads a process group, so that everything it started dies with it, and asks the
 * kernel to kill it when the grader dies. It reads commands from descriptor 3 and writes answers
 * to descriptor 4. Each command has a random tag that its answer must repeat. Student code cannot
 * know the tag before the command is sent, so a line that it writes lacks the tag and is
 * recognised. The grader polls without sleeping while it waits, because the time between command
 * and answer is a measurement (a sleeping read costs 0.2 to 1 ms, polling 15 us). On a
 * simulated GPU it is not, and the grader sleeps: polling slows a runner on the same core's other
 * thread.
 */
#include "base/child.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- The list of living children, for the signal handler ---- */

enum { LIVING = 256 };
static volatile pid_t living[LIVING];
static void (*before_end)(void);

static void remember(pid_t pid)
{
    for (int i = 0; i < LIVING; i++)
        if (!living[i]) {
            living[i] = pid;
            return;
        }
}

void child_forget(pid_t pid)
{
    for (int i = 0; i < LIVING; i++)
        if (living[i] == pid)
            living[i] = 0;
}

static void end_all(int signal_number)
{
    for (int i = 0; i < LIVING; i++)
        if (living[i])
            kill(-living[i], SIGKILL);
    if (before_end)
        before_end();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void child_on_signals(void (*before)(void))
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

    before_end = before;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action = { .sa_handler = end_all, .sa_flags = SA_RESETHAND };
        sigaction(signals[i], &action, NULL);
    }
}

/* ---- Starting ---- */

static void close_all(const int *fds, int count)
{
    for (int i = 0; i < count; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* Blocks the signals that end_all handles between the fork and child_remember. */
pid_t child_fork(void)
{
    sigset_t all, before;
    pid_t parent = getpid(), pid;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid = fork();
    if (pid > 0) {
        signal(SIGPIPE, SIG_IGN); /* writing to a child that has exited then fails with EPIPE */
        setpgid(pid, pid);
        remember(pid);
    }
    if (pid == 0) {
        setpgid(0, 0);
        signal(SIGPIPE, SIG_DFL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) /* the parent died before the prctl above */
            _exit(127);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

/* In the child: descriptor wanted[i] becomes the i-th. All of them are above 9 at first, so none
 * is overwritten. */
void child_place(const int *fds, const int *wanted, int count)
{
    int high[8];

    for (int i = 0; i < count; i++)
        high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 10);
    for (int i = 0; i < count; i++)
        if (high[i] < 0 || dup2(high[i], wanted[i]) < 0)
            _exit(127);
}

void child_exec(char *const argv[])
{
    static const struct rlimit no_core = { 0, 0 };

    setrlimit(RLIMIT_CORE, &no_core);
    execvp(argv[0], argv);
    dprintf(2, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

static int shared_memory(size_t bytes)
{
    int fd = memfd_create("warpbook", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return -1;
    /* Sealed against shrinking: otherwise a child could turn the grader's next read into a bus
     * error. */
    if (ftruncate(fd, (off_t) bytes) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        close(fd);
        return -1;
    }
    return fd;
}

bool child_start(Child *child, char *const argv[], size_t shared_bytes)
{
    int to[2] = { -1, -1 }, from[2] = { -1, -1 }, printed[2] = { -1, -1 };
    int shared = shared_memory(shared_bytes), nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    void *memory = MAP_FAILED;
    size_t memory_limit = child->memory_limit;

    *child = (Child){ .to = -1, .from = -1, .printed_fd = -1, .memory_limit = memory_limit };
    if (shared >= 0)
        memory = mmap(NULL, shared_bytes, PROT_READ, MAP_SHARED, shared, 0);
    if (nothing < 0 || memory == MAP_FAILED || pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC) ||
        pipe2(printed, O_CLOEXEC) || (child->pid = child_fork()) < 0) {
        child->error = CHILD_NOT_STARTED;
        child->system_error = errno;
        child->pid = 0;
        if (memory != MAP_FAILED)
            munmap(memory, shared_bytes);
        close_all(
            (int[]){ to[0], to[1], from[0], from[1], printed[0], printed[1], shared, nothing }, 8);
        return false;
    }
    if (child->pid == 0) {
        child_place((int[]){ nothing, printed[1], printed[1], to[0], from[1], shared },
                    (int[]){ 0, 1, 2, CHILD_IN, CHILD_OUT, CHILD_SHARED }, 6);
        child_exec(argv);
    }
    close_all((int[]){ to[0], from[1], printed[1], shared, nothing }, 5);
    child->to = to[1];
    child->from = from[0];
    child->printed_fd = printed[0];
    child->shared = memory;
    child->shared_bytes = shared_bytes;
    fcntl(child->to, F_SETFL, O_NONBLOCK);
    fcntl(child->from, F_SETFL, O_NONBLOCK);
    fcntl(child->printed_fd, F_SETFL, O_NONBLOCK);
    return true;
}

/* ---- Ending ---- */

/* Keeps the beginning of what the child prints and discards the rest, so that the child never
 * blocks on a full pipe and never fills the grader's memory. Each call reads a bounded amount: a
 * flood of output must not delay the grader. */
static void drain(Child *child)
{
    char piece[16384];

    for (int i = 0; i < 8 && child->printed_fd >= 0; i++) {
        ssize_t got = read(child->printed_fd, piece, sizeof piece);
        size_t used = strlen(child->printed), room = CHILD_PRINTED - used;
        if (got <= 0)
            return;
        child->printed_bytes += (unsigned long long) got;
        for (ssize_t k = 0; k < got && room; k++)
            if (piece[k] == '\n' || piece[k] == '\t' || (unsigned char) piece[k] >= ' ') {
                child->printed[used++] = piece[k] == 127 ? '?' : piece[k];
                child->printed[used] = 0;
                room--;
            }
    }
}

/* With $WARPBOOK_TRACE, prints one line to stderr for each command and each exit of a process:
 * when it began, how long it took, and the answer. */
static void trace(pid_t pid, double began_s, const char *command, const char *line)
{
    static int on = -1;

    if (on < 0)
        on = getenv("WARPBOOK_TRACE") != NULL;
    if (on)
        dprintf(2, "%.6f %d %8.3f ms %.*s -> %s\n", began_s, (int) pid, (now_s() - began_s) * 1e3,
                (int) strcspn(command, "\n"), command, line);
}

void child_end(Child *child)
{
    double began_s = now_s();

    if (child->pid <= 0)
        return;
    kill(-child->pid, SIGKILL);
    kill(child->pid, SIGKILL);
    while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR)
        ;
    trace(child->pid, began_s, "end", "");
    drain(child);
    child_forget(child->pid);
    child->pid = 0;
    close_all((int[]){ child->to, child->from, child->printed_fd }, 3);
    child->to = child->from = child->printed_fd = -1;
    munmap(child->shared, child->shared_bytes);
    child->shared = NULL;
}

/* ---- Commands and answers ---- */

/* True if the process has exited. It stays a zombie, so that its process id is not reused. */
static bool has_ended(pid_t pid)
{
    siginfo_t about = { 0 };

    return waitid(P_PID, (id_t) pid, &about, WEXITED | WNOHANG | WNOWAIT) || about.si_pid;
}

static Reply stop(Child *child, ChildError error, Reply reply)
{
    child_end(child);
    child->error = error;
    return reply;
}

static Reply garbage(Child *child, ChildError error)
{
    return stop(child, error, REPLY_GARBAGE);
}

/* The child closed its end. Waits for its exit status before anything is killed. */
static Reply gone(Child *child)
{
    double until = now_s() + 1;
    pid_t pid = child->pid;

    while (!has_ended(pid)) {
        if (now_s() > until) { /* it closed its descriptor but is still running */
            return stop(child, CHILD_CLOSED_CHANNEL, REPLY_GARBAGE);
        }
        drain(child);
        sleep_s(0.001);
    }
    drain(child);
    kill(-pid, SIGKILL); /* whatever it left in its process group */
    while (waitpid(pid, &child->status, 0) < 0 && errno == EINTR)
        ;
    child_forget(pid);
    child->pid = 0;
    close_all((int[]){ child->to, child->from, child->printed_fd }, 3);
    child->to = child->from = child->printed_fd = -1;
    munmap(child->shared, child->shared_bytes);
    child->shared = NULL;
    child->error = CHILD_EXITED;
    return REPLY_GONE;
}

/* Host memory that the process holds, in bytes; 0 if unknown. */
static size_t resident_bytes(pid_t pid)
{
    char path[64], text[128];
    unsigned long size, resident = 0;
    FILE *file = fopen(PUT(path, "/proc/%d/statm", (int) pid), "r");

    if (!file)
        return 0;
    if (!fgets(text, sizeof text, file) || sscanf(text, "%lu %lu", &size, &resident) != 2)
        resident = 0;
    fclose(file);
    return resident * (size_t) sysconf(_SC_PAGESIZE);
}

/* CPU time of all threads of a process, in seconds; 0 if unknown. */
static double ran_s(pid_t pid)
{
    char path[64], text[1024], *end;
    unsigned long user = 0, system = 0;
    FILE *file = fopen(PUT(path, "/proc/%d/stat", (int) pid), "r");

    if (!file)
        return 0;
    if (!fgets(text, sizeof text, file) || !(end = strrchr(text, ')')) ||
        sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) !=
            2)
        user = system = 0;
    fclose(file);
    return (double) (user + system) / (double) sysconf(_SC_CLK_TCK);
}

/* How long other processes kept the CPU from the process's first thread, in seconds since it
 * started; 0 if unknown (proc(5), schedstat). CPU time of its other threads is subtracted,
 * because the first thread may have waited for them. */
static double excused_s(pid_t pid)
{
    char path[64];
    unsigned long long ran_ns = 0, ready_ns = 0;
    FILE *file = fopen(PUT(path, "/proc/%d/schedstat", (int) pid), "r");

    if (!file)
        return 0;
    if (fscanf(file, "%llu %llu", &ran_ns, &ready_ns) != 2)
        ready_ns = 0;
    fclose(file);
    return (double) ready_ns * 1e-9 - (ran_s(pid) - (double) ran_ns * 1e-9);
}

static size_t bytes_held(const Child *child)
{
    return resident_bytes(child->pid) + (child->guest ? resident_bytes(child->guest) : 0);
}

static double excused_so_far_s(const Child *child)
{
    return excused_s(child->pid) + (child->guest ? excused_s(child->guest) : 0);
}

/* A time limit is extended by the time that other processes kept the CPU from the child, at most to
 * 1 + most_stretch times the limit. */
static const double most_stretch = 20;

static double stretched_s(const Child *child, double limit_s)
{
    double more_s = excused_so_far_s(child) - child->excused_s;

    more_s = more_s < most_stretch * limit_s ? more_s : most_stretch * limit_s;
    return limit_s + (more_s > 0 ? more_s : 0);
}

/* Reads until a line is complete. A line longer than the buffer cannot be a runner's answer. */
static Reply wait_line(Child *child, double limit_s, char *line)
{
    size_t used = 0;
    double deadline = child->asked_s + limit_s, look_s = child->asked_s + 0.002;

    for (;;) {
        ssize_t got = read(child->from, line + used, CHILD_LINE - 1 - used);
        double now = now_s();
        if (got > 0) {
            used += (size_t) got;
            line[used] = 0;
            if (strlen(line) < used)
                return garbage(child, CHILD_NOT_TEXT);
            char *end = memchr(line, '\n', used);
            if (end && end[1])
                return garbage(child, CHILD_OUT_OF_TURN);
            if (end) {
                *end = 0;
                child->answered_s = now;
                return REPLY_OK;
            }
            if (used == CHILD_LINE - 1)
                return garbage(child, CHILD_FLOOD);
            continue;
        }
        if (got == 0 || (errno != EAGAIN && errno != EINTR))
            return gone(child);
        if (now > deadline) {
            deadline = child->asked_s + stretched_s(child, limit_s);
            if (now <= deadline)
                continue;
            return stop(child, CHILD_NO_ANSWER, REPLY_LATE);
        }
        if (now < look_s && !child->patient) {
            sched_yield();
            continue;
        }
        look_s = now + 0.001;
        drain(child);
        if (child->memory_limit && bytes_held(child) > child->memory_limit)
            return stop(child, CHILD_HOST_MEMORY, REPLY_GONE);
        /* After 50 ms, a precision of a few microseconds no longer matters. */
        if (child->patient || now - child->asked_s > 0.05)
            poll(&(struct pollfd){ child->from, POLLIN, 0 }, 1, 2);
    }
}

enum { TAG = 17 }; /* 16 digits and a blank */

static Reply send_command(Child *child, double limit_s, const char *format, va_list arguments)
{
    char early;
    size_t length;

    if (child->pid <= 0)
        return REPLY_GONE;
    PUT(child->command, "%016llx ", (unsigned long long) secret());
    vsnprintf(child->command + TAG, sizeof child->command - TAG - 1, format, arguments);
    APPEND(child->command, "\n");
    length = strlen(child->command);

    drain(child);
    if (read(child->from, &early, 1) == 1)
        return garbage(child, CHILD_OUT_OF_TURN);
    child->excused_s = excused_so_far_s(child);
    child->limit_s = limit_s;
    child->asked_s = now_s();
    return write(child->to, child->command, length) == (ssize_t) length ? REPLY_OK : gone(child);
}

Reply child_send(Child *child, double limit_s, const char *format, ...)
{
    va_list arguments;
    Reply reply;

    va_start(arguments, format);
    reply = send_command(child, limit_s, format, arguments);
    va_end(arguments);
    return reply;
}

Reply child_receive(Child *child, char *answer)
{
    char line[CHILD_LINE] = "";
    Reply reply = wait_line(child, child->limit_s, line);

    answer[0] = 0;
    trace(child->pid, child->asked_s, child->command + TAG, line);
    if (reply != REPLY_OK)
        return reply;
    if (strncmp(line, child->command, TAG))
        return garbage(child, CHILD_UNTAGGED);
    put(answer, CHILD_LINE, "%s", line + TAG);
    if (!strncmp(answer, "ok", 2) && (!answer[2] || answer[2] == ' '))
        return REPLY_OK;
    if (!strncmp(answer, "fail ", 5)) {
        drain(child); /* what was printed before explains it */
        return REPLY_FAIL;
    }
    return garbage(child, CHILD_BAD_ANSWER);
}

Reply child_ask(Child *child, double limit_s, char *answer, const char *format, ...)
{
    va_list arguments;
    Reply reply;

    answer[0] = 0;
    va_start(arguments, format);
    reply = send_command(child, limit_s, format, arguments);
    va_end(arguments);
    return reply == REPLY_OK ? child_receive(child, answer) : reply;
}

/* ---- Running a program to its end ---- */

/* Memory limit for a compiler process. A source that needs more is likely a compilation bomb. */
enum { GIB = 1 << 30 };
static const rlim_t PROGRAM_MEMORY = 8ull * GIB, PROGRAM_FILE = GIB / 2;

static int run_limited(char *const argv[], const char *folder, const Confinement *confinement,
                       rlim_t memory, double limit_s, char *output, size_t size)
{
    int out[2], status = 0;
    double deadline = now_s() + limit_s;
    size_t used = 0;
    bool late = false;
    pid_t pid;

    output[0] = 0;
    if (pipe2(out, O_CLOEXEC))
        return -1;
    pid = child_fork();
    if (pid < 0) {
        close_all(out, 2);
        return -1;
    }
    if (pid == 0) {
        int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        child_place((int[]){ nothing, out[1], out[1] }, (int[]){ 0, 1, 2 }, 3);
        if (folder && chdir(folder))
            _exit(127);
        setrlimit(RLIMIT_AS, &(struct rlimit){ memory, memory });
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){ PROGRAM_FILE, PROGRAM_FILE });
        if (confinement)
            confine(confinement);
        child_exec(argv);
    }
    close(out[1]);
    for (;;) {
        char piece[4096];
        struct pollfd wait = { out[0], POLLIN, 0 };
        double left = deadline - now_s();
        ssize_t got;

        if (left <= 0) {
            late = true;
            break;
        }
        if (poll(&wait, 1, left > 1 ? 1000 : (int) (left * 1000) + 1) <= 0)
            continue;
        got = read(out[0], piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        for (ssize_t i = 0; i < got && used + 1 < size; i++)
            if (piece[i])
                output[used++] = piece[i];
        output[used] = 0;
    }
    /* The program may have closed its output and continued: the deadline still holds. */
    while (!late && !has_ended(pid)) {
        late = now_s() > deadline;
        sleep_s(0.0005);
    }
    /* Before it is reaped: afterwards its process id may belong to another process. */
    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    child_forget(pid);
    close(out[0]);
    if (late)
        return -2;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int child_run(char *const argv[], const char *folder, const Confinement *confinement,
              double limit_s, char *output, size_t size)
{
    return run_limited(argv, folder, confinement, PROGRAM_MEMORY, limit_s, output, size);
}

int child_run_on_gpu(char *const argv[], double limit_s, char *output, size_t size)
{
    return run_limited(argv, NULL, NULL, RLIM_INFINITY, limit_s, output, size);
}
