/* array_copy.c - copies with a CUDA array on one side or on both. */
#include "sim/runtime/array.h"

/* ---- Sides ---- */

/* A place in an array; `x` counts bytes. Returns false if there is no such array. */
static bool place_in(cudaArray_const_t handle, size_t x, size_t row, size_t slice,
                     ArrayPlace *place)
{
    const RtArray *array = array_of(handle);

    if (!array)
        return false;
    *place = (ArrayPlace){ .texels = array->texels, .x = x, .row = row, .slice = slice };
    return true;
}

/* ---- Rows ---- */

/* The bytes of one row that are to be copied, the rows, and the memory on the other side. */
typedef struct Rows {
    size_t x, row, pitch, width, height;
} Rows;

static cudaError_t rows_to_array(Stream *stream, const char *call, cudaArray_t array,
                                 const void *from, Rows rows, enum cudaMemcpyKind kind,
                                 bool blocking)
{
    CopyCall copy = { .call = call,
                      .from = from,
                      .from_pitch = rows.pitch,
                      .to_pitch = rows.width,
                      .width = rows.width,
                      .height = rows.height,
                      .depth = 1,
                      .kind = kind };

    return place_in(array, rows.x, rows.row, 0, &copy.to_array) ? copy_in(stream, &copy, blocking)
                                                                : cudaErrorInvalidValue;
}

static cudaError_t rows_from_array(Stream *stream, const char *call, void *to,
                                   cudaArray_const_t array, Rows rows, enum cudaMemcpyKind kind,
                                   bool blocking)
{
    CopyCall copy = { .call = call,
                      .to = to,
                      .to_pitch = rows.pitch,
                      .from_pitch = rows.width,
                      .width = rows.width,
                      .height = rows.height,
                      .depth = 1,
                      .kind = kind };

    return place_in(array, rows.x, rows.row, 0, &copy.from_array) ? copy_in(stream, &copy, blocking)
                                                                  : cudaErrorInvalidValue;
}

BLOCKING_CALL(cudaMemcpy2DToArray, per_thread,
              (cudaArray_t to, size_t x, size_t row, const void *from, size_t pitch, size_t width,
               size_t height, enum cudaMemcpyKind kind),
              rows_to_array(stream_of(0, per_thread), "cudaMemcpy2DToArray", to, from,
                            (Rows){ x, row, pitch, width, height }, kind, true))
STREAM_CALL(cudaMemcpy2DToArrayAsync, per_thread,
            (cudaArray_t to, size_t x, size_t row, const void *from, size_t pitch, size_t width,
             size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
            rows_to_array(stream_of(stream, per_thread), "cudaMemcpy2DToArrayAsync", to, from,
                          (Rows){ x, row, pitch, width, height }, kind, false))
BLOCKING_CALL(cudaMemcpy2DFromArray, per_thread,
              (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t row, size_t width,
               size_t height, enum cudaMemcpyKind kind),
              rows_from_array(stream_of(0, per_thread), "cudaMemcpy2DFromArray", to, from,
                              (Rows){ x, row, pitch, width, height }, kind, true))
STREAM_CALL(cudaMemcpy2DFromArrayAsync, per_thread,
            (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t row, size_t width,
             size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
            rows_from_array(stream_of(stream, per_thread), "cudaMemcpy2DFromArrayAsync", to, from,
                            (Rows){ x, row, pitch, width, height }, kind, false))

/* ---- A number of bytes, row after row ---- */

/* The rows of the next part of a flat copy: the rest of a row, whole rows, or part of a row. */
static Rows next_part(const Texels *texels, size_t x, size_t row, size_t bytes)
{
    const size_t row_bytes = texels->width * texel_bytes(texels);
    const size_t rest = x < row_bytes ? row_bytes - x : bytes;

    if (!x && bytes >= row_bytes)
        return (Rows){ 0, row, row_bytes, row_bytes, bytes / row_bytes };
    return (Rows){ x, row, rest < bytes ? rest : bytes, rest < bytes ? rest : bytes, 1 };
}

static cudaError_t bytes_to_array(Stream *stream, const char *call, cudaArray_t handle, size_t x,
                                  size_t row, const void *from, size_t bytes,
                                  enum cudaMemcpyKind kind, bool blocking)
{
    const RtArray *array = array_of(handle);
    cudaError_t error = array ? cudaSuccess : cudaErrorInvalidValue;

    while (bytes && !error) {
        const Rows part = next_part(&array->texels, x, row, bytes);
        error = rows_to_array(stream, call, handle, from, part, kind, blocking);
        from = (const char *) from + part.width * part.height;
        bytes -= part.width * part.height;
        row += part.height;
        x = 0;
    }
    return error;
}

static cudaError_t bytes_from_array(Stream *stream, const char *call, void *to,
                                    cudaArray_const_t handle, size_t x, size_t row, size_t bytes,
                                    enum cudaMemcpyKind kind, bool blocking)
{
    const RtArray *array = array_of(handle);
    cudaError_t error = array ? cudaSuccess : cudaErrorInvalidValue;

    while (bytes && !error) {
        const Rows part = next_part(&array->texels, x, row, bytes);
        error = rows_from_array(stream, call, to, handle, part, kind, blocking);
        to = (char *) to + part.width * part.height;
        bytes -= part.width * part.height;
        row += part.height;
        x = 0;
    }
    return error;
}

BLOCKING_CALL(cudaMemcpyToArray, per_thread,
              (cudaArray_t to, size_t x, size_t row, const void *from, size_t bytes,
               enum cudaMemcpyKind kind),
              bytes_to_array(stream_of(0, per_thread), "cudaMemcpyToArray", to, x, row, from, bytes,
                             kind, true))
STREAM_CALL(cudaMemcpyToArrayAsync, per_thread,
            (cudaArray_t to, size_t x, size_t row, const void *from, size_t bytes,
             enum cudaMemcpyKind kind, cudaStream_t stream),
            bytes_to_array(stream_of(stream, per_thread), "cudaMemcpyToArrayAsync", to, x, row,
                           from, bytes, kind, false))
BLOCKING_CALL(cudaMemcpyFromArray, per_thread,
              (void *to, cudaArray_const_t from, size_t x, size_t row, size_t bytes,
               enum cudaMemcpyKind kind),
              bytes_from_array(stream_of(0, per_thread), "cudaMemcpyFromArray", to, from, x, row,
                               bytes, kind, true))
STREAM_CALL(cudaMemcpyFromArrayAsync, per_thread,
            (void *to, cudaArray_const_t from, size_t x, size_t row, size_t bytes,
             enum cudaMemcpyKind kind, cudaStream_t stream),
            bytes_from_array(stream_of(stream, per_thread), "cudaMemcpyFromArrayAsync", to, from, x,
                             row, bytes, kind, false))

/* ---- Between arrays ---- */

static cudaError_t between(Stream *stream, cudaArray_t to, size_t to_x, size_t to_row,
                           cudaArray_const_t from, size_t from_x, size_t from_row, size_t width,
                           size_t height, enum cudaMemcpyKind kind)
{
    CopyCall copy = { .call = "cudaMemcpy2DArrayToArray",
                      .to_pitch = width,
                      .from_pitch = width,
                      .width = width,
                      .height = height,
                      .depth = 1,
                      .kind = kind };

    if (!place_in(to, to_x, to_row, 0, &copy.to_array) ||
        !place_in(from, from_x, from_row, 0, &copy.from_array))
        return cudaErrorInvalidValue;
    return copy_in(stream, &copy, true);
}

BLOCKING_CALL(cudaMemcpy2DArrayToArray, per_thread,
              (cudaArray_t to, size_t to_x, size_t to_row, cudaArray_const_t from, size_t from_x,
               size_t from_row, size_t width, size_t height, enum cudaMemcpyKind kind),
              between(stream_of(0, per_thread), to, to_x, to_row, from, from_x, from_row, width,
                      height, kind))

/* The bytes from a place to the end of an array. */
static size_t bytes_after(const ArrayPlace *place)
{
    const size_t row_bytes = place->texels.width * texel_bytes(&place->texels);

    return place->row < place->texels.height && place->x <= row_bytes
               ? (place->texels.height - place->row) * row_bytes - place->x
               : 0;
}

static size_t rest_of_row(const ArrayPlace *place)
{
    return place->texels.width * texel_bytes(&place->texels) - place->x;
}

static void advance(ArrayPlace *place, size_t bytes)
{
    place->x += bytes;
    if (!rest_of_row(place)) {
        place->x = 0;
        place->row++;
    }
}

/* Rows of the two arrays may have different lengths, so each part ends where one of them does. */
static cudaError_t bytes_between(Stream *stream, ArrayPlace to, ArrayPlace from, size_t bytes,
                                 enum cudaMemcpyKind kind)
{
    cudaError_t error = cudaSuccess;

    while (bytes && !error) {
        const size_t rest =
            rest_of_row(&to) < rest_of_row(&from) ? rest_of_row(&to) : rest_of_row(&from);
        const size_t part = rest < bytes ? rest : bytes;
        const CopyCall copy = { .call = "cudaMemcpyArrayToArray",
                                .to_array = to,
                                .from_array = from,
                                .to_pitch = part,
                                .from_pitch = part,
                                .width = part,
                                .height = 1,
                                .depth = 1,
                                .kind = kind };
        error = copy_in(stream, &copy, true);
        advance(&to, part);
        advance(&from, part);
        bytes -= part;
    }
    return error;
}

static cudaError_t flat_between(Stream *stream, cudaArray_t to, size_t to_x, size_t to_row,
                                cudaArray_const_t from, size_t from_x, size_t from_row,
                                size_t bytes, enum cudaMemcpyKind kind)
{
    ArrayPlace at, source;

    if (!place_in(to, to_x, to_row, 0, &at) || !place_in(from, from_x, from_row, 0, &source))
        return cudaErrorInvalidValue;
    if (bytes > bytes_after(&at) || bytes > bytes_after(&source)) {
        rt_finding(FINDING_OUT_OF_BOUNDS, true, "cudaMemcpyArrayToArray",
                   "copies %zu bytes, but the destination has %zu from that place on, and the "
                   "source %zu",
                   bytes, bytes_after(&at), bytes_after(&source));
        return cudaErrorInvalidValue;
    }
    if (at.x && !rest_of_row(&at))
        advance(&at, 0);
    if (source.x && !rest_of_row(&source))
        advance(&source, 0);
    return bytes_between(stream, at, source, bytes, kind);
}

BLOCKING_CALL(cudaMemcpyArrayToArray, per_thread,
              (cudaArray_t to, size_t to_x, size_t to_row, cudaArray_const_t from, size_t from_x,
               size_t from_row, size_t bytes, enum cudaMemcpyKind kind),
              flat_between(stream_of(0, per_thread), to, to_x, to_row, from, from_x, from_row,
                           bytes, kind))

/* ---- cudaMemcpy3D ---- */

static void *at_position(const struct cudaPitchedPtr *box, const struct cudaPos *position)
{
    const size_t slice = box->pitch * box->ysize;

    return (char *) box->ptr + position->z * slice + position->y * box->pitch + position->x;
}

/* Sizes and positions in an array count its elements, which those of both arrays must agree on. */
static cudaError_t unit_of(const struct cudaMemcpy3DParms *params, size_t *unit)
{
    const RtArray *to = array_of(params->dstArray), *from = array_of(params->srcArray);

    if ((params->dstArray && !to) || (params->srcArray && !from) || (!to && !params->dstPtr.ptr) ||
        (!from && !params->srcPtr.ptr))
        return cudaErrorInvalidValue;
    if (to && from && texel_bytes(&to->texels) != texel_bytes(&from->texels))
        return cudaErrorInvalidValue;
    *unit = to ? texel_bytes(&to->texels) : from ? texel_bytes(&from->texels) : 1;
    return cudaSuccess;
}

static void place_sides(const struct cudaMemcpy3DParms *params, size_t unit, CopyCall *copy)
{
    const struct cudaPos *to = &params->dstPos, *from = &params->srcPos;

    if (!place_in(params->dstArray, to->x * unit, to->y, to->z, &copy->to_array)) {
        copy->to = at_position(&params->dstPtr, to);
        copy->to_pitch = params->dstPtr.pitch;
        copy->to_slice = params->dstPtr.pitch * params->dstPtr.ysize;
    }
    if (!place_in(params->srcArray, from->x * unit, from->y, from->z, &copy->from_array)) {
        copy->from = at_position(&params->srcPtr, from);
        copy->from_pitch = params->srcPtr.pitch;
        copy->from_slice = params->srcPtr.pitch * params->srcPtr.ysize;
    }
}

cudaError_t copy_of_params(const struct cudaMemcpy3DParms *params, const char *call, CopyCall *copy)
{
    size_t unit, width;
    cudaError_t error = params ? unit_of(params, &unit) : cudaErrorInvalidValue;

    if (error || __builtin_mul_overflow(params->extent.width, unit, &width))
        return cudaErrorInvalidValue;
    *copy = (CopyCall){ .call = call,
                        .to_pitch = width,
                        .from_pitch = width,
                        .width = width,
                        .height = params->extent.height,
                        .depth = params->extent.depth,
                        .kind = params->kind };
    place_sides(params, unit, copy);
    return cudaSuccess;
}
