/* handlers.h - what a runner does at each command of the conversation. */
#ifndef RUNNER_HANDLERS_H
#define RUNNER_HANDLERS_H

#include "runner/protocol.h"

/* What commands work on. */
typedef struct Server {
    const Device *device;
    char *shared;
    size_t shared_bytes;
    const Lab *lab;
    Kernel *kernel;
    Case lab_case;
    Arrays sets[SERVE_SETS];
    int set_count;
    bool prepared, done; /* done: it was told to quit */
} Server;

/* words[0] is its name. What it does either writes the fields of an `ok` or, false, the text of a
 * `fail`; both have SERVE_ANSWER bytes. */
typedef struct Command {
    const char *name;
    int words; /* that follow the name */
    bool (*run)(Server *server, char **words, char *answer, char *fault);
} Command;

enum { COMMAND_WORDS = 8 }; /* with its name, at most */

/* Ends with no name. */
extern const Command commands[];

/* Says that a command was not as the conversation has it; false, so that it can be returned. */
bool command_usage(char *fault, const char *what);

/* Frees all arrays. */
void command_drop_sets(Server *server);

#endif
