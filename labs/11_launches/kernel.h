#ifndef KERNEL_H
#define KERNEL_H

#include "lab.h"

/* One of a model's arrays: `size` floats in each of three places; none if `size` is 0. The places
 * are device memory, aligned to 32 bytes. */
typedef struct Tensor {
    float *updated;
    const float *weights, *gradient;
    int size;
    float rate;
} Tensor;

enum { STEP, CLIPPED_STEP };

#define UNSCALE 0.125f
#define LIMIT   0.0625f

/* Update the weights of all `count` tensors; `tensors` is an array in host memory.
 *
 * STEP: one operation per float, with the rate of its tensor.
 *     updated = weights - rate * gradient
 * CLIPPED_STEP: a chain of three operations.
 *     a = UNSCALE * gradient
 *     b = a, but at least -LIMIT and at most LIMIT
 *     updated = weights - rate * b
 *
 * count is at least 1 and at most 4096; at least one tensor is not empty. The `updated` of
 * different tensors do not overlap, and hold garbage at first. Launch only: do not allocate, copy,
 * wait or time. */
LAB_API void update(const Tensor *tensors, int count, int task);

#endif
