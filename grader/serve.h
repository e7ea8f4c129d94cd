/* serve.h - the runner's half of the conversation: reads lines, runs commands, answers. */
#ifndef SERVE_H
#define SERVE_H

#include "conversation.h"

/* Answers commands until quit or the end of input. Returns the exit status. */
int serve(const Device *device, int in, int out, int shared_fd);

#endif
