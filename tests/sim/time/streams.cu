/* streams.cu - the rungs of lab 05 with three stages that take equally long, and the copies of the
 * stages alone. Prints GB/s, counting both directions.
 *
 *     streams [SHARE [REPEATS [RUNG ROUNDS]]]
 *
 * SHARE divides the lesson's number of words. REPEATS: the median of this many runs, after one
 * warm-up run; the default is a single run without warm-up, which is enough on a simulated GPU.
 * RUNG: only this rung. */
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
static int repeats = 1;

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

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *) a, y = *(const float *) b;

    return (x > y) - (x < y);
}

// Milliseconds that `work` takes.
template <class Work> static float timed(Work work)
{
    enum { MOST = 99 };
    const int samples = repeats < MOST ? repeats : MOST;
    float ms[MOST];

    for (int i = repeats > 1 ? -1 : 0; i < samples; i++) {
        start();
        work();
        CUDA_CHECK(cudaGetLastError());
        ms[i < 0 ? 0 : i] = stop();
    }
    qsort(ms, samples, sizeof *ms, by_size);
    return ms[samples / 2];
}

static void print(const char *name, double bytes, double ms)
{
    printf("streams.%s %.5g\n", name, bytes / ms / 1e6);
}

static float kernel_ms(uint32_t *device, long n, int rounds)
{
    return timed(
        [=] { encrypt_kernel<<<ceil_div(n, BLOCK), BLOCK>>>(device, (int) n, KEY, rounds); });
}

static const struct {
    const char *name;
    Encrypt *encrypt;
} rungs[] = {
    { "1_one_stream", rung1::encrypt_1 },
    { "2_two_buffers", rung2::encrypt_2 },
    { "3_three_buffers", rung3::encrypt_3 },
    { "4_eight_buffers", rung4::encrypt_4 },
};

static void play(int rung, uint32_t *out, const uint32_t *in, long n, uint32_t *device, int rounds)
{
    print(rungs[rung].name, n * 8.0,
          timed([=] { rungs[rung].encrypt(out, in, n, device, n / 4, KEY, rounds); }));
    for (long i = 0; i < n; i += 9973)
        if (out[i] != encrypt_word(in[i], KEY, rounds)) {
            printf("%s is wrong at %ld\n", rungs[rung].name, i);
            exit(1);
        }
}

int main(int argc, char **argv)
{
    const long n = (1 << 24) / (argc > 1 ? atoi(argv[1]) : 1), bytes = n * 4;
    uint32_t *in, *out, *pageable = (uint32_t *) malloc(bytes), *device;
    cudaStream_t up, down;
    float up_ms, few, more;
    int rounds;

    repeats = argc > 2 && atoi(argv[2]) > 1 ? atoi(argv[2]) : 1;
    CUDA_CHECK(cudaMallocHost(&in, bytes));
    CUDA_CHECK(cudaMallocHost(&out, bytes));
    CUDA_CHECK(cudaMalloc(&device, 2 * bytes));
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    CUDA_CHECK(cudaStreamCreateWithFlags(&up, cudaStreamNonBlocking));
    CUDA_CHECK(cudaStreamCreateWithFlags(&down, cudaStreamNonBlocking));
    // Written once, so that no page faults slow the copy.
    for (long i = 0; i < n; i++)
        in[i] = pageable[i] = (uint32_t) i * 2654435761u;

    if (argc > 4) {
        play(atoi(argv[3]) - 1, out, in, n, device, atoi(argv[4]));
        return 0;
    }
    auto copy_up = [=] {
        CUDA_CHECK(cudaMemcpyAsync(device, in, bytes, cudaMemcpyHostToDevice, up));
    };
    auto copy_down = [=] {
        CUDA_CHECK(cudaMemcpyAsync(out, device + n, bytes, cudaMemcpyDeviceToHost, down));
    };
    print("up", bytes, up_ms = timed(copy_up));
    print("down", bytes, timed(copy_down));
    print("both", 2 * bytes, timed([=] { copy_up(), copy_down(); }));
    print("pageable", bytes,
          timed([=] { CUDA_CHECK(cudaMemcpy(device, pageable, bytes, cudaMemcpyHostToDevice)); }));

    few = kernel_ms(device, n, 20);
    more = kernel_ms(device, n, 60);
    rounds = 20 + (int) ((up_ms - few) / (more - few) * 40 + 0.5f);
    for (int rung = 0; rung < 4; rung++)
        play(rung, out, in, n, device, rounds);
    free(pageable);
    return 0;
}
