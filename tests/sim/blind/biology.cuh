// biology.cuh - molecules and populations: fingerprints, trajectories, contacts, bent chains,
// random reactions.
#ifndef BLIND_BIOLOGY_CUH
#define BLIND_BIOLOGY_CUH

#include "blind.cuh"

// ---- Similarity (Tanimoto) of fingerprints of 1024 bits: pairs from global memory, or tiles ----

enum { PRINT_WORDS = 32, PRINT_QUERIES = 192, PRINT_LIBRARY = 2048 };

__host__ __device__ inline int ones(unsigned word)
{
#ifdef __CUDA_ARCH__
    return __popc(word);
#else
    return __builtin_popcount(word);
#endif
}

__host__ __device__ inline float similarity(const unsigned *a, const unsigned *b)
{
    int both = 0, any = 0;
    for (int k = 0; k < PRINT_WORDS; k++) {
        both += ones(a[k] & b[k]);
        any += ones(a[k] | b[k]);
    }
    return (float) both / any;
}

__global__ void tanimoto_pairs_kernel(const unsigned *query, const unsigned *library, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, q = blockIdx.y;
    out[q * PRINT_LIBRARY + i] = similarity(query + q * PRINT_WORDS, library + i * PRINT_WORDS);
}

__global__ void __launch_bounds__(256)
    tanimoto_tiles_kernel(const unsigned *query, const unsigned *library, float *out)
{
    __shared__ unsigned a[16][PRINT_WORDS + 1], b[16][PRINT_WORDS + 1];
    const int tx = threadIdx.x, ty = threadIdx.y, i0 = blockIdx.x * 16, q0 = blockIdx.y * 16;
    for (int k = tx; k < PRINT_WORDS; k += 16) {
        a[ty][k] = query[(q0 + ty) * PRINT_WORDS + k];
        b[ty][k] = library[(i0 + ty) * PRINT_WORDS + k];
    }
    __syncthreads(); // both tiles are complete
    out[(q0 + ty) * PRINT_LIBRARY + i0 + tx] = similarity(a[ty], b[tx]);
}

static void tanimoto(Run &run, bool tiles)
{
    const int n = PRINT_QUERIES * PRINT_LIBRARY;
    const std::vector<unsigned> query = words(PRINT_QUERIES * PRINT_WORDS, 711),
                                library = words(PRINT_LIBRARY * PRINT_WORDS, 712);
    unsigned *dq = run.upload(query), *dl = run.upload(library);
    float *to = run.zeros<float>(n);
    run.measure([=] {
        if (tiles)
            tanimoto_tiles_kernel<<<dim3(PRINT_LIBRARY / 16, PRINT_QUERIES / 16), dim3(16, 16)>>>(
                dq, dl, to);
        else
            tanimoto_pairs_kernel<<<dim3(PRINT_LIBRARY / 256, PRINT_QUERIES), 256>>>(dq, dl, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            return similarity(&query[i / PRINT_LIBRARY * PRINT_WORDS],
                              &library[i % PRINT_LIBRARY * PRINT_WORDS]);
        },
        1e-6, 37);
}

static void tanimoto_pairs(Run &run)
{
    tanimoto(run, false);
}

static void tanimoto_tiles(Run &run)
{
    tanimoto(run, true);
}

// ---- Distance (RMSD) of each frame of a trajectory to the first: a thread or a warp per frame
// ----

enum { RMSD_ATOMS = 48 };

struct Apart {
    float x, y, z, squares;
};

__host__ __device__ inline void add_atom(Apart &sum, const float *a, const float *b)
{
    const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    sum = { sum.x + x, sum.y + y, sum.z + z, sum.squares + x * x + y * y + z * z };
}

__host__ __device__ inline float rmsd_of(Apart sum)
{
    const float n = RMSD_ATOMS, x = sum.x / n, y = sum.y / n, z = sum.z / n;
    return sqrtf(fmaxf(sum.squares / n - x * x - y * y - z * z, 0));
}

__global__ void rmsd_thread_kernel(const float *frame, float *out, int frames)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Apart sum = {};
    if (i >= frames)
        return;
    for (int k = 0; k < RMSD_ATOMS; k++)
        add_atom(sum, frame + (i * RMSD_ATOMS + k) * 3, frame + k * 3);
    out[i] = rmsd_of(sum);
}

__global__ void rmsd_warp_kernel(const float *frame, float *out, int frames)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    Apart sum = {};
    if (i >= frames)
        return;
    for (int k = lane; k < RMSD_ATOMS; k += 32)
        add_atom(sum, frame + (i * RMSD_ATOMS + k) * 3, frame + k * 3);
    for (int apart = 16; apart; apart /= 2) {
        sum.x += __shfl_down_sync(~0u, sum.x, apart);
        sum.y += __shfl_down_sync(~0u, sum.y, apart);
        sum.z += __shfl_down_sync(~0u, sum.z, apart);
        sum.squares += __shfl_down_sync(~0u, sum.squares, apart);
    }
    if (lane == 0)
        out[i] = rmsd_of(sum);
}

static void rmsd(Run &run, bool by_warp)
{
    const int frames = 30000;
    const std::vector<float> in = floats(frames * RMSD_ATOMS * 3, 713, -8, 8);
    float *from = run.upload(in), *to = run.zeros<float>(frames);
    run.measure([=] {
        if (by_warp)
            rmsd_warp_kernel<<<blocks_for(frames * 32, 256), 256>>>(from, to, frames);
        else
            rmsd_thread_kernel<<<blocks_for(frames, 128), 128>>>(from, to, frames);
    });
    run.expect_all(
        run.output(to, frames),
        [&](size_t i) {
            Apart sum = {};
            for (int k = 0; k < RMSD_ATOMS; k++)
                add_atom(sum, &in[(i * RMSD_ATOMS + k) * 3], &in[k * 3]);
            return rmsd_of(sum);
        },
        1e-4, 13);
}

static void rmsd_thread(Run &run)
{
    rmsd(run, false);
}

static void rmsd_warp(Run &run)
{
    rmsd(run, true);
}

// ---- Contacts of atoms closer than a limit: a byte or a bit per pair ----

enum { CONTACT_ATOMS = 1792 };

__host__ __device__ inline bool in_contact(const float *x, const float *y, const float *z, int i,
                                           int k)
{
    const float dx = x[i] - x[k], dy = y[i] - y[k], dz = z[i] - z[k];
    return dx * dx + dy * dy + dz * dz < 30 * 30;
}

__global__ void contacts_bytes_kernel(const float *x, const float *y, const float *z,
                                      unsigned char *out)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    out[i * CONTACT_ATOMS + k] = in_contact(x, y, z, i, k);
}

__global__ void contacts_ballot_kernel(const float *x, const float *y, const float *z,
                                       unsigned *out)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned bits = __ballot_sync(~0u, in_contact(x, y, z, i, k));
    if (threadIdx.x == 0)
        out[(i * CONTACT_ATOMS + k) / 32] = bits;
}

// Atoms on whole coordinates: the distances are exact.
static void contacts(Run &run, bool ballot)
{
    const int n = CONTACT_ATOMS, total = n * n;
    const std::vector<int> at = integers(3 * n, 100, 714);
    const std::vector<float> place(at.begin(), at.end());
    float *x = run.upload(place), *y = x + n, *z = y + n;
    unsigned char *to = run.zeros<unsigned char>(ballot ? total / 8 : total);
    const dim3 grid(n / 32, n / 8), block(32, 8);
    run.measure([=] {
        if (ballot)
            contacts_ballot_kernel<<<grid, block>>>(x, y, z, (unsigned *) to);
        else
            contacts_bytes_kernel<<<grid, block>>>(x, y, z, to);
    });
    const std::vector<unsigned char> got = run.output(to, ballot ? total / 8 : total);
    for (int i = 0; i < total; i += 211)
        run.expect(ballot ? got[i / 8] >> i % 8 & 1 : got[i],
                   in_contact(&place[0], &place[n], &place[2 * n], i / n, i % n), 0);
}

static void contacts_bytes(Run &run)
{
    contacts(run, false);
}

static void contacts_ballot(Run &run)
{
    contacts(run, true);
}

// ---- Forces of a chain's angles: added atomically per angle, or gathered per atom ----

struct Bend {
    float3 first, last; // the force on the middle atom is minus their sum
};

__host__ __device__ inline Bend bend_force(const float *x, int i)
{
    const float *p = x + 3 * i;
    const float3 a = { p[0] - p[3], p[1] - p[4], p[2] - p[5] },
                 b = { p[6] - p[3], p[7] - p[4], p[8] - p[5] };
    const float aa = a.x * a.x + a.y * a.y + a.z * a.z, bb = b.x * b.x + b.y * b.y + b.z * b.z;
    const float scale = 1 / sqrtf(aa * bb), cosine = (a.x * b.x + a.y * b.y + a.z * b.z) * scale;
    const float k = acosf(cosine) - 1.9f, f = k / sqrtf(1 - cosine * cosine + 1e-6f);
    const float ca = cosine / aa, cb = cosine / bb;
    return { { f * (b.x * scale - a.x * ca), f * (b.y * scale - a.y * ca),
               f * (b.z * scale - a.z * ca) },
             { f * (a.x * scale - b.x * cb), f * (a.y * scale - b.y * cb),
               f * (a.z * scale - b.z * cb) } };
}

__device__ inline void add_force(float *force, int atom, float x, float y, float z)
{
    atomicAdd(&force[3 * atom], x);
    atomicAdd(&force[3 * atom + 1], y);
    atomicAdd(&force[3 * atom + 2], z);
}

__global__ void bend_atomic_kernel(const float *x, float *force, int atoms)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 2 >= atoms)
        return;
    const Bend b = bend_force(x, i);
    add_force(force, i, b.first.x, b.first.y, b.first.z);
    add_force(force, i + 1, -b.first.x - b.last.x, -b.first.y - b.last.y, -b.first.z - b.last.z);
    add_force(force, i + 2, b.last.x, b.last.y, b.last.z);
}

__host__ __device__ inline float3 gathered_force(const float *x, int i, int atoms)
{
    float3 sum = { 0, 0, 0 };
    if (i + 2 < atoms)
        sum = bend_force(x, i).first;
    if (i >= 1 && i + 1 < atoms) {
        const Bend b = bend_force(x, i - 1);
        sum = { sum.x - b.first.x - b.last.x, sum.y - b.first.y - b.last.y,
                sum.z - b.first.z - b.last.z };
    }
    if (i >= 2) {
        const float3 last = bend_force(x, i - 2).last;
        sum = { sum.x + last.x, sum.y + last.y, sum.z + last.z };
    }
    return sum;
}

__global__ void bend_gather_kernel(const float *x, float *force, int atoms)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= atoms)
        return;
    const float3 sum = gathered_force(x, i, atoms);
    force[3 * i] = sum.x;
    force[3 * i + 1] = sum.y;
    force[3 * i + 2] = sum.z;
}

static void bend(Run &run, void (*kernel)(const float *, float *, int))
{
    const int atoms = 300000;
    std::vector<float> x = floats(3 * atoms, 715, -0.4f, 0.4f);
    for (int i = 0; i < atoms; i++) { // a zigzag chain
        x[3 * i] += i;
        x[3 * i + 1] += i % 2;
    }
    float *dx = run.upload(x), *force = run.zeros<float>(3 * atoms);
    run.measure([=] { kernel<<<blocks_for(atoms, 256), 256>>>(dx, force, atoms); },
                [=] { CHECK(cudaMemset(force, 0, 3 * atoms * sizeof(float))); });
    run.expect_all(
        run.output(force, 3 * atoms),
        [&](size_t i) {
            const float3 sum = gathered_force(x.data(), i / 3, atoms);
            return i % 3 == 0 ? sum.x : i % 3 == 1 ? sum.y : sum.z;
        },
        2e-2, 101);
}

static void bend_atomic(Run &run)
{
    bend(run, bend_atomic_kernel);
}

static void bend_gather(Run &run)
{
    bend(run, bend_gather_kernel);
}

// ---- Random reactions (Gillespie) of predators and prey: a trajectory per thread ----

__host__ __device__ inline float next_part(unsigned &state)
{
    state = state * 1664525u + 1013904223u;
    return ((state >> 8) + 0.5f) * 0x1p-24f;
}

__host__ __device__ inline int2 react(unsigned seed, float until, int *steps)
{
    unsigned state = seed * 2654435761u + 12345u;
    int prey = 40 + seed % 32, hunters = 30;
    float time = 0;
    for (*steps = 0; prey + hunters > 0; ++*steps) {
        const float born = 1.0f * prey, eaten = 0.02f * prey * hunters, died = 0.8f * hunters;
        const float all = born + eaten + died;
        time -= logf(next_part(state)) / all;
        if (time > until)
            break;
        const float pick = next_part(state) * all;
        if (pick < born) {
            prey++;
        } else if (pick < born + eaten) {
            prey--;
            hunters++;
        } else {
            hunters--;
        }
    }
    return { prey, hunters };
}

__global__ void gillespie_kernel(int2 *out, int *steps, float until, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = react(i, until, &steps[i]);
}

// A step at another side of a limit changes one trajectory: the means hardly change.
static void gillespie(Run &run)
{
    const int n = 7000;
    int2 *to = run.zeros<int2>(n);
    int *steps = run.zeros<int>(n);
    run.measure([=] { gillespie_kernel<<<blocks_for(n, 64), 64>>>(to, steps, 1.5f, n); });
    const std::vector<int2> got = run.output(to, n);
    const std::vector<int> took = run.output(steps, n);
    double prey = 0, hunters = 0, all = 0, wanted_prey = 0, wanted_hunters = 0, wanted_all = 0;
    for (int i = 0; i < n; i++) {
        int count;
        const int2 wanted = react(i, 1.5f, &count);
        prey += got[i].x;
        hunters += got[i].y;
        all += took[i];
        wanted_prey += wanted.x;
        wanted_hunters += wanted.y;
        wanted_all += count;
    }
    run.expect(prey, wanted_prey, 0.01);
    run.expect(hunters, wanted_hunters, 0.01);
    run.expect(all, wanted_all, 0.01);
}

#endif
