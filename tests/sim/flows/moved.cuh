// moved.cuh - what ptxas moves across branches, guards, or merges, and shuffles of part of a warp.
#ifndef FLOWS_MOVED_CUH
#define FLOWS_MOVED_CUH

#include "flows.cuh"

// A guard replaces the if, which is in the same block of the machine code as the barrier.
__global__ void flood_row(const int *a, int *out, int n)
{
    __shared__ int reached[130], rounds;
    const int t = threadIdx.x, i = blockIdx.x * 128 + t;
    const bool is_open = i < n && a[i] > 5;
    int own = i < n && a[i] > 95 ? 0 : -1, step = 0;
    bool is_new = own == 0;
    reached[t] = -1;
    if (t < 2)
        reached[128 + t] = -1;
    while (__syncthreads_or(is_new)) {
        if (is_new)
            reached[t + 1] = own;
        __syncthreads();
        is_new = is_open && own < 0 && (reached[t] == step || reached[t + 2] == step);
        step++;
        if (is_new)
            own = step;
    }
    if (t == 0)
        rounds = step;
    __syncthreads();
    if (i < n)
        out[i] = own + rounds;
}

// The load of x is behind the branch that skips the inner loop.
__global__ void later_minima(const int *a, int *out, int n)
{
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int begin = warp * 32,
              end = begin + 32 + a[begin % n] < n ? begin + 32 + a[begin % n] : n;
    int sum = 0;
    for (int i = begin; i < end; i++) {
        const int x = a[i];
        for (int k = i + 1 + lane; k < end; k += 32)
            sum += min(x, a[k]) * (x == a[k] ? 3 : 1);
    }
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0 && warp < n)
        out[warp] = sum;
}

// A guard replaces the first half of the if, and the jump behind it divides the warp.
__global__ void widths_of_pores(const unsigned char *a, int *out, int n)
{
    __shared__ int counts[16];
    const unsigned char *line = a + (blockIdx.x * blockDim.x + threadIdx.x) % (n / 256) * 256;
    int width = 0;
    if (threadIdx.x < 16)
        counts[threadIdx.x] = 0;
    __syncthreads();
    for (int x = 0; x < 256; x++) {
        if (line[x]) {
            width++;
        } else if (width) {
            atomicAdd(&counts[min(width, 15)], 1);
            width = 0;
        }
    }
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&out[threadIdx.x], counts[threadIdx.x]);
}

// ptxas tests whether all lanes of a mask that it does not know are there.
__global__ void half_warps_cool(const float *a, float *out, int n)
{
    const int i = min(blockIdx.x * blockDim.x + threadIdx.x, n - 1), lane = threadIdx.x % 16;
    const unsigned mask = 0xffffu << (threadIdx.x & 16);
    float heat = 10 * fabsf(a[i]) + (lane == 0);
    int steps = 0;
    while (steps < 200 && __shfl_sync(mask, heat, 0, 16) > 1) {
        const float next = __shfl_down_sync(mask, heat, 1, 16);
        heat += 0.1f * (next - heat) - 0.01f * heat;
        steps++;
    }
    out[i] = steps;
}

// The last product has a source that a branch chooses; its difference from y is not 0.
__global__ void power_of_root(const float *a, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float y = 0.1f + fabsf(a[i]);
    float x = 1, step = 1;
    for (int k = 0; k < 40 && fabsf(step) > 1e-6f * x; k++) {
        const float root = x > 0.5f ? powf(x, 2.0f / 3) : x * 1.25f;
        step = (root * (1 + x) - y) / (root * (2 + 1 / x));
        x = fmaxf(x - step, x / 8);
    }
    out[i] = x;
}

#define MOVED                                                                                      \
    MAP(flood_row, ints(100), 1), MAP(later_minima, ints(40), 1),                                  \
        MAP(widths_of_pores, bytes(3), 1), MAP(half_warps_cool, reals(), 1),                       \
        MAP(power_of_root, reals(), 1)

#endif
