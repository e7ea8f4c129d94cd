/* check.h - the checks of a launch, as an observer: races, and reads of what was never written. */
#ifndef SIM_CHECK_CHECK_H
#define SIM_CHECK_CHECK_H

#include "sim/exec/exec.h"

/* For launch->observers. Does what launch->check_races, check_uninitialised and sample say. */
extern const Observer check_observer;

#endif
