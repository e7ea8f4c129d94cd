/* pinned.cu - freed pinned memory is host memory again: malloc returns it, copies use it. */
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { BYTES = 3 << 16 };

int main(void)
{
    char *device, *pinned, *plain;
    int failed = 0;

    failed |= cudaMalloc(&device, BYTES);
    for (int i = 0; i < 20; i++) {
        failed |= cudaMallocHost(&pinned, BYTES);
        memset(pinned, i, BYTES);
        failed |= cudaMemcpy(device, pinned, BYTES, cudaMemcpyDefault);
        failed |= cudaFreeHost(pinned);
        plain = (char *) malloc(BYTES);
        failed |= cudaMemcpy(plain, device, BYTES, cudaMemcpyDeviceToHost);
        failed |= cudaMemcpy(device, plain, BYTES, cudaMemcpyDefault);
        failed |= plain[BYTES - 1] != i;
        free(plain);
    }
    failed |= cudaFree(device);
    puts(failed ? "failed" : "as it should be");
    return failed != 0;
}
