/* doctor.h - gradebook doctor: is this machine fit to grade? */
#ifndef DOCTOR_H
#define DOCTOR_H

#include "gradebook/run/scheduler_options.h"

/* Looks, tells, changes nothing. `out` may be NULL. 0: all is well; 1: something could be better;
 * 3: it cannot grade, or not to be trusted. */
int doctor(const MarkingOptions *options, const char *out, bool trusting);

#endif
