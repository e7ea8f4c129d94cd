/* caller.h - loads a kernel, calls it, and times its calls by CUDA events.
 *
 * In the guest, a process of its own (guest.c); or, where memory cannot be shared between
 * processes, in the runner's (runner/main.c), whose isolation is then "shared". Faults are "KIND
 * TEXT" as in runner/protocol.h, SERVE_ANSWER bytes.
 */
#ifndef RUNNER_CALLER_H
#define RUNNER_CALLER_H

#include "runner/protocol.h"

#include <cuda_runtime_api.h>

/* The fault of a failed call, by its nature; false, so that it can be returned. */
bool caller_say(char *fault, const char *kind, cudaError_t error);

/* True if a kernel that ran died of it: no call of this process will succeed after. */
bool caller_is_fatal(cudaError_t error);

/* Makes the events and whatever else CUDA makes only when it is needed: before the sandbox closes.
 * The device is chosen. */
cudaError_t caller_begin(void);

/* Closes the sandbox, then loads the object and finds its function: student code is in here. */
bool caller_load(const char *path, const char *function, Kernel **kernel, char *fault);
bool caller_has_loaded(void);

/* All work is done, and no call finds L2 set aside by an earlier one. */
bool caller_settle(char *fault);

/* Calls the function once on each set. `returned` is called after the last call has returned, and
 * before its work is waited for; it may be NULL. */
bool caller_call(const Lab *lab, const Case *lab_case, Kernel *kernel, Arrays *sets, int calls,
                 bool (*returned)(void *self), void *self, double *ms, char *fault);

#endif
