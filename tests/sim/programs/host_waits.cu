/* host_waits.cu - the host waits, without a CUDA call, for a semaphore that a host function of a
 * stream posts: this once hung silently.
 *
 * expect: ok
 */
#include "check.h"

#include <semaphore.h>

static sem_t posted;

static __global__ void set(int *x)
{
    *x = 5;
}

static void CUDART_CB post(void *)
{
    sem_post(&posted);
}

static void CUDART_CB wait_for_host(void *)
{
    sem_wait(&posted);
}

int main()
{
    cudaStream_t stream;
    int *x, *copy;

    sem_init(&posted, 0, 0);
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&x, sizeof *x));
    OK(cudaMallocHost(&copy, sizeof *copy));
    set<<<1, 1, 0, stream>>>(x);
    OK(cudaMemcpyAsync(copy, x, sizeof *x, cudaMemcpyDeviceToHost, stream));
    OK(cudaLaunchHostFunc(stream, post, NULL));
    sem_wait(&posted);
    CHECK(*copy == 5);

    /* The other way round: the function waits for the host. */
    OK(cudaLaunchHostFunc(stream, wait_for_host, NULL));
    sem_post(&posted);
    OK(cudaStreamSynchronize(stream));

    OK(cudaFree(x));
    OK(cudaFreeHost(copy));
    OK(cudaStreamDestroy(stream));
    puts("ok");
}
