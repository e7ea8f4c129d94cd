/* error.c - the last error of each thread. */
#include "sim/runtime/runtime.h"

/* ---- The last error ---- */

static _Thread_local cudaError_t last;

void last_error_set(cudaError_t error)
{
    last = error;
}

int refuse_unsupported(void); /* for sim/runtime/stubs.c, which cannot include the header */
int refuse_unsupported(void)
{
    last = cudaErrorNotSupported;
    return cudaErrorNotSupported;
}

/* Neither needs the lock, nor opens the GPU. After a failed kernel, too, the first resets what was
 * told; but the next call tells it again. */
API cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last;

    last = cudaSuccess;
    return error;
}

API cudaError_t cudaPeekAtLastError(void)
{
    return last;
}
