// expect: wrong - does nothing, so no kernel is faster
#include "cudalab.cuh"
#include "kernel.h"

LAB_API void softmax(float *out, const float *in, int rows, int cols, float *scratch)
{
}
