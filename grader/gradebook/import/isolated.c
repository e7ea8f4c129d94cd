/* isolated.c - reads submissions in an isolated process.
 *
 * The child closes all descriptors except the one to the parent, drops the same privileges as a
 * runner does before it runs student code (base/lockdown.c), reads the submissions, and sends the
 * serialized class. The parent parses it without trusting it.
 */
#include "gradebook/import/isolated.h"
#include "gradebook/import/reader.h"
#include "gradebook/import/serialize.h"
#include "gradebook/base/stop.h"
#include "base/child.h"
#include "base/lockdown.h"
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

enum { TO_US = 3, CPU_S = 3600 };
static const size_t most_bytes = (size_t) 4 << 30;

/* Runs in the child. Sends a 0 byte and the class, or a 1 byte and the problem. */
static void __attribute__((noreturn)) read_and_send(const char *path)
{
    char problem[1000] = "";
    Class class;
    bool ok;
    FILE *to = fdopen(TO_US, "w");

    close(4); /* lockdown_begin leaves a runner's three descriptors open; we need one */
    close(5);
    lockdown_begin();
    setrlimit(RLIMIT_CPU, &(struct rlimit){ CPU_S, CPU_S });
    if (!to)
        _exit(1);
    lockdown_close(NULL);
    ok = reader_read(path, &class, problem, sizeof problem);
    fputc(ok ? 0 : 1, to);
    if (ok ? !serialize(&class, to) : fputs(problem, to) < 0)
        _exit(1);
    _exit(fclose(to) ? 1 : 0);
}

/* All data from the child; NULL if it exceeds the limit or if gradebook was stopped. */
static char *receive(int from, size_t *size)
{
    size_t used = 0, capacity = 1 << 20;
    char *bytes = xmalloc(capacity + 1);

    for (;;) {
        struct pollfd wait = { from, POLLIN, 0 };
        ssize_t got;
        if (stop_requested() || used > most_bytes)
            break;
        if (poll(&wait, 1, 200) <= 0)
            continue;
        if (used == capacity) {
            capacity *= 2;
            bytes = xrealloc(bytes, capacity + 1, 1);
        }
        got = read(from, bytes + used, capacity - used);
        if (got == 0) {
            bytes[used] = 0;
            *size = used;
            return bytes;
        }
        if (got < 0 && errno != EINTR)
            break;
        used += got > 0 ? (size_t) got : 0;
    }
    free(bytes);
    return NULL;
}

static bool parse_message(char *bytes, size_t size, Class *class, char *problem, size_t capacity)
{
    FILE *from;
    bool ok;

    if (size && bytes[0]) {
        put(problem, capacity, "%s", show(bytes + 1));
        return false;
    }
    from = size > 1 ? fmemopen(bytes + 1, size - 1, "r") : NULL;
    ok = from && deserialize(from, class);
    if (from)
        fclose(from);
    if (!ok)
        put(problem, capacity, "the data from the archive reader is incomplete");
    return ok;
}

bool isolated_read(const char *path, Class *class, char *problem, size_t size)
{
    int ends[2], status = 0;
    size_t got = 0;
    char *bytes;
    bool ok = false;
    pid_t pid;

    *class = (Class){ 0 };
    if (pipe2(ends, O_CLOEXEC) || (pid = child_fork()) < 0)
        die("cannot start the process that reads the submissions: %s", strerror(errno));
    if (pid == 0) {
        child_place((int[]){ ends[1] }, (int[]){ TO_US }, 1);
        read_and_send(path);
    }
    close(ends[1]);
    bytes = receive(ends[0], &got);
    close(ends[0]);
    if (!bytes)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    child_forget(pid);
    if (stop_requested())
        put(problem, size,
            "stopped while reading the submissions; run the same command to start again");
    else if (!bytes)
        put(problem, size, "%s is too large: import it in smaller batches", path);
    else if (WIFSIGNALED(status))
        put(problem, size,
            "the archive reader crashed on %s (signal %d, %s). Import the submissions in smaller "
            "batches to find the cause",
            path, WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        ok = parse_message(bytes, got, class, problem, size);
    free(bytes);
    return ok;
}
