// expect: slow (sim: wrong) - leaves its last rows to the next call, which adds them to its own
// lab: tail_effect
// A call processes as many rows as there are SMs, and the rows that the previous call left, so no
// call has a tail. Defence: each call of this lab is timed and checked alone, before the next set
// is created.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 1024, LARGE = 1 << 16 };

static __device__ unsigned next_number(unsigned x, unsigned seed)
{
    return (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
}

__global__ void advance_kernel(unsigned *out, const unsigned *in, int cols, int rounds)
{
    int first = blockIdx.x * cols;

    for (int col = threadIdx.x; col < cols; col += BLOCK) {
        unsigned seed = in[first + col], x = seed;
        for (int round = 0; round < rounds; round++)
            x = next_number(x, seed);
        out[first + col] = x;
    }
}

static void advance_rows(unsigned *out, const unsigned *in, int first, int end, int cols,
                         int rounds)
{
    if (first < end)
        advance_kernel<<<end - first, BLOCK>>>(out + (size_t) first * cols,
                                               in + (size_t) first * cols, cols, rounds);
}

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    static struct {
        unsigned *out;
        const unsigned *in;
        int first, rows, cols, rounds;
    } left;
    int device, sms, mine = rows;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    if ((long) rows * cols >= LARGE && rows > sms && cols >= BLOCK)
        mine = rows / sms * sms;
    advance_rows(out, in, 0, mine, cols, rounds);
    if (left.rows == rows && left.cols == cols && left.rounds == rounds)
        advance_rows(left.out, left.in, left.first, left.rows, cols, rounds);
    left.out = out;
    left.in = in;
    left.first = mine;
    left.rows = mine < rows ? rows : 0;
    left.cols = cols;
    left.rounds = rounds;
    CUDA_CHECK(cudaGetLastError());
}
