#include "lab.h"

/* d = alpha * a * b + beta * c: a is m x k, b is k x n, c and d are m x n, all row-major. Device
 * pointers to distinct arrays, each aligned to 256 bytes. m, n and k are at least 1; m * n, m *
 * k and k * n are below 2^31. If beta is 0, c is NULL and must not be read. Launch only: do not
 * allocate, copy, wait or time. */
LAB_API void sgemm(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                   float alpha, float beta);
