/* function.c - attributes of a kernel, and how many blocks fit on an SM. */
#include "sim/runtime/runtime.h"

#include <string.h>

/* Finds the kernel and prepares its code. */
static cudaError_t get(const void *host, RtFunction **function)
{
    cudaError_t error = function_find(host, function);

    return error ? error : function_prepare(*function);
}

/* ---- Attributes ---- */

static size_t constant_bytes(const Module *module)
{
    size_t bytes = 0;

    for (int i = 0; i < module->variable_count; i++)
        if (module->variables[i].space == SPACE_CONST)
            bytes += module->variables[i].size;
    return bytes;
}

static cudaError_t get_attributes(struct cudaFuncAttributes *attributes, const void *host)
{
    RtFunction *function;
    cudaError_t error = attributes ? get(host, &function) : cudaErrorInvalidValue;

    if (error)
        return error;
    memset(attributes, 0, sizeof *attributes);
    attributes->sharedSizeBytes = (size_t) function->code->static_shared_bytes;
    attributes->constSizeBytes = constant_bytes(function->owner->module);
    attributes->localSizeBytes = (size_t) (function->has_resources ? function->resources.local_bytes
                                                                   : function->code->local_bytes);
    attributes->maxThreadsPerBlock = function_most_threads(function);
    attributes->numRegs = function_registers(function);
    attributes->ptxVersion = function->owner->module->target;
    attributes->binaryVersion = rt.device.cc;
    attributes->maxDynamicSharedSizeBytes = function_most_dynamic(function);
    attributes->preferredShmemCarveout = function->carveout;
    attributes->nonPortableClusterSizeAllowed = function->large_clusters;
    return cudaSuccess;
}

static cudaError_t set_dynamic(RtFunction *function, int bytes)
{
    const int most = rt.device.shared_per_block_optin_bytes - function->code->static_shared_bytes;

    if (bytes < 0)
        return cudaErrorInvalidValue;
    if (bytes > most) {
        rt_finding(
            FINDING_LAUNCH, true, function->plain,
            "cudaFuncSetAttribute requests %d bytes of dynamic shared memory: in addition to %d "
            "static bytes, this device allows at most %d",
            bytes, function->code->static_shared_bytes, most);
        return cudaErrorInvalidValue;
    }
    function->dynamic_shared_bytes = bytes;
    return cudaSuccess;
}

static cudaError_t set_attribute(const void *host, int attribute, int value)
{
    RtFunction *function;
    cudaError_t error = get(host, &function);

    if (error)
        return error;
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        return set_dynamic(function, value);
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100)
            return cudaErrorInvalidValue;
        function->carveout = value;
        return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
        if (rt.device.cc < 90)
            return cudaErrorNotSupported;
        function->large_clusters = value;
        return cudaSuccess;
    default: /* other attributes of clusters */
        return attribute > 0 && attribute < cudaFuncAttributeMax ? cudaErrorNotSupported
                                                                 : cudaErrorInvalidValue;
    }
}

API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel)
{
    return CALL(get_attributes(attributes, kernel));
}

API cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute id, int value)
{
    return CALL(set_attribute(kernel, (int) id, value));
}

#if CUDART_VERSION >= 13000
/* An attribute of a kernel of a library, on one device. */
API cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute id,
                                                int value, int device)
{
    return CALL(device ? cudaErrorInvalidDevice : set_attribute(kernel, (int) id, value));
}
#endif

/* ---- Hints ---- */

static cudaError_t accept(const void *host)
{
    RtFunction *function;

    return function_find(host, &function);
}

API cudaError_t cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config)
{
    (void) config;
    return CALL(accept(kernel));
}

API cudaError_t cudaFuncSetSharedMemConfig(const void *kernel, enum cudaSharedMemConfig config)
{
    (void) config;
    return CALL(accept(kernel));
}

/* ---- Name and parameters ---- */

static cudaError_t get_name(const char **name, const void *host)
{
    RtFunction *function;
    cudaError_t error = name ? function_find(host, &function) : cudaErrorInvalidValue;

    if (!error)
        *name = function->name;
    return error;
}

static cudaError_t get_param(const void *host, size_t index, size_t *offset, size_t *bytes)
{
    RtFunction *function;
    const Function *entry;
    cudaError_t error = offset ? get(host, &function) : cudaErrorInvalidValue;

    if (error)
        return error;
    entry = &function->owner->module->functions[function->index];
    if (index >= (size_t) entry->param_count)
        return cudaErrorInvalidValue;
    *offset = (size_t) function->code->variable_offset[entry->params[index]];
    if (bytes)
        *bytes = function->owner->module->variables[entry->params[index]].size;
    return cudaSuccess;
}

API cudaError_t cudaFuncGetName(const char **name, const void *kernel)
{
    return CALL(get_name(name, kernel));
}

API cudaError_t cudaFuncGetParamInfo(const void *kernel, size_t index, size_t *offset,
                                     size_t *bytes)
{
    return CALL(get_param(kernel, index, offset, bytes));
}

/* ---- Occupancy ---- */

static cudaError_t most_blocks(int *blocks, const void *host, int threads, size_t dynamic_bytes)
{
    RtFunction *function;
    cudaError_t error = blocks && threads > 0 ? get(host, &function) : cudaErrorInvalidValue;

    if (error)
        return error;
    *blocks = threads > function_most_threads(function)
                  ? 0
                  : function_occupancy(function, threads, dynamic_bytes).blocks_per_sm;
    return cudaSuccess;
}

/* Finds the maximum dynamic shared memory with which `blocks` blocks still fit on an SM. */
static cudaError_t available_dynamic(size_t *bytes, const void *host, int blocks, int threads)
{
    RtFunction *function;
    cudaError_t error =
        bytes && blocks > 0 && threads > 0 ? get(host, &function) : cudaErrorInvalidValue;
    size_t least = 0, most = (size_t) rt.device.shared_per_block_optin_bytes + 1;

    if (error)
        return error;
    if (function_occupancy(function, threads, 0).blocks_per_sm < blocks)
        return cudaErrorInvalidValue;
    while (most - least > 1) {
        const size_t middle = least + (most - least) / 2;
        if (function_occupancy(function, threads, middle).blocks_per_sm >= blocks)
            least = middle;
        else
            most = middle;
    }
    *bytes = least;
    return cudaSuccess;
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                              int threads, size_t dynamic_bytes)
{
    return CALL(most_blocks(blocks, kernel, threads, dynamic_bytes));
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *kernel, int threads, size_t dynamic_bytes, unsigned flags)
{
    return CALL(flags > 1 ? cudaErrorInvalidValue
                          : most_blocks(blocks, kernel, threads, dynamic_bytes));
}

/* Blocks of a cluster of this launch. */
static int64_t cluster_blocks(const cudaLaunchConfig_t *config)
{
    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++)
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
            return (int64_t) config->attrs[i].val.clusterDim.x * config->attrs[i].val.clusterDim.y *
                   config->attrs[i].val.clusterDim.z;
    return 1;
}

/* That a cluster must lie in one group of SMs is not described. */
static cudaError_t active_clusters(int *clusters, const void *host,
                                   const cudaLaunchConfig_t *config)
{
    const int64_t blocks = clusters && config ? cluster_blocks(config) : 0;
    int on_sm;

    if (blocks < 1)
        return cudaErrorInvalidValue;
    RtFunction *function;
    cudaError_t error = get(host, &function);
    if (!error && blocks > function_most_in_cluster(function))
        return cudaErrorInvalidClusterSize;
    if (!error)
        error = most_blocks(&on_sm, host,
                            (int) (config->blockDim.x * config->blockDim.y * config->blockDim.z),
                            config->dynamicSmemBytes);
    if (!error)
        *clusters = (int) (on_sm * (int64_t) rt.device.sms / blocks);
    return error;
}

API cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *kernel,
                                               const cudaLaunchConfig_t *config)
{
    return CALL(active_clusters(clusters, kernel, config));
}

/* Every device with clusters has those of 8 blocks. More have been tried on an H200 only. */
unsigned function_most_in_cluster(const RtFunction *function)
{
    const bool has_large = rt.device.cc >= 90 && rt.device.cc < 110;

    return has_large && function->large_clusters ? MOST_IN_CLUSTER : 8;
}

static cudaError_t cluster_size(int *size, const void *host, const cudaLaunchConfig_t *config)
{
    RtFunction *function;
    cudaError_t error;

    if (!size || !config)
        return cudaErrorInvalidValue;
    if (rt.device.cc < 90)
        return cudaErrorNotSupported;
    error = get(host, &function);
    if (!error)
        *size = (int) function_most_in_cluster(function);
    return error;
}

API cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *kernel,
                                                     const cudaLaunchConfig_t *config)
{
    return CALL(cluster_size(size, kernel, config));
}

API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *kernel,
                                                          int blocks, int threads)
{
    return CALL(available_dynamic(bytes, kernel, blocks, threads));
}
