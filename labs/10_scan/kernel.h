#include "lab.h"

enum { SCAN, COMPACT };

/* SCAN: write in[0] + ... + in[i] to out[i], for i from 0 to n - 1; `kept` is NULL.
 * COMPACT: write those elements of `in` that are above 0, in their order, to out[0], out[1], ...,
 * and their number to *kept. The elements of `out` after them may hold anything.
 *
 * Device pointers to distinct arrays, each aligned to 256 bytes; n is at least 1 and below 2^31.
 * All sums fit in an int. `scratch` is work memory of scratch_count = n + n / 128 + 1024 ints.
 * out, kept and scratch hold garbage at first. Launch only: do not allocate, copy, wait or time. */
LAB_API void scan(int *out, int *kept, const int *in, long n, int task, int *scratch,
                  long scratch_count);
