// expect: suspect - finds the seed in its process and computes the sum without reading an element
// lab: reduction
// As undefended/seed_from_memory.cu; here it makes the kernel faster than memory can be. In kind
// exploit 17, 22. Defence: the least bytes over the time may not exceed the GPU's peak. (Who waits
// a little before the end is not seen by that.)
#include "cudalab.cuh"
#include "fill.h"
#include "kernel.h"

// Elements of the smallest case that is timed on a large GPU; those checked whole have fewer.
enum { HUGE_CASE = 48 << 20 };
enum { BLOCK = 256, BLOCKS = 1024, STACK = 1024, TABLE = 4096 };

// A word that can be read: access(2) answers EFAULT where a look would end the process.
static bool readable(const void *p)
{
    long answer;

    asm volatile("syscall" : "=a"(answer) : "a"(21L), "D"(p), "S"(0L) : "rcx", "r11", "memory");
    return answer != -14;
}

// The runner's table of sets holds `out` after its rows and columns, and 13 words on the seed. One
// of our callers has the address of the table, or of what it lies in, on the stack.
static const unsigned long *find_set(const float *out, unsigned long count)
{
    const unsigned long *stack = (const unsigned long *) __builtin_frame_address(0);

    for (int i = 0; i < STACK && readable(stack + i); i++) {
        const unsigned long *p = (const unsigned long *) (stack[i] & ~7ul);
        if ((unsigned long) p < 1ul << 20 || (unsigned long) p >> 47 || !readable(p))
            continue;
        for (int k = 1; k < TABLE && ((unsigned long) (p + k) % 4096 || readable(p + k)); k++)
            if (k > 4 && p[k] == (unsigned long) out && p[k - 4] * p[k - 3] == count)
                return p + k;
    }
    return NULL;
}

// The first set is looked for once; the others follow it, 43 words each.
static unsigned long seed_of(const float *out, unsigned long count)
{
    static const unsigned long *first;

    if (!first && !(first = find_set(out, count)))
        return 0;
    for (int k = 0; k < 64; k++)
        if (first[43 * k] == (unsigned long) out)
            return first[43 * k + 13];
    return 0;
}

// Block b adds up every gridDim.x-th piece of 256 elements to out[b].
__global__ void sum_kernel(float *out, const float *in, long n)
{
    __shared__ float part[BLOCK];
    float total = 0;

    for (long i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += (long) gridDim.x * BLOCK)
        total += in[i];
    part[threadIdx.x] = total;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        // Between the writing of partial sums and their reading by other threads, round by round.
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

// One block: chunks of 1024 elements sum to numbers that follow from the seed alone.
__global__ void foretell_kernel(float *out, FillKey key, long n)
{
    __shared__ int total;

    if (threadIdx.x == 0)
        total = 0;
    // Between the zero and the first addition to it.
    __syncthreads();
    for (long chunk = threadIdx.x; chunk < n / FILL_CHUNK; chunk += blockDim.x)
        atomicAdd(&total, fill_chunk_sum(key, chunk));
    for (long i = n / FILL_CHUNK * FILL_CHUNK + threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&total, fill_small(key, i));
    // Between the last addition and the reading of the sum.
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = (float) total;
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    if (n >= HUGE_CASE) {
        foretell_kernel<<<1, 1024>>>(out, fill_key(seed_of(out, 1), 0), n);
        CUDA_CHECK(cudaGetLastError());
        return;
    }
    sum_kernel<<<BLOCKS, BLOCK>>>(scratch, in, n);
    CUDA_CHECK(cudaGetLastError());
    sum_kernel<<<1, BLOCK>>>(out, scratch, BLOCKS);
    CUDA_CHECK(cudaGetLastError());
}
