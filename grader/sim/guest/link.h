/* link.h - the guest's CUDA runtime has no GPU: it sends each call to the runner
 * (runner/sim_calls.h). */
#ifndef SIM_GUEST_LINK_H
#define SIM_GUEST_LINK_H

#include "runner/sim_calls.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>

#define API __attribute__((visibility("default")))

/* The words of a call or an answer; most have few. */
#define WORDS(...) ((uint64_t[SIM_WORDS]){ __VA_ARGS__ })

/* Sends the words, then `bytes` of `payload`. Stores at most `room` bytes of the answer's payload
 * in `to`, and their number in *got. Errors are kept for cudaGetLastError. */
cudaError_t ask(SimCallKind kind, const uint64_t word[SIM_WORDS], const void *payload, size_t bytes,
                uint64_t answer[2], void *to, size_t room, size_t *got);

/* The same for calls that only have words. */
cudaError_t ask_words(SimCallKind kind, const uint64_t word[SIM_WORDS], uint64_t answer[2]);

/* Keeps an error for cudaGetLastError, and returns it. */
cudaError_t keep_error(cudaError_t error);

/* Requests the descriptor of a host array; -1: none. May be called in a signal handler. */
int ask_touch(uint64_t address, bool writes, uint64_t answer[2]);

#endif
