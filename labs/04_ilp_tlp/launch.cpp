/* launch.cpp - the given launch: one block of four warps on each SM, as if other work occupied
 * the rest of the GPU. The grader compiles this file itself, apart from kernel.cu. */
#include "kernel.h"

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime_api.h>

/* The host function that nvcc generates for the kernel: its address names the kernel. */
void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt, int n,
                    int steps);

static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "advance_kernel: %s\n", cudaGetErrorString(error));
    abort();
}

/* Not advance_kernel<<<sms, BLOCK>>>, because that calls code that is compiled with kernel.cu. */
LAB_API void advance(float *x1, float *v1, const float *x0, const float *v0, float dt, int n,
                     int steps)
{
    void *arguments[] = { &x1, &v1, &x0, &v0, &dt, &n, &steps };
    int device, sms;

    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    check(cudaLaunchKernel((const void *) advance_kernel, dim3(sms), dim3(BLOCK), arguments, 0, 0));
}
