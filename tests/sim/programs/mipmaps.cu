/* mipmaps.cu - a mipmapped texture as renderers use it: each level is computed from the one before
 * by a kernel that reads it as a texture and writes a surface; then levels are fetched with and
 * without filters.
 *
 * expect: ok
 */
#include "check.h"

#include <cmath>
#include <string.h>
#include <vector>

enum { SIDE = 16, LEVELS = 5, FETCHES = 64 };

static cudaTextureDesc how(cudaTextureFilterMode within, cudaTextureFilterMode between, float last)
{
    cudaTextureDesc d;

    memset(&d, 0, sizeof d);
    for (int i = 0; i < 3; i++)
        d.addressMode[i] = cudaAddressModeClamp;
    d.filterMode = within;
    d.mipmapFilterMode = between;
    d.normalizedCoords = 1;
    d.readMode = cudaReadModeElementType;
    d.maxMipmapLevelClamp = last;
    return d;
}

static cudaTextureObject_t texture_of(cudaMipmappedArray_t mipmap, cudaTextureDesc d)
{
    cudaResourceDesc resource;
    cudaTextureObject_t texture;

    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmap;
    OK(cudaCreateTextureObject(&texture, &resource, &d, NULL));
    return texture;
}

static cudaArray_t level_of(cudaMipmappedArray_t mipmap, int level)
{
    cudaArray_t array;

    OK(cudaGetMipmappedArrayLevel(&array, mipmap, level));
    return array;
}

// The mean of 4 texels, which a linear filter finds where they meet.
__global__ void shrink(cudaTextureObject_t from, cudaSurfaceObject_t to, int side)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < side && y < side)
        surf2Dwrite(tex2D<float>(from, (x + 0.5f) / side, (y + 0.5f) / side), to,
                    x * (int) sizeof(float), y);
}

static void compute_level(cudaMipmappedArray_t mipmap, int level)
{
    cudaResourceDesc from, to;
    cudaTextureDesc d = how(cudaFilterModeLinear, cudaFilterModePoint, 0);
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    const int side = SIDE >> level;

    memset(&from, 0, sizeof from);
    from.resType = cudaResourceTypeArray;
    to = from;
    from.res.array.array = level_of(mipmap, level - 1);
    to.res.array.array = level_of(mipmap, level);
    OK(cudaCreateTextureObject(&texture, &from, &d, NULL));
    OK(cudaCreateSurfaceObject(&surface, &to));
    shrink<<<dim3((side + 7) / 8, (side + 7) / 8), dim3(8, 8)>>>(texture, surface, side);
    OK(cudaDeviceSynchronize());
    OK(cudaDestroyTextureObject(texture));
    OK(cudaDestroySurfaceObject(surface));
}

static float texel(const std::vector<float> *levels, int level, int x, int y)
{
    return levels[level][y * (SIDE >> level) + x];
}

static cudaMipmappedArray_t build(std::vector<float> *levels)
{
    cudaMipmappedArray_t mipmap;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    const size_t row = SIDE * sizeof(float);

    OK(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(SIDE, SIDE, 0), LEVELS,
                                cudaArraySurfaceLoadStore));
    levels[0].resize(SIDE * SIDE);
    for (int i = 0; i < SIDE * SIDE; i++)
        levels[0][i] = (float) (i * 7 % 64);
    OK(cudaMemcpy2DToArray(level_of(mipmap, 0), 0, 0, levels[0].data(), row, row, SIDE,
                           cudaMemcpyHostToDevice));
    for (int level = 1; level < LEVELS; level++) {
        const int side = SIDE >> level;
        compute_level(mipmap, level);
        levels[level].resize(side * side);
        OK(cudaMemcpy2DFromArray(levels[level].data(), side * sizeof(float),
                                 level_of(mipmap, level), 0, 0, side * sizeof(float), side,
                                 cudaMemcpyDeviceToHost));
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++)
                CHECK(texel(levels, level, x, y) ==
                      (texel(levels, level - 1, 2 * x, 2 * y) +
                       texel(levels, level - 1, 2 * x + 1, 2 * y) +
                       texel(levels, level - 1, 2 * x, 2 * y + 1) +
                       texel(levels, level - 1, 2 * x + 1, 2 * y + 1)) /
                          4);
    }
    return mipmap;
}

// Neighbouring lanes read different levels.
__global__ void fetch(cudaTextureObject_t texture, float *out, float step)
{
    int i = threadIdx.x;

    out[i] = tex2DLod<float>(texture, (i % 8 + 0.5f) / 8, (i / 8 + 0.5f) / 8, i * step);
}

__global__ void fetch_first(cudaTextureObject_t texture, float *out)
{
    int i = threadIdx.x;

    out[i] = tex2D<float>(texture, (i % 8 + 0.5f) / 8, (i / 8 + 0.5f) / 8);
}

// The nearest texel of a level.
static float nearest(const std::vector<float> *levels, int i, int level)
{
    const int side = SIDE >> level;

    return texel(levels, level, (int) ((i % 8 + 0.5f) / 8 * side),
                 (int) ((i / 8 + 0.5f) / 8 * side));
}

static float limited(float level, float least, float most)
{
    return level < least ? least : level > most ? most : level;
}

static void between_levels(cudaMipmappedArray_t mipmap, const std::vector<float> *levels,
                           float *out)
{
    const float step = 0.125f;
    cudaTextureDesc d = how(cudaFilterModePoint, cudaFilterModeLinear, LEVELS - 1);
    cudaTextureObject_t smooth = texture_of(mipmap, d);

    fetch<<<1, FETCHES>>>(smooth, out, step);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < FETCHES; i++) {
        const float level = limited(i * step, 0, LEVELS - 1), part = level - floorf(level);
        const int low = (int) level, high = low < LEVELS - 1 ? low + 1 : low;
        CHECK(out[i] == (1 - part) * nearest(levels, i, low) + part * nearest(levels, i, high));
    }
    fetch_first<<<1, FETCHES>>>(smooth, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < FETCHES; i++)
        CHECK(out[i] == nearest(levels, i, 0));
    OK(cudaDestroyTextureObject(smooth));
}

static void nearest_level(cudaMipmappedArray_t mipmap, const std::vector<float> *levels, float *out)
{
    const float step = 0.3f;
    cudaTextureDesc d = how(cudaFilterModePoint, cudaFilterModePoint, 3);
    d.mipmapLevelBias = 1;
    d.minMipmapLevelClamp = 2;
    cudaTextureObject_t sharp = texture_of(mipmap, d);

    fetch<<<1, FETCHES>>>(sharp, out, step);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < FETCHES; i++)
        CHECK(out[i] == nearest(levels, i, (int) (limited(i * step + 1, 2, 3) + 0.5f)));
    OK(cudaDestroyTextureObject(sharp));
}

// Both filters: on a level of 2 x 2 texels, the middle is the mean, which is the next level's
// texel.
__global__ void fetch_middle(cudaTextureObject_t texture, float *out)
{
    out[0] = tex2DLod<float>(texture, 0.5f, 0.5f, 3);
    out[1] = tex2DLod<float>(texture, 0.5f, 0.5f, 3.5f);
    out[2] = tex2DLod<float>(texture, 0.5f, 0.5f, 99);
}

static void both(cudaMipmappedArray_t mipmap, const std::vector<float> *levels, float *out)
{
    cudaTextureObject_t texture =
        texture_of(mipmap, how(cudaFilterModeLinear, cudaFilterModeLinear, LEVELS - 1));

    fetch_middle<<<1, 1>>>(texture, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++)
        CHECK(out[i] == levels[4][0]);
    OK(cudaDestroyTextureObject(texture));
}

// Layers keep their number from level to level; axes of one texel stay.
static void layers()
{
    cudaMipmappedArray_t mipmap;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    cudaChannelFormatDesc found;
    cudaExtent extent;
    cudaArray_t array;
    unsigned flags;

    OK(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(8, 2, 3), 99, cudaArrayLayered));
    OK(cudaGetMipmappedArrayLevel(&array, mipmap, 3));
    OK(cudaArrayGetInfo(&found, &extent, &flags, array));
    CHECK(extent.width == 1 && extent.height == 1 && extent.depth == 3);
    CHECK(flags == cudaArrayLayered && found.x == 8 && found.w == 8);
    EXPECT(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&array, mipmap, 4));
    EXPECT(cudaErrorInvalidValue, cudaFreeArray(array));
    OK(cudaFreeMipmappedArray(mipmap));
    (void) cudaGetLastError();
}

static void wrong(cudaMipmappedArray_t mipmap)
{
    cudaMipmappedArray_t other;
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    const cudaExtent extent = make_cudaExtent(8, 8, 0), none = make_cudaExtent(0, 8, 0);
    cudaChannelFormatDesc odd = format;
    cudaResourceDesc resource;
    cudaTextureDesc d = how(cudaFilterModePoint, cudaFilterModePoint, 1);
    cudaTextureObject_t texture;

    odd.x = 5;
    EXPECT(cudaErrorInvalidValue, cudaMallocMipmappedArray(NULL, &format, extent, 2));
    EXPECT(cudaErrorInvalidValue, cudaMallocMipmappedArray(&other, NULL, extent, 2));
    EXPECT(cudaErrorInvalidChannelDescriptor, cudaMallocMipmappedArray(&other, &odd, extent, 2));
    EXPECT(cudaErrorInvalidValue, cudaMallocMipmappedArray(&other, &format, none, 2));
    EXPECT(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(NULL, mipmap, 0));
    EXPECT(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&array, NULL, 0));
    EXPECT(cudaErrorInvalidValue, cudaFreeMipmappedArray((cudaMipmappedArray_t) &array));
    OK(cudaFreeMipmappedArray(NULL));
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeMipmappedArray;
    EXPECT(cudaErrorInvalidValue, cudaCreateTextureObject(&texture, &resource, &d, NULL));
    (void) cudaGetLastError();
}

int main()
{
    std::vector<float> levels[LEVELS];
    cudaMipmappedArray_t mipmap = build(levels);
    float *out;

    OK(cudaMallocManaged(&out, FETCHES * sizeof *out));
    between_levels(mipmap, levels, out);
    nearest_level(mipmap, levels, out);
    both(mipmap, levels, out);
    layers();
    wrong(mipmap);
    OK(cudaFreeMipmappedArray(mipmap));
    EXPECT(cudaErrorInvalidValue, cudaFreeMipmappedArray(mipmap));
    (void) cudaGetLastError();
    OK(cudaFree(out));
    puts("ok");
}
