/* linked_other.cu - the second object file of linked.cu. */
#include "linked.h"

#include <cstdio>

__constant__ int table[4] = { 1, 2, 3, 4 };
static __device__ int factor = 3;

static __device__ __noinline__ int helper(int x)
{
    return x * factor;
}

__device__ int other(int x)
{
    return counter + helper(x) + twice<int>(2);
}

static __global__ void add(int *out)
{
    printf("second\n");
    out[1] += 1000;
}

void second(int *out)
{
    add<<<1, 1>>>(out);
}
