// expect: pass - as many blocks as fit walk over all tensors, as if they were one array
// lab: launches
#include "cudalab.cuh"
#include "kernel.h"

// Float k of a table belongs to the tensor whose range [begin, begin of the next) holds it. Ranges
// are rounded up to whole pieces, so that a piece never belongs to two tensors.
enum { THREADS = 512, PIECE = 4 * THREADS, MOST = 96 };

struct Pieces {
    float *out[MOST];
    const float *weights[MOST], *gradient[MOST];
    int size[MOST], begin[MOST + 1];
    float rate[MOST];
    int count;
};

struct Step {
    static __device__ float of(float w, float g, float rate)
    {
        return fmaf(-rate, g, w);
    }
};

struct Clipped {
    static __device__ float of(float w, float g, float rate)
    {
        g *= UNSCALE;
        g = g > LIMIT ? LIMIT : g < -LIMIT ? -LIMIT : g;
        return fmaf(-rate, g, w);
    }
};

template <class Chain>
__global__ void __launch_bounds__(THREADS) walk(const __grid_constant__ Pieces p)
{
    int t = 0;

    for (int piece = blockIdx.x; piece < p.begin[p.count]; piece += gridDim.x) {
        while (piece >= p.begin[t + 1]) // pieces grow, so the tensor is this one or a later one
            t++;
        const int i = (piece - p.begin[t]) * PIECE + 4 * threadIdx.x;
        if (i + 3 < p.size[t]) {
            float4 w = *(const float4 *) (p.weights[t] + i);
            float4 g = *(const float4 *) (p.gradient[t] + i);
            w.x = Chain::of(w.x, g.x, p.rate[t]);
            w.y = Chain::of(w.y, g.y, p.rate[t]);
            w.z = Chain::of(w.z, g.z, p.rate[t]);
            w.w = Chain::of(w.w, g.w, p.rate[t]);
            *(float4 *) (p.out[t] + i) = w;
        } else {
            for (int j = i; j < p.size[t]; j++)
                p.out[t][j] = Chain::of(p.weights[t][j], p.gradient[t][j], p.rate[t]);
        }
    }
}

static int resident_blocks(void (*kernel)(Pieces))
{
    int device, sms, per_sm;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, THREADS, 0));
    return sms * per_sm;
}

template <class Chain> static void run(const Tensor *tensors, int count)
{
    const int blocks = resident_blocks(walk<Chain>);
    Pieces p;

    p.count = p.begin[0] = 0;
    for (int i = 0; i < count; i++) {
        const Tensor &t = tensors[i];
        p.out[p.count] = t.updated;
        p.weights[p.count] = t.weights;
        p.gradient[p.count] = t.gradient;
        p.size[p.count] = t.size;
        p.rate[p.count] = t.rate;
        p.begin[p.count + 1] = p.begin[p.count] + ceil_div(t.size, PIECE);
        p.count++;
        if (p.count < MOST && i < count - 1)
            continue;
        if (p.begin[p.count] > 0)
            walk<Chain><<<min(blocks, p.begin[p.count]), THREADS>>>(p);
        CUDA_CHECK(cudaGetLastError());
        p.count = 0;
    }
}

LAB_API void update(const Tensor *tensors, int count, int task)
{
    if (task == STEP)
        run<Step>(tensors, count);
    else
        run<Clipped>(tensors, count);
}
