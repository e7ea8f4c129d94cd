// groups.cuh - threads that work together: barriers in loops, shared memory, shuffles and votes.
#ifndef FLOWS_GROUPS_CUH
#define FLOWS_GROUPS_CUH

#include "flows.cuh"

__global__ void halves_sum(const float *a, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? a[i] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__global__ void interleaved_max(const int *a, int *out, int n)
{
    extern __shared__ int held[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    held[t] = 0;
    if (i < n)
        held[t] = a[i];
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        if (t % (2 * step) == 0)
            if (held[t + step] > held[t])
                held[t] = held[t + step];
        __syncthreads();
    }
    if (!t)
        out[blockIdx.x] = held[0];
}

__global__ void scan_block(const int *a, int *out, int n)
{
    __shared__ int s[2][128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, from = 0;
    s[0][t] = i < n ? a[i] : 0;
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        if (t >= d)
            s[1 - from][t] = s[from][t] + s[from][t - d];
        else
            s[1 - from][t] = s[from][t];
        from = 1 - from;
        __syncthreads();
    }
    if (i < n)
        out[i] = s[from][t];
}

__global__ void scan_tree(const int *a, int *out, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t, offset = 1;
    s[t] = i < n ? a[i] : 0;
    for (int d = 64; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0)
        s[127] = 0;
    for (int d = 1; d < 128; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int l = offset * (2 * t + 1) - 1, r = offset * (2 * t + 2) - 1, x = s[l];
            s[l] = s[r];
            s[r] += x;
        }
    }
    __syncthreads();
    if (i < n)
        out[i] = s[t];
}

__global__ void bitonic_shared(const int *a, int *out, int n)
{
    __shared__ int s[128];
    unsigned t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = i < n ? a[i] : 0x7fffffff;
    __syncthreads();
    for (unsigned k = 2; k <= 128; k <<= 1)
        for (unsigned j = k >> 1; j > 0; j >>= 1) {
            unsigned other = t ^ j;
            if (other > t) {
                bool up = (t & k) == 0;
                if ((s[t] > s[other]) == up) {
                    int x = s[t];
                    s[t] = s[other];
                    s[other] = x;
                }
            }
            __syncthreads();
        }
    if (i < n)
        out[i] = s[t];
}

__global__ void odd_even_sort(const int *a, int *out, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = i < n ? a[i] : 1 << 30;
    __syncthreads();
    for (int round = 0; round < 24; round++) {
        int at = 2 * t + (round & 1);
        if (at + 1 < 128 && s[at] > s[at + 1]) {
            int x = s[at];
            s[at] = s[at + 1];
            s[at + 1] = x;
        }
        __syncthreads();
    }
    if (i < n)
        out[i] = s[t];
}

__global__ void relax_until_still(const int *a, int *out, int n)
{
    __shared__ int s[130];
    int t = threadIdx.x, i = blockIdx.x * 128 + t, changed;
    s[t + 1] = i < n ? a[i] : 0;
    if (t == 0)
        s[0] = s[129] = 0;
    __syncthreads();
    do {
        int x = s[t + 1], y = max(s[t], s[t + 2]) - 20;
        changed = y > x;
        __syncthreads();
        if (changed)
            s[t + 1] = y;
    } while (__syncthreads_or(changed));
    if (i < n)
        out[i] = s[t + 1];
}

__global__ void warp_sum_tail(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    float x = i < n ? a[i] : 0;
    for (int d = 16; d > 0; d >>= 1)
        x += __shfl_down_sync(0xffffffff, x, d);
    if (lane == 0 && i < n)
        out[i / 32] = x;
}

__global__ void vote_and_skip(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool in = i < n;
    int x = in ? a[i] : 0;
    for (int k = 0; k < 6; k++) {
        if (!__any_sync(0xffffffff, x > 95))
            break;
        unsigned mask = __ballot_sync(0xffffffff, x > 95);
        if (x > 95)
            x -= __popc(mask) * 20;
        else
            x += 10;
    }
    if (in)
        out[i] = x;
}

__global__ void leader_per_value(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i];
    unsigned left = __activemask(), same = 0;
    bool waits = true;
    while (waits) {
        int first = __shfl_sync(left, x, __ffs(left) - 1);
        unsigned mask = __ballot_sync(left, x == first);
        if (x == first) {
            same = mask;
            waits = false;
        } else {
            left &= ~mask;
        }
    }
    if ((threadIdx.x & 31) == __ffs(same) - 1)
        atomicAdd(&out[x], __popc(same));
}

__global__ void tile_stencil(const float *a, float *out, int n)
{
    __shared__ float s[128 + 6];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t + 3] = i < n ? a[i] : 0;
    if (t < 3) {
        s[t] = i >= 3 ? a[i - 3] : 0;
        s[t + 131] = i + 128 < n ? a[i + 128] : 0;
    }
    __syncthreads();
    if (i >= n)
        return;
    float sum = 0;
    for (int d = -3; d <= 3; d++)
        sum += s[t + 3 + d];
    out[i] = sum / 7;
}

__global__ void shared_histogram(const unsigned char *a, int *out, int n)
{
    __shared__ int bins[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        bins[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (a[i] > 9)
            atomicAdd(&bins[a[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (bins[b])
            atomicAdd(&out[b], bins[b]);
}

__global__ void row_per_warp(const float *a, float *out, int n, int length)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (warp >= n / length)
        return;
    float best = -1e30f;
    for (int k = lane; k < length; k += 32)
        best = fmaxf(best, a[warp * length + k]);
    for (int d = 1; d < 32; d *= 2)
        best = fmaxf(best, __shfl_xor_sync(0xffffffff, best, d));
    float sum = 0;
    for (int k = lane; k < length; k += 32)
        sum += __expf(a[warp * length + k] - best);
    for (int d = 1; d < 32; d *= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    for (int k = lane; k < length; k += 32)
        out[warp * length + k] = __expf(a[warp * length + k] - best) / sum;
}

__global__ void multiply_tiles(const float *a, float *out, int n, int side)
{
    __shared__ float s[8][8], t[8][8];
    int x = threadIdx.x & 7, y = threadIdx.x >> 3 & 7, half = threadIdx.x >> 6;
    int blocks = (side + 7) / 8, column = blockIdx.x % blocks * 8 + x,
        row = blockIdx.x / blocks * 8 + y;
    float sum = 0;
    for (int k = 0; k < side; k += 8) {
        if (half == 0)
            s[y][x] = row < side && k + x < side ? a[row * side + k + x] : 0;
        else
            t[y][x] = k + y < side && column < side ? a[(k + y) * side + column] : 0;
        __syncthreads();
        if (half == 0)
            for (int j = 0; j < 8; j++)
                sum += s[y][j] * t[j][x];
        __syncthreads();
    }
    if (half == 0 && row < side && column < side)
        out[row * side + column] = sum;
}

__global__ void compact_block(const int *a, int *out, int n)
{
    __shared__ int count, kept[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    if (i < n && a[i] % 4 == 1)
        kept[atomicAdd(&count, 1)] = a[i];
    __syncthreads();
    int sum = 0;
    if (threadIdx.x < count)
        sum = kept[threadIdx.x];
    sum = __reduce_add_sync(0xffffffff, sum);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&out[blockIdx.x], sum);
}

#define GROUPS                                                                                     \
    MAP(halves_sum, reals(), 1), FLOW_SHARED(interleaved_max, ints(1000)),                         \
        MAP(scan_block, ints(100), 1), MAP(scan_tree, ints(100), 1),                               \
        MAP(bitonic_shared, ints(10000), 1), MAP(odd_even_sort, ints(10000), 1),                   \
        MAP(relax_until_still, ints(200), 1), MAP(warp_sum_tail, reals(), 1),                      \
        MAP(vote_and_skip, ints(100), 1), MAP(leader_per_value, ints(9), 1),                       \
        MAP(tile_stencil, reals(), 1), FEW(shared_histogram, bytes(100)),                          \
        MAP_WITH(row_per_warp, reals(), 1, 75), MAP_WITH(multiply_tiles, reals(), 1, 67),          \
        MAP(compact_block, ints(1000), 1)

#endif
