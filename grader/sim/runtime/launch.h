/* launch.h - a launch as the calls of the runtime and of the driver request it. */
#ifndef SIM_RUNTIME_LAUNCH_H
#define SIM_RUNTIME_LAUNCH_H

#include "sim/runtime/runtime.h"

typedef struct LaunchRequest {
    const void *kernel; /* the stub's address, or a cudaKernel_t */
    dim3 grid, block;
    void *const *arguments; /* pointers to them, unless they are packed */
    const void *packed;     /* in the layout of the kernel's .param list; NULL: not packed */
    size_t packed_bytes;
    size_t dynamic_bytes;
    bool cooperative;
    dim3 cluster; /* of .x = 0: no clusters are requested */
    LaunchHints hints;
    uint32_t given; /* bit 1 << id: this attribute is given, and not that of the stream */
} LaunchRequest;

cudaError_t launch(Stream *stream, const LaunchRequest *request);
cudaError_t launch_attribute(const cudaLaunchAttribute *attribute, LaunchRequest *request);
/* Takes the packed arguments from CU_LAUNCH_PARAM_BUFFER_POINTER and its size; NULL: none. */
cudaError_t launch_packed(void *const *extra, LaunchRequest *request);
/* Of a kernel node. Whether it could run as it is; its clusters; the attributes of another one, but
 * not its clusters if they are part of either kernel. */
cudaError_t launch_check_work(const KernelWork *kernel);
cudaError_t launch_set_cluster(KernelWork *kernel, const cudaLaunchAttributeValue *value);
void launch_keep_attributes(KernelWork *to, const KernelWork *from);
/* For a launch in a kernel (children.c): checks it, with findings at that place, and sets the size
 * of its packed arguments. Then makes its work. */
cudaError_t launch_check(const Place *place, LaunchRequest *request);
cudaError_t launch_work(const LaunchRequest *request, Work **work);

#endif
