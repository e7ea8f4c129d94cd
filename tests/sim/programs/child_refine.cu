/* child_refine.cu - adaptive refinement (Mariani and Silver): if all pixels on the border of a
 * square of the Mandelbrot set have the same value, a child fills it; otherwise the kernel launches
 * itself for its four quarters, or a child computes each pixel of a small square.
 *
 * expect: ok
 * libraries: cudadevrt
 * schedules: forward random:2
 */
#include "check.h"

#include <vector>

enum { SIZE = 256, FIRST = 64, SMALL = 16, MOST = 64, THREADS = 64 };

__host__ __device__ int steps_at(int x, int y)
{
    const float cx = -2.0f + x * (3.0f / SIZE), cy = -1.5f + y * (3.0f / SIZE);
    float re = 0, im = 0;
    int steps = 0;

    for (; steps < MOST && re * re + im * im < 4; steps++) {
        const float next = re * re - im * im + cx;
        im = 2 * re * im + cy;
        re = next;
    }
    return steps;
}

__global__ void fill(int *image, int x, int y, int side, int value)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < side * side;
         i += gridDim.x * blockDim.x)
        image[(y + i / side) * SIZE + x + i % side] = value;
}

__global__ void each_pixel(int *image, int x, int y, int side)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < side * side;
         i += gridDim.x * blockDim.x)
        image[(y + i / side) * SIZE + x + i % side] = steps_at(x + i % side, y + i / side);
}

/* Whether the border of the square has this value everywhere. For the whole block. */
__device__ bool is_border(int x, int y, int side, int value)
{
    bool same = true;

    for (int i = threadIdx.x; i < side; i += blockDim.x)
        same = same && steps_at(x + i, y) == value && steps_at(x + i, y + side - 1) == value &&
               steps_at(x, y + i) == value && steps_at(x + side - 1, y + i) == value;
    return __syncthreads_and(same);
}

/* One block per square. */
__global__ void refine(int *image, int left, int top, int side)
{
    const int x = left + blockIdx.x * side, y = top + blockIdx.y * side;
    const int value = steps_at(x, y);
    const bool same = is_border(x, y, side, value);

    if (threadIdx.x)
        return;
    if (same)
        fill<<<side * side / THREADS, THREADS>>>(image, x, y, side, value);
    else if (side <= SMALL)
        each_pixel<<<side * side / THREADS, THREADS>>>(image, x, y, side);
    else
        refine<<<dim3(2, 2), THREADS>>>(image, x, y, side / 2);
}

int main()
{
    std::vector<int> values(SIZE * SIZE);
    int *image, differ = 0;

    OK(cudaMalloc(&image, SIZE * SIZE * sizeof *image));
    refine<<<dim3(SIZE / FIRST, SIZE / FIRST), THREADS>>>(image, 0, 0, FIRST);
    OK(cudaGetLastError());
    OK(cudaMemcpy(values.data(), image, SIZE * SIZE * sizeof *image, cudaMemcpyDeviceToHost));
    for (int i = 0; i < SIZE * SIZE; i++)
        differ += values[i] != steps_at(i % SIZE, i / SIZE);
    CHECK(differ < SIZE * SIZE / 100); /* the host rounds differently, and thin arms are missed */
    OK(cudaFree(image));
    printf("ok\n");
}
