// expect: device - only as many blocks as fit, which draw tiles until none is left; sums as atomics
// lab: scan
#include "cudalab.cuh"
#include "kernel.h"

using u64 = unsigned long long;

constexpr int threads = 512, quads = 2, per_tile = threads * quads * 4;
constexpr u64 own_sum = 1ull << 32, full_sum = 2ull << 32;

struct Sum {
    static __device__ int of(int x)
    {
        return x;
    }
};

struct Count {
    static __device__ int of(int x)
    {
        return x > 0;
    }
};

template <class Op> static __device__ int of_quad(int4 q)
{
    return Op::of(q.x) + Op::of(q.y) + Op::of(q.z) + Op::of(q.w);
}

static __device__ int4 load(const int *in, long i, long n)
{
    if (i + 3 < n)
        return __ldcs((const int4 *) (in + i));
    return { i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0, 0 };
}

// Exclusive over the block; *total becomes the sum of all.
static __device__ int exclusive(int x, int *total)
{
    __shared__ int part[threads / 32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, y = x;

    for (int d = 1; d < 32; d *= 2) {
        int z = __shfl_up_sync(~0u, y, d);
        if (lane >= d)
            y += z;
    }
    __syncthreads(); // separates the previous use of `part` from this one
    if (lane == 31)
        part[warp] = y;
    __syncthreads(); // separates the stores of the warps' sums from their loads
    int left = 0, sum = 0;
    for (int w = 0; w < threads / 32; w++) {
        if (w == warp)
            left = sum;
        sum += part[w];
    }
    *total = sum;
    return left + y - x;
}

static __device__ int look(u64 *words, int tile)
{
    int lane = threadIdx.x & 31, sum = 0;

    for (int first = tile - 32;; first -= 32) {
        u64 word = full_sum;
        while (first + lane >= 0 && (word = atomicOr(&words[first + lane], 0ull)) < own_sum)
            ;
        __syncwarp();
        unsigned full = __ballot_sync(~0u, word >= full_sum);
        int from = full ? 31 - __clz(full) : 0, x = lane >= from ? (int) (unsigned) word : 0;
        for (int d = 16; d; d /= 2)
            x += __shfl_xor_sync(~0u, x, d);
        sum += x;
        if (full)
            return sum;
    }
}

template <class Op> static __device__ void store(int *out, long i, long n, int4 q, int before)
{
    const int x[] = { q.x, q.y, q.z, q.w };

    if (Op::of(2) == 2 && i + 3 < n) { // a scan, and all four exist
        int a = before + q.x, b = a + q.y, c = b + q.z;
        __stcs((int4 *) (out + i), make_int4(a, b, c, c + q.w));
        return;
    }
    for (int j = 0; j < 4; j++) {
        before += Op::of(x[j]);
        if (i + j < n && Op::of(2) == 2)
            out[i + j] = before;
        else if (i + j < n && x[j] > 0)
            out[before - 1] = x[j];
    }
}

template <class Op>
__global__ void __launch_bounds__(threads)
    run(int *out, int *kept, const int *in, long n, int tiles, unsigned *drawn, u64 *words)
{
    __shared__ int tile, before;

    for (;;) {
        if (threadIdx.x == 0)
            tile = atomicAdd(drawn, 1u);
        __syncthreads(); // separates drawing from using the number
        int now = tile;
        if (now >= tiles)
            return;
        long i = (long) now * per_tile + threadIdx.x * 4;
        int4 q[quads];
        int left[quads], total = 0;
        for (int k = 0; k < quads; k++)
            q[k] = load(in, i + k * threads * 4, n);
        for (int k = 0; k < quads; k++) {
            int sum;
            left[k] = total + exclusive(of_quad<Op>(q[k]), &sum);
            total += sum;
        }
        if (threadIdx.x < 32) {
            if (threadIdx.x == 0)
                atomicExch(&words[now], (now ? own_sum : full_sum) | (unsigned) total);
            int sum = look(words, now);
            if (threadIdx.x == 0) {
                atomicExch(&words[now], full_sum | (unsigned) (sum + total));
                before = sum;
                if (now == tiles - 1 && kept)
                    *kept = sum + total;
            }
        }
        __syncthreads(); // separates the store to `before` from the loads, and the two uses of
                         // `tile`
        for (int k = 0; k < quads; k++)
            store<Op>(out, i + k * threads * 4, n, q[k], before + left[k]);
    }
}

__global__ void clear(unsigned *drawn, u64 *words, int tiles)
{
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < tiles; i += blockDim.x * gridDim.x)
        words[i] = 0;
    if (blockIdx.x + threadIdx.x == 0)
        *drawn = 0;
}

template <class Op>
static void launch(int *out, int *kept, const int *in, long n, int tiles, int *scratch)
{
    unsigned *drawn = (unsigned *) scratch;
    u64 *words = (u64 *) (scratch + 64);
    int device, sms, per_sm;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, run<Op>, threads, 0));
    clear<<<sms, 256>>>(drawn, words, tiles);
    run<Op><<<min(tiles, sms * per_sm), threads>>>(out, kept, in, n, tiles, drawn, words);
    CUDA_CHECK(cudaGetLastError());
}

LAB_API void scan(int *out, int *kept, const int *in, long n, int task, int *scratch,
                  long scratch_count)
{
    int tiles = (int) ((n + per_tile - 1) / per_tile);

    if (task == SCAN)
        launch<Sum>(out, nullptr, in, n, tiles, scratch);
    else
        launch<Count>(out, kept, in, n, tiles, scratch);
}
