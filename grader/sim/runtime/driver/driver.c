/* driver.c - the beginning and end of each call of the driver; cuInit; the device. */
#include "sim/runtime/driver/driver.h"

#include <stdio.h>
#include <string.h>

static bool initialised;
static _Thread_local cudaError_t last_before; /* cudaGetLastError's, which stays */

/* ---- Calls ---- */

/* Errors that only the runtime has; others have the same number in both. */
static const struct {
    cudaError_t error;
    CUresult result;
} results[] = {
    { cudaErrorInvalidConfiguration, CUDA_ERROR_INVALID_VALUE },
    { cudaErrorInvalidPitchValue, CUDA_ERROR_INVALID_VALUE },
    { cudaErrorInvalidSymbol, CUDA_ERROR_NOT_FOUND },
    { cudaErrorInvalidChannelDescriptor, CUDA_ERROR_INVALID_VALUE },
    { cudaErrorInvalidMemcpyDirection, CUDA_ERROR_INVALID_VALUE },
    { cudaErrorInvalidFilterSetting, CUDA_ERROR_INVALID_VALUE },
    { cudaErrorInvalidNormSetting, CUDA_ERROR_INVALID_VALUE },
    { cudaErrorDevicesUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE },
    { cudaErrorInvalidDeviceFunction, CUDA_ERROR_INVALID_HANDLE },
};

CUresult driver_result(cudaError_t error)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i].error == error)
            return results[i].result;
    return (CUresult) error;
}

static void begin(void)
{
    last_before = cudaPeekAtLastError();
    rt_in_driver = true;
}

CUresult driver_enter(bool needs_context)
{
    if (!initialised && !rt.user_calls) /* the runtime initialises the driver, too */
        return CUDA_ERROR_NOT_INITIALIZED;
    if (needs_context && !context_is_current())
        return CUDA_ERROR_INVALID_CONTEXT;
    begin();
    return CUDA_SUCCESS;
}

CUresult driver_leave(int error)
{
    rt_in_driver = false;
    last_error_set(last_before);
    return driver_result((cudaError_t) error);
}

static cudaError_t initialise(unsigned flags)
{
    initialised |= !flags;
    return flags ? cudaErrorInvalidValue : cudaSuccess;
}

API CUresult CUDAAPI cuInit(unsigned flags)
{
    begin();
    return driver_leave((int) CALL_ALWAYS(initialise(flags)));
}

API CUresult CUDAAPI cuDriverGetVersion(int *version)
{
    begin();
    return driver_leave((int) cudaDriverGetVersion(version));
}

/* ---- The device ---- */

static cudaError_t give_device(CUdevice *device, int ordinal)
{
    if (!device)
        return cudaErrorInvalidValue;
    if (ordinal)
        return cudaErrorInvalidDevice;
    *device = 0;
    return cudaSuccess;
}

static cudaError_t give_name(char *name, int bytes, CUdevice device)
{
    struct cudaDeviceProp properties;
    cudaError_t error =
        name && bytes > 0 ? cudaGetDeviceProperties(&properties, device) : cudaErrorInvalidValue;

    if (!error)
        snprintf(name, (size_t) bytes, "%s", properties.name);
    return error;
}

static cudaError_t give_bytes(size_t *bytes, CUdevice device)
{
    size_t left;

    if (device)
        return cudaErrorInvalidDevice;
    return bytes ? cudaMemGetInfo(&left, bytes) : cudaErrorInvalidValue;
}

static cudaError_t give_capability(int *major, int *minor, CUdevice device)
{
    cudaError_t error =
        major && minor ? cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, device)
                       : cudaErrorInvalidValue;

    return error ? error : cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, device);
}

static cudaError_t give_uuid(CUuuid *uuid, CUdevice device)
{
    if (device)
        return cudaErrorInvalidDevice;
    if (!uuid)
        return cudaErrorInvalidValue;
    memset(uuid, 0, sizeof *uuid);
    return cudaSuccess;
}

static cudaError_t give_attribute(int *value, int attribute, CUdevice device)
{
    if (attribute >= (int) cudaDevAttrMax && attribute < CU_DEVICE_ATTRIBUTE_MAX && value) {
        *value = 0; /* a newer one */
        return cudaSuccess;
    }
    return cudaDeviceGetAttribute(value, (enum cudaDeviceAttr) attribute, device);
}

DRIVER_CALL_ANYWHERE(cuDeviceGet, (CUdevice * device, int ordinal), give_device(device, ordinal))
DRIVER_CALL_ANYWHERE(cuDeviceGetCount, (int *count), cudaGetDeviceCount(count))
DRIVER_CALL_ANYWHERE(cuDeviceGetName, (char *name, int bytes, CUdevice device),
                     give_name(name, bytes, device))
DRIVER_CALL_ANYWHERE(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device),
                     give_bytes(bytes, device))
DRIVER_CALL_ANYWHERE(cuDeviceComputeCapability, (int *major, int *minor, CUdevice device),
                     give_capability(major, minor, device))
DRIVER_CALL_ANYWHERE(cuDeviceGetAttribute,
                     (int *value, CUdevice_attribute attribute, CUdevice device),
                     give_attribute(value, (int) attribute, device))
#undef cuDeviceGetUuid
DRIVER_CALL_ANYWHERE(cuDeviceGetUuid, (CUuuid * uuid, CUdevice device), give_uuid(uuid, device))
DRIVER_CALL_ANYWHERE(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device), give_uuid(uuid, device))
DRIVER_CALL_ANYWHERE(cuDeviceGetPCIBusId, (char *name, int bytes, CUdevice device),
                     cudaDeviceGetPCIBusId(name, bytes, device))
DRIVER_CALL_ANYWHERE(cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer),
                     cudaDeviceCanAccessPeer(can, device, peer))
DRIVER_CALL_ANYWHERE(cuDeviceGetP2PAttribute,
                     (int *value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to),
                     cudaDeviceGetP2PAttribute(value, (enum cudaDeviceP2PAttr) attribute, from, to))
DRIVER_CALL_ANYWHERE(cuDeviceGetByPCIBusId, (CUdevice * device, const char *text),
                     cudaDeviceGetByPCIBusId(device, text))
DRIVER_CALL_ANYWHERE(cuDeviceGetDefaultMemPool, (CUmemoryPool * pool, CUdevice device),
                     cudaDeviceGetDefaultMemPool(pool, device))
DRIVER_CALL_ANYWHERE(cuDeviceGetMemPool, (CUmemoryPool * pool, CUdevice device),
                     cudaDeviceGetMemPool(pool, device))
DRIVER_CALL_ANYWHERE(cuDeviceSetMemPool, (CUdevice device, CUmemoryPool pool),
                     cudaDeviceSetMemPool(device, pool))
