// science.cuh - science codes: sums of MRI reconstruction, electric potential on a grid, seismic
// stencil, angles between galaxies, fluxes between cells of a mesh.
#ifndef BLIND_SCIENCE_CUH
#define BLIND_SCIENCE_CUH

#include "blind.cuh"

// ---- MRI-Q: each voxel sums over all samples, from constant memory or by tiles in shared memory

enum { MRI_SAMPLES = 384, MRI_TILE = 64 };

__constant__ float4 mri_sample[MRI_SAMPLES]; // position in k-space, magnitude

__device__ inline void mri_add(float4 sample, float x, float y, float z, float2 &sum)
{
    float sine, cosine, angle = 6.2831853f * (sample.x * x + sample.y * y + sample.z * z);
    sincosf(angle, &sine, &cosine);
    sum.x += sample.w * cosine;
    sum.y += sample.w * sine;
}

__global__ void mri_constant_kernel(const float *x, const float *y, const float *z, float2 *out,
                                    int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 sum = { 0, 0 };
    if (i >= n)
        return;
    for (int k = 0; k < MRI_SAMPLES; k++)
        mri_add(mri_sample[k], x[i], y[i], z[i], sum);
    out[i] = sum;
}

__global__ void __launch_bounds__(MRI_TILE)
    mri_shared_kernel(const float4 *sample, const float *x, const float *y, const float *z,
                      float2 *out, int n)
{
    __shared__ float4 tile[MRI_TILE];
    int i = min((int) (blockIdx.x * MRI_TILE + threadIdx.x), n - 1);
    float2 sum = { 0, 0 };
    for (int first = 0; first < MRI_SAMPLES; first += MRI_TILE) {
        tile[threadIdx.x] = sample[first + threadIdx.x];
        __syncthreads(); // the tile is complete
        for (int k = 0; k < MRI_TILE; k++)
            mri_add(tile[k], x[i], y[i], z[i], sum);
        __syncthreads(); // the tile is free again
    }
    out[i] = sum;
}

static void mri(Run &run, bool constant)
{
    const int n = 9000;
    const std::vector<float> sample = floats(4 * MRI_SAMPLES, 541), x = floats(n, 542),
                             y = floats(n, 543), z = floats(n, 544);
    float *ds = run.upload(sample), *dx = run.upload(x), *dy = run.upload(y), *dz = run.upload(z);
    float2 *to = run.zeros<float2>(n);
    CHECK(cudaMemcpyToSymbol(mri_sample, sample.data(), sizeof(mri_sample)));
    run.measure([=] {
        const int grid = blocks_for(n, MRI_TILE);
        if (constant)
            mri_constant_kernel<<<grid, MRI_TILE>>>(dx, dy, dz, to, n);
        else
            mri_shared_kernel<<<grid, MRI_TILE>>>((float4 *) ds, dx, dy, dz, to, n);
    });
    const std::vector<float2> got = run.output(to, n);
    for (int i = 0; i < n; i += 19) {
        double re = 0, im = 0;
        for (int k = 0; k < MRI_SAMPLES; k++) {
            const float *s = &sample[4 * k];
            const double angle = 2 * M_PI * ((double) s[0] * x[i] + s[1] * y[i] + s[2] * z[i]);
            re += s[3] * cos(angle);
            im += s[3] * sin(angle);
        }
        run.expect(got[i].x, re, 1e-3);
        run.expect(got[i].y, im, 1e-3);
    }
}

static void mri_constant(Run &run)
{
    mri(run, true);
}

static void mri_shared(Run &run)
{
    mri(run, false);
}

// ---- Potential of 200 charges on a grid (CP): a point per thread, or four

enum { CHARGES = 200, POTENTIAL_X = 512, POTENTIAL_Y = 160 };

__constant__ float4 charge[CHARGES]; // position, charge

__global__ void potential_one_kernel(float *out, float spacing)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < CHARGES; k++) {
        float dx = x * spacing - charge[k].x, dy = y * spacing - charge[k].y, dz = charge[k].z;
        sum += charge[k].w * rsqrtf(dx * dx + dy * dy + dz * dz);
    }
    out[y * POTENTIAL_X + x] = sum;
}

__global__ void potential_four_kernel(float *out, float spacing)
{
    int x = blockIdx.x * blockDim.x * 4 + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum[4] = {}, apart = blockDim.x * spacing;
    for (int k = 0; k < CHARGES; k++) {
        float dx = x * spacing - charge[k].x, dy = y * spacing - charge[k].y;
        float rest = dy * dy + charge[k].z * charge[k].z;
#pragma unroll
        for (int p = 0; p < 4; p++, dx += apart)
            sum[p] += charge[k].w * rsqrtf(dx * dx + rest);
    }
#pragma unroll
    for (int p = 0; p < 4; p++)
        out[y * POTENTIAL_X + x + p * blockDim.x] = sum[p];
}

template <class Launch> static void potential(Run &run, Launch launch)
{
    const float spacing = 0.1f;
    std::vector<float> c = floats(4 * CHARGES, 545);
    for (int k = 0; k < CHARGES; k++) {
        c[4 * k] = (c[4 * k] + 1) * spacing * POTENTIAL_X / 2;
        c[4 * k + 1] = (c[4 * k + 1] + 1) * spacing * POTENTIAL_Y / 2;
        c[4 * k + 2] += 1.5f;
    }
    float *to = run.zeros<float>(POTENTIAL_X * POTENTIAL_Y);
    CHECK(cudaMemcpyToSymbol(charge, c.data(), sizeof(charge)));
    run.measure([=] { launch(to, spacing); });
    run.expect_all(
        run.output(to, POTENTIAL_X * POTENTIAL_Y),
        [&](size_t i) {
            double sum = 0;
            for (int k = 0; k < CHARGES; k++) {
                const double dx = i % POTENTIAL_X * spacing - c[4 * k],
                             dy = i / POTENTIAL_X * spacing - c[4 * k + 1], dz = c[4 * k + 2];
                sum += c[4 * k + 3] / sqrt(dx * dx + dy * dy + dz * dz);
            }
            return sum;
        },
        1e-4, 43);
}

static void potential_one(Run &run)
{
    potential(run, [](float *out, float spacing) {
        potential_one_kernel<<<dim3(POTENTIAL_X / 16, POTENTIAL_Y / 8), dim3(16, 8)>>>(out,
                                                                                       spacing);
    });
}

static void potential_four(Run &run)
{
    potential(run, [](float *out, float spacing) {
        potential_four_kernel<<<dim3(POTENTIAL_X / 64, POTENTIAL_Y / 8), dim3(16, 8)>>>(out,
                                                                                        spacing);
    });
}

// ---- Stencil of 25 points, four in each direction: a thread per point, or a march through planes

enum { SEISMIC_X = 160, SEISMIC_Y = 128, SEISMIC_Z = 72, REACH = 4 };
enum { SEISMIC_ROW = SEISMIC_X + 2 * REACH };
enum { SEISMIC_PLANE = SEISMIC_ROW * (SEISMIC_Y + 2 * REACH) };
enum { SEISMIC_SIZE = SEISMIC_PLANE * (SEISMIC_Z + 2 * REACH) };

__constant__ float seismic_weight[REACH + 1] = { -2.8472222f, 1.6f, -0.2f, 0.025396825f,
                                                 -0.0017857143f };

__global__ void seismic_plain_kernel(const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + REACH;
    int y = blockIdx.y * blockDim.y + threadIdx.y + REACH, z = blockIdx.z + REACH;
    const float *p = in + z * SEISMIC_PLANE + y * SEISMIC_ROW + x;
    float sum = 3 * seismic_weight[0] * p[0];
    for (int k = 1; k <= REACH; k++)
        sum += seismic_weight[k] * (p[k] + p[-k] + p[k * SEISMIC_ROW] + p[-k * SEISMIC_ROW] +
                                    p[k * SEISMIC_PLANE] + p[-k * SEISMIC_PLANE]);
    out[p - in] = sum;
}

// A thread keeps nine values of its column in registers; the plane is in shared memory.
__global__ void __launch_bounds__(256) seismic_march_kernel(const float *in, float *out)
{
    __shared__ float plane[8 + 2 * REACH][32 + 2 * REACH];
    const int tx = threadIdx.x + REACH, ty = threadIdx.y + REACH;
    int at = (blockIdx.y * 8 + ty) * SEISMIC_ROW + blockIdx.x * 32 + tx;
    float column[2 * REACH + 1];
#pragma unroll
    for (int k = 0; k < 2 * REACH; k++)
        column[k + 1] = in[at + k * SEISMIC_PLANE];
    for (int z = REACH; z < SEISMIC_Z + REACH; z++) {
        const float *p = in + at + z * SEISMIC_PLANE;
#pragma unroll
        for (int k = 0; k < 2 * REACH; k++)
            column[k] = column[k + 1];
        column[2 * REACH] = p[REACH * SEISMIC_PLANE];
        __syncthreads(); // the previous plane has been read
        plane[ty][tx] = column[REACH];
        if (threadIdx.y < REACH) {
            plane[ty - REACH][tx] = p[-REACH * SEISMIC_ROW];
            plane[ty + 8][tx] = p[8 * SEISMIC_ROW];
        }
        if (threadIdx.x < REACH) {
            plane[ty][tx - REACH] = p[-REACH];
            plane[ty][tx + 32] = p[32];
        }
        __syncthreads(); // the plane is complete
        float sum = 3 * seismic_weight[0] * column[REACH];
#pragma unroll
        for (int k = 1; k <= REACH; k++)
            sum += seismic_weight[k] * (plane[ty][tx + k] + plane[ty][tx - k] + plane[ty + k][tx] +
                                        plane[ty - k][tx] + column[REACH + k] + column[REACH - k]);
        out[p - in] = sum;
    }
}

template <class Launch> static void seismic(Run &run, Launch launch)
{
    const double weight[] = { -2.8472222, 1.6, -0.2, 0.025396825, -0.0017857143 };
    const std::vector<float> in = floats(SEISMIC_SIZE, 546);
    float *from = run.upload(in), *to = run.zeros<float>(SEISMIC_SIZE);
    run.measure([=] { launch(from, to); });
    const std::vector<float> got = run.output(to, SEISMIC_SIZE);
    for (int i = 0; i < SEISMIC_X * SEISMIC_Y * SEISMIC_Z; i += 83) {
        const int x = i % SEISMIC_X, y = i / SEISMIC_X % SEISMIC_Y, z = i / SEISMIC_X / SEISMIC_Y;
        const int at = (z + REACH) * SEISMIC_PLANE + (y + REACH) * SEISMIC_ROW + x + REACH;
        double sum = 3 * weight[0] * in[at];
        for (int k = 1; k <= REACH; k++)
            for (int step : { 1, (int) SEISMIC_ROW, (int) SEISMIC_PLANE })
                sum += weight[k] * ((double) in[at + k * step] + in[at - k * step]);
        run.expect(got[at], sum, 1e-5);
    }
}

static void seismic_plain(Run &run)
{
    seismic(run, [](float *in, float *out) {
        dim3 grid(SEISMIC_X / 32, SEISMIC_Y / 8, SEISMIC_Z);
        seismic_plain_kernel<<<grid, dim3(32, 8)>>>(in, out);
    });
}

static void seismic_march(Run &run)
{
    seismic(run, [](float *in, float *out) {
        seismic_march_kernel<<<dim3(SEISMIC_X / 32, SEISMIC_Y / 8), dim3(32, 8)>>>(in, out);
    });
}

// ---- Histogram of angles between two catalogues of galaxies (TPACF): bins by binary search ----

enum { GALAXIES = 1280, ANGLE_BINS = 20, ANGLE_CHUNK = 80 };

__constant__ float angle_edge[ANGLE_BINS + 1]; // cosines, descending

__global__ void __launch_bounds__(128) angles_kernel(const float *one, const float *two, int *count)
{
    __shared__ int mine[ANGLE_BINS];
    int i = blockIdx.x * 128 + threadIdx.x;
    float x = one[i], y = one[GALAXIES + i], z = one[2 * GALAXIES + i];
    if (threadIdx.x < ANGLE_BINS)
        mine[threadIdx.x] = 0;
    __syncthreads(); // the counts are zero
    for (int k = 0; k < ANGLE_CHUNK; k++) {
        int j = blockIdx.y * ANGLE_CHUNK + k, low = 0, high = ANGLE_BINS;
        float cosine = x * two[j] + y * two[GALAXIES + j] + z * two[2 * GALAXIES + j];
        while (high > low + 1) {
            int middle = (low + high) / 2;
            if (cosine >= angle_edge[middle])
                high = middle;
            else
                low = middle;
        }
        atomicAdd(&mine[low], 1);
    }
    __syncthreads(); // the counts are complete
    if (threadIdx.x < ANGLE_BINS)
        atomicAdd(&count[threadIdx.x], mine[threadIdx.x]);
}

// Coordinates: all x, all y, all z.
static std::vector<float> directions(uint32_t seed)
{
    std::vector<float> v = floats(3 * GALAXIES, seed);
    for (int i = 0; i < GALAXIES; i++) {
        float &x = v[i], &y = v[GALAXIES + i], &z = v[2 * GALAXIES + i];
        const float by = 1 / sqrtf(x * x + y * y + z * z + 1e-9f);
        x *= by;
        y *= by;
        z *= by;
    }
    return v;
}

// Rounding may move a pair to the next bin.
static void angles_histogram(Run &run)
{
    const std::vector<float> one = directions(547), two = directions(548);
    std::vector<float> edge(ANGLE_BINS + 1);
    std::vector<int> wanted(ANGLE_BINS);
    for (int k = 0; k <= ANGLE_BINS; k++)
        edge[k] = cosf(3.1415927f * powf((float) k / ANGLE_BINS, 1.5f));
    float *da = run.upload(one), *db = run.upload(two);
    int *count = run.zeros<int>(ANGLE_BINS);
    CHECK(cudaMemcpyToSymbol(angle_edge, edge.data(), sizeof(angle_edge)));
    run.measure(
        [=] {
            angles_kernel<<<dim3(GALAXIES / 128, GALAXIES / ANGLE_CHUNK), 128>>>(da, db, count);
        },
        [=] { CHECK(cudaMemset(count, 0, ANGLE_BINS * sizeof(int))); });
    for (int i = 0; i < GALAXIES; i++)
        for (int j = 0; j < GALAXIES; j++) {
            float cosine = 0;
            for (int axis = 0; axis < 3 * GALAXIES; axis += GALAXIES)
                cosine += one[axis + i] * two[axis + j];
            int bin = 0;
            while (bin < ANGLE_BINS - 1 && cosine < edge[bin + 1])
                bin++;
            wanted[bin]++;
        }
    run.expect_all(
        run.output(count, ANGLE_BINS), [&](size_t i) { return wanted[i]; }, 2e-3);
}

// ---- Euler fluxes over the four faces of unordered cells: structures of five values, or arrays

enum { FLOW_CELLS = 110000, FLOW_FACES = 4, FLOW_VALUES = 5 };

// Where value v of a cell lies: density, momentum (3), energy.
template <bool STRUCTURES> __host__ __device__ inline int flow_at(int cell, int v)
{
    return STRUCTURES ? cell * FLOW_VALUES + v : v * FLOW_CELLS + cell;
}

struct FlowState {
    float v[FLOW_VALUES], pressure;
};

template <bool STRUCTURES>
__host__ __device__ inline FlowState flow_state(const float *all, int cell)
{
    FlowState s;
    for (int k = 0; k < FLOW_VALUES; k++)
        s.v[k] = all[flow_at<STRUCTURES>(cell, k)];
    float squares = s.v[1] * s.v[1] + s.v[2] * s.v[2] + s.v[3] * s.v[3];
    s.pressure = 0.4f * (s.v[4] - 0.5f * squares / s.v[0]);
    return s;
}

// Adds the flux of one side through a face with this normal.
__host__ __device__ inline void flow_add(const FlowState &s, float4 normal, float *sum)
{
    float through = (s.v[1] * normal.x + s.v[2] * normal.y + s.v[3] * normal.z) / s.v[0];
    for (int k = 0; k < FLOW_VALUES; k++)
        sum[k] += 0.5f * through * s.v[k];
    sum[1] += 0.5f * s.pressure * normal.x;
    sum[2] += 0.5f * s.pressure * normal.y;
    sum[3] += 0.5f * s.pressure * normal.z;
    sum[4] += 0.5f * s.pressure * through;
}

template <bool STRUCTURES>
__host__ __device__ inline void flow_of(const float *all, const int *beside, const float4 *normal,
                                        int cell, float *sum)
{
    const FlowState mine = flow_state<STRUCTURES>(all, cell);
    for (int face = 0; face < FLOW_FACES; face++) {
        const int at = face * FLOW_CELLS + cell;
        flow_add(mine, normal[at], sum);
        flow_add(flow_state<STRUCTURES>(all, beside[at]), normal[at], sum);
    }
}

template <bool STRUCTURES>
__global__ void flow_kernel(const float *all, const int *beside, const float4 *normal, float *flux)
{
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    float sum[FLOW_VALUES] = {};
    if (cell >= FLOW_CELLS)
        return;
    flow_of<STRUCTURES>(all, beside, normal, cell, sum);
    for (int k = 0; k < FLOW_VALUES; k++)
        flux[flow_at<STRUCTURES>(cell, k)] = sum[k];
}

// Neighbours are within 4000 cells, as in a mesh with some order.
template <bool STRUCTURES> static void flow(Run &run)
{
    const int faces = FLOW_CELLS * FLOW_FACES;
    const std::vector<float> normal = floats(4 * faces, 549);
    std::vector<float> all = floats(FLOW_CELLS * FLOW_VALUES, 550, 0.5f, 1.5f);
    std::vector<int> beside = integers(faces, 8000, 551);
    for (int i = 0; i < faces; i++)
        beside[i] = (i % FLOW_CELLS + beside[i] + FLOW_CELLS - 4000) % FLOW_CELLS;
    for (int cell = 0; cell < FLOW_CELLS; cell++)
        all[flow_at<STRUCTURES>(cell, 4)] += 5;
    float *da = run.upload(all), *dn = run.upload(normal), *flux = run.zeros<float>(all.size());
    int *db = run.upload(beside);
    run.measure([=] {
        flow_kernel<STRUCTURES>
            <<<blocks_for(FLOW_CELLS, 192), 192>>>(da, db, (const float4 *) dn, flux);
    });
    const std::vector<float> got = run.output(flux, all.size());
    for (int cell = 0; cell < FLOW_CELLS; cell += 53) {
        float sum[FLOW_VALUES] = {};
        flow_of<STRUCTURES>(all.data(), beside.data(), (const float4 *) normal.data(), cell, sum);
        for (int k = 0; k < FLOW_VALUES; k++)
            run.expect(got[flow_at<STRUCTURES>(cell, k)], sum[k], 1e-4);
    }
}

static void flow_structures(Run &run)
{
    flow<true>(run);
}

static void flow_arrays(Run &run)
{
    flow<false>(run);
}

#endif
