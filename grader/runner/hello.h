/* hello.h - brings CUDA up completely, and reports whether the GPU is usable and what it is. */
#ifndef RUNNER_HELLO_H
#define RUNNER_HELLO_H

#include <stdbool.h>

/* Writes the answer to `hello`, or what is wrong and what to do (SERVE_ANSWER bytes each). `device`
 * is CUDA's number of the GPU; is_first: the first GPU was requested. */
bool runner_hello(int device, bool is_first, char *answer, char *fault);

#endif
