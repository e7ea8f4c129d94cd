// clouds.cuh - point clouds: means per voxel, registration, normals of neighbourhoods, outliers.
#ifndef BLIND_CLOUDS_CUH
#define BLIND_CLOUDS_CUH

#include "blind.cuh"

// ---- The mean point of each voxel: atomic sums, or lists of points per voxel ----

enum {
    VOXELMEAN_POINTS = 1 << 20,
    VOXELMEAN_SIDE = 64,
    VOXELMEAN_VOXELS = VOXELMEAN_SIDE * VOXELMEAN_SIDE * VOXELMEAN_SIDE
};

__host__ __device__ inline int cloud_voxel(float x, float y, float z)
{
    return ((int) (z * VOXELMEAN_SIDE) * VOXELMEAN_SIDE + (int) (y * VOXELMEAN_SIDE)) *
               VOXELMEAN_SIDE +
           (int) (x * VOXELMEAN_SIDE);
}

__global__ void voxel_add_kernel(const float4 *points, float4 *sums)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 p = points[i];
    float *sum = (float *) &sums[cloud_voxel(p.x, p.y, p.z)];
    atomicAdd(sum, p.x);
    atomicAdd(sum + 1, p.y);
    atomicAdd(sum + 2, p.z);
    atomicAdd(sum + 3, 1.0f);
}

__global__ void voxel_divide_kernel(float4 *sums)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 s = sums[i];
    const float by = s.w > 0 ? 1 / s.w : 0;
    sums[i] = make_float4(s.x * by, s.y * by, s.z * by, s.w);
}

__global__ void voxel_lists_kernel(const float4 *points, const int *starts, const int *order,
                                   float4 *means)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    const int from = starts[v], to = starts[v + 1];
    float x = 0, y = 0, z = 0;
    for (int k = from; k < to; k++) {
        const float4 p = points[order[k]];
        x += p.x;
        y += p.y;
        z += p.z;
    }
    const float by = to > from ? 1.0f / (to - from) : 0;
    means[v] = make_float4(x * by, y * by, z * by, to - from);
}

static void voxelmean(Run &run, bool lists)
{
    const std::vector<float> v = floats(4 * VOXELMEAN_POINTS, 9001, 0, 0.9999f);
    std::vector<int> starts(VOXELMEAN_VOXELS + 1), order(VOXELMEAN_POINTS);
    auto voxel = [&](int i) { return cloud_voxel(v[4 * i], v[4 * i + 1], v[4 * i + 2]); };
    for (int i = 0; i < VOXELMEAN_POINTS; i++)
        starts[voxel(i) + 1]++;
    for (int k = 0; k < VOXELMEAN_VOXELS; k++)
        starts[k + 1] += starts[k];
    std::vector<int> next(starts);
    for (int i = 0; i < VOXELMEAN_POINTS; i++)
        order[next[voxel(i)]++] = i;
    const float4 *points = (const float4 *) run.upload(v);
    const int *ds = run.upload(starts), *dorder = run.upload(order);
    float4 *to = run.zeros<float4>(VOXELMEAN_VOXELS);
    run.measure(
        [=] {
            if (lists) {
                voxel_lists_kernel<<<VOXELMEAN_VOXELS / 128, 128>>>(points, ds, dorder, to);
            } else {
                voxel_add_kernel<<<VOXELMEAN_POINTS / 256, 256>>>(points, to);
                voxel_divide_kernel<<<VOXELMEAN_VOXELS / 256, 256>>>(to);
            }
        },
        [=] { CHECK(cudaMemset(to, 0, VOXELMEAN_VOXELS * sizeof(float4))); });
    const std::vector<float4> got = run.output(to, VOXELMEAN_VOXELS);
    for (int k = 0; k < VOXELMEAN_VOXELS; k += 97) {
        double x = 0, y = 0;
        const int n = starts[k + 1] - starts[k];
        for (int j = starts[k]; j < starts[k + 1]; j++) {
            x += v[4 * order[j]] / n;
            y += v[4 * order[j] + 1] / n;
        }
        run.expect(got[k].x, x, 1e-4);
        run.expect(got[k].y, y, 1e-4);
        run.expect(got[k].w, n, 0);
    }
}

static void voxelmean_atomic(Run &run)
{
    voxelmean(run, false);
}

static void voxelmean_lists(Run &run)
{
    voxelmean(run, true);
}

// ---- Registration: 27 sums over pairs of points, by shuffles or staged in shared memory ----

enum { ICP_PAIRS = 1 << 20, ICP_BLOCKS = 264, ICP_SUMS = 27 };

// Adds a pair's row of the least squares problem: the upper triangle of 6 x 6, then the right side.
__host__ __device__ inline void icp_add(const float *pair, float *sums)
{
    const float *p = pair, *q = pair + 3, *n = pair + 6;
    const float row[6] = { p[1] * n[2] - p[2] * n[1],
                           p[2] * n[0] - p[0] * n[2],
                           p[0] * n[1] - p[1] * n[0],
                           n[0],
                           n[1],
                           n[2] };
    const float rest = (q[0] - p[0]) * n[0] + (q[1] - p[1]) * n[1] + (q[2] - p[2]) * n[2];
    int at = 0;
#pragma unroll
    for (int i = 0; i < 6; i++)
#pragma unroll
        for (int j = i; j < 6; j++)
            sums[at++] += row[i] * row[j];
#pragma unroll
    for (int i = 0; i < 6; i++)
        sums[at++] += row[i] * rest;
}

// Values are stored by field, so that neighbours read neighbours.
__device__ inline void icp_collect(const float *pairs, float *sums)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < ICP_PAIRS;
         i += gridDim.x * blockDim.x) {
        float pair[9];
#pragma unroll
        for (int k = 0; k < 9; k++)
            pair[k] = pairs[k * ICP_PAIRS + i];
        icp_add(pair, sums);
    }
}

__global__ void icp_shuffles_kernel(const float *pairs, float *out)
{
    float sums[ICP_SUMS] = {};
    icp_collect(pairs, sums);
#pragma unroll
    for (int k = 0; k < ICP_SUMS; k++) {
        for (int by = 16; by; by /= 2)
            sums[k] += __shfl_down_sync(~0u, sums[k], by);
        if (threadIdx.x % 32 == 0)
            atomicAdd(&out[k], sums[k]);
    }
}

__global__ void icp_staged_kernel(const float *pairs, float *out)
{
    __shared__ float staged[ICP_SUMS][257];
    float sums[ICP_SUMS] = {};
    icp_collect(pairs, sums);
#pragma unroll
    for (int k = 0; k < ICP_SUMS; k++)
        staged[k][threadIdx.x] = sums[k];
    __syncthreads();
    if (threadIdx.x >= ICP_SUMS)
        return;
    float sum = 0;
    for (int t = 0; t < 256; t++)
        sum += staged[threadIdx.x][t];
    atomicAdd(&out[threadIdx.x], sum);
}

static void icp(Run &run, void (*kernel)(const float *, float *))
{
    const std::vector<float> pairs = floats(9 * ICP_PAIRS, 9002);
    const float *from = run.upload(pairs);
    float *to = run.zeros<float>(ICP_SUMS);
    run.measure([=] { kernel<<<ICP_BLOCKS, 256>>>(from, to); },
                [=] { CHECK(cudaMemset(to, 0, ICP_SUMS * sizeof(float))); });
    std::vector<double> wanted(ICP_SUMS);
    for (int i = 0; i < ICP_PAIRS; i++) {
        float pair[9], one[ICP_SUMS] = {};
        for (int k = 0; k < 9; k++)
            pair[k] = pairs[k * ICP_PAIRS + i];
        icp_add(pair, one);
        for (int k = 0; k < ICP_SUMS; k++)
            wanted[k] += one[k];
    }
    const std::vector<float> got = run.output(to, ICP_SUMS);
    for (int k = 0; k < ICP_SUMS; k++) // sums near zero: relative to the number of pairs
        run.expect(got[k] / ICP_PAIRS, wanted[k] / ICP_PAIRS, 1e-4);
}

static void icp_shuffles(Run &run)
{
    icp(run, icp_shuffles_kernel);
}

static void icp_staged(Run &run)
{
    icp(run, icp_staged_kernel);
}

// ---- Normals from 12 listed neighbours: repeated multiplication, or roots of the cubic ----

enum { NORMAL_POINTS = 120000, NORMAL_NEAR = 12 };

// c: xx, xy, xz, yy, yz, zz. Multiplies a vector by (trace - C) until it turns to the normal.
__host__ __device__ inline void normal_power(const float *c, float *n)
{
    const float t = c[0] + c[3] + c[5];
    float x = 0.3f, y = 0.4f, z = 0.8f;
    for (int step = 0; step < 24; step++) {
        const float u = (t - c[0]) * x - c[1] * y - c[2] * z;
        const float v = (t - c[3]) * y - c[1] * x - c[4] * z;
        const float w = (t - c[5]) * z - c[2] * x - c[4] * y;
        const float by = 1 / sqrtf(u * u + v * v + w * w);
        x = u * by;
        y = v * by;
        z = w * by;
    }
    n[0] = x;
    n[1] = y;
    n[2] = z;
}

// The smallest eigenvalue by the cosine formula; the normal is the product of two rows of C - e.
__host__ __device__ inline void normal_cubic(const float *c, float *n)
{
    const float q = (c[0] + c[3] + c[5]) / 3;
    const float a = c[0] - q, b = c[3] - q, d = c[5] - q;
    const float off = c[1] * c[1] + c[2] * c[2] + c[4] * c[4];
    const float p = sqrtf((a * a + b * b + d * d + 2 * off) / 6);
    const float det = a * (b * d - c[4] * c[4]) - c[1] * (c[1] * d - c[4] * c[2]) +
                      c[2] * (c[1] * c[4] - b * c[2]);
    const float r = fminf(1, fmaxf(-1, det / (2 * p * p * p)));
    const float e = 2 * p * cosf(acosf(r) / 3 + 2.0943951f);
    const float x = c[1] * c[4] - c[2] * (b - e), y = c[2] * c[1] - (a - e) * c[4];
    const float z = (a - e) * (b - e) - c[1] * c[1];
    const float by = 1 / sqrtf(x * x + y * y + z * z);
    n[0] = x * by;
    n[1] = y * by;
    n[2] = z * by;
}

template <bool CUBIC>
__host__ __device__ inline void normal_at(const float *points, const int *near, int i, float *n)
{
    float mean[3] = {}, c[6] = {};
    for (int k = 0; k < NORMAL_NEAR; k++)
        for (int a = 0; a < 3; a++)
            mean[a] += points[near[k * NORMAL_POINTS + i] * 3 + a] / NORMAL_NEAR;
    for (int k = 0; k < NORMAL_NEAR; k++) {
        const float *p = points + near[k * NORMAL_POINTS + i] * 3;
        const float x = p[0] - mean[0], y = p[1] - mean[1], z = p[2] - mean[2];
        c[0] += x * x;
        c[1] += x * y;
        c[2] += x * z;
        c[3] += y * y;
        c[4] += y * z;
        c[5] += z * z;
    }
    if (CUBIC)
        normal_cubic(c, n);
    else
        normal_power(c, n);
}

template <bool CUBIC>
__global__ void normal_kernel(const float *points, const int *near, float *normals)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < NORMAL_POINTS)
        normal_at<CUBIC>(points, near, i, normals + 3 * i);
}

// Points near the plane z = 0.
template <bool CUBIC> static void cloudnormals(Run &run)
{
    std::vector<float> points = floats(3 * NORMAL_POINTS, 9003);
    for (int i = 0; i < NORMAL_POINTS; i++)
        points[3 * i + 2] *= 0.1f;
    std::vector<int> near = integers(NORMAL_NEAR * NORMAL_POINTS, 2000, 9004);
    for (int k = 0; k < NORMAL_NEAR * NORMAL_POINTS; k++)
        near[k] = (k % NORMAL_POINTS + near[k]) % NORMAL_POINTS;
    const float *dp = run.upload(points);
    const int *dn = run.upload(near);
    float *to = run.zeros<float>(3 * NORMAL_POINTS);
    const int blocks = blocks_for(NORMAL_POINTS, 128);
    run.measure([=] { normal_kernel<CUBIC><<<blocks, 128>>>(dp, dn, to); });
    const std::vector<float> got = run.output(to, 3 * NORMAL_POINTS);
    for (int i = 0; i < NORMAL_POINTS; i += 83) {
        float n[3];
        normal_at<CUBIC>(points.data(), near.data(), i, n);
        for (int a = 0; a < 3; a++)
            run.expect(got[3 * i + a], n[a], 5e-3);
    }
}

static void cloudnormals_power(Run &run)
{
    cloudnormals<false>(run);
}

static void cloudnormals_cubic(Run &run)
{
    cloudnormals<true>(run);
}

// ---- Neighbours within a radius, to find outliers: all points, or those of 27 cells ----

enum { OUTLIER_POINTS = 4096, OUTLIER_SIDE = 6, OUTLIER_CELLS = 216 };

__device__ inline int outlier_near(float4 p, float4 q)
{
    const float x = p.x - q.x, y = p.y - q.y, z = p.z - q.z;
    return x * x + y * y + z * z < 1.0f / (OUTLIER_SIDE * OUTLIER_SIDE);
}

__global__ void outliers_all_kernel(const float4 *points, const int *, int *counts)
{
    __shared__ float4 tile[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    const float4 p = points[i];
    int count = 0;
    for (int from = 0; from < OUTLIER_POINTS; from += 64) {
        tile[threadIdx.x] = points[from + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 64; k++)
            count += outlier_near(p, tile[k]);
        __syncthreads();
    }
    counts[i] = count;
}

__global__ void outliers_cells_kernel(const float4 *points, const int *starts, int *counts)
{
    const int i = blockIdx.x * 64 + threadIdx.x, n = OUTLIER_SIDE;
    const float4 p = points[i];
    const int cx = p.x * n, cy = p.y * n, cz = p.z * n;
    int count = 0;
    for (int z = max(cz - 1, 0); z <= min(cz + 1, n - 1); z++)
        for (int y = max(cy - 1, 0); y <= min(cy + 1, n - 1); y++)
            for (int x = max(cx - 1, 0); x <= min(cx + 1, n - 1); x++) {
                const int cell = (z * n + y) * n + x, to = starts[cell + 1];
                for (int k = starts[cell]; k < to; k++)
                    count += outlier_near(p, points[k]);
            }
    counts[i] = count;
}

// The points are in the order of their cells.
static void outliers(Run &run, void (*kernel)(const float4 *, const int *, int *))
{
    const std::vector<float> v = floats(4 * OUTLIER_POINTS, 9005, 0, 0.9999f);
    std::vector<float4> points(OUTLIER_POINTS);
    for (int i = 0; i < OUTLIER_POINTS; i++)
        points[i] = make_float4(v[4 * i], v[4 * i + 1], v[4 * i + 2], 0);
    auto cell = [](const float4 &p) {
        const int n = OUTLIER_SIDE;
        return ((int) (p.z * n) * n + (int) (p.y * n)) * n + (int) (p.x * n);
    };
    std::stable_sort(points.begin(), points.end(),
                     [&](const float4 &a, const float4 &b) { return cell(a) < cell(b); });
    std::vector<int> starts(OUTLIER_CELLS + 1);
    for (const float4 &p : points)
        for (int k = cell(p) + 1; k <= OUTLIER_CELLS; k++)
            starts[k]++;
    const float4 *from = run.upload(points);
    const int *ds = run.upload(starts);
    int *to = run.zeros<int>(OUTLIER_POINTS);
    run.measure([=] { kernel<<<OUTLIER_POINTS / 64, 64>>>(from, ds, to); });
    run.expect_all(
        run.output(to, OUTLIER_POINTS),
        [&](size_t i) {
            int count = 0;
            for (const float4 &q : points) {
                const double x = points[i].x - q.x, y = points[i].y - q.y, z = points[i].z - q.z;
                count += x * x + y * y + z * z < 1.0 / (OUTLIER_SIDE * OUTLIER_SIDE);
            }
            return count;
        },
        0.1, 31);
}

static void outliers_all(Run &run)
{
    outliers(run, outliers_all_kernel);
}

static void outliers_cells(Run &run)
{
    outliers(run, outliers_cells_kernel);
}

#endif
