/* report.h - keeps the counters of a program's kernels and reports them at exit, as JSON lines in a
 * file and as a table. docs/simulator-counters.md, section Report, describes both. */
#ifndef SIM_REPORT_REPORT_H
#define SIM_REPORT_REPORT_H

#include "sim/device/device.h"
#include "sim/exec/exec.h"
#include "sim/binary/fatbin.h"
#include "sim/time/timeline.h"

/* Sets the simulated device (of a slice, only that part). Call it once, before the first launch. */
void report_device(const Device *device);

/* Sets the timeline, which the caller owns. NULL if there is none. */
void report_timeline(Timeline *timeline);

/* Adds the counters of a launch. Launches of one kernel with the same grid, block and dynamic
 * shared memory share a row. `resources` and `occupancy` may be NULL: unknown. Thread-safe. */
void report_launch(const Launch *launch, const KernelResources *resources,
                   const Occupancy *occupancy);

/* Writes the file if a path is given, and the table to stderr if `table` is true. A process without
 * launches and findings leaves an existing file unchanged, so that a script and its children that
 * launch no kernels do not overwrite it. Returns false and sets errno if the file could not be
 * written. */
bool report_at_exit(const char *json_path, bool table);

/* Writes the findings as SARIF, by the same rules. */
bool report_sarif(const char *path);

/* Records the signal that kills the program. Called in a copy of the program's process, which
 * writes the report for it. */
void report_died(int signal);

/* Discards all counters; for tests. */
void report_clear(void);

#endif
