/* capture_modes.cu - calls during a stream capture of each mode, made by the thread that captures
 * and by another one. Those that may wait are refused; they were once only refused if they did
 * wait, and in all modes alike. The table is what an H200 refuses (driver 580.159.04, CUDA 13.0,
 * 2026-11-27).
 *
 * expect: ok
 * stderr: A GPU refuses calls then that may wait for it
 */
#include "check.h"

#include <thread>

static cudaStream_t captured, other;
static cudaEvent_t first, second;
static int *array, *pinned, *to_free, *host_to_free;

typedef cudaError_t (*Call)();

static cudaError_t allocate_relaxed()
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    int *p;

    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    const cudaError_t error = cudaMalloc(&p, 4);
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == cudaStreamCaptureModeRelaxed);
    return error;
}

static cudaError_t register_page()
{
    static int page[4096];
    const cudaError_t error = cudaHostRegister(page, sizeof page, 0);

    if (!error)
        cudaHostUnregister(page);
    return error;
}

__global__ void nothing()
{
}

/* In the modes Global, ThreadLocal, Relaxed, each first in the own thread, then in another one:
 * whether the call is refused. */
static const struct {
    const char *refused;
    Call call;
} rows[] = {
    { "11 10 00", [] { return cudaMalloc(&to_free, 4); } },
    { "11 10 00", [] { return cudaMallocHost(&host_to_free, 4); } },
    { "11 10 00", [] { return cudaMallocManaged(&to_free, 4); } },
    { "11 10 00", [] { return cudaMallocAsync(&to_free, 4, other); } },
    { "11 10 00", [] { return cudaFree(to_free); } },
    { "11 10 00", [] { return cudaFree(NULL); } },
    { "11 10 00", [] { return cudaFreeHost(host_to_free); } },
    { "11 10 00", register_page },
    { "11 10 00", [] { return cudaStreamQuery(other); } },
    { "11 10 00", [] { return cudaStreamSynchronize(other); } },
    { "11 10 00", [] { return cudaEventQuery(first); } },
    { "11 10 00", [] { return cudaEventSynchronize(first); } },
    { "11 11 11", [] { return cudaStreamQuery(captured); } },
    { "11 11 11", [] { return cudaStreamSynchronize(captured); } },
    { "11 11 11", [] { return cudaDeviceSynchronize(); } },
    { "00 00 00", allocate_relaxed },
    { "00 00 00", [] { return cudaMemcpy(pinned, array, 4, cudaMemcpyDeviceToHost); } },
    { "00 00 00", [] { return cudaMemset(array, 0, 4); } },
    { "00 00 00", [] { return cudaMemcpyAsync(pinned, array, 4, cudaMemcpyDefault, other); } },
    { "00 00 00", [] { return cudaEventRecord(first, other); } },
    { "00 00 00", [] { return nothing<<<1, 1, 0, other>>>(), cudaGetLastError(); } },
    { "00 00 00", [] { return nothing<<<1, 1>>>(), cudaGetLastError(); } },
    { "00 00 00",
      [] {
          float ms;
          return cudaEventElapsedTime(&ms, first, second);
      } },
    { "00 00 00",
      [] {
          cudaEvent_t event;
          return cudaEventCreate(&event);
      } },
    { "00 00 00",
      [] {
          cudaStream_t stream;
          return cudaStreamCreate(&stream);
      } },
};

static void prepare()
{
    OK(cudaMalloc(&to_free, 4));
    OK(cudaMallocHost(&host_to_free, 4));
    OK(cudaEventRecord(first, other));
    OK(cudaEventRecord(second, other));
    OK(cudaDeviceSynchronize());
}

static void try_call(Call call, enum cudaStreamCaptureMode mode, bool in_thread, bool is_refused)
{
    cudaGraph_t graph = NULL;
    cudaError_t error;

    prepare();
    OK(cudaStreamBeginCapture(captured, mode));
    if (in_thread)
        std::thread([&] { error = call(); }).join();
    else
        error = call();
    CHECK(error == (is_refused ? cudaErrorStreamCaptureUnsupported : cudaSuccess));
    CHECK(cudaStreamEndCapture(captured, &graph) ==
          (is_refused ? cudaErrorStreamCaptureInvalidated : cudaSuccess));
    cudaGetLastError();
    OK(cudaDeviceSynchronize());
    if (graph)
        OK(cudaGraphDestroy(graph));
}

int main()
{
    OK(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    OK(cudaEventCreate(&first));
    OK(cudaEventCreate(&second));
    OK(cudaMalloc(&array, 4));
    OK(cudaMallocHost(&pinned, 4));
    OK(cudaMemset(array, 0, 4));
    for (const auto &row : rows)
        for (int mode = 0; mode < 3; mode++)
            for (int in_thread = 0; in_thread < 2; in_thread++)
                try_call(row.call, (enum cudaStreamCaptureMode) mode, in_thread,
                         row.refused[3 * mode + in_thread] == '1');
    puts("ok");
}
