/* pitch.cu - rows with a pitch: allocated, copied, filled.
 *
 * expect: ok
 */
#include "check.h"

enum { WIDTH = 100, HEIGHT = 37 };

static __global__ void add(float *x, size_t pitch, int width, int height)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;

    if (column < width && row < height)
        ((float *) ((char *) x + row * pitch))[column] += 1000 * row;
}

int main()
{
    static float in[HEIGHT][WIDTH], out[HEIGHT][WIDTH + 28];
    float *x;
    size_t pitch;

    for (int row = 0; row < HEIGHT; row++)
        for (int column = 0; column < WIDTH; column++)
            in[row][column] = column;
    OK(cudaMallocPitch(&x, &pitch, WIDTH * sizeof(float), HEIGHT));
    CHECK(pitch >= WIDTH * sizeof(float) && pitch % 256 == 0);
    OK(cudaMemcpy2D(x, pitch, in, sizeof in[0], sizeof in[0], HEIGHT, cudaMemcpyHostToDevice));
    add<<<dim3(4, 5), dim3(32, 8)>>>(x, pitch, WIDTH, HEIGHT);
    OK(cudaMemcpy2D(out, sizeof out[0], x, pitch, sizeof in[0], HEIGHT, cudaMemcpyDeviceToHost));
    for (int row = 0; row < HEIGHT; row++)
        for (int column = 0; column < WIDTH + 28; column++)
            CHECK(out[row][column] == (column < WIDTH ? column + 1000 * row : 0));

    OK(cudaMemset2D(x, pitch, 0, 4 * sizeof(float), HEIGHT));
    OK(cudaMemcpy2D(out, sizeof out[0], x, pitch, sizeof in[0], HEIGHT, cudaMemcpyDeviceToHost));
    CHECK(out[5][3] == 0 && out[5][4] == 5004);
    EXPECT(cudaErrorInvalidPitchValue,
           cudaMemcpy2D(out, 8, x, pitch, sizeof in[0], HEIGHT, cudaMemcpyDeviceToHost));
    OK(cudaFree(x));
    puts("ok");
}
