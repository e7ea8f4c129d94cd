/* symbols.cu - __constant__ and __device__ variables, their addresses and sizes; struct arguments.
 *
 * expect: ok
 */
#include "check.h"

struct Pair {
    double scale;
    char shift;
    float more[3];
};

__constant__ float weights[4] = { 1, 2, 3, 4 };
__device__ int counter = 7;
static __device__ double table[2][2];
__device__ int *pointer = &counter;

static __global__ void run(Pair pair, short factor, double *out)
{
    table[1][0] = weights[2] * pair.scale + pair.shift + pair.more[2] * factor;
    out[0] = table[1][0];
    atomicAdd(pointer, 5);
}

int main()
{
    const float heavier[4] = { 10, 20, 30, 40 };
    double *out, value, *place;
    size_t bytes;
    int count, start = 100;

    OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    CHECK(count == 7);
    OK(cudaMemcpyToSymbol(counter, &start, sizeof start));
    OK(cudaMemcpyToSymbol(weights, heavier + 2, sizeof(float), 2 * sizeof(float)));
    OK(cudaMalloc(&out, sizeof *out));
    run<<<1, 1>>>(Pair{ 2.5, 'a', { 0, 0, 4 } }, -3, out);
    OK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 30 * 2.5 + 'a' - 12);
    OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    CHECK(count == 105);

    OK(cudaGetSymbolSize(&bytes, table));
    CHECK(bytes == sizeof table);
    OK(cudaGetSymbolAddress((void **) &place, table));
    OK(cudaMemcpy(&value, place + 2, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 30 * 2.5 + 'a' - 12);
    EXPECT(cudaErrorInvalidSymbol, cudaGetSymbolSize(&bytes, &start));
    EXPECT(cudaErrorInvalidSymbol, cudaGetLastError());
    OK(cudaFree(out));
    puts("ok");
}
