// expect: crash - the host uses pointers that are valid only on the GPU
#include "cudalab.cuh"
#include "kernel.h"

LAB_API void copy(float *out, const float *in, long n)
{
    for (long i = 0; i < n; i++)
        out[i] = in[i];
}
