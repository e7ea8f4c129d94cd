/* startup.cu - a process that launches one tiny kernel and waits for it. With an argument, it exits
 * instead of launching. */
#include "bench.h"

static __global__ void set(int *value)
{
    *value = 7;
}

int main(int count, char **words)
{
    int *on_device, value = 0;

    (void) words;
    if (count > 1)
        return 0;
    CHECK(cudaMalloc(&on_device, sizeof *on_device));
    set<<<1, 1>>>(on_device);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&value, on_device, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(on_device));
    return value != 7;
}
