/* sandbox_view.h - what a submission sees in the sandbox (sandbox.c). */
#ifndef GRADEBOOK_RUN_SANDBOX_VIEW_H
#define GRADEBOOK_RUN_SANDBOX_VIEW_H

#include "gradebook/run/sandbox.h"

/* Folders and files of the system, shown read-only if they exist; the last is NULL. */
extern const char *const system_paths[];

/* Device files of a real GPU (the last one is for WSL), as patterns; then NULL. */
extern const char *const gpu_devices[];

/* Adds the toolkit and the grading programs to sandbox->exposed. On failure, returns false with a
 * sentence in `problem`. */
bool expose_toolkit(Sandbox *sandbox, char *problem, size_t size);

/* Fills sandbox->environment. Call it when all programs are exposed. */
void find_environment(Sandbox *sandbox);

#endif
