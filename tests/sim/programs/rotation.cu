/* rotation.cu - an image turned about its centre through a texture, as CUDA's simpleTexture does.
 *
 * expect: ok
 */
#include "check.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* cudaMemcpyToArray */

#include <cmath>
#include <cstring>
#include <vector>

enum { SIDE = 128 };

static __global__ void rotate(cudaTextureObject_t image, float *out, float angle)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const float u = x / (float) SIDE - 0.5f, v = y / (float) SIDE - 0.5f;

    out[y * SIDE + x] = tex2D<float>(image, u * cosf(angle) - v * sinf(angle) + 0.5f,
                                     v * cosf(angle) + u * sinf(angle) + 0.5f);
}

static float wrapped(const std::vector<float> &image, int x, int y)
{
    return image[(y % SIDE + SIDE) % SIDE * SIDE + (x % SIDE + SIDE) % SIDE];
}

static float expected(const std::vector<float> &image, int column, int row, double angle)
{
    const double u = column / (double) SIDE - 0.5, v = row / (double) SIDE - 0.5;
    const double x = (u * cos(angle) - v * sin(angle) + 0.5) * SIDE - 0.5;
    const double y = (v * cos(angle) + u * sin(angle) + 0.5) * SIDE - 0.5;
    const int i = (int) floor(x), j = (int) floor(y);
    const double a = x - i, b = y - j;

    return (float) ((1 - b) * ((1 - a) * wrapped(image, i, j) + a * wrapped(image, i + 1, j)) +
                    b * ((1 - a) * wrapped(image, i, j + 1) + a * wrapped(image, i + 1, j + 1)));
}

int main()
{
    std::vector<float> image(SIDE * SIDE), out(SIDE * SIDE);
    const cudaChannelFormatDesc format =
        cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    cudaResourceDesc resource;
    cudaTextureDesc how;
    cudaTextureObject_t texture;
    cudaArray_t array;
    float *result;

    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            image[y * SIDE + x] = 0.5f + 0.5f * sinf(0.11f * x) * cosf(0.07f * y);
    OK(cudaMalloc(&result, out.size() * sizeof(float)));
    OK(cudaMallocArray(&array, &format, SIDE, SIDE));
    OK(cudaMemcpyToArray(array, 0, 0, image.data(), image.size() * sizeof(float),
                         cudaMemcpyHostToDevice));
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    memset(&how, 0, sizeof how);
    how.normalizedCoords = true;
    how.filterMode = cudaFilterModeLinear;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeWrap;
    how.readMode = cudaReadModeElementType;
    OK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    for (float angle : { 0.0f, 0.5f, 2.0f }) {
        rotate<<<dim3(SIDE / 8, SIDE / 8), dim3(8, 8)>>>(texture, result, angle);
        OK(cudaGetLastError());
        OK(cudaMemcpy(out.data(), result, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                CHECK(fabsf(out[y * SIDE + x] - expected(image, x, y, angle)) < 5e-3f);
    }
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(array));
    OK(cudaFree(result));
    puts("ok");
}
