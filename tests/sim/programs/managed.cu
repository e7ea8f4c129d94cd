/* managed.cu - managed memory, allocated and declared, which host and device access at one address.
 *
 * expect: ok
 */
#include "check.h"

__managed__ int total = 3;
__managed__ float row[8];

static __global__ void sum(const int *x, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&total, x[i]);
    if (threadIdx.x < 8)
        row[threadIdx.x] *= 2;
}

int main()
{
    const int n = 100;
    int *x;
    cudaPointerAttributes attributes;

    CHECK(total == 3);
    total = 10;
    for (int i = 0; i < 8; i++)
        row[i] = i;
    OK(cudaMallocManaged(&x, n * sizeof *x));
    for (int i = 0; i < n; i++)
        x[i] = i;
    sum<<<1, 64>>>(x, n);
    OK(cudaDeviceSynchronize());
    CHECK(total == 10 + n * (n - 1) / 2);
    CHECK(row[7] == 14);

    OK(cudaMemset(x, 0xff, 4));
    OK(cudaDeviceSynchronize());
    CHECK(x[0] == -1 && x[1] == 1);
    OK(cudaPointerGetAttributes(&attributes, x + 5));
    CHECK(attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == x + 5);
    OK(cudaPointerGetAttributes(&attributes, &attributes));
    CHECK(attributes.type == cudaMemoryTypeUnregistered);
    OK(cudaFree(x));
    puts("ok");
}
