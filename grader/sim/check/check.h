/* check.h - the checks of a launch, as an observer: races, and reads of unwritten memory. */
#ifndef SIM_CHECK_CHECK_H
#define SIM_CHECK_CHECK_H

#include "sim/exec/exec.h"

/* For launch->observers. launch->check_races, check_uninitialised and sample select the checks. */
extern const Observer check_observer;

#endif
