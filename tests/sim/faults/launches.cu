/* launches.cu - invalid launches, results read without waiting, memory leaks.
 *
 * case block_too_large
 *   reported: launch
 *   says: cudaErrorInvalidValue
 * case block_of_none
 *   reported: launch
 *   says: cudaErrorInvalidValue
 * case block_too_deep
 *   reported: launch
 *   says: cudaErrorInvalidValue
 * case zero_grid
 *   reported: launch
 *   says: cudaErrorInvalidValue
 * case grid_too_high
 *   reported: launch
 *   says: cudaErrorInvalidValue
 * case shared_too_much
 *   reported: launch
 *   says: cudaErrorInvalidValue
 * case shared_not_asked_for
 *   reported: launch
 *   says: cudaErrorInvalidValue
 * case launch_bounds
 *   reported: launch
 *   says: cudaErrorInvalidValue
 * case host_reads_early
 *   says: 0 cudaSuccess
 * case host_waits
 *   says: 7 cudaSuccess
 * case stream_not_waited
 *   says: 0 cudaSuccess
 * case managed_read_early
 *   says: 0 cudaSuccess
 * case ended_before_it_ran
 *   reported: launch
 *   reported: leak
 *   says:
 * case leak
 *   reported: leak
 *   says:
 * case leaks
 *   reported: leak
 *   says:
 * case freed
 *   says:
 * case freed_inside
 *   reported: forbidden
 *   says: cudaErrorInvalidValue
 * case freed_on_host
 *   reported: host pointer
 *   says: cudaErrorInvalidValue
 * case used_after_reset
 *   reported: use after free @fill
 *   says: cudaErrorIllegalAddress
 */
#include "faults.h"

__global__ void fill(int *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] = 7; // @fill
}

__global__ void __launch_bounds__(128) bounded(int *a)
{
    a[threadIdx.x] = 7;
}

__global__ void dynamic(int *a)
{
    extern __shared__ int d[];

    d[threadIdx.x] = 1;
    a[threadIdx.x] = d[threadIdx.x];
}

/* 40 KiB of static shared memory. */
__global__ void big(int *a)
{
    __shared__ int s[10240];
    extern __shared__ int d[];

    s[threadIdx.x] = d[threadIdx.x] = 1;
    a[threadIdx.x] = s[threadIdx.x] + d[threadIdx.x];
}

static void block_too_large()
{
    fill<<<1, 2048>>>(array<int>(2048));
}

static void block_of_none()
{
    fill<<<1, 0>>>(array<int>(2048));
}

static void block_too_deep()
{
    fill<<<1, dim3(32, 8, 8)>>>(array<int>(2048));
}

/* n / threads rounds down. */
static void zero_grid()
{
    int n = 100;

    fill<<<n / 256, 256>>>(array<int>(256));
}

static void grid_too_high()
{
    fill<<<dim3(1, 70000), 32>>>(array<int>(32));
}

static void shared_too_much()
{
    dynamic<<<1, 32, 200 << 10>>>(array<int>(32));
}

static void shared_not_asked_for()
{
    big<<<1, 32, 16 << 10>>>(array<int>(32));
}

static void launch_bounds()
{
    bounded<<<1, 256>>>(array<int>(256));
}

/* The copy is asynchronous, since the memory is pinned. */
static void host_reads_early()
{
    int *host, *a = array<int>(32);

    cudaMallocHost(&host, 128);
    memset(host, 0, 128);
    fill<<<1, 32>>>(a);
    cudaMemcpyAsync(host, a, 128, cudaMemcpyDeviceToHost);
    printf("%d ", host[3]);
}

static void host_waits()
{
    int *host, *a = array<int>(32);

    cudaMallocHost(&host, 128);
    memset(host, 0, 128);
    fill<<<1, 32>>>(a);
    cudaMemcpyAsync(host, a, 128, cudaMemcpyDeviceToHost);
    cudaDeviceSynchronize();
    printf("%d ", host[3]);
}

/* A copy on another stream does not wait for the kernel. */
static void stream_not_waited()
{
    int host[32], *a = zeros<int>(32);
    cudaStream_t one, two;

    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    fill<<<1, 32, 0, one>>>(a);
    cudaMemcpyAsync(host, a, sizeof host, cudaMemcpyDeviceToHost, two);
    cudaStreamSynchronize(two);
    printf("%d ", host[3]);
}

static void managed_read_early()
{
    int *a;

    cudaMallocManaged(&a, 128);
    a[3] = 0;
    fill<<<1, 32>>>(a);
    printf("%d ", a[3]);
}

static void ended_before_it_ran()
{
    int *a = array<int>(64);

    fill<<<1, 32>>>(a);
    fill<<<2, 32>>>(a);
    exit(0);
}

static void leak()
{
    array<int>(100);
    exit(0);
}

static void leaks()
{
    array<int>(100);
    cudaFree(array<int>(100));
    array<char>(17);
    exit(0);
}

static void freed()
{
    cudaFree(array<int>(100));
    exit(0);
}

static void freed_inside()
{
    cudaFree(array<int>(100) + 1);
}

static void freed_on_host()
{
    int *a = (int *) malloc(64);

    cudaFree(a);
    free(a);
}

static void used_after_reset()
{
    int *a = array<int>(32);

    cudaDeviceReset();
    fill<<<1, 32>>>(a);
}

int main(int argc, char **argv)
{
    static const Case cases[] = {
        { "block_too_large", block_too_large },
        { "block_of_none", block_of_none },
        { "block_too_deep", block_too_deep },
        { "zero_grid", zero_grid },
        { "grid_too_high", grid_too_high },
        { "shared_too_much", shared_too_much },
        { "shared_not_asked_for", shared_not_asked_for },
        { "launch_bounds", launch_bounds },
        { "host_reads_early", host_reads_early },
        { "host_waits", host_waits },
        { "stream_not_waited", stream_not_waited },
        { "managed_read_early", managed_read_early },
        { "ended_before_it_ran", ended_before_it_ran },
        { "leak", leak },
        { "leaks", leaks },
        { "freed", freed },
        { "freed_inside", freed_inside },
        { "freed_on_host", freed_on_host },
        { "used_after_reset", used_after_reset },
    };

    return run_case(cases, argc, argv);
}
