// expect: pass - four at a time, each with its own bound; no second loop for the tail
// lab: ilp_tlp
#include "cudalab.cuh"
#include "kernel.h"

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    int grid = gridDim.x * blockDim.x;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 4 * grid) {
        int b = i + grid, c = i + 2 * grid, d = i + 3 * grid;
        float xa = x0[i], xb = b < n ? x0[b] : 0, xc = c < n ? x0[c] : 0, xd = d < n ? x0[d] : 0;
        float va = v0[i], vb = b < n ? v0[b] : 0, vc = c < n ? v0[c] : 0, vd = d < n ? v0[d] : 0;

        for (int s = 0; s < steps; s++) {
            va -= dt * (xa + 0.3f * xa * xa * xa), xa += dt * va;
            vb -= dt * (xb + 0.3f * xb * xb * xb), xb += dt * vb;
            vc -= dt * (xc + 0.3f * xc * xc * xc), xc += dt * vc;
            vd -= dt * (xd + 0.3f * xd * xd * xd), xd += dt * vd;
        }
        x1[i] = xa, v1[i] = va;
        if (b < n)
            x1[b] = xb, v1[b] = vb;
        if (c < n)
            x1[c] = xc, v1[c] = vc;
        if (d < n)
            x1[d] = xd, v1[d] = vd;
    }
}
