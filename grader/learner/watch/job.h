/* job.h - a program that runs next to `make watch`: this program itself with other arguments. What
 * it prints and the events it reports are read without waiting. It is killed with everything that
 * it started. */
#ifndef LEARNER_WATCH_JOB_H
#define LEARNER_WATCH_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { JOB_EVENTS = 3 }; /* the descriptor on which the program reports events */

typedef struct Job {
    pid_t pid;       /* 0: none */
    int out, events; /* poll these for input; -1: closed */
    char *printed;   /* what it printed so far, stdout and stderr in order; 0-terminated */
    size_t used;
    char line[400]; /* the beginning of an event */
    size_t line_used;
    double began_s;
    int status; /* from waitpid, once it has exited */
} Job;

/* Makes this process the one that inherits orphans, so that nothing a job started can escape. */
void job_adopt_orphans(void);

/* Starts warpbook with these arguments; argv[0] is ignored. Returns false with errno set. The job
 * must not be running; what it printed before is forgotten. */
bool job_start(Job *job, char *const argv[]);

/* Runs a function as a job instead: it prints to stdout. */
bool job_call(Job *job, void (*run)(void *context), void *context);

/* Reads what the job has printed, a bounded amount. */
void job_read(Job *job);

/* Takes the next complete event into `line`. Returns false if there is none yet. */
bool job_event(Job *job, char *line, size_t size);

/* True once, when the job has exited and all that it printed was read. */
bool job_over(Job *job);

/* Kills the job and everything that it started, and waits for the end of it. */
void job_kill(Job *job);
void job_free(Job *job);

#endif
