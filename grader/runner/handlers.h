/* handlers.h - what a runner does for each command of the protocol. */
#ifndef RUNNER_HANDLERS_H
#define RUNNER_HANDLERS_H

#include "runner/protocol.h"

/* The state that commands work on. */
typedef struct Server {
    const Device *device;
    char *shared;
    size_t shared_bytes;
    const Lab *lab;
    Kernel *kernel;
    Case lab_case;
    Arrays sets[SERVE_SETS];
    int set_count;
    bool prepared, done; /* done: `quit` was received */
} Server;

/* run() writes the fields of an `ok`, or returns false with the text of a `fail`; both buffers have
 * SERVE_ANSWER bytes. words[0] is the command's name. */
typedef struct Command {
    const char *name;
    int words; /* number of words after the name */
    bool (*run)(Server *server, char **words, char *answer, char *fault);
} Command;

enum { COMMAND_WORDS = 8 }; /* including the name, at most */

/* The last row has no name. */
extern const Command commands[];

/* Reports that a command broke the protocol; returns false, so that callers can return it. */
bool command_usage(char *fault, const char *what);

/* Frees all arrays. */
void command_drop_sets(Server *server);

#endif
