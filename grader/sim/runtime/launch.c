/* launch.c - launches: checks the configuration against the device and the kernel, copies the
 * arguments, and queues the kernel in its stream. */
#include "sim/runtime/graph.h"
#include "sim/runtime/launch.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PARAM_BYTES = 1 << 16 };

/* ---- Checks of a launch. A finding states the invalid number. The errors are those of CUDA 13 on
 * an H200 (tests/sim/programs/error_codes.expected); CUDA 12 returns cudaErrorInvalidConfiguration
 * for an invalid shape ---- */

static const Place *launched_at; /* a launch in a kernel; NULL: by the host */

#define REFUSE(function, error, ...)                                                               \
    do {                                                                                           \
        const Place by_host = { .kernel = (function)->plain };                                     \
        finding(FINDING_LAUNCH, true, launched_at ? launched_at : &by_host, __VA_ARGS__);          \
        return error;                                                                              \
    } while (0)

static cudaError_t check_grid(const RtFunction *function, dim3 grid)
{
    if (!grid.x || !grid.y || !grid.z)
        REFUSE(function, cudaErrorInvalidValue,
               "a grid of (%u,%u,%u) has no blocks. Is a size 0, or a division rounded down? "
               "(n + threads - 1) / threads rounds up",
               grid.x, grid.y, grid.z);
    if (grid.x > INT32_MAX || grid.y > 65535 || grid.z > 65535)
        REFUSE(function, cudaErrorInvalidValue,
               "a grid of (%u,%u,%u) blocks: at most (2147483647,65535,65535) are allowed", grid.x,
               grid.y, grid.z);
    return cudaSuccess;
}

static cudaError_t check_block(const RtFunction *function, dim3 block)
{
    uint64_t threads = (uint64_t) block.x * block.y; /* not yet * z, which could overflow */

    if (!block.x || !block.y || !block.z)
        REFUSE(function, cudaErrorInvalidValue, "a block of (%u,%u,%u) has no threads", block.x,
               block.y, block.z);
    if (block.x > 1024 || block.y > 1024 || block.z > 64)
        REFUSE(function, cudaErrorInvalidValue,
               "a block of (%u,%u,%u) threads: at most (1024,1024,64) are allowed, and %d in total",
               block.x, block.y, block.z, rt.device.threads_per_block);
    threads *= block.z;
    if (threads > (uint64_t) rt.device.threads_per_block)
        REFUSE(function, cudaErrorInvalidValue,
               "a block of (%u,%u,%u) = %llu threads: at most %d are allowed", block.x, block.y,
               block.z, (unsigned long long) threads, rt.device.threads_per_block);
    return cudaSuccess;
}

static const Function *entry_of(const RtFunction *function)
{
    return &function->owner->module->functions[function->index];
}

/* .maxntid limits the number of threads; .reqntid requires an exact shape. */
static cudaError_t check_bounds(const RtFunction *function, dim3 block)
{
    const int *required = entry_of(function)->required_threads;
    const int most = function_most_threads(function);
    const unsigned threads = block.x * block.y * block.z;

    if (required[0] > 0 && (block.x != (unsigned) required[0] ||
                            block.y != (unsigned) (required[1] > 0 ? required[1] : 1) ||
                            block.z != (unsigned) (required[2] > 0 ? required[2] : 1)))
        REFUSE(function, cudaErrorInvalidConfiguration,
               "a block of (%u,%u,%u) threads: __block_size__ of this kernel requires (%d,%d,%d)",
               block.x, block.y, block.z, required[0], required[1], required[2]);
    if (threads > (unsigned) most && entry_of(function)->most_threads[0])
        REFUSE(function, cudaErrorInvalidValue,
               "a block of %u threads: __launch_bounds__ of this kernel allows at most %d", threads,
               most);
    if (threads > (unsigned) most)
        REFUSE(
            function, cudaErrorLaunchOutOfResources,
            "a block of %u threads with %d registers each: an SM has only %d registers. Use at "
            "most %d threads, or __launch_bounds__(%u) so that the compiler uses fewer registers",
            threads, function_registers(function), rt.device.registers_per_sm, most, threads);
    return cudaSuccess;
}

static cudaError_t check_shared(const RtFunction *function, size_t dynamic_bytes)
{
    const int fixed = function->code->static_shared_bytes;
    const int most = function_most_dynamic(function);

    if (dynamic_bytes > (size_t) most)
        REFUSE(
            function, cudaErrorInvalidValue,
            "%zu bytes of dynamic shared memory in addition to %d static bytes: the limit is %d. "
            "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) "
            "allows up to %d on this device",
            dynamic_bytes, fixed, most, rt.device.shared_per_block_optin_bytes - fixed);
    return cudaSuccess;
}

static cudaError_t check_cooperative(const RtFunction *function, dim3 grid, dim3 block,
                                     size_t dynamic_bytes)
{
    Occupancy fits =
        function_occupancy(function, (int) (block.x * block.y * block.z), dynamic_bytes);
    int64_t most = (int64_t) fits.blocks_per_sm * rt.device.sms;
    unsigned __int128 blocks = (unsigned __int128) grid.x * grid.y * grid.z;

    if (blocks > (unsigned __int128) most)
        REFUSE(
            function, cudaErrorCooperativeLaunchTooLarge,
            "a cooperative grid of (%u,%u,%u) blocks: all blocks must fit on the GPU at the same "
            "time, but %d SMs with %d blocks each hold only %lld",
            grid.x, grid.y, grid.z, rt.device.sms, fits.blocks_per_sm, (long long) most);
    return cudaSuccess;
}

/* The kernel's own clusters (__cluster_dims__), or those of the launch. */
static dim3 cluster_of(const RtFunction *function, const LaunchRequest *request)
{
    const int *own = entry_of(function)->required_cluster;

    if (!own[0])
        return request->cluster;
    return (dim3){ (unsigned) own[0], (unsigned) (own[1] ? own[1] : 1),
                   (unsigned) (own[2] ? own[2] : 1) };
}

static cudaError_t check_cluster(const RtFunction *function, dim3 grid, dim3 cluster)
{
    const unsigned most = function_most_in_cluster(function);
    const uint64_t blocks = (uint64_t) cluster.x * cluster.y * cluster.z;

    if (!cluster.x)
        return cudaSuccess;
    if (rt.device.cc < 90)
        REFUSE(function, cudaErrorNotSupported,
               "a launch with clusters: devices since compute capability 9.0 have them, this one "
               "has %d.%d",
               rt.device.cc / 10, rt.device.cc % 10);
    if (!blocks || cluster.x > MOST_IN_CLUSTER || cluster.y > MOST_IN_CLUSTER ||
        cluster.z > MOST_IN_CLUSTER || blocks > most)
        REFUSE(function, cudaErrorInvalidClusterSize,
               "clusters of (%u,%u,%u) blocks: at most %u blocks are allowed%s", cluster.x,
               cluster.y, cluster.z, most,
               function->large_clusters ? ""
                                        : ", unless cudaFuncAttributeNonPortableClusterSizeAllowed "
                                          "is set, and the device has more");
    if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
        REFUSE(function, cudaErrorInvalidClusterSize,
               "a grid of (%u,%u,%u) blocks is not a multiple of its clusters of (%u,%u,%u)",
               grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z);
    return cudaSuccess;
}

static cudaError_t check(const RtFunction *function, const LaunchRequest *request)
{
    cudaError_t error = check_grid(function, request->grid);

    if (!error)
        error = check_block(function, request->block);
    if (!error)
        error = check_bounds(function, request->block);
    if (!error)
        error = check_shared(function, request->dynamic_bytes);
    if (!error && request->cooperative)
        error = check_cooperative(function, request->grid, request->block, request->dynamic_bytes);
    if (!error)
        error = check_cluster(function, request->grid, cluster_of(function, request));
    return error;
}

/* ---- The arguments, in the layout of the kernel's .param list ---- */

static size_t param_bytes(const RtFunction *function)
{
    const Function *entry = entry_of(function);
    size_t bytes = 0;

    for (int i = 0; i < entry->param_count; i++) {
        const int variable = entry->params[i];
        const size_t end = (size_t) function->code->variable_offset[variable] +
                           function->owner->module->variables[variable].size;
        bytes = end > bytes ? end : bytes;
    }
    return bytes;
}

static cudaError_t copy_each(KernelWork *kernel, void *const *arguments)
{
    const RtFunction *function = kernel->function;
    const Function *entry = entry_of(function);

    if (entry->param_count && !arguments)
        return cudaErrorInvalidValue;
    for (int i = 0; i < entry->param_count; i++) {
        const int variable = entry->params[i];
        if (!arguments[i])
            return cudaErrorInvalidValue;
        memcpy(kernel->params + function->code->variable_offset[variable], arguments[i],
               function->owner->module->variables[variable].size);
    }
    return cudaSuccess;
}

static cudaError_t copy_arguments(KernelWork *kernel, const LaunchRequest *request)
{
    const size_t bytes = param_bytes(kernel->function);

    if (bytes > MOST_PARAM_BYTES || (request->packed && request->packed_bytes < bytes))
        return cudaErrorInvalidValue;
    kernel->params = calloc(1, bytes + 16); /* room for a wide load of the last parameter */
    if (!kernel->params)
        return cudaErrorMemoryAllocation;
    kernel->param_bytes = bytes;
    if (!request->packed)
        return copy_each(kernel, request->arguments);
    memcpy(kernel->params, request->packed, bytes);
    return cudaSuccess;
}

/* The list that the driver takes instead of pointers: pairs of a key and a value. */
cudaError_t launch_packed(void *const *extra, LaunchRequest *request)
{
    enum { END, BUFFER, BYTES };

    for (; extra && *extra != (void *) END; extra += 2) {
        if (*extra == (void *) BUFFER)
            request->packed = extra[1];
        else if (*extra == (void *) BYTES && extra[1])
            request->packed_bytes = *(const size_t *) extra[1];
        else
            return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

void **kernel_arguments(const KernelWork *kernel)
{
    const RtFunction *function = kernel->function;
    const Function *entry = entry_of(function);
    void **arguments = calloc((size_t) entry->param_count + 1, sizeof *arguments);

    for (int i = 0; arguments && i < entry->param_count; i++)
        arguments[i] = kernel->params + function->code->variable_offset[entry->params[i]];
    return arguments;
}

/* ---- Launching ---- */

static cudaError_t make_work(RtFunction *function, const LaunchRequest *request, Work **made)
{
    Work *work = work_new(WORK_KERNEL);
    const dim3 cluster = cluster_of(function, request);
    cudaError_t error;

    if (!work)
        return cudaErrorMemoryAllocation;
    *made = work;
    work->kernel = (KernelWork){
        .function = function,
        .grid = { (int) request->grid.x, (int) request->grid.y, (int) request->grid.z },
        .block = { (int) request->block.x, (int) request->block.y, (int) request->block.z },
        .cluster = { (int) cluster.x, (int) cluster.y, (int) cluster.z },
        .dynamic_shared_bytes = request->dynamic_bytes,
        .cooperative = request->cooperative,
        .hints = request->given ? request->hints : hints_default(),
    };
    error = copy_arguments(&work->kernel, request);
    if (error)
        work_free(work);
    return error;
}

/* Checks the request and makes its work. */
static cudaError_t prepare(const LaunchRequest *request, Work **work)
{
    RtFunction *function;
    cudaError_t error = function_find(request->kernel, &function);

    if (error == cudaErrorInvalidResourceHandle)
        rt_finding(FINDING_LAUNCH, true, NULL,
                   "a launch of %p, which is not a kernel of this program: pass the __global__ "
                   "function itself",
                   request->kernel);
    if (!error)
        error = function_prepare(function);
    if (!error)
        error = check(function, request);
    return error ? error : make_work(function, request, work);
}

cudaError_t launch_check(const Place *place, LaunchRequest *request)
{
    RtFunction *function;
    cudaError_t error = function_find(request->kernel, &function);

    if (!error)
        error = function_prepare(function);
    if (error)
        return error;
    launched_at = place;
    error = check(function, request);
    launched_at = NULL;
    request->packed_bytes = param_bytes(function);
    return error;
}

cudaError_t launch_work(const LaunchRequest *request, Work **work)
{
    return prepare(request, work);
}

/* The program cannot see what <<< >>> returns, only ask for it. */
static void advise_on(const LaunchRequest *request, cudaError_t error)
{
    RtFunction *function;

    advice_refused(function_find(request->kernel, &function) ? "a kernel" : function->plain, error);
}

cudaError_t launch(Stream *stream, const LaunchRequest *request)
{
    const bool is_by_chevrons = configuration_was_popped();
    Work *work;
    cudaError_t error;

    if (!stream)
        return cudaErrorInvalidResourceHandle;
    error = legacy_refuses(stream);
    if (!error)
        error = prepare(request, &work);
    if (error && is_by_chevrons)
        advise_on(request, error);
    if (error)
        return error;
    hints_inherit(&work->kernel.hints, &stream->hints, request->given);
    return issue(stream, work);
}

cudaError_t work_of_kernel(const struct cudaKernelNodeParams *params, Work **work)
{
    LaunchRequest request = { .kernel = params->func,
                              .grid = params->gridDim,
                              .block = params->blockDim,
                              .arguments = params->kernelParams,
                              .dynamic_bytes = params->sharedMemBytes };
    const cudaError_t error = launch_packed(params->extra, &request);

    return error ? error : prepare(&request, work);
}

/* ---- Kernel nodes ---- */

cudaError_t launch_check_work(const KernelWork *kernel)
{
    const int *grid = kernel->grid, *block = kernel->block, *cluster = kernel->cluster;
    const LaunchRequest request = {
        .grid = { (unsigned) grid[0], (unsigned) grid[1], (unsigned) grid[2] },
        .block = { (unsigned) block[0], (unsigned) block[1], (unsigned) block[2] },
        .cluster = { (unsigned) cluster[0], (unsigned) cluster[1], (unsigned) cluster[2] },
        .dynamic_bytes = kernel->dynamic_shared_bytes,
        .cooperative = kernel->cooperative,
    };

    return check(kernel->function, &request);
}

cudaError_t launch_set_cluster(KernelWork *kernel, const cudaLaunchAttributeValue *value)
{
    const unsigned wanted[] = { value->clusterDim.x, value->clusterDim.y, value->clusterDim.z };
    const int *own = entry_of(kernel->function)->required_cluster;

    for (int i = 0; i < 3; i++)
        if (!wanted[i] || wanted[i] > INT32_MAX ||
            (own[0] && (int) wanted[i] != (own[i] ? own[i] : 1)))
            return cudaErrorInvalidValue;
    for (int i = 0; i < 3; i++)
        kernel->cluster[i] = (int) wanted[i];
    if (wanted[0] == 1 && wanted[1] == 1 && wanted[2] == 1)
        kernel->cluster[0] = own[0]; /* no clusters, unless the kernel has them */
    return cudaSuccess;
}

void launch_keep_attributes(KernelWork *to, const KernelWork *from)
{
    to->hints = from->hints;
    to->cooperative = from->cooperative;
    if (!entry_of(to->function)->required_cluster[0] &&
        !entry_of(from->function)->required_cluster[0])
        memcpy(to->cluster, from->cluster, sizeof to->cluster);
}

/* ---- Launches by the host ---- */

static cudaError_t launch_kernel(Stream *stream, const void *kernel, dim3 grid, dim3 block,
                                 void **arguments, size_t shared, bool cooperative)
{
    return launch(stream, &(LaunchRequest){ .kernel = kernel,
                                            .grid = grid,
                                            .block = block,
                                            .arguments = arguments,
                                            .dynamic_bytes = shared,
                                            .cooperative = cooperative });
}

STREAM_CALL(cudaLaunchKernel, per_thread,
            (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
             cudaStream_t stream),
            launch_kernel(stream_of(stream, per_thread), kernel, grid, block, arguments, shared,
                          false))
STREAM_CALL(cudaLaunchCooperativeKernel, per_thread,
            (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
             cudaStream_t stream),
            launch_kernel(stream_of(stream, per_thread), kernel, grid, block, arguments, shared,
                          true))

/* nvcc 13 translates <<< >>> into this call. */
API cudaError_t __cudaLaunchKernel(cudaKernel_t handle, dim3 grid, dim3 block, void **arguments,
                                   size_t shared, cudaStream_t stream);
API cudaError_t __cudaLaunchKernel(cudaKernel_t handle, dim3 grid, dim3 block, void **arguments,
                                   size_t shared, cudaStream_t stream)
{
    return cudaLaunchKernel(handle, grid, block, arguments, shared, stream);
}

API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t handle, dim3 grid, dim3 block,
                                        void **arguments, size_t shared, cudaStream_t stream);
API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t handle, dim3 grid, dim3 block,
                                        void **arguments, size_t shared, cudaStream_t stream)
{
    return cudaLaunchKernel_ptsz(handle, grid, block, arguments, shared, stream);
}

/* ---- cudaLaunchKernelEx: attributes that affect execution, and hints ---- */

/* A hint that cannot be taken has no effect. */
static void give_hint(LaunchRequest *request, const cudaLaunchAttribute *attribute)
{
    if (!request->given)
        request->hints = hints_default();
    if (!hints_set(&request->hints, (int) attribute->id, &attribute->val))
        request->given |= 1u << attribute->id;
}

cudaError_t launch_attribute(const cudaLaunchAttribute *attribute, LaunchRequest *request)
{
    switch (attribute->id) {
    case cudaLaunchAttributeCooperative:
        request->cooperative = attribute->val.cooperative;
        return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
        request->cluster = (dim3){ attribute->val.clusterDim.x, attribute->val.clusterDim.y,
                                   attribute->val.clusterDim.z };
        if (request->cluster.x * request->cluster.y * request->cluster.z == 1)
            request->cluster.x = 0;
        return cudaSuccess;
    default:
        give_hint(request, attribute);
        return cudaSuccess;
    }
}

static cudaError_t launch_ex(const cudaLaunchConfig_t *config, const void *kernel, void **arguments,
                             bool per_thread)
{
    LaunchRequest request;

    if (!config || (config->numAttrs && !config->attrs))
        return cudaErrorInvalidValue;
    request = (LaunchRequest){ .kernel = kernel,
                               .grid = config->gridDim,
                               .block = config->blockDim,
                               .arguments = arguments,
                               .dynamic_bytes = config->dynamicSmemBytes };
    for (unsigned i = 0; i < config->numAttrs; i++) {
        cudaError_t error = launch_attribute(&config->attrs[i], &request);
        if (error)
            return error;
    }
    return launch(stream_of(config->stream, per_thread), &request);
}

STREAM_CALL(cudaLaunchKernelExC, per_thread,
            (const cudaLaunchConfig_t *config, const void *kernel, void **arguments),
            launch_ex(config, kernel, arguments, per_thread))
