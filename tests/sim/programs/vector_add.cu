/* vector_add.cu - the first program of all: allocate, copy, launch, copy back, free.
 *
 * expect: ok
 */
#include "check.h"

static __global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        c[i] = a[i] + b[i];
}

int main()
{
    const int n = 10001;
    const size_t bytes = n * sizeof(float);
    float *a = (float *) malloc(bytes), *b = (float *) malloc(bytes), *c = (float *) malloc(bytes);
    float *device_a, *device_b, *device_c;

    for (int i = 0; i < n; i++)
        a[i] = i, b[i] = 3 * i;
    OK(cudaMalloc(&device_a, bytes));
    OK(cudaMalloc(&device_b, bytes));
    OK(cudaMalloc(&device_c, bytes));
    OK(cudaMemcpy(device_a, a, bytes, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(device_b, b, bytes, cudaMemcpyDefault));
    add<<<(n + 255) / 256, 256>>>(device_a, device_b, device_c, n);
    OK(cudaGetLastError());
    OK(cudaMemcpy(c, device_c, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        CHECK(c[i] == 4.0f * i);
    OK(cudaFree(device_a));
    OK(cudaFree(device_b));
    OK(cudaFree(device_c));
    free(a), free(b), free(c);
    puts("ok");
}
