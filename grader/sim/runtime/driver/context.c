/* context.c - contexts: the primary one, which the runtime uses, and those that a program creates.
 *
 * A GPU gives each context memory of its own. Here all contexts share the device's memory, streams
 * and modules. They end with the last context, if the program does not use the runtime.
 */
#include "sim/runtime/driver/driver.h"

#include <stdlib.h>

enum { DEEPEST = 64 };

struct CUctx_st {
    struct CUctx_st *next;
    unsigned flags;
    bool is_primary;
    int users;             /* of the primary one */
    unsigned long long id; /* 1, 2, ... */
};

static struct CUctx_st primary = { .is_primary = true, .id = 1 }, *created;
static unsigned long long ids = 1;

/* The contexts that a thread has pushed; the last one is current. */
static _Thread_local CUcontext stack[DEEPEST];
static _Thread_local int depth;

static bool is_live(CUcontext context)
{
    if (context == &primary)
        return primary.users > 0;
    for (CUcontext at = created; at; at = at->next)
        if (at == context)
            return true;
    return false;
}

/* A program that has called the runtime has made the primary context current. */
static bool uses_runtime(void)
{
    return rt.user_calls > 0;
}

CUcontext context_current(void)
{
    if (depth)
        return stack[depth - 1];
    return uses_runtime() ? &primary : NULL;
}

bool context_is_current(void)
{
    return context_current() != NULL;
}

static void set_current(CUcontext context)
{
    if (depth && !context)
        depth--;
    else if (context) {
        depth += !depth;
        stack[depth - 1] = context;
    }
}

static cudaError_t push(CUcontext context)
{
    if (depth == DEEPEST)
        return cudaErrorMemoryAllocation;
    stack[depth++] = context;
    return cudaSuccess;
}

/* ---- Created contexts ---- */

static cudaError_t create(CUcontext *context, unsigned flags, CUdevice device)
{
    CUcontext made;

    if (device)
        return cudaErrorInvalidDevice;
    made = context ? calloc(1, sizeof *made) : NULL;
    if (!made)
        return context ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
    made->flags = flags;
    made->id = ++ids;
    made->next = created;
    created = made;
    *context = made;
    return push(made);
}

/* The last context takes everything with it, as cudaDeviceReset does. */
static void reset_if_unused(void)
{
    if (!created && !primary.users && !uses_runtime())
        cudaDeviceReset();
}

static cudaError_t destroy(CUcontext context)
{
    CUcontext *at = &created;

    while (*at && *at != context)
        at = &(*at)->next;
    if (!*at)
        return (cudaError_t) CUDA_ERROR_INVALID_CONTEXT;
    cudaDeviceSynchronize();
    *at = context->next;
    if (context_current() == context)
        depth--;
    free(context);
    reset_if_unused();
    return cudaSuccess;
}

static cudaError_t pop(CUcontext *context)
{
    if (!depth)
        return (cudaError_t) CUDA_ERROR_INVALID_CONTEXT;
    if (context)
        *context = stack[depth - 1];
    depth--;
    return cudaSuccess;
}

static cudaError_t give_current(CUcontext *context)
{
    if (!context)
        return cudaErrorInvalidValue;
    *context = context_current();
    return cudaSuccess;
}

static cudaError_t make_current(CUcontext context)
{
    if (context && !is_live(context))
        return (cudaError_t) CUDA_ERROR_INVALID_CONTEXT;
    set_current(context);
    return cudaSuccess;
}

#undef cuCtxCreate
DRIVER_CALL_ANYWHERE(cuCtxCreate_v2, (CUcontext * context, unsigned flags, CUdevice device),
                     create(context, flags, device))
DRIVER_CALL_ANYWHERE(cuCtxCreate_v3,
                     (CUcontext * context, CUexecAffinityParam *affinity, int count, unsigned flags,
                      CUdevice device),
                     ((void) affinity,
                      count ? cudaErrorNotSupported : create(context, flags, device)))
#if CUDA_VERSION >= 12050
DRIVER_CALL_ANYWHERE(cuCtxCreate_v4,
                     (CUcontext * context, CUctxCreateParams *params, unsigned flags,
                      CUdevice device),
                     (params && (params->numExecAffinityParams || params->cigParams)
                          ? cudaErrorNotSupported
                          : create(context, flags, device)))
#endif
DRIVER_CALL_ANYWHERE(cuCtxDestroy_v2, (CUcontext context), destroy(context))
DRIVER_CALL_ANYWHERE(cuCtxPushCurrent_v2, (CUcontext context),
                     is_live(context) ? push(context) : (cudaError_t) CUDA_ERROR_INVALID_CONTEXT)
DRIVER_CALL_ANYWHERE(cuCtxPopCurrent_v2, (CUcontext * context), pop(context))
DRIVER_CALL_ANYWHERE(cuCtxGetCurrent, (CUcontext * context), give_current(context))
DRIVER_CALL_ANYWHERE(cuCtxSetCurrent, (CUcontext context), make_current(context))

/* ---- The primary context ---- */

static cudaError_t retain(CUcontext *context, CUdevice device)
{
    if (device)
        return cudaErrorInvalidDevice;
    if (!context)
        return cudaErrorInvalidValue;
    primary.users++;
    *context = &primary;
    return cudaSuccess;
}

static cudaError_t release(CUdevice device)
{
    if (device)
        return cudaErrorInvalidDevice;
    if (!primary.users)
        return (cudaError_t) CUDA_ERROR_INVALID_CONTEXT;
    if (!--primary.users) {
        cudaDeviceSynchronize();
        reset_if_unused();
    }
    return cudaSuccess;
}

static cudaError_t primary_state(CUdevice device, unsigned *flags, int *active)
{
    if (device)
        return cudaErrorInvalidDevice;
    if (!flags || !active)
        return cudaErrorInvalidValue;
    *flags = primary.flags;
    *active = primary.users > 0 || uses_runtime();
    return cudaSuccess;
}

static cudaError_t set_primary_flags(CUdevice device, unsigned flags)
{
    primary.flags = flags;
    return device ? cudaErrorInvalidDevice : cudaSuccess;
}

DRIVER_CALL_ANYWHERE(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device),
                     retain(context, device))
DRIVER_CALL_ANYWHERE(cuDevicePrimaryCtxRelease_v2, (CUdevice device), release(device))
DRIVER_CALL_ANYWHERE(cuDevicePrimaryCtxReset_v2, (CUdevice device),
                     device ? cudaErrorInvalidDevice : cudaDeviceReset())
DRIVER_CALL_ANYWHERE(cuDevicePrimaryCtxSetFlags_v2, (CUdevice device, unsigned flags),
                     set_primary_flags(device, flags))
DRIVER_CALL_ANYWHERE(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned *flags, int *active),
                     primary_state(device, flags, active))

/* ---- The current context ---- */

static cudaError_t give_device(CUdevice *device)
{
    if (!device)
        return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
}

static cudaError_t give_flags(unsigned *flags)
{
    if (!flags)
        return cudaErrorInvalidValue;
    *flags = context_current()->flags;
    return cudaSuccess;
}

static cudaError_t give_version(CUcontext context, unsigned *version)
{
    if (!version || (context && !is_live(context)))
        return cudaErrorInvalidValue;
    *version = 3020;
    return cudaSuccess;
}

static cudaError_t give_id(CUcontext context, unsigned long long *id)
{
    if (!id || (context && !is_live(context)))
        return cudaErrorInvalidValue;
    *id = (context ? context : context_current())->id;
    return cudaSuccess;
}

DRIVER_CALL(cuCtxGetDevice, (CUdevice * device), give_device(device))
DRIVER_CALL(cuCtxGetFlags, (unsigned *flags), give_flags(flags))
DRIVER_CALL(cuCtxGetApiVersion, (CUcontext context, unsigned *version),
            give_version(context, version))
DRIVER_CALL(cuCtxGetId, (CUcontext context, unsigned long long *id), give_id(context, id))
DRIVER_CALL(cuCtxSynchronize, (void), cudaDeviceSynchronize())
DRIVER_CALL(cuCtxSetLimit, (CUlimit limit, size_t value),
            cudaDeviceSetLimit((enum cudaLimit) limit, value))
DRIVER_CALL(cuCtxGetLimit, (size_t * value, CUlimit limit),
            cudaDeviceGetLimit(value, (enum cudaLimit) limit))
DRIVER_CALL(cuCtxSetCacheConfig, (CUfunc_cache config),
            cudaDeviceSetCacheConfig((enum cudaFuncCache) config))
DRIVER_CALL(cuCtxGetCacheConfig, (CUfunc_cache * config),
            cudaDeviceGetCacheConfig((enum cudaFuncCache *) config))
DRIVER_CALL(cuCtxGetStreamPriorityRange, (int *least, int *greatest),
            cudaDeviceGetStreamPriorityRange(least, greatest))
