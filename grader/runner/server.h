/* server.h - the runner's half of the protocol: reads lines, runs commands, answers. */
#ifndef RUNNER_SERVER_H
#define RUNNER_SERVER_H

#include "runner/protocol.h"

/* Answers commands until quit or the end of input. Returns the exit status. */
int serve(const Device *device, int in, int out, int shared_fd);

#endif
