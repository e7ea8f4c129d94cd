/* on_exit.h - handles the result of a finished warpbook: a self-test, a build or a verdict. */
#ifndef GRADEBOOK_RUN_ON_EXIT_H
#define GRADEBOOK_RUN_ON_EXIT_H

#include "gradebook/run/workers.h"

/* Records the result of the worker's finished program and frees the worker. */
void handle_exit(Scheduler *s, Worker *worker);

#endif
