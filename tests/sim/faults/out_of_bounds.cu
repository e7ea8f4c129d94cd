/* out_of_bounds.cu - accesses to global memory that miss their array.
 *
 * case missing_check
 *   told: out of bounds: @fill: st.global.f32 writes 4 bytes at 0x..., the 4 bytes after
 *         allocation 1 (4000 bytes, cudaMalloc) in fill, block (3,0,0), thread (232,0,0)
 *   says: cudaErrorIllegalAddress
 * case past_end
 *   told: out of bounds: @fill: st.global.f32 writes 4 bytes at 0x..., the 4 bytes after
 *         allocation 1 (400 bytes, cudaMalloc) in fill, block (0,0,0), thread (99,0,0)
 *   says: cudaErrorIllegalAddress
 * case before_start
 *   told: out of bounds: @fill: st.global.f32 writes 4 bytes at 0x..., 4 bytes before allocation
 *         1 (400 bytes, cudaMalloc) in fill, block (0,0,0), thread (0,0,0)
 *   says: cudaErrorIllegalAddress
 * case far_away
 *   told: out of bounds: @read: ld.global.f32 reads 4 bytes at 0x..., nothing is allocated there
 *         in read_one, block (0,0,0), thread (0,0,0)
 *   says: cudaErrorIllegalAddress
 * case between_arrays
 *   told: out of bounds: @read: ld.global.f32 reads 4 bytes at 0x..., 1104 bytes after the end of
 *         allocation 1 (4096 bytes, cudaMalloc) in read_one, block (0,0,0), thread (0,0,0)
 *   says: cudaErrorIllegalAddress
 * case next_array
 *   told: out of bounds: @read: ld.global.f32 reads 4 bytes at 0x..., 4 bytes before allocation 2
 *         (4096 bytes, cudaMalloc) in read_one, block (0,0,0), thread (0,0,0)
 *   says: cudaErrorIllegalAddress
 * case last_half
 *   told: out of bounds: @four: ld.global.v4.f32 reads 16 bytes at 0x..., the last 8 of them
 *         after the end of allocation 1 (120 bytes, cudaMalloc) in read_four, block (0,0,0),
 *         thread (7,0,0)
 *   says: cudaErrorIllegalAddress
 * case null
 *   told: out of bounds: @fill: st.global.f32 writes 4 bytes at 0x0, a null pointer in fill,
 *         block (0,0,0), thread (0,0,0)
 *   says: cudaErrorIllegalAddress
 * case wild
 *   told: out of bounds: @fill: st.global.f32 writes 4 bytes at 0x..., nothing is allocated there
 *         in fill, block (0,0,0), thread (0,0,0)
 *   says: cudaErrorIllegalAddress
 * case atomic
 *   told: out of bounds: @count: atom.global.add.u32 updates 4 bytes at 0x..., the 4 bytes after
 *         allocation 1 (64 bytes, cudaMalloc) in count, block (0,0,0), thread (0,0,0)
 *   says: cudaErrorIllegalAddress
 * case wide_index
 *   told: out of bounds: @read: ld.global.f32 reads 4 bytes at 0x..., 4194304 bytes before
 *         allocation 1 (400 bytes, cudaMalloc) in read_one, block (0,0,0), thread (0,0,0)
 *   says: cudaErrorIllegalAddress
 * case device_array
 *   told: out of bounds: @table: ld.global.u32 reads 4 bytes at 0x..., the 4 bytes after `table`
 *         (40 bytes, __device__) in look_up, block (0,0,0), thread (0,0,0)
 *   says: cudaErrorIllegalAddress
 * case function
 *   told: out of bounds: @put: st.global.u32 writes 4 bytes at 0x..., the 4 bytes after
 *         allocation 1 (80 bytes, cudaMalloc) in call, block (0,0,0), thread (13,0,0)
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

/* 1000 elements, 4 blocks of 256 threads: the last 24 threads are too many. */
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

/* 30 floats are no whole number of float4. */
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
