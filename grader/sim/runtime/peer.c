/* peer.c - questions about other devices, and copies between devices. There is one device, so there
 * are no peers, and a copy between devices is a copy within it. */
#include "sim/runtime/array.h"
#include "sim/runtime/graph.h"

#include <stdio.h>
#include <string.h>

static bool is_device(int device)
{
    return !device;
}

/* ---- Access to peers ---- */

static cudaError_t can_access(int *can, int device, int peer)
{
    if (!is_device(device) || !is_device(peer))
        return cudaErrorInvalidDevice;
    if (!can)
        return cudaErrorInvalidValue;
    *can = 0;
    return cudaSuccess;
}

/* A device cannot be its own peer. */
static cudaError_t enable(int peer, unsigned flags)
{
    if (!is_device(peer))
        return cudaErrorInvalidDevice;
    return flags ? cudaErrorInvalidValue : cudaErrorPeerAccessUnsupported;
}

static cudaError_t disable(int peer)
{
    return is_device(peer) ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice;
}

/* No two devices have a link. */
static cudaError_t link_attribute(const int *value, int attribute)
{
    if (!value || attribute < cudaDevP2PAttrPerformanceRank ||
        attribute > cudaDevP2PAttrCudaArrayAccessSupported + 1)
        return cudaErrorInvalidValue;
    return cudaErrorInvalidDevice;
}

API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    return CALL(can_access(can, device, peer));
}

API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    return CALL(enable(peer, flags));
}

API cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    return CALL(disable(peer));
}

API cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
                                          int to)
{
    (void) from, (void) to;
    return CALL(link_attribute(value, (int) attribute));
}

/* ---- The place of the device ---- */

static cudaError_t bus_id(char *text, int size, int device)
{
    if (!text || size < 13)
        return cudaErrorInvalidValue;
    snprintf(text, (size_t) size, "0000:00:00.0");
    return is_device(device) ? cudaSuccess : cudaErrorInvalidDevice;
}

typedef struct BusId {
    unsigned domain, bus, device, function;
} BusId;

/* domain:bus:device.function, domain:bus:device or bus:device.function */
static bool read_bus_id(const char *text, BusId *id)
{
    const char *const forms[] = { "%8x:%4x:%4x.%4x%n", "%8x:%4x:%4x%n", "%4x:%4x.%4x%n" };
    int end = 0;

    *id = (BusId){ 0 };
    if (sscanf(text, forms[0], &id->domain, &id->bus, &id->device, &id->function, &end) == 4 &&
        !text[end])
        return true;
    *id = (BusId){ 0 };
    if (sscanf(text, forms[1], &id->domain, &id->bus, &id->device, &end) == 3 && !text[end])
        return true;
    *id = (BusId){ 0 };
    return sscanf(text, forms[2], &id->bus, &id->device, &id->function, &end) == 3 && !text[end];
}

static cudaError_t device_at(int *device, const char *text)
{
    BusId id;

    if (!device || !text || !read_bus_id(text, &id))
        return cudaErrorInvalidValue;
    if (id.domain || id.bus || id.device || id.function)
        return cudaErrorInvalidDevice;
    *device = 0;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    return CALL(bus_id(text, size, device));
}

API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    return CALL(device_at(device, text));
}

/* ---- Copies ---- */

static cudaError_t copy_between(Stream *stream, const char *call, void *to, int to_device,
                                const void *from, int from_device, size_t bytes, bool blocking)
{
    if (!is_device(to_device) || !is_device(from_device))
        return cudaErrorInvalidDevice;
    return copy_bytes(stream, call, to, from, bytes, cudaMemcpyDeviceToDevice, blocking);
}

API cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                               size_t bytes)
{
    return CALL(
        copy_between(rt.streams, "cudaMemcpyPeer", to, to_device, from, from_device, bytes, true));
}

API cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                    size_t bytes, cudaStream_t stream)
{
    return CALL(copy_between(stream_of(stream, false), "cudaMemcpyPeerAsync", to, to_device, from,
                             from_device, bytes, false));
}

static cudaError_t copy_box(Stream *stream, const char *call,
                            const struct cudaMemcpy3DPeerParms *peers, bool blocking)
{
    struct cudaMemcpy3DParms params;
    CopyCall copy;
    cudaError_t error;

    if (!peers)
        return cudaErrorInvalidValue;
    if (!is_device(peers->srcDevice) || !is_device(peers->dstDevice))
        return cudaErrorInvalidDevice;
    params = (struct cudaMemcpy3DParms){ .srcArray = peers->srcArray,
                                         .srcPos = peers->srcPos,
                                         .srcPtr = peers->srcPtr,
                                         .dstArray = peers->dstArray,
                                         .dstPos = peers->dstPos,
                                         .dstPtr = peers->dstPtr,
                                         .extent = peers->extent,
                                         .kind = cudaMemcpyDefault };
    error = copy_of_params(&params, call, &copy);
    return error ? error : copy_in(stream, &copy, blocking);
}

BLOCKING_CALL(cudaMemcpy3DPeer, per_thread, (const struct cudaMemcpy3DPeerParms *params),
              copy_box(stream_of(0, per_thread), "cudaMemcpy3DPeer", params, true))
STREAM_CALL(cudaMemcpy3DPeerAsync, per_thread,
            (const struct cudaMemcpy3DPeerParms *params, cudaStream_t stream),
            copy_box(stream_of(stream, per_thread), "cudaMemcpy3DPeerAsync", params, false))
