// expect: device - a row waits in shared memory where it fits, otherwise in out: exponentials first
// lab: softmax
#include "cudalab.cuh"
#include "kernel.h"

enum { FITS = 12288 }; // floats in 48 KB, less the partial values

struct Largest {
    static constexpr float none = -INFINITY;
    __device__ float operator()(float a, float b) const
    {
        return fmaxf(a, b);
    }
};

struct Total {
    static constexpr float none = 0;
    __device__ float operator()(float a, float b) const
    {
        return a + b;
    }
};

template <int THREADS, typename Op> __device__ float all_of_block(float x, Op op)
{
    __shared__ float one_per_warp[THREADS / 32];

    for (int d = 16; d; d >>= 1)
        x = op(x, __shfl_xor_sync(0xffffffffu, x, d));
    if (THREADS == 32)
        return x;
    if (threadIdx.x % 32 == 0)
        one_per_warp[threadIdx.x / 32] = x;
    __syncthreads(); // one value of each warp is stored
    x = threadIdx.x % 32 < THREADS / 32 ? one_per_warp[threadIdx.x % 32] : Op::none;
    for (int d = 16; d; d >>= 1)
        x = op(x, __shfl_xor_sync(0xffffffffu, x, d));
    return x;
}

template <int THREADS, bool SHARED> __global__ void rows_kernel(float *out, const float *in, int n)
{
    extern __shared__ float row[];
    float *to = out + blockIdx.x * (size_t) n, *wait = SHARED ? row : to, m = Largest::none, s = 0;

    in += blockIdx.x * (size_t) n;
    for (int j = threadIdx.x; j < n; j += THREADS) {
        float x = in[j];
        if (SHARED)
            wait[j] = x;
        m = fmaxf(m, x);
    }
    m = all_of_block<THREADS>(m, Largest());
    for (int j = threadIdx.x; j < n; j += THREADS) {
        float e = expf((SHARED ? wait[j] : in[j]) - m);
        wait[j] = e;
        s += e;
    }
    s = all_of_block<THREADS>(s, Total());
    for (int j = threadIdx.x; j < n; j += THREADS)
        to[j] = wait[j] / s;
}

LAB_API void softmax(float *out, const float *in, int rows, int cols, float *)
{
    size_t bytes = cols * sizeof(float);

    if (cols <= 256)
        rows_kernel<32, true><<<rows, 32, bytes>>>(out, in, cols);
    else if (cols <= FITS - 256)
        rows_kernel<512, true><<<rows, 512, bytes>>>(out, in, cols);
    else
        rows_kernel<1024, false><<<rows, 1024>>>(out, in, cols);
    CUDA_CHECK(cudaGetLastError());
}
