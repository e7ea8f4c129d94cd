/* streams.cu - order within a stream, between streams by events, and by the default stream.
 *
 * expect: ok
 */
#include "check.h"

static __global__ void set(int *x, int value)
{
    *x = value;
}

static __global__ void twice_plus(int *x, const int *y, int value)
{
    *x = *y * 2 + value;
}

static int read(const int *x)
{
    int value;

    OK(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

int main()
{
    cudaStream_t a, b;
    cudaEvent_t event, start, end;
    int *x, *y;
    float ms = -1;

    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    OK(cudaMalloc(&x, sizeof *x));
    OK(cudaMalloc(&y, sizeof *y));

    /* b waits for a, even if the host waits for b first */
    OK(cudaEventRecord(start, a));
    set<<<1, 1, 0, a>>>(x, 5);
    OK(cudaEventRecord(event, a));
    set<<<1, 1, 0, a>>>(y, 1000);
    OK(cudaStreamWaitEvent(b, event, 0));
    twice_plus<<<1, 1, 0, b>>>(x, x, 1);
    OK(cudaStreamSynchronize(b));
    OK(cudaEventRecord(end, a));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, start, end));
    CHECK(ms > 0);
    OK(cudaStreamQuery(a));
    CHECK(read(x) == 11 && read(y) == 1000);

    /* the default stream and stream a wait for each other */
    set<<<1, 1, 0, a>>>(x, 1);
    twice_plus<<<1, 1>>>(y, x, 3);
    twice_plus<<<1, 1, 0, a>>>(x, y, 100);
    OK(cudaStreamSynchronize(a));
    CHECK(read(y) == 5 && read(x) == 110);

    /* repeated queries eventually succeed */
    set<<<1, 1, 0, b>>>(x, 77);
    set<<<1, 1, 0, b>>>(y, 78);
    OK(cudaEventRecord(end, b));
    while (cudaEventQuery(end) == cudaErrorNotReady)
        ;
    OK(cudaEventQuery(end));
    while (cudaStreamQuery(b) != cudaSuccess)
        ;
    CHECK(read(x) == 77 && read(y) == 78);

    EXPECT(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, event, end));
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    OK(cudaEventDestroy(event));
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(end));
    OK(cudaFree(x));
    OK(cudaFree(y));
    puts("ok");
}
