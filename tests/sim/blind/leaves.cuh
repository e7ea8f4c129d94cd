// leaves.cuh - crops in pictures: green pixels, areas of plants, heights of plots, outlines.
#ifndef BLIND_LEAVES_CUH
#define BLIND_LEAVES_CUH

#include "blind.cuh"

// ---- Green pixels of a colour picture: a byte at a time, or four pixels from three words ----

enum { LEAF_W = 3072, LEAF_H = 2304, LEAF_PIXELS = LEAF_W * LEAF_H };

// Much greener than red and blue, and not too dark.
__host__ __device__ inline unsigned leaf_green(int red, int green, int blue)
{
    return 2 * green - red - blue > 24 && green > 40 ? 255 : 0;
}

__global__ void leaf_bytes_kernel(const unsigned char *picture, unsigned char *mask)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    mask[i] = (unsigned char) leaf_green(picture[3 * i], picture[3 * i + 1], picture[3 * i + 2]);
}

__device__ inline int leaf_byte(unsigned word, int byte)
{
    return (int) (word >> 8 * byte & 255);
}

__global__ void leaf_words_kernel(const unsigned *picture, unsigned *mask)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned a = picture[3 * i], b = picture[3 * i + 1], c = picture[3 * i + 2];
    mask[i] = leaf_green(leaf_byte(a, 0), leaf_byte(a, 1), leaf_byte(a, 2)) |
              leaf_green(leaf_byte(a, 3), leaf_byte(b, 0), leaf_byte(b, 1)) << 8 |
              leaf_green(leaf_byte(b, 2), leaf_byte(b, 3), leaf_byte(c, 0)) << 16 |
              leaf_green(leaf_byte(c, 1), leaf_byte(c, 2), leaf_byte(c, 3)) << 24;
}

static void leaf_index(Run &run, bool in_words)
{
    const std::vector<uint32_t> v = words(3 * LEAF_PIXELS / 4, 19110);
    const unsigned *from = run.upload(v);
    unsigned *to = run.zeros<unsigned>(LEAF_PIXELS / 4);
    run.measure([=] {
        if (in_words)
            leaf_words_kernel<<<LEAF_PIXELS / 4 / 256, 256>>>(from, to);
        else
            leaf_bytes_kernel<<<LEAF_PIXELS / 256, 256>>>((const unsigned char *) from,
                                                          (unsigned char *) to);
    });
    const unsigned char *pixels = (const unsigned char *) v.data();
    run.expect_all(
        run.output((const unsigned char *) to, LEAF_PIXELS),
        [&](size_t i) { return leaf_green(pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2]); },
        0, 37);
}

static void leaf_index_bytes(Run &run)
{
    leaf_index(run, false);
}

static void leaf_index_words(Run &run)
{
    leaf_index(run, true);
}

// ---- Area and centre of each plant of a labelled picture: atomics per pixel, or per label of a
// warp ----

enum { PLANT_W = 1920, PLANT_H = 1280, PLANT_CELL = 40, PLANT_COLUMNS = PLANT_W / PLANT_CELL };
enum { PLANTS = PLANT_COLUMNS * (PLANT_H / PLANT_CELL) };

struct PlantSums {
    unsigned area, x, y;
};

__global__ void plant_pixels_kernel(const int *labels, PlantSums *sums)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int label = labels[y * PLANT_W + x];
    if (label < 0)
        return;
    atomicAdd(&sums[label].area, 1u);
    atomicAdd(&sums[label].x, (unsigned) x);
    atomicAdd(&sums[label].y, (unsigned) y);
}

// The sum of the numbers of the lanes in a mask.
__device__ inline unsigned plant_lanes(unsigned mask)
{
    return __popc(mask & 0xaaaaaaaau) + 2 * __popc(mask & 0xccccccccu) +
           4 * __popc(mask & 0xf0f0f0f0u) + 8 * __popc(mask & 0xff00ff00u) +
           16 * __popc(mask & 0xffff0000u);
}

// A warp has 32 pixels of one row: the first lane of each label adds for all.
__global__ void plant_labels_kernel(const int *labels, PlantSums *sums)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int label = labels[y * PLANT_W + x], lane = threadIdx.x;
    const unsigned peers = __match_any_sync(~0u, label), area = __popc(peers);
    if (label < 0 || lane != __ffs(peers) - 1)
        return;
    atomicAdd(&sums[label].area, area);
    atomicAdd(&sums[label].x, area * (unsigned) (x - lane) + plant_lanes(peers));
    atomicAdd(&sums[label].y, area * (unsigned) y);
}

// A plant per cell: a disc of its own size, at its own place, with ragged borders.
static std::vector<int> plant_labels()
{
    const std::vector<uint32_t> v = words(PLANTS, 19111), noise = words(PLANT_W * PLANT_H, 19112);
    std::vector<int> labels(PLANT_W * PLANT_H);
    for (int i = 0; i < PLANT_W * PLANT_H; i++) {
        const int x = i % PLANT_W, y = i / PLANT_W;
        const int plant = y / PLANT_CELL * PLANT_COLUMNS + x / PLANT_CELL;
        const uint32_t w = v[plant];
        const int dx = x % PLANT_CELL - 18 - (int) (w % 5), dy = y % PLANT_CELL - 20;
        const int radius = 6 + (int) (w / 8 % 13);
        labels[i] = dx * dx + dy * dy + (int) (noise[i] % 24) < radius * radius ? plant : -1;
    }
    return labels;
}

static void leaf_area(Run &run, bool by_labels)
{
    const std::vector<int> labels = plant_labels();
    std::vector<PlantSums> wanted(PLANTS, PlantSums{ 0, 0, 0 });
    for (int i = 0; i < PLANT_W * PLANT_H; i++)
        if (labels[i] >= 0) {
            wanted[labels[i]].area++;
            wanted[labels[i]].x += i % PLANT_W;
            wanted[labels[i]].y += i / PLANT_W;
        }
    const int *from = run.upload(labels);
    PlantSums *to = run.zeros<PlantSums>(PLANTS);
    const dim3 block(32, 8), grid(PLANT_W / 32, PLANT_H / 8);
    run.measure(
        [=] {
            if (by_labels)
                plant_labels_kernel<<<grid, block>>>(from, to);
            else
                plant_pixels_kernel<<<grid, block>>>(from, to);
        },
        [=] { CHECK(cudaMemset(to, 0, PLANTS * sizeof(PlantSums))); });
    const std::vector<PlantSums> got = run.output(to, PLANTS);
    for (int k = 0; k < PLANTS; k++) {
        run.expect(got[k].area, wanted[k].area, 0);
        run.expect(got[k].x, wanted[k].x, 0);
        run.expect(got[k].y, wanted[k].y, 0);
    }
}

static void leaf_area_pixels(Run &run)
{
    leaf_area(run, false);
}

static void leaf_area_labels(Run &run)
{
    leaf_area(run, true);
}

// ---- The 95th of 100 heights of each plot: counts of all heights, or sorted heights ----

enum { PLOTS = 640, PLOT_POINTS = 1024, PLOT_LEVELS = 4096, PLOT_RANK = PLOT_POINTS * 95 / 100 };
enum { PLOT_THREADS = 256, PLOT_EACH = PLOT_LEVELS / PLOT_THREADS };

// The sum of the values of all threads before this one.
__device__ inline int plot_before(int mine)
{
    __shared__ int warps[PLOT_THREADS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = mine;
    for (int d = 1; d < 32; d *= 2) {
        const int other = __shfl_up_sync(~0u, sum, d);
        sum += lane >= d ? other : 0;
    }
    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    for (int k = 0; k < warp; k++)
        sum += warps[k];
    return sum - mine;
}

__global__ void plot_counts_kernel(const unsigned short *heights, int *out)
{
    __shared__ int counts[PLOT_LEVELS];
    for (int k = threadIdx.x; k < PLOT_LEVELS; k += PLOT_THREADS)
        counts[k] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < PLOT_POINTS; k += PLOT_THREADS)
        atomicAdd(&counts[heights[blockIdx.x * PLOT_POINTS + k]], 1);
    __syncthreads();
    const int *mine = counts + threadIdx.x * PLOT_EACH;
    int sum = 0;
    for (int k = 0; k < PLOT_EACH; k++)
        sum += mine[k];
    int before = plot_before(sum);
    if (before > PLOT_RANK || before + sum <= PLOT_RANK)
        return;
    int k = 0;
    while ((before += mine[k]) <= PLOT_RANK)
        k++;
    out[blockIdx.x] = threadIdx.x * PLOT_EACH + k;
}

__global__ void plot_sort_kernel(const unsigned short *heights, int *out)
{
    __shared__ int sorted[PLOT_POINTS];
    const int t = threadIdx.x;
    for (int k = t; k < PLOT_POINTS; k += PLOT_POINTS / 2)
        sorted[k] = heights[blockIdx.x * PLOT_POINTS + k];
    for (int size = 2; size <= PLOT_POINTS; size *= 2)
        for (int step = size / 2; step; step /= 2) {
            __syncthreads();
            const int at = 2 * t - (t & (step - 1)), a = sorted[at], b = sorted[at + step];
            if ((a > b) == ((at & size) == 0)) {
                sorted[at] = b;
                sorted[at + step] = a;
            }
        }
    __syncthreads();
    if (t == 0)
        out[blockIdx.x] = sorted[PLOT_RANK];
}

// Soil and stems of a plot, in millimetres.
static std::vector<unsigned short> plot_heights()
{
    const std::vector<uint32_t> v = words(PLOTS * PLOT_POINTS, 19113), tall = words(PLOTS, 19114);
    std::vector<unsigned short> heights(v.size());
    for (size_t i = 0; i < v.size(); i++) {
        const uint32_t top = 300 + tall[i / PLOT_POINTS] % 1200, w = v[i];
        heights[i] = (unsigned short) (w % 5 ? top / 2 + w / 8 % top : w / 8 % 60);
    }
    return heights;
}

static void leaf_heights(Run &run, bool sorts)
{
    std::vector<unsigned short> heights = plot_heights();
    const unsigned short *from = run.upload(heights);
    int *to = run.zeros<int>(PLOTS);
    run.measure([=] {
        if (sorts)
            plot_sort_kernel<<<PLOTS, PLOT_POINTS / 2>>>(from, to);
        else
            plot_counts_kernel<<<PLOTS, PLOT_THREADS>>>(from, to);
    });
    run.expect_all(
        run.output(to, PLOTS),
        [&](size_t plot) {
            const auto at = heights.begin() + plot * PLOT_POINTS;
            std::nth_element(at, at + PLOT_RANK, at + PLOT_POINTS);
            return at[PLOT_RANK];
        },
        0);
}

static void leaf_heights_counts(Run &run)
{
    leaf_heights(run, false);
}

static void leaf_heights_sort(Run &run)
{
    leaf_heights(run, true);
}

// ---- Fourier descriptors of outlines: a sine and a cosine per point, or a turning number ----

enum { OUTLINES = 2000, OUTLINE_HARMONICS = 16, OUTLINE_ROWS = 8 };

struct LeafOutlines {
    const int *starts;
    const float2 *points;
    float2 *out;
};

// The angle from one point to the next of a harmonic.
__device__ inline float outline_step(int harmonic, int count)
{
    return -6.28318531f * harmonic / count;
}

__device__ inline void outline_add(float2 *sum, float2 p, float c, float s)
{
    sum->x += p.x * c - p.y * s;
    sum->y += p.x * s + p.y * c;
}

// A thread per harmonic, several outlines per block.
__global__ void outline_sines_kernel(LeafOutlines o)
{
    const int i = blockIdx.x * OUTLINE_ROWS + threadIdx.y, harmonic = threadIdx.x + 1;
    const int first = o.starts[i], count = o.starts[i + 1] - first;
    const float step = outline_step(harmonic, count);
    float2 sum = make_float2(0, 0);
    for (int k = 0; k < count; k++) {
        float s, c;
        sincosf(step * k, &s, &c);
        outline_add(&sum, o.points[first + k], c, s);
    }
    o.out[i * OUTLINE_HARMONICS + threadIdx.x] = make_float2(sum.x / count, sum.y / count);
}

__global__ void outline_turns_kernel(LeafOutlines o)
{
    const int i = blockIdx.x * OUTLINE_ROWS + threadIdx.y, harmonic = threadIdx.x + 1;
    const int first = o.starts[i], count = o.starts[i + 1] - first;
    float s, c, x = 1, y = 0;
    sincosf(outline_step(harmonic, count), &s, &c);
    float2 sum = make_float2(0, 0);
    for (int k = 0; k < count; k++) {
        outline_add(&sum, o.points[first + k], x, y);
        const float turned = x * c - y * s;
        y = x * s + y * c;
        x = turned;
    }
    o.out[i * OUTLINE_HARMONICS + threadIdx.x] = make_float2(sum.x / count, sum.y / count);
}

// Ellipses of 60 to 400 points, with teeth and ragged edges.
static void outline_points(std::vector<int> &starts, std::vector<float2> &points)
{
    const std::vector<uint32_t> v = words(OUTLINES, 19115);
    const std::vector<float> edges = floats(OUTLINES * 400, 19116, -0.1f, 0.1f);
    starts.push_back(0);
    for (int i = 0; i < OUTLINES; i++) {
        const int count = 60 + (int) (v[i] % 341), teeth = 5 + (int) (v[i] / 512 % 9);
        for (int k = 0; k < count; k++) {
            const double angle = 2 * 3.14159265358979 * k / count;
            const double r = 1 + 0.2 * cos(teeth * angle) + edges[i * 400 + k];
            points.push_back({ (float) (r * cos(angle)), (float) (0.4 * r * sin(angle)) });
        }
        starts.push_back((int) points.size());
    }
}

static void outline_expect(Run &run, const std::vector<int> &starts,
                           const std::vector<float2> &points, const std::vector<float2> &got)
{
    for (int i = 0; i < OUTLINES; i += 11)
        for (int h = 0; h < OUTLINE_HARMONICS; h++) {
            const int first = starts[i], count = starts[i + 1] - first;
            double x = 0, y = 0;
            for (int k = 0; k < count; k++) {
                const double angle = -2 * 3.14159265358979 * (h + 1) * k / count;
                const float2 p = points[first + k];
                x += p.x * cos(angle) - p.y * sin(angle);
                y += p.x * sin(angle) + p.y * cos(angle);
            }
            run.expect(got[i * OUTLINE_HARMONICS + h].x, x / count, 1e-4);
            run.expect(got[i * OUTLINE_HARMONICS + h].y, y / count, 1e-4);
        }
}

static void leaf_outline(Run &run, void (*kernel)(LeafOutlines))
{
    std::vector<int> starts;
    std::vector<float2> points;
    outline_points(starts, points);
    const LeafOutlines o = { run.upload(starts), run.upload(points),
                             run.zeros<float2>(OUTLINES * OUTLINE_HARMONICS) };
    const dim3 block(OUTLINE_HARMONICS, OUTLINE_ROWS);
    run.measure([=] { kernel<<<OUTLINES / OUTLINE_ROWS, block>>>(o); });
    outline_expect(run, starts, points, run.output(o.out, OUTLINES * OUTLINE_HARMONICS));
}

static void leaf_outline_sines(Run &run)
{
    leaf_outline(run, outline_sines_kernel);
}

static void leaf_outline_turns(Run &run)
{
    leaf_outline(run, outline_turns_kernel);
}

#endif
