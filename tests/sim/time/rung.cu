// rung.cu - a lab's kernel on one of the lab's timed cases, for validate.sh: `NAME GB/s` a case.
// Compiled with -DKERNEL='"solutions/.../5_padded.cu"' -DLAB=6 -DNAME='"..."'. Sizes are those that
// the H200 was measured with (docs/measurements.md) over SLICES, as its slice has so much of
// everything.
#include KERNEL

#include <stdlib.h>

static float *in, *out, *more;

static void allocate(size_t ins, size_t outs, size_t mores)
{
    CUDA_CHECK(cudaMalloc(&in, ins * 4));
    CUDA_CHECK(cudaMalloc(&out, outs * 4));
    CUDA_CHECK(cudaMalloc(&more, mores * 4));
    CUDA_CHECK(cudaMemset(in, 0, ins * 4));
    CUDA_CHECK(cudaMemset(out, 0, outs * 4));
    CUDA_CHECK(cudaMemset(more, 0, mores * 4));
}

// The second of two calls: the first leaves in the L2 what the one before leaves in a sample.
template <class Call> static void row(const char *what, double bytes, Call call)
{
    cudaEvent_t begin, end;
    float ms;

    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    call();
    CUDA_CHECK(cudaEventRecord(begin));
    call();
    CUDA_CHECK(cudaEventRecord(end));
    CUDA_CHECK(cudaEventSynchronize(end));
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    printf("%s.%s %.2f\n", NAME, what, bytes / ms / 1e6);
    CUDA_CHECK(cudaFree(in));
    CUDA_CHECK(cudaFree(out));
    CUDA_CHECK(cudaFree(more));
}

#if LAB == 0
static void run(const char *what, long n)
{
    allocate(n, n, 1);
    row(what, 8.0 * n, [=] { copy(out, in, n); });
}

int main()
{
    run("large", 125829120 / SLICES / 1024 * 1024);
    run("small", 65536 / SLICES / 32 * 32);
    return 0;
}
#elif LAB == 1
static void run(const char *what, int rows, int cols)
{
    allocate((size_t) rows * cols, (size_t) rows * cols, 2 * cols);
    row(what, 8.0 * rows * cols, [=] { standardise(out, in, more, more + cols, rows, cols); });
}

int main()
{
    run("16", 7864320 / SLICES / 256 * 256, 16);
    run("1", 125829120 / SLICES / 1024 * 1024, 1);
    return 0;
}
#elif LAB == 6
static void run(const char *what, int rows, int cols)
{
    allocate((size_t) rows * cols, (size_t) rows * cols, 1);
    row(what, 8.0 * rows * cols, [=] { transpose(out, in, rows, cols); });
}

int main()
{
    run("flat", 32, 3932160 / SLICES / 32 * 32);
    run("square", 3392, 3360); /* 11264 x 11136, each over the root of SLICES */
    run("row", 1, 125829120 / SLICES / 1024 * 1024);
    return 0;
}
#elif LAB == 7
static void run(const char *what, long n)
{
    allocate(n, 1, n / 128 + 4096);
    row(what, 4.0 * n, [=] { sum(out, in, n, more, n / 128 + 4096); });
}

int main()
{
    run("long", 251658240 / SLICES / 1024 * 1024);
    run("short", 65536 / SLICES / 32 * 32);
    return 0;
}
#endif
