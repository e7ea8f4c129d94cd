// scenery.cuh - kernels of generation 3 that use managed memory in one section and pinned memory
// in another.
#ifndef SCENERY_CUH
#define SCENERY_CUH

#include "kernels.cuh"

// ---- The darkest of a pixel and its neighbours ----

enum { SCENE_WIDE = 1536, SCENE_HIGH = 640, SCENE = SCENE_WIDE * SCENE_HIGH };

__host__ __device__ inline float eroded(const float *picture, int i)
{
    const int x = i % SCENE_WIDE, y = i / SCENE_WIDE;
    float darkest = picture[i];

    for (int dy = y > 0 ? -1 : 0; dy <= (y < SCENE_HIGH - 1); dy++)
        for (int dx = x > 0 ? -1 : 0; dx <= (x < SCENE_WIDE - 1); dx++)
            darkest = fminf(darkest, picture[i + dy * SCENE_WIDE + dx]);
    return darkest;
}

__global__ void erode(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = eroded(in, i);
}

// ---- Points on a circle: one word in, two out ----

enum { ANGLES = 1 << 20 };

__global__ void to_points(const float *angles, float2 *points)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    points[i] = make_float2(__cosf(angles[i]), __sinf(angles[i]));
}

inline void expect_points(Flow &flow, const std::vector<float> &angles, const float2 *points)
{
    for (size_t i = 0; i < ANGLES; i += 499) {
        flow.expect(points[i].x, cos(angles[i]), 1e-4);
        flow.expect(points[i].y, sin(angles[i]), 1e-4);
    }
}

#endif
