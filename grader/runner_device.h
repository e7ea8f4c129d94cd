/* runner_device.h - the few things of the runner that need kernels of its own. All arrays are on
 * the current device, all work goes to stream 0; what is found is waited for. */
#ifndef RUNNER_DEVICE_H
#define RUNNER_DEVICE_H

#include <cuda_runtime_api.h>
#include "contents.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "Nothing differs." */
#define DEVICE_NOTHING (~0ull)

/* Allocates what the others need, and runs a kernel whose answer is known: is it right? */
cudaError_t device_begin(int *right);

/* Fills an array (aligned to 16 bytes) as fast as memory can be written. */
cudaError_t device_fill(Element type, Fill fill, FillKey key, void *data, size_t bytes);

/* The index of the first element that is not what device_fill wrote, or DEVICE_NOTHING. */
cudaError_t device_find_change(Element type, Fill fill, FillKey key, const void *data, size_t bytes,
                               unsigned long long *index);

/* Looks for bytes other than `whole` in the guards around an array. *distance: of the nearest one
 * from the array's end (0: the very next) or, *before, from its start (1: the one before it); or
 * DEVICE_NOTHING. */
cudaError_t device_find_stray(const void *data, size_t bytes, size_t guard_bytes,
                              unsigned char whole, unsigned long long *distance, int *before);

/* Clock of one SM under no load but its own, in MHz; takes about 0.1 ms. */
cudaError_t device_clock(double *mhz);

#ifdef __cplusplus
}
#endif
#endif
