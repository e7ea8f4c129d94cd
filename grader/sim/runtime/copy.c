/* copy.c - copies, including those of symbols.
 *
 * Copies are executed by CUDA's rules. A blocking copy is executed before the call returns, except
 * from device to device. An asynchronous copy from pageable host memory reads it immediately, and
 * one to pageable memory waits. A copy to or from pinned memory is executed when something waits
 * for it, with the contents at that time.
 */
#include "sim/runtime/array.h"
#include "sim/runtime/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- Checks of addresses ---- */

static cudaError_t refuse_host_side(const char *call, const char *which, const void *at)
{
    if (!at) {
        rt_finding(FINDING_HOST_POINTER, true, call,
                   "the %s is a null pointer. Did its allocation succeed?", which);
        return cudaErrorInvalidValue;
    }
    rt_finding(
        FINDING_HOST_POINTER, true, call,
        "the %s %p is host memory, but the kind of the copy (cudaMemcpyHostToDevice ...) says "
        "otherwise. Check the order of the arguments: first the destination, then the source",
        which, at);
    return cudaErrorInvalidValue;
}

/* A real GPU copies without an error if it knows the address (error_codes.expected). */
static void report_device_side(const char *call, const char *which, const void *at)
{
    rt_finding(FINDING_HOST_POINTER, false, call,
               "the %s %p is device memory, but the kind of the copy (cudaMemcpyHostToDevice ...) "
               "says otherwise; the copy is made anyway",
               which, at);
}

static cudaError_t refuse_range(const char *call, const char *which, const void *at, size_t bytes)
{
    char where[200];

    memory_describe((uint64_t) (uintptr_t) at, bytes, where, sizeof where);
    const Allocation *a = memory_nearest((uint64_t) (uintptr_t) at);
    if (a && !a->freed && a->label && (uint64_t) (uintptr_t) at >= a->base)
        rt_finding(FINDING_OUT_OF_BOUNDS, true, call,
                   "copies %zu bytes %s byte %llu of `%.60s`, which has %zu bytes", bytes,
                   strcmp(which, "source") ? "to" : "from",
                   (unsigned long long) ((uint64_t) (uintptr_t) at - a->base), a->label, a->bytes);
    else
        rt_finding(FINDING_OUT_OF_BOUNDS, true, call, "%zu bytes of the %s at %p: %s", bytes, which,
                   at, where);
    return cudaErrorInvalidValue;
}

static bool is_hosts(uint64_t address)
{
    return memory_address_kind(address) == ADDRESS_HOST || is_host_again(address);
}

/* Checks only the first and the last byte: a range that is far too large ends in other memory. */
static bool is_host_range(uint64_t address, size_t bytes)
{
    return bytes - 1 <= UINT64_MAX - address && is_hosts(address) && is_hosts(address + bytes - 1);
}

/* Memory of a graph is live only during its launches, but work for it is made before. */
static bool is_of_graph(uint64_t address, size_t bytes)
{
    const Allocation *a = memory_nearest(address);

    return a && a->reserved && address - a->base < a->bytes &&
           bytes <= a->bytes - (address - a->base);
}

cudaError_t check_side(const char *call, const char *which, const void *at, size_t bytes,
                       bool on_device)
{
    const uint64_t address = (uint64_t) (uintptr_t) at;
    const Allocation *allocation = memory_find(address);

    if (on_device && !allocation && !is_device_side(address))
        return refuse_host_side(call, which, at);
    if (on_device && is_of_graph(address, bytes))
        return cudaSuccess;
    if (on_device && !memory_range(address, bytes, false))
        return refuse_range(call, which, at, bytes);
    if (!on_device && !allocation && (!bytes || !is_host_range(address, bytes)))
        return refuse_range(call, which, at, bytes);
    return cudaSuccess;
}

bool range_bytes(size_t *sum, size_t height, size_t pitch, size_t width)
{
    return !__builtin_mul_overflow(height - 1, pitch, sum) &&
           !__builtin_add_overflow(*sum, width, sum);
}

/* The bytes from the first to the last one of all slices. */
static bool add_slices(size_t *sum, const CopyCall *copy, size_t slice, size_t pitch)
{
    return range_bytes(sum, copy->height, pitch, copy->width) &&
           range_bytes(sum, copy->depth, slice, *sum);
}

static bool fits(size_t at, size_t count, size_t size)
{
    return at <= size && count <= size - at;
}

static cudaError_t check_array(const CopyCall *copy, const char *which, const ArrayPlace *place)
{
    const Texels *texels = &place->texels;
    const size_t row_bytes = texels->width * texel_bytes(texels);

    if (fits(place->x, copy->width, row_bytes) && fits(place->row, copy->height, texels->height) &&
        fits(place->slice, copy->depth, texels->depth))
        return cudaSuccess;
    rt_finding(FINDING_OUT_OF_BOUNDS, true, copy->call,
               "copies %zu x %zu x %zu (bytes, rows, slices) at (%zu, %zu, %zu) of the %s, an "
               "array of %zu x %zu x %zu. Widths count bytes, except in cudaMemcpy3D",
               copy->width, copy->height, copy->depth, place->x, place->row, place->slice, which,
               row_bytes, texels->height, texels->depth);
    return cudaErrorInvalidValue;
}

static cudaError_t check_copy(const CopyCall *copy, bool to_device, bool from_device)
{
    size_t to_bytes, from_bytes;
    cudaError_t error;

    if (!add_slices(&to_bytes, copy, copy->to_slice, copy->to_pitch) ||
        !add_slices(&from_bytes, copy, copy->from_slice, copy->from_pitch))
        return cudaErrorInvalidValue;
    error = is_array(&copy->to_array)
                ? check_array(copy, "destination", &copy->to_array)
                : check_side(copy->call, "destination", copy->to, to_bytes, to_device);
    if (!error)
        error = is_array(&copy->from_array)
                    ? check_array(copy, "source", &copy->from_array)
                    : check_side(copy->call, "source", copy->from, from_bytes, from_device);
    return error;
}

/* ---- From call to work ---- */

/* `kind`: the copy kind for which this side is on the device and the other side is not. */
static bool on_device_side(const CopyCall *copy, const char *which, uint64_t address,
                           enum cudaMemcpyKind kind)
{
    const bool said = copy->kind == kind || copy->kind == cudaMemcpyDeviceToDevice;
    const bool known = is_device_side(address);
    const Allocation *allocation = memory_find(address);

    if (copy->kind == cudaMemcpyDefault)
        return known;
    if (allocation &&
        allocation->kind == HOST_PINNED) /* the driver ignores `kind` for pinned memory */
        return false;
    if (said || !known || is_pinned(address))
        return said;
    report_device_side(copy->call, which, (const void *) (uintptr_t) address);
    return true;
}

static cudaError_t new_work(const CopyCall *copy, Work **work)
{
    const bool to_array = is_array(&copy->to_array), from_array = is_array(&copy->from_array);
    const uint64_t to = to_array ? copy->to_array.texels.base : (uint64_t) (uintptr_t) copy->to;
    const uint64_t from =
        from_array ? copy->from_array.texels.base : (uint64_t) (uintptr_t) copy->from;
    const bool to_device =
        to_array || on_device_side(copy, "destination", to, cudaMemcpyHostToDevice);
    const bool from_device =
        from_array || on_device_side(copy, "source", from, cudaMemcpyDeviceToHost);
    cudaError_t error = check_copy(copy, to_device, from_device);

    if (error)
        return error;
    *work = work_new(WORK_COPY);
    if (!*work)
        return cudaErrorMemoryAllocation;
    (*work)->copy = (CopyWork){ .to = to,
                                .from = from,
                                .to_array = copy->to_array,
                                .from_array = copy->from_array,
                                .to_device = to_device,
                                .from_device = from_device,
                                .pinned = is_pinned(to_device ? from : to),
                                .to_pitch = copy->to_pitch,
                                .from_pitch = copy->from_pitch,
                                .to_slice = copy->to_slice,
                                .from_slice = copy->from_slice,
                                .width = copy->width,
                                .height = copy->height,
                                .depth = copy->depth };
    return cudaSuccess;
}

cudaError_t copy_stage(CopyWork *copy)
{
    char *bytes = malloc(copy->width * copy->height * copy->depth), *at = bytes;

    if (!bytes)
        return cudaErrorMemoryAllocation;
    for (size_t slice = 0; slice < copy->depth; slice++)
        for (size_t row = 0; row < copy->height; row++, at += copy->width)
            memcpy(at,
                   (const char *) (uintptr_t) (copy->from + slice * copy->from_slice +
                                               row * copy->from_pitch),
                   copy->width);
    copy->staged = bytes;
    return cudaSuccess;
}

static bool must_wait(const CopyWork *copy, bool blocking)
{
    if (blocking)
        return !(copy->to_device && copy->from_device);
    if (copy->to_device)
        return false;
    return !copy->from_device || !is_pinned(copy->to);
}

static cudaError_t issue_copy(Stream *stream, Work *work, bool blocking)
{
    const bool captured = stream->capture, wait = must_wait(&work->copy, blocking);
    const bool pageable = !work->copy.from_device && !is_pinned(work->copy.from);
    cudaError_t error = cudaSuccess;

    if (!captured && !wait && pageable) /* it is read during the call */
        error = copy_stage(&work->copy);
    if (error) {
        work_free(work);
        return error;
    }
    error = issue(stream, work);
    return error || captured || !wait ? error : finish(stream, rt.numbers);
}

static cudaError_t check_shape(const CopyCall *copy)
{
    if ((unsigned) copy->kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if ((is_array(&copy->to_array) && copy->kind != cudaMemcpyDefault &&
         copy->kind != cudaMemcpyHostToDevice && copy->kind != cudaMemcpyDeviceToDevice) ||
        (is_array(&copy->from_array) && copy->kind != cudaMemcpyDefault &&
         copy->kind != cudaMemcpyDeviceToHost && copy->kind != cudaMemcpyDeviceToDevice))
        return cudaErrorInvalidMemcpyDirection;
    if (copy->height > 1 && (copy->width > copy->to_pitch || copy->width > copy->from_pitch))
        return cudaErrorInvalidPitchValue;
    return cudaSuccess;
}

cudaError_t copy_in(Stream *stream, const CopyCall *copy, bool blocking)
{
    Work *work;
    cudaError_t error;

    if (!stream)
        return cudaErrorInvalidResourceHandle;
    error = check_shape(copy);
    if (!error)
        error = legacy_refuses(stream);
    if (error)
        return error;
    if (!copy->width || !copy->height || !copy->depth)
        return cudaSuccess;
    error = new_work(copy, &work);
    return error ? error : issue_copy(stream, work, blocking);
}

/* ---- cudaMemcpy ---- */

cudaError_t copy_bytes(Stream *stream, const char *call, void *to, const void *from, size_t bytes,
                       enum cudaMemcpyKind kind, bool blocking)
{
    return copy_in(stream,
                   &(CopyCall){ .call = call,
                                .to = to,
                                .from = from,
                                .to_pitch = bytes,
                                .from_pitch = bytes,
                                .width = bytes,
                                .height = 1,
                                .depth = 1,
                                .kind = kind },
                   blocking);
}

static cudaError_t copy_rows(Stream *stream, const char *call, void *to, size_t to_pitch,
                             const void *from, size_t from_pitch, size_t width, size_t height,
                             enum cudaMemcpyKind kind, bool blocking)
{
    return copy_in(stream,
                   &(CopyCall){ .call = call,
                                .to = to,
                                .from = from,
                                .to_pitch = to_pitch,
                                .from_pitch = from_pitch,
                                .width = width,
                                .height = height,
                                .depth = 1,
                                .kind = kind },
                   blocking);
}

BLOCKING_CALL(cudaMemcpy, per_thread,
              (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind),
              copy_bytes(stream_of(0, per_thread), "cudaMemcpy", to, from, bytes, kind, true))
STREAM_CALL(cudaMemcpyAsync, per_thread,
            (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
             cudaStream_t stream),
            copy_bytes(stream_of(stream, per_thread), "cudaMemcpyAsync", to, from, bytes, kind,
                       false))
BLOCKING_CALL(cudaMemcpy2D, per_thread,
              (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
               size_t height, enum cudaMemcpyKind kind),
              copy_rows(stream_of(0, per_thread), "cudaMemcpy2D", to, to_pitch, from, from_pitch,
                        width, height, kind, true))
STREAM_CALL(cudaMemcpy2DAsync, per_thread,
            (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
             size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
            copy_rows(stream_of(stream, per_thread), "cudaMemcpy2DAsync", to, to_pitch, from,
                      from_pitch, width, height, kind, false))

/* ---- cudaMemcpy3D ---- */

static cudaError_t copy_box(Stream *stream, const struct cudaMemcpy3DParms *params,
                            const char *call, bool blocking)
{
    CopyCall copy;
    cudaError_t error = copy_of_params(params, call, &copy);

    return error ? error : copy_in(stream, &copy, blocking);
}

cudaError_t copy_work(const CopyCall *copy, Work **work)
{
    cudaError_t error = check_shape(copy);

    if (!error && (!copy->width || !copy->height || !copy->depth))
        error = cudaErrorInvalidValue;
    return error ? error : new_work(copy, work);
}

cudaError_t work_of_copy(const struct cudaMemcpy3DParms *params, const char *call, Work **work)
{
    CopyCall copy;
    cudaError_t error = copy_of_params(params, call, &copy);

    return error ? error : copy_work(&copy, work);
}

BLOCKING_CALL(cudaMemcpy3D, per_thread, (const struct cudaMemcpy3DParms *params),
              copy_box(stream_of(0, per_thread), params, "cudaMemcpy3D", true))
STREAM_CALL(cudaMemcpy3DAsync, per_thread,
            (const struct cudaMemcpy3DParms *params, cudaStream_t stream),
            copy_box(stream_of(stream, per_thread), params, "cudaMemcpy3DAsync", false))

/* ---- Symbols ---- */

cudaError_t symbol_at(const void *symbol, size_t bytes, size_t offset, void **pointer)
{
    RtVariable *variable;
    uint64_t address;
    cudaError_t error = variable_find(symbol, &variable, &address);

    if (error)
        return error;
    if (offset > variable->bytes || bytes > variable->bytes - offset) {
        rt_finding(FINDING_OUT_OF_BOUNDS, true, variable->name,
                   "a copy of %zu bytes at offset %zu, but the variable has only %zu bytes", bytes,
                   offset, variable->bytes);
        return cudaErrorInvalidValue;
    }
    *pointer = (void *) (uintptr_t) (address + offset);
    return cudaSuccess;
}

static cudaError_t to_symbol(Stream *stream, const void *symbol, const void *from, size_t bytes,
                             size_t offset, enum cudaMemcpyKind kind, bool blocking)
{
    void *to;
    cudaError_t error = symbol_at(symbol, bytes, offset, &to);

    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
    return error ? error
                 : copy_bytes(stream, "cudaMemcpyToSymbol", to, from, bytes, kind, blocking);
}

static cudaError_t from_symbol(Stream *stream, void *to, const void *symbol, size_t bytes,
                               size_t offset, enum cudaMemcpyKind kind, bool blocking)
{
    void *from;
    cudaError_t error = symbol_at(symbol, bytes, offset, &from);

    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
    return error ? error
                 : copy_bytes(stream, "cudaMemcpyFromSymbol", to, from, bytes, kind, blocking);
}

BLOCKING_CALL(cudaMemcpyToSymbol, per_thread,
              (const void *symbol, const void *from, size_t bytes, size_t offset,
               enum cudaMemcpyKind kind),
              to_symbol(stream_of(0, per_thread), symbol, from, bytes, offset, kind, true))
STREAM_CALL(cudaMemcpyToSymbolAsync, per_thread,
            (const void *symbol, const void *from, size_t bytes, size_t offset,
             enum cudaMemcpyKind kind, cudaStream_t stream),
            to_symbol(stream_of(stream, per_thread), symbol, from, bytes, offset, kind, false))
BLOCKING_CALL(cudaMemcpyFromSymbol, per_thread,
              (void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind),
              from_symbol(stream_of(0, per_thread), to, symbol, bytes, offset, kind, true))
STREAM_CALL(cudaMemcpyFromSymbolAsync, per_thread,
            (void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
             cudaStream_t stream),
            from_symbol(stream_of(stream, per_thread), to, symbol, bytes, offset, kind, false))

static cudaError_t symbol_place(void **pointer, size_t *bytes, const void *symbol)
{
    RtVariable *variable;
    uint64_t address;
    cudaError_t error =
        pointer || bytes ? variable_find(symbol, &variable, &address) : cudaErrorInvalidValue;

    if (error)
        return error;
    if (pointer)
        *pointer = (void *) (uintptr_t) address;
    if (bytes)
        *bytes = variable->bytes;
    return cudaSuccess;
}

API cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol)
{
    return CALL(symbol_place(pointer, NULL, symbol));
}

API cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    return CALL(symbol_place(NULL, bytes, symbol));
}
