// glyphs.cuh - letters: distance fields of outlines and bitmaps, coverage of pixels, text on a
// screen.
#ifndef BLIND_GLYPHS_CUH
#define BLIND_GLYPHS_CUH

#include "blind.cuh"

// ---- Outlines: closed lines around a centre; segments as (x, y) to (z, w), in pixels ----

struct Outlines {
    std::vector<float4> segments;
    std::vector<int> starts, glyphs; // glyphs: of each segment
};

static float2 outline_point(const std::vector<float> &random, int k, float side)
{
    const int count = (int) random.size();
    const double angle = 6.283185307 * (k % count) / count;
    const double radius = side * (0.2 + 0.27 * random[k % count]);
    return make_float2((float) (side / 2 + radius * cos(angle)),
                       (float) (side / 2 + radius * sin(angle)));
}

static Outlines outlines(int count, int least, int more, float side, uint32_t seed)
{
    Outlines o;
    for (int g = 0; g < count; g++) {
        const int points = least + (int) (mix(seed + 31 * g) % more);
        const std::vector<float> random = floats(points, seed + 7717 * g, 0, 1);
        o.starts.push_back((int) o.segments.size());
        for (int k = 0; k < points; k++) {
            const float2 a = outline_point(random, k, side), b = outline_point(random, k + 1, side);
            o.segments.push_back(make_float4(a.x, a.y, b.x, b.y));
        }
        o.glyphs.resize(o.segments.size(), g);
    }
    o.starts.push_back((int) o.segments.size());
    return o;
}

// ---- Signed distance of each pixel to its glyph's outline ----

enum { OUTLINE_GLYPHS = 220, OUTLINE_SIDE = 32, OUTLINE_MOST = 48 };

__host__ __device__ inline float outline_clamped(float t)
{
    return t < 0 ? 0 : t > 1 ? 1 : t;
}

// Positive inside: a line to the right crosses the outline an odd number of times.
__host__ __device__ inline float outline_distance(const float4 *segments, int count, float x,
                                                  float y)
{
    float best = 1e9f;
    bool inside = false;
    for (int k = 0; k < count; k++) {
        const float4 s = segments[k];
        const float dx = s.z - s.x, dy = s.w - s.y, px = x - s.x, py = y - s.y;
        const float t = outline_clamped((px * dx + py * dy) / (dx * dx + dy * dy));
        const float ex = px - t * dx, ey = py - t * dy;
        best = fminf(best, ex * ex + ey * ey);
        if ((s.y > y) != (s.w > y) && px < dx * py / dy)
            inside = !inside;
    }
    return inside ? sqrtf(best) : -sqrtf(best);
}

__global__ void outline_global_kernel(const float4 *segments, const int *starts, float *out)
{
    const int g = blockIdx.y, x = threadIdx.x, y = blockIdx.x * blockDim.y + threadIdx.y;
    const int first = starts[g], count = starts[g + 1] - first;
    out[(g * OUTLINE_SIDE + y) * OUTLINE_SIDE + x] =
        outline_distance(segments + first, count, x + 0.5f, y + 0.5f);
}

// The block prepares each segment once: its start and direction, the reciprocal of its squared
// length, and its slope.
__global__ void outline_shared_kernel(const float4 *segments, const int *starts, float *out)
{
    __shared__ float4 lines[OUTLINE_MOST];
    __shared__ float2 factors[OUTLINE_MOST];
    const int g = blockIdx.y, first = starts[g], count = starts[g + 1] - first;
    const int k = threadIdx.y * blockDim.x + threadIdx.x;
    if (k < count) {
        const float4 s = segments[first + k];
        const float dx = s.z - s.x, dy = s.w - s.y;
        lines[k] = make_float4(s.x, s.y, dx, dy);
        factors[k] = make_float2(1 / (dx * dx + dy * dy), dx / dy);
    }
    __syncthreads();
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    const float x = threadIdx.x + 0.5f, y = row + 0.5f;
    float best = 1e9f;
    bool inside = false;
    for (int i = 0; i < count; i++) {
        const float4 l = lines[i];
        const float2 f = factors[i];
        const float px = x - l.x, py = y - l.y;
        const float t = __saturatef((px * l.z + py * l.w) * f.x);
        const float ex = px - t * l.z, ey = py - t * l.w;
        best = fminf(best, ex * ex + ey * ey);
        inside ^= ((l.y > y) != (l.y + l.w > y)) & (px < py * f.y);
    }
    out[(g * OUTLINE_SIDE + row) * OUTLINE_SIDE + threadIdx.x] =
        inside ? sqrtf(best) : -sqrtf(best);
}

static void outline(Run &run, void (*kernel)(const float4 *, const int *, float *))
{
    const Outlines o = outlines(OUTLINE_GLYPHS, 12, 37, OUTLINE_SIDE, 15120);
    const float4 *segments = run.upload(o.segments);
    const int *starts = run.upload(o.starts);
    const int area = OUTLINE_SIDE * OUTLINE_SIDE;
    float *to = run.zeros<float>(OUTLINE_GLYPHS * area);
    run.measure([=] {
        kernel<<<dim3(OUTLINE_SIDE / 4, OUTLINE_GLYPHS), dim3(OUTLINE_SIDE, 4)>>>(segments, starts,
                                                                                  to);
    });
    run.expect_all(
        run.output(to, OUTLINE_GLYPHS * area),
        [&](size_t i) {
            const int g = (int) i / area, x = (int) i % OUTLINE_SIDE;
            const int y = (int) i / OUTLINE_SIDE % OUTLINE_SIDE;
            return outline_distance(&o.segments[o.starts[g]], o.starts[g + 1] - o.starts[g],
                                    x + 0.5f, y + 0.5f);
        },
        1e-3, 29);
}

static void outline_global(Run &run)
{
    outline(run, outline_global_kernel);
}

static void outline_shared(Run &run)
{
    outline(run, outline_shared_kernel);
}

// ---- Distance field of a bitmap, along rows: a lower envelope per row, or a window per pixel ----
//
// Input: each pixel's distance to the ink of its column, at most NIB_REACH. Output: the square of
// the distance to any ink, at most NIB_REACH^2.

enum { NIB_SIDE = 1024, NIB_REACH = 16 };

__host__ __device__ inline int nib_square(const unsigned char *row, int x, int u)
{
    return (x - u) * (x - u) + row[u] * row[u];
}

// One thread per row. Pixel at[q] is the nearest from from[q] on, up to from[q + 1].
__global__ void nib_envelope_kernel(const unsigned char *down, int *out)
{
    const int y = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned char *row = down + (size_t) y * NIB_SIDE;
    short at[NIB_SIDE], from[NIB_SIDE];
    int q = 0;
    at[0] = from[0] = 0;
    for (int u = 1; u < NIB_SIDE; u++) {
        while (q >= 0 && nib_square(row, from[q], at[q]) > nib_square(row, from[q], u))
            q--;
        if (q < 0) {
            q = 0;
            at[0] = (short) u;
            from[0] = 0;
            continue;
        }
        const int i = at[q];
        const int cut = 1 + (u * u - i * i + row[u] * row[u] - row[i] * row[i]) / (2 * (u - i));
        if (cut < NIB_SIDE) {
            q++;
            at[q] = (short) u;
            from[q] = (short) cut;
        }
    }
    for (int x = NIB_SIDE - 1; x >= 0; x--) {
        out[(size_t) y * NIB_SIDE + x] = min(nib_square(row, x, at[q]), NIB_REACH * NIB_REACH);
        if (x == from[q])
            q--;
    }
}

__global__ void nib_window_kernel(const unsigned char *down, int *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    const unsigned char *row = down + (size_t) y * NIB_SIDE;
    const int first = max(x - NIB_REACH, 0), last = min(x + NIB_REACH, NIB_SIDE - 1);
    int best = NIB_REACH * NIB_REACH;
    for (int u = first; u <= last; u++)
        best = min(best, nib_square(row, x, u));
    out[(size_t) y * NIB_SIDE + x] = best;
}

// Ink: strokes of 3 pixels in rows, more of them in the lower half of the bitmap.
static std::vector<unsigned char> nib_columns()
{
    const std::vector<uint32_t> random = words(NIB_SIDE * NIB_SIDE / 64, 15121);
    std::vector<unsigned char> down(NIB_SIDE * NIB_SIDE, NIB_REACH);
    for (size_t i = 0; i < random.size(); i++) {
        const size_t at = i * 64 + random[i] % 61;
        if (random[i] >> 16 & 1 || i > random.size() / 2)
            down[at] = down[at + 1] = down[at + 2] = 0;
    }
    for (int y = 1; y < NIB_SIDE; y++)
        for (int x = 0; x < NIB_SIDE; x++) {
            unsigned char &v = down[y * NIB_SIDE + x];
            v = (unsigned char) std::min<int>(v, down[(y - 1) * NIB_SIDE + x] + 1);
        }
    for (int y = NIB_SIDE - 2; y >= 0; y--)
        for (int x = 0; x < NIB_SIDE; x++) {
            unsigned char &v = down[y * NIB_SIDE + x];
            v = (unsigned char) std::min<int>(v, down[(y + 1) * NIB_SIDE + x] + 1);
        }
    return down;
}

static void nib(Run &run, void (*kernel)(const unsigned char *, int *), dim3 grid, int threads)
{
    const std::vector<unsigned char> down = nib_columns();
    const unsigned char *from = run.upload(down);
    int *to = run.zeros<int>(down.size());
    run.measure([=] { kernel<<<grid, threads>>>(from, to); });
    run.expect_all(
        run.output(to, down.size()),
        [&](size_t i) {
            const unsigned char *row = &down[i / NIB_SIDE * NIB_SIDE];
            int best = NIB_REACH * NIB_REACH;
            for (int u = 0; u < NIB_SIDE; u++)
                best = std::min(best, nib_square(row, i % NIB_SIDE, u));
            return best;
        },
        0, 1009);
}

static void nib_envelope(Run &run)
{
    nib(run, nib_envelope_kernel, dim3(NIB_SIDE / 64), 64);
}

static void nib_window(Run &run)
{
    nib(run, nib_window_kernel, dim3(NIB_SIDE / 256, NIB_SIDE), 256);
}

// ---- Coverage of pixels from signed areas left of the outline: global sums, or a block per glyph
// --

enum { INK_GLYPHS = 3500, INK_SIDE = 24, INK_PITCH = INK_SIDE + 1 };

__host__ __device__ inline void ink_add(float *at, float area)
{
#ifdef __CUDA_ARCH__
    atomicAdd(at, area);
#else
    *at += area;
#endif
}

// Adds to `areas` so that the sums along a row, from the left, are the pixels' coverage.
__host__ __device__ inline void ink_line(float4 s, float *areas)
{
    const float sign = s.y < s.w ? 1 : -1, top = fminf(s.y, s.w), bottom = fmaxf(s.y, s.w);
    const float slope = (s.z - s.x) / (s.w - s.y);
    if (top == bottom)
        return;
    for (int y = (int) top; y < bottom; y++) {
        const float a = fmaxf(top, y), b = fminf(bottom, y + 1.0f);
        const float u = s.x + (a - s.y) * slope, v = s.x + (b - s.y) * slope;
        const float left = fminf(u, v), right = fmaxf(u, v);
        for (int x = (int) left; x <= right; x++) {
            const float from = fmaxf(left, x), to = fminf(right, x + 1.0f);
            const float part = right > left ? (to - from) / (right - left) : 1;
            const float area = sign * (b - a) * part, beyond = (from + to) / 2 - x;
            ink_add(&areas[y * INK_PITCH + x], area * (1 - beyond));
            ink_add(&areas[y * INK_PITCH + x + 1], area * beyond);
        }
    }
}

__global__ void ink_lines_kernel(const float4 *segments, const int *glyphs, int count, float *areas)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    ink_line(segments[i], areas + (size_t) glyphs[i] * INK_SIDE * INK_PITCH);
}

// One thread per row.
__global__ void ink_rows_kernel(const float *areas, float *out)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= INK_GLYPHS * INK_SIDE)
        return;
    float sum = 0;
    for (int x = 0; x < INK_SIDE; x++) {
        sum += areas[(size_t) row * INK_PITCH + x];
        out[(size_t) row * INK_SIDE + x] = fminf(fabsf(sum), 1);
    }
}

__global__ void ink_blocks_kernel(const float4 *segments, const int *starts, float *out)
{
    __shared__ float areas[INK_SIDE * INK_PITCH];
    const int g = blockIdx.x, t = threadIdx.x;
    for (int i = t; i < INK_SIDE * INK_PITCH; i += blockDim.x)
        areas[i] = 0;
    __syncthreads();
    for (int i = starts[g] + t; i < starts[g + 1]; i += blockDim.x)
        ink_line(segments[i], areas);
    __syncthreads();
    float sum = 0;
    for (int x = 0; t < INK_SIDE && x < INK_SIDE; x++) {
        sum += areas[t * INK_PITCH + x];
        areas[t * INK_PITCH + x] = fminf(fabsf(sum), 1);
    }
    __syncthreads();
    for (int i = t; i < INK_SIDE * INK_SIDE; i += blockDim.x)
        out[(size_t) g * INK_SIDE * INK_SIDE + i] = areas[i / INK_SIDE * INK_PITCH + i % INK_SIDE];
}

// The sum of all coverage is the area within the outline.
static void ink_check(Run &run, const Outlines &o, const std::vector<float> &got, int g)
{
    std::vector<float> areas(INK_SIDE * INK_PITCH);
    double shape = 0, covered = 0;
    for (int i = o.starts[g]; i < o.starts[g + 1]; i++) {
        const float4 s = o.segments[i];
        shape += ((double) s.x * s.w - (double) s.z * s.y) / 2;
        ink_line(s, areas.data());
    }
    for (int y = 0; y < INK_SIDE; y++) {
        float sum = 0;
        for (int x = 0; x < INK_SIDE; x++) {
            const float one = got[((size_t) g * INK_SIDE + y) * INK_SIDE + x];
            sum += areas[y * INK_PITCH + x];
            run.expect(one, std::min(std::fabs(sum), 1.0f), 1e-4);
            covered += one;
        }
    }
    run.expect(covered, fabs(shape), 1e-3);
}

static void ink(Run &run, bool blocks)
{
    const Outlines o = outlines(INK_GLYPHS, 16, 60, INK_SIDE, 15122);
    const float4 *segments = run.upload(o.segments);
    const int *starts = run.upload(o.starts), *glyphs = run.upload(o.glyphs);
    const int count = (int) o.segments.size();
    const size_t cells = (size_t) INK_GLYPHS * INK_SIDE * INK_PITCH;
    float *areas = run.zeros<float>(cells);
    float *to = run.zeros<float>((size_t) INK_GLYPHS * INK_SIDE * INK_SIDE);
    run.measure(
        [=] {
            if (blocks) {
                ink_blocks_kernel<<<INK_GLYPHS, 64>>>(segments, starts, to);
                return;
            }
            ink_lines_kernel<<<blocks_for(count, 128), 128>>>(segments, glyphs, count, areas);
            ink_rows_kernel<<<blocks_for(INK_GLYPHS * INK_SIDE, 128), 128>>>(areas, to);
        },
        [=] { CHECK(cudaMemset(areas, 0, cells * sizeof(float))); });
    const std::vector<float> got = run.output(to, (size_t) INK_GLYPHS * INK_SIDE * INK_SIDE);
    for (int g = 0; g < INK_GLYPHS; g += 97)
        ink_check(run, o, got, g);
}

static void ink_sums(Run &run)
{
    ink(run, false);
}

static void ink_blocks(Run &run)
{
    ink(run, true);
}

// ---- A screen of characters of 8 x 16 pixels: a thread per pixel, or a warp per cell
// --

enum { TTY_COLUMNS = 480, TTY_LINES = 75, TTY_W = TTY_COLUMNS * 8, TTY_H = TTY_LINES * 16 };

struct Tty {
    const unsigned char *font, *characters, *colours; // colours: ink in bits 0 to 3, paper above
    const float4 *palette;
};

__global__ void tty_pixels_kernel(Tty t, float4 *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int cell = y / 16 * TTY_COLUMNS + x / 8, colour = t.colours[cell];
    const bool set = t.font[t.characters[cell] * 16 + y % 16] >> (7 - x % 8) & 1;
    out[(size_t) y * TTY_W + x] = t.palette[set ? colour & 15 : colour >> 4];
}

// Each lane draws 4 pixels, one in each quarter of its cell.
__global__ void tty_cells_kernel(Tty t, float4 *out)
{
    const int cell = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (cell >= TTY_COLUMNS * TTY_LINES)
        return;
    const int colour = t.colours[cell];
    const float4 ink = t.palette[colour & 15], paper = t.palette[colour >> 4];
    const unsigned char *font = t.font + t.characters[cell] * 16;
    const int x = cell % TTY_COLUMNS * 8 + lane % 8, y = cell / TTY_COLUMNS * 16;
    for (int row = lane / 8; row < 16; row += 4)
        out[(size_t) (y + row) * TTY_W + x] = font[row] >> (7 - lane % 8) & 1 ? ink : paper;
}

static std::vector<unsigned char> tty_bytes(size_t count, uint32_t seed)
{
    const std::vector<int> v = integers(count, 256, seed);
    return std::vector<unsigned char>(v.begin(), v.end());
}

static void tty(Run &run, void (*kernel)(Tty, float4 *), dim3 grid, dim3 block)
{
    const std::vector<unsigned char> font = tty_bytes(256 * 16, 15123);
    const std::vector<unsigned char> characters = tty_bytes(TTY_COLUMNS * TTY_LINES, 15124);
    const std::vector<unsigned char> colours = tty_bytes(TTY_COLUMNS * TTY_LINES, 15125);
    const std::vector<float> palette = floats(64, 15126, 0, 1);
    const Tty t = { run.upload(font), run.upload(characters), run.upload(colours),
                    (const float4 *) run.upload(palette) };
    float4 *to = run.zeros<float4>((size_t) TTY_W * TTY_H);
    run.measure([=] { kernel<<<grid, block>>>(t, to); });
    run.expect_all(
        run.output((float *) to, (size_t) TTY_W * TTY_H * 4),
        [&](size_t i) {
            const int x = i / 4 % TTY_W, y = i / 4 / TTY_W, cell = y / 16 * TTY_COLUMNS + x / 8;
            const bool set = font[characters[cell] * 16 + y % 16] >> (7 - x % 8) & 1;
            return palette[(set ? colours[cell] & 15 : colours[cell] >> 4) * 4 + i % 4];
        },
        0, 307);
}

static void tty_pixels(Run &run)
{
    tty(run, tty_pixels_kernel, dim3(TTY_W / 32, TTY_H / 8), dim3(32, 8));
}

static void tty_cells(Run &run)
{
    tty(run, tty_cells_kernel, dim3(TTY_COLUMNS * TTY_LINES / 8), dim3(256));
}

#endif
