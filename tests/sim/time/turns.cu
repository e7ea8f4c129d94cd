// turns.cu - measures how an SM assigns warps to slots and whose accesses it serves first, with the
// GPU's clock and warp slots, as a basis for the timing model.
//
//     nvcc -O3 -arch=native -o turns tests/sim/time/turns.cu && ./turns
//
// The slot of a warp is %warpid; slots that are equal modulo 4 belong to the same scheduler.
// turns.txt has the results of an H200. The simulated GPU has no warp slots; test_sim_time_issue.c
// checks that it agrees with the H200.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

enum { WARP = 32, SCHEDULERS = 4, TILE = 32, STEPS = 6 };

static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "turns: %s\n", cudaGetErrorString(error));
    exit(1);
}

// Volatile, like the code around it, so that the compiler cannot reorder it.
static __device__ long long now()
{
    long long cycle;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycle)::"memory");
    return cycle;
}

static __device__ unsigned sm_of_warp()
{
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;
}

// ---- Which schedulers do a block's warps go to? ----

struct Seat {
    unsigned sm, slot;
    long long start;
};

// All warps have the same work; the first two of a block have most of it; or each has different
// work.
typedef enum Work { EVEN, FIRST_TWO, ANY } Work;

__global__ void take_seats(Seat *seats, Work work)
{
    int warp = threadIdx.x / WARP, warps = blockDim.x / WARP, rounds = 500;
    unsigned any = blockIdx.x * 2654435761u + 12345u, slot;
    long long start = now();
    float x = threadIdx.x;

    asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
    if (work == FIRST_TWO)
        rounds = warp < 2 ? rounds + (any >> 22) : 10;
    if (work == ANY)
        rounds += any * (warp + 1) >> 22;
    for (int i = 0; i < rounds; i++)
        x = x * 1.0001f + 1;
    if (threadIdx.x % WARP == 0 && x != 1.5f) // so that x is used
        seats[blockIdx.x * warps + warp] = { sm_of_warp(), slot, start };
}

// Prints the slots of the blocks of one SM, in the order in which the blocks began.
static void tell(const std::vector<Seat> &s, int blocks, int warps)
{
    std::vector<int> here;
    for (int b = 0; b < blocks; b++)
        if (s[b * warps].sm == s[0].sm)
            here.push_back(b);
    std::sort(here.begin(), here.end(),
              [&](int p, int q) { return s[p * warps].start < s[q * warps].start; });
    for (size_t i = 0; i < here.size() && i < 24; i++) {
        printf("  %lld:", s[here[i] * warps].start - s[here[0] * warps].start);
        for (int w = 0; w < warps; w++)
            printf(" %u", s[here[i] * warps + w].slot);
        printf("\n");
    }
}

static void place(Work work, int warps)
{
    const int blocks = 8448; // several for each place of a large GPU
    int first[SCHEDULERS] = { 0 }, in_turn = 0;
    std::vector<Seat> s(blocks * warps);
    Seat *seats;
    check(cudaMalloc(&seats, sizeof *seats * s.size()));
    take_seats<<<blocks, warps * WARP>>>(seats, work);
    check(cudaMemcpy(s.data(), seats, sizeof *seats * s.size(), cudaMemcpyDeviceToHost));

    for (int b = 0; b < blocks; b++) {
        const Seat *block = &s[b * warps];
        bool well = true;
        for (int w = 0; w < warps; w++)
            well &= block[w].slot % SCHEDULERS == (block->slot + w) % SCHEDULERS;
        first[block->slot % SCHEDULERS]++;
        in_turn += well;
    }
    printf("place %d warps, work %d: in turn %.3f of %d blocks; warp 0 on scheduler %d %d %d %d\n",
           warps, work, (double) in_turn / blocks, blocks, first[0], first[1], first[2], first[3]);
    if (warps == 3 || warps == 8)
        tell(s, blocks, warps);
    check(cudaFree(seats));
}

// ---- Whose accesses come first? ----

struct Steps {
    long long at[STEPS]; // begun, loads issued, values arrived, stored, after the barrier, ended
};

static __device__ float load(const float *p)
{
    float x;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(x) : "l"(p) : "memory");
    return x;
}

static __device__ float used(float x)
{
    float same;
    asm volatile("add.f32 %0, %1, 0f00000000;" : "=f"(same) : "f"(x) : "memory");
    return same;
}

static __device__ void store(float *p, float x)
{
    asm volatile("st.shared.f32 [%0], %1;" ::"r"((unsigned) __cvta_generic_to_shared(p)), "f"(x)
                 : "memory");
}

// As in rung 4 of lab 02 with d = 64: a block loads two tiles into shared memory, then each warp
// reads from it, twice per step.
__global__ void load_then_read(float *out, const float *in, Steps *steps)
{
    enum { D = 64, PITCH = D + 1 };
    extern __shared__ float shared[];
    float *a = shared + threadIdx.y * PITCH, *b = shared + (TILE + threadIdx.x) * PITCH;
    const float *from = in + (blockIdx.x % 128 * TILE + threadIdx.y) * D + threadIdx.x;
    long long at[STEPS] = { now() };

    float x[4] = { load(from), load(from + TILE), load(from + TILE * D),
                   load(from + TILE * D + TILE) };
    at[1] = now();
    for (int i = 0; i < 4; i++)
        x[i] = used(x[i]);
    at[2] = now();
    for (int i = 0; i < 4; i++)
        store(shared + (i / 2 * TILE + threadIdx.y) * PITCH + i % 2 * TILE + threadIdx.x, x[i]);
    at[3] = now();

    // All warps have filled both tiles before any warp reads them.
    __syncthreads();
    at[4] = now();
    float sum = 0;
    for (int k = 0; k < D; k++) {
        float difference = a[k] - b[k];
        sum += difference * difference;
    }
    sum = used(sum);
    at[5] = now();
    out[blockIdx.x * TILE * TILE + threadIdx.y * TILE + threadIdx.x] = sum;
    for (int i = 0; i < STEPS && threadIdx.x == 0; i++)
        steps[blockIdx.x * TILE + threadIdx.y].at[i] = at[i];
}

// With as many blocks per SM as fit, or with one, which then uses the maximum of shared memory.
static void serve(const char *name, bool alone)
{
    const int blocks = 128 * 128;
    int device, most, a_sm;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const size_t bytes = alone ? most : 2 * TILE * 65 * sizeof(float);
    float *in, *out;
    Steps *steps;
    check(cudaMalloc(&in, sizeof *in * 129 * TILE * 64));
    check(cudaMemset(in, 0, sizeof *in * 129 * TILE * 64));
    check(cudaMalloc(&out, sizeof *out * blocks * TILE * TILE));
    check(cudaMalloc(&steps, sizeof *steps * blocks * TILE));
    check(cudaFuncSetAttribute(load_then_read, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               (int) bytes));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a_sm, load_then_read, TILE * TILE, bytes));
    for (int i = 0; i < 3; i++)
        load_then_read<<<blocks, dim3(TILE, TILE), bytes>>>(out, in, steps);
    std::vector<Steps> s(blocks * TILE);
    check(cudaMemcpy(s.data(), steps, sizeof *steps * s.size(), cudaMemcpyDeviceToHost));

    double mean[STEPS] = { 0 };
    for (int b = 0; b < blocks; b++) {
        long long start = s[b * TILE].at[0];
        for (int w = 0; w < TILE; w++)
            start = std::min(start, s[b * TILE + w].at[0]);
        for (int w = 0; w < TILE; w++)
            for (int i = 0; i < STEPS; i++)
                mean[i] += (double) (s[b * TILE + w].at[i] - start) / blocks / TILE;
    }
    printf("serve %s, %d blocks per SM: begun %.0f issued %.0f there %.0f stored %.0f behind %.0f "
           "ended %.0f\n",
           name, a_sm, mean[0], mean[1], mean[2], mean[3], mean[4], mean[5]);
    check(cudaFree(in));
    check(cudaFree(out));
    check(cudaFree(steps));
}

int main()
{
    for (Work work : { EVEN, FIRST_TWO, ANY })
        for (int warps : { 1, 2, 3, 4, 5, 8, 12, 32 })
            place(work, warps);
    serve("alone", true);
    serve("together", false);
    check(cudaDeviceSynchronize());
    return 0;
}
