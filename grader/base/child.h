/* child.h - a process of its own: started with limits, spoken to by lines, killed without mercy.
 * Knows nothing of CUDA, labs or verdicts. */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include "base/confine.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CHILD_PRINTED = 4096, CHILD_LINE = 1024 };

/* Descriptors of a runner: it reads commands from 3, answers on 4, and hands over data in the
 * shared memory behind 5. Its stdout and stderr come to us and are kept up to CHILD_PRINTED. */
enum { CHILD_IN = 3, CHILD_OUT = 4, CHILD_SHARED = 5 };

typedef struct Child {
    pid_t pid;   /* 0: none */
    pid_t guest; /* its own child, whose memory and time count as its; 0: none */
    int to, from, printed_fd;
    char *shared; /* written by the child at any time: read it once */
    size_t shared_bytes;
    char printed[CHILD_PRINTED + 1];  /* the beginning of what it printed, 0-terminated */
    unsigned long long printed_bytes; /* all of it */
    int status;                       /* from waitpid, once it is gone */
    double answered_s;                /* when the last answer came, by now_s() */
    double asked_s;                   /* when the last command was sent */
    double excused_s;    /* how long other processes had kept the CPU from it by then */
    char trouble[160];   /* after GONE, GARBAGE: what happened, in words */
    size_t memory_limit; /* bytes of host memory it may hold; 0: no limit */
} Child;

/* OK, FAIL: it answered "ok ..." or "fail ...". GONE: it ended. LATE: no answer in time; it has
 * been killed. GARBAGE: it said something that no command asked for; it has been killed. */
typedef enum Reply { REPLY_OK, REPLY_FAIL, REPLY_GONE, REPLY_LATE, REPLY_GARBAGE } Reply;

/* Starts argv[0] with shared memory of that size. False, with child->trouble set, if it can't. */
bool child_start(Child *child, char *const argv[], size_t shared_bytes);

/* Sends one command under a random tag and waits for the answer with the same tag, polling; what
 * follows ok or fail is put in `answer` (CHILD_LINE bytes). While other processes keep the
 * processor from the child the limit's clock stands, for 20 times limit_s at most. */
Reply child_ask(Child *child, double limit_s, char *answer, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Kills it and all it started, waits, closes. Does nothing where there is none. Returns what it had
 * printed in child->printed. */
void child_end(Child *child);

/* How it ended, once it is gone: "ended with status 1", "was killed by signal 11
 * (Segmentation...)". */
void child_say_end(const Child *child, char *text, size_t size);

/* Runs a program to its end and collects what it prints (stdout and stderr), at most `size` - 1
 * bytes kept. Returns its exit status, 128 + signal, or -1 when it could not be started, -2 when it
 * outran limit_s. `folder`: where it runs, or NULL. `confinement`: which files it may open, where
 * the kernel can tell; NULL: all. */
int child_run(char *const argv[], const char *folder, const Confinement *confinement,
              double limit_s, char *output, size_t size);

/* What base/process.c is made of, too. child_fork: like fork; the child leads a process group and
 * dies with us, and the signals of child_on_signals end it until it is forgotten. child_place: in
 * the child, descriptor wanted[i] becomes the i-th. child_exec: becomes that program, without core
 * files. */
pid_t child_fork(void);
void child_place(const int *fds, const int *wanted, int count);
void child_exec(char *const argv[]) __attribute__((noreturn));
void child_forget(pid_t pid);

/* Called by main: Ctrl-C and a broken terminal end all children before they end us. */
void child_on_signals(void (*before_end)(void));

#endif
