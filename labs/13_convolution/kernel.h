#ifndef CONVOLUTION_KERNEL_H
#define CONVOLUTION_KERNEL_H

#include "lab.h"

enum { REACH = 16 }; /* the largest radius */

/* The weights of a separable filter: across[REACH + j] is for the pixel j columns to the right,
 * down[REACH + i] for the pixel i rows below. Weights beyond the radius are 0. */
typedef struct Filter {
    int radius; /* 0 to REACH */
    float across[2 * REACH + 1], down[2 * REACH + 1];
} Filter;

/* Write the convolution of an image with a filter of radius r:
 *
 *     out[y, x] = sum over i and j from -r to r of
 *                 filter.down[REACH + i] * filter.across[REACH + j] * in[Y, X]
 *
 * where Y is y + i, or the nearest row that exists; X is x + j, or the nearest column that exists.
 *
 * in and out are row-major images of rows x cols floats, device pointers to distinct arrays, each
 * aligned to 256 bytes; all pixels are finite. rows and cols are at least 1 and at most 2^18, and
 * their product is at most 2^30. The filter is passed by value: it may differ in every call.
 *
 * `scratch` is work memory: rows * cols + 33 * 33 floats, aligned to 256 bytes. A kernel need not
 * use it. out and scratch hold garbage at first. Launch only: do not allocate, copy, wait or
 * time. */
LAB_API void convolve(float *out, const float *in, int rows, int cols, Filter filter,
                      float *scratch);

#endif
