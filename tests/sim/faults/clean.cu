/* clean.cu - correct kernels that look wrong, with plain accesses and barriers: no findings may be
 * reported.
 *
 * case flag
 * case found
 * case same_in_one_instruction
 * case same_from_blocks
 * case warp_sync
 * case shuffles
 * case warp_reads
 * case async_copy
 * case early_exit
 * case early_return_barrier
 * case barrier_in_uniform_branch
 * case named_barriers
 * case double_buffer
 * case scan
 * case own_words
 * case global_after_barrier
 * case vector_and_scalar
 * case grid_stride_twice
 * case neighbours_of_a_byte
 * case copied_only
 * case halo
 */
#include "faults.h"

#include <cuda_pipeline_primitives.h>

/* Many threads write the same value. */
__global__ void flag_kernel(int *out, const int *in)
{
    __shared__ int any;

    if (threadIdx.x == 0)
        any = 0;
    __syncthreads();
    if (in[threadIdx.x] == 0)
        any = 1;
    __syncthreads();
    out[threadIdx.x] = any;
}

__global__ void found_kernel(int *found, const int *in)
{
    if (in[blockIdx.x * blockDim.x + threadIdx.x] == 0)
        *found = 1;
}

__global__ void same_kernel(int *out)
{
    __shared__ int s[4];

    s[threadIdx.x & 3] = threadIdx.x & 3;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x & 3];
}

__global__ void warp_sync_kernel(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;

    s[t] = t;
    s[t + 32] = t;
    __syncwarp();
    for (int d = 32; d; d /= 2) {
        int other = t < d ? s[t + d] : 0;
        __syncwarp();
        if (t < d)
            s[t] += other;
        __syncwarp();
    }
    out[t] = s[0];
}

__global__ void shuffle_kernel(int *out)
{
    int v = threadIdx.x;

    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(~0u, v, d);
    if (threadIdx.x & 1)
        v += __shfl_down_sync(0xaaaaaaaa, v, 2);
    out[threadIdx.x] = v;
}

__global__ void warp_read_kernel(int *a, int *out)
{
    out[threadIdx.x] = a[0] + a[threadIdx.x & 1];
}

__global__ void async_copy_kernel(float *out, const float *in)
{
    __shared__ float s[2][64];

    __pipeline_memcpy_async(&s[0][threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        if (k < 3)
            __pipeline_memcpy_async(&s[(k + 1) & 1][threadIdx.x], &in[(k + 1) * 64 + threadIdx.x],
                                    4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += s[k & 1][63 - threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

/* Barriers do not wait for threads that have exited. */
__global__ void early_exit_kernel(int *out, int n)
{
    __shared__ int s[64];

    if (threadIdx.x >= n)
        return;
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[n - 1 - threadIdx.x];
}

__global__ void uniform_kernel(int *out, int n)
{
    __shared__ int s[64];

    s[threadIdx.x] = 1;
    if (n > 3) {
        __syncthreads();
        out[threadIdx.x] = s[63 - threadIdx.x];
    }
    for (int i = 0; i < n; i++) {
        __syncthreads();
        if (threadIdx.x == i)
            s[i] = i;
        __syncthreads();
    }
}

__device__ void named_barrier(int number, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/* Each half of the block has its own barrier. */
__global__ void named_kernel(int *out)
{
    __shared__ int s[128];
    int half = threadIdx.x / 64, t = threadIdx.x % 64;

    s[threadIdx.x] = t;
    named_barrier(1 + half, 64);
    out[threadIdx.x] = s[half * 64 + 63 - t];
    named_barrier(1 + half, 64);
    s[half * 64 + 63 - t] = 1;
}

__global__ void double_buffer_kernel(int *out)
{
    __shared__ int s[2][64];
    int v = threadIdx.x;

    for (int k = 0; k < 6; k++) {
        s[k & 1][threadIdx.x] = v;
        __syncthreads();
        v += s[k & 1][(threadIdx.x + 1) & 63];
    }
    out[threadIdx.x] = v;
}

__global__ void scan_kernel(int *out, const int *in)
{
    __shared__ int s[256];
    int t = threadIdx.x;

    s[t] = in[t];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    out[t] = s[t];
}

__global__ void own_kernel(int *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    for (int k = 0; k < 10; k++)
        a[i] = a[i] * 3 + k;
}

__global__ void after_barrier_kernel(int *scratch, int *out)
{
    int *mine = scratch + blockIdx.x * blockDim.x;

    for (int k = 0; k < 3; k++) {
        mine[threadIdx.x] = k;
        __syncthreads();
        out[blockIdx.x * blockDim.x + threadIdx.x] = mine[blockDim.x - 1 - threadIdx.x];
        __syncthreads();
    }
}

__global__ void vector_kernel(float *a, float *out)
{
    float4 *four = (float4 *) (a + blockIdx.x * 128);

    four[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncthreads();
    for (int i = 0; i < 4; i++)
        out[blockIdx.x * 128 + i * 32 + threadIdx.x] = a[blockIdx.x * 128 + i * 32 + threadIdx.x];
}

__global__ void scale(float *a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        a[i] = a[i] * 2 + 1;
}

__global__ void bytes_kernel(char *a, short *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    a[i] = i;
    b[i] = a[i];
}

__global__ void copy_kernel(float *to, const float *from)
{
    to[threadIdx.x] = from[threadIdx.x];
}

/* The tile's corners are never written and never used. */
__global__ void halo_kernel(float *out, const float *in)
{
    __shared__ float s[34];

    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x >= 1 && threadIdx.x < 33)
        out[threadIdx.x] = 2 * s[threadIdx.x];
}

static void flag()
{
    flag_kernel<<<2, 64>>>(array<int>(64), zeros<int>(64));
}

static void found()
{
    found_kernel<<<4, 64>>>(zeros<int>(1), zeros<int>(256));
}

static void same_in_one_instruction()
{
    same_kernel<<<1, 64>>>(array<int>(64));
}

static void same_from_blocks()
{
    same_kernel<<<3, 64>>>(array<int>(64));
}

static void copied_only()
{
    float *a = array<float>(64), *b = array<float>(64);

    cudaMemset(a, 0, 128);
    copy_kernel<<<1, 64>>>(b, a);
    copy_kernel<<<1, 32>>>(array<float>(32), b);
}

static void halo()
{
    float *a = array<float>(34);

    cudaMemset(a + 1, 0, 128);
    halo_kernel<<<1, 34>>>(array<float>(34), a);
}

static void warp_sync()
{
    warp_sync_kernel<<<2, 32>>>(array<int>(32));
}

static void shuffles()
{
    shuffle_kernel<<<2, 32>>>(array<int>(32));
}

static void warp_reads()
{
    warp_read_kernel<<<2, 32>>>(zeros<int>(2), array<int>(32));
}

static void async_copy()
{
    async_copy_kernel<<<2, 64>>>(array<float>(64), zeros<float>(256));
}

static void early_exit()
{
    early_exit_kernel<<<1, 64>>>(array<int>(64), 20);
}

/* Some warps exit completely, and one exits partly. */
static void early_return_barrier()
{
    early_exit_kernel<<<1, 256>>>(array<int>(64), 40);
}

static void barrier_in_uniform_branch()
{
    uniform_kernel<<<1, 64>>>(array<int>(64), 5);
}

static void named_barriers()
{
    named_kernel<<<1, 128>>>(array<int>(128));
}

static void double_buffer()
{
    double_buffer_kernel<<<1, 64>>>(array<int>(64));
}

static void scan()
{
    scan_kernel<<<1, 256>>>(array<int>(256), zeros<int>(256));
}

static void own_words()
{
    own_kernel<<<4, 64>>>(zeros<int>(256));
}

static void global_after_barrier()
{
    after_barrier_kernel<<<4, 64>>>(array<int>(256), array<int>(256));
}

static void vector_and_scalar()
{
    vector_kernel<<<4, 32>>>(array<float>(512), array<float>(512));
}

static void grid_stride_twice()
{
    float *a = zeros<float>(1000);

    scale<<<2, 96>>>(a, 1000);
    scale<<<3, 64>>>(a, 1000);
}

static void neighbours_of_a_byte()
{
    bytes_kernel<<<3, 33>>>(array<char>(99), array<short>(99));
}

int main(int argc, char **argv)
{
    static const Case cases[] = {
        { "flag", flag },
        { "found", found },
        { "same_in_one_instruction", same_in_one_instruction },
        { "same_from_blocks", same_from_blocks },
        { "warp_sync", warp_sync },
        { "shuffles", shuffles },
        { "warp_reads", warp_reads },
        { "async_copy", async_copy },
        { "early_exit", early_exit },
        { "early_return_barrier", early_return_barrier },
        { "barrier_in_uniform_branch", barrier_in_uniform_branch },
        { "named_barriers", named_barriers },
        { "double_buffer", double_buffer },
        { "scan", scan },
        { "own_words", own_words },
        { "global_after_barrier", global_after_barrier },
        { "vector_and_scalar", vector_and_scalar },
        { "grid_stride_twice", grid_stride_twice },
        { "neighbours_of_a_byte", neighbours_of_a_byte },
        { "copied_only", copied_only },
        { "halo", halo },
    };

    return run_case(cases, argc, argv);
}
