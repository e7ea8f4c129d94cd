/* device.c - the device: number, attributes, limits, reset.
 *
 * One table has the attributes; properties are filled from it. A figure that is not in the device's
 * description is the same on all current GPUs, or 0 for a feature that is not simulated.
 */
#include "sim/runtime/array.h"
#include "sim/runtime/program.h"
#include "sim/runtime/runtime.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Attributes ---- */

static int whole(double value)
{
    return value < INT_MAX ? (int) value : INT_MAX;
}

static int registers_per_block(void)
{
    return rt.device.registers_per_sm < 65536 ? rt.device.registers_per_sm : 65536;
}

/* Device figures first, then constants. Attributes in neither list are 0. */
#define FIGURES(X)                                                                                 \
    X(cudaDevAttrMaxThreadsPerBlock, rt.device.threads_per_block)                                  \
    X(cudaDevAttrMaxSharedMemoryPerBlock, rt.device.shared_per_block_bytes)                        \
    X(cudaDevAttrMaxRegistersPerBlock, registers_per_block())                                      \
    X(cudaDevAttrClockRate, whole(rt.device.sm_mhz * 1000))                                        \
    X(cudaDevAttrMultiProcessorCount, rt.device.sms)                                               \
    X(cudaDevAttrMemoryClockRate, whole(rt.device.memory_mhz * 1000))                              \
    X(cudaDevAttrGlobalMemoryBusWidth, rt.device.memory_bus_bits)                                  \
    X(cudaDevAttrL2CacheSize, whole(rt.device.l2_bytes))                                           \
    X(cudaDevAttrMaxThreadsPerMultiProcessor, rt.device.threads_per_sm)                            \
    X(cudaDevAttrAsyncEngineCount, rt.device.copy_engines)                                         \
    X(cudaDevAttrComputeCapabilityMajor, rt.device.cc / 10)                                        \
    X(cudaDevAttrComputeCapabilityMinor, rt.device.cc % 10)                                        \
    X(cudaDevAttrMaxSharedMemoryPerMultiprocessor, rt.device.shared_per_sm_bytes)                  \
    X(cudaDevAttrMaxRegistersPerMultiprocessor, rt.device.registers_per_sm)                        \
    X(cudaDevAttrMaxSharedMemoryPerBlockOptin, rt.device.shared_per_block_optin_bytes)             \
    X(cudaDevAttrMaxBlocksPerMultiprocessor, rt.device.blocks_per_sm)                              \
    X(cudaDevAttrMaxPersistingL2CacheSize, whole(rt.device.l2_bytes * 3 / 4))                      \
    X(cudaDevAttrMaxAccessPolicyWindowSize, whole(rt.device.l2_bytes))                             \
    X(cudaDevAttrClusterLaunch, rt.device.cc >= 90)                                                \
    X(cudaDevAttrReservedSharedMemoryPerBlock, rt.device.shared_reserved_bytes)

#define CONSTANTS(X)                                                                               \
    X(cudaDevAttrMaxBlockDimX, 1024)                                                               \
    X(cudaDevAttrMaxBlockDimY, 1024)                                                               \
    X(cudaDevAttrMaxBlockDimZ, 64)                                                                 \
    X(cudaDevAttrMaxGridDimX, INT_MAX)                                                             \
    X(cudaDevAttrMaxGridDimY, 65535)                                                               \
    X(cudaDevAttrMaxGridDimZ, 65535)                                                               \
    X(cudaDevAttrTotalConstantMemory, 65536)                                                       \
    X(cudaDevAttrWarpSize, LANES)                                                                  \
    X(cudaDevAttrMaxPitch, INT_MAX)                                                                \
    X(cudaDevAttrTextureAlignment, 512)                                                            \
    X(cudaDevAttrTexturePitchAlignment, 32)                                                        \
    X(cudaDevAttrSurfaceAlignment, 512)                                                            \
    X(cudaDevAttrGpuOverlap, 1)                                                                    \
    X(cudaDevAttrCanMapHostMemory, 1)                                                              \
    X(cudaDevAttrConcurrentKernels, 1)                                                             \
    X(cudaDevAttrUnifiedAddressing, 1)                                                             \
    X(cudaDevAttrStreamPrioritiesSupported, 1)                                                     \
    X(cudaDevAttrGlobalL1CacheSupported, 1)                                                        \
    X(cudaDevAttrLocalL1CacheSupported, 1)                                                         \
    X(cudaDevAttrManagedMemory, 1)                                                                 \
    X(cudaDevAttrConcurrentManagedAccess, 1)                                                       \
    X(cudaDevAttrSingleToDoublePrecisionPerfRatio, 2)                                              \
    X(cudaDevAttrComputePreemptionSupported, 1)                                                    \
    X(cudaDevAttrCanUseHostPointerForRegisteredMem, 1)                                             \
    X(cudaDevAttrCooperativeLaunch, 1)                                                             \
    X(cudaDevAttrHostRegisterSupported, 1)                                                         \
    X(cudaDevAttrMemoryPoolsSupported, 1)                                                          \
    X(cudaDevAttrNumaId, -1)                                                                       \
    X(cudaDevAttrHostNumaId, -1)

static int attribute(int id)
{
    switch (id) {
#define CASE(name, value)                                                                          \
    case name:                                                                                     \
        return value;
        FIGURES(CASE)
        CONSTANTS(CASE)
#undef CASE
#define LIMIT(field, name, value)                                                                  \
    case name:                                                                                     \
        return value;
#include "sim/runtime/texture_limits.def"
#undef LIMIT
    case cudaDevAttrMaxTexture1DLinearWidth:
        return 1 << 28;
    default:
        return 0;
    }
}

static cudaError_t get_attribute(int *value, int id, int device)
{
    if (device)
        return cudaErrorInvalidDevice;
    if (!value || id < 1 || id >= cudaDevAttrMax)
        return cudaErrorInvalidValue;
    *value = attribute(id);
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr id, int device)
{
    return CALL_ALWAYS(get_attribute(value, (int) id, device));
}

/* ---- Properties: fields common to CUDA 12 and 13, then those of CUDA 12 alone ---- */

#define COMMON_FIELDS(X)                                                                           \
    X(sharedMemPerBlock, cudaDevAttrMaxSharedMemoryPerBlock)                                       \
    X(regsPerBlock, cudaDevAttrMaxRegistersPerBlock)                                               \
    X(warpSize, cudaDevAttrWarpSize)                                                               \
    X(memPitch, cudaDevAttrMaxPitch)                                                               \
    X(maxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock)                                           \
    X(maxThreadsDim[0], cudaDevAttrMaxBlockDimX)                                                   \
    X(maxThreadsDim[1], cudaDevAttrMaxBlockDimY)                                                   \
    X(maxThreadsDim[2], cudaDevAttrMaxBlockDimZ)                                                   \
    X(maxGridSize[0], cudaDevAttrMaxGridDimX)                                                      \
    X(maxGridSize[1], cudaDevAttrMaxGridDimY)                                                      \
    X(maxGridSize[2], cudaDevAttrMaxGridDimZ)                                                      \
    X(totalConstMem, cudaDevAttrTotalConstantMemory)                                               \
    X(major, cudaDevAttrComputeCapabilityMajor)                                                    \
    X(minor, cudaDevAttrComputeCapabilityMinor)                                                    \
    X(textureAlignment, cudaDevAttrTextureAlignment)                                               \
    X(texturePitchAlignment, cudaDevAttrTexturePitchAlignment)                                     \
    X(multiProcessorCount, cudaDevAttrMultiProcessorCount)                                         \
    X(canMapHostMemory, cudaDevAttrCanMapHostMemory)                                               \
    X(surfaceAlignment, cudaDevAttrSurfaceAlignment)                                               \
    X(clusterLaunch, cudaDevAttrClusterLaunch)                                                     \
    X(concurrentKernels, cudaDevAttrConcurrentKernels)                                             \
    X(asyncEngineCount, cudaDevAttrAsyncEngineCount)                                               \
    X(unifiedAddressing, cudaDevAttrUnifiedAddressing)                                             \
    X(memoryBusWidth, cudaDevAttrGlobalMemoryBusWidth)                                             \
    X(l2CacheSize, cudaDevAttrL2CacheSize)                                                         \
    X(persistingL2CacheMaxSize, cudaDevAttrMaxPersistingL2CacheSize)                               \
    X(maxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor)                         \
    X(streamPrioritiesSupported, cudaDevAttrStreamPrioritiesSupported)                             \
    X(globalL1CacheSupported, cudaDevAttrGlobalL1CacheSupported)                                   \
    X(localL1CacheSupported, cudaDevAttrLocalL1CacheSupported)                                     \
    X(sharedMemPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor)                     \
    X(regsPerMultiprocessor, cudaDevAttrMaxRegistersPerMultiprocessor)                             \
    X(managedMemory, cudaDevAttrManagedMemory)                                                     \
    X(concurrentManagedAccess, cudaDevAttrConcurrentManagedAccess)                                 \
    X(computePreemptionSupported, cudaDevAttrComputePreemptionSupported)                           \
    X(canUseHostPointerForRegisteredMem, cudaDevAttrCanUseHostPointerForRegisteredMem)             \
    X(cooperativeLaunch, cudaDevAttrCooperativeLaunch)                                             \
    X(sharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin)                             \
    X(maxBlocksPerMultiProcessor, cudaDevAttrMaxBlocksPerMultiprocessor)                           \
    X(accessPolicyMaxWindowSize, cudaDevAttrMaxAccessPolicyWindowSize)                             \
    X(reservedSharedMemPerBlock, cudaDevAttrReservedSharedMemoryPerBlock)                          \
    X(hostRegisterSupported, cudaDevAttrHostRegisterSupported)                                     \
    X(memoryPoolsSupported, cudaDevAttrMemoryPoolsSupported)

#define FIELDS_OF_12(X)                                                                            \
    X(clockRate, cudaDevAttrClockRate)                                                             \
    X(deviceOverlap, cudaDevAttrGpuOverlap)                                                        \
    X(memoryClockRate, cudaDevAttrMemoryClockRate)                                                 \
    X(singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio)

#define FILL(field, id) properties->field = (__typeof__(properties->field)) attribute(id);

static void device_name(char *name, size_t size)
{
    if (rt.device.slice > 1)
        snprintf(name, size, "simulated %s, 1/%d", rt.device.name, rt.device.slice);
    else
        snprintf(name, size, "simulated %s", rt.device.name);
}

#if CUDART_VERSION >= 13000
static cudaError_t get_properties(struct cudaDeviceProp *properties, int device)
{
    if (device || !properties)
        return device ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    memset(properties, 0, sizeof *properties);
    device_name(properties->name, sizeof properties->name);
    properties->totalGlobalMem = (size_t) rt.device.memory_bytes;
    COMMON_FIELDS(FILL)
#define LIMIT(field, id, value) FILL(field, id)
#include "sim/runtime/texture_limits.def"
#undef LIMIT
    return cudaSuccess;
}

API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    return CALL_ALWAYS(get_properties(properties, device));
}

/* The layout of CUDA 12, whose programs call it by another name. */
typedef struct Properties12 {
    char name[256], uuid[16], luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated;
    int canMapHostMemory, computeMode;
    int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2];
    int maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3];
    int maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3];
    int maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2], maxSurface3D[3];
    int maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap;
    int maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
    int asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize;
    int persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported;
    int globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
    int hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess;
    int concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem;
    int cooperativeLaunch, cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
    unsigned gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch;
    int unifiedFunctionPointers, reserved[63];
} Properties12;
_Static_assert(sizeof(Properties12) == 1032, "CUDA 12's cudaDeviceProp");
#else
typedef struct cudaDeviceProp Properties12;
#endif

static cudaError_t get_properties_12(Properties12 *properties, int device)
{
    if (device || !properties)
        return device ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    memset(properties, 0, sizeof *properties);
    device_name(properties->name, sizeof properties->name);
    properties->totalGlobalMem = (size_t) rt.device.memory_bytes;
    COMMON_FIELDS(FILL)
    FIELDS_OF_12(FILL)
#define LIMIT(field, id, value) FILL(field, id)
#include "sim/runtime/texture_limits.def"
#undef LIMIT
    return cudaSuccess;
}

API cudaError_t cudaGetDeviceProperties_v2(Properties12 *properties, int device);
API cudaError_t cudaGetDeviceProperties_v2(Properties12 *properties, int device)
{
    return CALL_ALWAYS(get_properties_12(properties, device));
}

/* ---- Which device ---- */

static cudaError_t give(int *where, int value)
{
    if (!where)
        return cudaErrorInvalidValue;
    *where = value;
    return cudaSuccess;
}

static cudaError_t only_device(int device)
{
    return device ? cudaErrorInvalidDevice : cudaSuccess;
}

API cudaError_t cudaGetDeviceCount(int *count)
{
    return CALL_ALWAYS(give(count, 1));
}

API cudaError_t cudaGetDevice(int *device)
{
    return CALL_ALWAYS(give(device, 0));
}

API cudaError_t cudaSetDevice(int device)
{
    return CALL_ALWAYS(only_device(device));
}

API cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    (void) device_flags, (void) flags;
    return CALL(only_device(device));
}

API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *properties)
{
    return CALL(properties ? give(device, 0) : cudaErrorInvalidValue);
}

API cudaError_t cudaSetValidDevices(int *devices, int count)
{
    return CALL(count && devices ? only_device(devices[0]) : cudaSuccess);
}

static cudaError_t set_flags(unsigned flags)
{
    rt.device_flags = flags;
    return cudaSuccess;
}

API cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    return CALL(set_flags(flags));
}

API cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    return CALL(give((int *) flags, (int) (rt.device_flags | cudaDeviceMapHost)));
}

/* ---- Versions ---- */

API cudaError_t cudaDriverGetVersion(int *number)
{
    return CALL_ALWAYS(give(number, program_version()));
}

API cudaError_t cudaRuntimeGetVersion(int *number)
{
    return CALL_ALWAYS(give(number, program_version()));
}

/* ---- Other questions, and profilers ---- */

static cudaError_t priorities(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = GREATEST_PRIORITY;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    return CALL(priorities(least, greatest));
}

API cudaError_t cudaProfilerStart(void)
{
    return CALL(cudaSuccess);
}

API cudaError_t cudaProfilerStop(void)
{
    return CALL(cudaSuccess);
}

/* ---- The end ---- */

/* Discards everything that the program has on the device. After a failed kernel, only a new process
 * can use the device again. */
static cudaError_t reset(void)
{
    const bool failed = rt.sticky != cudaSuccess;

    if (!failed)
        finish_all();
    streams_drop();
    graphs_drop();
    pools_drop();
    memory_drop_all();
    arrays_drop();
    modules_unload();
    memset(rt.limits, 0, sizeof rt.limits);
    rt.sticky = failed ? cudaErrorDevicesUnavailable : cudaSuccess;
    return cudaSuccess;
}

API cudaError_t cudaDeviceReset(void)
{
    return CALL_ALWAYS(reset());
}

API cudaError_t cudaThreadExit(void); /* its name in CUDA 12 and before */
API cudaError_t cudaThreadExit(void)
{
    return CALL_ALWAYS(reset());
}
