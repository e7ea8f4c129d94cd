// expect: wrong - does nothing, so no kernel is faster
#include "kernel.h"

LAB_API void convolve(float *out, const float *in, int rows, int cols, Filter filter,
                      float *scratch)
{
}
