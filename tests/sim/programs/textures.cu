/* textures.cu - fetches through texture objects: filters, address modes, element types, layers.
 *
 * expect: ok
 */
#include "check.h"

#include <cmath>
#include <cstring>
#include <vector>

/* ---- Making textures ---- */

struct How {
    cudaTextureAddressMode mode;
    cudaTextureFilterMode filter;
    bool normalised, as_floats;
};

static cudaTextureDesc description(How how)
{
    cudaTextureDesc d;

    memset(&d, 0, sizeof d);
    for (int i = 0; i < 3; i++)
        d.addressMode[i] = how.mode;
    d.filterMode = how.filter;
    d.readMode = how.as_floats ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    d.normalizedCoords = how.normalised;
    return d;
}

static cudaTextureObject_t texture_of(cudaArray_t array, How how)
{
    cudaResourceDesc resource;
    cudaTextureDesc d = description(how);
    cudaTextureObject_t texture;

    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    OK(cudaCreateTextureObject(&texture, &resource, &d, NULL));
    return texture;
}

template <typename T>
static cudaArray_t array_of(const std::vector<T> &texels, int width, int height)
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    const size_t row = width * sizeof(T);
    cudaArray_t array;

    OK(cudaMallocArray(&array, &format, width, height));
    OK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), row, row, height ? height : 1,
                           cudaMemcpyHostToDevice));
    return array;
}

template <typename T> static T *managed(int count)
{
    T *at;

    OK(cudaMallocManaged(&at, count * sizeof(T)));
    return at;
}

/* ---- Address modes and filters in two dimensions, compared with the host ---- */

enum { WIDTH = 21, HEIGHT = 13, POINTS = 4096 };

static __global__ void fetch_2d(cudaTextureObject_t texture, const float2 *at, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = tex2D<float>(texture, at[i].x, at[i].y);
}

/* The texel at an index, as the address mode says; -1: the border. */
static int addressed(int i, int size, cudaTextureAddressMode mode)
{
    if (mode == cudaAddressModeBorder)
        return i < 0 || i >= size ? -1 : i;
    if (mode == cudaAddressModeWrap)
        return ((i % size) + size) % size;
    if (mode == cudaAddressModeMirror) {
        i = ((i % (2 * size)) + 2 * size) % (2 * size);
        return i < size ? i : 2 * size - 1 - i;
    }
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}

static float texel(const std::vector<float> &t, int x, int y, cudaTextureAddressMode mode)
{
    x = addressed(x, WIDTH, mode);
    y = addressed(y, HEIGHT, mode);
    return x < 0 || y < 0 ? 0 : t[y * WIDTH + x];
}

static float bilinear(const std::vector<float> &t, double x, double y, cudaTextureAddressMode mode)
{
    const int i = (int) floor(x -= 0.5), j = (int) floor(y -= 0.5);
    const double a = x - i, b = y - j;

    return (float) ((1 - a) * (1 - b) * texel(t, i, j, mode) +
                    a * (1 - b) * texel(t, i + 1, j, mode) +
                    (1 - a) * b * texel(t, i, j + 1, mode) + a * b * texel(t, i + 1, j + 1, mode));
}

static void check_2d(const std::vector<float> &t, cudaArray_t array, How how)
{
    const cudaTextureObject_t texture = texture_of(array, how);
    const float sx = how.normalised ? WIDTH : 1, sy = how.normalised ? HEIGHT : 1;
    float2 *at = managed<float2>(POINTS);
    float *out = managed<float>(POINTS);

    for (int i = 0; i < POINTS; i++) /* from one size before the texture to one behind it */
        at[i] = make_float2((i % 64 + 0.37f) / 64 * 3 * WIDTH / sx - WIDTH / sx,
                            (i / 64 + 0.41f) / 64 * 3 * HEIGHT / sy - HEIGHT / sy);
    fetch_2d<<<POINTS / 256, 256>>>(texture, at, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < POINTS; i++) {
        const float x = at[i].x * sx, y = at[i].y * sy;
        if (how.filter == cudaFilterModePoint)
            CHECK(out[i] == texel(t, (int) floorf(x), (int) floorf(y), how.mode));
        else /* weights have 8 bits, texels are below 100 */
            CHECK(fabsf(out[i] - bilinear(t, x, y, how.mode)) < 2 * 100 / 256.0f);
    }
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFree(at));
    OK(cudaFree(out));
}

static void check_address_modes()
{
    std::vector<float> t(WIDTH * HEIGHT);

    for (size_t i = 0; i < t.size(); i++)
        t[i] = (float) (i * 31 % 97);
    cudaArray_t array = array_of(t, WIDTH, HEIGHT);
    for (cudaTextureFilterMode filter : { cudaFilterModePoint, cudaFilterModeLinear }) {
        for (bool normalised : { false, true }) {
            check_2d(t, array, { cudaAddressModeClamp, filter, normalised, false });
            check_2d(t, array, { cudaAddressModeBorder, filter, normalised, false });
        }
        check_2d(t, array, { cudaAddressModeWrap, filter, true, false });
        check_2d(t, array, { cudaAddressModeMirror, filter, true, false });
    }
    OK(cudaFreeArray(array));
}

/* ---- The weights of a linear filter are multiples of 1/256 ---- */

static __global__ void fetch_1d(cudaTextureObject_t texture, float *out, float from, float step)
{
    out[threadIdx.x] = tex1D<float>(texture, from + step * threadIdx.x);
}

static void check_fractions()
{
    cudaArray_t array = array_of(std::vector<float>{ 0, 256, 512 }, 3, 0);
    const cudaTextureObject_t texture =
        texture_of(array, { cudaAddressModeClamp, cudaFilterModeLinear, false, false });
    float *out = managed<float>(128);

    fetch_1d<<<1, 128>>>(texture, out, 0.5f, 2.0f / 128 + 1.0f / 4096);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 128; i++) {
        const float exact = 256 * (2.0f / 128 + 1.0f / 4096) * i;
        CHECK(out[i] == floorf(out[i]) && fabsf(out[i] - fminf(exact, 512)) <= 1);
    }
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(array));
    OK(cudaFree(out));
}

/* ---- Element types ---- */

template <typename T, typename Read>
static __global__ void fetch_all(cudaTextureObject_t texture, Read *out, int width)
{
    const int i = threadIdx.x;

    out[i] = tex2D<Read>(texture, i % width + 0.5f, i / width + 0.5f);
}

template <typename T, typename Read, typename Same>
static void check_type(bool as_floats, const Same &same)
{
    enum { SIDE = 8 };
    std::vector<T> t(SIDE * SIDE);
    unsigned char *bytes = (unsigned char *) t.data();

    for (size_t i = 0; i < t.size() * sizeof(T); i++)
        bytes[i] = (unsigned char) (i * 37 + i / 7);
    cudaArray_t array = array_of(t, SIDE, SIDE);
    const cudaTextureObject_t texture =
        texture_of(array, { cudaAddressModeClamp, cudaFilterModePoint, false, as_floats });
    Read *out = managed<Read>(SIDE * SIDE);
    fetch_all<T, Read><<<1, SIDE * SIDE>>>(texture, out, SIDE);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < SIDE * SIDE; i++)
        CHECK(same(t[i], out[i]));
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(array));
    OK(cudaFree(out));
}

template <typename T> static void check_plain()
{
    check_type<T, T>(false, [](const T &a, const T &b) { return !memcmp(&a, &b, sizeof a); });
}

static bool near(float a, float b)
{
    return fabsf(a - b) < 1e-6f;
}

static void check_types()
{
    check_plain<unsigned char>();
    check_plain<signed char>();
    check_plain<short>();
    check_plain<unsigned short>();
    check_plain<int>();
    check_plain<unsigned>();
    check_plain<uchar2>();
    check_plain<uchar4>();
    check_plain<short4>();
    check_plain<ushort2>();
    check_plain<int2>();
    check_plain<uint4>();
    check_plain<float4>();
    check_type<unsigned char, float>(true,
                                     [](unsigned char a, float b) { return near(a / 255.0f, b); });
    check_type<short, float>(
        true, [](short a, float b) { return near(a == -32768 ? -1 : a / 32767.0f, b); });
    check_type<uchar4, float4>(true, [](uchar4 a, float4 b) {
        return near(a.x / 255.0f, b.x) && near(a.y / 255.0f, b.y) && near(a.z / 255.0f, b.z) &&
               near(a.w / 255.0f, b.w);
    });
}

/* ---- Memory without an array ---- */

static __global__ void sum_neighbours(cudaTextureObject_t line, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) /* outside the memory, 0 is read */
        out[i] = tex1Dfetch<float>(line, i - 1) + tex1Dfetch<float>(line, i) +
                 tex1Dfetch<float>(line, i + 1);
}

static void check_linear()
{
    enum { N = 1000 };
    float *in = managed<float>(N), *out = managed<float>(N);
    cudaResourceDesc resource;
    cudaTextureDesc d = description({ cudaAddressModeClamp, cudaFilterModePoint, false, false });
    cudaTextureObject_t texture;

    for (int i = 0; i < N; i++)
        in[i] = i + 1;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = in;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = N * sizeof(float);
    OK(cudaCreateTextureObject(&texture, &resource, &d, NULL));
    sum_neighbours<<<(N + 255) / 256, 256>>>(texture, out, N);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++)
        CHECK(out[i] == (i > 0 ? i : 0) + (i + 1) + (i < N - 1 ? i + 2 : 0));
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFree(in));
    OK(cudaFree(out));
}

/* ---- Layers, a gather, explicit levels ---- */

static __global__ void fetch_layers(cudaTextureObject_t texture, float *out)
{
    const int x = threadIdx.x, layer = blockIdx.x;

    out[layer * blockDim.x + x] =
        tex2DLayered<float>(texture, x % 8 + 0.5f, x / 8 + 0.5f, layer) +
        tex2DLayered<float>(texture, x % 8 + 0.5f, x / 8 + 0.5f, layer + 100); /* the last one */
}

static void check_layers()
{
    enum { LAYERS = 3, SIDE = 8 };
    static float t[LAYERS * SIDE * SIDE];
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    float *out = managed<float>(LAYERS * SIDE * SIDE);
    cudaArray_t array;
    cudaMemcpy3DParms copy;

    for (int i = 0; i < LAYERS * SIDE * SIDE; i++)
        t[i] = i * 3 % 101;
    OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(SIDE, SIDE, LAYERS), cudaArrayLayered));
    memset(&copy, 0, sizeof copy);
    copy.srcPtr = make_cudaPitchedPtr(t, SIDE * sizeof(float), SIDE, SIDE);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(SIDE, SIDE, LAYERS);
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    const cudaTextureObject_t texture =
        texture_of(array, { cudaAddressModeClamp, cudaFilterModePoint, false, false });
    fetch_layers<<<LAYERS, SIDE * SIDE>>>(texture, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < LAYERS * SIDE * SIDE; i++)
        CHECK(out[i] == t[i] + t[(LAYERS - 1) * SIDE * SIDE + i % (SIDE * SIDE)]);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(array));
    OK(cudaFree(out));
}

static __global__ void gather(cudaTextureObject_t texture, float4 *out, float *level)
{
    out[0] = tex2Dgather<float4>(texture, 2.0f, 1.0f, 0);
    *level = tex2DLod<float>(texture, 1.5f, 1.5f, 0.0f);
}

static void check_gather()
{
    enum { SIDE = 4 };
    std::vector<float> t(SIDE * SIDE);
    float4 *out = managed<float4>(1);
    float *level = managed<float>(1);

    for (int i = 0; i < SIDE * SIDE; i++)
        t[i] = i;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    OK(cudaMallocArray(&array, &format, SIDE, SIDE, cudaArrayTextureGather));
    OK(cudaMemcpy2DToArray(array, 0, 0, t.data(), SIDE * 4, SIDE * 4, SIDE,
                           cudaMemcpyHostToDevice));
    const cudaTextureObject_t texture =
        texture_of(array, { cudaAddressModeClamp, cudaFilterModePoint, false, false });
    gather<<<1, 1>>>(texture, out, level);
    OK(cudaDeviceSynchronize());
    /* The texels (1, 0), (2, 0), (1, 1), (2, 1), from the lower left against the clock. */
    CHECK(out->x == 5 && out->y == 6 && out->z == 2 && out->w == 1 && *level == 5);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(array));
    OK(cudaFree(out));
    OK(cudaFree(level));
}

/* ---- Errors of calls ---- */

static void check_errors()
{
    cudaArray_t array = array_of(std::vector<int>(16), 4, 4);
    cudaChannelFormatDesc three = { 32, 32, 32, 0, cudaChannelFormatKindFloat }, format;
    cudaResourceDesc resource, back;
    cudaTextureDesc d = description({ cudaAddressModeClamp, cudaFilterModeLinear, false, false });
    cudaTextureObject_t texture;
    cudaExtent extent;
    unsigned flags;

    EXPECT(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &three, 4, 4));
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    EXPECT(cudaErrorInvalidFilterSetting, cudaCreateTextureObject(&texture, &resource, &d, NULL));
    d.filterMode = cudaFilterModePoint;
    d.readMode = cudaReadModeNormalizedFloat;
    EXPECT(cudaErrorInvalidNormSetting, cudaCreateTextureObject(&texture, &resource, &d, NULL));
    d.readMode = cudaReadModeElementType;
    OK(cudaCreateTextureObject(&texture, &resource, &d, NULL));
    OK(cudaGetTextureObjectResourceDesc(&back, texture));
    CHECK(back.resType == cudaResourceTypeArray && back.res.array.array == array);
    OK(cudaArrayGetInfo(&format, &extent, &flags, array));
    CHECK(format.x == 32 && format.y == 0 && format.f == cudaChannelFormatKindSigned);
    CHECK(extent.width == 4 && extent.height == 4 && extent.depth == 0 && flags == 0);
    OK(cudaGetChannelDesc(&format, array));
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(array));
    EXPECT(cudaErrorInvalidValue, cudaFreeArray(array));
    cudaGetLastError();
}

int main()
{
    check_address_modes();
    check_fractions();
    check_types();
    check_linear();
    check_layers();
    check_gather();
    check_errors();
    puts("ok");
}
