// swaths.cuh - pictures of satellites: pixels onto a map, temperatures, order of bands, classes.
#ifndef BLIND_SWATHS_CUH
#define BLIND_SWATHS_CUH

#include <cuda_fp16.h>

#include "blind.cuh"

// ---- Means of the pixels that fall into each cell of a map: two atomics, or one of 64 bits ----

enum { SWATH_LINES = 1200, SWATH_SAMPLES = 1354, SWATH_PIXELS = SWATH_LINES * SWATH_SAMPLES };
enum { SWATH_MAP = 512, SWATH_CELLS = SWATH_MAP * SWATH_MAP };

// Places are from 0 to 1. Products with a power of two are exact.
__host__ __device__ inline int swath_cell(float2 place)
{
    return (int) (place.y * SWATH_MAP) * SWATH_MAP + (int) (place.x * SWATH_MAP);
}

__global__ void swath_two_kernel(const float2 *places, const unsigned short *values, uint2 *cells)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= SWATH_PIXELS)
        return;
    uint2 *cell = &cells[swath_cell(places[i])];
    atomicAdd(&cell->x, 1u);
    atomicAdd(&cell->y, (unsigned) values[i]);
}

// The count is in the low word, the sum in the high one: the same bytes as two words.
__global__ void swath_packed_kernel(const float2 *places, const unsigned short *values,
                                    unsigned long long *cells)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < SWATH_PIXELS)
        atomicAdd(&cells[swath_cell(places[i])], (unsigned long long) values[i] << 32 | 1);
}

__global__ void swath_mean_kernel(const uint2 *cells, float *means)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    means[i] = cells[i].x ? (float) cells[i].y / cells[i].x : -1.0f;
}

// A swath across the map, turned, with smaller pixels in its middle.
static std::vector<float2> swath_places()
{
    const std::vector<float> v = floats(2 * SWATH_PIXELS, 19130, -5e-4f, 5e-4f);
    std::vector<float2> places(SWATH_PIXELS);
    for (int i = 0; i < SWATH_PIXELS; i++) {
        const float along = (float) (i / SWATH_SAMPLES) / SWATH_LINES - 0.5f;
        const float across = (float) (i % SWATH_SAMPLES) / SWATH_SAMPLES - 0.5f;
        const float wide = across * (0.6f + 1.2f * across * across);
        places[i] = { 0.5f + 0.9f * (0.95f * wide - 0.25f * along) + v[2 * i],
                      0.5f + 0.9f * (0.25f * wide + 0.85f * along) + v[2 * i + 1] };
    }
    return places;
}

static void swath_bin(Run &run, bool packed)
{
    const std::vector<float2> places = swath_places();
    const std::vector<int> v = integers(SWATH_PIXELS, 4096, 19131);
    const std::vector<unsigned short> values(v.begin(), v.end());
    std::vector<uint2> wanted(SWATH_CELLS, uint2{ 0, 0 });
    for (int i = 0; i < SWATH_PIXELS; i++) {
        wanted[swath_cell(places[i])].x++;
        wanted[swath_cell(places[i])].y += values[i];
    }
    const float2 *dp = run.upload(places);
    const unsigned short *dv = run.upload(values);
    uint2 *cells = run.zeros<uint2>(SWATH_CELLS);
    float *to = run.zeros<float>(SWATH_CELLS);
    const int blocks = blocks_for(SWATH_PIXELS, 256);
    run.measure(
        [=] {
            if (packed)
                swath_packed_kernel<<<blocks, 256>>>(dp, dv, (unsigned long long *) cells);
            else
                swath_two_kernel<<<blocks, 256>>>(dp, dv, cells);
            swath_mean_kernel<<<SWATH_CELLS / 512, 512>>>(cells, to);
        },
        [=] { CHECK(cudaMemset(cells, 0, SWATH_CELLS * sizeof(uint2))); });
    run.expect_all(
        run.output(to, SWATH_CELLS),
        [&](size_t i) { return wanted[i].x ? (float) wanted[i].y / wanted[i].x : -1.0f; }, 1e-6);
}

static void swath_bin_two(Run &run)
{
    swath_bin(run, false);
}

static void swath_bin_packed(Run &run)
{
    swath_bin(run, true);
}

// ---- Temperatures of counts of a thermal band: Planck's formula, or a table in shared memory ----

enum { KELVIN_PIXELS = 3500000, KELVIN_COUNTS = 4096, KELVIN_BLOCKS = 528 };

// Constants of a band near 11 um.
__host__ __device__ inline float kelvin_of(int count)
{
    const float radiance = 0.0047f * count + 0.35f;
    return 1304.41f / logf(729.54f / radiance + 1);
}

__global__ void kelvin_formula_kernel(const unsigned short *counts, const float *, float *out)
{
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < KELVIN_PIXELS; i += step)
        out[i] = kelvin_of(counts[i]);
}

__global__ void kelvin_table_kernel(const unsigned short *counts, const float *table, float *out)
{
    __shared__ float kelvins[KELVIN_COUNTS];
    const int step = gridDim.x * blockDim.x;
    for (int k = threadIdx.x; k < KELVIN_COUNTS; k += blockDim.x)
        kelvins[k] = table[k];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < KELVIN_PIXELS; i += step)
        out[i] = kelvins[counts[i]];
}

static void swath_kelvin(Run &run, void (*kernel)(const unsigned short *, const float *, float *))
{
    const std::vector<int> v = integers(KELVIN_PIXELS, KELVIN_COUNTS, 19132);
    const std::vector<unsigned short> counts(v.begin(), v.end());
    std::vector<float> table(KELVIN_COUNTS);
    for (int k = 0; k < KELVIN_COUNTS; k++)
        table[k] = kelvin_of(k);
    const unsigned short *from = run.upload(counts);
    const float *dt = run.upload(table);
    float *to = run.zeros<float>(KELVIN_PIXELS);
    run.measure([=] { kernel<<<KELVIN_BLOCKS, 256>>>(from, dt, to); });
    run.expect_all(
        run.output(to, KELVIN_PIXELS), [&](size_t i) { return table[counts[i]]; }, 1e-5, 19);
}

static void swath_kelvin_formula(Run &run)
{
    swath_kelvin(run, kelvin_formula_kernel);
}

static void swath_kelvin_table(Run &run)
{
    swath_kelvin(run, kelvin_table_kernel);
}

// ---- Pixels with all their bands become bands with all their pixels, in physical units: strided
// loads, or a tile in shared memory ----

enum { SWATH_BANDS = 36, BAND_PIXELS = 150000, BAND_TILE = 96 };

// A band's gain and offset.
__constant__ float2 band_scales[SWATH_BANDS];

__host__ __device__ inline float band_value(int count, float2 scale)
{
    return fmaf((float) count, scale.x, scale.y);
}

__global__ void band_strided_kernel(const unsigned short *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= BAND_PIXELS)
        return;
    for (int band = 0; band < SWATH_BANDS; band++)
        out[band * BAND_PIXELS + i] = band_value(in[i * SWATH_BANDS + band], band_scales[band]);
}

// A thread per pixel of the tile, for the stores.
__global__ void band_tile_kernel(const unsigned short *in, float *out)
{
    __shared__ unsigned short tile[BAND_TILE * SWATH_BANDS];
    const int first = blockIdx.x * BAND_TILE, i = first + threadIdx.x;
    const int count = min(BAND_TILE, BAND_PIXELS - first) * SWATH_BANDS;
    for (int k = threadIdx.x; k < count; k += BAND_TILE)
        tile[k] = in[first * SWATH_BANDS + k];
    __syncthreads();
    if (i >= BAND_PIXELS)
        return;
    for (int band = 0; band < SWATH_BANDS; band++)
        out[band * BAND_PIXELS + i] =
            band_value(tile[threadIdx.x * SWATH_BANDS + band], band_scales[band]);
}

static void swath_bands(Run &run, bool tiles)
{
    const std::vector<int> v = integers(BAND_PIXELS * SWATH_BANDS, 16384, 19133);
    const std::vector<unsigned short> counts(v.begin(), v.end());
    const std::vector<float> gains = floats(2 * SWATH_BANDS, 19134, 0.01f, 0.2f);
    std::vector<float2> scales(SWATH_BANDS);
    for (int band = 0; band < SWATH_BANDS; band++)
        scales[band] = { gains[2 * band], -100 * gains[2 * band + 1] };
    CHECK(cudaMemcpyToSymbol(band_scales, scales.data(), sizeof(band_scales)));
    const unsigned short *from = run.upload(counts);
    float *to = run.zeros<float>(BAND_PIXELS * SWATH_BANDS);
    run.measure([=] {
        if (tiles)
            band_tile_kernel<<<blocks_for(BAND_PIXELS, BAND_TILE), BAND_TILE>>>(from, to);
        else
            band_strided_kernel<<<blocks_for(BAND_PIXELS, 128), 128>>>(from, to);
    });
    run.expect_all(
        run.output(to, BAND_PIXELS * SWATH_BANDS),
        [&](size_t at) {
            const size_t band = at / BAND_PIXELS, i = at % BAND_PIXELS;
            return band_value(counts[i * SWATH_BANDS + band], scales[band]);
        },
        0, 23);
}

static void swath_bands_strided(Run &run)
{
    swath_bands(run, false);
}

static void swath_bands_tile(Run &run)
{
    swath_bands(run, true);
}

// ---- The nearest of known spectra of 16 bands: floats, or pairs of halves ----

enum { CLASS_PIXELS = 420000, CLASS_BANDS = 16, SWATH_CLASSES = 10 };

__constant__ float class_floats[SWATH_CLASSES * CLASS_BANDS];
__constant__ unsigned class_pairs[SWATH_CLASSES * CLASS_BANDS / 2]; // of halves

__global__ void class_float_kernel(const void *spectra, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= CLASS_PIXELS)
        return;
    float4 v[CLASS_BANDS / 4];
    for (int k = 0; k < CLASS_BANDS / 4; k++)
        v[k] = ((const float4 *) spectra)[i * (CLASS_BANDS / 4) + k];
    float best = 1e9f;
    int at = 0;
    for (int c = 0; c < SWATH_CLASSES; c++) {
        const float *known = class_floats + c * CLASS_BANDS;
        float sum = 0;
        for (int k = 0; k < CLASS_BANDS / 4; k++) {
            const float x = v[k].x - known[4 * k], y = v[k].y - known[4 * k + 1];
            const float z = v[k].z - known[4 * k + 2], w = v[k].w - known[4 * k + 3];
            sum += x * x + y * y + z * z + w * w;
        }
        at = sum < best ? c : at;
        best = fminf(best, sum);
    }
    out[i] = (unsigned char) at;
}

__device__ inline __half2 class_pair(unsigned bits)
{
    return *(const __half2 *) &bits;
}

__device__ inline __half2 class_add(__half2 sum, unsigned pixel, unsigned known)
{
    const __half2 d = __hsub2(class_pair(pixel), class_pair(known));
    return __hfma2(d, d, sum);
}

__global__ void class_half_kernel(const void *spectra, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= CLASS_PIXELS)
        return;
    const uint4 a = ((const uint4 *) spectra)[2 * i], b = ((const uint4 *) spectra)[2 * i + 1];
    const unsigned v[CLASS_BANDS / 2] = { a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w };
    __half best = __float2half(1000);
    int at = 0;
    for (int c = 0; c < SWATH_CLASSES; c++) {
        const unsigned *known = class_pairs + c * CLASS_BANDS / 2;
        __half2 sum = __float2half2_rn(0);
        for (int k = 0; k < CLASS_BANDS / 2; k++)
            sum = class_add(sum, v[k], known[k]);
        const __half all = __hadd(__low2half(sum), __high2half(sum));
        at = __hlt(all, best) ? c : at;
        best = __hmin(best, all);
    }
    out[i] = (unsigned char) at;
}

// Each pixel is a mixture of two classes with some noise.
static std::vector<float> class_spectra(const std::vector<float> &known)
{
    const std::vector<uint32_t> v = words(CLASS_PIXELS, 19135);
    const std::vector<float> noise = floats(CLASS_PIXELS * CLASS_BANDS, 19136, -0.1f, 0.1f);
    std::vector<float> spectra(noise.size());
    for (int i = 0; i < CLASS_PIXELS * CLASS_BANDS; i++) {
        const uint32_t w = v[i / CLASS_BANDS], band = i % CLASS_BANDS;
        const float a = known[w % SWATH_CLASSES * CLASS_BANDS + band];
        const float b = known[w / 16 % SWATH_CLASSES * CLASS_BANDS + band];
        spectra[i] = a + (b - a) * (w >> 24) / 300 + noise[i];
    }
    return spectra;
}

// Halves may prefer another class that is almost as near.
static void class_expect(Run &run, const std::vector<float> &spectra,
                         const std::vector<float> &known, const std::vector<unsigned char> &got)
{
    for (int i = 0; i < CLASS_PIXELS; i += 17) {
        double sums[SWATH_CLASSES] = {}, best = 1e9;
        for (int c = 0; c < SWATH_CLASSES; c++) {
            for (int k = 0; k < CLASS_BANDS; k++) {
                const double d = spectra[i * CLASS_BANDS + k] - known[c * CLASS_BANDS + k];
                sums[c] += d * d;
            }
            best = std::min(best, sums[c]);
        }
        run.expect(got[i] < SWATH_CLASSES ? sums[got[i]] : 1e9, best, 0.01);
    }
}

static std::vector<__half> class_halves(const std::vector<float> &v)
{
    std::vector<__half> halves(v.size());
    for (size_t i = 0; i < v.size(); i++)
        halves[i] = __float2half(v[i]);
    return halves;
}

static void swath_class(Run &run, bool halves)
{
    const std::vector<float> known = floats(SWATH_CLASSES * CLASS_BANDS, 19137, 0, 1);
    const std::vector<float> spectra = class_spectra(known);
    const std::vector<__half> pairs = class_halves(known);
    CHECK(cudaMemcpyToSymbol(class_floats, known.data(), sizeof(class_floats)));
    CHECK(cudaMemcpyToSymbol(class_pairs, pairs.data(), sizeof(class_pairs)));
    const void *from = halves ? (const void *) run.upload(class_halves(spectra))
                              : (const void *) run.upload(spectra);
    unsigned char *to = run.zeros<unsigned char>(CLASS_PIXELS);
    run.measure([=] {
        const auto kernel = halves ? class_half_kernel : class_float_kernel;
        kernel<<<blocks_for(CLASS_PIXELS, 192), 192>>>(from, to);
    });
    class_expect(run, spectra, known, run.output(to, CLASS_PIXELS));
}

static void swath_class_float(Run &run)
{
    swath_class(run, false);
}

static void swath_class_half(Run &run)
{
    swath_class(run, true);
}

#endif
