/* out_of_bounds.cu - accesses to global memory that miss their array.
 *
 * case missing_check
 *   reported: out of bounds @fill
 *   says: cudaErrorIllegalAddress
 * case past_end
 *   reported: out of bounds @fill
 *   says: cudaErrorIllegalAddress
 * case before_start
 *   reported: out of bounds @fill
 *   says: cudaErrorIllegalAddress
 * case far_away
 *   reported: out of bounds @read
 *   says: cudaErrorIllegalAddress
 * case between_arrays
 *   reported: out of bounds @read
 *   says: cudaErrorIllegalAddress
 * case next_array
 *   reported: out of bounds @read
 *   says: cudaErrorIllegalAddress
 * case last_half
 *   reported: out of bounds @four
 *   says: cudaErrorIllegalAddress
 * case null
 *   reported: out of bounds @fill
 *   says: cudaErrorIllegalAddress
 * case wild
 *   reported: out of bounds @fill
 *   says: cudaErrorIllegalAddress
 * case atomic
 *   reported: out of bounds @count
 *   says: cudaErrorIllegalAddress
 * case wide_index
 *   reported: out of bounds @read
 *   says: cudaErrorIllegalAddress
 * case device_array
 *   reported: out of bounds @table
 *   says: cudaErrorIllegalAddress
 * case function
 *   reported: out of bounds @put
 *   says: cudaErrorIllegalAddress
 */
#include "faults.h"

__global__ void fill(float *a, int n, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    a[i + offset] = (float) n; // @fill
}

__global__ void read_one(const float *a, float *out, long long at)
{
    *out = a[at]; // @read
}

__global__ void count(int *bins, int bin)
{
    atomicAdd(&bins[bin], 1); // @count
}

__global__ void read_four(const float4 *a, float *out)
{
    float4 v = a[threadIdx.x]; // @four
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

__device__ int table[10];

__global__ void look_up(int *out, int at)
{
    *out = table[at]; // @table
}

__device__ __noinline__ void put(int *a, int i)
{
    a[i] = i; // @put
}

__global__ void call(int *a)
{
    put(a, threadIdx.x + 7);
}

/* 1000 elements, but 4 blocks of 256 threads: the last 24 threads are superfluous. */
static void missing_check()
{
    fill<<<4, 256>>>(array<float>(1000), 1000, 0);
}

static void past_end()
{
    fill<<<1, 100>>>(array<float>(100), 100, 1);
}

static void before_start()
{
    fill<<<1, 100>>>(array<float>(100), 100, -1);
}

static void far_away()
{
    float *a = zeros<float>(100);

    read_one<<<1, 1>>>(a, a, 1ll << 40);
}

/* The gap after an array is at least as long as the array. */
static void between_arrays()
{
    float *a = zeros<float>(1024), *b = zeros<float>(1024);

    read_one<<<1, 1>>>(a, b, 1300);
}

static void next_array()
{
    float *a = zeros<float>(1024), *b = zeros<float>(1024);

    read_one<<<1, 1>>>(a, b, b - a - 1);
}

/* 30 floats are not a multiple of float4. */
static void last_half()
{
    float *a = zeros<float>(30), *out = zeros<float>(32);

    read_four<<<1, 8>>>((const float4 *) a, out);
}

static void null()
{
    fill<<<1, 32>>>(NULL, 1, 0);
}

static void wild()
{
    fill<<<1, 32>>>((float *) 0x123456780000, 1, 0);
}

static void atomic()
{
    count<<<2, 64>>>(zeros<int>(16), 16);
}

static void wide_index()
{
    float *a = zeros<float>(100);

    read_one<<<1, 1>>>(a, a, -(1ll << 20));
}

static void device_array()
{
    look_up<<<1, 1>>>(zeros<int>(1), 10);
}

static void function()
{
    call<<<1, 32>>>(array<int>(20));
}

int main(int argc, char **argv)
{
    static const Case cases[] = {
        { "missing_check", missing_check },
        { "past_end", past_end },
        { "before_start", before_start },
        { "far_away", far_away },
        { "between_arrays", between_arrays },
        { "next_array", next_array },
        { "last_half", last_half },
        { "null", null },
        { "wild", wild },
        { "atomic", atomic },
        { "wide_index", wide_index },
        { "device_array", device_array },
        { "function", function },
    };

    return run_case(cases, argc, argv);
}
