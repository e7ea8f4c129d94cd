// rings.cuh - sums and products of other kinds: Keccak, transforms over a prime, symmetric
// matrices, tests of primes.
#ifndef BLIND_RINGS_CUH
#define BLIND_RINGS_CUH

#include "blind.cuh"

// ---- Keccak's permutation, a state per thread: loops with tables of places, or unrolled ----

enum { KECCAK_STATES = 8192 };

// The constant of a round, from the register of the standard.
__host__ __device__ inline uint64_t keccak_round(uint32_t *lfsr)
{
    uint64_t value = 0;
    for (int j = 0; j < 7; j++) {
        if (*lfsr & 1)
            value |= 1ull << ((1 << j) - 1);
        *lfsr = *lfsr & 0x80 ? *lfsr << 1 ^ 0x171 : *lfsr << 1;
    }
    return value;
}

__host__ __device__ inline uint64_t keccak_turn(uint64_t v, int by)
{
    return by ? v << by | v >> (64 - by) : v;
}

__host__ __device__ inline void keccak_theta(uint64_t *s)
{
    uint64_t c[5];
    for (int x = 0; x < 5; x++)
        c[x] = s[x] ^ s[x + 5] ^ s[x + 10] ^ s[x + 15] ^ s[x + 20];
    for (int i = 0; i < 25; i++)
        s[i] ^= c[(i + 4) % 5] ^ keccak_turn(c[(i + 1) % 5], 1);
}

__host__ __device__ inline void keccak_chi(uint64_t *s)
{
    for (int y = 0; y < 25; y += 5) {
        uint64_t row[5];
        for (int x = 0; x < 5; x++)
            row[x] = s[y + x];
        for (int x = 0; x < 5; x++)
            s[y + x] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
    }
}

// As in many public versions: the place and the turn of each lane come from tables.
__host__ __device__ inline void keccak_rolled_permute(uint64_t *s)
{
    const int turns[24] = { 1,  3,  6,  10, 15, 21, 28, 36, 45, 55, 2,  14,
                            27, 41, 56, 8,  25, 43, 62, 18, 39, 61, 20, 44 };
    const int places[24] = { 10, 7,  11, 17, 18, 3, 5,  16, 8,  21, 24, 4,
                             15, 23, 19, 13, 12, 2, 20, 14, 22, 9,  6,  1 };
    uint32_t lfsr = 1;
#pragma unroll 1
    for (int round = 0; round < 24; round++) {
        keccak_theta(s);
        uint64_t moved = s[1];
#pragma unroll 1
        for (int i = 0; i < 24; i++) {
            const uint64_t next = s[places[i]];
            s[places[i]] = keccak_turn(moved, turns[i]);
            moved = next;
        }
        keccak_chi(s);
        s[0] ^= keccak_round(&lfsr);
    }
}

__device__ inline void keccak_unrolled_permute(uint64_t *s)
{
    const int turns[24] = { 1,  3,  6,  10, 15, 21, 28, 36, 45, 55, 2,  14,
                            27, 41, 56, 8,  25, 43, 62, 18, 39, 61, 20, 44 };
    const int places[24] = { 10, 7,  11, 17, 18, 3, 5,  16, 8,  21, 24, 4,
                             15, 23, 19, 13, 12, 2, 20, 14, 22, 9,  6,  1 };
    uint32_t lfsr = 1;
#pragma unroll 1
    for (int round = 0; round < 24; round++) {
        keccak_theta(s);
        uint64_t moved = s[1];
#pragma unroll
        for (int i = 0; i < 24; i++) {
            const uint64_t next = s[places[i]];
            s[places[i]] = keccak_turn(moved, turns[i]);
            moved = next;
        }
        keccak_chi(s);
        s[0] ^= keccak_round(&lfsr);
    }
}

__host__ __device__ inline void keccak_fill(uint64_t *s, int i)
{
    for (int k = 0; k < 25; k++)
        s[k] = (uint64_t) (i * 25 + k) * 0x9e3779b97f4a7c15ull;
}

template <bool unrolled> __global__ void keccak_kernel(uint64_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t s[25];
    keccak_fill(s, i);
    if (unrolled)
        keccak_unrolled_permute(s);
    else
        keccak_rolled_permute(s);
    out[i] = s[0] ^ s[24];
}

template <bool unrolled> static void keccak(Run &run)
{
    uint64_t *to = run.zeros<uint64_t>(KECCAK_STATES);
    run.measure([=] { keccak_kernel<unrolled><<<KECCAK_STATES / 64, 64>>>(to); });
    const std::vector<uint64_t> got = run.output(to, KECCAK_STATES);
    for (int i = 0; i < KECCAK_STATES; i += 43) {
        uint64_t s[25];
        keccak_fill(s, i);
        keccak_rolled_permute(s);
        run.expect((uint32_t) got[i], (uint32_t) (s[0] ^ s[24]), 0);
        run.expect(got[i] >> 32, (s[0] ^ s[24]) >> 32, 0);
    }
}

static void keccak_rolled(Run &run)
{
    keccak<false>(run);
}

static void keccak_unrolled(Run &run)
{
    keccak<true>(run);
}

// ---- Transforms of 4096 numbers modulo a prime: a launch per stage, or all in one block ----

enum { NTT_SIZE = 4096, NTT_LOG = 12, NTT_BATCH = 128 };
const uint32_t NTT_PRIME = 998244353;

__host__ __device__ inline uint32_t ntt_times(uint32_t a, uint32_t b)
{
    return (uint32_t) ((uint64_t) a * b % NTT_PRIME);
}

// Butterfly `i` of a stage over pairs that are `half` apart.
__device__ inline void ntt_butterfly(uint32_t *v, const uint32_t *roots, int i, int half)
{
    const int k = i % half, at = (i - k) * 2 + k;
    const uint32_t a = v[at], b = ntt_times(v[at + half], roots[k * (NTT_SIZE / 2 / half)]);
    v[at] = a + b >= NTT_PRIME ? a + b - NTT_PRIME : a + b;
    v[at + half] = a >= b ? a - b : a + NTT_PRIME - b;
}

__global__ void ntt_stage_kernel(uint32_t *v, const uint32_t *roots, int half)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    ntt_butterfly(v + i / (NTT_SIZE / 2) * NTT_SIZE, roots, i % (NTT_SIZE / 2), half);
}

__global__ void ntt_shared_kernel(uint32_t *v, const uint32_t *roots)
{
    __shared__ uint32_t mine[NTT_SIZE];
    for (int i = threadIdx.x; i < NTT_SIZE; i += blockDim.x)
        mine[i] = v[blockIdx.x * NTT_SIZE + i];
    __syncthreads();
    for (int half = 1; half < NTT_SIZE; half *= 2) {
        for (int i = threadIdx.x; i < NTT_SIZE / 2; i += blockDim.x)
            ntt_butterfly(mine, roots, i, half);
        __syncthreads();
    }
    for (int i = threadIdx.x; i < NTT_SIZE; i += blockDim.x)
        v[blockIdx.x * NTT_SIZE + i] = mine[i];
}

static uint32_t ntt_power(uint32_t base, uint32_t exponent)
{
    uint32_t result = 1;
    for (; exponent; exponent /= 2, base = ntt_times(base, base))
        if (exponent % 2)
            result = ntt_times(result, base);
    return result;
}

static int ntt_reversed(int i)
{
    int reversed = 0;
    for (int b = 0; b < NTT_LOG; b++)
        reversed |= (i >> b & 1) << (NTT_LOG - 1 - b);
    return reversed;
}

// The device gets the numbers in bit-reversed order; a sample of results is summed on the host.
static void ntt(Run &run, bool shared)
{
    const int n = NTT_BATCH * NTT_SIZE;
    const uint32_t root = ntt_power(3, (NTT_PRIME - 1) / NTT_SIZE);
    std::vector<uint32_t> in = words(n, 5101), ordered(n), roots(NTT_SIZE, 1);
    for (int k = 1; k < NTT_SIZE; k++)
        roots[k] = ntt_times(roots[k - 1], root);
    for (int i = 0; i < n; i++)
        ordered[i / NTT_SIZE * NTT_SIZE + ntt_reversed(i % NTT_SIZE)] = in[i] %= NTT_PRIME;
    uint32_t *first = run.upload(ordered), *dr = run.upload(roots), *v = run.zeros<uint32_t>(n);
    run.measure(
        [=] {
            if (shared)
                ntt_shared_kernel<<<NTT_BATCH, 1024>>>(v, dr);
            else
                for (int half = 1; half < NTT_SIZE; half *= 2)
                    ntt_stage_kernel<<<n / 2 / 256, 256>>>(v, dr, half);
        },
        [=] { CHECK(cudaMemcpy(v, first, n * sizeof *v, cudaMemcpyDeviceToDevice)); });
    const std::vector<uint32_t> got = run.output(v, n);
    for (int i = 0; i < n; i += 9973) {
        uint64_t sum = 0;
        for (int k = 0; k < NTT_SIZE; k++)
            sum += ntt_times(in[i / NTT_SIZE * NTT_SIZE + k],
                             roots[(size_t) k * (i % NTT_SIZE) % NTT_SIZE]);
        run.expect(got[i], sum % NTT_PRIME, 0);
    }
}

static void ntt_stages(Run &run)
{
    ntt(run, false);
}

static void ntt_shared(Run &run)
{
    ntt(run, true);
}

// ---- A symmetric matrix times a vector: all of it read, or the lower half and atomics ----

enum { SYMV_SIZE = 4096 };

__device__ inline float symv_block_sum(float sum)
{
    __shared__ float part[4];
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    return part[0] + part[1] + part[2] + part[3];
}

__global__ void symv_full_kernel(const float *matrix, const float *x, float *y)
{
    const float *row = matrix + (size_t) blockIdx.x * SYMV_SIZE;
    float sum = 0;
    for (int k = threadIdx.x; k < SYMV_SIZE; k += blockDim.x)
        sum += row[k] * x[k];
    sum = symv_block_sum(sum);
    if (threadIdx.x == 0)
        y[blockIdx.x] = sum;
}

__global__ void symv_half_kernel(const float *matrix, const float *x, float *y)
{
    const int i = blockIdx.x;
    const float *row = matrix + (size_t) i * SYMV_SIZE, mine = x[i];
    float sum = 0;
    for (int k = threadIdx.x; k < i; k += blockDim.x) {
        const float v = row[k];
        sum += v * x[k];
        atomicAdd(&y[k], v * mine);
    }
    sum = symv_block_sum(sum);
    if (threadIdx.x == 0)
        atomicAdd(&y[i], sum + row[i] * mine);
}

static void symv(Run &run, void (*kernel)(const float *, const float *, float *))
{
    const int n = SYMV_SIZE;
    std::vector<float> matrix((size_t) n * n);
    const std::vector<float> x = floats(n, 5102);
    const auto value = [](int i, int k) {
        return (mix(std::max(i, k) * SYMV_SIZE + std::min(i, k)) >> 8) * 0x1p-23f - 1;
    };
    for (int i = 0; i < n; i++)
        for (int k = 0; k <= i; k++)
            matrix[(size_t) i * n + k] = matrix[(size_t) k * n + i] = value(i, k);
    float *from = run.upload(matrix), *dx = run.upload(x), *y = run.zeros<float>(n);
    run.measure([=] { kernel<<<n, 128>>>(from, dx, y); },
                [=] { CHECK(cudaMemset(y, 0, n * sizeof *y)); });
    run.expect_all(
        run.output(y, n),
        [&](int i) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += matrix[(size_t) i * n + k] * x[k];
            return sum;
        },
        1e-3, 53);
}

static void symv_full(Run &run)
{
    symv(run, symv_full_kernel);
}

static void symv_half(Run &run)
{
    symv(run, symv_half_kernel);
}

// ---- Probable primes of 61 bits by Fermat's test to three bases; products by doubling ----

enum { FERMAT_NUMBERS = 512 };

__host__ __device__ inline uint64_t fermat_times(uint64_t a, uint64_t b, uint64_t n)
{
    uint64_t product = 0;
    for (; b; b >>= 1) {
        if (b & 1) {
            product += a;
            product = product >= n ? product - n : product;
        }
        a <<= 1;
        a = a >= n ? a - n : a;
    }
    return product;
}

__host__ __device__ inline bool fermat_prime(uint64_t n)
{
    const uint64_t bases[3] = { 2, 3, 5 };
    for (int k = 0; k < 3; k++) {
        uint64_t result = 1, power = bases[k];
        for (uint64_t e = n - 1; e; e >>= 1) {
            if (e & 1)
                result = fermat_times(result, power, n);
            power = fermat_times(power, power, n);
        }
        if (result != 1)
            return false;
    }
    return true;
}

__global__ void fermat_kernel(const uint64_t *numbers, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = fermat_prime(numbers[i]);
}

static void fermat_doubling(Run &run)
{
    const std::vector<uint32_t> w = words(2 * FERMAT_NUMBERS, 5103);
    std::vector<uint64_t> numbers(FERMAT_NUMBERS);
    for (int i = 0; i < FERMAT_NUMBERS; i++)
        numbers[i] = ((uint64_t) w[2 * i] << 32 | w[2 * i + 1] | 1ull << 63) >> 3 | 1;
    numbers[0] = (1ull << 61) - 1; // a prime
    uint64_t *from = run.upload(numbers);
    unsigned char *to = run.zeros<unsigned char>(FERMAT_NUMBERS);
    run.measure([=] { fermat_kernel<<<FERMAT_NUMBERS / 32, 32>>>(from, to); });
    const std::vector<unsigned char> got = run.output(to, FERMAT_NUMBERS);
    run.expect(got[0], 1, 0);
    run.expect_all(
        got, [&](int i) { return fermat_prime(numbers[i]); }, 0, 7);
}

#endif
