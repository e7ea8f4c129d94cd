/* reason.h - explains why a GPU cannot be used, for the answer to `hello` (runner/protocol.h). */
#ifndef RUNNER_REASON_H
#define RUNNER_REASON_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

/* Both write to `fault` (SERVE_ANSWER bytes) and return false, so that callers can return it. */
bool reason_say(char *fault, const char *reason, const char *what_to_do);
bool reason_of_error(cudaError_t error, char *fault);

#endif
