/* limits.c - limits of the device and sizes of its caches, which a program may set and ask for. Of
 * the limits, only those of the heap and of launches in kernels have an effect. */
#include "sim/runtime/runtime.h"

/* ---- Limits ---- */

enum { KNOWN_LIMITS = sizeof rt.limits / sizeof *rt.limits };

static size_t usual_limit(int limit)
{
    switch (limit) {
    case cudaLimitStackSize:
        return 1024;
    case cudaLimitPrintfFifoSize:
    case cudaLimitMallocHeapSize:
        return 8 << 20;
    case cudaLimitMaxL2FetchGranularity:
        return 64;
    case cudaLimitDevRuntimePendingLaunchCount:
        return 2048;
    default:
        return 0;
    }
}

static cudaError_t set_limit(int limit, size_t value)
{
    if (limit < 0 || limit >= KNOWN_LIMITS)
        return cudaErrorInvalidValue;
    rt.limits[limit] = value;
    return cudaSuccess;
}

static cudaError_t get_limit(size_t *value, int limit)
{
    if (!value || limit < 0 || limit >= KNOWN_LIMITS)
        return cudaErrorInvalidValue;
    *value = rt.limits[limit] ? rt.limits[limit] : usual_limit(limit);
    return cudaSuccess;
}

static cudaError_t give_int(int *to, int value)
{
    if (!to)
        return cudaErrorInvalidValue;
    *to = value;
    return cudaSuccess;
}

API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    return CALL(set_limit((int) limit, value));
}

API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    return CALL(get_limit(value, (int) limit));
}

/* Their names in CUDA 12 and before. */
API cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value);
API cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value)
{
    return CALL(set_limit((int) limit, value));
}

API cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit limit);
API cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit limit)
{
    return CALL(get_limit(value, (int) limit));
}

/* ---- Sizes of caches, which are fixed ---- */

API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    (void) config;
    return CALL(cudaSuccess);
}

API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    return CALL(give_int((int *) config, cudaFuncCachePreferNone));
}

/* Their names in CUDA 12 and before. */
API cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config);
API cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config)
{
    (void) config;
    return CALL(cudaSuccess);
}

API cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *config);
API cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *config)
{
    return CALL(give_int((int *) config, cudaFuncCachePreferNone));
}

/* The width of shared memory's banks, which has been fixed since sm_50. */
#undef cudaDeviceGetSharedMemConfig
#undef cudaDeviceSetSharedMemConfig
API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config);
API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    return CALL(give_int((int *) config, cudaSharedMemBankSizeFourByte));
}

API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    return CALL((unsigned) config <= cudaSharedMemBankSizeEightByte ? cudaSuccess
                                                                    : cudaErrorInvalidValue);
}

API cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return CALL(cudaSuccess);
}
