// expect: slow - the textbooks' tree, 256 threads, one element each, three kernels in a row
// lab: reduction
#include "cudalab.cuh"
#include "kernel.h"

template <int N> __global__ void tree(float *o, const float *x, long n)
{
    __shared__ float t[N];
    long i = (long) blockIdx.x * N + threadIdx.x;

    t[threadIdx.x] = i < n ? x[i] : 0.f;
    __syncthreads(); // t is full
    for (int k = 1; k < N; k = k * 2) {
        if (threadIdx.x % (k * 2) == 0)
            t[threadIdx.x] = t[threadIdx.x] + t[threadIdx.x + k];
        __syncthreads(); // this level is complete
    }
    if (threadIdx.x == 0)
        o[blockIdx.x] = t[0];
}

__global__ void last(float *o, const float *x, long n)
{
    __shared__ float t[1024];
    float v = 0.f;

    for (long i = threadIdx.x; i < n; i += 1024)
        v += x[i];
    t[threadIdx.x] = v;
    __syncthreads(); // t is full
    for (int k = 512; k >= 1; k = k / 2) {
        if (threadIdx.x < k)
            t[threadIdx.x] = t[threadIdx.x] + t[threadIdx.x + k];
        __syncthreads(); // this level is complete
    }
    if (threadIdx.x == 0)
        *o = t[0];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    long b = (n + 255) / 256, c = (b + 1023) / 1024;

    tree<256><<<b, 256>>>(scratch, in, n);
    CUDA_CHECK(cudaGetLastError());
    tree<1024><<<c, 1024>>>(scratch + b, scratch, b);
    CUDA_CHECK(cudaGetLastError());
    last<<<1, 1024>>>(out, scratch + b, c);
    CUDA_CHECK(cudaGetLastError());
}
