/* on_exit.h - what has come of a warpbook that is over: a device proved, a build, a verdict. */
#ifndef GRADEBOOK_RUN_ON_EXIT_H
#define GRADEBOOK_RUN_ON_EXIT_H

#include "gradebook/run/workers.h"

/* Its program is over: into the database with it, and the worker is free. */
void end_slot(Marking *m, Worker *worker);

#endif
