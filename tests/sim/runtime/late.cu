/* late.cu - work runs no earlier than something waits for it, so that a missing wait shows every
 * time: for a stream that does not wait for the default one, for copies, for host functions, at
 * exit.
 */
#include "../programs/check.h"

static __global__ void set(int *x, int value)
{
    *x = value;
}

static void CUDART_CB note(void *data)
{
    *(int *) data += 1;
}

static int read(const int *x)
{
    int value;

    OK(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

int main()
{
    cudaStream_t loose, strict;
    cudaEvent_t event;
    int *x, *pinned, called = 0;

    OK(cudaStreamCreateWithFlags(&loose, cudaStreamNonBlocking));
    OK(cudaStreamCreate(&strict));
    OK(cudaEventCreate(&event));
    OK(cudaMalloc(&x, sizeof *x));
    OK(cudaMallocHost(&pinned, sizeof *pinned));
    OK(cudaMemset(x, 0, sizeof *x));
    *pinned = -1;

    /* cudaMemcpy waits for the default stream and those that wait for it, not for this one */
    set<<<1, 1, 0, loose>>>(x, 1);
    CHECK(read(x) == 0);
    OK(cudaStreamSynchronize(loose));
    CHECK(read(x) == 1);
    set<<<1, 1, 0, strict>>>(x, 2);
    CHECK(read(x) == 2);

    /* an event that is not waited for says nothing about what was recorded before it */
    set<<<1, 1, 0, strict>>>(x, 3);
    OK(cudaMemcpyAsync(pinned, x, sizeof *x, cudaMemcpyDeviceToHost, strict));
    OK(cudaLaunchHostFunc(strict, note, &called));
    OK(cudaEventRecord(event, strict));
    CHECK(*pinned == -1 && called == 0);
    OK(cudaEventSynchronize(event));
    CHECK(*pinned == 3 && called == 1);

    /* to wait for an event is to wait for what was recorded last, not for what came after */
    set<<<1, 1, 0, strict>>>(x, 4);
    OK(cudaEventRecord(event, strict));
    OK(cudaLaunchHostFunc(strict, note, &called));
    OK(cudaEventSynchronize(event));
    CHECK(called == 1);
    OK(cudaStreamSynchronize(strict));
    CHECK(called == 2);

    /* a destroyed stream's work is done all the same; cudaFree waits for everything */
    set<<<1, 1, 0, loose>>>(x, 5);
    OK(cudaMemcpyAsync(pinned, x, sizeof *x, cudaMemcpyDeviceToHost, loose));
    OK(cudaStreamDestroy(loose));
    CHECK(*pinned == 3);
    OK(cudaFree(x));
    CHECK(*pinned == 5);

    OK(cudaFreeHost(pinned));
    OK(cudaStreamDestroy(strict));
    OK(cudaEventDestroy(event));
    puts("ok");
}
