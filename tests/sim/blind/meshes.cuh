// meshes.cuh - pictures: rays at triangles, depth buffers, palettes, cosine transforms,
// isosurfaces.
#ifndef BLIND_MESHES_CUH
#define BLIND_MESHES_CUH

#include "blind.cuh"

// ---- The nearest of 72 triangles per ray: from global memory, or staged in shared memory ----

enum { MESH_TRIANGLES = 72, VIEW_WIDTH = 256, VIEW_HEIGHT = 192 };

template <class T> struct Vec3 {
    T x, y, z;

    __host__ __device__ Vec3 operator-(Vec3 o) const
    {
        return { x - o.x, y - o.y, z - o.z };
    }

    __host__ __device__ T dot(Vec3 o) const
    {
        return x * o.x + y * o.y + z * o.z;
    }

    __host__ __device__ Vec3 cross(Vec3 o) const
    {
        return { y * o.z - z * o.y, z * o.x - x * o.z, x * o.y - y * o.x };
    }
};

// The distance along the ray, or `far`. `v`: three corners.
template <class T> __host__ __device__ inline T hit_triangle(const float *v, Vec3<T> dir, T far)
{
    const Vec3<T> a = { v[0], v[1], v[2] }, b = { v[3], v[4], v[5] }, c = { v[6], v[7], v[8] };
    const Vec3<T> ab = b - a, ac = c - a, from = Vec3<T>{ 0, 0, -3 } - a, p = dir.cross(ac);
    const T det = ab.dot(p);
    if (det > T(-1e-6) && det < T(1e-6))
        return far;
    const T u = from.dot(p) / det;
    if (u < 0 || u > 1)
        return far;
    const Vec3<T> q = from.cross(ab);
    const T w = dir.dot(q) / det;
    if (w < 0 || u + w > 1)
        return far;
    const T t = ac.dot(q) / det;
    return t > 0 && t < far ? t : far;
}

template <class T> __host__ __device__ inline Vec3<T> view_ray(int x, int y)
{
    return { (x - VIEW_WIDTH / 2) * T(0.004), (y - VIEW_HEIGHT / 2) * T(0.004), 1 };
}

__device__ inline void trace_pixel(const float *mesh, float *depth)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float nearest = 100;
    for (int k = 0; k < MESH_TRIANGLES; k++)
        nearest = hit_triangle(mesh + 9 * k, view_ray<float>(x, y), nearest);
    depth[y * VIEW_WIDTH + x] = nearest;
}

__global__ void rays_global_kernel(const float *mesh, float *depth)
{
    trace_pixel(mesh, depth);
}

__global__ void rays_shared_kernel(const float *mesh, float *depth)
{
    __shared__ float local[MESH_TRIANGLES * 9];
    for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < MESH_TRIANGLES * 9;
         k += blockDim.x * blockDim.y)
        local[k] = mesh[k];
    __syncthreads(); // the mesh is complete
    trace_pixel(local, depth);
}

static void rays(Run &run, void (*kernel)(const float *, float *))
{
    const int n = VIEW_WIDTH * VIEW_HEIGHT;
    std::vector<float> mesh = floats(MESH_TRIANGLES * 9, 631, -0.4f, 0.4f);
    const std::vector<float> place = floats(MESH_TRIANGLES * 3, 632, -1, 1);
    for (size_t i = 0; i < mesh.size(); i++)
        mesh[i] += place[i / 9 * 3 + i % 3];
    float *from = run.upload(mesh), *to = run.zeros<float>(n);
    const dim3 block(16, 12), grid(VIEW_WIDTH / 16, VIEW_HEIGHT / 12);
    run.measure([=] { kernel<<<grid, block>>>(from, to); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double nearest = 100;
            for (int k = 0; k < MESH_TRIANGLES; k++)
                nearest = hit_triangle(&mesh[9 * k],
                                       view_ray<double>(i % VIEW_WIDTH, i / VIEW_WIDTH), nearest);
            return nearest;
        },
        1e-3, 97);
}

static void rays_global(Run &run)
{
    rays(run, rays_global_kernel);
}

static void rays_shared(Run &run)
{
    rays(run, rays_shared_kernel);
}

// ---- A depth buffer: depth and point in one 64-bit minimum, or two passes of 32 bits ----

enum { DEPTH_WIDTH = 640, DEPTH_HEIGHT = 400, DEPTH_AREA = DEPTH_WIDTH * DEPTH_HEIGHT };

struct Splat {
    unsigned short x, y;
    unsigned depth; // in fixed point
};
typedef unsigned long long Packed;

__global__ void depth_packed_kernel(const Splat *splat, Packed *nearest, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Splat s = splat[i];
    atomicMin(&nearest[s.y * DEPTH_WIDTH + s.x], (Packed) s.depth << 32 | i);
}

__global__ void depth_first_kernel(const Splat *splat, unsigned *depth, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicMin(&depth[splat[i].y * DEPTH_WIDTH + splat[i].x], splat[i].depth);
}

__global__ void depth_second_kernel(const Splat *splat, const unsigned *depth, unsigned *point,
                                    int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Splat s = splat[i];
    int at = s.y * DEPTH_WIDTH + s.x;
    if (depth[at] == s.depth)
        atomicMin(&point[at], i);
}

static std::vector<Splat> depth_splats(int n)
{
    std::vector<Splat> splat(n);
    for (int i = 0; i < n; i++) {
        const uint32_t at = mix(i / 4 + 633), away = mix(i + 634);
        splat[i].x = (unsigned short) ((at % DEPTH_WIDTH + away % 8) % DEPTH_WIDTH);
        splat[i].y = (unsigned short) (at / DEPTH_WIDTH % DEPTH_HEIGHT);
        splat[i].depth = away >> 8;
    }
    return splat;
}

static std::vector<Packed> depth_wanted(const std::vector<Splat> &splat)
{
    std::vector<Packed> wanted(DEPTH_AREA, ~0ull);
    Packed i = 0;
    for (const Splat &s : splat) {
        Packed &at = wanted[s.y * DEPTH_WIDTH + s.x];
        at = std::min(at, (Packed) s.depth << 32 | i++);
    }
    return wanted;
}

// Both ways leave (depth << 32 | point): in one array, or in two.
static void depth(Run &run, bool packed)
{
    const int n = 1200000;
    const std::vector<Splat> splat = depth_splats(n);
    const std::vector<Packed> wanted = depth_wanted(splat);
    const Splat *from = run.upload(splat);
    unsigned *to = run.zeros<unsigned>(2 * DEPTH_AREA);
    run.measure(
        [=] {
            const int grid = blocks_for(n, 256);
            if (packed) {
                depth_packed_kernel<<<grid, 256>>>(from, (Packed *) to, n);
                return;
            }
            depth_first_kernel<<<grid, 256>>>(from, to, n);
            depth_second_kernel<<<grid, 256>>>(from, to, to + DEPTH_AREA, n);
        },
        [=] { CHECK(cudaMemset(to, 0xff, 2 * DEPTH_AREA * sizeof(unsigned))); });
    const std::vector<unsigned> got = run.output(to, 2 * DEPTH_AREA);
    for (int i = 0; i < DEPTH_AREA; i += 3) {
        run.expect(packed ? got[2 * i] : got[i + DEPTH_AREA], (uint32_t) wanted[i], 0);
        run.expect(packed ? got[2 * i + 1] : got[i], (uint32_t) (wanted[i] >> 32), 0);
    }
}

static void depth_packed(Run &run)
{
    depth(run, true);
}

static void depth_passes(Run &run)
{
    depth(run, false);
}

// ---- The nearest of 40 colours: the palette in constant or in shared memory ----

enum { PALETTE = 40 };

__constant__ int palette_colour[PALETTE][3];

__host__ __device__ inline int colour_apart(const int *colour, uchar4 pixel)
{
    const int r = colour[0] - pixel.x, g = colour[1] - pixel.y, b = colour[2] - pixel.z;
    return 2 * r * r + 4 * g * g + 3 * b * b;
}

__host__ __device__ inline int nearest_colour(const int (*colour)[3], uchar4 pixel)
{
    int best = 0, least = 1 << 30;
    for (int k = 0; k < PALETTE; k++)
        if (colour_apart(colour[k], pixel) < least) {
            least = colour_apart(colour[k], pixel);
            best = k;
        }
    return best;
}

__global__ void palette_constant_kernel(const uchar4 *in, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (unsigned char) nearest_colour(palette_colour, in[i]);
}

__global__ void palette_shared_kernel(const uchar4 *in, unsigned char *out, const int *colours,
                                      int n)
{
    __shared__ int local[PALETTE][3];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < PALETTE * 3)
        local[threadIdx.x / 3][threadIdx.x % 3] = colours[threadIdx.x];
    __syncthreads(); // the palette is complete
    if (i < n)
        out[i] = (unsigned char) nearest_colour(local, in[i]);
}

static void palette(Run &run, bool shared)
{
    const int n = 360000;
    const std::vector<uint32_t> in = words(n, 635);
    const std::vector<int> colours = integers(PALETTE * 3, 256, 636);
    const uchar4 *from = (uchar4 *) run.upload(in), *host = (const uchar4 *) in.data();
    const int *dc = run.upload(colours);
    unsigned char *to = run.zeros<unsigned char>(n);
    CHECK(cudaMemcpyToSymbol(palette_colour, colours.data(), sizeof(palette_colour)));
    run.measure([=] {
        if (shared)
            palette_shared_kernel<<<blocks_for(n, 256), 256>>>(from, to, dc, n);
        else
            palette_constant_kernel<<<blocks_for(n, 256), 256>>>(from, to, n);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) { return nearest_colour((const int(*)[3]) colours.data(), host[i]); }, 0, 19);
}

static void palette_constant(Run &run)
{
    palette(run, false);
}

static void palette_shared(Run &run)
{
    palette(run, true);
}

// ---- Cosine transforms of 8x8 pixels: a thread per value, or per row and then per column ----

enum { DCT_WIDTH = 1536, DCT_HEIGHT = 1280 };

__constant__ float dct_factor[8][8]; // [frequency][place]

__global__ void __launch_bounds__(64) dct_pixel_kernel(const float *in, float *out)
{
    __shared__ float pixel[8][8], half[8][8];
    const int x = threadIdx.x, y = threadIdx.y;
    const int at = (blockIdx.y * 8 + y) * DCT_WIDTH + blockIdx.x * 8 + x;
    float sum = 0;
    pixel[y][x] = in[at];
    __syncthreads(); // the pixels are complete
    for (int k = 0; k < 8; k++)
        sum += dct_factor[x][k] * pixel[y][k];
    half[y][x] = sum;
    __syncthreads(); // the rows are complete
    sum = 0;
    for (int k = 0; k < 8; k++)
        sum += dct_factor[y][k] * half[k][x];
    out[at] = sum;
}

__device__ inline void dct_of_eight(float (&v)[8])
{
    float in[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        in[k] = v[k];
#pragma unroll
    for (int u = 0; u < 8; u++) {
        v[u] = 0;
#pragma unroll
        for (int k = 0; k < 8; k++)
            v[u] += dct_factor[u][k] * in[k];
    }
}

// 128 threads: 128 columns and 8 rows of pixels, thus 16 squares.
__global__ void __launch_bounds__(128) dct_row_kernel(const float *in, float *out)
{
    __shared__ float work[8][132];
    const int t = threadIdx.x, row = t / 16, first = t % 16 * 8;
    const size_t at = (size_t) blockIdx.y * 8 * DCT_WIDTH + blockIdx.x * 128;
    const float4 *from = (const float4 *) (in + at + row * DCT_WIDTH + first);
    float4 a = from[0], b = from[1];
    float v[8] = { a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w };
    dct_of_eight(v);
#pragma unroll
    for (int k = 0; k < 8; k++)
        work[row][first + k] = v[k];
    __syncthreads(); // the rows are complete
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = work[k][t];
    dct_of_eight(v);
#pragma unroll
    for (int k = 0; k < 8; k++)
        out[at + k * DCT_WIDTH + t] = v[k];
}

static double dct_value(const std::vector<float> &in, const std::vector<float> &factor, size_t i)
{
    const size_t x = i % DCT_WIDTH, y = i / DCT_WIDTH;
    const float *square = &in[y / 8 * 8 * DCT_WIDTH + x / 8 * 8];
    double sum = 0;
    for (int k = 0; k < 64; k++)
        sum += (double) factor[x % 8 * 8 + k % 8] * factor[y % 8 * 8 + k / 8] *
               square[k / 8 * DCT_WIDTH + k % 8];
    return sum;
}

static void dct(Run &run, bool by_row)
{
    const int n = DCT_WIDTH * DCT_HEIGHT;
    const std::vector<float> in = floats(n, 637);
    std::vector<float> factor(64);
    for (int i = 0; i < 64; i++)
        factor[i] =
            (float) (cos((2 * (i % 8) + 1) * (i / 8) * M_PI / 16) * (i < 8 ? sqrt(.125) : .5));
    float *from = run.upload(in), *to = run.zeros<float>(n);
    CHECK(cudaMemcpyToSymbol(dct_factor, factor.data(), sizeof(dct_factor)));
    run.measure([=] {
        if (by_row)
            dct_row_kernel<<<dim3(DCT_WIDTH / 128, DCT_HEIGHT / 8), 128>>>(from, to);
        else
            dct_pixel_kernel<<<dim3(DCT_WIDTH / 8, DCT_HEIGHT / 8), dim3(8, 8)>>>(from, to);
    });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return dct_value(in, factor, i); }, 1e-5, 43);
}

static void dct_pixel(Run &run)
{
    dct(run, false);
}

static void dct_row(Run &run)
{
    dct(run, true);
}

// ---- Isosurfaces: the case of each cube of 8 samples, and the number of triangles ----

enum { CUBE_SIDE = 128 };

__constant__ unsigned char cube_triangles[256];

__host__ __device__ inline int cube_case(const float *field, int at)
{
    int code = 0;
    for (int corner = 0; corner < 8; corner++)
        if (field[at + (corner & 1) + (corner >> 1 & 1) * CUBE_SIDE +
                  (corner >> 2) * CUBE_SIDE * CUBE_SIDE] < 0.1f)
            code |= 1 << corner;
    return code;
}

__global__ void cubes_kernel(const float *field, unsigned char *code, int *total)
{
    __shared__ int count;
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int at = (blockIdx.z * CUBE_SIDE + y) * CUBE_SIDE + x;
    if (threadIdx.x + threadIdx.y == 0)
        count = 0;
    __syncthreads(); // the counter is zero
    if (x < CUBE_SIDE - 1 && y < CUBE_SIDE - 1) {
        int mine = cube_case(field, at);
        code[at] = (unsigned char) mine;
        if (cube_triangles[mine])
            atomicAdd(&count, cube_triangles[mine]);
    }
    __syncthreads(); // the block's count is complete
    if (threadIdx.x + threadIdx.y == 0 && count)
        atomicAdd(total, count);
}

static void cubes_classify(Run &run)
{
    const int side = CUBE_SIDE, n = side * side * side;
    const std::vector<int> drawn = integers(256, 6, 638);
    std::vector<unsigned char> triangles(drawn.begin(), drawn.end());
    std::vector<float> field(n);
    triangles[0] = triangles[255] = 0;
    for (int i = 0; i < n; i++)
        field[i] = sinf(i % side * 0.11f) + sinf(i / side % side * 0.17f) +
                   sinf(i / side / side * 0.07f) + 0.02f * (int) (mix(i) % 10);
    float *from = run.upload(field);
    unsigned char *to = run.zeros<unsigned char>(n);
    int *total = run.zeros<int>(1);
    CHECK(cudaMemcpyToSymbol(cube_triangles, triangles.data(), sizeof(cube_triangles)));
    run.measure(
        [=] {
            cubes_kernel<<<dim3(blocks_for(side, 32), blocks_for(side, 4), side - 1),
                           dim3(32, 4)>>>(from, to, total);
        },
        [=] { CHECK(cudaMemset(total, 0, sizeof(int))); });
    const std::vector<unsigned char> got = run.output(to, n);
    int wanted = 0;
    for (int i = 0; i < n; i++) {
        const bool inside =
            i % side < side - 1 && i / side % side < side - 1 && i / side / side < side - 1;
        const int code = inside ? cube_case(field.data(), i) : 0;
        run.expect(got[i], code, 0);
        wanted += triangles[code];
    }
    run.expect(run.output(total, 1)[0], wanted, 0);
}

#endif
