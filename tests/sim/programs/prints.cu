/* prints.cu - printf in a kernel: formats, widths, strings, all lanes in order, a loop. */
#include "check.h"

static __device__ const char *const names[] = { "zero", "one", "two" };

static __global__ void say(int a, long long b, double c)
{
    int t = threadIdx.x;

    if (blockIdx.x == 0 && t < 3)
        printf("%d is %s of block %d\n", t, names[t], blockIdx.x);
    if (t == 1)
        printf("[%5d|%-6d|%06d|%+d|%x|%X|%#o|%u]\n", a, a, a, a, a, a, a, -a);
    if (t == 2)
        printf("[%lld|%llx|%10.3f|%-12e|%g|%c|%%|%5s|%.2s]\n", b, b, c, c, c, 'q', "ab", "xyz");
    for (int i = 0; i < t; i++)
        if (i == 2)
            printf("lane %d, %hhd %hd\n", t, (signed char) (300 + t), (short) (70000 + t));
}

static __global__ void count(int *y)
{
    y[0] = printf("three %d %d %d\n", 1, 2, 3);
    y[1] = printf("none\n");
}

int main()
{
    int *y, host[2];

    say<<<1, 4>>>(42, -1234567890123LL, 2.5);
    OK(cudaDeviceSynchronize());
    OK(cudaMalloc(&y, sizeof host));
    count<<<1, 1>>>(y);
    OK(cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[1]);
    OK(cudaFree(y));
}
