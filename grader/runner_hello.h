/* runner_hello.h - is there a usable GPU, and what is it? Brings CUDA up completely. */
#ifndef RUNNER_HELLO_H
#define RUNNER_HELLO_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

/* Around what is timed. */
typedef struct Timer {
    cudaEvent_t begin, end;
} Timer;

/* The answer to `hello`, or what is wrong and what to do (SERVE_ANSWER bytes each). From the first
 * on, GPU number `number` is the only one that this process sees; the first that succeeds makes the
 * timer's events. */
bool runner_hello(int number, Timer *timer, char *answer, char *fault);

#endif
