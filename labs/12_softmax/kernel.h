#include "lab.h"

#include <float.h>

/* Write the softmax of each row of in to the same row of out:
 *
 *     out[i, j] = exp(in[i, j] - m) / (sum over k of exp(in[i, k] - m)), m the maximum of row i.
 *
 * Both are row-major matrices of rows x cols floats, device pointers to distinct arrays, each
 * aligned to 256 bytes; rows and cols are at least 1, and their product is at most 2^30. An element
 * may be any float. Where in is -inf in a row with a finite maximum, out is exactly 0. A row that
 * contains NaN or +inf, or nothing but -inf, has no softmax: all its results are NaN.
 *
 * `scratch` is work memory: two floats for each row and each 1024 columns or part of them, 2 * rows
 * * ceil(cols / 1024) in all. A kernel need not use it. out and scratch hold garbage values at
 * first. Launch only: do not allocate, copy, wait or time. */
LAB_API void softmax(float *out, const float *in, int rows, int cols, float *scratch);
