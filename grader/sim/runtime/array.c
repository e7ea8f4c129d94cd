/* array.c - CUDA arrays: cudaMallocArray and its relatives. */
#include "sim/runtime/array.h"

#include <stdlib.h>

/* ---- Formats ---- */

static bool kind_of(enum cudaChannelFormatKind kind, TexelKind *to)
{
    *to = kind == cudaChannelFormatKindSigned     ? TEXEL_SIGNED
          : kind == cudaChannelFormatKindUnsigned ? TEXEL_UNSIGNED
                                                  : TEXEL_FLOAT;
    return kind == cudaChannelFormatKindSigned || kind == cudaChannelFormatKindUnsigned ||
           kind == cudaChannelFormatKindFloat;
}

bool texels_of_format(const struct cudaChannelFormatDesc *format, Texels *texels)
{
    const int bits[] = { format->x, format->y, format->z, format->w };
    int channels = 0;

    while (channels < 4 && bits[channels])
        channels++;
    for (int i = 1; i < 4; i++)
        if (bits[i] != (i < channels ? bits[0] : 0))
            return false;
    if (channels != 1 && channels != 2 && channels != 4)
        return false;
    *texels = (Texels){ .channels = (uint8_t) channels, .channel_bytes = (uint8_t) (bits[0] / 8) };
    return kind_of(format->f, &texels->kind) &&
           (bits[0] == 32 || bits[0] == 16 || (bits[0] == 8 && texels->kind != TEXEL_FLOAT));
}

/* ---- Allocation ---- */

static RtArray *arrays;

RtArray *array_of(cudaArray_const_t handle)
{
    return handle_get(HANDLE_ARRAY, handle);
}

/* The largest sizes are those of devices since compute capability 6.0. */
static bool has_valid_size(const Texels *texels)
{
    static const size_t most[4][3] = {
        { 0 }, { 131072, 1, 1 }, { 131072, 65536, 1 }, { 16384, 16384, 16384 }
    };
    const size_t *limits = most[texels->dimensions];

    return texels->width && texels->width <= limits[0] && texels->height <= limits[1] &&
           texels->depth <= (texels->layered ? 2048 : limits[2]);
}

/* A size of 0 along an axis means that the array does not have it. */
static void set_size(Texels *texels, struct cudaExtent extent, bool layered)
{
    texels->width = extent.width;
    texels->height = extent.height ? extent.height : 1;
    texels->depth = extent.depth ? extent.depth : 1;
    texels->layered = layered;
    texels->dimensions = extent.depth && !layered ? 3 : extent.height ? 2 : 1;
    texels->tiled = texels->dimensions > 1;
    texels->pitch = texels->width * texel_bytes(texels);
}

static RtArray *new_array(const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
                          unsigned flags)
{
    RtArray *array = calloc(1, sizeof *array);

    if (!array)
        return NULL;
    *array = (RtArray){ .format = *format, .extent = extent, .flags = flags };
    if (texels_of_format(format, &array->texels)) {
        set_size(&array->texels, extent, flags & cudaArrayLayered);
        if (has_valid_size(&array->texels))
            return array;
    }
    free(array);
    return NULL;
}

static cudaError_t refuse_kind(const char *what)
{
    rt_finding(FINDING_UNKNOWN_CALL, true, NULL,
               "the program allocates %s, which is not simulated; the call returns "
               "cudaErrorNotSupported",
               what);
    return cudaErrorNotSupported;
}

cudaError_t array_allocate(RtArray **made, const struct cudaChannelFormatDesc *format,
                           struct cudaExtent extent, unsigned flags)
{
    const unsigned known = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather;
    void *memory;

    if (flags & cudaArrayCubemap)
        return refuse_kind("a cubemap");
    if (flags & ~known)
        return refuse_kind("a sparse or deferred array");
    if (flags & cudaArrayLayered && !extent.depth)
        return cudaErrorInvalidValue;
    Texels texels;
    if (!texels_of_format(format, &texels))
        return cudaErrorInvalidChannelDescriptor;
    RtArray *array = new_array(format, extent, flags);
    if (!array)
        return cudaErrorInvalidValue;
    cudaError_t error = allocate(&memory, texels_bytes(&array->texels), ARRAY_MEMORY);
    array->texels.base = error ? 0 : (uint64_t) (uintptr_t) memory;
    if (!error && !handle_set(HANDLE_ARRAY, array, array)) {
        memory_free(array->texels.base);
        error = cudaErrorMemoryAllocation;
    }
    if (error) {
        free(array);
        return error;
    }
    array->next = arrays;
    arrays = array;
    *made = array;
    return cudaSuccess;
}

static cudaError_t allocate_array(cudaArray_t *handle, const struct cudaChannelFormatDesc *format,
                                  struct cudaExtent extent, unsigned flags)
{
    RtArray *array;
    cudaError_t error;

    if (!handle || !format)
        return cudaErrorInvalidValue;
    error = array_allocate(&array, format, extent, flags);
    if (!error)
        *handle = (cudaArray_t) array;
    return error;
}

static void take_out(const RtArray *array)
{
    RtArray **at = &arrays;

    while (*at && *at != array)
        at = &(*at)->next;
    if (*at)
        *at = array->next;
}

void arrays_drop(void)
{
    mipmaps_drop();
    while (arrays) {
        RtArray *array = arrays;
        arrays = array->next;
        handle_set(HANDLE_ARRAY, array, NULL);
        free(array);
    }
    textures_drop();
}

void array_release(RtArray *array)
{
    memory_free(array->texels.base);
    handle_set(HANDLE_ARRAY, array, NULL);
    take_out(array);
    free(array);
}

/* All earlier work is executed first, as on a GPU. */
static cudaError_t free_array(cudaArray_t handle)
{
    RtArray *array = array_of(handle);
    cudaError_t error;

    if (!handle)
        return cudaSuccess;
    if (!array || array->is_level)
        return cudaErrorInvalidValue;
    error = any_capture_refuses("cudaFreeArray");
    if (error)
        return error;
    error = finish_all();
    array_release(array);
    return error;
}

API cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format,
                                size_t width, size_t height, unsigned flags)
{
    return MAY_WAIT(allocate_array(array, format, (struct cudaExtent){ width, height, 0 }, flags));
}

API cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format,
                                  struct cudaExtent extent, unsigned flags)
{
    return MAY_WAIT(allocate_array(array, format, extent, flags));
}

API cudaError_t cudaFreeArray(cudaArray_t array)
{
    return CALL(free_array(array));
}

/* ---- Queries ---- */

static cudaError_t describe(struct cudaChannelFormatDesc *format, struct cudaExtent *extent,
                            unsigned *flags, cudaArray_const_t handle)
{
    const RtArray *array = array_of(handle);

    if (!array)
        return cudaErrorInvalidValue;
    if (format)
        *format = array->format;
    if (extent)
        *extent = array->extent;
    if (flags)
        *flags = array->flags;
    return cudaSuccess;
}

API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent,
                                 unsigned *flags, cudaArray_t array)
{
    return CALL(describe(format, extent, flags, array));
}

API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *format, cudaArray_const_t array)
{
    return CALL(format ? describe(format, NULL, NULL, array) : cudaErrorInvalidValue);
}
