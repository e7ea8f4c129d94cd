/* threads.cu - kernels whose modelled time must not depend on the number of threads that model it:
 * atomics, barriers, hits in the L1, clocks, copies to shared memory, calls, local arrays, work
 * that blocks draw, waves that are left out, and streams. Prints what they computed. */
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_));                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { N = 1 << 18, SIDE = 128, TILE = 16, BINS = 256 };

static __global__ void gather(float *out, const float *in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    for (int k = 0; k < 8; k++)
        sum += in[(i * 33u + k * 7919u) % n];
    out[i] = sum;
}

static __global__ void product(float *c, const float *a, const float *b)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int col = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0;

    for (int k0 = 0; k0 < SIDE; k0 += TILE) {
        as[y][x] = a[row * SIDE + k0 + x];
        bs[y][x] = b[(k0 + y) * SIDE + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    c[row * SIDE + col] = sum;
}

static __global__ void hits(float *c, const float *a, const float *b)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    float sum = 0;

    for (int k = 0; k < SIDE; k++)
        sum += a[row * SIDE + k] * b[k * SIDE + col];
    c[row * SIDE + col] = sum;
}

static __global__ void histogram(unsigned *counts, float *sum, const float *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&counts[(unsigned) (in[i] * 1000) % BINS], 1);
        if (i % 16 == 0)
            atomicAdd(sum, 1.0f);
    }
}

static __global__ void staged(float *out, const float *in)
{
    __shared__ float next[2][256];
    float sum = 0;

    __pipeline_memcpy_async(&next[0][threadIdx.x], &in[threadIdx.x], sizeof *in);
    __pipeline_commit();
    for (int k = 1; k <= 8; k++) {
        if (k < 8)
            __pipeline_memcpy_async(&next[k % 2][threadIdx.x],
                                    &in[(blockIdx.x * 8 + k) * 256 % N + threadIdx.x], sizeof *in);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += next[(k - 1) % 2][255 - threadIdx.x];
        __syncthreads();
    }
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}

static __global__ void clocks(long long *cycles, const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    for (int k = 0; k < 40; k++) {
        const long long begin = clock64();
        sum += in[(i + k * 1021) % N];
        cycles[i] += clock64() - begin;
    }
    out[i] = sum;
}

static __device__ __noinline__ float steps(float x, int count)
{
    return count ? steps(x * 0.5f + 1, count - 1) : x;
}

static __global__ void calls(float *out, const float *in)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float local[16];

    for (int k = 0; k < 16; k++)
        local[(k * 5 + i) % 16] = in[(i + k) % N];
    out[i] = steps(local[i % 16], i % 7) + local[(i * 3) % 16];
}

static __global__ void draws(unsigned *next, float *out, const float *in, int count)
{
    __shared__ unsigned mine;

    for (;;) {
        if (!threadIdx.x)
            mine = atomicAdd(next, 1);
        __syncthreads();
        const unsigned at = mine;
        __syncthreads();
        if (at >= count)
            return;
        float sum = 0;
        for (unsigned k = 0; k <= at % 13; k++)
            sum += in[(at * 128 + threadIdx.x * (k + 1)) % N];
        out[at * 128 + threadIdx.x] = sum;
        __threadfence();
    }
}

static __global__ void many(float *x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i % N];

    for (int k = 0; k < rounds; k++)
        v = v * 0.999f + (k % 16 ? 0.1f : x[(i + k) % N] * 0.1f);
    x[i % N] = v;
}

static void print(const char *name, const void *device, size_t bytes)
{
    unsigned char *host = (unsigned char *) malloc(bytes);
    unsigned hash = 0;

    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < bytes; i++)
        hash = hash * 31 + host[i];
    printf("%s %08x\n", name, hash);
    free(host);
}

int main(void)
{
    float *in, *out, *host = (float *) malloc(N * sizeof *host);
    unsigned *counts;
    long long *cycles;
    cudaStream_t streams[2];

    CHECK(cudaMalloc(&in, N * sizeof *in));
    CHECK(cudaMalloc(&out, N * sizeof *out));
    CHECK(cudaMalloc(&counts, (BINS + 1) * sizeof *counts));
    CHECK(cudaMalloc(&cycles, 8192 * sizeof *cycles));
    for (int i = 0; i < N; i++)
        host[i] = (float) (i * 2654435761u >> 24) / 256;
    CHECK(cudaMemcpy(in, host, N * sizeof *in, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, 0, N * sizeof *out));
    CHECK(cudaMemset(counts, 0, (BINS + 1) * sizeof *counts));
    CHECK(cudaMemset(cycles, 0, 8192 * sizeof *cycles));

    gather<<<N / 256, 256>>>(out, in, N);
    print("gather", out, N * sizeof *out);
    product<<<dim3(SIDE / TILE, SIDE / TILE), dim3(TILE, TILE)>>>(out, in, in + SIDE * SIDE);
    hits<<<dim3(SIDE / 64, SIDE), 64>>>(out + SIDE * SIDE, in, in + SIDE * SIDE);
    print("products", out, 2 * SIDE * SIDE * sizeof *out);
    histogram<<<64, 256>>>(counts, (float *) (counts + BINS), in, N);
    print("histogram", counts, (BINS + 1) * sizeof *counts);
    staged<<<N / 256, 256>>>(out, in);
    print("staged", out, N * sizeof *out);
    clocks<<<64, 128>>>(cycles, in, out);
    print("clocks", cycles, 8192 * sizeof *cycles);
    calls<<<N / 128, 128>>>(out, in);
    print("calls", out, N * sizeof *out);
    CHECK(cudaMemset(counts, 0, sizeof *counts));
    draws<<<96, 128>>>(counts, out, in, N / 128);
    print("draws", out, N * sizeof *out);
    for (int i = 0; i < 2; i++) {
        CHECK(cudaStreamCreate(&streams[i]));
        gather<<<N / 512, 256, 0, streams[i]>>>(out + i * N / 2, in, N / 2);
    }
    CHECK(cudaDeviceSynchronize());
    print("streams", out, N * sizeof *out);
    many<<<N / 128, 128>>>(out, 400); /* more than is played: waves are left out */
    print("many", out, N * sizeof *out);
    return 0;
}
