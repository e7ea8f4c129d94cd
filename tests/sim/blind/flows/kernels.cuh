// kernels.cuh - kernels that sections of several families use, and their host versions.
#ifndef KERNELS_CUH
#define KERNELS_CUH

#include "flow.cuh"

// ---- Sums ----

__device__ float warp_sum(float x)
{
    for (int gap = 16; gap; gap /= 2)
        x += __shfl_xor_sync(~0u, x, gap);
    return x;
}

// The sum of the block's values, in thread 0.
__device__ float block_sum(float x)
{
    __shared__ float parts[32];

    x = warp_sum(x);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = x;
    __syncthreads();
    x = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
    return threadIdx.x < 32 ? warp_sum(x) : 0;
}

__global__ void sum(const float4 *in, float *total, int count)
{
    float x = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const float4 v = in[i];
        x += v.x + v.y + v.z + v.w;
    }
    x = block_sum(x);
    if (threadIdx.x == 0)
        atomicAdd(total, x);
}

inline double sum_of(const std::vector<float> &values)
{
    double total = 0;

    for (float v : values)
        total += v;
    return total;
}

// ---- Walks along links: each step reads where the next one is ----

__global__ void walk(const int *next, int *ends, int places, int steps)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int at = thread % places;

    for (int i = 0; i < steps; i++)
        at = next[at];
    ends[thread] = at;
}

// A random permutation.
inline std::vector<int> links(int places, uint32_t seed)
{
    std::vector<int> next(places);

    for (int i = 0; i < places; i++)
        next[i] = i;
    for (int i = places - 1; i > 0; i--)
        std::swap(next[i], next[mix(i * 2654435769u + seed) % (i + 1)]);
    return next;
}

inline int walked(const std::vector<int> &next, int at, int steps)
{
    for (int i = 0; i < steps; i++)
        at = next[at];
    return at;
}

// ---- Prey and hunters: one pair of populations per thread ----

template <class T> __host__ __device__ void live(T &prey, T &hunters)
{
    const T step = T(0.001);
    const T births = prey * (T(1.1) - T(0.4) * hunters);

    hunters += step * (hunters * (T(0.1) * prey - T(0.4)));
    prey += step * births;
}

template <class T> __global__ void populations(const T *start, T *end, int steps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    T prey = start[2 * i], hunters = start[2 * i + 1];

    for (int s = 0; s < steps; s++)
        live(prey, hunters);
    end[2 * i] = prey;
    end[2 * i + 1] = hunters;
}

template <class T> T prey_after(T prey, T hunters, int steps)
{
    for (int s = 0; s < steps; s++)
        live(prey, hunters);
    return prey;
}

// ---- The smallest odd factor of each number, by trial division ----

__host__ __device__ inline unsigned odd_factor(unsigned n)
{
    for (unsigned d = 3; d * d <= n; d += 2)
        if (n % d == 0)
            return d;
    return n;
}

__global__ void odd_factors(const unsigned *numbers, unsigned *factors)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    factors[i] = odd_factor(numbers[i]);
}

// Odd numbers near `around`.
inline std::vector<unsigned> odd_numbers(int count, unsigned around)
{
    std::vector<unsigned> numbers(count);

    for (int i = 0; i < count; i++)
        numbers[i] = (around + 2 * i) | 1;
    return numbers;
}

// ---- Jacobi's iteration on a plane: the border stays ----

__host__ __device__ inline float jacobi_point(const float *in, int x, int y, int width, int height)
{
    const float *at = in + y * width + x;

    if (x == 0 || y == 0 || x == width - 1 || y == height - 1)
        return *at;
    return 0.25f * (at[-1] + at[1] + at[-width] + at[width]);
}

__global__ void jacobi(const float *in, float *out, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < width && y < height)
        out[y * width + x] = jacobi_point(in, x, y, width, height);
}

inline std::vector<float> jacobi_on_host(std::vector<float> in, int width, int height, int steps)
{
    std::vector<float> out(in.size());

    for (int s = 0; s < steps; s++) {
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                out[y * width + x] = jacobi_point(in.data(), x, y, width, height);
        in.swap(out);
    }
    return in;
}

// ---- A polynomial of each value ----

__host__ __device__ inline float polynomial(float x)
{
    return ((0.5f * x - 1.5f) * x + 0.75f) * x + 2;
}

__global__ void polynomials(const float4 *in, float4 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 v = in[i];

    out[i] = make_float4(polynomial(v.x), polynomial(v.y), polynomial(v.z), polynomial(v.w));
}

// ---- Pixels of four bytes, unpacked to three planes of floats ----

__host__ __device__ inline float colour(uint32_t pixel, int plane)
{
    return (pixel >> 8 * plane & 255) * 0.00390625f;
}

__global__ void unpack(const uint32_t *pixels, float *planes, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t pixel = pixels[i];

    for (int plane = 0; plane < 3; plane++)
        planes[plane * count + i] = colour(pixel, plane);
}

inline void expect_planes(Flow &flow, const std::vector<uint32_t> &pixels, const float *planes)
{
    const size_t count = pixels.size();

    flow.expect_some(planes, 3 * count, 997,
                     [&](size_t i) { return colour(pixels[i % count], (int) (i / count)); });
}

#endif
