/* calls.cu - calls that are not simulated report themselves once, by name; peer calls with a single
 * device; calls about devices that do not exist.
 */
#include "../programs/check.h"

int main()
{
    cudaDeviceProp properties;
    int count, device, can;
    char *x, *y, host[4] = "abc";

    OK(cudaGetDeviceCount(&count));
    CHECK(count == 1);
    EXPECT(cudaErrorInvalidDevice, cudaSetDevice(1));
    EXPECT(cudaErrorInvalidDevice, cudaSetDevice(-1));
    OK(cudaSetDevice(0));
    OK(cudaGetDevice(&device));
    CHECK(device == 0);
    EXPECT(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, 1));
    OK(cudaGetDeviceProperties(&properties, 0));
    CHECK(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024);
    EXPECT(cudaErrorInvalidDevice, cudaDeviceCanAccessPeer(&can, 0, 1));
    cudaGetLastError();

    OK(cudaMalloc(&x, 4));
    OK(cudaMalloc(&y, 4));
    OK(cudaMemcpy(x, host, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpyPeer(y, 0, x, 0, 4));
    host[0] = 0;
    OK(cudaMemcpy(host, y, 4, cudaMemcpyDefault));
    CHECK(host[0] == 'a' && host[2] == 'c');
    OK(cudaFree(x));
    OK(cudaFree(y));

    EXPECT(cudaErrorNotSupported, cudaGraphicsUnregisterResource(NULL));
    EXPECT(cudaErrorNotSupported, cudaGetLastError());
    EXPECT(cudaErrorNotSupported, cudaGraphicsUnregisterResource(NULL));
    cudaGetLastError();
    puts("ok");
}
