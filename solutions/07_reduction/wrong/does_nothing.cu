// expect: wrong - does nothing, so no kernel is faster
#include "cudalab.cuh"
#include "kernel.h"

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
}
