/* caller.c - loads a kernel, calls it, and times its calls with CUDA events. */
#include "runner/caller.h"
#include "base/lockdown.h"
#include "base/util.h"

#include <dlfcn.h>

static cudaEvent_t begin, end;
static bool loaded;

/* ---- What went wrong ---- */

bool caller_is_fatal(cudaError_t error)
{
    static const cudaError_t fatal[] = {
        cudaErrorIllegalAddress,      cudaErrorLaunchTimeout,      cudaErrorAssert,
        cudaErrorHardwareStackError,  cudaErrorIllegalInstruction, cudaErrorMisalignedAddress,
        cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,          cudaErrorLaunchFailure,
        cudaErrorContextIsDestroyed,
    };

    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (error == fatal[i])
            return true;
    return false;
}

bool caller_say(char *fault, const char *kind, cudaError_t error)
{
    put(fault, SERVE_ANSWER, "%s %s %s", kind, cudaGetErrorName(error), cudaGetErrorString(error));
    return false;
}

/* ---- Loading ---- */

cudaError_t caller_begin(void)
{
    void *memory = NULL;
    cudaError_t error;

    if ((error = cudaEventCreate(&begin)) || (error = cudaEventCreate(&end)) ||
        (error = cudaMalloc(&memory, 1 << 20)) || (error = cudaEventRecord(begin, 0)) ||
        (error = cudaMemset(memory, 0, 1 << 20)) || (error = cudaEventRecord(end, 0)) ||
        (error = cudaFree(memory)))
        return error;
    return cudaDeviceSynchronize();
}

bool caller_has_loaded(void)
{
    return loaded;
}

/* The object registers its code while it is loaded; errors in the registration show at the next
 * CUDA call. */
bool caller_load(const char *path, const char *function, Kernel **kernel, char *fault)
{
    void *object;
    cudaError_t error, later;

    if (!begin) {
        put(fault, SERVE_ANSWER, "usage hello must come first");
        return false;
    }
    lockdown_close(path);
    loaded = true;
    object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        put(fault, SERVE_ANSWER, "load %s", dlerror());
        return false;
    }
    error = cudaGetLastError();
    later = cudaDeviceSynchronize();
    if (error || later)
        return caller_say(fault, "load", error ? error : later);
    *(void **) kernel = dlsym(object, function);
    if (!*kernel)
        put(fault, SERVE_ANSWER, "load kernel.cu defines no function %s", function);
    return *kernel != NULL;
}

/* ---- Calling ---- */

/* Some devices cannot set L2 aside at all. */
bool caller_settle(char *fault)
{
    cudaError_t error;

    if (cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0) || cudaCtxResetPersistingL2Cache())
        cudaGetLastError();
    error = cudaDeviceSynchronize();
    return !error || caller_say(fault, caller_is_fatal(error) ? "kernel" : "gpu", error);
}

/* Stops at the first launch that fails, and at a kernel that failed before the last launch. */
static bool call_all(const Lab *lab, const Case *lab_case, Kernel *kernel, Arrays *sets, int calls,
                     char *fault)
{
    for (int k = 0; k < calls; k++) {
        cudaError_t error;
        lab->call(kernel, lab_case, &sets[k]);
        if ((error = cudaGetLastError()))
            return caller_say(fault, caller_is_fatal(error) ? "kernel" : "launch", error);
    }
    return true;
}

bool caller_call(const Lab *lab, const Case *lab_case, Kernel *kernel, Arrays *sets, int calls,
                 bool (*returned)(void *self), void *self, double *ms, char *fault)
{
    float elapsed_ms = 0;
    cudaError_t error = cudaEventRecord(begin, 0);

    if (error)
        return caller_say(fault, caller_is_fatal(error) ? "kernel" : "gpu", error);
    if (!call_all(lab, lab_case, kernel, sets, calls, fault)) {
        cudaDeviceSynchronize();
        return false;
    }
    error = cudaEventRecord(end, 0);
    if (returned && !returned(self)) {
        put(fault, SERVE_ANSWER, "gpu the runner is gone");
        return false;
    }
    if (error || (error = cudaDeviceSynchronize()) ||
        (error = cudaEventElapsedTime(&elapsed_ms, begin, end)))
        return caller_say(fault, "kernel", error);
    *ms = elapsed_ms;
    return true;
}
