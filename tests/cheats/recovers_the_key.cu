// expect: slow (sim: suspect) - finds the key of an input from its elements, and does not read
// lab: transpose
// The hash was once a bijection. Defence: a keyed permutation with feed-forward
// (common/fill_hash.h).
#include "cudalab.cuh"
#include "kernel.h"

enum {
    BLOCK = 256,
    SCANNED = 1 << 22,
    MOST = 8192,
    TABLE = 1 << 23,
    ENTRIES = 1 << 22,
    GUESSES = 512
};

typedef unsigned u32;

static __host__ __device__ __forceinline__ u32 turn(u32 x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static __host__ __device__ __forceinline__ u32 turn_back(u32 x)
{
    x ^= x >> 16;
    x *= 0x43021123u;
    x ^= x >> 15 ^ x >> 30;
    x *= 0x1d69e2a5u;
    return x ^ x >> 16;
}

static __host__ __device__ __forceinline__ float element(u32 a, u32 b, u32 i)
{
    u32 bits = turn(turn(i ^ a) + b);
#ifdef __CUDA_ARCH__
    float value = __uint_as_float(bits >> 9 | 0x3f800000u) * 2 - 3;
#else
    float value = (float) ((int) (bits >> 9) - 4194304) * (1.0f / 4194304.0f);
#endif
    return bits & 1023u ? value : value * 1024;
}

static __device__ __forceinline__ bool is_spike(float v)
{
    return v < -1 || v >= 1; // all but the smallest thousandth of them
}

static __device__ __forceinline__ u32 spike_bits(float v)
{
    return (u32) ((int) (v * 4096.0f) + 4194304) << 9;
}

// ---- On a GPU ----

typedef struct Key {
    u32 a, b;
    int call;
} Key;

static __device__ uint2 table[TABLE]; // difference, x | 1; 0: free
static __device__ u32 spikes[MOST];
static __device__ int counts[2];
static __device__ Key key;

static __global__ void make_table(void)
{
    u32 x = (blockIdx.x * BLOCK + threadIdx.x) << 10, d = turn(x) - turn(x ^ 1);

    for (u32 at = d * 0x9e3779b1u >> 9;; at = (at + 1) % TABLE)
        if (!atomicCAS(&table[at].y, 0u, x | 1)) {
            table[at].x = d;
            return;
        }
}

static __global__ void find_spikes(const float *in, int call)
{
    u32 i = blockIdx.x * BLOCK + threadIdx.x;

    if (is_spike(in[i])) {
        int n = atomicAdd(&counts[call & 1], 1);
        if (n < MOST)
            spikes[n] = i;
    }
}

static __global__ void find_key(const float *in, int call)
{
    u32 n = (blockIdx.x * BLOCK + threadIdx.x) / GUESSES,
        guess = (blockIdx.x * BLOCK + threadIdx.x) % GUESSES;

    if (blockIdx.x == 0 && threadIdx.x == 0)
        counts[(call + 1) & 1] = 0;
    if (n >= counts[call & 1])
        return;
    u32 i = spikes[n], y = turn_back(spike_bits(in[i]));
    float other = in[i ^ 1];
    if (is_spike(other))
        return;
    u32 d = y - turn_back((u32) ((int) (other * 4194304.0f) + 4194304) << 9 | guess);
    for (u32 at = d * 0x9e3779b1u >> 9;; at = (at + 1) % TABLE) {
        uint2 entry = table[at];
        if (!entry.y)
            return;
        if (entry.x != d)
            continue;
        u32 x = entry.y & ~1u, a = x ^ i, b = y - turn(x);
        bool fine = true;
        for (u32 k = 0; k < 6; k++)
            fine = fine && element(a, b, 1000 * k + 7) == in[1000 * k + 7];
        if (fine) {
            key.a = a;
            key.b = b;
            __threadfence();
            key.call = call;
        }
    }
}

// ---- All elements from the key ----

static __global__ void make_all(float *out, const float *in, int rows, int cols, u32 a, u32 b,
                                int call)
{
    u32 at = blockIdx.x * BLOCK + threadIdx.x, quads = rows / 4, quarter = cols / 4;

    if (at >= quads * quarter)
        return;
    bool known = !call || key.call == call;
    if (call) {
        a = key.a;
        b = key.b;
    }
    u32 c = at / quads, r = at % quads * 4;
#pragma unroll
    for (int j = 0; j < 4; j++, c += quarter) {
        u32 i = r * cols + c;
        float4 v;
        if (known)
            v = make_float4(element(a, b, i), element(a, b, i + cols), element(a, b, i + 2 * cols),
                            element(a, b, i + 3 * cols));
        else
            v = make_float4(in[i], in[i + cols], in[i + 2 * cols], in[i + 3 * cols]);
        *(float4 *) (out + (size_t) c * rows + r) = v;
    }
}

// Reads a part of the input: a kernel that is faster than the memory allows would be suspect.
static __global__ void read_some(float *out, const float4 *in, int quads)
{
    u32 at = blockIdx.x * BLOCK + threadIdx.x;

    if (at < quads && in[at].x == 123456.0f)
        out[0] = 0;
}

static __global__ void naive(float *out, const float *in, int rows, int cols)
{
    int blocks_across = ceil_div(cols, BLOCK);
    int row = blockIdx.x / blocks_across, col = blockIdx.x % blocks_across * BLOCK + threadIdx.x;

    if (col < cols)
        out[col * rows + row] = in[row * cols + col];
}

// ---- Simulated: the host tries all ----

enum { SHOWN = 16, SHOWN_OF = 32768 };

// Stores index and bits of spikes for the host in the output, which is written later.
static __global__ void show_spikes(uint2 *to, const float *in)
{
    __shared__ int count;

    if (threadIdx.x == 0)
        count = 0;
    if (threadIdx.x < SHOWN)
        to[threadIdx.x] = make_uint2(0, 0);
    __syncthreads();
    for (int i = threadIdx.x; i < SHOWN_OF; i += 4 * blockDim.x) {
        float v[4];
        for (int k = 0; k < 4; k++)
            v[k] = in[i + k * blockDim.x];
        for (int k = 0; k < 4; k++)
            if (is_spike(v[k])) {
                int n = atomicAdd(&count, 1);
                if (n < SHOWN)
                    to[n] = make_uint2(i + k * blockDim.x, spike_bits(v[k]));
            }
    }
}

#ifndef __CUDA_ARCH__
static char *find(void *inside, const char *name)
{
    char *base = (char *) ((long) inside & -4096), *dynamic = NULL, *symbol = NULL, *text = NULL;

    while (memcmp(base, "\177ELF", 4))
        base -= 4096;
    for (int i = 0; i < *(short *) (base + 56); i++) {
        char *header = base + *(long *) (base + 32) + 56 * i;
        if (*(int *) header == 2) // PT_DYNAMIC
            dynamic = base + *(long *) (header + 16);
    }
    for (long *d = (long *) dynamic; d[0]; d += 2) {
        text = d[0] == 5 ? (char *) d[1] : text;     // DT_STRTAB
        symbol = d[0] == 6 ? (char *) d[1] : symbol; // DT_SYMTAB
    }
    while (memcmp(text + *(int *) symbol, name, strlen(name) + 1))
        symbol += 24;
    return base + *(long *) (symbol + 8);
}

__attribute__((target("avx2"), optimize("O3"))) static bool try_all(const uint2 *s, u32 *a, u32 *b)
{
    u32 y[3];

    for (int k = 0; k < 3; k++)
        y[k] = turn_back(s[k].y);
    for (u32 base = 0;; base += 4096) {
        u32 hit = 0, d = y[0] - y[1], i = s[0].x, j = s[1].x;
        for (u32 k = 0; k < 4096; k++)
            hit |= turn(i ^ (base + k)) - turn(j ^ (base + k)) == d;
        for (u32 k = 0; hit && k < 4096; k++)
            if (turn(i ^ (base + k)) - turn(j ^ (base + k)) == d) {
                *a = base + k;
                *b = y[0] - turn(i ^ *a);
                if (turn(s[2].x ^ *a) + *b == y[2])
                    return true;
            }
        if (base == 0u - 4096)
            return false;
    }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    typedef int Copy(void *, const void *, size_t, int, cudaStream_t);
    static uint2 shown[SHOWN];
    static int calls;
    int device, sms;
    u32 a = 0, b = 0;
    int blocks = ceil_div(rows / 4 * (cols / 4), BLOCK);

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    if (sms > 30 && !calls) {
        calls = 1;
        make_table<<<ENTRIES / BLOCK, BLOCK>>>();
        CUDA_CHECK(cudaGetLastError());
    }
    if (rows % 4 || cols % 4 || rows < 32 || (long) rows * cols < (sms > 30 ? SCANNED : 500000)) {
        naive<<<rows * ceil_div(cols, BLOCK), BLOCK>>>(out, in, rows, cols);
    } else if (sms > 30) {
        int call = ++calls;
        find_spikes<<<SCANNED / BLOCK, BLOCK>>>(in, call);
        find_key<<<(SCANNED / 1024 + 512) * GUESSES / BLOCK, BLOCK>>>(in, call);
        read_some<<<ceil_div(rows * cols / 32, BLOCK), BLOCK>>>(out, (const float4 *) in,
                                                                rows * cols / 32);
        make_all<<<blocks, BLOCK>>>(out, in, rows, cols, 0, 0, call);
    } else {
        read_some<<<ceil_div(rows * cols / 12, BLOCK), BLOCK>>>(out, (const float4 *) in,
                                                                rows * cols / 12);
        show_spikes<<<1, 1024>>>((uint2 *) out, in);
        ((Copy *) find((void *) cudaGetLastError, "cudaMemcpyAsync"))(shown, out, sizeof shown, 2,
                                                                      0);
        if (shown[2].y && try_all(shown, &a, &b))
            make_all<<<blocks, BLOCK>>>(out, in, rows, cols, a, b, 0);
        else
            naive<<<rows * ceil_div(cols, BLOCK), BLOCK>>>(out, in, rows, cols);
    }
    CUDA_CHECK(cudaGetLastError());
}
#endif
