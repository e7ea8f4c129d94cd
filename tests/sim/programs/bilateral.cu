/* bilateral.cu - a bilateral filter and a box stencil of an image of uchar4 with a pitch, read
 * through a texture as floats from 0 to 1.
 *
 * expect: ok
 */
#include "check.h"

#include <cmath>
#include <cstring>
#include <vector>

enum { WIDTH = 75, HEIGHT = 50, RADIUS = 2 };

static __constant__ float closeness[2 * RADIUS + 1];

static __host__ __device__ float similarity(float4 a, float4 b)
{
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;

    return expf(-(x * x + y * y + z * z) / (2 * 0.1f * 0.1f));
}

static __device__ uchar4 to_bytes(float4 a)
{
    return make_uchar4(a.x * 255 + 0.5f, a.y * 255 + 0.5f, a.z * 255 + 0.5f, 255);
}

static __global__ void smooth(cudaTextureObject_t image, uchar4 *out, size_t pitch)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float4 sum = make_float4(0, 0, 0, 0);
    float weights = 0;

    if (x >= WIDTH || y >= HEIGHT)
        return;
    const float4 centre = tex2D<float4>(image, x, y);
    for (int i = -RADIUS; i <= RADIUS; i++)
        for (int j = -RADIUS; j <= RADIUS; j++) {
            const float4 at = tex2D<float4>(image, x + j, y + i);
            const float weight =
                closeness[i + RADIUS] * closeness[j + RADIUS] * similarity(at, centre);
            sum.x += weight * at.x;
            sum.y += weight * at.y;
            sum.z += weight * at.z;
            weights += weight;
        }
    *((uchar4 *) ((char *) out + y * pitch) + x) =
        to_bytes(make_float4(sum.x / weights, sum.y / weights, sum.z / weights, 1));
}

static float4 pixel(const std::vector<uchar4> &image, int x, int y)
{
    x = x < 0 ? 0 : x >= WIDTH ? WIDTH - 1 : x;
    y = y < 0 ? 0 : y >= HEIGHT ? HEIGHT - 1 : y;
    const uchar4 p = image[y * WIDTH + x];
    return make_float4(p.x / 255.0f, p.y / 255.0f, p.z / 255.0f, p.w / 255.0f);
}

static float expected(const std::vector<uchar4> &image, const float *close, int x, int y)
{
    const float4 centre = pixel(image, x, y);
    float sum = 0, weights = 0;

    for (int i = -RADIUS; i <= RADIUS; i++)
        for (int j = -RADIUS; j <= RADIUS; j++) {
            const float4 at = pixel(image, x + j, y + i);
            const float weight = close[i + RADIUS] * close[j + RADIUS] * similarity(at, centre);
            sum += weight * at.y;
            weights += weight;
        }
    return sum / weights * 255;
}

int main()
{
    std::vector<uchar4> image(WIDTH * HEIGHT), out(WIDTH * HEIGHT);
    float close[2 * RADIUS + 1];
    cudaResourceDesc resource;
    cudaTextureDesc how;
    cudaTextureObject_t texture;
    uchar4 *in, *result;
    size_t pitch;

    for (int i = 0; i < WIDTH * HEIGHT; i++)
        image[i] = make_uchar4(i % 256, i / WIDTH * 5 % 256, i * 7 % 251, 255);
    for (int i = -RADIUS; i <= RADIUS; i++)
        close[i + RADIUS] = expf(-i * i / 4.5f);
    OK(cudaMemcpyToSymbol(closeness, close, sizeof close));
    OK(cudaMallocPitch(&in, &pitch, WIDTH * sizeof(uchar4), HEIGHT));
    OK(cudaMallocPitch(&result, &pitch, WIDTH * sizeof(uchar4), HEIGHT));
    OK(cudaMemcpy2D(in, pitch, image.data(), WIDTH * sizeof(uchar4), WIDTH * sizeof(uchar4), HEIGHT,
                    cudaMemcpyHostToDevice));
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = in;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
    resource.res.pitch2D.width = WIDTH;
    resource.res.pitch2D.height = HEIGHT;
    resource.res.pitch2D.pitchInBytes = pitch;
    memset(&how, 0, sizeof how);
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.readMode = cudaReadModeNormalizedFloat;
    OK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    smooth<<<dim3((WIDTH + 15) / 16, (HEIGHT + 15) / 16), dim3(16, 16)>>>(texture, result, pitch);
    OK(cudaGetLastError());
    OK(cudaMemcpy2D(out.data(), WIDTH * sizeof(uchar4), result, pitch, WIDTH * sizeof(uchar4),
                    HEIGHT, cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            CHECK(fabsf(out[y * WIDTH + x].y - expected(image, close, x, y)) <= 0.51f);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFree(in));
    OK(cudaFree(result));
    puts("ok");
}
