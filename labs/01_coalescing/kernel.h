#include "lab.h"

/* Standardise a table: out[r][c] = (in[r][c] - mean[c]) * scale[c].
 * `in` and `out` are rows x cols, row-major; `mean` and `scale` hold cols values. Device pointers
 * to distinct arrays, each aligned to 256 bytes; rows and cols are at least 1, cols is at most 1024
 * and rows * cols at most 2^30. Launch only: do not allocate, copy, wait or time. */
LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols);
