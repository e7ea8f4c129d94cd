// Shown in slides/04_ilp_tlp.md, "Find the bug". Steps that do not fill a group of four are done
// all the same; 0.3 is a double; and four steps in a row are one chain, as before.
#include "cudalab.cuh"
#include "kernel.h"

enum { UNROLLED = 4 };

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    int stride = gridDim.x * BLOCK;

    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += stride) {
        float x = x0[i], v = v0[i];
        for (int s = 0; s < steps; s += UNROLLED) {
#pragma unroll
            for (int j = 0; j < UNROLLED; j++) {
                v -= dt * (x + 0.3 * x * x * x);
                x += dt * v;
            }
        }
        x1[i] = x;
        v1[i] = v;
    }
}
