// expect: pass - C++: a generator class, two pixels per thread at a time
// lab: tail_effect
#include "cudalab.cuh"
#include "kernel.h"

namespace
{

class Generator
{
  public:
    __device__ explicit Generator(unsigned s = 0) : seed(s), state(s)
    {
    }

    __device__ void step()
    {
        state = (state ^ (state >> 15)) * 0x2c1b3c6du + seed;
    }

    __device__ unsigned value() const
    {
        return state;
    }

  private:
    unsigned seed, state;
};

template <int PerThread, int Threads>
__global__ void __launch_bounds__(Threads)
    advance_all(unsigned *out, const unsigned *in, int count, int rounds)
{
    const int first = blockIdx.x * PerThread * Threads + threadIdx.x;
    Generator generators[PerThread];

#pragma unroll
    for (int k = 0; k < PerThread; ++k)
        if (first + k * Threads < count)
            generators[k] = Generator(in[first + k * Threads]);
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int k = 0; k < PerThread; ++k)
            generators[k].step();
    }
#pragma unroll
    for (int k = 0; k < PerThread; ++k)
        if (first + k * Threads < count)
            out[first + k * Threads] = generators[k].value();
}

} // namespace

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    constexpr int per_thread = 2, threads = 128;
    const int count = rows * cols;

    advance_all<per_thread, threads>
        <<<ceil_div(count, per_thread * threads), threads>>>(out, in, count, rounds);
    CUDA_CHECK(cudaGetLastError());
}
