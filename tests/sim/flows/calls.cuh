// calls.cuh - device functions: inlined and not, recursive, by address, functors and templates.
#ifndef FLOWS_CALLS_CUH
#define FLOWS_CALLS_CUH

#include "flows.cuh"

static __device__ __noinline__ int longest_climb(const int *p, int count)
{
    int best = 0, run = 0;
    for (int k = 1; k < count; k++) {
        run = p[k] > p[k - 1] ? run + 1 : 0;
        best = max(best, run);
    }
    return best;
}

__global__ void call_in_branch(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n - 12)
        return;
    if (a[i] % 3 == 0)
        out[i] = longest_climb(a + i, 5 + a[i] % 6);
    else
        out[i] = -longest_climb(a + i, 4);
}

static __device__ int ackermann_like(int m, int x)
{
    if (m == 0)
        return x + 1;
    if (x <= 0)
        return ackermann_like(m - 1, 1);
    return ackermann_like(m - 1, x / 2) + 1;
}

__global__ void recursive_two_ways(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = ackermann_like(a[i] % 6, a[i] % 9);
}

static __device__ int tree_sum(const int *a, int n, int node, int depth)
{
    int x = a[node % n];
    if (depth == 0 || x % 4 == 0)
        return x;
    return tree_sum(a, n, 2 * node + 1, depth - 1) + tree_sum(a, n, 2 * node + 2, depth - 1);
}

__global__ void recursive_tree(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 3000)
        out[i] = tree_sum(a, n, i, 4);
}

typedef float (*Curve)(float);

static __device__ float curve_square(float x)
{
    return x * x;
}

static __device__ float curve_wave(float x)
{
    return __sinf(3 * x) + __cosf(x);
}

static __device__ float curve_step(float x)
{
    float s = 0;
    for (int k = 0; k < 8 && s < x; k++)
        s += 0.2f;
    return s;
}

__global__ void by_address(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Curve curves[3] = { curve_square, curve_wave, curve_step };
    if (i >= n)
        return;
    Curve curve = curves[(int) (fabsf(a[i]) * 2.99f)];
    out[i] = curve(a[(i + 1) % n]);
}

struct AtLeast {
    int least;
    __device__ bool operator()(int x) const
    {
        return x >= least;
    }
};

template <class Test> static __device__ int count_if(const int *p, int stride, int count, Test test)
{
    int found = 0;
    for (int k = 0; k < count; k++)
        if (test(p[k * stride]))
            found++;
    return found;
}

__global__ void functor_count(const int *a, int *out, int n, int least)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int some = count_if(a + i, n, 9, AtLeast{ least });
    int odd = count_if(a + i, n, 9, [](int x) { return x & 1; });
    out[i] = some * 10 + odd;
}

template <int ORDER> static __device__ float spline(float t)
{
    if (ORDER == 1)
        return t < 1 ? 1 - t : 0;
    return t * spline<ORDER - 1>(t) + (1 - t) * spline<ORDER - 1>(t * 0.5f);
}

template <> __device__ float spline<0>(float t)
{
    return t;
}

__global__ void template_orders(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float t = 2 * fabsf(a[i]);
    out[i] = i & 32 ? spline<3>(t) : spline<2>(t);
}

struct Shape {
    __device__ virtual float area(float x) const = 0;
};

struct Disk : Shape {
    __device__ float area(float x) const override
    {
        return 3.14159f * x * x;
    }
};

struct Star : Shape {
    __device__ float area(float x) const override
    {
        float s = 0;
        for (int k = 0; k < 5; k++)
            s += x / (k + 1.5f);
        return s;
    }
};

__global__ void virtual_area(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Disk disk;
    Star star;
    const Shape *shape = a[i] > 0 ? (const Shape *) &disk : &star;
    out[i] = shape->area(a[i]);
}

static __device__ __noinline__ bool accept(unsigned &state)
{
    state = state * 1103515245u + 12345u;
    if (state >> 30 == 0)
        return false;
    return (state >> 20 & 7) < 5;
}

__global__ void noinline_in_loop(const unsigned *a, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned s = a[i], count = 0;
    while (accept(s) && count < 40)
        count++;
    out[i] = count;
}

static __device__ float simpson(float l, float r, float whole, float tolerance, int depth)
{
    float m = 0.5f * (l + r), h = (r - l) / 12;
    float left = h * (__expf(-l * l) + 4 * __expf(-0.25f * (l + m) * (l + m)) + __expf(-m * m)),
          right = h * (__expf(-m * m) + 4 * __expf(-0.25f * (m + r) * (m + r)) + __expf(-r * r));
    if (depth == 0 || fabsf(left + right - whole) < tolerance)
        return left + right;
    return simpson(l, m, left, tolerance / 2, depth - 1) +
           simpson(m, r, right, tolerance / 2, depth - 1);
}

__global__ void adaptive_simpson(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 2500)
        out[i] = simpson(2 * a[i], 3, 1, 1e-4f, 6);
}

struct Rng {
    unsigned long long s;
    __device__ unsigned next()
    {
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        unsigned x = (unsigned) ((s >> 18 ^ s) >> 27), r = (unsigned) (s >> 59);
        return x >> r | x << (-r & 31);
    }
    __device__ unsigned below(unsigned limit)
    {
        unsigned least = -limit % limit, x;
        do
            x = next();
        while (x < least);
        return x % limit;
    }
};

__global__ void dice_until_six(const unsigned *a, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Rng rng = { a[i] };
    unsigned sum = 0, die;
    while ((die = rng.below(6)) != 5)
        sum += die;
    out[i] = sum;
}

#define CALLS                                                                                      \
    MAP(call_in_branch, ints(100), 1), MAP(recursive_two_ways, ints(1000), 1),                     \
        MAP(recursive_tree, ints(1000), 1), MAP(by_address, reals(), 1),                           \
        MAP_WITH(functor_count, ints(100), 9, 60), MAP(template_orders, reals(), 1),               \
        MAP(virtual_area, reals(), 1), MAP(noinline_in_loop, hashes(), 1),                         \
        MAP(adaptive_simpson, reals(), 1), MAP(dice_until_six, hashes(), 1)

#endif
