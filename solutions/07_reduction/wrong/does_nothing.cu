// expect: wrong - the fastest kernel there is
#include "cudalab.cuh"
#include "kernel.h"

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
}
