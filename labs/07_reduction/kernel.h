#include "lab.h"

/* Write the sum of in[0 .. n - 1] to out[0]. Device pointers to distinct arrays, each aligned to
 * 256 bytes; n is at least 1 and below 2^31. `scratch` is work memory of scratch_count = n / 128
 * + 1024 floats: room for the partial sums of blocks of 256 threads, and for the sums of those.
 * out and scratch hold garbage values at first. Launch only: do not allocate, copy, wait or
 * time. */
LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count);
