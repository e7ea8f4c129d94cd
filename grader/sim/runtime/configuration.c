/* configuration.c - <<<grid, block, shared, stream>>>: nvcc's code pushes the configuration before
 * a launch and pops it inside the stub. For the library, and for the guest's runtime (guest/). */
#include <cuda_runtime_api.h>

#include <stddef.h>

#define API __attribute__((visibility("default")))

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);

enum { MOST_CONFIGURATIONS = 64 };

/* A stack: an argument of a launch may launch, too. */
static _Thread_local struct Configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} configurations[MOST_CONFIGURATIONS];
static _Thread_local int configuration_count;

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    if (configuration_count == MOST_CONFIGURATIONS)
        return 1; /* the launch is left out */
    configurations[configuration_count++] = (struct Configuration){ grid, block, shared, stream };
    return 0;
}

API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    const struct Configuration *top;

    if (!configuration_count)
        return cudaErrorMissingConfiguration;
    top = &configurations[--configuration_count];
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    *(cudaStream_t *) stream = top->stream;
    return cudaSuccess;
}
