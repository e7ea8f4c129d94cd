/* error_codes.cu - which error each misuse returns. error_codes.expected is the output on a GPU:
 * NVIDIA H200, driver 580.159.04, CUDA 13.0, 2026-11-21, `nvcc -arch=sm_90 error_codes.cu`, stdout.
 *
 * stderr-any: yes
 *
 * After a kernel failure a process cannot use the GPU, so each failure has its own process.
 */
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#define TELL(call) printf("%-60.60s %s\n", #call, cudaGetErrorName(call)), cudaGetLastError()

__device__ int variable[4];

static __global__ void nothing(int *x)
{
    if (x)
        *x = 1;
}

static __global__ void __launch_bounds__(128) bounded(int *x)
{
    if (x)
        *x = 1;
}

static __global__ void slow(int *x, int loops)
{
    int lost = 0;

    for (int k = 0; k < loops; k++)
        lost += clock() == 12345 + k;
    *x = lost;
}

static __global__ void fail(int how, char *x)
{
    __shared__ int tile[32];
    extern __shared__ volatile int more[];

    tile[threadIdx.x] = how;
    if (how == 0)
        x[1l << 40] = 1;
    if (how == 1)
        *(int *) (x + 2) = 1;
    if (how == 2)
        asm("trap;");
    if (how == 3)
        assert(x == NULL);
    if (how == 4)
        more[1 << 20] = tile[3];
    if (how == 5)
        *(int *) NULL = 1;
    if (how == 6)
        x[0] = *(volatile char *) (size_t) 0x1000;
}

static void memory(void)
{
    char *device, *more, host[64], *pinned;
    size_t bytes;

    TELL(cudaMalloc((void **) &device, 0));
    TELL(cudaMallocManaged((void **) &device, 0));
    TELL(cudaMalloc((void **) &device, (size_t) 1 << 50));
    cudaMalloc((void **) &device, 64);
    cudaMalloc((void **) &more, 64);
    cudaMallocHost((void **) &pinned, 64);
    TELL(cudaMemcpy(host, device, 64, cudaMemcpyHostToDevice));
    TELL(cudaMemcpy(device, host, 64, cudaMemcpyDeviceToHost));
    TELL(cudaMemcpy(device, host, 64, cudaMemcpyDeviceToDevice));
    TELL(cudaMemcpy(device, more, 64, cudaMemcpyHostToDevice));
    TELL(cudaMemcpy(device, more, 64, cudaMemcpyDeviceToHost));
    TELL(cudaMemcpy(device, pinned, 64, cudaMemcpyDeviceToDevice));
    TELL(cudaMemcpy(pinned, device, 64, cudaMemcpyHostToDevice));
    TELL(cudaMemcpy(device, host, 64, (cudaMemcpyKind) 7));
    TELL(cudaMemcpy(NULL, host, 64, cudaMemcpyHostToDevice));
    TELL(cudaMemcpy(NULL, host, 0, cudaMemcpyHostToDevice));
    TELL(cudaMemcpy(device, NULL, 64, cudaMemcpyHostToDevice));
    TELL(cudaMemset(host, 0, 64));
    TELL(cudaMemset(NULL, 0, 64));
    TELL(cudaMemset(pinned, 0, 64));
    TELL(cudaMemcpy2D(device, 4, host, 8, 8, 2, cudaMemcpyHostToDevice));
    TELL(cudaMemset2D(device, 4, 0, 8, 2));
    TELL(cudaMemcpyToSymbol(variable, host, 17));
    TELL(cudaMemcpyToSymbol(variable, host, 4, 13));
    TELL(cudaMemcpyToSymbol(variable, host, 4, 0, cudaMemcpyDeviceToHost));
    TELL(cudaMemcpyToSymbol(host, host, 4));
    TELL(cudaGetSymbolSize(&bytes, host));
    TELL(cudaFree(host));
    TELL(cudaFree(device + 1));
    TELL(cudaFree(device));
    TELL(cudaFree(device));
    TELL(cudaFree(pinned));
    TELL(cudaFree(NULL));
    TELL(cudaFreeHost(more));
    TELL(cudaFreeHost(host));
    TELL(cudaFreeHost(NULL));
    TELL(cudaHostUnregister(host));
    TELL(cudaHostGetDevicePointer((void **) &device, host, 0));
    TELL(cudaMallocPitch((void **) &device, &bytes, 0, 5));
    TELL(cudaFreeAsync(host, 0));
}

static void streams(void)
{
    cudaStream_t stream, other;
    cudaEvent_t event, later, untimed;
    cudaGraph_t graph;
    int *x;
    float ms;

    cudaMalloc((void **) &x, 64);
    cudaStreamCreate(&stream);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    cudaEventCreate(&later);
    cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
    TELL(cudaEventQuery(event));
    TELL(cudaEventSynchronize(event));
    TELL(cudaEventElapsedTime(&ms, event, later));
    TELL(cudaStreamWaitEvent(stream, event, 0));
    cudaEventRecord(event, stream);
    cudaEventRecord(later, stream);
    cudaEventRecord(untimed, stream);
    cudaStreamSynchronize(stream);
    TELL(cudaEventElapsedTime(&ms, event, later));
    TELL(cudaEventElapsedTime(&ms, event, untimed));
    slow<<<1, 1, 0, stream>>>(x, 300000);
    cudaEventRecord(later, stream);
    TELL(cudaEventElapsedTime(&ms, event, later));
    TELL(cudaStreamQuery(stream));
    TELL(cudaStreamQuery(0));
    TELL(cudaStreamQuery(other));
    cudaDeviceSynchronize();
    slow<<<1, 1, 0, stream>>>(x, 300000);
    cudaStreamQuery(stream);
    TELL(cudaPeekAtLastError());
    cudaDeviceSynchronize();
    slow<<<1, 1, 0, stream>>>(x, 300000);
    TELL(cudaStreamSynchronize(0));
    TELL(cudaStreamQuery(stream));
    cudaDeviceSynchronize();
    slow<<<1, 1, 0, other>>>(x, 300000);
    TELL(cudaStreamSynchronize(0));
    TELL(cudaStreamQuery(other));
    cudaDeviceSynchronize();
    TELL(cudaStreamCreateWithFlags(&other, 8));
    TELL(cudaEventCreateWithFlags(&event, 64));
    TELL(cudaLaunchHostFunc(stream, NULL, NULL));
    TELL(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    TELL(cudaStreamEndCapture(stream, &graph));
    TELL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    TELL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    TELL(cudaEventRecord(event, stream));
    TELL(cudaEventQuery(event));
    TELL(cudaStreamQuery(stream));
    TELL(cudaStreamEndCapture(stream, &graph));
    TELL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    TELL(cudaDeviceSynchronize());
    TELL(cudaStreamEndCapture(stream, &graph));
    TELL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    TELL(cudaMemcpy(x, &ms, 4, cudaMemcpyHostToDevice));
    TELL(cudaStreamEndCapture(stream, &graph));
    TELL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    TELL(cudaMemcpy(x, &ms, 4, cudaMemcpyHostToDevice));
    TELL(cudaStreamEndCapture(stream, &graph));
}

static void device(void)
{
    cudaFuncAttributes attributes;
    int value, host;
    size_t bytes;
    void *arguments[] = { &arguments[1], NULL };

    TELL(cudaSetDevice(77));
    TELL(cudaGetDevice(NULL));
    TELL(cudaDeviceGetAttribute(&value, (cudaDeviceAttr) 9999, 0));
    TELL(cudaDeviceSetLimit((cudaLimit) 99, 5));
    TELL(cudaDeviceGetLimit(&bytes, (cudaLimit) 99));
    TELL(cudaFuncGetAttributes(&attributes, (const void *) &host));
    TELL(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    TELL(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
    TELL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, nothing, 0, 0));
    TELL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, nothing, 2048, 0));
    TELL(cudaLaunchKernel(&host, dim3(1), dim3(1), arguments, 0, 0));
    TELL(cudaLaunchKernel((void *) nothing, dim3(1), dim3(1), NULL, 0, 0));
    TELL(cudaLaunchKernel((void *) nothing, dim3(0), dim3(1), arguments, 0, 0));
    TELL(cudaLaunchKernel((void *) nothing, dim3(1), dim3(0), arguments, 0, 0));
    TELL(cudaLaunchKernel((void *) nothing, dim3(1, 1, 65536), dim3(1), arguments, 0, 0));
    TELL(cudaLaunchKernel((void *) nothing, dim3(1u << 31), dim3(1), arguments, 0, 0));
    TELL(cudaLaunchKernel((void *) nothing, dim3(1), dim3(1025), arguments, 0, 0));
    TELL(cudaLaunchKernel((void *) nothing, dim3(1), dim3(32, 64), arguments, 0, 0));
    TELL(cudaLaunchKernel((void *) nothing, dim3(1), dim3(1, 1, 65), arguments, 0, 0));
    TELL(cudaLaunchKernel((void *) nothing, dim3(1), dim3(1), arguments, 49153, 0));
    TELL(cudaLaunchKernel((void *) nothing, dim3(0), dim3(2000), arguments, 1 << 30, 0));
    TELL(cudaLaunchKernel((void *) bounded, dim3(1), dim3(129), arguments, 0, 0));
    TELL(cudaDeviceSynchronize());
    TELL(cudaDeviceReset());
}

/* The errors after a kernel failure. */
static void failure(int how)
{
    char *x;

    cudaMalloc((void **) &x, 64);
    fail<<<1, 1, 64>>>(how, x);
    printf("failure %d\n", how);
    printf("after the launch: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("synchronize: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("last: %s", cudaGetErrorName(cudaGetLastError()));
    printf(", again: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("free: %s", cudaGetErrorName(cudaFree(x)));
    printf(", peek: %s\n", cudaGetErrorName(cudaPeekAtLastError()));
    printf("set device: %s\n", cudaGetErrorName(cudaSetDevice(0)));
    printf("reset: %s\n", cudaGetErrorName(cudaDeviceReset()));
    printf("malloc: %s\n", cudaGetErrorName(cudaMalloc((void **) &x, 64)));
}

static void apart(void (*part)(void), int how)
{
    fflush(stdout);
    pid_t child = fork();

    if (!child) {
        part ? part() : failure(how);
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        printf("ends by signal %d\n", WTERMSIG(status));
}

int main()
{
    apart(memory, 0);
    apart(streams, 0);
    apart(device, 0);
    for (int how = 0; how < 7; how++)
        apart(NULL, how);
}
