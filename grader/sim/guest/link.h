/* link.h - a guest's libcudart has no GPU: it asks the runner (../../sim_calls.h). */
#ifndef SIM_GUEST_LINK_H
#define SIM_GUEST_LINK_H

#include "runner/sim_calls.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>

#define API __attribute__((visibility("default")))

/* The words of a call, of which most have few; and its answer's. */
#define WORDS(...) ((uint64_t[SIM_WORDS]){ __VA_ARGS__ })

/* Asks, with `bytes` of `payload` behind the words. Of what lies behind the answer's words at most
 * `room` bytes go to `to`; *got: how many. What is not cudaSuccess is kept for cudaGetLastError. */
cudaError_t ask(SimCallKind kind, const uint64_t word[SIM_WORDS], const void *payload, size_t bytes,
                uint64_t answer[2], void *to, size_t room, size_t *got);

/* The same for calls that only have words. */
cudaError_t ask_words(SimCallKind kind, const uint64_t word[SIM_WORDS], uint64_t answer[2]);

/* Keeps an error for cudaGetLastError, and returns it. */
cudaError_t keep_error(cudaError_t error);

/* Asks for an array of the host's own: a descriptor, or -1. Callable in a signal handler. */
int ask_touch(uint64_t address, bool writes, uint64_t answer[2]);

#endif
