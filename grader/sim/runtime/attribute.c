/* attribute.c - attributes of streams and of kernel nodes. Those that change how a kernel runs
 * (cooperative, clusters) are part of its work; the others are only kept. */
#include "sim/runtime/attribute.h"
#include "sim/runtime/graph.h"
#include "sim/runtime/launch.h"

#include <string.h>

/* Attributes that older versions of CUDA 12 do not name. */
enum { PREFERRED_CLUSTER = 11, NVLINK_SCHEDULING = 16 };

/* ---- Values ---- */

typedef struct Number {
    int id, least, most;
    size_t at; /* in LaunchHints */
} Number;

/* Attributes whose value is one number. Priorities are those that a stream may be given. */
static const Number numbers[] = {
    { cudaLaunchAttributeSynchronizationPolicy, cudaSyncPolicyAuto, cudaSyncPolicyBlockingSync,
      offsetof(LaunchHints, sync_policy) },
    { cudaLaunchAttributeClusterSchedulingPolicyPreference, cudaClusterSchedulingPolicyDefault,
      cudaClusterSchedulingPolicyLoadBalancing, offsetof(LaunchHints, cluster_policy) },
    { cudaLaunchAttributePriority, INT32_MIN, INT32_MAX, offsetof(LaunchHints, priority) },
    { cudaLaunchAttributeMemSyncDomain, cudaLaunchMemSyncDomainDefault,
      cudaLaunchMemSyncDomainRemote, offsetof(LaunchHints, domain) },
    { cudaLaunchAttributePreferredSharedMemoryCarveout, -1, 100, offsetof(LaunchHints, carveout) },
    { NVLINK_SCHEDULING, 0, 1, offsetof(LaunchHints, nvlink) },
};

static const Number *number_of(int id)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].id == id)
            return &numbers[i];
    return NULL;
}

LaunchHints hints_default(void)
{
    return (LaunchHints){ .domains = { .default_ = 0, .remote = 1 },
                          .sync_policy = cudaSyncPolicyAuto,
                          .carveout = -1 };
}

static cudaError_t set_number(LaunchHints *hints, const Number *number, const void *value)
{
    int wanted;

    memcpy(&wanted, value, sizeof wanted);
    if (number->id == cudaLaunchAttributePriority)
        wanted = clamp_priority(wanted);
    if (wanted < number->least || wanted > number->most)
        return cudaErrorInvalidValue;
    memcpy((char *) hints + number->at, &wanted, sizeof wanted);
    return cudaSuccess;
}

/* What misses the window cannot persist. */
static cudaError_t set_window(LaunchHints *hints, const struct cudaAccessPolicyWindow *window)
{
    const bool is_valid = window->hitRatio >= 0 && window->hitRatio <= 1 &&
                          (double) window->num_bytes <= rt.device.l2_bytes &&
                          (unsigned) window->hitProp <= cudaAccessPropertyPersisting &&
                          (unsigned) window->missProp <= cudaAccessPropertyStreaming;

    if (!is_valid)
        return cudaErrorInvalidValue;
    hints->window = *window;
    return cudaSuccess;
}

cudaError_t hints_set(LaunchHints *hints, int id, const cudaLaunchAttributeValue *value)
{
    const Number *number = number_of(id);

    if (number)
        return set_number(hints, number, value);
    switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow:
        return set_window(hints, &value->accessPolicyWindow);
    case cudaLaunchAttributeMemSyncDomainMap:
        hints->domains = value->memSyncDomainMap;
        return cudaSuccess;
    case PREFERRED_CLUSTER:
        memcpy(hints->preferred_cluster, value, sizeof hints->preferred_cluster);
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

cudaError_t hints_get(const LaunchHints *hints, int id, cudaLaunchAttributeValue *value)
{
    const Number *number = number_of(id);

    memset(value, 0, sizeof *value);
    if (number) {
        memcpy(value, (const char *) hints + number->at, sizeof(int));
        return cudaSuccess;
    }
    switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow:
        value->accessPolicyWindow = hints->window;
        return cudaSuccess;
    case cudaLaunchAttributeMemSyncDomainMap:
        value->memSyncDomainMap = hints->domains;
        return cudaSuccess;
    case PREFERRED_CLUSTER:
        memcpy(value, hints->preferred_cluster, sizeof hints->preferred_cluster);
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

/* ---- Streams ---- */

static const uint32_t of_streams =
    1u << cudaLaunchAttributeAccessPolicyWindow | 1u << cudaLaunchAttributeSynchronizationPolicy |
    1u << cudaLaunchAttributePriority | 1u << cudaLaunchAttributeMemSyncDomainMap |
    1u << cudaLaunchAttributeMemSyncDomain | 1u << NVLINK_SCHEDULING;

static bool is_one_of(uint32_t attributes, int id)
{
    return id >= 0 && id < 32 && attributes >> id & 1;
}

void hints_inherit(LaunchHints *hints, const LaunchHints *of_stream, uint32_t given)
{
    cudaLaunchAttributeValue value;

    for (int id = 0; id < 32; id++)
        if (is_one_of(of_streams & ~given, id)) {
            hints_get(of_stream, id, &value);
            hints_set(hints, id, &value);
        }
}

static cudaError_t set_of_stream(Stream *stream, int id, const cudaLaunchAttributeValue *value)
{
    if (!stream)
        return cudaErrorInvalidResourceHandle;
    if (!value || !is_one_of(of_streams, id))
        return cudaErrorInvalidValue;
    const cudaError_t error = hints_set(&stream->hints, id, value);
    stream->priority = stream->hints.priority;
    return error;
}

static cudaError_t get_of_stream(const Stream *stream, int id, cudaLaunchAttributeValue *value)
{
    if (!stream)
        return cudaErrorInvalidResourceHandle;
    if (!value || !is_one_of(of_streams, id))
        return cudaErrorInvalidValue;
    return hints_get(&stream->hints, id, value);
}

static cudaError_t copy_of_stream(Stream *to, const Stream *from)
{
    if (!to || !from)
        return cudaErrorInvalidResourceHandle;
    to->hints = from->hints;
    to->priority = from->priority;
    return cudaSuccess;
}

STREAM_CALL(cudaStreamSetAttribute, per_thread,
            (cudaStream_t stream, cudaStreamAttrID id, const cudaStreamAttrValue *value),
            set_of_stream(stream_of(stream, per_thread), (int) id, value))
STREAM_CALL(cudaStreamGetAttribute, per_thread,
            (cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue *value),
            get_of_stream(stream_of(stream, per_thread), (int) id, value))
STREAM_CALL(cudaStreamCopyAttributes, per_thread, (cudaStream_t to, cudaStream_t from),
            copy_of_stream(stream_of(to, per_thread), stream_of(from, per_thread)))

/* ---- Kernel nodes ---- */

static cudaError_t refuse_updatable(void)
{
    rt_finding(FINDING_UNKNOWN_CALL, true, "cudaGraphKernelNodeSetAttribute",
               "nodes that a kernel updates are not simulated; the call returns "
               "cudaErrorNotSupported");
    return cudaErrorNotSupported;
}

/* Changes a copy, so that a kernel that could not run stays as it was. */
static cudaError_t set_of_kernel(KernelWork *kernel, int id, const cudaLaunchAttributeValue *value)
{
    KernelWork changed = *kernel;
    cudaError_t error = cudaSuccess;

    if (id == cudaLaunchAttributeCooperative)
        changed.cooperative = value->cooperative;
    else if (id == cudaLaunchAttributeClusterDimension)
        error = launch_set_cluster(&changed, value);
    else if (id == cudaLaunchAttributeDeviceUpdatableKernelNode)
        error = value->deviceUpdatableKernelNode.deviceUpdatable ? refuse_updatable() : cudaSuccess;
    else if (id == cudaLaunchAttributeSynchronizationPolicy)
        error = cudaErrorInvalidValue;
    else
        error = hints_set(&changed.hints, id, value);
    if (!error)
        error = launch_check_work(&changed);
    if (!error)
        *kernel = changed;
    return error;
}

/* A kernel without clusters has clusters of one block. */
static void give_cluster(const KernelWork *kernel, cudaLaunchAttributeValue *value)
{
    const bool has = kernel->cluster[0];

    value->clusterDim.x = has ? (unsigned) kernel->cluster[0] : 1;
    value->clusterDim.y = has ? (unsigned) kernel->cluster[1] : 1;
    value->clusterDim.z = has ? (unsigned) kernel->cluster[2] : 1;
}

static cudaError_t get_of_kernel(const KernelWork *kernel, int id, cudaLaunchAttributeValue *value)
{
    const bool is_of_work = id == cudaLaunchAttributeCooperative ||
                            id == cudaLaunchAttributeClusterDimension ||
                            id == cudaLaunchAttributeDeviceUpdatableKernelNode;

    if (id == cudaLaunchAttributeSynchronizationPolicy)
        return cudaErrorInvalidValue;
    if (!is_of_work)
        return hints_get(&kernel->hints, id, value);
    memset(value, 0, sizeof *value);
    if (id == cudaLaunchAttributeCooperative)
        value->cooperative = kernel->cooperative;
    else if (id == cudaLaunchAttributeClusterDimension)
        give_cluster(kernel, value);
    return cudaSuccess;
}

static KernelWork *kernel_of(cudaGraphNode_t handle)
{
    Node *node = node_of(handle);

    return node && node->type == cudaGraphNodeTypeKernel ? &node->work->kernel : NULL;
}

static cudaError_t copy_of_kernel(KernelWork *to, const KernelWork *from)
{
    KernelWork changed;
    cudaError_t error;

    if (!to || !from)
        return cudaErrorInvalidValue;
    changed = *to;
    launch_keep_attributes(&changed, from);
    error = launch_check_work(&changed);
    if (!error)
        *to = changed;
    return error;
}

API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID id,
                                                const cudaKernelNodeAttrValue *value)
{
    return CALL(kernel_of(node) && value ? set_of_kernel(kernel_of(node), (int) id, value)
                                         : cudaErrorInvalidValue);
}

API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID id,
                                                cudaKernelNodeAttrValue *value)
{
    return CALL(kernel_of(node) && value ? get_of_kernel(kernel_of(node), (int) id, value)
                                         : cudaErrorInvalidValue);
}

API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
    return CALL(copy_of_kernel(kernel_of(to), kernel_of(from)));
}
