/* late.cu - work runs only when something waits for it, so that a missing wait always has an
 * effect: for a stream that does not wait for the default stream, for copies, for host functions,
 * at exit.
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

    /* cudaMemcpy waits for the default stream and the streams that wait for it, not for this one */
    set<<<1, 1, 0, loose>>>(x, 1);
    CHECK(read(x) == 0);
    OK(cudaStreamSynchronize(loose));
    CHECK(read(x) == 1);
    set<<<1, 1, 0, strict>>>(x, 2);
    CHECK(read(x) == 2);

    /* without a wait for the event, the work before it need not have run */
    set<<<1, 1, 0, strict>>>(x, 3);
    OK(cudaMemcpyAsync(pinned, x, sizeof *x, cudaMemcpyDeviceToHost, strict));
    OK(cudaLaunchHostFunc(strict, note, &called));
    OK(cudaEventRecord(event, strict));
    CHECK(*pinned == -1 && called == 0);
    OK(cudaEventSynchronize(event));
    CHECK(*pinned == 3 && called == 1);

    /* a wait for an event includes the work before its latest recording, not the work after it */
    set<<<1, 1, 0, strict>>>(x, 4);
    OK(cudaEventRecord(event, strict));
    OK(cudaLaunchHostFunc(strict, note, &called));
    OK(cudaEventSynchronize(event));
    CHECK(called == 1);
    OK(cudaStreamSynchronize(strict));
    CHECK(called == 2);

    /* the work of a destroyed stream is still executed; cudaFree waits for all work */
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
