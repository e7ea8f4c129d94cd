/* marks.cu - simMark: arrays inside an allocation, with zones around them that kernels may not
 * access.
 *
 * case inside
 * case after_the_array
 *   reported: out of bounds @fill
 *   says: cudaErrorIllegalAddress
 * case before_the_array
 *   reported: out of bounds @fill
 *   says: cudaErrorIllegalAddress
 * case far_after_the_array
 *   reported: out of bounds @fill
 *   says: cudaErrorIllegalAddress
 * case between_two_arrays
 *   reported: out of bounds @fill
 *   says: cudaErrorIllegalAddress
 * case vector_over_the_end
 *   reported: out of bounds @four
 *   says: cudaErrorIllegalAddress
 * case poisoned
 *   reported: uninitialised @add
 * case poisoned_part
 *   reported: uninitialised @add
 * case opened_again
 * case shared_guard_atomic
 *   reported: out of bounds @count
 *   says: cudaErrorIllegalAddress
 */
#include "faults.h"

extern "C" int simMark(void *at, size_t bytes, int kind) __attribute__((weak));
enum { OK, NO_ACCESS, UNINIT };

__global__ void fill(float *a, int n, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        a[i + offset] = i; // @fill
}

__global__ void sum_four(const float4 *a, float *out, int n)
{
    if (threadIdx.x < n) {
        float4 v = a[threadIdx.x]; // @four
        out[threadIdx.x] = v.x + v.y + v.z + v.w;
    }
}

__global__ void add(const float *a, float *out)
{
    out[threadIdx.x] += a[threadIdx.x]; // @add
}

__global__ void count(int *a)
{
    atomicAdd(a, 1); // @count
}

/* n floats, with 256 bytes before and after them. */
static float *guarded(size_t n)
{
    char *all = zeros<char>(512 + 4 * n);

    simMark(all, 256, NO_ACCESS);
    simMark(all + 256 + 4 * n, 256, NO_ACCESS);
    return (float *) (all + 256);
}

static void inside()
{
    fill<<<4, 32>>>(guarded(100), 100, 0);
}

static void after_the_array()
{
    fill<<<4, 32>>>(guarded(100), 101, 0);
}

static void before_the_array()
{
    fill<<<4, 32>>>(guarded(100), 100, -1);
}

static void far_after_the_array()
{
    fill<<<4, 32>>>(guarded(100), 1, 120);
}

static void between_two_arrays()
{
    char *all = zeros<char>(1024);

    simMark(all + 400, 112, NO_ACCESS);
    fill<<<4, 32>>>((float *) (all + 512), 10, -5);
}

static void vector_over_the_end()
{
    sum_four<<<1, 32>>>((const float4 *) guarded(30), array<float>(32), 8);
}

static void poisoned()
{
    float *out = zeros<float>(32);

    simMark(out, 128, UNINIT);
    add<<<1, 32>>>(zeros<float>(32), out);
}

static void poisoned_part()
{
    float *out = zeros<float>(32);

    simMark(out + 20, 4, UNINIT);
    add<<<1, 32>>>(zeros<float>(32), out);
}

static void opened_again()
{
    float *a = guarded(100);

    simMark(a + 100, 256, OK);
    fill<<<4, 32>>>(a, 101, 0);
}

static void shared_guard_atomic()
{
    count<<<1, 1>>>((int *) guarded(4) + 4);
}

int main(int argc, char **argv)
{
    static const Case cases[] = {
        { "inside", inside },
        { "after_the_array", after_the_array },
        { "before_the_array", before_the_array },
        { "far_after_the_array", far_after_the_array },
        { "between_two_arrays", between_two_arrays },
        { "vector_over_the_end", vector_over_the_end },
        { "poisoned", poisoned },
        { "poisoned_part", poisoned_part },
        { "opened_again", opened_again },
        { "shared_guard_atomic", shared_guard_atomic },
    };

    return run_case(cases, argc, argv);
}
