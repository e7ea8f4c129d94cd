/* mipmap.c - mipmapped arrays: their levels are arrays, which copies, textures and surfaces take
 * like any other. */
#include "sim/runtime/array.h"

#include <stdlib.h>

static Mipmap *mipmaps;

Mipmap *mipmap_of(cudaMipmappedArray_const_t handle)
{
    return handle_get(HANDLE_MIPMAP, handle);
}

/* ---- Sizes ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Until the largest side is one texel long. Layers do not become fewer. */
static int most_levels(struct cudaExtent extent, bool layered)
{
    size_t side = larger(larger(extent.width, extent.height), layered ? 0 : extent.depth);
    int count = 1;

    for (; side > 1 && count < MOST_LEVELS; side /= 2)
        count++;
    return count;
}

/* A size of 0 means that the array does not have that axis. */
static size_t half(size_t size)
{
    return size > 1 ? size / 2 : size;
}

static struct cudaExtent next_extent(struct cudaExtent extent, bool layered)
{
    return (struct cudaExtent){ half(extent.width), half(extent.height),
                                layered ? extent.depth : half(extent.depth) };
}

static bool has_valid_size(struct cudaExtent extent)
{
    enum { MOST_TEXELS = 32768 };

    return extent.width && extent.width <= MOST_TEXELS && extent.height <= MOST_TEXELS;
}

/* ---- Allocation ---- */

static void release(Mipmap *mipmap)
{
    Mipmap **at = &mipmaps;

    while (*at && *at != mipmap)
        at = &(*at)->next;
    if (*at)
        *at = mipmap->next;
    handle_set(HANDLE_MIPMAP, mipmap, NULL);
    for (int i = 0; i < mipmap->count; i++)
        array_release(mipmap->levels[i]);
    free(mipmap);
}

static cudaError_t add_levels(Mipmap *mipmap, const struct cudaChannelFormatDesc *format,
                              struct cudaExtent extent, int count, unsigned flags)
{
    cudaError_t error = cudaSuccess;

    for (int i = 0; i < count && !error; i++) {
        error = array_allocate(&mipmap->levels[i], format, extent, flags);
        if (!error)
            mipmap->levels[mipmap->count++]->is_level = true;
        extent = next_extent(extent, flags & cudaArrayLayered);
    }
    return error;
}

static cudaError_t allocate_mipmap(cudaMipmappedArray_t *handle,
                                   const struct cudaChannelFormatDesc *format,
                                   struct cudaExtent extent, unsigned levels, unsigned flags)
{
    const int most = most_levels(extent, flags & cudaArrayLayered);
    const int count = !levels ? 1 : levels < (unsigned) most ? (int) levels : most;
    Mipmap *mipmap;
    cudaError_t error;

    if (!handle || !format || !has_valid_size(extent))
        return cudaErrorInvalidValue;
    mipmap = calloc(1, sizeof *mipmap);
    if (!mipmap || !handle_set(HANDLE_MIPMAP, mipmap, mipmap)) {
        free(mipmap);
        return cudaErrorMemoryAllocation;
    }
    mipmap->next = mipmaps;
    mipmaps = mipmap;
    error = add_levels(mipmap, format, extent, count, flags);
    if (error)
        release(mipmap);
    else
        *handle = (cudaMipmappedArray_t) mipmap;
    return error;
}

void mipmaps_drop(void)
{
    while (mipmaps)
        release(mipmaps);
}

/* All earlier work is executed first, as on a GPU. */
static cudaError_t free_mipmap(cudaMipmappedArray_t handle)
{
    Mipmap *mipmap = mipmap_of(handle);
    cudaError_t error;

    if (!handle)
        return cudaSuccess;
    if (!mipmap)
        return cudaErrorInvalidValue;
    error = any_capture_refuses("cudaFreeMipmappedArray");
    if (error)
        return error;
    error = finish_all();
    release(mipmap);
    return error;
}

static cudaError_t level_of(cudaArray_t *level, const Mipmap *mipmap, unsigned number)
{
    if (!level || !mipmap || number >= (unsigned) mipmap->count)
        return cudaErrorInvalidValue;
    *level = (cudaArray_t) mipmap->levels[number];
    return cudaSuccess;
}

API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array,
                                         const struct cudaChannelFormatDesc *format,
                                         struct cudaExtent extent, unsigned levels, unsigned flags)
{
    return MAY_WAIT(allocate_mipmap(array, format, extent, levels, flags));
}

API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array)
{
    return CALL(free_mipmap(array));
}

API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *level, cudaMipmappedArray_const_t array,
                                           unsigned number)
{
    return CALL(level_of(level, mipmap_of(array), number));
}
