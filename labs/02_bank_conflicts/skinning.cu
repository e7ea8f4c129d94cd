// skinning.cu - the skin of a figure follows its bones: where should the bones' matrices be?
//
// Each vertex belongs to four bones, with a share of each. The kernels differ only in the memory
// from which they read the matrices. README.md, "Find out why", says what to do with this program.
// Usage: skinning [VERTICES [sorted]]
#include "cudalab.cuh"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

enum { BONES = 30, ROWS = 4, BLOCK = 256 };

// A bone is a matrix of 4 x 4 floats: four float4. The last row of each is 0 0 0 1, so only three
// are used.
__constant__ float4 constant_bones[BONES * ROWS];

struct Mesh {
    int vertices;
    const int4 *bones;
    const float4 *shares, *position;
    float4 *moved;
};

// The sum of a bone's three products, times its share.
static __device__ float3 follow(float3 sum, float share, float4 p, float4 x, float4 y, float4 z)
{
    sum.x += share * (x.x * p.x + x.y * p.y + x.z * p.z + x.w);
    sum.y += share * (y.x * p.x + y.y * p.y + y.z * p.z + y.w);
    sum.z += share * (z.x * p.x + z.y * p.y + z.z * p.z + z.w);
    return sum;
}

// One vertex per thread. row(b, r) is row r of bone b, wherever it is.
template <class Row> static __device__ void move(const Mesh &mesh, Row row)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i >= mesh.vertices)
        return;
    const int4 b = mesh.bones[i];
    const float4 share = mesh.shares[i], p = mesh.position[i];
    float3 at = make_float3(0, 0, 0);
    at = follow(at, share.x, p, row(b.x, 0), row(b.x, 1), row(b.x, 2));
    at = follow(at, share.y, p, row(b.y, 0), row(b.y, 1), row(b.y, 2));
    at = follow(at, share.z, p, row(b.z, 0), row(b.z, 1), row(b.z, 2));
    at = follow(at, share.w, p, row(b.w, 0), row(b.w, 1), row(b.w, 2));
    mesh.moved[i] = make_float4(at.x, at.y, at.z, 1);
}

// The bones stay in global memory. They have 1920 bytes, so L1 keeps them.
__global__ void from_global(Mesh mesh, const float4 *bones)
{
    move(mesh, [=](int b, int r) { return bones[b * ROWS + r]; });
}

// A copy in shared memory. PITCH float4 lie between the first rows of two bones.
template <int PITCH>
static __device__ void move_by_copy(const Mesh &mesh, const float4 *bones, float4 *copy)
{
    for (int i = threadIdx.x; i < BONES * ROWS; i += BLOCK)
        copy[i / ROWS * PITCH + i % ROWS] = bones[i];
    __syncthreads();
    move(mesh, [=](int b, int r) { return copy[b * PITCH + r]; });
}

__global__ void from_shared(Mesh mesh, const float4 *bones)
{
    __shared__ float4 copy[BONES * ROWS];

    move_by_copy<ROWS>(mesh, bones, copy);
}

__global__ void from_padded(Mesh mesh, const float4 *bones)
{
    __shared__ float4 copy[BONES * (ROWS + 1)];

    move_by_copy<ROWS + 1>(mesh, bones, copy);
}

// A copy with one bone per column: 32 columns, one for each bank.
__global__ void from_columns(Mesh mesh, const float4 *bones)
{
    __shared__ float copy[ROWS * 4][32];

    for (int i = threadIdx.x; i < BONES * ROWS * 4; i += BLOCK)
        copy[i % 16][i / 16] = ((const float *) bones)[i];
    __syncthreads();
    move(mesh, [&](int b, int r) {
        return make_float4(copy[4 * r][b], copy[4 * r + 1][b], copy[4 * r + 2][b],
                           copy[4 * r + 3][b]);
    });
}

__global__ void from_constant(Mesh mesh)
{
    move(mesh, [](int b, int r) { return constant_bones[b * ROWS + r]; });
}

enum Place { GLOBAL, SHARED, PADDED, COLUMNS, CONSTANT, PLACES };
static const char *const place_name[] = { "global", "shared", "shared, padded", "shared, columns",
                                          "constant" };

static void launch(Place place, const Mesh &mesh, const float4 *bones)
{
    const int blocks = ceil_div(mesh.vertices, BLOCK);

    if (place == GLOBAL)
        from_global<<<blocks, BLOCK>>>(mesh, bones);
    else if (place == SHARED)
        from_shared<<<blocks, BLOCK>>>(mesh, bones);
    else if (place == PADDED)
        from_padded<<<blocks, BLOCK>>>(mesh, bones);
    else if (place == COLUMNS)
        from_columns<<<blocks, BLOCK>>>(mesh, bones);
    else
        from_constant<<<blocks, BLOCK>>>(mesh);
    CUDA_CHECK(cudaGetLastError());
}

// ---- The mesh: vertices in any order, or sorted by their bones ----

static unsigned scrambled(unsigned x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// A number from 0 to 1.
static float unit(unsigned x)
{
    return (float) (scrambled(x) >> 8) / 16777216.0f;
}

static int4 bones_of(int vertex, int vertices, bool sorted)
{
    const unsigned r = scrambled(vertex);
    const int first = (int) ((long long) vertex * BONES / vertices);

    return sorted ? make_int4(first, (first + 1) % BONES, (first + 2) % BONES, (first + 3) % BONES)
                  : make_int4(r % BONES, (r >> 8) % BONES, (r >> 16) % BONES, (r >> 24) % BONES);
}

static std::vector<float4> numbers(int count, unsigned seed)
{
    std::vector<float4> made(count);

    for (float4 &four : made) {
        four = make_float4(unit(seed), unit(seed + 1), unit(seed + 2), unit(seed + 3));
        seed += 4;
    }
    return made;
}

template <class T> static T *on_device(const std::vector<T> &from)
{
    T *to;

    CUDA_CHECK(cudaMalloc(&to, from.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

static Mesh make_mesh(int vertices, bool sorted)
{
    std::vector<int4> bones(vertices);

    for (int i = 0; i < vertices; i++)
        bones[i] = bones_of(i, vertices, sorted);
    return { vertices, on_device(bones), on_device(numbers(vertices, 1u << 30)),
             on_device(numbers(vertices, 2u << 30)), on_device(numbers(vertices, 0)) };
}

static void free_mesh(const Mesh &mesh)
{
    CUDA_CHECK(cudaFree((void *) mesh.bones));
    CUDA_CHECK(cudaFree((void *) mesh.shares));
    CUDA_CHECK(cudaFree((void *) mesh.position));
    CUDA_CHECK(cudaFree(mesh.moved));
}

static const float4 *make_bones()
{
    const std::vector<float4> rows = numbers(BONES * ROWS, 3u << 30);

    CUDA_CHECK(cudaMemcpyToSymbol(constant_bones, rows.data(), sizeof constant_bones));
    return on_device(rows);
}

// ---- Time, and whether all places give the same result ----

static float sum_of(const Mesh &mesh)
{
    std::vector<float4> moved(mesh.vertices);
    double sum = 0;

    CUDA_CHECK(cudaMemcpy(moved.data(), mesh.moved, moved.size() * sizeof(float4),
                          cudaMemcpyDeviceToHost));
    for (const float4 &at : moved)
        sum += at.x + 2 * at.y + 3 * at.z;
    return (float) sum;
}

// The fastest of several calls, in microseconds.
static float time_of(Place place, const Mesh &mesh, const float4 *bones)
{
    cudaEvent_t start, stop;
    float ms, best = 1e9f;

    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&stop));
    CUDA_CHECK(cudaMemset(mesh.moved, 0xff, mesh.vertices * sizeof(float4)));
    for (int i = 0; i < 4; i++) {
        CUDA_CHECK(cudaEventRecord(start));
        launch(place, mesh, bones);
        CUDA_CHECK(cudaEventRecord(stop));
        CUDA_CHECK(cudaEventSynchronize(stop));
        CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
        best = ms < best ? ms : best;
    }
    CUDA_CHECK(cudaEventDestroy(start));
    CUDA_CHECK(cudaEventDestroy(stop));
    return best * 1000;
}

static void measure(int vertices, bool sorted)
{
    const Mesh mesh = make_mesh(vertices, sorted);
    const float4 *bones = make_bones();
    float expected = 0;

    printf("%d vertices, %s\n", vertices, sorted ? "sorted by their bones" : "in any order");
    for (int place = GLOBAL; place < PLACES; place++) {
        const float us = time_of((Place) place, mesh, bones), sum = sum_of(mesh);
        expected = place == GLOBAL ? sum : expected;
        printf("  %-16s %8.1f us%s\n", place_name[place], us,
               fabsf(sum - expected) <= 1e-5f * expected ? "" : "  WRONG RESULT");
    }
    free_mesh(mesh);
    CUDA_CHECK(cudaFree((void *) bones));
}

int main(int count, char **argument)
{
    const int vertices = count > 1 ? atoi(argument[1]) : 1 << 18;
    const bool sorted = count == 3 && !strcmp(argument[2], "sorted");

    if (vertices < 1 || vertices > 1 << 26 || count > 3 || (count == 3 && !sorted)) {
        fprintf(stderr, "usage: skinning [VERTICES [sorted]]; at most %d vertices\n", 1 << 26);
        return 2;
    }
    measure(vertices, sorted);
    return 0;
}
