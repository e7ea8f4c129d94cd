/* code.c - what nvcc's generated code calls: registration, and launches. */
#include "sim/guest/link.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

API void **__cudaRegisterFatBinary(void *wrapper);
API void __cudaRegisterFatBinaryEnd(void **handle);
API void __cudaUnregisterFatBinary(void **handle);
API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                int threads, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                                int *warp);
API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                           size_t bytes, int constant, int global);
API char __cudaInitModule(void **handle);
API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
API cudaError_t __cudaLaunchKernel(cudaKernel_t handle, dim3 grid, dim3 block, void **arguments,
                                   size_t shared, cudaStream_t stream);

enum { MOST_KERNELS = 1024 };

static struct Kernel {
    const void *host; /* the stub's address; a cudaKernel_t is the row's */
    uint64_t number;  /* the runner's */
    int arguments;    /* -1: not requested yet */
    uint32_t *sizes;
} kernels[MOST_KERNELS];
static int kernel_count;

/* ---- Registration ---- */

typedef struct Wrapper {
    uint32_t magic, version;
    const char *data;
} Wrapper;

/* The bytes that belong to it, as its header says; the runner looks closer. */
API void **__cudaRegisterFatBinary(void *wrapper)
{
    Wrapper w;
    uint16_t header_bytes;
    uint64_t size, answer[2] = { 0 };

    memcpy(&w, wrapper, sizeof w);
    memcpy(&header_bytes, w.data + 6, sizeof header_bytes);
    memcpy(&size, w.data + 8, sizeof size);
    if (size > SIM_MOST_BYTES || ask(CALL_MODULE, WORDS(w.version), w.data,
                                     header_bytes + (size_t) size, answer, NULL, 0, NULL))
        return NULL;
    return (void **) (uintptr_t) (answer[0] + 1);
}

API void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void) handle;
}

API void __cudaUnregisterFatBinary(void **handle)
{
    (void) handle;
}

API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                int threads, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                                int *warp)
{
    uint64_t answer[2];

    (void) device, (void) threads, (void) tid, (void) bid, (void) block, (void) grid, (void) warp;
    if (!handle || !name || kernel_count == MOST_KERNELS ||
        ask(CALL_FUNCTION, WORDS((uintptr_t) handle - 1), name, strlen(name), answer, NULL, 0,
            NULL))
        return;
    kernels[kernel_count++] = (struct Kernel){ host, answer[0], -1, NULL };
}

/* Calls that a lab may make name no variable; the runner knows variables by their module. */
API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                           size_t bytes, int constant, int global)
{
    (void) handle, (void) host, (void) device, (void) name, (void) ext, (void) bytes;
    (void) constant, (void) global;
}

API char __cudaInitModule(void **handle)
{
    return handle != NULL;
}

static struct Kernel *kernel_of(const void *host)
{
    for (int i = kernel_count - 1; i >= 0; i--)
        if (kernels[i].host == host || host == &kernels[i])
            return &kernels[i];
    return NULL;
}

static uint64_t number_of(const void *host)
{
    const struct Kernel *kernel = kernel_of(host);

    return kernel ? kernel->number : UINT64_MAX;
}

API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    *kernel = (cudaKernel_t) kernel_of(host);
    return *kernel ? cudaSuccess : keep_error(cudaErrorInvalidDeviceFunction);
}

/* ---- Launches ---- */

/* False: the runner knows no layout; it gives the reason when the kernel is launched. */
static bool know_layout(struct Kernel *kernel)
{
    static uint32_t sizes[SIM_MOST_ARGUMENTS];
    uint64_t answer[2];
    size_t got;

    if (!kernel || kernel->arguments >= 0)
        return kernel != NULL;
    if (ask(CALL_LAYOUT, WORDS(kernel->number), NULL, 0, answer, sizes, sizeof sizes, &got))
        return false;
    kernel->sizes = malloc(got + 1);
    if (!kernel->sizes)
        return false;
    memcpy(kernel->sizes, sizes, got);
    kernel->arguments = (int) (got / sizeof *sizes);
    return true;
}

/* One behind the other. SIZE_MAX: one is missing, or there are too many. */
static size_t pack(const struct Kernel *kernel, void **arguments, char *to, size_t room)
{
    size_t bytes = 0;

    for (int i = 0; i < kernel->arguments; i++) {
        if (!arguments || !arguments[i] || kernel->sizes[i] > room - bytes)
            return SIZE_MAX;
        memcpy(to + bytes, arguments[i], kernel->sizes[i]);
        bytes += kernel->sizes[i];
    }
    return bytes;
}

static uint64_t two(uint64_t low, uint64_t high)
{
    return low | high << 32;
}

static cudaError_t launch(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared,
                          cudaStream_t stream, uint64_t flags)
{
    char blob[SIM_MOST_ARGUMENT_BYTES];
    struct Kernel *kernel = kernel_of(host);
    size_t bytes = know_layout(kernel) ? pack(kernel, arguments, blob, sizeof blob) : 0;

    if (bytes == SIZE_MAX)
        return keep_error(cudaErrorInvalidValue);
    return ask(CALL_LAUNCH,
               WORDS(number_of(host), two(grid.x, grid.y), two(grid.z, flags),
                     two(block.x, block.y), block.z, shared, (uintptr_t) stream),
               blob, bytes, NULL, NULL, 0, NULL);
}

API cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                 size_t shared, cudaStream_t stream)
{
    return launch(kernel, grid, block, arguments, shared, stream, 0);
}

API cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block,
                                            void **arguments, size_t shared, cudaStream_t stream)
{
    return launch(kernel, grid, block, arguments, shared, stream, LAUNCH_TOGETHER);
}

API cudaError_t __cudaLaunchKernel(cudaKernel_t handle, dim3 grid, dim3 block, void **arguments,
                                   size_t shared, cudaStream_t stream)
{
    return launch(handle, grid, block, arguments, shared, stream, 0);
}

static uint64_t flag_of(const cudaLaunchAttribute *attribute)
{
    const cudaLaunchAttributeValue *value = &attribute->val;

    if (attribute->id == cudaLaunchAttributeCooperative)
        return value->cooperative ? LAUNCH_TOGETHER : 0;
    if (attribute->id == cudaLaunchAttributeClusterDimension &&
        value->clusterDim.x * value->clusterDim.y * value->clusterDim.z > 1)
        return LAUNCH_CLUSTERS;
    return 0;
}

API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                    void **arguments)
{
    uint64_t flags = 0;

    if (!config || (config->numAttrs && !config->attrs))
        return keep_error(cudaErrorInvalidValue);
    for (unsigned i = 0; i < config->numAttrs; i++)
        flags |= flag_of(&config->attrs[i]);
    return launch(kernel, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                  config->stream, flags);
}

/* ---- What can be asked about kernels, and set for them ---- */

API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel)
{
    if (!attributes)
        return keep_error(cudaErrorInvalidValue);
    return ask(CALL_ATTRIBUTES, WORDS(number_of(kernel)), NULL, 0, NULL, attributes,
               sizeof *attributes, NULL);
}

API cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute id, int value)
{
    return ask_words(CALL_SET, WORDS(number_of(kernel), (uint64_t) id, (uint64_t) value), NULL);
}

API cudaError_t cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config)
{
    return ask_words(CALL_PREFER, WORDS(number_of(kernel), (uint64_t) config), NULL);
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                       const void *kernel,
                                                                       int threads, size_t shared,
                                                                       unsigned flags)
{
    uint64_t answer[2];
    cudaError_t error;

    if (!blocks)
        return keep_error(cudaErrorInvalidValue);
    error = ask_words(CALL_OCCUPANCY, WORDS(number_of(kernel), (uint64_t) threads, shared, flags),
                      answer);
    if (!error)
        *blocks = (int) answer[0];
    return error;
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                              int threads, size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, shared,
                                                                  0);
}
