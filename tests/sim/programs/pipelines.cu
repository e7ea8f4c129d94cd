/* pipelines.cu - cuda::barrier, cuda::pipeline and cuda::memcpy_async, as the programming guide
 * uses them.
 *
 * expect: ok
 */
#include "check.h"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <vector>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

enum { THREADS = 128, TILES = 6 };

/* Arrives, does something else, then waits. */
static __global__ void split_arrive(int *out)
{
    __shared__ Barrier barrier;
    __shared__ int words[THREADS];
    const int t = threadIdx.x;

    if (t == 0)
        init(&barrier, THREADS);
    __syncthreads();
    for (int round = 0; round < 3; round++) {
        words[t] = t + round;
        Barrier::arrival_token token = barrier.arrive();
        int own = t * round;
        barrier.wait(std::move(token));
        out[t] = own + words[(t + 37) % THREADS];
        barrier.arrive_and_wait();
    }
}

/* Warp 0 produces, the others consume: two barriers per buffer. */
static __global__ void producer_consumer(const int *in, int *out)
{
    __shared__ Barrier full[2], empty[2];
    __shared__ int buffer[2][32];
    const int t = threadIdx.x, warp = t / 32;

    if (t < 2) {
        init(&full[t], THREADS);
        init(&empty[t], THREADS);
    }
    __syncthreads();
    if (warp == 0) {
        for (int i = 0; i < TILES; i++) {
            empty[i % 2].arrive_and_wait();
            buffer[i % 2][t] = in[i * 32 + t];
            (void) full[i % 2].arrive();
        }
        return;
    }
    int sum = 0;
    (void) empty[0].arrive();
    (void) empty[1].arrive();
    for (int i = 0; i < TILES; i++) {
        full[i % 2].arrive_and_wait();
        sum += buffer[i % 2][t % 32] * warp;
        (void) empty[i % 2].arrive();
    }
    out[t] = sum;
}

/* memcpy_async that reports to a barrier. */
static __global__ void copies(const int *in, int *out)
{
    __shared__ Barrier barrier;
    __shared__ alignas(16) int tile[THREADS];
    auto block = cg::this_thread_block();

    if (block.thread_rank() == 0)
        init(&barrier, block.size());
    block.sync();
    int sum = 0;
    for (int i = 0; i < TILES; i++) {
        cuda::memcpy_async(block, tile, in + i * THREADS, cuda::aligned_size_t<16>(sizeof tile),
                           barrier);
        barrier.arrive_and_wait();
        sum += tile[THREADS - 1 - threadIdx.x];
        barrier.arrive_and_wait();
    }
    out[threadIdx.x] = sum;
}

/* A pipeline of two stages that all threads share. */
static __global__ void staged(const int *in, int *out)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ alignas(16) int tile[2][THREADS];
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    int sum = 0;

    for (int compute = 0, fetch = 0; compute < TILES; compute++) {
        for (; fetch < TILES && fetch < compute + 2; fetch++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, tile[fetch % 2], in + fetch * THREADS, sizeof tile[0],
                               pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += tile[compute % 2][THREADS - 1 - threadIdx.x];
        pipeline.consumer_release();
    }
    out[threadIdx.x] = sum;
}

/* Warp 0 only copies, and ends before the others have waited for its last copies: these arrivals
 * were once lost. */
static __global__ void roles(const int *in, int *out)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int tiles[2][THREADS];
    const int t = (int) threadIdx.x - 32;
    const auto role = t < 0 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipeline = cuda::make_pipeline(cg::this_thread_block(), &state, role);
    int sum = 0;

    for (int i = 0; i < TILES && t < 0; i++) {
        pipeline.producer_acquire();
        for (int k = threadIdx.x; k < THREADS; k += 32)
            cuda::memcpy_async(&tiles[i % 2][k], &in[i * THREADS + k], sizeof(int), pipeline);
        pipeline.producer_commit();
    }
    for (int i = 0; i < TILES && t >= 0; i++) {
        pipeline.consumer_wait();
        sum += tiles[i % 2][THREADS - 1 - t];
        pipeline.consumer_release();
    }
    if (t >= 0)
        out[t] = sum;
}

int main()
{
    std::vector<int> in(TILES * THREADS), out(THREADS);
    int *device_in, *device_out;

    for (size_t i = 0; i < in.size(); i++)
        in[i] = (int) (i * i % 101);
    OK(cudaMalloc(&device_in, in.size() * 4));
    OK(cudaMalloc(&device_out, out.size() * 4));
    OK(cudaMemcpy(device_in, in.data(), in.size() * 4, cudaMemcpyHostToDevice));
    OK(cudaMemset(device_out, 0, out.size() * 4));

    split_arrive<<<1, THREADS>>>(device_out);
    OK(cudaMemcpy(out.data(), device_out, out.size() * 4, cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; t++)
        CHECK(out[t] == 2 * t + (t + 37) % THREADS + 2);

    producer_consumer<<<1, THREADS>>>(device_in, device_out);
    OK(cudaMemcpy(out.data(), device_out, out.size() * 4, cudaMemcpyDeviceToHost));
    for (int t = 32; t < THREADS; t++) {
        int want = 0;
        for (int i = 0; i < TILES; i++)
            want += in[i * 32 + t % 32] * (t / 32);
        CHECK(out[t] == want);
    }

    void (*const kernels[])(const int *, int *) = { copies, staged, roles };
    for (auto kernel : kernels) {
        kernel<<<1, kernel == roles ? THREADS + 32 : THREADS>>>(device_in, device_out);
        OK(cudaMemcpy(out.data(), device_out, out.size() * 4, cudaMemcpyDeviceToHost));
        for (int t = 0; t < THREADS; t++) {
            int want = 0;
            for (int i = 0; i < TILES; i++)
                want += in[i * THREADS + THREADS - 1 - t];
            CHECK(out[t] == want);
        }
    }
    OK(cudaFree(device_in));
    OK(cudaFree(device_out));
    puts("ok");
}
