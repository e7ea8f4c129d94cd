// numerals.cuh - small questions about whole numbers: happy ones, perfect ones, circles.
#ifndef BLIND_NUMERALS_CUH
#define BLIND_NUMERALS_CUH

#include "blind.cuh"

// Runs a kernel that answers for each number below `count`, and compares with `host`.
template <class Host>
static void numeral(Run &run, void (*kernel)(int *), int count, int block, Host host, int step)
{
    int *to = run.zeros<int>(count);
    run.measure([=] { kernel<<<count / block, block>>>(to); });
    run.expect_all(
        run.output(to, count), [&](size_t i) { return host((int) i); }, 0, step);
}

// ---- Happy numbers: digits by division, or squares of three digits from a shared table ----

enum { HAPPY = 1 << 18 };

__host__ __device__ inline int happy_next(int n)
{
    int sum = 0;
    for (; n; n /= 10)
        sum += n % 10 * (n % 10);
    return sum;
}

__host__ __device__ inline int happy_steps(int n)
{
    int steps = 0;
    for (n++; n != 1 && n != 89; steps++)
        n = happy_next(n);
    return n == 1 ? steps : -steps;
}

__global__ void happy_digits_kernel(int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = happy_steps(i);
}

__global__ void happy_table_kernel(int *out)
{
    __shared__ short squares[1000];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = threadIdx.x; k < 1000; k += blockDim.x)
        squares[k] = (short) happy_next(k);
    __syncthreads();
    int n = i + 1, steps = 0;
    for (; n != 1 && n != 89; steps++)
        n = n < 1000 ? squares[n] : squares[n / 1000] + squares[n % 1000];
    out[i] = n == 1 ? steps : -steps;
}

static void happy_digits(Run &run)
{
    numeral(run, happy_digits_kernel, HAPPY, 256, happy_steps, 101);
}

static void happy_table(Run &run)
{
    numeral(run, happy_table_kernel, HAPPY, 256, happy_steps, 101);
}

// ---- Sums of divisors, of which all candidates are tried ----

enum { DIVISORS = 4096 };

__host__ __device__ inline int divisors_up_to_root(int i)
{
    const int n = i + 1;
    int sum = 0;
    for (int d = 1; d * d <= n; d++)
        if (n % d == 0)
            sum += d * d == n ? d : d + n / d;
    return sum;
}

__global__ void divisors_all_kernel(int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = i + 1;
    int sum = 0;
    for (int d = 1; d <= n; d++)
        if (n % d == 0)
            sum += d;
    out[i] = sum;
}

static void divisors_all(Run &run)
{
    numeral(run, divisors_all_kernel, DIVISORS, 64, divisors_up_to_root, 7);
}

// ---- The last in Josephus's circle, found in a ring of links ----

enum { CIRCLES = 2048, CIRCLE_SIZE = 64 };

__host__ __device__ inline int circle_last(int i)
{
    const int step = i % 97 + 2;
    int last = 0;
    for (int n = 2; n <= CIRCLE_SIZE; n++)
        last = (last + step) % n;
    return last;
}

__global__ void circle_links_kernel(int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, step = i % 97 + 2;
    unsigned char next[CIRCLE_SIZE];
    for (int k = 0; k < CIRCLE_SIZE; k++)
        next[k] = (unsigned char) ((k + 1) % CIRCLE_SIZE);
    int at = CIRCLE_SIZE - 1;
    for (int left = CIRCLE_SIZE; left > 1; left--) {
        for (int s = 1; s < step; s++)
            at = next[at];
        next[at] = next[next[at]];
    }
    out[i] = at;
}

static void circle_links(Run &run)
{
    numeral(run, circle_links_kernel, CIRCLES, 32, circle_last, 17);
}

// ---- Numbers of partitions by recursion with a limit, or by a row of sums per thread ----

enum { PARTS_THREADS = 512 };

__host__ __device__ inline int parts_row(int i)
{
    const int n = 14 + i % 13;
    int row[33] = { 1 };
    for (int part = 1; part <= n; part++)
        for (int k = part; k <= n; k++)
            row[k] += row[k - part];
    return row[n];
}

__device__ __noinline__ int parts_count(int n, int most)
{
    if (n == 0 || most == 1)
        return 1;
    int sum = parts_count(n, most - 1);
    return n >= most ? sum + parts_count(n - most, most) : sum;
}

__global__ void parts_recursive_kernel(int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = 14 + i % 13;
    out[i] = parts_count(n, n);
}

__global__ void parts_row_kernel(int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = parts_row(i);
}

static void parts_recursive(Run &run)
{
    numeral(run, parts_recursive_kernel, PARTS_THREADS, 32, parts_row, 1);
}

static void parts_rows(Run &run)
{
    numeral(run, parts_row_kernel, PARTS_THREADS, 32, parts_row, 1);
}

#endif
