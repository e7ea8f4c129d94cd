// lanes.cuh - small problems side by side: in streams, as graphs, in pipelines, between copies and
// next to kernels that fill the GPU.
#ifndef LANES_CUH
#define LANES_CUH

#include "overlap.cuh"
#include "trifles.cuh"

// ---- Small matrices are factorised ----

static std::vector<Factor> make_factors(Flow &flow)
{
    std::vector<Factor> factors;

    for (int i = 0; i < Factor::COUNT; i++)
        factors.emplace_back(flow, i);
    return factors;
}

static void factorise(Flow &flow, int streams)
{
    const auto factors = make_factors(flow);

    flow.time(
        streams,
        [&] {
            for (int i = 0; i < Factor::COUNT; i++)
                factors[i].issue(flow.stream[i % streams]);
        },
        600);
    for (const Factor &f : factors)
        f.check(flow);
}

static void cholesky_one_stream(Flow &flow)
{
    factorise(flow, 1);
}

static void cholesky_six_streams(Flow &flow)
{
    factorise(flow, 6);
}

// Nodes without edges.
static void cholesky_graph(Flow &flow)
{
    const auto factors = make_factors(flow);
    cudaGraph_t graph;

    CHECK(cudaGraphCreate(&graph, 0));
    for (const Factor &f : factors)
        f.add_to(graph);
    time_graph(flow, instantiate(flow, graph));
    for (const Factor &f : factors)
        f.check(flow);
}

// ---- The skin of a drum: two kernels per step; the border stays ----

struct Drum {
    enum { SIDE = 192, CELLS = SIDE * SIDE, STEPS = 20, BLOCKS = CELLS / 256 };
    const std::vector<float> start = floats(CELLS, 170);
    float *height, *speed;

    Drum(Flow &flow)
    {
        height = flow.upload(start);
        speed = flow.zeros<float>(CELLS);
    }

    void reset()
    {
        CHECK(cudaMemcpy(height, start.data(), CELLS * sizeof(float), cudaMemcpyHostToDevice));
        CHECK(cudaMemset(speed, 0, CELLS * sizeof(float)));
    }

    void issue(cudaStream_t stream);
    void check(Flow &flow);
};

template <class T> __host__ __device__ T skin_pull(const T *height, int i)
{
    const int x = i % Drum::SIDE, y = i / Drum::SIDE;

    if (x == 0 || y == 0 || x == Drum::SIDE - 1 || y == Drum::SIDE - 1)
        return 0;
    return T(0.2) * (height[i - 1] + height[i + 1] + height[i - Drum::SIDE] +
                     height[i + Drum::SIDE] - 4 * height[i]);
}

__global__ void pull_skin(const float *height, float *speed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    speed[i] += skin_pull(height, i);
}

__global__ void move_skin(float *height, const float *speed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    height[i] += speed[i];
}

inline void Drum::issue(cudaStream_t stream)
{
    for (int s = 0; s < STEPS; s++) {
        pull_skin<<<BLOCKS, 256, 0, stream>>>(height, speed);
        move_skin<<<BLOCKS, 256, 0, stream>>>(height, speed);
    }
}

inline void Drum::check(Flow &flow)
{
    std::vector<double> h(start.begin(), start.end()), v(CELLS);

    for (int s = 0; s < STEPS; s++) {
        for (int i = 0; i < CELLS; i++)
            v[i] += skin_pull(h.data(), i);
        for (int i = 0; i < CELLS; i++)
            h[i] += v[i];
    }
    flow.expect_some(
        flow.download(height, CELLS), CELLS, 61, [&](size_t i) { return h[i]; }, 1e-4);
}

static void drum_launches(Flow &flow)
{
    Drum drum(flow);

    flow.time(
        1, [&] { drum.issue(flow.stream[0]); }, 600);
    drum.check(flow);
}

static void drum_graph(Flow &flow)
{
    Drum drum(flow);
    cudaGraphExec_t exec = capture(flow, [&] { drum.issue(flow.stream[0]); });

    drum.reset();
    time_graph(flow, exec);
    drum.check(flow);
}

// ---- Letters go through three stages ----

static void letters_pipeline(Flow &flow)
{
    enum { LETTERS = 8 };
    std::vector<Letter> letters;

    for (int i = 0; i < LETTERS; i++)
        letters.emplace_back(flow, i);
    flow.time(3, [&] {
        for (const Letter &l : letters) {
            decipher<<<l.PAGES, 256, 0, flow.stream[0]>>>(l.dsealed, l.plain);
            flow.hand(0, 1);
            stir_words<<<l.PAGES, 256, 0, flow.stream[1]>>>(l.plain, l.stirred);
            flow.hand(1, 2);
            largest_words<<<l.PAGES, 256, 0, flow.stream[2]>>>(l.stirred, l.most);
        }
    });
    for (const Letter &l : letters)
        l.check(flow);
}

// ---- One block counts the steps of Collatz's sequences while others fill the GPU ----

__host__ __device__ inline int collatz_steps(unsigned n)
{
    int steps = 0;

    for (; n != 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

__global__ void collatz(int *steps, unsigned first)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    steps[i] = collatz_steps(first + i);
}

__host__ __device__ inline float grown(float x)
{
    for (int i = 0; i < 8; i++)
        x = 2.8f * x * (1 - x);
    return x;
}

__global__ void grow(float *crowd)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    crowd[i] = grown(crowd[i]);
}

static void collatz_with_growth(Flow &flow)
{
    enum { CROWD = 512 << 10, ROUNDS = 4, SIDE_STREAMS = 3, NUMBERS = 128 };
    const auto start = floats(CROWD, 190, 0.1f, 0.9f);
    float *crowd = flow.upload(start);
    int *steps = flow.zeros<int>(SIDE_STREAMS * ROUNDS * NUMBERS);

    flow.time(1 + SIDE_STREAMS, [&] {
        for (int r = 0; r < ROUNDS; r++) {
            grow<<<CROWD / 256, 256, 0, flow.stream[0]>>>(crowd);
            for (int s = 0; s < SIDE_STREAMS; s++) {
                const int first = (s * ROUNDS + r) * NUMBERS;
                collatz<<<1, NUMBERS, 0, flow.stream[1 + s]>>>(steps + first, 1000 + first);
            }
        }
    });
    const auto last = [&](size_t i) { return grown(grown(grown(grown(start[i])))); };
    flow.expect_some(flow.download(crowd, CROWD), CROWD, 499, last, 1e-4);
    const int all = SIDE_STREAMS * ROUNDS * NUMBERS;
    flow.expect_some(flow.download(steps, all), all, 1,
                     [](size_t i) { return collatz_steps(1000 + (unsigned) i); });
}

// ---- Smallest, largest and total value between a fork and a join ----

struct Marks {
    enum { COUNT = 128 << 10, ROUNDS = 8, LEAST = 0, MOST, TOTAL, FIGURES };
};

__host__ __device__ inline int remarked(int mark, const int *figures)
{
    const int raised = mark - figures[Marks::LEAST] + (figures[Marks::MOST] - mark) / 2;

    return raised + figures[Marks::TOTAL] % 7;
}

__global__ void least_mark(const int *marks, int *figures)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, x = __reduce_min_sync(~0u, marks[i]);

    if (threadIdx.x % 32 == 0)
        atomicMin(&figures[Marks::LEAST], x);
}

__global__ void most_mark(const int *marks, int *figures)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, x = __reduce_max_sync(~0u, marks[i]);

    if (threadIdx.x % 32 == 0)
        atomicMax(&figures[Marks::MOST], x);
}

__global__ void total_mark(const int *marks, int *figures)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, x = __reduce_add_sync(~0u, marks[i]);

    if (threadIdx.x % 32 == 0)
        atomicAdd(&figures[Marks::TOTAL], x);
}

__global__ void remark(int *marks, const int *figures)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    marks[i] = remarked(marks[i], figures);
}

static std::vector<int> remarked_on_host(std::vector<int> marks)
{
    for (int r = 0; r < Marks::ROUNDS; r++) {
        int figures[Marks::FIGURES] = { marks[0], marks[0], 0 };
        for (int m : marks) {
            figures[Marks::LEAST] = std::min(figures[Marks::LEAST], m);
            figures[Marks::MOST] = std::max(figures[Marks::MOST], m);
            figures[Marks::TOTAL] += m;
        }
        for (int &m : marks)
            m = remarked(m, figures);
    }
    return marks;
}

// The figures of all rounds, before the first one.
static std::vector<int> no_figures()
{
    std::vector<int> figures(Marks::ROUNDS * Marks::FIGURES);

    for (int r = 0; r < Marks::ROUNDS; r++)
        figures[r * Marks::FIGURES + Marks::LEAST] = 1 << 20;
    return figures;
}

static void issue_round(Flow &flow, int *marks, int *figures)
{
    const int blocks = Marks::COUNT / 256;

    flow.hand(0, 1);
    flow.hand(0, 2);
    least_mark<<<blocks, 256, 0, flow.stream[0]>>>(marks, figures);
    most_mark<<<blocks, 256, 0, flow.stream[1]>>>(marks, figures);
    total_mark<<<blocks, 256, 0, flow.stream[2]>>>(marks, figures);
    flow.hand(1, 0);
    flow.hand(2, 0);
    remark<<<blocks, 256, 0, flow.stream[0]>>>(marks, figures);
}

static void marks_fork_join(Flow &flow)
{
    const auto start = integers(Marks::COUNT, 1000, 195);
    int *marks = flow.upload(start), *figures = flow.upload(no_figures());

    flow.time(3, [&] {
        for (int r = 0; r < Marks::ROUNDS; r++)
            issue_round(flow, marks, figures + r * Marks::FIGURES);
    });
    const auto wanted = remarked_on_host(start);
    flow.expect_some(flow.download(marks, Marks::COUNT), Marks::COUNT, 31,
                     [&](size_t i) { return wanted[i]; });
}

// ---- Tiles go up, are computed and come back: in one buffer or in two ----

enum { TILE_COUNT = 10, TILE_SIZE = 192 << 10 };

__host__ __device__ inline float toned(float x)
{
    return x / (0.5f + x);
}

__global__ void tone(float *tile)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    tile[i] = toned(tile[i]);
}

// A stream per buffer.
static void tone_tiles(Flow &flow, int buffers)
{
    const auto values = floats(TILE_COUNT * TILE_SIZE, 198, 0, 1);
    const float *from = flow.pinned(values);
    float *to = flow.pinned<float>(TILE_COUNT * TILE_SIZE),
          *tiles = flow.zeros<float>(2 * TILE_SIZE);
    const size_t bytes = TILE_SIZE * sizeof(float);

    flow.time(buffers, [&] {
        for (int i = 0; i < TILE_COUNT; i++) {
            const cudaStream_t stream = flow.stream[i % buffers];
            float *tile = tiles + i % buffers * TILE_SIZE;
            CHECK(
                cudaMemcpyAsync(tile, from + i * TILE_SIZE, bytes, cudaMemcpyHostToDevice, stream));
            tone<<<TILE_SIZE / 256, 256, 0, stream>>>(tile);
            CHECK(cudaMemcpyAsync(to + i * TILE_SIZE, tile, bytes, cudaMemcpyDeviceToHost, stream));
        }
    });
    flow.expect_some(
        to, TILE_COUNT * TILE_SIZE, 499, [&](size_t i) { return toned(values[i]); }, 1e-5);
}

static void tiles_one_buffer(Flow &flow)
{
    tone_tiles(flow, 1);
}

static void tiles_two_buffers(Flow &flow)
{
    tone_tiles(flow, 2);
}

#endif
