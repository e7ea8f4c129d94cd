/* transpose.cu - 512 x 512 floats through tiles in shared memory, padded by a column. */
#include "bench.h"

enum { TILE = 32, ROWS = 8, SIZE = 512, REPETITIONS = 15 };

static __global__ void transpose(float *out, const float *in, int size)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

    for (int i = 0; i < TILE; i += ROWS)
        if (x < size && y + i < size)
            tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * size + x];
    __syncthreads(); /* the tile is complete */
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < size && y + i < size)
            out[(y + i) * size + x] = tile[threadIdx.x][threadIdx.y + i];
}

struct Problem {
    float *in, *out;
};

static void launch(void *self)
{
    Problem *p = (Problem *) self;

    transpose<<<dim3(SIZE / TILE, SIZE / TILE), dim3(TILE, ROWS)>>>(p->out, p->in, SIZE);
}

int main(void)
{
    const size_t bytes = sizeof(float) * SIZE * SIZE;
    float *in = (float *) bench_host(bytes), *out = (float *) bench_host(bytes);
    Problem p = { (float *) bench_device(bytes), (float *) bench_device(bytes) };

    for (unsigned i = 0; i < SIZE * SIZE; i++)
        in[i] = (float) i;
    CHECK(cudaMemcpy(p.in, in, bytes, cudaMemcpyHostToDevice));
    BenchTimes times = bench_run(launch, &p, REPETITIONS);
    CHECK(cudaMemcpy(out, p.out, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < SIZE * SIZE; i++)
        if (out[i] != in[i % SIZE * SIZE + i / SIZE]) {
            printf("wrong: out[%d] is %g\n", i, out[i]);
            return 1;
        }
    bench_print("transpose", &times);
    CHECK(cudaFree(p.in));
    CHECK(cudaFree(p.out));
    return 0;
}
