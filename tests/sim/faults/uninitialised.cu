/* uninitialised.cu - reads of unwritten memory, which are reported, and mere copies, which are not.
 *
 * case global
 *   reported: uninitialised @sum
 * case tail
 *   reported: uninitialised @sum
 * case used_copy
 *   reported: uninitialised @sum
 * case shared
 *   reported: uninitialised @shared
 * case shared_dynamic
 *   reported: uninitialised @dynamic
 * case used_part
 *   reported: uninitialised @four
 * case decides
 *   reported: uninitialised @next
 * case atomic
 *   reported: uninitialised @count
 * case struct_padding
 * case padded_in_shared
 * case float4_of_three
 * case float3_in_float4
 * case decides_nothing
 * case rows_of_all
 * case memset
 * case memcpy
 * case memcpy_async
 * case device_to_device
 * case device_to_device_unwritten
 *   reported: uninitialised @sum
 * case copied_to_the_host
 * case variables
 * case pinned
 * case managed
 */
#include "faults.h"

__global__ void sum_all(const float *a, float *out, int n)
{
    float sum = 0;

    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += a[i]; // @sum
    out[threadIdx.x] = sum;
}

__global__ void fill(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        a[i] = (float) i;
}

__global__ void shared_kernel(float *out)
{
    __shared__ float s[64];

    if (threadIdx.x < 63)
        s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x]; // @shared
}

__global__ void dynamic_kernel(float *out)
{
    extern __shared__ float d[];

    __syncthreads();
    d[threadIdx.x] += 1; // @dynamic
    __syncthreads();
    out[threadIdx.x] = d[threadIdx.x ^ 1];
}

__global__ void sum_four(const float4 *a, float *out)
{
    float4 v = a[threadIdx.x]; // @four
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

__global__ void sum_three(const float4 *a, float *out)
{
    float4 v = a[threadIdx.x];
    out[threadIdx.x] = v.x + v.y + v.z;
}

/* As a merge does, loads the element after the last one. */
__global__ void count_descents(int *out, int n)
{
    __shared__ int s[65];
    int t = threadIdx.x;

    s[t] = t * 37 % 64;
    __syncthreads();
    int next = s[t + 1]; // @next
    out[t] = (t + 1 < n) & (next < s[t]);
}

/* All lanes load, but only those of a whole row store. */
__global__ void store_row(int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;

    if (t < n)
        s[t] = t;
    __syncthreads();
    int v = s[t];
    if (t < n)
        out[t] = v;
}

__global__ void count(int *bins)
{
    atomicAdd(&bins[threadIdx.x & 7], 1); // @count
}

struct Padded {
    char c;
    int i;
    short s;
    double d;
    char end;
};

__global__ void make_padded(Padded *a)
{
    a[threadIdx.x].c = 1;
    a[threadIdx.x].i = threadIdx.x;
    a[threadIdx.x].s = 2;
    a[threadIdx.x].d = 3;
    a[threadIdx.x].end = 4;
}

__global__ void copy_padded(Padded *to, const Padded *from)
{
    to[threadIdx.x] = from[threadIdx.x];
}

__global__ void swap_padded(Padded *a)
{
    __shared__ Padded s[32];

    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x ^ 1];
}

__global__ void add_padded(const Padded *a, double *out)
{
    Padded p = a[threadIdx.x];
    out[threadIdx.x] = p.c + p.i + p.s + p.d + p.end;
}

__global__ void copy_all(float *to, const float *from)
{
    to[threadIdx.x] = from[threadIdx.x];
}

__global__ void make_three(float4 *a)
{
    a[threadIdx.x].x = 1;
    a[threadIdx.x].y = 2;
    a[threadIdx.x].z = 3;
}

__global__ void copy_four(float4 *to, const float4 *from)
{
    to[threadIdx.x] = from[threadIdx.x];
}

static void global()
{
    sum_all<<<1, 32>>>(array<float>(100), array<float>(32), 100);
}

/* 3 blocks of 32 do not cover 100. */
static void tail()
{
    float *a = array<float>(100);

    fill<<<3, 32>>>(a, 100);
    sum_all<<<1, 32>>>(a, array<float>(32), 100);
}

static void shared()
{
    shared_kernel<<<1, 64>>>(array<float>(64));
}

static void shared_dynamic()
{
    dynamic_kernel<<<1, 64, 256>>>(array<float>(64));
}

/* The last float4 has only two floats. */
static void used_part()
{
    float *a = array<float>(32);

    fill<<<1, 32>>>(a, 30);
    sum_four<<<1, 8>>>((float4 *) a, array<float>(8));
}

static void decides()
{
    count_descents<<<1, 64>>>(array<int>(64), 65);
}

static void decides_nothing()
{
    count_descents<<<1, 64>>>(array<int>(64), 64);
}

static void rows_of_all()
{
    store_row<<<1, 64>>>(array<int>(64), 40);
}

static void atomic()
{
    count<<<1, 32>>>(array<int>(8));
}

static void struct_padding()
{
    Padded *a = array<Padded>(32), *b = array<Padded>(32);

    make_padded<<<1, 32>>>(a);
    copy_padded<<<1, 32>>>(b, a);
    add_padded<<<1, 32>>>(b, array<double>(32));
}

static void padded_in_shared()
{
    Padded *a = array<Padded>(32);

    make_padded<<<1, 32>>>(a);
    swap_padded<<<1, 32>>>(a);
    add_padded<<<1, 32>>>(a, array<double>(32));
}

static void float4_of_three()
{
    float4 *a = array<float4>(32), *b = array<float4>(32);

    make_three<<<1, 32>>>(a);
    copy_four<<<1, 32>>>(b, a);
    sum_three<<<1, 32>>>(b, array<float>(32));
}

static void float3_in_float4()
{
    float4 *a = array<float4>(32);

    make_three<<<1, 32>>>(a);
    sum_three<<<1, 32>>>(a, array<float>(32));
}

/* Copied by a kernel, then used. */
static void used_copy()
{
    float *a = array<float>(100), *b = array<float>(100);

    fill<<<3, 32>>>(a, 100);
    copy_all<<<1, 100>>>(b, a);
    sum_all<<<1, 32>>>(b, array<float>(32), 100);
}

static void memset()
{
    float *a = array<float>(100);

    cudaMemset(a, 0, 400);
    sum_all<<<1, 32>>>(a, array<float>(32), 100);
}

static void memcpy()
{
    float host[100] = { 0 }, *a = array<float>(100);

    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    sum_all<<<1, 32>>>(a, array<float>(32), 100);
}

static void memcpy_async()
{
    float *host, *a = array<float>(100);
    cudaStream_t stream;

    cudaMallocHost(&host, 400);
    ::memset(host, 0, 400);
    cudaStreamCreate(&stream);
    cudaMemcpyAsync(a, host, 400, cudaMemcpyHostToDevice, stream);
    sum_all<<<1, 32, 0, stream>>>(a, array<float>(32), 100);
}

static void device_to_device()
{
    float *a = zeros<float>(100), *b = array<float>(100);

    cudaMemcpy(b, a, 400, cudaMemcpyDeviceToDevice);
    sum_all<<<1, 32>>>(b, array<float>(32), 100);
}

/* Copying does not count as a use, and the copied bytes stay unwritten. */
static void device_to_device_unwritten()
{
    float *a = array<float>(100), *b = array<float>(100);

    cudaMemcpy(b, a, 400, cudaMemcpyDeviceToDevice);
    sum_all<<<1, 32>>>(b, array<float>(32), 100);
}

/* Not reported: many correct programs copy more than they use, for example padding. */
static void copied_to_the_host()
{
    float host[100], *a = array<float>(100);

    cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost);
}

__device__ float zeroed[32];
__constant__ float constants[32];

__global__ void read_variables(float *out)
{
    out[threadIdx.x] = zeroed[threadIdx.x] + constants[threadIdx.x];
}

/* As in C, variables are initialised with zeros. */
static void variables()
{
    read_variables<<<1, 32>>>(array<float>(32));
}

static void pinned()
{
    float *a;

    cudaHostAlloc(&a, 400, cudaHostAllocMapped);
    sum_all<<<1, 32>>>(a, array<float>(32), 100);
}

static void managed()
{
    float *a;

    cudaMallocManaged(&a, 400);
    for (int i = 0; i < 100; i++)
        a[i] = 1;
    sum_all<<<1, 32>>>(a, array<float>(32), 100);
}

int main(int argc, char **argv)
{
    static const Case cases[] = {
        { "global", global },
        { "tail", tail },
        { "used_copy", used_copy },
        { "shared", shared },
        { "shared_dynamic", shared_dynamic },
        { "used_part", used_part },
        { "decides", decides },
        { "atomic", atomic },
        { "struct_padding", struct_padding },
        { "padded_in_shared", padded_in_shared },
        { "float4_of_three", float4_of_three },
        { "float3_in_float4", float3_in_float4 },
        { "decides_nothing", decides_nothing },
        { "rows_of_all", rows_of_all },
        { "memset", memset },
        { "memcpy", memcpy },
        { "memcpy_async", memcpy_async },
        { "device_to_device", device_to_device },
        { "device_to_device_unwritten", device_to_device_unwritten },
        { "copied_to_the_host", copied_to_the_host },
        { "variables", variables },
        { "pinned", pinned },
        { "managed", managed },
    };

    return run_case(cases, argc, argv);
}
