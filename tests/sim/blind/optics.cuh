// optics.cuh - light: holograms of points, lenses that distort, spectra, vignettes.
#ifndef BLIND_OPTICS_CUH
#define BLIND_OPTICS_CUH

#include "blind.cuh"

// ---- A hologram: waves of points, with the exact cosine or the fast one ----

enum { HOLO_SIDE = 256, HOLO_POINTS = 96 };

template <bool FAST> __global__ void hologram_kernel(const float4 *points, float *out)
{
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < HOLO_POINTS; k++) {
        const float4 p = points[k];
        const float dx = p.x - x, dy = p.y - y;
        const float phase = 0.5f * sqrtf(dx * dx + dy * dy + p.z * p.z);
        sum += p.w * (FAST ? __cosf(phase) : cosf(phase));
    }
    out[y * HOLO_SIDE + x] = sum;
}

template <bool FAST> static void hologram(Run &run)
{
    const std::vector<float> v = floats(4 * HOLO_POINTS, 6101, 1, 250);
    std::vector<float4> points(HOLO_POINTS);
    for (int k = 0; k < HOLO_POINTS; k++)
        points[k] = make_float4(v[4 * k], v[4 * k + 1], v[4 * k + 2], v[4 * k + 3] / 250);
    float4 *from = run.upload(points);
    float *to = run.zeros<float>(HOLO_SIDE * HOLO_SIDE);
    const dim3 grid(HOLO_SIDE / 16, HOLO_SIDE / 16), block(16, 16);
    run.measure([=] { hologram_kernel<FAST><<<grid, block>>>(from, to); });
    run.expect_all(
        run.output(to, HOLO_SIDE * HOLO_SIDE),
        [&](size_t i) {
            double sum = 0;
            for (const float4 &p : points) {
                const double dx = p.x - (double) (i % HOLO_SIDE);
                const double dy = p.y - (double) (i / HOLO_SIDE);
                sum += p.w * cos(0.5 * sqrt(dx * dx + dy * dy + (double) p.z * p.z));
            }
            return sum;
        },
        5e-3, 997);
}

static void hologram_exact(Run &run)
{
    hologram<false>(run);
}

static void hologram_fast(Run &run)
{
    hologram<true>(run);
}

// ---- A lens's distortion removed, nearest pixel: the place is computed, or read from a map ----

enum { LENS_W = 2880, LENS_H = 1624 };

__host__ __device__ inline int lens_place(int x, int y)
{
    const float u = (x - LENS_W / 2) / 1024.0f, v = (y - LENS_H / 2) / 1024.0f;
    const float r = u * u + v * v, by = 1024 * (1 - 0.125f * r);
    const int sx = (int) (u * by) + LENS_W / 2, sy = (int) (v * by) + LENS_H / 2;
    return sx < 0 || sy < 0 || sx >= LENS_W || sy >= LENS_H ? -1 : sy * LENS_W + sx;
}

template <bool MAP> __global__ void undistort_kernel(const uchar4 *in, const int *map, uchar4 *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= LENS_W || y >= LENS_H)
        return;
    const int at = MAP ? map[y * LENS_W + x] : lens_place(x, y);
    out[y * LENS_W + x] = at < 0 ? make_uchar4(0, 0, 0, 0) : in[at];
}

template <bool MAP> static void undistort(Run &run)
{
    const std::vector<uint32_t> w = words(LENS_W * LENS_H, 6102);
    std::vector<int> map(LENS_W * LENS_H);
    for (int i = 0; i < LENS_W * LENS_H; i++)
        map[i] = lens_place(i % LENS_W, i / LENS_W);
    const uchar4 *from = (const uchar4 *) run.upload(w);
    const int *dm = run.upload(map);
    uint32_t *to = run.zeros<uint32_t>(LENS_W * LENS_H);
    const dim3 grid(LENS_W / 32, LENS_H / 8), block(32, 8);
    run.measure([=] { undistort_kernel<MAP><<<grid, block>>>(from, dm, (uchar4 *) to); });
    const std::vector<uint32_t> got = run.output(to, LENS_W * LENS_H);
    int differ = 0, count = 0;
    for (size_t i = 0; i < got.size(); i += 101, count++)
        differ += got[i] != (map[i] < 0 ? 0 : w[map[i]]);
    run.expect(differ <= count / 100, 1, 0); // where rounding moves a place
}

static void undistort_computed(Run &run)
{
    undistort<false>(run);
}

static void undistort_map(Run &run)
{
    undistort<true>(run);
}

// ---- Spectra of 32 bands become three colours: bands of a pixel together, or planes ----

enum { SPECTRA = 512 * 512, BANDS = 32 };

template <bool PLANES>
__global__ void spectra_kernel(const float *in, const float *weights, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float r = 0, g = 0, b = 0;
    for (int k = 0; k < BANDS; k++) {
        const float v = PLANES ? in[k * SPECTRA + i] : in[i * BANDS + k];
        r += v * weights[k];
        g += v * weights[BANDS + k];
        b += v * weights[2 * BANDS + k];
    }
    out[i] = r;
    out[SPECTRA + i] = g;
    out[2 * SPECTRA + i] = b;
}

template <bool PLANES> static void spectra(Run &run)
{
    const std::vector<float> in = floats((size_t) SPECTRA * BANDS, 6103, 0, 1);
    const std::vector<float> weights = floats(3 * BANDS, 6104, 0, 1);
    const float *from = run.upload(in), *dw = run.upload(weights);
    float *to = run.zeros<float>(3 * SPECTRA);
    run.measure([=] { spectra_kernel<PLANES><<<SPECTRA / 256, 256>>>(from, dw, to); });
    run.expect_all(
        run.output(to, 3 * SPECTRA),
        [&](size_t i) {
            const size_t colour = i / SPECTRA, p = i % SPECTRA;
            double sum = 0;
            for (int k = 0; k < BANDS; k++)
                sum += (double) weights[colour * BANDS + k] *
                       (PLANES ? in[(size_t) k * SPECTRA + p] : in[p * BANDS + k]);
            return sum;
        },
        1e-4, 1013);
}

static void spectra_pixels(Run &run)
{
    spectra<false>(run);
}

static void spectra_planes(Run &run)
{
    spectra<true>(run);
}

// ---- Vignettes removed from bytes: a byte per thread, or sixteen ----

enum { VIGNETTE = 1 << 23 };

__host__ __device__ inline unsigned vignette_value(unsigned v, unsigned gain)
{
    const unsigned result = v * (256 + gain) >> 8;
    return result < 255 ? result : 255;
}

__global__ void vignette_bytes_kernel(const unsigned char *in, const unsigned char *gain,
                                      unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = (unsigned char) vignette_value(in[i], gain[i]);
}

__device__ inline unsigned vignette_word(unsigned v, unsigned g)
{
    unsigned result = 0;
    for (int k = 0; k < 32; k += 8)
        result |= vignette_value(v >> k & 255, g >> k & 255) << k;
    return result;
}

__global__ void vignette_vector_kernel(const unsigned char *in, const unsigned char *gain,
                                       unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 v = ((const uint4 *) in)[i], g = ((const uint4 *) gain)[i];
    ((uint4 *) out)[i] = make_uint4(vignette_word(v.x, g.x), vignette_word(v.y, g.y),
                                    vignette_word(v.z, g.z), vignette_word(v.w, g.w));
}

static void vignette(Run &run, int each,
                     void (*kernel)(const unsigned char *, const unsigned char *, unsigned char *))
{
    const std::vector<uint32_t> a = words(VIGNETTE / 4, 6105), b = words(VIGNETTE / 4, 6106);
    const unsigned char *from = (const unsigned char *) run.upload(a);
    const unsigned char *gain = (const unsigned char *) run.upload(b);
    unsigned char *to = run.zeros<unsigned char>(VIGNETTE);
    run.measure([=] { kernel<<<VIGNETTE / each / 256, 256>>>(from, gain, to); });
    run.expect_all(
        run.output(to, VIGNETTE),
        [&](size_t i) {
            const int k = i % 4 * 8;
            return vignette_value(a[i / 4] >> k & 255, b[i / 4] >> k & 255);
        },
        0, 1009);
}

static void vignette_bytes(Run &run)
{
    vignette(run, 1, vignette_bytes_kernel);
}

static void vignette_vector(Run &run)
{
    vignette(run, 16, vignette_vector_kernel);
}

#endif
