/* attribute.h - attributes of streams, launches and kernel nodes that change no result: the
 * simulator keeps them so that a program can read them back. */
#ifndef SIM_RUNTIME_ATTRIBUTE_H
#define SIM_RUNTIME_ATTRIBUTE_H

#include <cuda_runtime_api.h>
#include <stdint.h>

typedef struct LaunchHints {
    struct cudaAccessPolicyWindow window;
    cudaLaunchMemSyncDomainMap domains;
    int domain, sync_policy, cluster_policy, priority, carveout, nvlink;
    unsigned preferred_cluster[3];
} LaunchHints;

/* What holds before a program sets anything. */
LaunchHints hints_default(void);
/* cudaErrorInvalidValue: there is no such attribute, or it cannot have this value. */
cudaError_t hints_set(LaunchHints *hints, int id, const cudaLaunchAttributeValue *value);
cudaError_t hints_get(const LaunchHints *hints, int id, cudaLaunchAttributeValue *value);
/* Attributes that a launch does not give (bit 1 << id of `given`) are those of its stream. */
void hints_inherit(LaunchHints *hints, const LaunchHints *of_stream, uint32_t given);

#endif
