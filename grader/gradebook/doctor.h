/* doctor.h - gradebook doctor: is this machine fit to grade? */
#ifndef DOCTOR_H
#define DOCTOR_H

#include "gradebook/run/scheduler_options.h"

/* Checks and prints; changes nothing. `out` may be NULL. Returns 0 if the machine is fit, 1 with
 * warnings, 3 if it cannot grade or its results cannot be trusted. */
int doctor(const MarkingOptions *options, const char *out, bool trusting);

#endif
