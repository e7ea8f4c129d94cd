/* program.h - the program that uses this library.
 */
#ifndef SIM_RUNTIME_PROGRAM_H
#define SIM_RUNTIME_PROGRAM_H

#include <stdbool.h>

/* The CUDA version that it was built with, as of cudaRuntimeGetVersion: known if it contains its
 * own runtime; otherwise 12.9 if it has loaded libcudart.so.12, and this library's own version. */
int program_version(void);

/* Some calls and structures of CUDA 12 and before have other parameters or another layout. */
bool is_program_of_12(void);

/* A handle of this library, for dlsym(); NULL: it is part of the program. */
void *own_library(void);

#endif
