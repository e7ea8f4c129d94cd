/* report.h - the counters of a program's kernels, kept until its end: JSON lines in a file, and a
 * table. docs/simulator-counters.md, section Report, describes them. */
#ifndef SIM_REPORT_REPORT_H
#define SIM_REPORT_REPORT_H

#include "sim/device/device.h"
#include "sim/exec/exec.h"
#include "sim/binary/fatbin.h"
#include "sim/time/timeline.h"

/* The device as it is simulated: already sliced. Once, before the first launch. */
void report_device(const Device *device);

/* The timeline; the caller owns it. NULL: none. */
void report_timeline(Timeline *timeline);

/* Adds the counters of a launch. Launches of one kernel with the same grid, block and dynamic
 * shared memory are one row. `resources` and `occupancy` may be NULL: not known. Any thread may
 * call. */
void report_launch(const Launch *launch, const KernelResources *resources,
                   const Occupancy *occupancy);

/* Writes the file, if a path is given, and the table to stderr, if wanted. A process without
 * launches and findings leaves an existing file unchanged, so that of a script and its children
 * only those that compute write it. False, with errno, if the file could not be written. */
bool report_at_exit(const char *json_path, bool table);

/* The program dies by a signal, which the report names. This process is a copy of the one that
 * counted, and writes the report in its place. */
void report_died(int signal);

/* Forgets all; for tests. */
void report_clear(void);

#endif
