/* command_grade.h - `warpbook grade`. */
#ifndef COMMAND_GRADE_H
#define COMMAND_GRADE_H

#include "learner/command_line.h"

int run_grade(Options *options); /* returns the exit status */

#endif
