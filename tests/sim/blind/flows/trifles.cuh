// trifles.cuh - small problems of generation 3: matrices of one block and letters of a few pages.
#ifndef TRIFLES_CUH
#define TRIFLES_CUH

#include "kernels.cuh"

// ---- Cholesky's factors of small matrices: a kernel of one block per matrix ----

struct Factor {
    enum { SIDE = 48, CELLS = SIDE * SIDE, THREADS = 64, COUNT = 48 };
    std::vector<float> matrix;
    float *dmatrix, *lower;

    Factor(Flow &flow, int number)
    {
        const auto values = floats(CELLS, 120 + number);
        for (int i = 0; i < CELLS; i++) {
            const int row = i / SIDE, column = i % SIDE;
            matrix.push_back(values[i] + values[column * SIDE + row] + (row == column) * SIDE);
        }
        dmatrix = flow.upload(matrix);
        lower = flow.zeros<float>(CELLS);
    }

    void issue(cudaStream_t stream) const;
    void add_to(cudaGraph_t graph) const;
    void check(Flow &flow) const;
};

// A thread per row.
__global__ void cholesky(const float *matrix, float *lower)
{
    __shared__ float m[Factor::SIDE][Factor::SIDE + 1];
    const int row = threadIdx.x;

    for (int i = threadIdx.x; i < Factor::CELLS; i += blockDim.x)
        m[i / Factor::SIDE][i % Factor::SIDE] = matrix[i];
    for (int k = 0; k < Factor::SIDE; k++) {
        __syncthreads();
        const float pivot = sqrtf(m[k][k]);
        __syncthreads();
        if (row >= k && row < Factor::SIDE)
            m[row][k] /= pivot;
        __syncthreads();
        if (row < Factor::SIDE)
            for (int c = k + 1; c <= row; c++)
                m[row][c] -= m[row][k] * m[c][k];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < Factor::CELLS; i += blockDim.x)
        lower[i] = m[i / Factor::SIDE][i % Factor::SIDE];
}

inline void Factor::issue(cudaStream_t stream) const
{
    cholesky<<<1, THREADS, 0, stream>>>(dmatrix, lower);
}

inline void Factor::add_to(cudaGraph_t graph) const
{
    const void *args[] = { &dmatrix, &lower };
    cudaKernelNodeParams params = {};
    cudaGraphNode_t node;

    params.func = (void *) cholesky;
    params.gridDim = dim3(1);
    params.blockDim = dim3(THREADS);
    params.kernelParams = (void **) args;
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
}

// The lower factor times its transpose is the matrix.
inline void Factor::check(Flow &flow) const
{
    const auto l = flow.download(lower, CELLS);

    for (int i = 0; i < CELLS; i += 7) {
        const int row = i / SIDE, column = i % SIDE;
        double total = 0;
        for (int k = 0; k <= std::min(row, column); k++)
            total += (double) l[row * SIDE + k] * l[column * SIDE + k];
        flow.expect(total, matrix[i], 1e-4);
    }
}

// ---- Letters in three stages: deciphered, stirred, and the largest word of each page ----

struct Letter {
    enum { PAGES = 24, PAGE = 2048, COUNT = PAGES * PAGE, ROUNDS = 24 };
    std::vector<uint32_t> sealed;
    uint32_t *dsealed, *plain, *stirred, *most;

    Letter(Flow &flow, int number) : sealed(words(COUNT, 180 + number))
    {
        dsealed = flow.upload(sealed);
        plain = flow.zeros<uint32_t>(COUNT);
        stirred = flow.zeros<uint32_t>(COUNT);
        most = flow.zeros<uint32_t>(PAGES);
    }

    void check(Flow &flow) const;
};

__host__ __device__ inline uint32_t deciphered(uint32_t word, int i)
{
    return word ^ (uint32_t) i * 2654435769u;
}

__host__ __device__ inline uint32_t stir(uint32_t x, int rounds)
{
    for (int r = 0; r < rounds; r++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    return x;
}

__global__ void decipher(const uint32_t *sealed, uint32_t *plain)
{
    for (int i = threadIdx.x; i < Letter::PAGE; i += blockDim.x) {
        const int at = blockIdx.x * Letter::PAGE + i;
        plain[at] = deciphered(sealed[at], at);
    }
}

__global__ void stir_words(const uint32_t *plain, uint32_t *stirred)
{
    for (int i = threadIdx.x; i < Letter::PAGE; i += blockDim.x) {
        const int at = blockIdx.x * Letter::PAGE + i;
        stirred[at] = stir(plain[at], Letter::ROUNDS);
    }
}

__global__ void largest_words(const uint32_t *stirred, uint32_t *most)
{
    __shared__ uint32_t largest;
    uint32_t mine = 0;

    if (threadIdx.x == 0)
        largest = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < Letter::PAGE; i += blockDim.x)
        mine = max(mine, stirred[blockIdx.x * Letter::PAGE + i]);
    atomicMax(&largest, mine);
    __syncthreads();
    if (threadIdx.x == 0)
        most[blockIdx.x] = largest;
}

inline void Letter::check(Flow &flow) const
{
    const auto wanted = [&](size_t page) {
        uint32_t x = 0;
        for (int i = (int) page * PAGE; i < (int) (page + 1) * PAGE; i++)
            x = std::max(x, stir(deciphered(sealed[i], i), ROUNDS));
        return x;
    };
    flow.expect_some(flow.download(most, PAGES), PAGES, 5, wanted);
}

#endif
