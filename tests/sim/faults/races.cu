/* races.cu - unordered accesses of several threads to the same memory, with at least one write.
 *
 * case reversed
 *   reported: uninitialised @reversed_read
 *   reported: race @reversed_write
 *   reported: race @reversed_read
 * case tile
 *   reported: race @tile_read
 *   reported: uninitialised @tile_read
 *   reported: race @tile_write
 * case reused
 *   reported: race @reused_write
 *   reported: race @reused_read
 * case two_values
 *   reported: race @two_values
 * case in_a_warp
 *   reported: race @in_a_warp_read
 * case volatile_warp
 *   reported: race @volatile_sum
 *   reported: race @volatile_next
 * case at_once
 *   reported: race @at_once
 * case tree
 *   reported: race @tree
 * case counter
 *   reported: race between blocks @counter
 * case reset
 *   reported: race @reset_add
 * case in_block
 *   reported: race @in_block_own
 *   reported: race @in_block_other
 * case stencil
 *   reported: race @stencil
 *   reported: race between blocks @stencil
 * case in_place
 *   reported: race between blocks @in_place_read
 *   reported: race between blocks @in_place_write
 * case histogram
 *   reported: race between blocks @histogram
 * case found
 *   reported: race between blocks @found_write
 *   reported: race between blocks @found_read
 * case last_block_unfenced
 *   reported: race between blocks @last_block_read
 * case copy_unwaited
 *   reported: uninitialised @copy_read
 *   reported: race @copy
 *   reported: race @copy_read
 * case bytes
 *   reported: uninitialised @bytes_read
 *   reported: race @bytes_write
 *   reported: race @bytes_read
 * case sum_read_by_last
 *   reported: race between blocks @sum_read
 * case counted_twice
 *   reported: race @counted_twice
 * case lock_left_early
 *   reported: race @lock_write
 */
#include "faults.h"

#include <cuda_pipeline_primitives.h>

__global__ void reversed_kernel(int *out)
{
    __shared__ int s[64];

    s[threadIdx.x] = threadIdx.x;           // @reversed_write
    out[threadIdx.x] = s[63 - threadIdx.x]; // @reversed_read
}

__global__ void tile_kernel(float *out, const float *in)
{
    __shared__ float t[32][33];

    for (int y = threadIdx.y; y < 32; y += 8)
        t[y][threadIdx.x] = in[y * 32 + threadIdx.x]; // @tile_write
    for (int y = threadIdx.y; y < 32; y += 8)
        out[y * 32 + threadIdx.x] = t[threadIdx.x][y]; // @tile_read
}

/* The barrier before the reuse of the tile is missing. */
__global__ void reused_kernel(float *out, const float *in)
{
    __shared__ float s[64];
    float sum = 0;

    for (int k = 0; k < 4; k++) {
        s[threadIdx.x] = in[k * 64 + threadIdx.x]; // @reused_write
        __syncthreads();
        for (int i = 0; i < 64; i++)
            sum += s[i]; // @reused_read
    }
    out[threadIdx.x] = sum;
}

__global__ void two_values_kernel(int *out)
{
    __shared__ int s;

    s = threadIdx.x / 32; // @two_values
    __syncthreads();
    out[threadIdx.x] = s;
}

__global__ void in_a_warp_kernel(int *out)
{
    __shared__ int s[32];

    s[threadIdx.x] = threadIdx.x;          // @in_a_warp_write
    out[threadIdx.x] = s[threadIdx.x ^ 1]; // @in_a_warp_read
}

/* In the style used before Volta. */
__global__ void volatile_warp_kernel(int *out)
{
    __shared__ volatile int s[64];

    s[threadIdx.x] = threadIdx.x; // @volatile_write
    s[threadIdx.x + 32] = 1;
    s[threadIdx.x] += s[threadIdx.x + 16]; // @volatile_sum
    s[threadIdx.x] += s[threadIdx.x + 8];  // @volatile_next
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void at_once_kernel(int *out)
{
    __shared__ int s[4];

    s[threadIdx.x & 3] = threadIdx.x; // @at_once
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x & 3];
}

__global__ void tree_kernel(float *out, const float *in)
{
    __shared__ float s[256];
    int t = threadIdx.x;

    s[t] = in[t];
    __syncthreads();
    for (int d = 128; d; d /= 2)
        if (t < d)
            s[t] += s[t + d]; // @tree
    if (!t)
        *out = s[0];
}

__global__ void counter_kernel(int *counter)
{
    *counter += 1; // @counter
}

__global__ void reset_kernel(int *counter)
{
    if (threadIdx.x == 0)
        *counter = 0;      // @reset_write
    atomicAdd(counter, 1); // @reset_add
}

__global__ void in_block_kernel(int *a)
{
    a[threadIdx.x] = threadIdx.x;                      // @in_block_write
    a[threadIdx.x] += a[(threadIdx.x + 32) % 64 + 64]; // @in_block_own
    a[64 + threadIdx.x] = 1;                           // @in_block_other
}

__global__ void stencil_kernel(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i > 0 && i < n - 1)
        a[i] = a[i - 1] + a[i + 1]; // @stencil
}

__global__ void in_place_kernel(float *a, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y;

    float v = a[y * n + x]; // @in_place_read
    a[x * n + y] = v;       // @in_place_write
}

__global__ void histogram_kernel(int *bins, const int *in)
{
    bins[in[blockIdx.x * blockDim.x + threadIdx.x] & 7]++; // @histogram
}

__global__ void found_kernel(int *found, const int *a)
{
    if (*found) // @found_read
        return;
    if (a[blockIdx.x] == 1)
        *found = 1; // @found_write
}

/* Without __threadfence(), the sums of other blocks need not be visible. */
__global__ void last_block_kernel(int *sums, int *done, int *out)
{
    __shared__ bool last;

    if (threadIdx.x == 0) {
        sums[blockIdx.x] = blockIdx.x; // @last_block_write
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (int i = 0; i < gridDim.x; i++)
            *out += sums[i]; // @last_block_read
}

__global__ void copy_kernel(float *out, const float *in)
{
    __shared__ float s[64];

    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4); // @copy
    __pipeline_commit();
    __pipeline_wait_prior(0);               // @copy_wait
    out[threadIdx.x] = s[63 - threadIdx.x]; // @copy_read
}

__global__ void bytes_kernel(char *out)
{
    __shared__ char s[64];

    s[threadIdx.x] = threadIdx.x;           // @bytes_write
    out[threadIdx.x] = s[threadIdx.x ^ 32]; // @bytes_read
}

static void reversed()
{
    reversed_kernel<<<1, 64>>>(array<int>(64));
}

static void tile()
{
    tile_kernel<<<1, dim3(32, 8)>>>(array<float>(1024), zeros<float>(1024));
}

static void reused()
{
    float host[256], *in = array<float>(256);

    for (int i = 0; i < 256; i++)
        host[i] = i;
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    reused_kernel<<<1, 64>>>(array<float>(64), in);
}

static void two_values()
{
    two_values_kernel<<<1, 64>>>(array<int>(64));
}

static void in_a_warp()
{
    in_a_warp_kernel<<<1, 32>>>(array<int>(32));
}

static void volatile_warp()
{
    volatile_warp_kernel<<<1, 32>>>(array<int>(32));
}

static void at_once()
{
    at_once_kernel<<<1, 32>>>(array<int>(32));
}

static void tree()
{
    tree_kernel<<<1, 256>>>(array<float>(1), zeros<float>(256));
}

static void counter()
{
    counter_kernel<<<4, 1>>>(zeros<int>(1));
}

static void reset()
{
    reset_kernel<<<1, 64>>>(zeros<int>(1));
}

static void in_block()
{
    in_block_kernel<<<1, 64>>>(zeros<int>(128));
}

static void stencil()
{
    stencil_kernel<<<4, 32>>>(zeros<float>(128), 128);
}

static void in_place()
{
    in_place_kernel<<<dim3(1, 32), 32>>>(zeros<float>(1024), 32);
}

static void histogram()
{
    histogram_kernel<<<2, 1>>>(zeros<int>(8), zeros<int>(64));
}

static void found()
{
    int host[4] = { 0, 1, 0, 0 }, *a = array<int>(4);

    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    found_kernel<<<4, 1>>>(zeros<int>(1), a);
}

static void last_block_unfenced()
{
    last_block_kernel<<<4, 32>>>(zeros<int>(4), zeros<int>(1), zeros<int>(1));
}

static void copy_unwaited()
{
    copy_kernel<<<1, 64>>>(array<float>(64), zeros<float>(64));
}

static void bytes()
{
    bytes_kernel<<<1, 64>>>(array<char>(64));
}

/* All blocks add, but not necessarily before the last block reads the sum. */
__global__ void sum_read_by_last_kernel(int *sum, int *out)
{
    atomicAdd(sum, 1); // @sum_add
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0)
        *out = *sum; // @sum_read
}

static void sum_read_by_last()
{
    sum_read_by_last_kernel<<<3, 1>>>(zeros<int>(1), array<int>(1));
}

/* A counter that all threads read, change and write. */
__global__ void counted_twice_kernel(int *bins)
{
    bins[0]++; // @counted_twice
}

static void counted_twice()
{
    counted_twice_kernel<<<1, 64>>>(zeros<int>(1));
}

/* The second lane does not take the lock. */
__global__ void lock_left_early_kernel(int *mutex, int *list)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(mutex, 0, 1) != 0)
            ;
        __threadfence();
        *list = 1; // @lock_write
        __threadfence();
        atomicExch(mutex, 0);
    } else {
        list[1] = *list; // @lock_read
    }
}

static void lock_left_early()
{
    lock_left_early_kernel<<<1, 2>>>(zeros<int>(1), zeros<int>(2));
}

int main(int argc, char **argv)
{
    static const Case cases[] = {
        { "reversed", reversed },
        { "tile", tile },
        { "reused", reused },
        { "two_values", two_values },
        { "in_a_warp", in_a_warp },
        { "volatile_warp", volatile_warp },
        { "at_once", at_once },
        { "tree", tree },
        { "counter", counter },
        { "reset", reset },
        { "in_block", in_block },
        { "stencil", stencil },
        { "in_place", in_place },
        { "histogram", histogram },
        { "found", found },
        { "last_block_unfenced", last_block_unfenced },
        { "copy_unwaited", copy_unwaited },
        { "bytes", bytes },
        { "sum_read_by_last", sum_read_by_last },
        { "counted_twice", counted_twice },
        { "lock_left_early", lock_left_early },
    };

    return run_case(cases, argc, argv);
}
