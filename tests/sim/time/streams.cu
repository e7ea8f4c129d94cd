/* streams.cu - the rungs of lab 05 on the timeline: three stages that take equally long, and what
 * the lesson's rules say of them. Usage: streams SLICES [RUNG ROUNDS]: the words are the lesson's
 * over SLICES; that rung alone. */
#include "cudalab.cuh"

#include <stdio.h>
#include <stdlib.h>

#include "kernel.h"
#define encrypt encrypt_1
namespace rung1
{
#include "../../../solutions/05_streams/1_one_stream.cu"
}
#undef encrypt
#define encrypt encrypt_2
namespace rung2
{
#include "../../../solutions/05_streams/2_two_buffers.cu"
}
#undef encrypt
#define encrypt encrypt_3
namespace rung3
{
#include "../../../solutions/05_streams/3_three_buffers.cu"
}
#undef encrypt
#define encrypt encrypt_4
namespace rung4
{
#include "../../../solutions/05_streams/4_eight_buffers.cu"
}
#undef encrypt

typedef void Encrypt(uint32_t *out, const uint32_t *in, long n, uint32_t *device, long capacity,
                     uint32_t key, int rounds);

enum { KEY = 0x5eed };

static cudaEvent_t begin, end;

static void start(void)
{
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaEventRecord(begin));
}

static float stop(void)
{
    float ms;

    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaEventRecord(end));
    CUDA_CHECK(cudaEventSynchronize(end));
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}

static float kernel_ms(uint32_t *device, long n, int rounds)
{
    start();
    encrypt_kernel<<<ceil_div(n, BLOCK), BLOCK>>>(device, (int) n, KEY, rounds);
    CUDA_CHECK(cudaGetLastError());
    return stop();
}

static void play(int rung, uint32_t *out, const uint32_t *in, long n, uint32_t *device, int rounds)
{
    static Encrypt *const encrypts[] = { rung1::encrypt_1, rung2::encrypt_2, rung3::encrypt_3,
                                         rung4::encrypt_4 };

    start();
    encrypts[rung - 1](out, in, n, device, n / 4, KEY, rounds);
    printf("rung %d %.4f\n", rung, stop());
    for (long i = 0; i < n; i += 9973)
        if (out[i] != encrypt_word(in[i], KEY, rounds)) {
            printf("rung %d is wrong at %ld\n", rung, i);
            exit(1);
        }
}

int main(int argc, char **argv)
{
    const long n = (1 << 24) / (argc > 1 ? atoi(argv[1]) : 1), bytes = n * 4;
    uint32_t *in, *out, *pageable = (uint32_t *) calloc(n, 4), *device;
    cudaStream_t up, down;
    float up_ms, few, more;
    int rounds;

    CUDA_CHECK(cudaMallocHost(&in, bytes));
    CUDA_CHECK(cudaMallocHost(&out, bytes));
    CUDA_CHECK(cudaMalloc(&device, 2 * bytes));
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    CUDA_CHECK(cudaStreamCreateWithFlags(&up, cudaStreamNonBlocking));
    CUDA_CHECK(cudaStreamCreateWithFlags(&down, cudaStreamNonBlocking));
    for (long i = 0; i < n; i++)
        in[i] = (uint32_t) i * 2654435761u;

    if (argc > 3) {
        play(atoi(argv[2]), out, in, n, device, atoi(argv[3]));
        return 0;
    }
    start();
    CUDA_CHECK(cudaMemcpyAsync(device, in, bytes, cudaMemcpyHostToDevice, up));
    printf("up %.4f\n", up_ms = stop());
    start();
    CUDA_CHECK(cudaMemcpyAsync(out, device, bytes, cudaMemcpyDeviceToHost, down));
    printf("down %.4f\n", stop());
    start();
    CUDA_CHECK(cudaMemcpyAsync(device, in, bytes, cudaMemcpyHostToDevice, up));
    CUDA_CHECK(cudaMemcpyAsync(out, device + n, bytes, cudaMemcpyDeviceToHost, down));
    printf("both %.4f\n", stop());
    start();
    CUDA_CHECK(cudaMemcpy(device, pageable, bytes, cudaMemcpyHostToDevice));
    printf("pageable %.4f\n", stop());

    few = kernel_ms(device, n, 20);
    more = kernel_ms(device, n, 60);
    rounds = 20 + (int) ((up_ms - few) / (more - few) * 40 + 0.5f);
    printf("rounds %d\n", rounds);
    printf("kernel %.4f\n", kernel_ms(device, n, rounds));

    for (int rung = 1; rung <= 4; rung++)
        play(rung, out, in, n, device, rounds);
    free(pageable);
    return 0;
}
