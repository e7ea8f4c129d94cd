// expect: pass - class templates for the operation and the range: C++ throughout
// lab: reduction
#include "cudalab.cuh"
#include "kernel.h"

namespace
{

struct Plus {
    static __device__ float identity()
    {
        return 0.0f;
    }
    __device__ float operator()(float a, float b) const
    {
        return a + b;
    }
};

template <typename Op, int Width> struct WarpReduce {
    static __device__ float run(float v, Op op)
    {
        v = op(v, __shfl_xor_sync(0xffffffffu, v, Width / 2));
        return WarpReduce<Op, Width / 2>::run(v, op);
    }
};

template <typename Op> struct WarpReduce<Op, 1> {
    static __device__ float run(float v, Op)
    {
        return v;
    }
};

template <typename Op, int Threads, int Items> class Reducer
{
  public:
    __device__ explicit Reducer(Op op) : op_(op)
    {
    }

    __device__ float range(const float *data, long n) const
    {
        float acc[Items];
#pragma unroll
        for (auto &a : acc)
            a = Op::identity();
        const long tile = static_cast<long>(Threads) * Items;
        for (long base = blockIdx.x * tile; base < n; base += gridDim.x * tile) {
#pragma unroll
            for (int k = 0; k < Items; ++k) {
                const long at = base + k * Threads + threadIdx.x;
                acc[k] = op_(acc[k], at < n ? data[at] : Op::identity());
            }
        }
#pragma unroll
        for (int k = 1; k < Items; ++k)
            acc[0] = op_(acc[0], acc[k]);
        return acc[0];
    }

    __device__ float block(float v) const
    {
        __shared__ float shared[Threads / 32];
        v = WarpReduce<Op, 32>::run(v, op_);
        if (threadIdx.x % 32 == 0)
            shared[threadIdx.x / 32] = v;
        __syncthreads(); // separates the warps' writes from the reads below
        v = threadIdx.x < Threads / 32 ? shared[threadIdx.x] : Op::identity();
        return WarpReduce<Op, 32>::run(v, op_);
    }

  private:
    Op op_;
};

template <typename Op, int Threads, int Items>
__global__ void __launch_bounds__(Threads) reduce_kernel(float *out, const float *in, long n, Op op)
{
    const Reducer<Op, Threads, Items> reducer(op);
    const float v = reducer.block(reducer.range(in, n));
    if (threadIdx.x == 0)
        out[blockIdx.x] = v;
}

} // namespace

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    constexpr int threads = 256, items = 8, most = 1024;
    const long tiles = (n + threads * items - 1) / (threads * items);
    const int blocks = static_cast<int>(tiles < most ? tiles : most);

    reduce_kernel<Plus, threads, items><<<blocks, threads>>>(scratch, in, n, Plus{});
    CUDA_CHECK(cudaGetLastError());
    reduce_kernel<Plus, threads, items><<<1, threads>>>(out, scratch, blocks, Plus{});
    CUDA_CHECK(cudaGetLastError());
}
