/* process.h - runs programs in parallel, each with limits, without blocking on any of them. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The output of a program on one descriptor: the beginning is kept, the rest discarded. */
typedef struct Printed {
    int fd;     /* -1: closed */
    char *text; /* 0-terminated */
    size_t used, size;
    unsigned long long bytes; /* the total, including what was discarded */
} Printed;

typedef struct Program {
    pid_t pid;           /* 0: not started, or it has exited */
    Printed out, errors; /* stdout, stderr */
    double began_s, until_s;
    int status;        /* from waitpid, once it has exited */
    bool late;         /* it exceeded its time limit and was killed */
    char trouble[160]; /* why it could not be started */
} Program;

/* Starts argv[0] in `folder` (NULL: the current one), in a process group that dies with the
 * grader; its stdin is empty. `environment` ends with NULL; if it is NULL, the program inherits
 * the grader's. At most `keep` bytes of its output are kept, and each file that it writes may be
 * at most `file_bytes` long. On failure, returns false and sets `trouble`. */
bool program_start(Program *program, char *const argv[], char *const environment[],
                   const char *folder, double limit_s, size_t keep, size_t file_bytes);

/* The same with a short text (at most a pipe's 64 KiB) on its stdin, for secrets that must not
 * appear on a command line. */
bool program_start_with(Program *program, const char *input, char *const argv[],
                        char *const environment[], const char *folder, double limit_s, size_t keep,
                        size_t file_bytes);

/* Reads new output; true once the program has exited or was killed for exceeding its time limit. */
bool program_over(Program *program);

/* Sleeps until one of them prints or exits, a signal arrives, or most_s have passed. */
void program_wait(Program *const programs[], int count, double most_s);

void program_kill(Program *program); /* kills all that it started too, and waits for it */
void program_free(Program *program); /* kills it first if it still runs */

/* "exited with status 3", "was killed by signal 9 (Killed)", "did not end within 60 s". */
void program_say_end(const Program *program, char *text, size_t size);

#endif
