/* linked.cu - the first of two object files of relocatable device code; linked_other.cu is the
 * second. Each has a function, a string and a static variable of the same name.
 */
#include "linked.h"

#include <cstdio>

__device__ int counter = 3;
static __device__ int factor = 2;

static __device__ __noinline__ int helper(int x)
{
    return x * factor;
}

__global__ void first(int *out)
{
    printf("first %d\n", threadIdx.x);
    out[threadIdx.x] = other(threadIdx.x) + helper(table[1]) + twice<int>(1);
}

int main()
{
    const int values[4] = { 1, 20, 3, 4 };
    int *out, got[2];

    cudaMalloc(&out, sizeof got);
    cudaMemcpyToSymbol(table, values, sizeof values);
    first<<<1, 2>>>(out);
    second(out);
    if (cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess)
        return 1;
    printf("%d %d\n", got[0], got[1]);
    cudaFree(out);
}
