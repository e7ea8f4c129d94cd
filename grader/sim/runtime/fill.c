/* fill.c - cudaMemset and its relatives. */
#include "sim/runtime/graph.h"

#include <string.h>

/* ---- From call to work ---- */

/* A fill of rows; `unit`: bytes of the value, 1, 2 or 4. */
static cudaError_t new_work(const char *call, const struct cudaMemsetParams *fill, Work **work)
{
    const size_t unit = fill->elementSize;
    size_t width, bytes;
    cudaError_t error;

    if ((unit != 1 && unit != 2 && unit != 4) ||
        __builtin_mul_overflow(fill->width, unit, &width) ||
        (fill->height > 1 && fill->pitch < width) ||
        !range_bytes(&bytes, fill->height, fill->pitch, width))
        return cudaErrorInvalidValue;
    error = check_side(call, "destination", fill->dst, bytes, true);
    if (error)
        return error;
    *work = work_new(WORK_FILL);
    if (!*work)
        return cudaErrorMemoryAllocation;
    (*work)->fill = (FillWork){ .to = (uint64_t) (uintptr_t) fill->dst,
                                .pitch = fill->pitch,
                                .width = width,
                                .height = fill->height,
                                .value_bytes = (int) unit };
    memcpy((*work)->fill.value, &fill->value, unit); /* little-endian, like the GPU */
    return cudaSuccess;
}

cudaError_t work_of_fill(const struct cudaMemsetParams *params, Work **work)
{
    return params->width && params->height ? new_work("a memset node", params, work)
                                           : cudaErrorInvalidValue;
}

cudaError_t fill_with(Stream *stream, const char *call, const struct cudaMemsetParams *fill,
                      bool blocking)
{
    Work *work;
    cudaError_t error;

    if (!stream)
        return cudaErrorInvalidResourceHandle;
    error = legacy_refuses(stream);
    if (error)
        return error;
    if (!fill->width || !fill->height)
        return cudaSuccess;
    error = new_work(call, fill, &work);
    if (error)
        return error;
    error = issue(stream, work);
    return error || !blocking || is_device_side((uint64_t) (uintptr_t) fill->dst)
               ? error
               : finish(stream, rt.numbers);
}

static cudaError_t fill_in(Stream *stream, const char *call, void *to, size_t pitch, int value,
                           size_t width, size_t height, bool blocking)
{
    return fill_with(stream, call,
                     &(struct cudaMemsetParams){ .dst = to,
                                                 .pitch = pitch,
                                                 .value = (unsigned char) value,
                                                 .elementSize = 1,
                                                 .width = width,
                                                 .height = height },
                     blocking);
}

static cudaError_t fill_box(Stream *stream, const char *call, struct cudaPitchedPtr box, int value,
                            struct cudaExtent extent, bool blocking)
{
    cudaError_t error = stream ? cudaSuccess : cudaErrorInvalidResourceHandle;

    for (size_t slice = 0; slice < extent.depth && !error; slice++)
        error = fill_in(stream, call, (char *) box.ptr + slice * box.pitch * box.ysize, box.pitch,
                        value, extent.width, extent.height, blocking);
    return error;
}

/* ---- The calls ---- */

BLOCKING_CALL(cudaMemset, per_thread, (void *to, int value, size_t bytes),
              fill_in(stream_of(0, per_thread), "cudaMemset", to, bytes, value, bytes, 1, true))
STREAM_CALL(cudaMemsetAsync, per_thread, (void *to, int value, size_t bytes, cudaStream_t stream),
            fill_in(stream_of(stream, per_thread), "cudaMemsetAsync", to, bytes, value, bytes, 1,
                    false))
BLOCKING_CALL(cudaMemset2D, per_thread,
              (void *to, size_t pitch, int value, size_t width, size_t height),
              fill_in(stream_of(0, per_thread), "cudaMemset2D", to, pitch, value, width, height,
                      true))
STREAM_CALL(cudaMemset2DAsync, per_thread,
            (void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
            fill_in(stream_of(stream, per_thread), "cudaMemset2DAsync", to, pitch, value, width,
                    height, false))
BLOCKING_CALL(cudaMemset3D, per_thread,
              (struct cudaPitchedPtr box, int value, struct cudaExtent extent),
              fill_box(stream_of(0, per_thread), "cudaMemset3D", box, value, extent, true))
STREAM_CALL(cudaMemset3DAsync, per_thread,
            (struct cudaPitchedPtr box, int value, struct cudaExtent extent, cudaStream_t stream),
            fill_box(stream_of(stream, per_thread), "cudaMemset3DAsync", box, value, extent, false))
