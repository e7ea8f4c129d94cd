#include "lab.h"

/* Copy `n` floats from `in` to `out`: device pointers to distinct arrays, each aligned to 256
 * bytes; n is at least 1, and may exceed what an int can hold. Launch only: do not allocate, call a
 * library's copy, wait or time. */
LAB_API void copy(float *out, const float *in, long n);
