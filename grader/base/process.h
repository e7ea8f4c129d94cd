/* process.h - programs that run beside each other, each with limits, none of which we wait for. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What a program prints on one descriptor: the beginning is kept, the rest thrown away. */
typedef struct Printed {
    int fd;     /* -1: closed */
    char *text; /* 0-terminated */
    size_t used, size;
    unsigned long long bytes; /* all of it */
} Printed;

typedef struct Program {
    pid_t pid;           /* 0: none, or it is over */
    Printed out, errors; /* stdout, stderr */
    double began_s, until_s;
    int status;        /* from waitpid, once it is over */
    bool late;         /* it outran its limit and was killed */
    char trouble[160]; /* why it could not be started */
} Program;

/* Starts argv[0] in `folder` (NULL: ours), in a process group that dies with us; its stdin is
 * empty. `environment` ends with NULL; NULL: ours. At most `keep` bytes of what it prints are kept,
 * each file that it writes is at most `file_bytes` long. False, with `trouble` set, if it can't. */
bool program_start(Program *program, char *const argv[], char *const environment[],
                   const char *folder, double limit_s, size_t keep, size_t file_bytes);

/* The same, with a short text (at most a pipe's 64 KiB) on its stdin: what no command line may
 * show.
 */
bool program_start_with(Program *program, const char *input, char *const argv[],
                        char *const environment[], const char *folder, double limit_s, size_t keep,
                        size_t file_bytes);

/* Takes what it has printed; true once it has ended, or has been ended for being late. */
bool program_over(Program *program);

/* Sleeps until one of them prints or ends, a signal comes, or most_s have passed. */
void program_wait(Program *const programs[], int count, double most_s);

void program_kill(Program *program); /* and all that it started; waits for it */
void program_free(Program *program); /* kills it, too, if it still runs */

/* "ended by itself with status 3", "was killed by signal 9 (Killed)", "did not end within 60 s". */
void program_say_end(const Program *program, char *text, size_t size);

#endif
