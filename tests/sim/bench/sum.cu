/* sum.cu - the sum of 2^20 floats: each thread sums some of them, each warp uses shuffles, and each
 * block shared memory; then the sums of the blocks are added in the same way. */
#include "bench.h"

enum { COUNT = 1 << 20, THREADS = 256, BLOCKS = 256, REPETITIONS = 15 };

static __device__ float sum_of_warp(float x)
{
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_down_sync(0xffffffffu, x, distance);
    return x;
}

static __global__ void sum(float *out, const float *in, int count)
{
    __shared__ float warps[THREADS / 32];
    float x = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        x += in[i];
    x = sum_of_warp(x);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = x;
    __syncthreads(); /* the sums of all warps are stored */
    if (threadIdx.x < 32) {
        x = sum_of_warp(threadIdx.x < THREADS / 32 ? warps[threadIdx.x] : 0);
        if (threadIdx.x == 0)
            out[blockIdx.x] = x;
    }
}

struct Problem {
    float *in, *part, *out;
};

static void launch(void *self)
{
    Problem *p = (Problem *) self;

    sum<<<BLOCKS, THREADS>>>(p->part, p->in, COUNT);
    sum<<<1, THREADS>>>(p->out, p->part, BLOCKS);
}

int main(void)
{
    float *in = (float *) bench_host(sizeof(float) * COUNT), result;
    Problem p = { (float *) bench_device(sizeof(float) * COUNT),
                  (float *) bench_device(sizeof(float) * BLOCKS),
                  (float *) bench_device(sizeof(float)) };
    double truth = 0;

    /* Multiples of 1/8: sums up to 2^21 are exact in any order. */
    for (unsigned i = 0; i < COUNT; i++)
        truth += in[i] = (float) ((i * 2654435761u >> 29) / 8.0);
    CHECK(cudaMemcpy(p.in, in, sizeof(float) * COUNT, cudaMemcpyHostToDevice));
    BenchTimes times = bench_run(launch, &p, REPETITIONS);
    CHECK(cudaMemcpy(&result, p.out, sizeof result, cudaMemcpyDeviceToHost));
    if (result != truth) {
        printf("wrong: %.9g, not %.9g\n", result, truth);
        return 1;
    }
    bench_print("sum", &times);
    CHECK(cudaFree(p.in));
    CHECK(cudaFree(p.part));
    CHECK(cudaFree(p.out));
    return 0;
}
