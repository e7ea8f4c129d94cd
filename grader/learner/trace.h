/* trace.h - a trace of a lab's kernel for Perfetto, from its run on the simulated GPU. */
#ifndef LEARNER_TRACE_H
#define LEARNER_TRACE_H

#include "judge/session.h"

/* Runs the kernel once, in the case `asked` (NULL: the lab's first timed case), writes the trace to
 * the file, and says where to open it. Returns false after reporting what went wrong. */
bool trace_kernel(Session *session, const LabEntry *entry, const char *source, const Case *asked,
                  const char *path);

#endif
