// packs.cuh - battery packs: heat between cells, models of cells, the weakest cells of strings.
#ifndef BLIND_PACKS_CUH
#define BLIND_PACKS_CUH

#include "blind.cuh"

// ---- Heat that flows between cells: rows of neighbours, padded rows, or edges with atomics ----

enum { PACK_CELLS = 900000, PACK_REACH = 400 };

struct PackNetwork {
    std::vector<int> from, to, starts, neighbours;
    std::vector<float> edge_conducts, conducts;
    int width = 0; // the largest number of neighbours
};

// Each cell has 1 to 5 edges to cells at most PACK_REACH further on.
static void pack_edges(PackNetwork &net)
{
    const std::vector<uint32_t> random = words(6 * PACK_CELLS, 15900);
    for (int i = 0; i < PACK_CELLS; i++)
        for (uint32_t k = 0; k < 1 + random[6 * i] % 5; k++) {
            const uint32_t r = random[6 * i + 1 + k];
            net.from.push_back(i);
            net.to.push_back((int) ((i + 1 + r % PACK_REACH) % PACK_CELLS));
            net.edge_conducts.push_back(0.001f + 0.00001f * (r >> 16 & 1023));
        }
}

static PackNetwork pack_network()
{
    PackNetwork net;
    pack_edges(net);
    net.starts.assign(PACK_CELLS + 1, 0);
    for (size_t e = 0; e < net.from.size(); e++) {
        net.starts[net.from[e] + 1]++;
        net.starts[net.to[e] + 1]++;
    }
    for (int i = 0; i < PACK_CELLS; i++) {
        net.width = std::max(net.width, net.starts[i + 1]);
        net.starts[i + 1] += net.starts[i];
    }
    std::vector<int> next(net.starts.begin(), net.starts.end() - 1);
    net.neighbours.resize(2 * net.from.size());
    net.conducts.resize(2 * net.from.size());
    for (size_t e = 0; e < net.from.size(); e++)
        for (int side = 0; side < 2; side++) {
            const int at = next[side ? net.to[e] : net.from[e]]++;
            net.neighbours[at] = side ? net.from[e] : net.to[e];
            net.conducts[at] = net.edge_conducts[e];
        }
    return net;
}

__global__ void pack_rows_kernel(const float *heat, const int *starts, const int *neighbours,
                                 const float *conducts, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PACK_CELLS)
        return;
    const float mine = heat[i];
    float sum = mine;
    for (int k = starts[i]; k < starts[i + 1]; k++)
        sum += conducts[k] * (heat[neighbours[k]] - mine);
    out[i] = sum;
}

// Neighbour k of all cells is stored together. Cells with fewer are padded by themselves.
__global__ void pack_padded_kernel(const float *heat, int width, const int *neighbours,
                                   const float *conducts, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PACK_CELLS)
        return;
    const float mine = heat[i];
    float sum = mine;
    for (int k = 0; k < width; k++) {
        const size_t at = (size_t) k * PACK_CELLS + i;
        sum += conducts[at] * (heat[neighbours[at]] - mine);
    }
    out[i] = sum;
}

__global__ void pack_edges_kernel(const float *heat, const int *from, const int *to,
                                  const float *conducts, int edges, float *out)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges)
        return;
    const int a = from[e], b = to[e];
    const float flow = conducts[e] * (heat[b] - heat[a]);
    atomicAdd(&out[a], flow);
    atomicAdd(&out[b], -flow);
}

static void pack_check(Run &run, const PackNetwork &net, const std::vector<float> &heat,
                       const float *to)
{
    run.expect_all(
        run.output(to, PACK_CELLS),
        [&](size_t i) {
            double sum = heat[i];
            for (int k = net.starts[i]; k < net.starts[i + 1]; k++)
                sum += net.conducts[k] * ((double) heat[net.neighbours[k]] - heat[i]);
            return sum;
        },
        1e-4, 67);
}

static void pack_heat_rows(Run &run)
{
    const PackNetwork net = pack_network();
    const std::vector<float> heat = floats(PACK_CELLS, 15901, 20, 45);
    const float *dh = run.upload(heat), *dc = run.upload(net.conducts);
    const int *ds = run.upload(net.starts), *dn = run.upload(net.neighbours);
    float *to = run.zeros<float>(PACK_CELLS);
    run.measure(
        [=] { pack_rows_kernel<<<blocks_for(PACK_CELLS, 256), 256>>>(dh, ds, dn, dc, to); });
    pack_check(run, net, heat, to);
}

static void pack_heat_padded(Run &run)
{
    const PackNetwork net = pack_network();
    const std::vector<float> heat = floats(PACK_CELLS, 15901, 20, 45);
    const int width = net.width;
    std::vector<int> neighbours((size_t) width * PACK_CELLS);
    std::vector<float> conducts(neighbours.size());
    for (int i = 0; i < PACK_CELLS; i++)
        for (int k = 0; k < width; k++) {
            const bool has = net.starts[i] + k < net.starts[i + 1];
            const size_t at = (size_t) k * PACK_CELLS + i;
            neighbours[at] = has ? net.neighbours[net.starts[i] + k] : i;
            conducts[at] = has ? net.conducts[net.starts[i] + k] : 0;
        }
    const float *dh = run.upload(heat), *dc = run.upload(conducts);
    const int *dn = run.upload(neighbours);
    float *to = run.zeros<float>(PACK_CELLS);
    run.measure(
        [=] { pack_padded_kernel<<<blocks_for(PACK_CELLS, 256), 256>>>(dh, width, dn, dc, to); });
    pack_check(run, net, heat, to);
}

static void pack_heat_edges(Run &run)
{
    const PackNetwork net = pack_network();
    const std::vector<float> heat = floats(PACK_CELLS, 15901, 20, 45);
    const int edges = (int) net.from.size();
    const float *dh = run.upload(heat), *dc = run.upload(net.edge_conducts);
    const int *df = run.upload(net.from), *dt = run.upload(net.to);
    float *to = run.zeros<float>(PACK_CELLS);
    run.measure(
        [=] { pack_edges_kernel<<<blocks_for(edges, 256), 256>>>(dh, df, dt, dc, edges, to); },
        [=] { CHECK(cudaMemcpy(to, dh, PACK_CELLS * sizeof(float), cudaMemcpyDeviceToDevice)); });
    pack_check(run, net, heat, to);
}

// ---- The weakest cell of each string of cells: one thread or one warp per string ----

enum { STRING_COUNT = 30000 };

__global__ void weakest_thread_kernel(const float *volts, const int *starts, int *out)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= STRING_COUNT)
        return;
    int at = starts[s];
    float least = volts[at];
    for (int i = at + 1; i < starts[s + 1]; i++)
        if (volts[i] < least) {
            least = volts[i];
            at = i;
        }
    out[s] = at;
}

// The first of equal cells wins.
__global__ void weakest_warp_kernel(const float *volts, const int *starts, int *out)
{
    const int s = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (s >= STRING_COUNT)
        return;
    unsigned long long best = ~0ull;
    for (int i = starts[s] + lane; i < starts[s + 1]; i += 32)
        best = min(best, (unsigned long long) __float_as_uint(volts[i]) << 32 | i);
    for (int d = 16; d; d /= 2)
        best = min(best, __shfl_xor_sync(~0u, best, d));
    if (lane == 0)
        out[s] = (int) (uint32_t) best;
}

static void weakest(Run &run, void (*kernel)(const float *, const int *, int *), int threads)
{
    const std::vector<int> lengths = integers(STRING_COUNT, 256, 15902);
    std::vector<int> starts(1, 0);
    for (int s = 0; s < STRING_COUNT; s++)
        starts.push_back(starts[s] + 16 + lengths[s]);
    const std::vector<float> volts = floats(starts.back(), 15903, 3, 4.2f);
    const float *dv = run.upload(volts);
    const int *ds = run.upload(starts);
    int *to = run.zeros<int>(STRING_COUNT);
    run.measure(
        [=] { kernel<<<blocks_for((size_t) STRING_COUNT * threads, 128), 128>>>(dv, ds, to); });
    run.expect_all(
        run.output(to, STRING_COUNT),
        [&](size_t s) {
            const auto first = volts.begin() + starts[s], last = volts.begin() + starts[s + 1];
            return std::min_element(first, last) - volts.begin();
        },
        0, 7);
}

static void pack_weakest_thread(Run &run)
{
    weakest(run, weakest_thread_kernel, 1);
}

static void pack_weakest_warp(Run &run)
{
    weakest(run, weakest_warp_kernel, 32);
}

#endif
