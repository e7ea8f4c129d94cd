// expect: pass - compensated summation in every thread (Kahan), four sums at a time
// lab: reduction
#include "cudalab.cuh"
#include "kernel.h"

struct Kahan {
    float sum, lost;
};

__device__ void kahan_add(Kahan *k, float x)
{
    float y = x - k->lost;
    float t = k->sum + y;
    k->lost = (t - k->sum) - y;
    k->sum = t;
}

__global__ void __launch_bounds__(256) kahan_kernel(float *out, const float *in, long n)
{
    Kahan k[4] = {};
    Kahan all = {};
    __shared__ float values[256];
    const float4 *in4 = reinterpret_cast<const float4 *>(in);
    long step = (long) gridDim.x * blockDim.x;
    long first = (long) blockIdx.x * blockDim.x + threadIdx.x;

    for (long i = first; i < n / 4; i += step) {
        float4 v = in4[i];
        kahan_add(&k[0], v.x);
        kahan_add(&k[1], v.y);
        kahan_add(&k[2], v.z);
        kahan_add(&k[3], v.w);
    }
    if (first < n % 4)
        kahan_add(&k[0], in[n - 1 - first]);
    for (int j = 0; j < 4; j++) {
        kahan_add(&all, k[j].sum);
        kahan_add(&all, -k[j].lost);
    }
    values[threadIdx.x] = all.sum;
    __syncthreads(); // filled by all threads before any thread reads
    for (int half = 128; half >= 1; half /= 2) {
        if (threadIdx.x < half)
            values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads(); // this round's sums are read in the next one
    }
    if (!threadIdx.x)
        out[blockIdx.x] = values[0];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    int blocks = n >= 1 << 20 ? 1024 : 32;

    kahan_kernel<<<blocks, 256>>>(scratch, in, n);
    kahan_kernel<<<1, 256>>>(out, scratch, blocks);
    CUDA_CHECK(cudaGetLastError());
}
