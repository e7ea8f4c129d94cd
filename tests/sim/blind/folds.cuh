// folds.cuh - residues of proteins: contact maps, half-sphere exposure by cells, contact energies,
// agreement of models with a reference.
#ifndef BLIND_FOLDS_CUH
#define BLIND_FOLDS_CUH

#include "blind.cuh"

// Coordinates are multiples of 1/8, so that squares of distances are exact.
__host__ __device__ inline float fold_distance2(float4 a, float4 b)
{
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
}

// ---- Proteins of 80 to 579 residues, the longest first ----

enum { FOLD_PROTEINS = 26, FOLD_SHORTEST = 80, FOLD_SPREAD = 500 };

struct FoldChains {
    std::vector<int> first, protein; // first: per protein, then the end; protein: per residue
    std::vector<float4> at;
};

static FoldChains fold_chains()
{
    FoldChains c;
    std::vector<int> lengths = integers(FOLD_PROTEINS, FOLD_SPREAD, 17540);
    std::sort(lengths.begin(), lengths.end(), std::greater<int>());
    c.first.push_back(0);
    for (int p = 0; p < FOLD_PROTEINS; p++) {
        c.protein.insert(c.protein.end(), lengths[p] + FOLD_SHORTEST, p);
        c.first.push_back((int) c.protein.size());
    }
    const std::vector<int> steps = integers(3 * c.protein.size(), 49, 17541);
    int x = 0, y = 0, z = 0;
    for (size_t i = 0; i < c.protein.size(); i++) {
        x = x * 15 / 16 + steps[3 * i] - 24;
        y = y * 15 / 16 + steps[3 * i + 1] - 24;
        z = z * 15 / 16 + steps[3 * i + 2] - 24;
        c.at.push_back(make_float4(x * 0.125f, y * 0.125f, z * 0.125f, 0));
    }
    return c;
}

// ---- Contact maps: a thread per pair of residues, or per row ----

// Where the maps begin, per protein.
static std::vector<int> fold_maps(const FoldChains &c)
{
    std::vector<int> maps(1, 0);
    for (int p = 0; p < FOLD_PROTEINS; p++) {
        const int n = c.first[p + 1] - c.first[p];
        maps.push_back(maps[p] + n * n);
    }
    return maps;
}

__global__ void fold_map_pairs_kernel(const float4 *at, const int *first, const int *maps,
                                      unsigned char *out)
{
    const int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y, p = blockIdx.z;
    const int begin = first[p], n = first[p + 1] - begin;
    if (i < n && j < n)
        out[maps[p] + i * n + j] = fold_distance2(at[begin + i], at[begin + j]) <= 64;
}

__global__ void fold_map_rows_kernel(const float4 *at, const int *first, const int *protein,
                                     const int *maps, int residues, unsigned char *out)
{
    const int at_row = blockIdx.x * blockDim.x + threadIdx.x;
    if (at_row >= residues)
        return;
    const int p = protein[at_row], begin = first[p], n = first[p + 1] - begin;
    const float4 mine = at[at_row];
    unsigned char *row = out + maps[p] + (at_row - begin) * n;
    for (int j = 0; j < n; j++)
        row[j] = fold_distance2(mine, at[begin + j]) <= 64;
}

static void fold_map(Run &run, bool rows)
{
    const FoldChains c = fold_chains();
    const std::vector<int> maps = fold_maps(c);
    const int residues = (int) c.at.size(), longest = c.first[1];
    const float4 *at = run.upload(c.at);
    const int *first = run.upload(c.first), *protein = run.upload(c.protein);
    const int *dm = run.upload(maps);
    unsigned char *to = run.zeros<unsigned char>(maps.back());
    const dim3 grid((longest + 31) / 32, (longest + 7) / 8, FOLD_PROTEINS), block(32, 8);
    run.measure([=] {
        if (rows)
            fold_map_rows_kernel<<<blocks_for(residues, 128), 128>>>(at, first, protein, dm,
                                                                     residues, to);
        else
            fold_map_pairs_kernel<<<grid, block>>>(at, first, dm, to);
    });
    const std::vector<unsigned char> got = run.output(to, maps.back());
    for (int i = 0; i < residues; i += 11) {
        const int p = c.protein[i], begin = c.first[p], n = c.first[p + 1] - begin;
        for (int j = 0; j < n; j++)
            run.expect(got[maps[p] + (i - begin) * n + j],
                       fold_distance2(c.at[i], c.at[begin + j]) <= 64, 0);
    }
}

static void fold_map_pairs(Run &run)
{
    fold_map(run, false);
}

static void fold_map_rows(Run &run)
{
    fold_map(run, true);
}

// ---- Half-sphere exposure: neighbours within 10 on both sides of a residue, by cells ----

enum { FOLD_RESIDUES = 12200, FOLD_CELLS = 12 };

struct FoldGrid {
    const float4 *at, *side; // sorted by cell
    const int *first;        // per cell
};

__host__ __device__ inline int fold_cell(int x, int y, int z)
{
    return (z * FOLD_CELLS + y) * FOLD_CELLS + x;
}

__host__ __device__ inline void fold_count(float4 mine, float4 side, float4 other, int2 *count)
{
    if (fold_distance2(mine, other) > 100)
        return;
    const float dot =
        side.x * (other.x - mine.x) + side.y * (other.y - mine.y) + side.z * (other.z - mine.z);
    if (dot > 0)
        count->x++;
    if (dot < 0)
        count->y++;
}

__host__ __device__ inline int2 fold_exposure(const FoldGrid &grid, int i)
{
    const float4 mine = grid.at[i], side = grid.side[i];
    const int cx = (int) (mine.x / 10), cy = (int) (mine.y / 10), cz = (int) (mine.z / 10);
    int2 count = { 0, 0 };
    for (int k = 0; k < 27; k++) {
        const int x = cx + k % 3 - 1, y = cy + k / 3 % 3 - 1, z = cz + k / 9 - 1;
        if (x < 0 || y < 0 || z < 0 || x >= FOLD_CELLS || y >= FOLD_CELLS || z >= FOLD_CELLS)
            continue;
        const int cell = fold_cell(x, y, z), end = grid.first[cell + 1];
        for (int j = grid.first[cell]; j < end; j++)
            fold_count(mine, side, grid.at[j], &count);
    }
    return count;
}

__global__ void fold_exposure_thread_kernel(FoldGrid grid, int2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < FOLD_RESIDUES)
        out[i] = fold_exposure(grid, i);
}

// A block of 64 threads per cell: residues of a neighbour cell go to shared memory.
__device__ inline void fold_with_cell(const FoldGrid &grid, int cell, bool active, float4 mine,
                                      float4 side, int2 *count)
{
    __shared__ float4 others[64];
    const int end = grid.first[cell + 1];
    for (int from = grid.first[cell]; from < end; from += 64) {
        const int n = min(64, end - from);
        __syncthreads();
        if ((int) threadIdx.x < n)
            others[threadIdx.x] = grid.at[from + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < n && active; j++)
            fold_count(mine, side, others[j], count);
    }
}

__global__ void fold_exposure_cell_kernel(FoldGrid grid, int2 *out)
{
    const int cx = blockIdx.x, cy = blockIdx.y, cz = blockIdx.z, cell = fold_cell(cx, cy, cz);
    const int end = grid.first[cell + 1];
    for (int from = grid.first[cell]; from < end; from += 64) {
        const int i = from + threadIdx.x;
        const bool active = i < end;
        const float4 mine = grid.at[active ? i : from], side = grid.side[active ? i : from];
        int2 count = { 0, 0 };
        for (int z = max(cz - 1, 0); z <= min(cz + 1, FOLD_CELLS - 1); z++)
            for (int y = max(cy - 1, 0); y <= min(cy + 1, FOLD_CELLS - 1); y++)
                for (int x = max(cx - 1, 0); x <= min(cx + 1, FOLD_CELLS - 1); x++)
                    fold_with_cell(grid, fold_cell(x, y, z), active, mine, side, &count);
        if (active)
            out[i] = count;
    }
}

// Residues are denser in the middle. Coordinates are below 120, in units of 1/8.
static void fold_fill(std::vector<float4> &at, std::vector<float4> &side, std::vector<int> &first)
{
    const std::vector<int> half = integers(6 * FOLD_RESIDUES, 480, 17542);
    const std::vector<int> turn = integers(3 * FOLD_RESIDUES, 9, 17543);
    std::vector<std::vector<float4>> cells(FOLD_CELLS * FOLD_CELLS * FOLD_CELLS);
    for (int i = 0; i < FOLD_RESIDUES; i++) {
        const int x = half[6 * i] + half[6 * i + 1], y = half[6 * i + 2] + half[6 * i + 3];
        const int z = half[6 * i + 4] + half[6 * i + 5];
        cells[fold_cell(x / 80, y / 80, z / 80)].push_back(
            make_float4(x * 0.125f, y * 0.125f, z * 0.125f, 0));
    }
    for (const std::vector<float4> &cell : cells) {
        first.push_back((int) at.size());
        at.insert(at.end(), cell.begin(), cell.end());
    }
    first.push_back(FOLD_RESIDUES);
    for (int i = 0; i < FOLD_RESIDUES; i++)
        side.push_back(make_float4(turn[3 * i] - 4, turn[3 * i + 1] - 4, turn[3 * i + 2] - 4, 0));
}

static void fold_exposures(Run &run, bool by_cell)
{
    std::vector<float4> at, side;
    std::vector<int> first;
    fold_fill(at, side, first);
    const FoldGrid grid = { run.upload(at), run.upload(side), run.upload(first) };
    int2 *to = run.zeros<int2>(FOLD_RESIDUES);
    run.measure([=] {
        if (by_cell)
            fold_exposure_cell_kernel<<<dim3(FOLD_CELLS, FOLD_CELLS, FOLD_CELLS), 64>>>(grid, to);
        else
            fold_exposure_thread_kernel<<<blocks_for(FOLD_RESIDUES, 64), 64>>>(grid, to);
    });
    const FoldGrid host = { at.data(), side.data(), first.data() };
    const std::vector<int2> got = run.output(to, FOLD_RESIDUES);
    for (int i = 0; i < FOLD_RESIDUES; i += 7) {
        const int2 wanted = fold_exposure(host, i);
        run.expect(got[i].x, wanted.x, 0);
        run.expect(got[i].y, wanted.y, 0);
    }
}

static void fold_exposure_thread(Run &run)
{
    fold_exposures(run, false);
}

static void fold_exposure_cell(Run &run)
{
    fold_exposures(run, true);
}

// ---- Energies of contacts in lists: the table of 20 x 20 kinds in constant or shared memory ----

enum { FOLD_ATOMS = 170000, FOLD_CONTACTS = 40, FOLD_KINDS = 20 };

__constant__ float fold_constant_table[FOLD_KINDS * FOLD_KINDS];

// `list`: the k-th contact of atom i is at k * FOLD_ATOMS + i. The kind of an atom is in at[i].w.
__host__ __device__ inline float fold_energy(const float4 *at, const int *list, int count, int i,
                                             const float *table)
{
    const float4 mine = at[i];
    const float *row = table + (int) mine.w * FOLD_KINDS;
    float sum = 0;
    for (int k = 0; k < count; k++) {
        const float4 other = at[list[k * FOLD_ATOMS + i]];
        const float d2 = fold_distance2(mine, other) * 0.02f;
        sum += row[(int) other.w] / (1 + d2 * d2);
    }
    return sum;
}

__global__ void fold_energy_constant_kernel(const float4 *at, const int *list, const int *counts,
                                            float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < FOLD_ATOMS)
        out[i] = fold_energy(at, list, counts[i], i, fold_constant_table);
}

__global__ void fold_energy_shared_kernel(const float4 *at, const int *list, const int *counts,
                                          const float *table, float *out)
{
    __shared__ float mine[FOLD_KINDS * FOLD_KINDS];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = threadIdx.x; k < FOLD_KINDS * FOLD_KINDS; k += blockDim.x)
        mine[k] = table[k];
    __syncthreads();
    if (i < FOLD_ATOMS)
        out[i] = fold_energy(at, list, counts[i], i, mine);
}

static std::vector<float4> fold_atoms()
{
    const std::vector<float> p = floats(3 * FOLD_ATOMS, 17544, 0, 16);
    const std::vector<int> kinds = integers(FOLD_ATOMS, FOLD_KINDS, 17545);
    std::vector<float4> at(FOLD_ATOMS);
    for (int i = 0; i < FOLD_ATOMS; i++)
        at[i] = make_float4(p[3 * i], p[3 * i + 1], p[3 * i + 2], (float) kinds[i]);
    return at;
}

static void fold_energies(Run &run, bool shared)
{
    const std::vector<float> table = floats(FOLD_KINDS * FOLD_KINDS, 17546);
    const std::vector<float4> at = fold_atoms();
    std::vector<int> counts = integers(FOLD_ATOMS, FOLD_CONTACTS - 15, 17547);
    std::vector<int> list = integers((size_t) FOLD_ATOMS * FOLD_CONTACTS, 400, 17548);
    for (size_t k = 0; k < list.size(); k++)
        list[k] = (int) (k + FOLD_ATOMS - 200 + list[k]) % FOLD_ATOMS;
    for (int &count : counts)
        count += 16;
    const float4 *da = run.upload(at);
    const int *dl = run.upload(list), *dc = run.upload(counts);
    const float *dt = run.upload(table);
    float *to = run.zeros<float>(FOLD_ATOMS);
    CHECK(cudaMemcpyToSymbol(fold_constant_table, table.data(), table.size() * sizeof(float)));
    const int blocks = blocks_for(FOLD_ATOMS, 192);
    run.measure([=] {
        if (shared)
            fold_energy_shared_kernel<<<blocks, 192>>>(da, dl, dc, dt, to);
        else
            fold_energy_constant_kernel<<<blocks, 192>>>(da, dl, dc, to);
    });
    run.expect_all(
        run.output(to, FOLD_ATOMS),
        [&](size_t i) {
            return fold_energy(at.data(), list.data(), counts[i], (int) i, table.data());
        },
        1e-4, 67);
}

static void fold_energy_constant(Run &run)
{
    fold_energies(run, false);
}

static void fold_energy_shared(Run &run)
{
    fold_energies(run, true);
}

// ---- Distances below 15 that a model keeps: a thread or a warp per residue ----

// Adds to `kept` how many of 4 limits the change of a distance keeps, and counts the distance.
__host__ __device__ inline void fold_compare(float reference2, float model2, int *kept, int *count)
{
    if (reference2 > 225)
        return;
    const float change = fabsf(sqrtf(reference2) - sqrtf(model2));
    *kept += (change < 0.5f) + (change < 1) + (change < 2) + (change < 4);
    ++*count;
}

__host__ __device__ inline float fold_agreement(const float4 *reference, const float4 *model,
                                                int begin, int end, int i)
{
    int kept = 0, count = 0;
    for (int j = begin; j < end; j++)
        if (j != i)
            fold_compare(fold_distance2(reference[i], reference[j]),
                         fold_distance2(model[i], model[j]), &kept, &count);
    return count ? kept / (4.0f * count) : 0;
}

__global__ void fold_agree_thread_kernel(const float4 *reference, const float4 *model,
                                         const int *first, const int *protein, int n, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = fold_agreement(reference, model, first[protein[i]], first[protein[i] + 1], i);
}

__global__ void fold_agree_warp_kernel(const float4 *reference, const float4 *model,
                                       const int *first, const int *protein, int n, float *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= n)
        return;
    const int end = first[protein[i] + 1];
    const float4 r = reference[i], m = model[i];
    int kept = 0, count = 0;
    for (int j = first[protein[i]] + lane; j < end; j += 32)
        if (j != i)
            fold_compare(fold_distance2(r, reference[j]), fold_distance2(m, model[j]), &kept,
                         &count);
    kept = __reduce_add_sync(~0u, kept);
    count = __reduce_add_sync(~0u, count);
    if (lane == 0)
        out[i] = count ? kept / (4.0f * count) : 0;
}

static void fold_agree(Run &run, bool warps)
{
    const FoldChains c = fold_chains();
    const int n = (int) c.at.size();
    const std::vector<int> moves = integers(3 * n, 25, 17549);
    std::vector<float4> model(c.at);
    for (int i = 0; i < n; i++) {
        model[i].x += (moves[3 * i] - 12) * 0.125f;
        model[i].y += (moves[3 * i + 1] - 12) * 0.125f;
        model[i].z += (moves[3 * i + 2] - 12) * 0.125f;
    }
    const float4 *dr = run.upload(c.at), *dm = run.upload(model);
    const int *df = run.upload(c.first), *dp = run.upload(c.protein);
    float *to = run.zeros<float>(n);
    run.measure([=] {
        if (warps)
            fold_agree_warp_kernel<<<blocks_for(32 * n, 256), 256>>>(dr, dm, df, dp, n, to);
        else
            fold_agree_thread_kernel<<<blocks_for(n, 128), 128>>>(dr, dm, df, dp, n, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            const int begin = c.first[c.protein[i]], end = c.first[c.protein[i] + 1];
            return fold_agreement(c.at.data(), model.data(), begin, end, (int) i);
        },
        1e-5, 31);
}

static void fold_agree_thread(Run &run)
{
    fold_agree(run, false);
}

static void fold_agree_warp(Run &run)
{
    fold_agree(run, true);
}

#endif
