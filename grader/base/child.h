/* child.h - a child process: resource limits, a line protocol, and always killed with its whole
 * process group. It knows nothing about CUDA, labs or verdicts. */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include "base/confine.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CHILD_PRINTED = 4096, CHILD_LINE = 1024 };

/* Descriptors of a runner: it reads commands from 3, writes answers to 4, and hands over data in
 * the shared memory of descriptor 5. The grader reads its stdout and stderr and keeps up to
 * CHILD_PRINTED bytes. */
enum { CHILD_IN = 3, CHILD_OUT = 4, CHILD_SHARED = 5 };

/* Why a child could not be started, is gone, or was killed. */
typedef enum ChildError {
    CHILD_FINE,
    CHILD_NOT_STARTED,    /* child->system_error says why */
    CHILD_EXITED,         /* child->status */
    CHILD_NO_ANSWER,      /* within child->limit_s */
    CHILD_HOST_MEMORY,    /* it held more than child->memory_limit */
    CHILD_CLOSED_CHANNEL, /* but it was still running */
    CHILD_NOT_TEXT,
    CHILD_OUT_OF_TURN, /* a line that no command requested */
    CHILD_FLOOD,       /* a line longer than an answer can be */
    CHILD_UNTAGGED,    /* an answer without the tag of its command */
    CHILD_BAD_ANSWER   /* neither ok nor fail */
} ChildError;

typedef struct Child {
    pid_t pid;   /* 0: none */
    pid_t guest; /* the child's own child, whose memory and time count as the child's; 0: none */
    int to, from, printed_fd;
    char *shared; /* the child may write to it at any time: read each value once */
    size_t shared_bytes;
    char printed[CHILD_PRINTED + 1];  /* the beginning of what it printed, 0-terminated */
    unsigned long long printed_bytes; /* the total, including what was discarded */
    int status;                       /* from waitpid, once it is gone */
    double answered_s;                /* when the last answer came, by now_s() */
    double asked_s;                   /* when the last command was sent */
    double excused_s; /* how long other processes had kept the CPU from it when it was asked */
    double limit_s;   /* of the last command */
    char command[CHILD_LINE]; /* the last one, after its tag */
    ChildError error; /* set if child_start() failed, or child_ask() returned GONE, LATE, GARBAGE */
    int system_error; /* errno of CHILD_NOT_STARTED */
    bool patient;     /* the time of an answer is no measurement: wait for it without polling */
    size_t memory_limit; /* bytes of host memory that it may hold; 0: no limit */
} Child;

/* OK, FAIL: it answered "ok ..." or "fail ...". GONE: it exited. LATE: no answer in time; it has
 * been killed. GARBAGE: it wrote something that is not an answer to a command; it has been
 * killed. */
typedef enum Reply { REPLY_OK, REPLY_FAIL, REPLY_GONE, REPLY_LATE, REPLY_GARBAGE } Reply;

/* Starts argv[0] with shared memory of that size. On failure, returns false and sets child->error.
 */
bool child_start(Child *child, char *const argv[], size_t shared_bytes);

/* Sends one command under a random tag and polls for the answer with the same tag. The text after
 * ok or fail is put in `answer` (CHILD_LINE bytes). Time that other processes keep the CPU from
 * the child does not count towards the limit, up to 20 times limit_s. */
Reply child_ask(Child *child, double limit_s, char *answer, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The two halves of child_ask(): several children may work between them. child_send returns OK, or
 * why the command could not be sent. */
Reply child_send(Child *child, double limit_s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
Reply child_receive(Child *child, char *answer);

/* Kills the child and all that it started, waits for it, and closes its descriptors. Does nothing
 * if there is no child. What the child printed is in child->printed afterwards. */
void child_end(Child *child);

/* Runs a program until it exits and collects what it prints (stdout and stderr), keeping at most
 * `size` - 1 bytes. Returns its exit status, 128 + signal, -1 if it could not be started, or -2
 * if it exceeded limit_s. `folder`: its working folder, or NULL. `confinement`: which files it
 * may open, if this kernel supports that; NULL: all. */
int child_run(char *const argv[], const char *folder, const Confinement *confinement,
              double limit_s, char *output, size_t size);

/* The same for a program that uses a GPU: with no limit on its address space, because CUDA reserves
 * more than the memory of the GPU and of the host. */
int child_run_on_gpu(char *const argv[], double limit_s, char *output, size_t size);

/* Also used by base/process.c. child_fork is like fork, but the child leads a process group and
 * dies with the grader, and the signals of child_on_signals kill it until child_forget is called.
 * From the first fork on, the caller ignores SIGPIPE. child_place: in the child, descriptor
 * wanted[i] becomes the i-th. child_exec replaces the child with that program, without core
 * files. */
pid_t child_fork(void);
void child_place(const int *fds, const int *wanted, int count);
void child_exec(char *const argv[]) __attribute__((noreturn));
void child_forget(pid_t pid);

/* Called by main: Ctrl-C and a closed terminal kill all children before they end the grader. */
void child_on_signals(void (*before_end)(void));

#endif
