/* mechanism.h - what a kernel does, on a simulated GPU, beside what the lab's lesson asks for. */
#ifndef MECHANISM_H
#define MECHANISM_H

#include "grade.h"

/* Holds what a worker's last go did against each bound of its lab. SLOW: one is missed, and
 * worker->diagnosis and worker->why say which, with the line that is most to blame. Else PASS, or
 * what went wrong. */
Verdict mechanism_look(Worker *worker);

#endif
