#ifndef KERNEL_H
#define KERNEL_H

#include "lab.h"

/* Advance n oscillators by `steps` steps of time dt: from position x0[i] and velocity v0[i] to
 * x1[i] and v1[i]. One step is v -= dt * (x + 0.3 * x * x * x), and then, with the new v, x += dt *
 * v. Device pointers to distinct arrays, each aligned to 256 bytes; n is at least 1 and at most
 * 2^30, steps is 0 or more. */
LAB_API void advance(float *x1, float *v1, const float *x0, const float *v0, float dt, int n,
                     int steps);

/* launch.cpp launches the kernel: four warps on each SM, as if other work occupied the rest of the
 * GPU. */
enum { BLOCK = 128 };

#ifdef __CUDACC__
/* You write this: advance all n oscillators with the given threads. The launch bounds allow the
 * compiler more than the 32 registers per thread with which an SM could hold 2048 threads. */
__global__ void __launch_bounds__(BLOCK, 1)
    advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt, int n,
                   int steps);
#endif

#endif
