/* hint.h - hints for managed memory, for the driver's calls: as cudaMemPrefetchAsync and
 * cudaMemAdvise of CUDA 12, whichever CUDA the program was built with. The host is device
 * cudaCpuDeviceId. */
#ifndef SIM_RUNTIME_HINT_H
#define SIM_RUNTIME_HINT_H

#include "sim/runtime/runtime.h"

cudaError_t hint_prefetch(const void *pointer, size_t bytes, int device, cudaStream_t stream);
cudaError_t hint_advise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                        int device);

#endif
