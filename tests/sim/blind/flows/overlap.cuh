// overlap.cuh - kernels and copies in several streams and in graphs: short and long, in chains and
// in pipelines.
#ifndef OVERLAP_CUH
#define OVERLAP_CUH

#include "problems.cuh"
#include "structures.cuh"

// Launches the graph once.
static cudaGraphExec_t instantiate(Flow &flow, cudaGraph_t graph)
{
    cudaGraphExec_t exec;

    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphLaunch(exec, flow.stream[0]));
    CHECK(cudaDeviceSynchronize());
    return exec;
}

// The graph of what `work` issues, launched once.
template <class Work> static cudaGraphExec_t capture(Flow &flow, Work work)
{
    cudaGraph_t graph;

    CHECK(cudaStreamBeginCapture(flow.stream[0], cudaStreamCaptureModeThreadLocal));
    work();
    CHECK(cudaStreamEndCapture(flow.stream[0], &graph));
    return instantiate(flow, graph);
}

static void time_graph(Flow &flow, cudaGraphExec_t exec)
{
    flow.time(1, [&] { CHECK(cudaGraphLaunch(exec, flow.stream[0])); });
    CHECK(cudaGraphExecDestroy(exec));
}

// ---- Shortest paths in maps: short and long kernels of one block ----

static std::vector<Map> make_maps(Flow &flow)
{
    enum { MAPS = 48 };
    std::vector<Map> maps;

    for (int i = 0; i < MAPS; i++)
        maps.emplace_back(flow, i);
    return maps;
}

static void expect_paths(Flow &flow, const std::vector<Map> &maps)
{
    for (const Map &m : maps)
        m.check(flow);
}

static void paths(Flow &flow, int streams)
{
    const auto maps = make_maps(flow);

    flow.time(
        streams,
        [&] {
            for (size_t i = 0; i < maps.size(); i++)
                maps[i].issue(flow.stream[i % streams]);
        },
        600);
    expect_paths(flow, maps);
}

static void paths_one_stream(Flow &flow)
{
    paths(flow, 1);
}

static void paths_eight_streams(Flow &flow)
{
    paths(flow, 8);
}

// Nodes without edges.
static void paths_graph(Flow &flow)
{
    const auto maps = make_maps(flow);
    cudaGraph_t graph;

    CHECK(cudaGraphCreate(&graph, 0));
    for (const Map &m : maps)
        m.add_to(graph);
    time_graph(flow, instantiate(flow, graph));
    expect_paths(flow, maps);
}

// ---- Conjugate gradients as launches and as a graph ----

static void issue_solve(const Heat &h, cudaStream_t stream)
{
    const int blocks = Heat::CELLS / 256;

    CHECK(cudaMemsetAsync(h.dots, 0, (2 * Heat::STEPS + 1) * sizeof(float), stream));
    start_solve<<<blocks, 256, 0, stream>>>(h);
    for (int s = 0; s < Heat::STEPS; s++) {
        apply<<<blocks, 256, 0, stream>>>(h, s);
        advance<<<blocks, 256, 0, stream>>>(h, s);
        turn<<<blocks, 256, 0, stream>>>(h, s);
    }
}

static Heat make_heat(Flow &flow)
{
    Heat h;

    h.b = flow.upload(floats(Heat::CELLS, 81));
    for (float **at : { &h.x, &h.r, &h.p, &h.q })
        *at = flow.zeros<float>(Heat::CELLS);
    h.dots = flow.zeros<float>(2 * Heat::STEPS + 1);
    return h;
}

static void expect_heat(Flow &flow, const Heat &h)
{
    const auto wanted = heat_on_host();

    flow.expect_some(
        flow.download(h.x, Heat::CELLS), Heat::CELLS, 61, [&](size_t i) { return wanted[i]; },
        1e-3);
}

static void conjugate_launches(Flow &flow)
{
    const Heat h = make_heat(flow);

    flow.time(
        1, [&] { issue_solve(h, flow.stream[0]); }, 600);
    expect_heat(flow, h);
}

static void conjugate_graph(Flow &flow)
{
    const Heat h = make_heat(flow);

    time_graph(flow, capture(flow, [&] { issue_solve(h, flow.stream[0]); }));
    expect_heat(flow, h);
}

// ---- One-block kernels, short and long, next to kernels that fill the GPU ----

// Three chains, of kernels of 10, 20 and 40 steps.
struct Chains {
    enum { CHAINS = 3, ROUNDS = 6 };
    const std::vector<float> chances;
    const float *dchances;
    float *states[CHAINS];

    Chains(Flow &flow) : chances(make_chances()), dchances(flow.upload(chances))
    {
        std::vector<float> first(CONDITIONS);
        first[0] = 1;
        for (float *&state : states)
            state = flow.upload(first);
    }

    static int steps(int chain)
    {
        return 10 << chain;
    }

    void issue(int chain, cudaStream_t stream) const
    {
        markov<<<1, 256, 0, stream>>>(dchances, states[chain], steps(chain));
    }

    void check(Flow &flow) const
    {
        for (int c = 0; c < CHAINS; c++) {
            const auto wanted = markov_on_host(chances, ROUNDS * steps(c));
            flow.expect_some(
                flow.download(states[c], CONDITIONS), CONDITIONS, 1,
                [&](size_t i) { return wanted[i]; }, 1e-4);
        }
    }
};

static void blocks_with_tallies(Flow &flow)
{
    enum { KEYS = 1 << 20 };
    const Chains chains(flow);
    const auto keys = integers(KEYS, KEYS, 83);
    const int *dkeys = flow.upload(keys);
    unsigned *counts = flow.zeros<unsigned>(KEYS);
    std::vector<unsigned> wanted(KEYS);

    flow.time(1 + Chains::CHAINS, [&] {
        for (int r = 0; r < Chains::ROUNDS; r++) {
            tally<<<KEYS / 256, 256, 0, flow.stream[0]>>>(dkeys, counts);
            for (int c = 0; c < Chains::CHAINS; c++)
                chains.issue(c, flow.stream[1 + c]);
        }
    });
    for (int key : keys)
        wanted[key] += Chains::ROUNDS;
    flow.expect_some(flow.download(counts, KEYS), KEYS, 101, [&](size_t i) { return wanted[i]; });
    chains.check(flow);
}

// ---- Three forces between a fork and a join, in each step ----

struct Rope {
    enum { STEPS = 8 };
    Flow &flow;
    const std::vector<float2> start, eddies;
    Bodies b;

    Rope(Flow &flow) : flow(flow), start(points_of(BODIES, 84)), eddies(points_of(EDDIES, 85))
    {
        b.at = flow.upload(start);
        for (float2 **at : { &b.speed, &b.pull, &b.strain, &b.wind })
            *at = flow.zeros<float2>(BODIES);
        b.eddies = flow.upload(eddies);
    }

    void reset()
    {
        const size_t bytes = BODIES * sizeof(float2);
        CHECK(cudaMemcpy(b.at, start.data(), bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemset(b.speed, 0, bytes));
    }

    void issue()
    {
        const int blocks = BODIES / 128;
        for (int s = 0; s < STEPS; s++) {
            flow.hand(0, 1);
            flow.hand(0, 2);
            find_pulls<<<blocks, 128, 0, flow.stream[0]>>>(b);
            find_winds<<<blocks, 128, 0, flow.stream[1]>>>(b);
            find_strains<<<blocks, 128, 0, flow.stream[2]>>>(b);
            flow.hand(1, 0);
            flow.hand(2, 0);
            move_bodies<<<blocks, 128, 0, flow.stream[0]>>>(b);
        }
    }

    void check()
    {
        const auto wanted = bodies_on_host(start, eddies, STEPS), got = flow.download(b.at, BODIES);
        for (int i = 0; i < BODIES; i += 11) {
            flow.expect(got[i].x, wanted[i].x, 1e-4);
            flow.expect(got[i].y, wanted[i].y, 1e-4);
        }
    }
};

static void forces_streams(Flow &flow)
{
    Rope rope(flow);

    flow.time(
        3, [&] { rope.issue(); }, 600);
    rope.check();
}

static void forces_graph(Flow &flow)
{
    Rope rope(flow);
    cudaGraphExec_t exec = capture(flow, [&] { rope.issue(); });

    rope.reset();
    time_graph(flow, exec);
    rope.check();
}

// ---- A pipeline of three stages: each has a stream and hands its batch on by an event ----

struct Recording {
    std::vector<short> raw;
    short *draw;
    float *signal, *clean, *energy;

    Recording(Flow &flow, int number)
    {
        for (int v : integers(SAMPLES, 65536, 90 + number))
            raw.push_back((short) (v - 32768));
        draw = flow.upload(raw);
        signal = flow.zeros<float>(SAMPLES);
        clean = flow.zeros<float>(SAMPLES);
        energy = flow.zeros<float>(FRAMES);
    }

    void check(Flow &flow, const std::vector<float> &taps) const
    {
        const std::vector<float> values(raw.begin(), raw.end());
        const auto energy_of = [&](size_t f) {
            double total = 0;
            for (size_t i = f * FRAME; i < (f + 1) * FRAME; i++)
                total += pow(filtered(values.data(), taps.data(), (int) i) / 32768.0, 2);
            return total;
        };
        flow.expect_some(flow.download(energy, FRAMES), FRAMES, 17, energy_of, 1e-4);
    }
};

static void stages_events(Flow &flow)
{
    enum { RECORDINGS = 6, BLOCKS = 32 };
    const auto taps = floats(TAPS, 86);
    const float *dtaps = flow.upload(taps);
    std::vector<Recording> recordings;

    for (int i = 0; i < RECORDINGS; i++)
        recordings.emplace_back(flow, i);
    flow.time(3, [&] {
        for (const Recording &r : recordings) {
            to_signal<<<BLOCKS, 256, 0, flow.stream[0]>>>(r.draw, r.signal);
            flow.hand(0, 1);
            filter<<<BLOCKS, 256, 0, flow.stream[1]>>>(r.signal, dtaps, r.clean);
            flow.hand(1, 2);
            energies<<<BLOCKS, 256, 0, flow.stream[2]>>>(r.clean, r.energy);
        }
    });
    for (const Recording &r : recordings)
        r.check(flow, taps);
}

// ---- Two buffers: a copy fills one while a kernel reads the other ----

enum { BANDS = 8, BAND = 8192 }; // a block per band, of float4

__global__ void band_sums(const float4 *picture, float *sums)
{
    float x = 0;

    for (int i = threadIdx.x; i < BAND; i += blockDim.x) {
        const float4 v = picture[blockIdx.x * BAND + i];
        x += v.x + v.y + v.z + v.w;
    }
    x = block_sum(x);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = x;
}

struct Buffer {
    float *values, *sums;
    cudaEvent_t filled, emptied;

    Buffer(Flow &flow)
    {
        values = flow.zeros<float>(4 * BANDS * BAND);
        sums = flow.zeros<float>(BANDS);
        CHECK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&emptied, cudaEventDisableTiming));
    }

    ~Buffer()
    {
        CHECK(cudaEventDestroy(filled));
        CHECK(cudaEventDestroy(emptied));
    }

    // Stream 1 copies, stream 0 computes. An event that was never recorded holds nothing up.
    void issue(Flow &flow, const float *picture, float *result)
    {
        const size_t bytes = 4 * BANDS * BAND * sizeof(float);
        CHECK(cudaStreamWaitEvent(flow.stream[1], emptied, 0));
        CHECK(cudaMemcpyAsync(values, picture, bytes, cudaMemcpyHostToDevice, flow.stream[1]));
        CHECK(cudaEventRecord(filled, flow.stream[1]));
        CHECK(cudaStreamWaitEvent(flow.stream[0], filled, 0));
        band_sums<<<BANDS, 256, 0, flow.stream[0]>>>((const float4 *) values, sums);
        CHECK(cudaMemcpyAsync(result, sums, BANDS * sizeof(float), cudaMemcpyDeviceToHost,
                              flow.stream[0]));
        CHECK(cudaEventRecord(emptied, flow.stream[0]));
    }
};

static void pictures_two_buffers(Flow &flow)
{
    enum { COUNT = 12, SIZE = 4 * BANDS * BAND };
    const auto values = floats(COUNT * SIZE, 87, 0, 1);
    const float *host = flow.pinned(values);
    float *results = flow.pinned<float>(COUNT * BANDS);
    Buffer buffers[2] = { flow, flow };

    flow.time(
        2,
        [&] {
            for (int i = 0; i < COUNT; i++)
                buffers[i % 2].issue(flow, host + i * SIZE, results + i * BANDS);
        },
        600);
    const auto band_sum = [&](size_t band) {
        const auto at = values.begin() + band * 4 * BAND;
        return sum_of({ at, at + 4 * BAND });
    };
    flow.expect_some(results, COUNT * BANDS, 1, band_sum, 1e-4);
}

#endif
