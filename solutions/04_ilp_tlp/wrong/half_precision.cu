// expect: wrong - in half precision: each step is rounded to 11 bits
#include "cudalab.cuh"
#include "kernel.h"

#include <cuda_fp16.h>

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    int stride = gridDim.x * BLOCK;
    int i = blockIdx.x * BLOCK + threadIdx.x;

    for (; i < n; i += stride) {
        __half x = __float2half(x0[i]), v = __float2half(v0[i]);
        __half h = __float2half(dt), c = __float2half(0.3f);
        for (int s = 0; s < steps; s++) {
            v = __hsub(v, __hmul(h, __hfma(__hmul(c, __hmul(x, x)), x, x)));
            x = __hfma(h, v, x);
        }
        x1[i] = __half2float(x);
        v1[i] = __half2float(v);
    }
}
