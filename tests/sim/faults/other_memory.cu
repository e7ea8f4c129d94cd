/* other_memory.cu - shared, local and constant memory; alignment; pointers of the wrong kind.
 *
 * case shared_static
 *   reported: out of bounds @shared
 *   says: cudaErrorIllegalAddress
 * case shared_dynamic
 *   reported: out of bounds @dynamic
 *   says: cudaErrorIllegalAddress
 * case shared_negative
 *   reported: out of bounds @shared
 *   says: cudaErrorIllegalAddress
 * case local
 *   reported: out of bounds @local
 *   says: cudaErrorIllegalAddress
 * case constant
 *   reported: out of bounds @constant
 *   says: cudaErrorIllegalAddress
 * case constant_written
 *   reported: forbidden @write
 *   says: cudaErrorIllegalAddress
 * case misaligned_4
 *   reported: misaligned @misaligned
 *   says: cudaErrorMisalignedAddress
 * case misaligned_8
 *   reported: misaligned @misaligned
 *   says: cudaErrorMisalignedAddress
 * case misaligned_16
 *   reported: misaligned @misaligned
 *   says: cudaErrorMisalignedAddress
 * case misaligned_shared
 *   reported: misaligned @odd
 *   says: cudaErrorMisalignedAddress
 * case after_free
 *   reported: use after free @read
 *   says: cudaErrorIllegalAddress
 * case after_free_reused
 *   reported: use after free @read
 *   says: cudaErrorIllegalAddress
 * case host_heap
 *   reported: host pointer @read
 *   says: cudaErrorIllegalAddress
 * case host_stack
 *   reported: host pointer @read
 *   says: cudaErrorIllegalAddress
 * case host_reads_device
 *   reported: host pointer
 *   says:
 *   status: 139
 * case host_writes_device
 *   reported: host pointer
 *   says:
 *   status: 139
 * case freed_twice
 *   reported: use after free
 *   says: cudaErrorInvalidValue
 * case copy_too_long
 *   reported: out of bounds
 *   says: cudaErrorInvalidValue
 * case copy_from_device_pointer_as_host
 *   reported: host pointer
 *   says: cudaSuccess
 */
#include "faults.h"

#include <csignal>

__global__ void shared_static_kernel(int *out, int at)
{
    __shared__ int s[64];

    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x + at]; // @shared
}

__global__ void shared_dynamic_kernel(int *out)
{
    extern __shared__ int d[];

    d[threadIdx.x] = threadIdx.x; // @dynamic
    __syncthreads();
    out[threadIdx.x] = d[threadIdx.x ^ 1];
}

__global__ void local_kernel(int *out, int at)
{
    int a[8];

    for (int i = 0; i < 8; i++)
        a[i] = out[i];
    a[at + threadIdx.x] = 1; // @local
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum += a[(i * at) & 7];
    out[threadIdx.x] = sum;
}

__constant__ float weights[5];

__global__ void constant_kernel(float *out, int at)
{
    out[threadIdx.x] = weights[at + threadIdx.x]; // @constant
}

__global__ void write_kernel(float *to)
{
    to[threadIdx.x] = 1; // @write
}

template <typename T> __global__ void misaligned_kernel(const char *from, T *out)
{
    out[threadIdx.x] = ((const T *) from)[threadIdx.x]; // @misaligned
}

__global__ void misaligned_shared_kernel(double *out)
{
    __shared__ double s[33];
    const char *bytes = (const char *) s;

    s[threadIdx.x] = threadIdx.x;
    s[32] = 0;
    __syncthreads();
    out[threadIdx.x] = *(const double *) (bytes + 8 * threadIdx.x + *(int *) out); // @odd
}

__global__ void read_kernel(const int *from, int *out)
{
    out[threadIdx.x] = from[threadIdx.x]; // @read
}

static void shared_static()
{
    shared_static_kernel<<<1, 64>>>(zeros<int>(64), 2);
}

/* The size was computed with two bytes per element. */
static void shared_dynamic()
{
    shared_dynamic_kernel<<<1, 64, 64 * 2>>>(zeros<int>(64));
}

static void shared_negative()
{
    shared_static_kernel<<<1, 64>>>(zeros<int>(64), -1);
}

static void local()
{
    local_kernel<<<1, 4>>>(zeros<int>(8), 6);
}

static void constant()
{
    constant_kernel<<<1, 4>>>(zeros<float>(8), 2);
}

static void constant_written()
{
    void *address;

    cudaGetSymbolAddress(&address, weights);
    write_kernel<<<1, 4>>>((float *) address);
}

static void misaligned_4()
{
    misaligned_kernel<<<1, 32>>>(zeros<char>(1000) + 2, zeros<int>(32));
}

static void misaligned_8()
{
    misaligned_kernel<<<1, 32>>>(zeros<char>(1000) + 4, zeros<double>(32));
}

static void misaligned_16()
{
    misaligned_kernel<<<1, 32>>>(zeros<char>(1000) + 4, zeros<float4>(32));
}

static void misaligned_shared()
{
    double *out = zeros<double>(32);

    cudaMemset(out, 4, 1);
    misaligned_shared_kernel<<<1, 32>>>(out);
}

static void after_free()
{
    int *a = zeros<int>(64);

    cudaFree(a);
    read_kernel<<<1, 32>>>(a, zeros<int>(32));
}

/* A new allocation of the same size gets another address, so the old pointer is still recognised as
 * stale. */
static void after_free_reused()
{
    int *a = zeros<int>(64);

    cudaFree(a);
    int *b = zeros<int>(64);
    read_kernel<<<1, 32>>>(a, b);
}

static void host_heap()
{
    int *a = (int *) calloc(1 << 20, 4);

    read_kernel<<<1, 32>>>(a, zeros<int>(32));
    cudaDeviceSynchronize();
    free(a);
}

static void host_stack()
{
    int a[32] = { 0 };

    read_kernel<<<1, 32>>>(a, zeros<int>(32));
    cudaDeviceSynchronize();
}

static void host_reads_device()
{
    int *a = zeros<int>(64);

    cudaDeviceSynchronize();
    printf("%d\n", a[3]);
}

static void host_writes_device()
{
    int *a = zeros<int>(64);

    a[3] = 1;
}

static void freed_twice()
{
    int *a = zeros<int>(64);

    cudaFree(a);
    cudaFree(a);
}

static void copy_too_long()
{
    int host[100] = { 0 };

    cudaMemcpy(zeros<int>(64), host, sizeof host, cudaMemcpyHostToDevice);
}

static void copy_from_device_pointer_as_host()
{
    int *a = zeros<int>(64), *b = zeros<int>(64);

    cudaMemcpy(a, b, 64, cudaMemcpyHostToDevice);
}

int main(int argc, char **argv)
{
    static const Case cases[] = {
        { "shared_static", shared_static },
        { "shared_dynamic", shared_dynamic },
        { "shared_negative", shared_negative },
        { "local", local },
        { "constant", constant },
        { "constant_written", constant_written },
        { "misaligned_4", misaligned_4 },
        { "misaligned_8", misaligned_8 },
        { "misaligned_16", misaligned_16 },
        { "misaligned_shared", misaligned_shared },
        { "after_free", after_free },
        { "after_free_reused", after_free_reused },
        { "host_heap", host_heap },
        { "host_stack", host_stack },
        { "host_reads_device", host_reads_device },
        { "host_writes_device", host_writes_device },
        { "freed_twice", freed_twice },
        { "copy_too_long", copy_too_long },
        { "copy_from_device_pointer_as_host", copy_from_device_pointer_as_host },
    };

    return run_case(cases, argc, argv);
}
