/* record.h - the recorder: an observer that keeps samples of what launches do (records.h).
 *
 * It is off until record_start(). One recorder per process; the caller holds the runtime's lock.
 */
#ifndef SIM_RECORD_RECORD_H
#define SIM_RECORD_RECORD_H

#include "sim/base/records.h"
#include "sim/exec/exec.h"

/* Discards earlier samples, and records from the next launch on. Returns false if out of memory. */
bool record_start(const RecordFilter *filter);
void record_stop(void);
/* The samples recorded since record_start(); NULL: it is off. */
Records *record_so_far(void);

/* Adds the recorder to a launch that is about to run. Does nothing while it is off. */
void record_launch(Launch *launch);

#endif
