// expect: pass - a function template per kind, called by ifs on a value shared by a whole warp
// lab: divergence
#include "cudalab.cuh"
#include "kernel.h"

template <int K> struct Serve {
    static __device__ void run(int k, uint32_t *to, uint32_t from, int rounds)
    {
        if (k == K)
            *to = kind_advance(K, from, rounds);
        else
            Serve<K + 1>::run(k, to, from, rounds);
    }
};

template <> struct Serve<KINDS> {
    static __device__ void run(int, uint32_t *, uint32_t, int)
    {
    }
};

template <int ITEMS, int THREADS>
__global__ void advance_kernel(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n,
                               int rounds)
{
    extern __shared__ int shared[];
    int *count = shared, *filled = shared + KINDS, *slots = shared + 2 * KINDS;
    const int first = blockIdx.x * ITEMS;

    for (int i = threadIdx.x; i < 2 * KINDS; i += THREADS)
        shared[i] = 0;
    __syncthreads(); // separates clearing the counts from counting
    for (int i = threadIdx.x; i < ITEMS && first + i < n; i += THREADS)
        atomicAdd(&count[kind[first + i]], 1);
    __syncthreads(); // separates counting from computing the places
    for (int i = threadIdx.x; i < ITEMS && first + i < n; i += THREADS) {
        int k = kind[first + i], at = atomicAdd(&filled[k], 1);
        for (int j = 0; j < k; j++)
            at += (count[j] + 31) & ~31;
        slots[at] = i;
    }
    __syncthreads(); // separates computing the places from using them
    int begin = 0;
    for (int k = 0; k < KINDS; k++) {
        for (int at = (threadIdx.x - begin % THREADS + THREADS) % THREADS; at < count[k];
             at += THREADS)
            Serve<0>::run(k, &out[first + slots[begin + at]], state[first + slots[begin + at]],
                          rounds);
        begin += (count[k] + 31) & ~31;
    }
}

LAB_API void advance(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    constexpr int ITEMS = 4096, THREADS = 512;

    advance_kernel<ITEMS, THREADS>
        <<<ceil_div(n, ITEMS), THREADS, (2 * KINDS + ITEMS + KINDS * 32) * sizeof(int)>>>(
            out, state, kind, n, rounds);
    CUDA_CHECK(cudaGetLastError());
}
