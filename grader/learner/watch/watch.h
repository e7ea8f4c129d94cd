/* watch.h - make watch: grades a lab whenever its kernel.cu is saved.
 *
 * Each grading is a process of its own, `warpbook grade LAB --events 3`, so that its verdict is the
 * one of make grade. This process only waits: for keys, for a save, for what the grading reports. A
 * save kills the grading that runs.
 */
#ifndef LEARNER_WATCH_WATCH_H
#define LEARNER_WATCH_WATCH_H

#include "learner/command_line.h"

/* `warpbook watch [LAB]`. Without a lab: the first one that is not passed. */
int run_watch(Options *options);

#endif
