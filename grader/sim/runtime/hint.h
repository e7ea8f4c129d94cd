/* hint.h - hints for managed memory. */
#ifndef SIM_RUNTIME_HINT_H
#define SIM_RUNTIME_HINT_H

#include "sim/runtime/runtime.h"

/* Where memory should be: a cudaMemLocationType (0: nowhere) and a device or NUMA node. */
typedef struct Home {
    int16_t type, id;
} Home;

/* hint.c, for the driver's calls: as cudaMemPrefetchAsync and cudaMemAdvise of CUDA 12, whichever
 * CUDA the program was built with. The host is device cudaCpuDeviceId. */
cudaError_t hint_prefetch(const void *pointer, size_t bytes, int device, cudaStream_t stream);
cudaError_t hint_advise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                        int device);

/* hint.c: a prefetch, for calls that name several; the first one only checks it. */
cudaError_t hint_check_prefetch(Stream *stream, const void *pointer, size_t bytes,
                                struct cudaMemLocation where);
cudaError_t hint_prefetch_to(Stream *stream, const void *pointer, size_t bytes,
                             struct cudaMemLocation where);

/* hint.c: whether the range is in managed memory. */
cudaError_t hint_check_range(const void *pointer, size_t bytes);

/* range.c: keeps what the program has said about a range, for its questions. */
cudaError_t range_prefetched(const void *pointer, size_t bytes, Home home);
cudaError_t range_advised(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          Home home);

#endif
