/* surfaces.cu - kernels that write CUDA arrays through surfaces: a stencil that alternates between
 * two arrays, boundary modes, layers and volumes.
 *
 * expect: ok
 */
#include "check.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* cudaMemcpyToArray */

#include <cstring>
#include <vector>

static cudaResourceDesc resource_of(cudaArray_t array)
{
    cudaResourceDesc resource;

    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

static cudaSurfaceObject_t surface_of(cudaArray_t array)
{
    const cudaResourceDesc resource = resource_of(array);
    cudaSurfaceObject_t surface;

    OK(cudaCreateSurfaceObject(&surface, &resource));
    return surface;
}

static cudaTextureObject_t texture_of(cudaArray_t array)
{
    const cudaResourceDesc resource = resource_of(array);
    cudaTextureDesc how;
    cudaTextureObject_t texture;

    memset(&how, 0, sizeof how);
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
    OK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    return texture;
}

/* ---- Heat: reads one array through a texture and writes the other through a surface ---- */

enum { WIDTH = 50, HEIGHT = 33, STEPS = 6 };

static __global__ void step(cudaTextureObject_t from, cudaSurfaceObject_t to)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= WIDTH || y >= HEIGHT)
        return;
    const float c = tex2D<float>(from, x, y);
    const float sum = tex2D<float>(from, x - 1, y) + tex2D<float>(from, x + 1, y) +
                      tex2D<float>(from, x, y - 1) + tex2D<float>(from, x, y + 1);
    surf2Dwrite(c + 0.125f * (sum - 4 * c), to, x * (int) sizeof(float), y);
}

static void step_on_host(const std::vector<float> &from, std::vector<float> &to)
{
    const auto at = [&](int x, int y) {
        x = x < 0 ? 0 : x >= WIDTH ? WIDTH - 1 : x;
        y = y < 0 ? 0 : y >= HEIGHT ? HEIGHT - 1 : y;
        return from[y * WIDTH + x];
    };

    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const float c = at(x, y);
            const float sum = at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1);
            to[y * WIDTH + x] = c + 0.125f * (sum - 4 * c);
        }
}

static void check_heat()
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    const size_t row = WIDTH * sizeof(float);
    std::vector<float> now(WIDTH * HEIGHT), next(WIDTH * HEIGHT), out(WIDTH * HEIGHT);
    cudaArray_t arrays[2];
    cudaTextureObject_t textures[2];
    cudaSurfaceObject_t surfaces[2];

    for (int i = 0; i < WIDTH * HEIGHT; i++)
        now[i] = (float) (i * 7 % 64);
    for (int i = 0; i < 2; i++) {
        OK(cudaMallocArray(&arrays[i], &format, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
        textures[i] = texture_of(arrays[i]);
        surfaces[i] = surface_of(arrays[i]);
    }
    OK(cudaMemcpy2DToArray(arrays[0], 0, 0, now.data(), row, row, HEIGHT, cudaMemcpyHostToDevice));
    for (int i = 0; i < STEPS; i++) {
        step<<<dim3((WIDTH + 15) / 16, (HEIGHT + 15) / 16), dim3(16, 16)>>>(textures[i % 2],
                                                                            surfaces[1 - i % 2]);
        step_on_host(now, next);
        now.swap(next);
    }
    OK(cudaMemcpy2DFromArray(out.data(), row, arrays[STEPS % 2], 0, 0, row, HEIGHT,
                             cudaMemcpyDeviceToHost));
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        CHECK(out[i] - now[i] < 1e-4f && now[i] - out[i] < 1e-4f);
    for (int i = 0; i < 2; i++) {
        OK(cudaDestroyTextureObject(textures[i]));
        OK(cudaDestroySurfaceObject(surfaces[i]));
        OK(cudaFreeArray(arrays[i]));
    }
}

/* ---- Boundary modes, and elements of 1 to 16 bytes ---- */

enum { SIDE = 8 };

static __global__ void shift(cudaSurfaceObject_t surface, uchar4 *clamped, uchar4 *zero)
{
    const int x = threadIdx.x, y = threadIdx.y, i = y * SIDE + x;

    clamped[i] = surf2Dread<uchar4>(surface, (x + 1) * 4, y - 1, cudaBoundaryModeClamp);
    zero[i] = surf2Dread<uchar4>(surface, (x + 1) * 4, y - 1, cudaBoundaryModeZero);
    surf2Dwrite(make_uchar4(9, 9, 9, 9), surface, -4, y, cudaBoundaryModeZero); /* nowhere */
}

static void check_boundaries()
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    uchar4 in[SIDE][SIDE], *out;
    cudaArray_t array;

    for (int i = 0; i < SIDE * SIDE; i++)
        in[i / SIDE][i % SIDE] = make_uchar4(i + 1, i + 2, i + 3, i + 4);
    OK(cudaMallocManaged(&out, 2 * sizeof in));
    OK(cudaMallocArray(&array, &format, SIDE, SIDE, cudaArraySurfaceLoadStore));
    OK(cudaMemcpyToArray(array, 0, 0, in, sizeof in, cudaMemcpyHostToDevice));
    const cudaSurfaceObject_t surface = surface_of(array);
    shift<<<1, dim3(SIDE, SIDE)>>>(surface, out, out + SIDE * SIDE);
    OK(cudaDeviceSynchronize());
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const bool outside = x + 1 == SIDE || y == 0;
            const uchar4 near = in[y ? y - 1 : 0][x + 1 < SIDE ? x + 1 : x];
            CHECK(out[y * SIDE + x].x == near.x && out[y * SIDE + x].w == near.w);
            CHECK(out[(SIDE + y) * SIDE + x].y == (outside ? 0 : near.y));
        }
    OK(cudaDestroySurfaceObject(surface));
    OK(cudaFreeArray(array));
    OK(cudaFree(out));
}

template <typename T>
static __global__ void copy_line(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    surf1Dwrite(surf1Dread<T>(from, threadIdx.x * sizeof(T)), to, threadIdx.x * sizeof(T));
}

template <typename T> static void check_width()
{
    enum { N = 64 };
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    std::vector<unsigned char> in(N * sizeof(T)), out(N * sizeof(T));
    cudaArray_t arrays[2];
    cudaSurfaceObject_t surfaces[2];

    for (size_t i = 0; i < in.size(); i++)
        in[i] = (unsigned char) (i * 11 + 3);
    for (int i = 0; i < 2; i++) {
        OK(cudaMallocArray(&arrays[i], &format, N, 0, cudaArraySurfaceLoadStore));
        surfaces[i] = surface_of(arrays[i]);
    }
    OK(cudaMemcpyToArray(arrays[0], 0, 0, in.data(), in.size(), cudaMemcpyHostToDevice));
    copy_line<T><<<1, N>>>(surfaces[0], surfaces[1]);
    OK(cudaMemcpyFromArray(out.data(), arrays[1], 0, 0, out.size(), cudaMemcpyDeviceToHost));
    CHECK(in == out);
    for (int i = 0; i < 2; i++) {
        OK(cudaDestroySurfaceObject(surfaces[i]));
        OK(cudaFreeArray(arrays[i]));
    }
}

/* ---- A volume and layers: each element tells where it is ---- */

static __global__ void fill_volume(cudaSurfaceObject_t surface)
{
    surf3Dwrite((short) (threadIdx.z * 100 + threadIdx.y * 10 + threadIdx.x), surface,
                threadIdx.x * (int) sizeof(short), threadIdx.y, threadIdx.z);
}

static __global__ void fill_layers(cudaSurfaceObject_t surface)
{
    surf2DLayeredwrite((short) (blockIdx.x * 100 + threadIdx.y * 10 + threadIdx.x), surface,
                       threadIdx.x * (int) sizeof(short), threadIdx.y, blockIdx.x);
}

static void check_boxes()
{
    enum { X = 9, Y = 6, Z = 4 };
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<short>();
    static short out[Z][Y][X];
    cudaMemcpy3DParms copy;

    for (unsigned layered : { 0u, (unsigned) cudaArrayLayered }) {
        cudaArray_t array;
        OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(X, Y, Z),
                             layered | cudaArraySurfaceLoadStore));
        const cudaSurfaceObject_t surface = surface_of(array);
        if (layered)
            fill_layers<<<Z, dim3(X, Y)>>>(surface);
        else
            fill_volume<<<1, dim3(X, Y, Z)>>>(surface);
        memset(&copy, 0, sizeof copy);
        copy.srcArray = array;
        copy.dstPtr = make_cudaPitchedPtr(out, X * sizeof(short), X, Y);
        copy.extent = make_cudaExtent(X, Y, Z);
        copy.kind = cudaMemcpyDeviceToHost;
        OK(cudaMemcpy3D(&copy));
        for (int z = 0; z < Z; z++)
            for (int y = 0; y < Y; y++)
                for (int x = 0; x < X; x++)
                    CHECK(out[z][y][x] == z * 100 + y * 10 + x);
        OK(cudaDestroySurfaceObject(surface));
        OK(cudaFreeArray(array));
    }
}

int main()
{
    check_heat();
    check_boundaries();
    check_width<unsigned char>();
    check_width<short>();
    check_width<float>();
    check_width<short2>();
    check_width<float2>();
    check_width<uint4>();
    check_boxes();
    puts("ok");
}
