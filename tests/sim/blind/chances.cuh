// chances.cuh - random numbers: normal values, resampled means, Halton points, shuffled cards.
#ifndef BLIND_CHANCES_CUH
#define BLIND_CHANCES_CUH

#include "blind.cuh"

__host__ __device__ inline uint32_t chance_next(uint64_t &state)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const uint32_t x = (uint32_t) ((state >> 18 ^ state) >> 27);
    const uint32_t turn = (uint32_t) (state >> 59);
    return x >> turn | x << (32 - turn) % 32;
}

__host__ __device__ inline float chance_unit(uint64_t &state)
{
    return ((chance_next(state) >> 8) + 0.5f) * 0x1p-24f;
}

__host__ __device__ inline uint64_t chance_seed(int i)
{
    return ((uint64_t) i << 32 | 2061) * 0x9e3779b97f4a7c15ull;
}

// ---- The largest of 32 normal values: by Box and Muller, or by Marsaglia's rejection ----

enum { NORMAL_PAIRS = 16 };

__host__ __device__ inline float largest_by_box(int i)
{
    uint64_t state = chance_seed(i);
    float most = -10;
    for (int k = 0; k < NORMAL_PAIRS; k++) {
        const float u = chance_unit(state), v = 6.2831853f * chance_unit(state);
        const float r = sqrtf(-2 * logf(u));
        most = fmaxf(most, fmaxf(r * cosf(v), r * sinf(v)));
    }
    return most;
}

__host__ __device__ inline float largest_by_polar(int i)
{
    uint64_t state = chance_seed(i);
    float most = -10;
    for (int k = 0; k < NORMAL_PAIRS; k++) {
        float x, y, square;
        do {
            x = 2 * chance_unit(state) - 1;
            y = 2 * chance_unit(state) - 1;
            square = x * x + y * y;
        } while (square >= 1);
        const float scale = sqrtf(-2 * logf(square) / square);
        most = fmaxf(most, scale * fmaxf(x, y));
    }
    return most;
}

__global__ void normals_box_kernel(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = largest_by_box(i);
}

__global__ void normals_polar_kernel(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = largest_by_polar(i);
}

static void normals(Run &run, void (*kernel)(float *, int), float (*host)(int))
{
    const int n = 70000;
    float *to = run.zeros<float>(n);
    run.measure([=] { kernel<<<blocks_for(n, 128), 128>>>(to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return host((int) i); }, 1e-4, 17);
}

static void normals_box(Run &run)
{
    normals(run, normals_box_kernel, largest_by_box);
}

static void normals_polar(Run &run)
{
    normals(run, normals_polar_kernel, largest_by_polar);
}

// ---- Means of samples drawn with replacement from 3000 values: in global or shared memory ----

enum { BOOT_VALUES = 3000, BOOT_DRAWS = 150 };

__host__ __device__ inline float resampled_mean(const float *values, int i)
{
    uint64_t state = chance_seed(i);
    float sum = 0;
    for (int k = 0; k < BOOT_DRAWS; k++)
        sum += values[chance_next(state) % BOOT_VALUES];
    return sum / BOOT_DRAWS;
}

__global__ void bootstrap_global_kernel(const float *values, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = resampled_mean(values, i);
}

__global__ void bootstrap_shared_kernel(const float *values, float *out, int n)
{
    __shared__ float mine[BOOT_VALUES];
    for (int k = threadIdx.x; k < BOOT_VALUES; k += blockDim.x)
        mine[k] = values[k];
    __syncthreads(); // the values are here
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = resampled_mean(mine, i);
}

static void bootstrap(Run &run, void (*kernel)(const float *, float *, int))
{
    const int n = 50000;
    const std::vector<float> values = floats(BOOT_VALUES, 2062);
    float *dv = run.upload(values), *to = run.zeros<float>(n);
    run.measure([=] { kernel<<<blocks_for(n, 256), 256>>>(dv, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return resampled_mean(values.data(), (int) i); }, 1e-5,
        53);
}

static void bootstrap_global(Run &run)
{
    bootstrap(run, bootstrap_global_kernel);
}

static void bootstrap_shared(Run &run)
{
    bootstrap(run, bootstrap_shared_kernel);
}

// ---- Halton points in bases 2, 3, 5, 7: digit by digit, or several digits by a table ----

template <int BASE> __host__ __device__ inline float radical_inverse(uint32_t i)
{
    float scale = 1.0f / BASE, out = 0;
    for (; i; i /= BASE, scale /= BASE)
        out += (i % BASE) * scale;
    return out;
}

__global__ void halton_digits_kernel(float4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = make_float4(radical_inverse<2>(i), radical_inverse<3>(i), radical_inverse<5>(i),
                             radical_inverse<7>(i));
}

// Tables of 3^6, 5^4 and 7^3 entries.
template <int BASE, int SIZE> __device__ inline float table_inverse(const float *table, uint32_t i)
{
    float scale = 1, out = 0;
    for (; i; i /= SIZE, scale *= 1.0f / SIZE)
        out += table[i % SIZE] * scale;
    return out;
}

__global__ void halton_table_kernel(float4 *out, int n)
{
    __shared__ float by3[729], by5[625], by7[343];
    for (int k = threadIdx.x; k < 729; k += blockDim.x) {
        by3[k] = radical_inverse<3>(k);
        if (k < 625)
            by5[k] = radical_inverse<5>(k);
        if (k < 343)
            by7[k] = radical_inverse<7>(k);
    }
    __syncthreads(); // the tables are complete
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = make_float4(__brev(i) * 0x1p-32f, table_inverse<3, 729>(by3, i),
                             table_inverse<5, 625>(by5, i), table_inverse<7, 343>(by7, i));
}

static void halton(Run &run, void (*kernel)(float4 *, int), int grid)
{
    const int n = 300000;
    float4 *to = run.zeros<float4>(n);
    run.measure([=] { kernel<<<grid ? grid : blocks_for(n, 256), 256>>>(to, n); });
    const std::vector<float4> got = run.output(to, n);
    for (int i = 0; i < n; i += 41) {
        run.expect(got[i].x, radical_inverse<2>(i), 1e-6);
        run.expect(got[i].y, radical_inverse<3>(i), 1e-6);
        run.expect(got[i].z, radical_inverse<5>(i), 1e-6);
        run.expect(got[i].w, radical_inverse<7>(i), 1e-6);
    }
}

static void halton_digits(Run &run)
{
    halton(run, halton_digits_kernel, 0);
}

static void halton_table(Run &run)
{
    halton(run, halton_table_kernel, 264);
}

// ---- Shuffled decks: how often do the first five of 52 cards hold a pair? Local or shared decks
// ----

enum { DECK = 52, DECK_ROUNDS = 3, DECK_BLOCK = 128 };

// Cards are `stride` bytes apart.
__host__ __device__ inline int hands_with_pair(unsigned char *deck, int stride, int i)
{
    uint64_t state = chance_seed(i);
    int pairs = 0;
    for (int k = 0; k < DECK; k++)
        deck[k * stride] = k;
    for (int round = 0; round < DECK_ROUNDS; round++) {
        uint32_t ranks = 0;
        for (int k = DECK - 1; k > 0; k--) {
            const int other = ((uint64_t) chance_next(state) * (k + 1)) >> 32;
            const unsigned char card = deck[k * stride];
            deck[k * stride] = deck[other * stride];
            deck[other * stride] = card;
        }
        for (int k = 0; k < 5; k++) {
            const uint32_t rank = 1u << deck[k * stride] % 13;
            if (ranks & rank) {
                pairs++;
                break;
            }
            ranks |= rank;
        }
    }
    return pairs;
}

__global__ void decks_local_kernel(int *out, int n)
{
    unsigned char deck[DECK];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = hands_with_pair(deck, 1, i);
}

__global__ void decks_shared_kernel(int *out, int n)
{
    __shared__ unsigned char deck[DECK * DECK_BLOCK];
    int i = blockIdx.x * DECK_BLOCK + threadIdx.x;
    if (i < n)
        out[i] = hands_with_pair(deck + threadIdx.x, DECK_BLOCK, i);
}

static void decks(Run &run, void (*kernel)(int *, int))
{
    const int n = 40000;
    int *to = run.zeros<int>(n);
    run.measure([=] { kernel<<<blocks_for(n, DECK_BLOCK), DECK_BLOCK>>>(to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            unsigned char deck[DECK];
            return hands_with_pair(deck, 1, (int) i);
        },
        0, 37);
}

static void decks_local(Run &run)
{
    decks(run, decks_local_kernel);
}

static void decks_shared(Run &run)
{
    decks(run, decks_shared_kernel);
}

#endif
