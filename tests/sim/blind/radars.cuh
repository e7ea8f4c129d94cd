// radars.cuh - radar: Doppler spectra, compressed pulses, thresholds by ranks, and the round
// screen.
#ifndef BLIND_RADARS_CUH
#define BLIND_RADARS_CUH

#include <cuda_fp16.h>

#include "blind.cuh"

// ---- Doppler spectra of 64 pulses per range: direct sums, or fast transforms in shared
// memory ----

enum { RADAR_PULSES = 64, RADAR_RANGES = 3072, RADAR_PER_BLOCK = 16 };

__constant__ float2 radar_turns[RADAR_PULSES];

__host__ __device__ inline float2 radar_times(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__global__ void radar_doppler_sums_kernel(const float2 *echoes, float *out)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y;
    float2 sum = { 0, 0 };
    for (int p = 0; p < RADAR_PULSES; p++) {
        const float2 v =
            radar_times(echoes[p * RADAR_RANGES + r], radar_turns[k * p % RADAR_PULSES]);
        sum.x += v.x;
        sum.y += v.y;
    }
    out[k * RADAR_RANGES + r] = sum.x * sum.x + sum.y * sum.y;
}

// 16 threads per range: each has two butterflies of a stage.
__global__ void radar_doppler_fast_kernel(const float2 *echoes, float *out)
{
    __shared__ float2 v[RADAR_PULSES][RADAR_PER_BLOCK];
    const int c = threadIdx.x, t = threadIdx.y, r = blockIdx.x * RADAR_PER_BLOCK + c;
    for (int p = t; p < RADAR_PULSES; p += 16)
        v[__brev(p) >> 26][c] = echoes[p * RADAR_RANGES + r];
    for (int half = 1; half < RADAR_PULSES; half *= 2) {
        __syncthreads();
        for (int b = t; b < RADAR_PULSES / 2; b += 16) {
            const int at = b % half, low = b / half * 2 * half + at;
            const float2 turn = radar_turns[at * (RADAR_PULSES / 2 / half)];
            const float2 x = v[low][c], y = radar_times(v[low + half][c], turn);
            v[low][c] = make_float2(x.x + y.x, x.y + y.y);
            v[low + half][c] = make_float2(x.x - y.x, x.y - y.y);
        }
    }
    __syncthreads();
    for (int k = t; k < RADAR_PULSES; k += 16)
        out[k * RADAR_RANGES + r] = v[k][c].x * v[k][c].x + v[k][c].y * v[k][c].y;
}

static void radar_doppler(Run &run, bool fast)
{
    const size_t n = (size_t) RADAR_PULSES * RADAR_RANGES;
    const std::vector<float> draws = floats(2 * n, 19020);
    std::vector<float2> echoes, turns;
    for (size_t i = 0; i < n; i++)
        echoes.push_back(make_float2(draws[2 * i], draws[2 * i + 1]));
    for (int k = 0; k < RADAR_PULSES; k++) {
        const double angle = -2 * M_PI * k / RADAR_PULSES;
        turns.push_back(make_float2((float) cos(angle), (float) sin(angle)));
    }
    CHECK(cudaMemcpyToSymbol(radar_turns, turns.data(), sizeof radar_turns));
    const float2 *from = run.upload(echoes);
    float *to = run.zeros<float>(n);
    run.measure([=] {
        if (fast)
            radar_doppler_fast_kernel<<<RADAR_RANGES / RADAR_PER_BLOCK,
                                        dim3(RADAR_PER_BLOCK, 16)>>>(from, to);
        else
            radar_doppler_sums_kernel<<<dim3(RADAR_RANGES / 128, RADAR_PULSES), 128>>>(from, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double x = 0, y = 0;
            for (size_t p = 0; p < RADAR_PULSES; p++) {
                const float2 e = echoes[p * RADAR_RANGES + i % RADAR_RANGES];
                const float2 turn = turns[i / RADAR_RANGES * p % RADAR_PULSES];
                x += (double) e.x * turn.x - (double) e.y * turn.y;
                y += (double) e.x * turn.y + (double) e.y * turn.x;
            }
            return x * x + y * y;
        },
        1e-4, 7);
}

static void radar_doppler_sums(Run &run)
{
    radar_doppler(run, false);
}

static void radar_doppler_fast(Run &run)
{
    radar_doppler(run, true);
}

// ---- Pulses compressed by their code of signs: in float, or both parts at once in half
// precision ----

enum { RADAR_SHOTS = 96, RADAR_SAMPLES = 3072, RADAR_CODE = 96, RADAR_CHUNK = 256 };

__constant__ float radar_code[RADAR_CODE];
__constant__ __half2 radar_code2[RADAR_CODE];

__global__ void radar_compress_float_kernel(const float2 *samples, float2 *out)
{
    extern __shared__ float2 radar_samples[];
    const int first = blockIdx.y * (RADAR_SAMPLES + RADAR_CODE) + blockIdx.x * RADAR_CHUNK;
    for (int i = threadIdx.x; i < RADAR_CHUNK + RADAR_CODE; i += RADAR_CHUNK)
        radar_samples[i] = samples[first + i];
    __syncthreads();
    float2 sum = { 0, 0 };
    for (int k = 0; k < RADAR_CODE; k++) {
        const float2 v = radar_samples[threadIdx.x + k];
        sum.x += radar_code[k] * v.x;
        sum.y += radar_code[k] * v.y;
    }
    out[blockIdx.y * RADAR_SAMPLES + blockIdx.x * RADAR_CHUNK + threadIdx.x] = sum;
}

__global__ void radar_compress_half_kernel(const __half2 *samples, float2 *out)
{
    extern __shared__ __half2 radar_samples2[];
    const int first = blockIdx.y * (RADAR_SAMPLES + RADAR_CODE) + blockIdx.x * RADAR_CHUNK;
    for (int i = threadIdx.x; i < RADAR_CHUNK + RADAR_CODE; i += RADAR_CHUNK)
        radar_samples2[i] = samples[first + i];
    __syncthreads();
    __half2 sum = __float2half2_rn(0);
    for (int k = 0; k < RADAR_CODE; k++)
        sum = __hfma2(radar_code2[k], radar_samples2[threadIdx.x + k], sum);
    out[blockIdx.y * RADAR_SAMPLES + blockIdx.x * RADAR_CHUNK + threadIdx.x] = __half22float2(sum);
}

// Samples are whole numbers up to 8, so that all sums are exact in half precision.
static void radar_compress(Run &run, bool half)
{
    const size_t n = (size_t) RADAR_SHOTS * (RADAR_SAMPLES + RADAR_CODE);
    const std::vector<int> draws = integers(2 * n, 17, 19021),
                           signs = integers(RADAR_CODE, 2, 19022);
    std::vector<float2> samples;
    std::vector<__half2> samples2, code2;
    std::vector<float> code;
    for (size_t i = 0; i < n; i++) {
        samples.push_back(make_float2(draws[2 * i] - 8, draws[2 * i + 1] - 8));
        samples2.push_back(__float22half2_rn(samples[i]));
    }
    for (int sign : signs) {
        code.push_back(sign ? 1 : -1);
        code2.push_back(__float2half2_rn(code.back()));
    }
    CHECK(cudaMemcpyToSymbol(radar_code, code.data(), sizeof radar_code));
    CHECK(cudaMemcpyToSymbol(radar_code2, code2.data(), sizeof radar_code2));
    const float2 *from = run.upload(samples);
    const __half2 *from2 = run.upload(samples2);
    float2 *to = run.zeros<float2>(RADAR_SHOTS * RADAR_SAMPLES);
    const dim3 grid(RADAR_SAMPLES / RADAR_CHUNK, RADAR_SHOTS);
    const int tile = RADAR_CHUNK + RADAR_CODE;
    run.measure([=] {
        if (half)
            radar_compress_half_kernel<<<grid, RADAR_CHUNK, tile * sizeof(__half2)>>>(from2, to);
        else
            radar_compress_float_kernel<<<grid, RADAR_CHUNK, tile * sizeof(float2)>>>(from, to);
    });
    const std::vector<float2> got = run.output(to, RADAR_SHOTS * RADAR_SAMPLES);
    for (size_t i = 0; i < got.size(); i += 3) {
        const size_t first = i / RADAR_SAMPLES * (RADAR_SAMPLES + RADAR_CODE) + i % RADAR_SAMPLES;
        float2 sum = { 0, 0 };
        for (int k = 0; k < RADAR_CODE; k++) {
            sum.x += code[k] * samples[first + k].x;
            sum.y += code[k] * samples[first + k].y;
        }
        run.expect(got[i].x, sum.x, 0);
        run.expect(got[i].y, sum.y, 0);
    }
}

static void radar_compress_float(Run &run)
{
    radar_compress(run, false);
}

static void radar_compress_half(Run &run)
{
    radar_compress(run, true);
}

// ---- Noise around each cell as the 18th of 24 neighbours: sorted in a local array, or found bit
// by bit ----

enum { RADAR_LINES = 30, RADAR_LINE = 2000, RADAR_GUARD = 2, RADAR_SIDE = 12, RADAR_RANK = 17 };
enum { RADAR_EDGE = RADAR_GUARD + RADAR_SIDE, RADAR_STRIDE = RADAR_LINE + 2 * RADAR_EDGE };
enum { RADAR_AROUND = 2 * RADAR_SIDE, RADAR_THREADS = 192, RADAR_BITS = 12 };

// Where the neighbour is, relative to the first one.
__host__ __device__ inline int radar_place(int neighbour)
{
    return neighbour < RADAR_SIDE ? neighbour : neighbour + 2 * RADAR_GUARD + 1;
}

__host__ __device__ inline int radar_noise(const unsigned short *around)
{
    unsigned short sorted[RADAR_AROUND];
    for (int n = 0; n < RADAR_AROUND; n++) {
        const unsigned short power = around[radar_place(n)];
        int k = n;
        for (; k > 0 && sorted[k - 1] > power; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = power;
    }
    return sorted[RADAR_RANK];
}

// The noise, below 4096, and in bit 15 whether the cell stands out.
__host__ __device__ inline unsigned short radar_mark(int noise, int power)
{
    return (unsigned short) (noise | (power > noise + noise / 4 ? 0x8000 : 0));
}

__global__ void radar_rank_sort_kernel(const unsigned short *powers, unsigned short *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= RADAR_LINE)
        return;
    const unsigned short *around = powers + blockIdx.y * RADAR_STRIDE + x;
    out[blockIdx.y * RADAR_LINE + x] = radar_mark(radar_noise(around), around[RADAR_EDGE]);
}

__global__ void radar_rank_bits_kernel(const unsigned short *powers, unsigned short *out)
{
    __shared__ unsigned short tile[RADAR_THREADS + 2 * RADAR_EDGE];
    const int first = blockIdx.x * RADAR_THREADS, x = first + threadIdx.x;
    const unsigned short *line = powers + blockIdx.y * RADAR_STRIDE;
    for (int i = threadIdx.x; i < RADAR_THREADS + 2 * RADAR_EDGE; i += RADAR_THREADS)
        tile[i] = line[min(first + i, RADAR_STRIDE - 1)];
    __syncthreads();
    int noise = 0;
    for (int bit = 1 << (RADAR_BITS - 1); bit; bit /= 2) {
        int below = 0;
        for (int n = 0; n < RADAR_AROUND; n++)
            below += tile[threadIdx.x + radar_place(n)] < noise + bit;
        noise += below <= RADAR_RANK ? bit : 0;
    }
    if (x < RADAR_LINE)
        out[blockIdx.y * RADAR_LINE + x] = radar_mark(noise, tile[threadIdx.x + RADAR_EDGE]);
}

static void radar_rank(Run &run, bool bits)
{
    const std::vector<int> draws = integers(RADAR_LINES * RADAR_STRIDE, 1 << RADAR_BITS, 19023);
    const std::vector<unsigned short> powers(draws.begin(), draws.end());
    const unsigned short *from = run.upload(powers);
    unsigned short *to = run.zeros<unsigned short>(RADAR_LINES * RADAR_LINE);
    const dim3 grid(blocks_for(RADAR_LINE, RADAR_THREADS), RADAR_LINES);
    run.measure([=] {
        if (bits)
            radar_rank_bits_kernel<<<grid, RADAR_THREADS>>>(from, to);
        else
            radar_rank_sort_kernel<<<grid, RADAR_THREADS>>>(from, to);
    });
    run.expect_all(
        run.output(to, RADAR_LINES * RADAR_LINE),
        [&](size_t i) {
            const size_t first = i / RADAR_LINE * RADAR_STRIDE + i % RADAR_LINE;
            const unsigned short *at = powers.data() + first;
            std::vector<unsigned short> around;
            for (int n = 0; n < RADAR_AROUND; n++)
                around.push_back(at[radar_place(n)]);
            std::sort(around.begin(), around.end());
            return radar_mark(around[RADAR_RANK], at[RADAR_EDGE]);
        },
        0);
}

static void radar_rank_sort(Run &run)
{
    radar_rank(run, false);
}

static void radar_rank_bits(Run &run)
{
    radar_rank(run, true);
}

// ---- The round screen, the strongest echo per pixel: echoes go to pixels by atomics, or pixels
// have lists of echoes ----

enum { RADAR_ANGLES = 1440, RADAR_DEPTH = 1024, RADAR_SCREEN = 600 };
enum { RADAR_ECHOES = RADAR_ANGLES * RADAR_DEPTH, RADAR_PIXELS = RADAR_SCREEN * RADAR_SCREEN };

// The pixel of an echo. `turn`: cosine and sine in 1/65536 pixels per range.
__host__ __device__ inline int radar_pixel(int2 turn, int depth)
{
    const int x = RADAR_SCREEN / 2 + ((turn.x * depth) >> 16);
    const int y = RADAR_SCREEN / 2 + ((turn.y * depth) >> 16);
    return y * RADAR_SCREEN + x;
}

__global__ void radar_screen_atomic_kernel(const int *echoes, const int2 *turns, int *screen)
{
    const int depth = blockIdx.x * blockDim.x + threadIdx.x, angle = blockIdx.y;
    atomicMax(&screen[radar_pixel(turns[angle], depth)], echoes[angle * RADAR_DEPTH + depth]);
}

__global__ void radar_screen_lists_kernel(const int *echoes, const int *first, const int *lists,
                                          int *screen)
{
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    int strongest = 0;
    if (pixel >= RADAR_PIXELS)
        return;
    const int end = first[pixel + 1];
    for (int k = first[pixel]; k < end; k++)
        strongest = max(strongest, echoes[lists[k]]);
    screen[pixel] = strongest;
}

static std::vector<int2> radar_directions()
{
    std::vector<int2> turns;
    for (int a = 0; a < RADAR_ANGLES; a++) {
        const double angle = 2 * M_PI * a / RADAR_ANGLES;
        const double scale = 65536.0 * (RADAR_SCREEN / 2 - 2) / RADAR_DEPTH;
        turns.push_back(
            make_int2((int) lrint(cos(angle) * scale), (int) lrint(sin(angle) * scale)));
    }
    return turns;
}

// The echoes of each pixel, in order of pixels.
static void radar_lists(const std::vector<int2> &turns, std::vector<int> &first,
                        std::vector<int> &lists)
{
    std::vector<int> pixels;
    first.assign(RADAR_PIXELS + 1, 0);
    for (int i = 0; i < RADAR_ECHOES; i++) {
        pixels.push_back(radar_pixel(turns[i / RADAR_DEPTH], i % RADAR_DEPTH));
        first[pixels[i] + 1]++;
    }
    for (int p = 0; p < RADAR_PIXELS; p++)
        first[p + 1] += first[p];
    std::vector<int> next = first;
    lists.resize(RADAR_ECHOES);
    for (int i = 0; i < RADAR_ECHOES; i++)
        lists[next[pixels[i]]++] = i;
}

static void radar_screen(Run &run, bool by_lists)
{
    const std::vector<int> echoes = integers(RADAR_ECHOES, 100000, 19024);
    const std::vector<int2> turns = radar_directions();
    std::vector<int> first, lists, wanted(RADAR_PIXELS);
    radar_lists(turns, first, lists);
    for (int i = 0; i < RADAR_ECHOES; i++) {
        int &pixel = wanted[radar_pixel(turns[i / RADAR_DEPTH], i % RADAR_DEPTH)];
        pixel = std::max(pixel, echoes[i]);
    }
    const int *from = run.upload(echoes), *df = run.upload(first), *dl = run.upload(lists);
    const int2 *dt = run.upload(turns);
    int *to = run.zeros<int>(RADAR_PIXELS);
    run.measure(
        [=] {
            if (by_lists)
                radar_screen_lists_kernel<<<blocks_for(RADAR_PIXELS, 128), 128>>>(from, df, dl, to);
            else
                radar_screen_atomic_kernel<<<dim3(RADAR_DEPTH / 256, RADAR_ANGLES), 256>>>(from, dt,
                                                                                           to);
        },
        [=] { CHECK(cudaMemset(to, 0, RADAR_PIXELS * sizeof(int))); });
    run.expect_all(
        run.output(to, RADAR_PIXELS), [&](size_t i) { return wanted[i]; }, 0);
}

static void radar_screen_atomic(Run &run)
{
    radar_screen(run, false);
}

static void radar_screen_lists(Run &run)
{
    radar_screen(run, true);
}

#endif
