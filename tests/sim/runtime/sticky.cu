/* sticky.cu - a failed kernel's error stays for all threads and all calls, and a reset does not
 * restore the device; errors of calls do not stay.
 */
#include "../programs/check.h"

#include <thread>

static __global__ void write(int *x, long i)
{
    x[i] = 5;
}

int main()
{
    cudaStream_t stream;
    cudaEvent_t event;
    int *x, *y, value = 0;

    /* not sticky */
    EXPECT(cudaErrorInvalidValue, cudaMemcpy(NULL, &value, 4, cudaMemcpyHostToDevice));
    OK(cudaMalloc(&x, 4));
    EXPECT(cudaErrorInvalidValue, cudaGetLastError());
    OK(cudaGetLastError());

    OK(cudaStreamCreate(&stream));
    OK(cudaEventCreate(&event));
    write<<<1, 1, 0, stream>>>(x, 1l << 33);
    write<<<1, 1, 0, stream>>>(x, 0); /* it never runs */
    OK(cudaEventRecord(event, stream));
    OK(cudaGetLastError());
    EXPECT(cudaErrorIllegalAddress, cudaStreamSynchronize(stream));
    EXPECT(cudaErrorIllegalAddress, cudaGetLastError());
    OK(cudaGetLastError());
    EXPECT(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    EXPECT(cudaErrorIllegalAddress, cudaPeekAtLastError());
    EXPECT(cudaErrorIllegalAddress, cudaEventQuery(event));
    EXPECT(cudaErrorIllegalAddress, cudaMalloc(&y, 4));
    EXPECT(cudaErrorIllegalAddress, cudaFree(x));
    EXPECT(cudaErrorIllegalAddress, cudaStreamCreate(&stream));
    std::thread([] { EXPECT(cudaErrorIllegalAddress, cudaDeviceSynchronize()); }).join();

    /* as on an H200, the device stays unusable in this process (programs/error_codes.expected) */
    OK(cudaSetDevice(0));
    OK(cudaDeviceReset());
    cudaGetLastError();
    EXPECT(cudaErrorDevicesUnavailable, cudaMalloc(&x, 4));
    puts("ok");
}
