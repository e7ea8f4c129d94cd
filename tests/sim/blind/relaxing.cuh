// relaxing.cuh - solvers on grids: two levels, alternating directions, overrelaxation, halves.
#ifndef BLIND_RELAXING_CUH
#define BLIND_RELAXING_CUH

#include <cuda_fp16.h>

#include "blind.cuh"

// ---- The residual of Poisson's equation, made coarse: in two kernels, or in one ----

enum { COARSE_SIDE = 1024, FINE_SIDE = 2 * COARSE_SIDE };

__host__ __device__ inline float fine_residual(const float *u, const float *f, int x, int y)
{
    if (x < 1 || y < 1 || x >= FINE_SIDE - 1 || y >= FINE_SIDE - 1)
        return 0;
    const float *at = u + (size_t) y * FINE_SIDE + x;
    return f[(size_t) y * FINE_SIDE + x] -
           (4 * at[0] - at[-1] - at[1] - at[-FINE_SIDE] - at[FINE_SIDE]);
}

__global__ void residual_kernel(const float *u, const float *f, float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[(size_t) y * FINE_SIDE + x] = fine_residual(u, f, x, y);
}

__global__ void coarsen_kernel(const float *fine, float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const float *at = fine + (size_t) 2 * y * FINE_SIDE + 2 * x;
    out[y * COARSE_SIDE + x] = 0.25f * (at[0] + at[1] + at[FINE_SIDE] + at[FINE_SIDE + 1]);
}

__global__ void coarse_residual_kernel(const float *u, const float *f, float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < 4; k++)
        sum += fine_residual(u, f, 2 * x + k % 2, 2 * y + k / 2);
    out[y * COARSE_SIDE + x] = 0.25f * sum;
}

static void coarse_residual(Run &run, bool fused)
{
    const std::vector<float> u = floats((size_t) FINE_SIDE * FINE_SIDE, 11100);
    const std::vector<float> f = floats((size_t) FINE_SIDE * FINE_SIDE, 11101);
    const float *du = run.upload(u), *df = run.upload(f);
    float *fine = run.zeros<float>(u.size());
    float *to = run.zeros<float>(COARSE_SIDE * COARSE_SIDE);
    const dim3 block(32, 8), all(FINE_SIDE / 32, FINE_SIDE / 8);
    const dim3 few(COARSE_SIDE / 32, COARSE_SIDE / 8);
    run.measure([=] {
        if (fused) {
            coarse_residual_kernel<<<few, block>>>(du, df, to);
        } else {
            residual_kernel<<<all, block>>>(du, df, fine);
            coarsen_kernel<<<few, block>>>(fine, to);
        }
    });
    run.expect_all(
        run.output(to, COARSE_SIDE * COARSE_SIDE),
        [&](int i) {
            double sum = 0;
            for (int k = 0; k < 4; k++)
                sum += fine_residual(u.data(), f.data(), 2 * (i % COARSE_SIDE) + k % 2,
                                     2 * (i / COARSE_SIDE) + k / 2);
            return 0.25 * sum;
        },
        1e-4, 997);
}

static void coarsened_apart(Run &run)
{
    coarse_residual(run, false);
}

static void coarsened_fused(Run &run)
{
    coarse_residual(run, true);
}

// ---- An implicit step along rows: a thread per row, or a transpose, columns and a transpose ----

enum { ADI_SIDE = 1024 };

// Solves -a x[i-1] + (1 + 2a) x[i] - a x[i+1] = d[i] with a = 0.4; `factors` has the pivots'
// inverses.
__global__ void adi_kernel(const float *factors, float *d, int along, int across)
{
    const int line = blockIdx.x * blockDim.x + threadIdx.x;
    float *at = d + (size_t) line * across;
    float last = 0;
    for (int i = 0; i < ADI_SIDE; i++)
        at[(size_t) i * along] = last = (at[(size_t) i * along] + 0.4f * last) * factors[i];
    for (int i = ADI_SIDE - 2; i >= 0; i--)
        at[(size_t) i * along] = last = at[(size_t) i * along] + 0.4f * factors[i] * last;
}

__global__ void adi_transpose_kernel(const float *in, float *out)
{
    __shared__ float tile[32][33];
    const int x = blockIdx.x * 32, y = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
        tile[k][threadIdx.x] = in[(size_t) (y + k) * ADI_SIDE + x + threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8)
        out[(size_t) (x + k) * ADI_SIDE + y + threadIdx.x] = tile[threadIdx.x][k];
}

static std::vector<float> adi_factors()
{
    std::vector<float> factors(ADI_SIDE);
    double pivot = 1.8;
    for (int i = 0; i < ADI_SIDE; i++) {
        factors[i] = (float) (1 / pivot);
        pivot = 1.8 - 0.16 / pivot;
    }
    return factors;
}

static void adi(Run &run, bool transposed)
{
    const std::vector<float> in = floats(ADI_SIDE * ADI_SIDE, 11102), factors = adi_factors();
    const float *from = run.upload(in), *df = run.upload(factors);
    float *d = run.zeros<float>(in.size()), *turned = run.zeros<float>(in.size());
    const dim3 grid(ADI_SIDE / 32, ADI_SIDE / 32), block(32, 8);
    run.measure(
        [=] {
            if (!transposed) {
                adi_kernel<<<ADI_SIDE / 32, 32>>>(df, d, 1, ADI_SIDE);
                return;
            }
            adi_transpose_kernel<<<grid, block>>>(d, turned);
            adi_kernel<<<ADI_SIDE / 32, 32>>>(df, turned, ADI_SIDE, 1);
            adi_transpose_kernel<<<grid, block>>>(turned, d);
        },
        [=] { CHECK(cudaMemcpy(d, from, in.size() * sizeof(float), cudaMemcpyDeviceToDevice)); });
    const std::vector<float> got = run.output(d, in.size());
    for (int row = 0; row < ADI_SIDE; row += 61)
        for (int i = 1; i + 1 < ADI_SIDE; i += 7) {
            const float *x = &got[row * ADI_SIDE + i];
            run.expect(1.8 * x[0] - 0.4 * (x[-1] + x[1]), in[row * ADI_SIDE + i], 1e-4);
        }
}

static void adirows_direct(Run &run)
{
    adi(run, false);
}

static void adirows_transposed(Run &run)
{
    adi(run, true);
}

// ---- Weighted Jacobi steps on 7 points of a volume: floats, or halves in memory ----

enum { JACOBI_SIDE = 160, JACOBI_CELLS = JACOBI_SIDE * JACOBI_SIDE * JACOBI_SIDE };

template <class T> __global__ void jacobi7_kernel(const T *in, T *out)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z;
    const int i = (z * JACOBI_SIDE + y) * JACOBI_SIDE + x, plane = JACOBI_SIDE * JACOBI_SIDE;
    const int last = JACOBI_SIDE - 1;
    float sum = 0;
    sum += x ? (float) in[i - 1] : 0;
    sum += x < last ? (float) in[i + 1] : 0;
    sum += y ? (float) in[i - JACOBI_SIDE] : 0;
    sum += y < last ? (float) in[i + JACOBI_SIDE] : 0;
    sum += z ? (float) in[i - plane] : 0;
    sum += z < last ? (float) in[i + plane] : 0;
    out[i] = (T) (0.2f * (float) in[i] + 0.8f / 6 * sum);
}

template <class T> static void jacobi7(Run &run)
{
    const std::vector<float> v = floats(JACOBI_CELLS, 11103);
    std::vector<T> in(JACOBI_CELLS);
    for (int i = 0; i < JACOBI_CELLS; i++)
        in[i] = (T) v[i];
    const T *from = run.upload(in);
    T *to = run.zeros<T>(JACOBI_CELLS);
    const dim3 grid(JACOBI_SIDE / 32, JACOBI_SIDE / 8, JACOBI_SIDE), block(32, 8);
    run.measure([=] { jacobi7_kernel<T><<<grid, block>>>(from, to); });
    const std::vector<T> got = run.output(to, JACOBI_CELLS);
    const int plane = JACOBI_SIDE * JACOBI_SIDE;
    for (int z = 1; z < JACOBI_SIDE - 1; z += 13)
        for (int y = 1; y < JACOBI_SIDE - 1; y += 17)
            for (int x = 1; x < JACOBI_SIDE - 1; x += 3) {
                const T *at = &in[(z * JACOBI_SIDE + y) * JACOBI_SIDE + x];
                const double sum = (double) (float) at[-1] + (float) at[1] +
                                   (float) at[-JACOBI_SIDE] + (float) at[JACOBI_SIDE] +
                                   (float) at[-plane] + (float) at[plane];
                run.expect((float) got[at - &in[0]], 0.2 * (float) at[0] + 0.8 / 6 * sum,
                           sizeof(T) == 4 ? 1e-5 : 2e-3);
            }
}

static void jacobi7_floats(Run &run)
{
    jacobi7<float>(run);
}

static void jacobi7_halves(Run &run)
{
    jacobi7<__half>(run);
}

// ---- Many small plates of 32 x 32 relax 60 times: a block per plate, or a warp per plate ----

enum { PLATES = 264, PLATE_SIDE = 32, PLATE_STEPS = 60 };

__global__ void plates_block_kernel(float *plates)
{
    __shared__ float u[2][PLATE_SIDE + 2][PLATE_SIDE + 2];
    const int x = threadIdx.x, y = threadIdx.y;
    float *mine = plates + blockIdx.x * PLATE_SIDE * PLATE_SIDE;
    for (int i = y * 32 + x; i < 2 * (PLATE_SIDE + 2) * (PLATE_SIDE + 2); i += 1024)
        (&u[0][0][0])[i] = 0;
    __syncthreads();
    u[0][y + 1][x + 1] = mine[y * PLATE_SIDE + x];
    __syncthreads();
    for (int s = 0; s < PLATE_STEPS; s++) {
        float(*in)[PLATE_SIDE + 2] = u[s % 2];
        u[1 - s % 2][y + 1][x + 1] =
            0.25f * (in[y][x + 1] + in[y + 2][x + 1] + in[y + 1][x] + in[y + 1][x + 2]);
        __syncthreads();
    }
    mine[y * PLATE_SIDE + x] = u[PLATE_STEPS % 2][y + 1][x + 1];
}

// A lane holds a column in registers; neighbours come by shuffles.
__global__ void plates_warp_kernel(float *plates)
{
    const int lane = threadIdx.x % 32, plate = blockIdx.x;
    float *mine = plates + plate * PLATE_SIDE * PLATE_SIDE + lane;
    float u[PLATE_SIDE];
#pragma unroll
    for (int y = 0; y < PLATE_SIDE; y++)
        u[y] = mine[y * PLATE_SIDE];
    for (int s = 0; s < PLATE_STEPS; s++) {
        float above = 0;
#pragma unroll
        for (int y = 0; y < PLATE_SIDE; y++) {
            float left = __shfl_up_sync(~0u, u[y], 1), right = __shfl_down_sync(~0u, u[y], 1);
            left = lane ? left : 0;
            right = lane < 31 ? right : 0;
            const float old = u[y], below = y < PLATE_SIDE - 1 ? u[y < 31 ? y + 1 : 31] : 0;
            u[y] = 0.25f * (above + below + left + right);
            above = old;
        }
    }
#pragma unroll
    for (int y = 0; y < PLATE_SIDE; y++)
        mine[y * PLATE_SIDE] = u[y];
}

static void plate_on_host(float *u)
{
    std::vector<float> in(PLATE_SIDE * PLATE_SIDE);
    const int n = PLATE_SIDE;
    for (int s = 0; s < PLATE_STEPS; s++) {
        in.assign(u, u + n * n);
        for (int i = 0; i < n * n; i++)
            u[i] = 0.25f * ((i >= n ? in[i - n] : 0) + (i < n * n - n ? in[i + n] : 0) +
                            (i % n ? in[i - 1] : 0) + (i % n < n - 1 ? in[i + 1] : 0));
    }
}

static void plates(Run &run, bool warp)
{
    const size_t n = PLATES * PLATE_SIDE * PLATE_SIDE;
    const std::vector<float> in = floats(n, 11104, 0, 100);
    const float *from = run.upload(in);
    float *to = run.zeros<float>(n);
    run.measure(
        [=] {
            if (warp)
                plates_warp_kernel<<<PLATES, 32>>>(to);
            else
                plates_block_kernel<<<PLATES, dim3(32, 32)>>>(to);
        },
        [=] { CHECK(cudaMemcpy(to, from, n * sizeof(float), cudaMemcpyDeviceToDevice)); });
    const std::vector<float> got = run.output(to, n);
    for (int p = 0; p < PLATES; p += 37) {
        std::vector<float> wanted(in.begin() + p * 1024, in.begin() + (p + 1) * 1024);
        plate_on_host(wanted.data());
        for (int i = 0; i < 1024; i += 11)
            run.expect(got[p * 1024 + i], wanted[i], 1e-4);
    }
}

static void plates_block(Run &run)
{
    plates(run, false);
}

static void plates_warp(Run &run)
{
    plates(run, true);
}

#endif
