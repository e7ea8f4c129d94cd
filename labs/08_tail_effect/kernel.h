#include "lab.h"

/* Advance an image of random number generators. in[r][c] is a generator's seed and its first
 * number; out[r][c] is its number after `rounds` steps of x = (x ^ (x >> 15)) * 0x2c1b3c6d +
 * seed, in unsigned 32-bit arithmetic. `in` and `out` are rows x cols, row-major. Device
 * pointers to distinct arrays, each aligned to 256 bytes; rows and cols are at least 1, rows *
 * cols at most 2^27, rounds is 0 or more. Launch only: do not allocate, copy, wait or time. */
LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds);
