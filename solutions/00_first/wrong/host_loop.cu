// expect: crash - the host follows pointers that only mean something on the GPU
#include "cudalab.cuh"
#include "kernel.h"

LAB_API void copy(float *out, const float *in, long n)
{
    for (long i = 0; i < n; i++)
        out[i] = in[i];
}
