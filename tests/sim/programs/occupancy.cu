/* occupancy.cu - the occupancy calls agree with each other and with the figures of the device.
 *
 * expect: ok
 */
#include "check.h"

static __global__ void copy(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = x[i];
}

static __global__ void __launch_bounds__(256) hungry(float *x)
{
    __shared__ float tile[8192];

    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[255 - threadIdx.x];
}

int main()
{
    cudaDeviceProp device;
    cudaFuncAttributes attributes;
    int blocks, least, best, value;

    OK(cudaGetDeviceProperties(&device, 0));
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    CHECK(value == device.multiProcessorCount && value > 0);
    CHECK(device.warpSize == 32 && device.maxThreadsPerBlock == 1024);
    EXPECT(cudaErrorInvalidDevice, cudaGetDeviceProperties(&device, 99));
    EXPECT(cudaErrorInvalidDevice, cudaGetLastError());

    OK(cudaFuncGetAttributes(&attributes, copy));
    CHECK(attributes.numRegs > 0 && attributes.numRegs < 64);
    CHECK(attributes.maxThreadsPerBlock == 1024 && attributes.sharedSizeBytes == 0);
    OK(cudaFuncGetAttributes(&attributes, hungry));
    CHECK(attributes.maxThreadsPerBlock == 256 && attributes.sharedSizeBytes == 32768);

    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, copy, 1024, 0));
    CHECK(blocks == device.maxThreadsPerMultiProcessor / 1024);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, hungry, 256, 0));
    value = device.sharedMemPerMultiprocessor / (32768 + device.reservedSharedMemPerBlock);
    CHECK(blocks == value || blocks == device.maxThreadsPerMultiProcessor / 256);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, hungry, 257, 0));
    CHECK(blocks == 0);
    OK(cudaOccupancyMaxPotentialBlockSize(&least, &best, copy, 0, 0));
    CHECK(best >= 256 && best <= 1024 && least % device.multiProcessorCount == 0);
    puts("ok");
}
