/* atomics.cuh - atomic operations on global and shared memory, with used and unused results. */
#ifndef ATOMICS_CUH
#define ATOMICS_CUH

#include "patterns.cuh"

/* One operation on memory of type T; `x` is this lane's operand. */
#define OPERATION(name, T, expression)                                                             \
    struct name {                                                                                  \
        typedef T Type;                                                                            \
        static __device__ __forceinline__ T run(T *at, T x)                                        \
        {                                                                                          \
            return expression;                                                                     \
        }                                                                                          \
    };

OPERATION(AddInt, int, atomicAdd(at, x))
OPERATION(AddFloat, float, atomicAdd(at, x))
OPERATION(AddDouble, double, atomicAdd(at, x))
OPERATION(AddLong, unsigned long long, atomicAdd(at, x))
OPERATION(MaxInt, int, atomicMax(at, x))
OPERATION(AndInt, int, atomicAnd(at, x))
OPERATION(IncInt, unsigned, atomicInc(at, x))
OPERATION(ExchInt, int, atomicExch(at, x))
OPERATION(ExchFloat, float, atomicExch(at, x))
OPERATION(CasInt, int, atomicCAS(at, x - 1, x))

template <typename Op>
__global__ void atomic_global(void *out, const void *in, const int *index, int n)
{
    int i = index[threadIdx.x];

    if (i >= 0)
        Op::run((typename Op::Type *) out + i, (typename Op::Type)(threadIdx.x + 1));
}

template <typename Op>
__global__ void atomic_global_used(void *out, const void *in, const int *index, int n)
{
    typedef typename Op::Type T;
    int i = index[threadIdx.x];

    if (i >= 0)
        ((T *) out)[8192 + threadIdx.x] = Op::run((T *) out + i, (T) (threadIdx.x + 1));
}

template <typename Op>
__global__ void atomic_shared(void *out, const void *in, const int *index, int n)
{
    typedef typename Op::Type T;
    __shared__ int4 tile[TILE_WORDS / 4];
    int i = index[threadIdx.x];

    fill_tile((int *) tile, in);
    if (i >= 0)
        Op::run((T *) tile + i, (T) (threadIdx.x + 1));
    __syncthreads();
    ((int *) out)[threadIdx.x] = ((const int *) tile)[threadIdx.x];
}

template <typename Op>
__global__ void atomic_shared_used(void *out, const void *in, const int *index, int n)
{
    typedef typename Op::Type T;
    __shared__ int4 tile[TILE_WORDS / 4];
    int i = index[threadIdx.x];

    fill_tile((int *) tile, in);
    if (i >= 0)
        ((T *) out)[threadIdx.x] = Op::run((T *) tile + i, (T) (threadIdx.x + 1));
}

/* All lanes use one address, and the compiler can see that, so one lane may add for the whole warp.
 */
#define UNIFORM(name, T, expression)                                                               \
    __global__ void name(void *out, const void *in, const int *index, int n)                       \
    {                                                                                              \
        int i = index[threadIdx.x];                                                                \
        T *at = (T *) out + n;                                                                     \
                                                                                                   \
        if (i >= 0)                                                                                \
            expression;                                                                            \
    }

UNIFORM(uniform_add_one, int, atomicAdd(at, 1))
UNIFORM(uniform_add_other, int, atomicAdd(at, i))
UNIFORM(uniform_add_used, int, at[8192 + threadIdx.x] = atomicAdd(at, 1))
UNIFORM(uniform_add_float, float, atomicAdd(at, (float) i))
UNIFORM(uniform_max, int, atomicMax(at, i))
UNIFORM(uniform_cas, int, atomicCAS(at, i, 1))

__global__ void uniform_shared(void *out, const void *in, const int *index, int n)
{
    __shared__ int sum;
    int i = index[threadIdx.x];

    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    if (i >= 0)
        atomicAdd(&sum, i);
    __syncthreads();
    ((int *) out)[threadIdx.x] = sum;
}

/* A histogram of 64 bins: the whole grid adds to shared memory, then each block to global. */
__global__ void histogram(void *out, const void *in, const int *index, int n)
{
    __shared__ int bins[64];
    const unsigned *values = (const unsigned *) in;

    if (threadIdx.x < 64)
        bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = thread_number(); i < n; i += (int) (gridDim.x * blockDim.x))
        atomicAdd(&bins[values[i] >> 11 & 63], 1);
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd((int *) out + threadIdx.x, bins[threadIdx.x]);
}

#endif
