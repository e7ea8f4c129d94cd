/* threads.cu - many host threads launch, copy, allocate and wait concurrently. */
#include "../programs/check.h"

#include <atomic>
#include <thread>
#include <vector>

enum { THREADS = 8, ROUNDS = 60, COUNT = 500 };

static __device__ int total;
static std::atomic<int> called;

static __global__ void scale(int *x, int factor)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;

    if (i < COUNT)
        x[i] *= factor;
    if (!i)
        atomicAdd(&total, 1);
}

static void CUDART_CB note(void *)
{
    called++;
}

static void work(int number)
{
    const size_t bytes = COUNT * sizeof(int);
    std::vector<int> values(COUNT);
    cudaStream_t stream;
    cudaEvent_t event;

    OK(cudaStreamCreateWithFlags(&stream, number % 2 ? cudaStreamNonBlocking : 0));
    OK(cudaEventCreate(&event));
    for (int round = 0; round < ROUNDS; round++) {
        int *x;
        for (int i = 0; i < COUNT; i++)
            values[i] = i + number;
        OK(cudaMallocAsync(&x, bytes, stream));
        OK(cudaMemcpyAsync(x, values.data(), bytes, cudaMemcpyHostToDevice, stream));
        scale<<<4, 128, 0, stream>>>(x, round);
        OK(cudaLaunchHostFunc(stream, note, NULL));
        OK(cudaEventRecord(event, stream));
        while (number % 3 == 0 && cudaEventQuery(event) == cudaErrorNotReady)
            ;
        cudaGetLastError();
        OK(cudaMemcpyAsync(values.data(), x, bytes, cudaMemcpyDeviceToHost, stream));
        OK(cudaStreamSynchronize(stream));
        for (int i = 0; i < COUNT; i++)
            CHECK(values[i] == (i + number) * round);
        OK(cudaFreeAsync(x, stream));
    }
    /* an error in one thread does not affect another */
    EXPECT(cudaErrorInvalidValue, cudaMalloc((void **) NULL, 4));
    std::thread([] { OK(cudaGetLastError()); }).join();
    EXPECT(cudaErrorInvalidValue, cudaGetLastError());
    OK(cudaStreamDestroy(stream));
    OK(cudaEventDestroy(event));
}

int main()
{
    std::vector<std::thread> threads;
    int launches;

    for (int i = 0; i < THREADS; i++)
        threads.emplace_back(work, i);
    for (std::thread &thread : threads)
        thread.join();
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromSymbol(&launches, total, sizeof launches));
    CHECK(launches == THREADS * ROUNDS && called == launches);
    puts("ok");
}
