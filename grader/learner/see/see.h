/* see.h - make see: one HTML file that shows what a kernel did on the simulated GPU. */
#ifndef LEARNER_SEE_SEE_H
#define LEARNER_SEE_SEE_H

#include "learner/command_line.h"

/* Writes BUILD/see/LAB.html and prints its path; returns the program's exit status. Once the lab
 * is passed, the page also has the reference. */
int see_run(Options *options);

#endif
