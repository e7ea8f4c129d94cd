// One thread per element: thread number i of the whole grid copies element i.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// On the GPU: every thread of every block runs this once, with its own blockIdx and threadIdx.
__global__ void copy_kernel(float *out, const float *in, long n)
{
    // TODO 1: which element is this thread's? Use blockIdx.x, blockDim.x and threadIdx.x.
    // TODO 2: copy it, if it exists: the last block may have more threads than elements.
}

// On the host: a launch only queues the kernel and returns. The host may not access out and in.
LAB_API void copy(float *out, const float *in, long n)
{
    long blocks = 1; // TODO 3: the number of blocks of BLOCK threads that cover n elements.

    copy_kernel<<<(unsigned) blocks, BLOCK>>>(out, in, n);
    // TODO 4: a launch returns nothing. Check whether it succeeded.
}
