#include "lab.h"

/* Distances of all pairs: dist[i][j] = sum over k of (x[i][k] - x[j][k])^2.
 * `x` is n x d, `dist` is n x n, both row-major. Device pointers to distinct arrays, each aligned
 * to 256 bytes; 1 <= n <= 32768 and 1 <= d <= 128. Launch only: do not allocate, copy, wait or
 * time. */
LAB_API void distances(float *dist, const float *x, int n, int d);
