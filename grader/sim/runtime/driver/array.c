/* array.c - CUDA arrays, their copies, texture and surface objects. */
#include "sim/runtime/driver/driver.h"
#include "sim/runtime/array.h"

#include <string.h>

/* ---- Formats ---- */

static const struct {
    CUarray_format format;
    enum cudaChannelFormatKind kind;
    int bits;
} formats[] = {
    { CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8 },
    { CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16 },
    { CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32 },
    { CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8 },
    { CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16 },
    { CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32 },
    { CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16 },
    { CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32 },
};

/* A format that is not in the table has no channels, which every call refuses. */
static struct cudaChannelFormatDesc channels_of(CUarray_format format, unsigned count)
{
    struct cudaChannelFormatDesc channels = { 0 };
    int *const bits[] = { &channels.x, &channels.y, &channels.z, &channels.w };

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (unsigned c = 0; c < count && c < 4 && formats[i].format == format; c++) {
            *bits[c] = formats[i].bits;
            channels.f = formats[i].kind;
        }
    return channels;
}

static CUarray_format format_of(const struct cudaChannelFormatDesc *channels, unsigned *count)
{
    *count = (channels->x > 0) + (channels->y > 0) + (channels->z > 0) + (channels->w > 0);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].kind == channels->f && formats[i].bits == channels->x)
            return formats[i].format;
    return CU_AD_FORMAT_FLOAT;
}

/* ---- Arrays ---- */

static cudaError_t create(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *about)
{
    struct cudaChannelFormatDesc channels;

    if (!array || !about)
        return cudaErrorInvalidValue;
    channels = channels_of(about->Format, about->NumChannels);
    return cudaMalloc3DArray((cudaArray_t *) array, &channels,
                             (struct cudaExtent){ about->Width, about->Height, about->Depth },
                             about->Flags); /* the flags have the runtime's values */
}

static cudaError_t create_flat(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *about)
{
    if (!about)
        return cudaErrorInvalidValue;
    return create(array, &(CUDA_ARRAY3D_DESCRIPTOR){ .Width = about->Width,
                                                     .Height = about->Height,
                                                     .Format = about->Format,
                                                     .NumChannels = about->NumChannels });
}

static cudaError_t describe(CUDA_ARRAY3D_DESCRIPTOR *about, CUarray handle)
{
    const RtArray *array = array_of((cudaArray_t) handle);
    unsigned count;

    if (!about || !array)
        return array ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    const CUarray_format format = format_of(&array->format, &count);
    *about = (CUDA_ARRAY3D_DESCRIPTOR){ .Width = array->extent.width,
                                        .Height = array->extent.height,
                                        .Depth = array->extent.depth,
                                        .Format = format,
                                        .NumChannels = count,
                                        .Flags = array->flags };
    return cudaSuccess;
}

static cudaError_t describe_flat(CUDA_ARRAY_DESCRIPTOR *about, CUarray handle)
{
    CUDA_ARRAY3D_DESCRIPTOR whole;
    cudaError_t error = about ? describe(&whole, handle) : cudaErrorInvalidValue;

    if (!error)
        *about = (CUDA_ARRAY_DESCRIPTOR){ .Width = whole.Width,
                                          .Height = whole.Height,
                                          .Format = whole.Format,
                                          .NumChannels = whole.NumChannels };
    return error;
}

DRIVER_CALL(cuArrayCreate_v2, (CUarray * array, const CUDA_ARRAY_DESCRIPTOR *about),
            create_flat(array, about))
DRIVER_CALL(cuArray3DCreate_v2, (CUarray * array, const CUDA_ARRAY3D_DESCRIPTOR *about),
            create(array, about))
DRIVER_CALL(cuArrayGetDescriptor_v2, (CUDA_ARRAY_DESCRIPTOR * about, CUarray array),
            CALL(describe_flat(about, array)))
DRIVER_CALL(cuArray3DGetDescriptor_v2, (CUDA_ARRAY3D_DESCRIPTOR * about, CUarray array),
            CALL(describe(about, array)))
DRIVER_CALL(cuArrayDestroy, (CUarray array), cudaFreeArray((cudaArray_t) array))

/* ---- Copies of boxes ---- */

/* One side of a copy; positions in bytes. */
typedef struct Side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x, y, z, pitch, height;
} Side;

/* Sets the address, the pitch and the size of a slice, or the place in an array. */
static cudaError_t place_side(const Side *side, const void **at, ArrayPlace *place, size_t *pitch,
                              size_t *slice, size_t width)
{
    const size_t row = side->pitch ? side->pitch : width;

    if (side->type == CU_MEMORYTYPE_ARRAY) {
        const RtArray *array = array_of((cudaArray_t) side->array);
        if (!array)
            return cudaErrorInvalidResourceHandle;
        *place =
            (ArrayPlace){ .texels = array->texels, .x = side->x, .row = side->y, .slice = side->z };
        *pitch = width;
        return cudaSuccess;
    }
    *pitch = row;
    *slice = row * side->height;
    *at =
        (const char *) (side->type == CU_MEMORYTYPE_HOST ? side->host : pointer_of(side->device)) +
        side->z * *slice + side->y * row + side->x;
    return side->type == CU_MEMORYTYPE_HOST || side->type == CU_MEMORYTYPE_DEVICE ||
                   side->type == CU_MEMORYTYPE_UNIFIED
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

static enum cudaMemcpyKind kind_of(CUmemorytype to, CUmemorytype from)
{
    const bool to_host = to == CU_MEMORYTYPE_HOST, from_host = from == CU_MEMORYTYPE_HOST;

    if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    return to_host     ? from_host ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost
           : from_host ? cudaMemcpyHostToDevice
                       : cudaMemcpyDeviceToDevice;
}

static cudaError_t copy_sides(CUstream stream, const char *call, const Side *to, const Side *from,
                              size_t width, size_t height, size_t depth, bool blocking)
{
    CopyCall copy = { .call = call,
                      .width = width,
                      .height = height,
                      .depth = depth,
                      .kind = kind_of(to->type, from->type) };
    cudaError_t error = place_side(to, (const void **) &copy.to, &copy.to_array, &copy.to_pitch,
                                   &copy.to_slice, width);

    if (!error)
        error = place_side(from, &copy.from, &copy.from_array, &copy.from_pitch, &copy.from_slice,
                           width);
    return error ? error : copy_in(stream_of(stream, false), &copy, blocking);
}

static cudaError_t copy_rows(CUstream stream, const char *call, const CUDA_MEMCPY2D *c,
                             bool blocking)
{
    if (!c)
        return cudaErrorInvalidValue;
    const Side to = { c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes,
                      c->dstY,          0,          c->dstPitch,  c->Height };
    const Side from = { c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes,
                        c->srcY,          0,          c->srcPitch,  c->Height };
    return copy_sides(stream, call, &to, &from, c->WidthInBytes, c->Height, 1, blocking);
}

static cudaError_t copy_box(CUstream stream, const char *call, const CUDA_MEMCPY3D *c,
                            bool blocking)
{
    if (!c)
        return cudaErrorInvalidValue;
    const Side to = { c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes,
                      c->dstY,          c->dstZ,    c->dstPitch,  c->dstHeight };
    const Side from = { c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes,
                        c->srcY,          c->srcZ,    c->srcPitch,  c->srcHeight };
    return copy_sides(stream, call, &to, &from, c->WidthInBytes, c->Height, c->Depth, blocking);
}

DRIVER_BLOCKING_CALL(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *copy), on,
                     CALL(copy_rows(on, "cuMemcpy2D", copy, true)))
DRIVER_BLOCKING_CALL(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *copy), on,
                     CALL(copy_rows(on, "cuMemcpy2DUnaligned", copy, true)))
DRIVER_STREAM_CALL(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy, CUstream stream), stream, on,
                   CALL(copy_rows(on, "cuMemcpy2DAsync", copy, false)))
DRIVER_BLOCKING_CALL(cuMemcpy3D_v2, (const CUDA_MEMCPY3D *copy), on,
                     CALL(copy_box(on, "cuMemcpy3D", copy, true)))
DRIVER_STREAM_CALL(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *copy, CUstream stream), stream, on,
                   CALL(copy_box(on, "cuMemcpy3DAsync", copy, false)))

/* ---- Copies of bytes: of the first row ---- */

static cudaError_t copy_line(CUstream stream, const char *call, Side to, Side from, size_t bytes,
                             bool blocking)
{
    return copy_sides(stream, call, &to, &from, bytes, 1, 1, blocking);
}

#define HOST(pointer)   ((Side){ .type = CU_MEMORYTYPE_HOST, .host = (pointer) })
#define DEVICE(address) ((Side){ .type = CU_MEMORYTYPE_DEVICE, .device = (address) })
#define ARRAY(handle, offset)                                                                      \
    ((Side){ .type = CU_MEMORYTYPE_ARRAY, .array = (handle), .x = offset })

DRIVER_BLOCKING_CALL(cuMemcpyHtoA_v2, (CUarray to, size_t offset, const void *from, size_t bytes),
                     on,
                     CALL(copy_line(on, "cuMemcpyHtoA", ARRAY(to, offset), HOST(from), bytes,
                                    true)))
DRIVER_BLOCKING_CALL(cuMemcpyAtoH_v2, (void *to, CUarray from, size_t offset, size_t bytes), on,
                     CALL(copy_line(on, "cuMemcpyAtoH", HOST(to), ARRAY(from, offset), bytes,
                                    true)))
DRIVER_BLOCKING_CALL(cuMemcpyDtoA_v2, (CUarray to, size_t offset, CUdeviceptr from, size_t bytes),
                     on,
                     CALL(copy_line(on, "cuMemcpyDtoA", ARRAY(to, offset), DEVICE(from), bytes,
                                    true)))
DRIVER_BLOCKING_CALL(cuMemcpyAtoD_v2, (CUdeviceptr to, CUarray from, size_t offset, size_t bytes),
                     on,
                     CALL(copy_line(on, "cuMemcpyAtoD", DEVICE(to), ARRAY(from, offset), bytes,
                                    true)))

/* ---- Texture and surface objects ---- */

static cudaError_t resource_of(const CUDA_RESOURCE_DESC *from, struct cudaResourceDesc *to)
{
    memset(to, 0, sizeof *to);
    switch (from->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        to->resType = cudaResourceTypeArray;
        to->res.array.array = (cudaArray_t) from->res.array.hArray;
        return cudaSuccess;
    case CU_RESOURCE_TYPE_LINEAR:
        to->resType = cudaResourceTypeLinear;
        to->res.linear.devPtr = pointer_of(from->res.linear.devPtr);
        to->res.linear.desc = channels_of(from->res.linear.format, from->res.linear.numChannels);
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        return cudaSuccess;
    case CU_RESOURCE_TYPE_PITCH2D:
        to->resType = cudaResourceTypePitch2D;
        to->res.pitch2D.devPtr = pointer_of(from->res.pitch2D.devPtr);
        to->res.pitch2D.desc = channels_of(from->res.pitch2D.format, from->res.pitch2D.numChannels);
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        return cudaSuccess;
    default:
        to->resType = cudaResourceTypeMipmappedArray;
        return cudaSuccess; /* the driver's calls make no such arrays, so the handle is invalid */
    }
}

/* The inverse of resource_of; a mipmapped array of the runtime keeps its handle. */
static void describe_resource(const struct cudaResourceDesc *from, CUDA_RESOURCE_DESC *to)
{
    memset(to, 0, sizeof *to);
    to->resType = (CUresourcetype) from->resType;
    switch (from->resType) {
    case cudaResourceTypeLinear:
        to->res.linear.devPtr = (CUdeviceptr) from->res.linear.devPtr;
        to->res.linear.format = format_of(&from->res.linear.desc, &to->res.linear.numChannels);
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        break;
    case cudaResourceTypePitch2D:
        to->res.pitch2D.devPtr = (CUdeviceptr) from->res.pitch2D.devPtr;
        to->res.pitch2D.format = format_of(&from->res.pitch2D.desc, &to->res.pitch2D.numChannels);
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        break;
    case cudaResourceTypeMipmappedArray:
        to->res.mipmap.hMipmappedArray = (CUmipmappedArray) from->res.mipmap.mipmap;
        break;
    default:
        to->res.array.hArray = (CUarray) from->res.array.array;
    }
}

/* Integers of 8 and 16 bits are read as floats unless a flag says otherwise. */
static bool reads_as_floats(const struct cudaResourceDesc *resource, unsigned flags)
{
    struct cudaChannelFormatDesc format = resource->resType == cudaResourceTypeLinear
                                              ? resource->res.linear.desc
                                              : resource->res.pitch2D.desc;

    if (resource->resType == cudaResourceTypeArray &&
        cudaGetChannelDesc(&format, resource->res.array.array))
        return false;
    return !(flags & CU_TRSF_READ_AS_INTEGER) && format.x < 32;
}

static cudaError_t create_texture(CUtexObject *object, const CUDA_RESOURCE_DESC *resource,
                                  const CUDA_TEXTURE_DESC *how, const CUDA_RESOURCE_VIEW_DESC *view)
{
    struct cudaResourceDesc what;
    struct cudaTextureDesc texture = { 0 };

    if (!resource || !how || resource_of(resource, &what))
        return cudaErrorInvalidValue;
    for (int i = 0; i < 3; i++)
        texture.addressMode[i] = (enum cudaTextureAddressMode) how->addressMode[i];
    texture.filterMode = (enum cudaTextureFilterMode) how->filterMode;
    texture.readMode =
        reads_as_floats(&what, how->flags) ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    texture.normalizedCoords = (how->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    texture.sRGB = (how->flags & CU_TRSF_SRGB) != 0;
    memcpy(texture.borderColor, how->borderColor, sizeof texture.borderColor);
    return cudaCreateTextureObject(object, &what, &texture,
                                   (const struct cudaResourceViewDesc *) view);
}

static cudaError_t create_surface(CUsurfObject *object, const CUDA_RESOURCE_DESC *resource)
{
    struct cudaResourceDesc what;

    return resource && !resource_of(resource, &what) ? cudaCreateSurfaceObject(object, &what)
                                                     : cudaErrorInvalidValue;
}

typedef cudaError_t ResourceCall(struct cudaResourceDesc *, unsigned long long);

static cudaError_t give_resource(CUDA_RESOURCE_DESC *to, unsigned long long object,
                                 ResourceCall *call)
{
    struct cudaResourceDesc what;
    cudaError_t error = to ? call(&what, object) : cudaErrorInvalidValue;

    if (!error)
        describe_resource(&what, to);
    return error;
}

DRIVER_CALL(cuTexObjectCreate,
            (CUtexObject * object, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *how,
             const CUDA_RESOURCE_VIEW_DESC *view),
            create_texture(object, resource, how, view))
DRIVER_CALL(cuTexObjectDestroy, (CUtexObject object), cudaDestroyTextureObject(object))
DRIVER_CALL(cuTexObjectGetResourceDesc, (CUDA_RESOURCE_DESC * to, CUtexObject object),
            give_resource(to, object, cudaGetTextureObjectResourceDesc))
DRIVER_CALL(cuSurfObjectCreate, (CUsurfObject * object, const CUDA_RESOURCE_DESC *resource),
            create_surface(object, resource))
DRIVER_CALL(cuSurfObjectDestroy, (CUsurfObject object), cudaDestroySurfaceObject(object))
DRIVER_CALL(cuSurfObjectGetResourceDesc, (CUDA_RESOURCE_DESC * to, CUsurfObject object),
            give_resource(to, object, cudaGetSurfaceObjectResourceDesc))
