/* texture.c - texture and surface objects: what kernels read through, and how. */
#include "sim/runtime/array.h"

#include <stdlib.h>
#include <string.h>

/* ---- Resources ---- */

enum { POINTER_ALIGN = 512, PITCH_ALIGN = 32, MOST_LINEAR = 1 << 28 };

static cudaError_t refuse_memory(const char *call, FindingKind kind, const void *at,
                                 const char *what)
{
    rt_finding(kind, true, call, "the memory at %p %s", at, what);
    return cudaErrorInvalidValue;
}

/* Whether the bytes are device memory and begin where a texture may begin. */
static cudaError_t check_memory(const char *call, const void *at, size_t bytes)
{
    const uint64_t address = (uint64_t) (uintptr_t) at;

    if (!bytes || !memory_range(address, bytes, false))
        return refuse_memory(call, FINDING_OUT_OF_BOUNDS, at,
                             "is not within one allocation of the GPU, for the size given");
    if (address % POINTER_ALIGN)
        return refuse_memory(call, FINDING_MISALIGNED, at,
                             "does not begin at a multiple of 512 bytes (textureAlignment)");
    return cudaSuccess;
}

static cudaError_t take_linear(const char *call, const struct cudaResourceDesc *resource,
                               Texels *texels)
{
    if (!texels_of_format(&resource->res.linear.desc, texels))
        return cudaErrorInvalidChannelDescriptor;
    texels->base = (uint64_t) (uintptr_t) resource->res.linear.devPtr;
    texels->width = resource->res.linear.sizeInBytes / texel_bytes(texels);
    texels->height = texels->depth = 1;
    texels->dimensions = 1;
    texels->pitch = resource->res.linear.sizeInBytes;
    if (texels->width > MOST_LINEAR)
        return cudaErrorInvalidValue;
    return check_memory(call, resource->res.linear.devPtr, resource->res.linear.sizeInBytes);
}

static cudaError_t take_rows(const char *call, const struct cudaResourceDesc *resource,
                             Texels *texels)
{
    const __typeof__(resource->res.pitch2D) *rows = &resource->res.pitch2D;
    size_t bytes;

    if (!texels_of_format(&rows->desc, texels))
        return cudaErrorInvalidChannelDescriptor;
    texels->base = (uint64_t) (uintptr_t) rows->devPtr;
    texels->width = rows->width;
    texels->height = rows->height;
    texels->depth = 1;
    texels->dimensions = 2;
    texels->pitch = rows->pitchInBytes;
    if (!rows->width || !rows->height || rows->width > 131072 || rows->height > 65536 ||
        rows->width * texel_bytes(texels) > rows->pitchInBytes ||
        __builtin_mul_overflow(rows->height - 1, rows->pitchInBytes, &bytes))
        return cudaErrorInvalidValue;
    if (rows->pitchInBytes % PITCH_ALIGN)
        return refuse_memory(call, FINDING_MISALIGNED, rows->devPtr,
                             "has a pitch that is not a multiple of 32 bytes "
                             "(texturePitchAlignment): allocate it with cudaMallocPitch");
    return check_memory(call, rows->devPtr, bytes + rows->width * texel_bytes(texels));
}

static cudaError_t take_resource(const char *call, const struct cudaResourceDesc *resource,
                                 Texels *texels)
{
    const RtArray *array;
    const Mipmap *mipmap;

    switch (resource->resType) {
    case cudaResourceTypeArray:
        array = array_of(resource->res.array.array);
        if (array)
            *texels = array->texels;
        return array ? cudaSuccess : cudaErrorInvalidValue;
    case cudaResourceTypeLinear:
        return take_linear(call, resource, texels);
    case cudaResourceTypePitch2D:
        return take_rows(call, resource, texels);
    case cudaResourceTypeMipmappedArray:
        mipmap = mipmap_of(resource->res.mipmap.mipmap);
        if (mipmap)
            *texels = mipmap->levels[0]->texels;
        return mipmap ? cudaSuccess : cudaErrorInvalidValue;
    default:
        return cudaErrorInvalidValue;
    }
}

/* ---- Textures ---- */

/* What the program gave, to be read back. */
typedef struct Descriptions {
    struct cudaResourceDesc resource;
    struct cudaTextureDesc texture;
} Descriptions;

static const void *key_of(unsigned long long object)
{
    return (const void *) (uintptr_t) object;
}

static AddressMode mode_of(enum cudaTextureAddressMode mode)
{
    return mode == cudaAddressModeWrap     ? MODE_WRAP
           : mode == cudaAddressModeMirror ? MODE_MIRROR
           : mode == cudaAddressModeBorder ? MODE_BORDER
                                           : MODE_CLAMP;
}

/* A linear filter needs floats; only integers of 8 and 16 bits can be read as floats from 0 to 1.
 */
static cudaError_t check_reading(const Texture *texture)
{
    const Texels *texels = &texture->texels;
    const bool is_float = texels->kind == TEXEL_FLOAT;

    if (texture->reads_as_floats && !is_float && texels->channel_bytes == 4)
        return cudaErrorInvalidNormSetting;
    if ((texture->linear || texture->level_linear) && !is_float && !texture->reads_as_floats)
        return cudaErrorInvalidFilterSetting;
    return cudaSuccess;
}

/* Memory without rows has no filter and no address modes: what is outside reads as 0. */
static void read_memory_plainly(Texture *texture)
{
    texture->linear = texture->normalised = false;
    texture->address[0] = MODE_BORDER;
    memset(texture->border, 0, sizeof texture->border);
}

static void take_levels(const struct cudaResourceDesc *resource,
                        const struct cudaTextureDesc *description, Texture *texture)
{
    const Mipmap *mipmap = mipmap_of(resource->res.mipmap.mipmap);

    texture->level_count = mipmap->count;
    for (int i = 0; i < mipmap->count; i++)
        texture->levels[i] = mipmap->levels[i]->texels;
    texture->level_linear = description->mipmapFilterMode == cudaFilterModeLinear;
    texture->level_bias = description->mipmapLevelBias;
    texture->least_level = description->minMipmapLevelClamp;
    texture->most_level = description->maxMipmapLevelClamp;
}

static cudaError_t read_texture(const struct cudaResourceDesc *resource,
                                const struct cudaTextureDesc *description, Texture *texture)
{
    cudaError_t error = take_resource("cudaCreateTextureObject", resource, &texture->texels);

    if (error)
        return error;
    texture->linear = description->filterMode == cudaFilterModeLinear;
    texture->normalised = description->normalizedCoords;
    texture->reads_as_floats = description->readMode == cudaReadModeNormalizedFloat;
    for (int i = 0; i < 3; i++)
        texture->address[i] = mode_of(description->addressMode[i]);
    memcpy(texture->border, description->borderColor, sizeof texture->border);
    if (resource->resType == cudaResourceTypeLinear)
        read_memory_plainly(texture);
    if (resource->resType == cudaResourceTypeMipmappedArray)
        take_levels(resource, description, texture);
    return check_reading(texture);
}

/* Enters the object, with a copy of its descriptions. */
static cudaError_t add_object(unsigned long long *object, const Texture *texture,
                              const Descriptions *given)
{
    Descriptions *kept = malloc(sizeof *kept);
    const uint64_t number = kept ? texture_add(texture) : 0;

    if (!number || !handle_set(HANDLE_TEXTURE, key_of(number), kept)) {
        texture_remove(number);
        free(kept);
        return cudaErrorMemoryAllocation;
    }
    *kept = *given;
    *object = number;
    return cudaSuccess;
}

static cudaError_t create_texture(cudaTextureObject_t *object,
                                  const struct cudaResourceDesc *resource,
                                  const struct cudaTextureDesc *description,
                                  const struct cudaResourceViewDesc *view)
{
    Texture texture = { .is_surface = false };
    cudaError_t error;

    if (!object || !resource || !description)
        return cudaErrorInvalidValue;
    if (view || description->sRGB) {
        rt_finding(FINDING_UNKNOWN_CALL, true, "cudaCreateTextureObject",
                   "resource views and sRGB are not simulated; the call returns "
                   "cudaErrorNotSupported");
        return cudaErrorNotSupported;
    }
    error = read_texture(resource, description, &texture);
    return error ? error
                 : add_object(object, &texture,
                              &(Descriptions){ .resource = *resource, .texture = *description });
}

/* ---- Surfaces ---- */

static cudaError_t create_surface(cudaSurfaceObject_t *object,
                                  const struct cudaResourceDesc *resource)
{
    const RtArray *array;

    if (!object || !resource || resource->resType != cudaResourceTypeArray)
        return cudaErrorInvalidValue;
    array = array_of(resource->res.array.array);
    if (!array)
        return cudaErrorInvalidValue;
    if (!(array->flags & cudaArraySurfaceLoadStore)) {
        rt_finding(FINDING_FORBIDDEN, true, "cudaCreateSurfaceObject",
                   "the array was allocated without cudaArraySurfaceLoadStore, so kernels may not "
                   "write it");
        return cudaErrorInvalidValue;
    }
    return add_object(object, &(Texture){ .texels = array->texels, .is_surface = true },
                      &(Descriptions){ .resource = *resource });
}

/* ---- Both ---- */

static bool is_object(unsigned long long object, bool is_surface)
{
    const Texture *texture = texture_find(object, NULL);

    return texture && texture->is_surface == is_surface;
}

/* Earlier work may use the object, so it is executed first. */
static cudaError_t destroy(unsigned long long object, bool is_surface)
{
    cudaError_t error;

    if (!object)
        return cudaSuccess;
    if (!is_object(object, is_surface))
        return cudaErrorInvalidValue;
    error = finish_all();
    free(handle_get(HANDLE_TEXTURE, key_of(object)));
    handle_set(HANDLE_TEXTURE, key_of(object), NULL);
    texture_remove(object);
    return error;
}

static cudaError_t read_back(unsigned long long object, bool is_surface,
                             struct cudaResourceDesc *resource, struct cudaTextureDesc *texture)
{
    const Descriptions *kept = handle_get(HANDLE_TEXTURE, key_of(object));

    if (!kept || !is_object(object, is_surface) || (!resource && !texture))
        return cudaErrorInvalidValue;
    if (resource)
        *resource = kept->resource;
    if (texture)
        *texture = kept->texture;
    return cudaSuccess;
}

API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object,
                                        const struct cudaResourceDesc *resource,
                                        const struct cudaTextureDesc *description,
                                        const struct cudaResourceViewDesc *view)
{
    return CALL(create_texture(object, resource, description, view));
}

API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object)
{
    return CALL(destroy(object, false));
}

API cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource,
                                                 cudaTextureObject_t object)
{
    return CALL(read_back(object, false, resource, NULL));
}

API cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *texture,
                                                cudaTextureObject_t object)
{
    return CALL(read_back(object, false, NULL, texture));
}

API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object,
                                        const struct cudaResourceDesc *resource)
{
    return CALL(create_surface(object, resource));
}

API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object)
{
    return CALL(destroy(object, true));
}

API cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource,
                                                 cudaSurfaceObject_t object)
{
    return CALL(read_back(object, true, resource, NULL));
}

static cudaError_t most_linear(size_t *width, const struct cudaChannelFormatDesc *format,
                               int device)
{
    Texels texels;

    if (device)
        return cudaErrorInvalidDevice;
    if (!width || !format || !texels_of_format(format, &texels))
        return cudaErrorInvalidValue;
    *width = MOST_LINEAR;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *width,
                                                     const struct cudaChannelFormatDesc *format,
                                                     int device)
{
    return CALL_ALWAYS(most_linear(width, format, device));
}
