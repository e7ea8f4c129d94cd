// branches.cuh - pictures that go through four branches between a fork and a join: by events, or as
// a graph.
#ifndef BRANCHES_CUH
#define BRANCHES_CUH

#include "flow.cuh"

enum { WIDTH = 512, HEIGHT = 384, PIXELS = WIDTH * HEIGHT, BINS = 64, PICTURES = 3 };

struct Picture {
    float *raw, *bright, *blurred, *edges, *half, *out;
    unsigned *bins;
};

template <class At> __host__ __device__ float clamped(At at, int x, int y)
{
    x = x < 0 ? 0 : x < WIDTH ? x : WIDTH - 1;
    y = y < 0 ? 0 : y < HEIGHT ? y : HEIGHT - 1;
    return at[y * WIDTH + x];
}

template <class At> __host__ __device__ float blur_at(At in, int x, int y)
{
    float total = 0;

    for (int i = 0; i < 9; i++)
        total += clamped(in, x + i % 3 - 1, y + i / 3 - 1);
    return total / 9;
}

template <class At> __host__ __device__ float edge_at(At in, int x, int y)
{
    return fabsf(clamped(in, x + 1, y) - clamped(in, x - 1, y)) +
           fabsf(clamped(in, x, y + 1) - clamped(in, x, y - 1));
}

template <class At> __host__ __device__ float half_at(At in, int x, int y)
{
    const int i = 2 * y * WIDTH + 2 * x;

    return 0.25f * (in[i] + in[i + 1] + in[i + WIDTH] + in[i + WIDTH + 1]);
}

__host__ __device__ inline int bin_of(float bright)
{
    return (int) (bright * (BINS - 1));
}

__global__ void brighten(const float *raw, float *bright)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    bright[i] = sqrtf(raw[i]);
}

__global__ void blur(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = blur_at(in, i % WIDTH, i / WIDTH);
}

__global__ void find_edges(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = edge_at(in, i % WIDTH, i / WIDTH);
}

__global__ void shrink(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = half_at(in, i % (WIDTH / 2), i / (WIDTH / 2));
}

__global__ void count_bins(const float *in, unsigned *bins)
{
    __shared__ unsigned counts[BINS];

    if (threadIdx.x < BINS)
        counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < PIXELS; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[bin_of(in[i])], 1);
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

__global__ void combine(Picture p)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % WIDTH, y = i / WIDTH;
    const float share = (float) p.bins[bin_of(p.bright[i])] / PIXELS;

    p.out[i] = p.blurred[i] + 0.5f * p.edges[i] + share * p.half[y / 2 * (WIDTH / 2) + x / 2];
}

static void issue_picture(Flow &flow, const Picture &p)
{
    const int blocks = PIXELS / 256;

    brighten<<<blocks, 256, 0, flow.stream[0]>>>(p.raw, p.bright);
    for (int i = 1; i < 4; i++)
        flow.hand(0, i);
    blur<<<blocks, 256, 0, flow.stream[0]>>>(p.bright, p.blurred);
    find_edges<<<blocks, 256, 0, flow.stream[1]>>>(p.bright, p.edges);
    shrink<<<blocks / 4, 256, 0, flow.stream[2]>>>(p.bright, p.half);
    count_bins<<<24, 256, 0, flow.stream[3]>>>(p.bright, p.bins);
    for (int i = 1; i < 4; i++)
        flow.hand(i, 0);
    combine<<<blocks, 256, 0, flow.stream[0]>>>(p);
}

static std::vector<Picture> make_pictures(Flow &flow)
{
    std::vector<Picture> pictures(PICTURES);

    for (int i = 0; i < PICTURES; i++) {
        Picture &p = pictures[i];
        p.raw = flow.upload(floats(PIXELS, 30 + i, 0, 1));
        for (float **at : { &p.bright, &p.blurred, &p.edges, &p.half, &p.out })
            *at = flow.zeros<float>(PIXELS);
        p.bins = flow.zeros<unsigned>(BINS);
    }
    return pictures;
}

static void expect_picture(Flow &flow, const Picture &p, int number)
{
    auto in = floats(PIXELS, 30 + number, 0, 1);
    std::vector<unsigned> bins(BINS);

    for (float &v : in) {
        v = sqrtf(v);
        bins[bin_of(v)]++;
    }
    const auto wanted = [&](size_t i) {
        const int x = i % WIDTH, y = i / WIDTH;
        return blur_at(in.data(), x, y) + 0.5f * edge_at(in.data(), x, y) +
               (float) bins[bin_of(in[i])] / PIXELS * half_at(in.data(), x / 2, y / 2);
    };
    flow.expect_some(flow.download(p.out, PIXELS), PIXELS, 89, wanted, 1e-5);
}

static void pictures_events(Flow &flow)
{
    const auto pictures = make_pictures(flow);

    flow.time(
        4,
        [&] {
            for (const Picture &p : pictures)
                issue_picture(flow, p);
        },
        600);
    for (int i = 0; i < PICTURES; i++)
        expect_picture(flow, pictures[i], i);
}

static cudaGraphExec_t capture_pictures(Flow &flow, const std::vector<Picture> &pictures)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    CHECK(cudaStreamBeginCapture(flow.stream[0], cudaStreamCaptureModeThreadLocal));
    for (const Picture &p : pictures)
        issue_picture(flow, p);
    CHECK(cudaStreamEndCapture(flow.stream[0], &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphUpload(exec, flow.stream[0]));
    return exec;
}

static void pictures_graph(Flow &flow)
{
    const auto pictures = make_pictures(flow);
    cudaGraphExec_t exec = capture_pictures(flow, pictures);

    flow.time(1, [&] { CHECK(cudaGraphLaunch(exec, flow.stream[0])); });
    for (int i = 0; i < PICTURES; i++)
        expect_picture(flow, pictures[i], i);
    CHECK(cudaGraphExecDestroy(exec));
}

#endif
