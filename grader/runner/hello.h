/* hello.h - is there a usable GPU, and what is it? Brings CUDA up completely. */
#ifndef RUNNER_HELLO_H
#define RUNNER_HELLO_H

#include <stdbool.h>

/* The answer to `hello`, or what is wrong and what to do (SERVE_ANSWER bytes each). `device` is
 * CUDA's number for it; is_first: its first GPU was wanted. */
bool runner_hello(int device, bool is_first, char *answer, char *fault);

#endif
