/* last_error.cu - when an error is returned, how long it stays, and what still works after a failed
 * kernel.
 *
 * expect: ok
 * stderr: out of bounds
 */
#include "check.h"

static __global__ void touch(int *x, long i)
{
    x[i] = 1;
}

int main()
{
    int *x, *y, value;

    /* an error stays until it is read, over calls that succeed */
    EXPECT(cudaErrorInvalidValue, cudaMalloc((void **) NULL, 4));
    OK(cudaMalloc(&x, 4));
    EXPECT(cudaErrorInvalidValue, cudaPeekAtLastError());
    EXPECT(cudaErrorInvalidValue, cudaGetLastError());
    OK(cudaGetLastError());
    EXPECT(cudaErrorMemoryAllocation, cudaMalloc(&y, (size_t) 1 << 50));
    EXPECT(cudaErrorMemoryAllocation, cudaGetLastError());

    /* querying too early also sets the last error */
    touch<<<1, 1>>>(x, 0);
    while (cudaStreamQuery(0) == cudaErrorNotReady)
        ;
    cudaGetLastError();
    OK(cudaDeviceSynchronize());

    /* a kernel that fails: the launch succeeds, and all later calls fail */
    touch<<<1, 1>>>(x, 1l << 40);
    OK(cudaGetLastError());
    EXPECT(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    EXPECT(cudaErrorIllegalAddress, cudaGetLastError());
    EXPECT(cudaErrorIllegalAddress, cudaMalloc(&y, 4));
    EXPECT(cudaErrorIllegalAddress, cudaMemcpy(&value, x, 4, cudaMemcpyDeviceToHost));
    touch<<<1, 1>>>(x, 0);
    EXPECT(cudaErrorIllegalAddress, cudaGetLastError());
    puts("ok");
}
