/* library.h - code that a program loads while it runs: modules, as the driver calls them, and
 * libraries, which are the newer name for them. */
#ifndef SIM_RUNTIME_LIBRARY_H
#define SIM_RUNTIME_LIBRARY_H

#include "sim/runtime/runtime.h"

/* Options of the just-in-time compiler, by their numbers, which the driver and the runtime share.
 */
typedef struct JitOptions {
    const int *ids;
    void **values;
    unsigned count;
} JitOptions;

/* NULL: no such library. */
RtModule *library_of(const void *handle);
/* Loads a PTX text or a fat binary, from memory or from a file. */
cudaError_t library_load(void **handle, const void *image, JitOptions options);
cudaError_t library_load_file(void **handle, const char *path, JitOptions options);
cudaError_t library_unload(const void *handle);
cudaError_t library_kernel(void **kernel, RtModule *library, const char *name);
cudaError_t library_kernel_count(unsigned *count, const RtModule *library);
/* At most as many kernels as there is room for. */
cudaError_t library_kernels(void **kernels, unsigned room, RtModule *library);
/* A variable; only a managed one, or only one that is not. Either result may be NULL. */
cudaError_t library_variable(void **address, size_t *bytes, const RtModule *library,
                             const char *name, bool managed);

#endif
