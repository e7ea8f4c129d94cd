/* caller.h - loads a kernel, calls it, and times its calls with CUDA events.
 *
 * This runs in the guest (guest.c), a separate process. Where memory cannot be shared between
 * processes it runs in the runner (runner/main.c), which then reports `isolation:shared`. Faults
 * are "KIND TEXT" as in runner/protocol.h, SERVE_ANSWER bytes.
 */
#ifndef RUNNER_CALLER_H
#define RUNNER_CALLER_H

#include "runner/protocol.h"

#include <cuda_runtime_api.h>

/* Writes the fault of a failed call; returns false, so that callers can return it. */
bool caller_say(char *fault, const char *kind, cudaError_t error);

/* True if a kernel failed while it ran, after which no CUDA call of this process succeeds. */
bool caller_is_fatal(cudaError_t error);

/* Creates the events and whatever else CUDA creates only on first use, before the sandbox closes.
 * The device must already be chosen. */
cudaError_t caller_begin(void);

/* Closes the sandbox, then loads the object and finds its function. From now on, student code runs
 * in this process. */
bool caller_load(const char *path, const char *function, Kernel **kernel, char *fault);
bool caller_has_loaded(void);

/* Waits for all work, and resets the part of L2 that an earlier call may have set aside. */
bool caller_settle(char *fault);

/* Calls the function once on each set. `returned` (may be NULL) is called after the last call has
 * returned, before its work is complete. */
bool caller_call(const Lab *lab, const Case *lab_case, Kernel *kernel, Arrays *sets, int calls,
                 bool (*returned)(void *self), void *self, double *ms, char *fault);

#endif
