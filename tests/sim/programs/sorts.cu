/* sorts.cu - bitonic sorts, odd-even transposition, and a quicksort that calls itself.
 *
 * expect: ok
 */
#include "digest.h"

enum { N = 2048, CHUNK = 512 };

/* ---- Bitonic: chunks in shared memory, the rest in global memory ---- */

static __device__ void order(unsigned &a, unsigned &b, bool up)
{
    if ((a > b) == up) {
        unsigned x = a;
        a = b;
        b = x;
    }
}

static __global__ void bitonic_chunks(unsigned *x)
{
    __shared__ unsigned part[CHUNK];
    unsigned *mine = x + blockIdx.x * CHUNK;

    part[threadIdx.x] = mine[threadIdx.x];
    part[threadIdx.x + CHUNK / 2] = mine[threadIdx.x + CHUNK / 2];
    for (int size = 2; size <= CHUNK; size *= 2)
        for (int stride = size / 2; stride; stride /= 2) {
            int i = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            bool up = !((blockIdx.x * CHUNK + i) & size);
            __syncthreads();
            order(part[i], part[i + stride], up);
        }
    __syncthreads();
    mine[threadIdx.x] = part[threadIdx.x];
    mine[threadIdx.x + CHUNK / 2] = part[threadIdx.x + CHUNK / 2];
}

static __global__ void bitonic_step(unsigned *x, int size, int stride)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * t - (t & (stride - 1));

    order(x[i], x[i + stride], !(i & size));
}

/* ---- Odd-even transposition of one value per lane, in registers ---- */

static __global__ void odd_even(unsigned *x)
{
    unsigned value = x[blockIdx.x * 32 + threadIdx.x], lane = threadIdx.x;

    for (int step = 0; step < 32; step++) {
        int other = step & 1 ? ((lane + 1) ^ 1) - 1 : lane ^ 1;
        bool alone = other < 0 || other > 31;
        unsigned theirs = __shfl_sync(0xffffffff, value, alone ? lane : other);
        if (!alone)
            value = lane < other ? min(value, theirs) : max(value, theirs);
    }
    x[blockIdx.x * 32 + lane] = value;
}

/* ---- Quicksort: each thread sorts its own part recursively ---- */

static __device__ __noinline__ void quicksort(unsigned *x, int first, int last)
{
    unsigned pivot = x[(first + last) / 2];
    int i = first, j = last;

    while (i <= j) {
        while (x[i] < pivot)
            i++;
        while (x[j] > pivot)
            j--;
        if (i <= j) {
            unsigned value = x[i];
            x[i++] = x[j];
            x[j--] = value;
        }
    }
    if (first < j)
        quicksort(x, first, j);
    if (i < last)
        quicksort(x, i, last);
}

static __global__ void quicksorts(unsigned *x, int each)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    quicksort(x, t * each, (t + 1) * each - 1);
}

/* ---- */

static int compare(const void *a, const void *b)
{
    unsigned x = *(const unsigned *) a, y = *(const unsigned *) b;

    return (x > y) - (x < y);
}

static void check(const char *name, Array<unsigned> &x, const unsigned *original, int part)
{
    static unsigned want[N];

    memcpy(want, original, sizeof want);
    for (int i = 0; i < N; i += part)
        qsort(want + i, part, sizeof *want, compare);
    x.down();
    CHECK(!memcmp(want, x.host, sizeof want));
    digest(name, x);
    memcpy(x.host, original, sizeof want);
    x.up();
}

int main()
{
    static unsigned original[N];
    Array<unsigned> x(N);
    Random random(2);

    for (int i = 0; i < N; i++)
        original[i] = x[i] = random.below(5000);
    x.up();
    bitonic_chunks<<<N / CHUNK, CHUNK / 2>>>(x.device);
    for (int size = 2 * CHUNK; size <= N; size *= 2)
        for (int stride = size / 2; stride; stride /= 2)
            bitonic_step<<<N / 256, 128>>>(x.device, size, stride);
    check("bitonic", x, original, N);
    odd_even<<<N / 32, 32>>>(x.device);
    check("odd_even", x, original, 32);
    quicksorts<<<2, 32>>>(x.device, N / 64);
    check("quicksort", x, original, N / 64);
    puts("ok");
}
