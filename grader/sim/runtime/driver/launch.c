/* launch.c - launches, and the attributes and occupancy of kernels. */
#include "sim/runtime/driver/driver.h"
#include "sim/runtime/launch.h"

/* ---- Launches ---- */

static cudaError_t launch_in(CUstream stream, LaunchRequest request, void *const *extra)
{
    cudaError_t error = launch_packed(extra, &request);

    return error ? error : launch(stream_of(stream, false), &request);
}

static cudaError_t launch_config(const CUlaunchConfig *config, CUstream on, CUfunction function,
                                 void **arguments, void *const *extra)
{
    LaunchRequest request;

    if (!config || (config->numAttrs && !config->attrs))
        return cudaErrorInvalidValue;
    request = (LaunchRequest){
        .kernel = function,
        .grid = { config->gridDimX, config->gridDimY, config->gridDimZ },
        .block = { config->blockDimX, config->blockDimY, config->blockDimZ },
        .arguments = arguments,
        .dynamic_bytes = config->sharedMemBytes,
    };
    for (unsigned i = 0; i < config->numAttrs; i++) {
        /* Both headers declare the same layout. */
        cudaError_t error =
            launch_attribute((const cudaLaunchAttribute *) &config->attrs[i], &request);
        if (error)
            return error;
    }
    return launch_in(on, request, extra);
}

DRIVER_STREAM_CALL(cuLaunchKernel,
                   (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                    CUstream stream, void **arguments, void **extra),
                   stream, on,
                   CALL(launch_in(on,
                                  (LaunchRequest){ .kernel = function,
                                                   .grid = { grid_x, grid_y, grid_z },
                                                   .block = { block_x, block_y, block_z },
                                                   .arguments = arguments,
                                                   .dynamic_bytes = shared },
                                  extra)))
DRIVER_STREAM_CALL(cuLaunchCooperativeKernel,
                   (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                    CUstream stream, void **arguments),
                   stream, on,
                   CALL(launch_in(on,
                                  (LaunchRequest){ .kernel = function,
                                                   .grid = { grid_x, grid_y, grid_z },
                                                   .block = { block_x, block_y, block_z },
                                                   .arguments = arguments,
                                                   .dynamic_bytes = shared,
                                                   .cooperative = true },
                                  NULL)))
DRIVER_STREAM_CALL(cuLaunchKernelEx,
                   (const CUlaunchConfig *config, CUfunction function, void **arguments,
                    void **extra),
                   config ? config->hStream : NULL, on,
                   CALL(launch_config(config, on, function, arguments, extra)))
DRIVER_STREAM_CALL(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *data), stream, on,
                   cudaLaunchHostFunc(on, function, data))

/* ---- Attributes ---- */

static cudaError_t get_attribute(int *value, int attribute, CUfunction function)
{
    struct cudaFuncAttributes all;
    cudaError_t error = value ? cudaFuncGetAttributes(&all, function) : cudaErrorInvalidValue;

    if (error)
        return error;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = all.maxThreadsPerBlock;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int) all.sharedSizeBytes;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = (int) all.constSizeBytes;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int) all.localSizeBytes;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = all.numRegs;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = all.ptxVersion;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = all.binaryVersion;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = all.maxDynamicSharedSizeBytes;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = all.preferredShmemCarveout;
        return cudaSuccess;
    default:
        *value = 0;
        return attribute < CU_FUNC_ATTRIBUTE_MAX ? cudaSuccess : cudaErrorInvalidValue;
    }
}

DRIVER_CALL(cuFuncGetAttribute, (int *value, CUfunction_attribute attribute, CUfunction function),
            get_attribute(value, (int) attribute, function))
DRIVER_CALL(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value),
            cudaFuncSetAttribute(function, (enum cudaFuncAttribute) attribute, value))
DRIVER_CALL(cuFuncSetCacheConfig, (CUfunction function, CUfunc_cache config),
            cudaFuncSetCacheConfig(function, (enum cudaFuncCache) config))
DRIVER_CALL(cuFuncSetSharedMemConfig, (CUfunction function, CUsharedconfig config),
            ((void) config,
             CALL(handle_get(HANDLE_FUNCTION, function) ? cudaSuccess
                                                        : cudaErrorInvalidResourceHandle)))
DRIVER_CALL(cuFuncGetName, (const char **name, CUfunction function),
            cudaFuncGetName(name, function))
DRIVER_CALL(cuFuncGetParamInfo, (CUfunction function, size_t index, size_t *offset, size_t *bytes),
            cudaFuncGetParamInfo(function, index, offset, bytes))
DRIVER_CALL(cuKernelGetAttribute,
            (int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device),
            ((void) device, get_attribute(value, (int) attribute, (CUfunction) kernel)))
DRIVER_CALL(cuKernelSetAttribute,
            (CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device),
            ((void) device,
             cudaFuncSetAttribute(kernel, (enum cudaFuncAttribute) attribute, value)))
DRIVER_CALL(cuKernelGetName, (const char **name, CUkernel kernel), cudaFuncGetName(name, kernel))

static cudaError_t find_module(CUmodule *module, CUfunction function)
{
    const RtFunction *found = handle_get(HANDLE_FUNCTION, function);

    if (!found || !module)
        return found ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    *module = (CUmodule) found->owner;
    return cudaSuccess;
}

DRIVER_CALL(cuFuncGetModule, (CUmodule * module, CUfunction function),
            CALL(find_module(module, function)))

static cudaError_t is_loaded(CUfunctionLoadingState *state, CUfunction function)
{
    if (!state || !handle_get(HANDLE_FUNCTION, function))
        return cudaErrorInvalidValue;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return cudaSuccess;
}

DRIVER_CALL(cuFuncIsLoaded, (CUfunctionLoadingState * state, CUfunction function),
            CALL(is_loaded(state, function)))
DRIVER_CALL(cuFuncLoad, (CUfunction function),
            CALL(handle_get(HANDLE_FUNCTION, function) ? cudaSuccess
                                                       : cudaErrorInvalidResourceHandle))

/* ---- Occupancy ---- */

/* Tries block sizes from the largest down, in whole warps, and keeps the first with the most
 * threads on an SM. */
static cudaError_t best_block(int *grid, int *block, CUfunction function,
                              CUoccupancyB2DSize dynamic, size_t bytes, int limit)
{
    int most, sms, best = 0, on_sm;
    cudaError_t error =
        grid && block ? get_attribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function)
                      : cudaErrorInvalidValue;

    if (error)
        return error;
    most = limit > 0 && limit < most ? limit : most;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    for (int threads = (most + LANES - 1) / LANES * LANES; threads > 0 && !error;
         threads -= LANES) {
        const int size = threads < most ? threads : most;
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_sm, function, size,
                                                              dynamic ? dynamic(size) : bytes);
        if (!error && on_sm * size > best) {
            best = on_sm * size;
            *block = size;
            *grid = on_sm * sms;
        }
    }
    return error;
}

DRIVER_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor,
            (int *blocks, CUfunction function, int threads, size_t bytes),
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, bytes))
DRIVER_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
            (int *blocks, CUfunction function, int threads, size_t bytes, unsigned flags),
            cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, bytes,
                                                                   flags))
DRIVER_CALL(cuOccupancyMaxPotentialBlockSize,
            (int *grid, int *block, CUfunction function, CUoccupancyB2DSize dynamic, size_t bytes,
             int limit),
            best_block(grid, block, function, dynamic, bytes, limit))
DRIVER_CALL(cuOccupancyMaxPotentialBlockSizeWithFlags,
            (int *grid, int *block, CUfunction function, CUoccupancyB2DSize dynamic, size_t bytes,
             int limit, unsigned flags),
            ((void) flags, best_block(grid, block, function, dynamic, bytes, limit)))
DRIVER_CALL(cuOccupancyAvailableDynamicSMemPerBlock,
            (size_t * bytes, CUfunction function, int blocks, int threads),
            cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads))
