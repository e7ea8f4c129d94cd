/* report.h - what a program's kernels did, kept until its end: JSON lines in a file, and a table.
 * docs/simulator-counters.md, section Report, says what stands in them. */
#ifndef SIM_REPORT_REPORT_H
#define SIM_REPORT_REPORT_H

#include "sim/device/device.h"
#include "sim/exec/exec.h"
#include "sim/binary/fatbin.h"
#include "sim/time/timeline.h"

/* The device as it is simulated: already sliced. Once, before the first launch. */
void report_device(const Device *device);

/* When work ran; it stays the caller's. NULL: none. */
void report_timeline(Timeline *timeline);

/* Adds what a launch counted. Launches of one kernel with the same grid, block and dynamic shared
 * memory are one row. `resources` and `occupancy` may be NULL: not known. Any thread may call. */
void report_launch(const Launch *launch, const KernelResources *resources,
                   const Occupancy *occupancy);

/* Writes the file, if a path is given, and the table to stderr, if wanted. A process that launched
 * nothing and found nothing leaves a file that is there already as it is: of a script and what it
 * starts, those that compute report. False, with errno, if the file could not be written. */
bool report_at_exit(const char *json_path, bool table);

/* The program dies by a signal, which the report is to say. This process is a copy of the one that
 * counted, and reports in its place. */
void report_died(int signal);

/* Forgets all; for tests. */
void report_clear(void);

#endif
