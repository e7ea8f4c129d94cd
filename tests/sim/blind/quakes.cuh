// quakes.cuh - seismics: sound waves, migration of traces, velocities by semblance, first breaks.
#ifndef BLIND_QUAKES_CUH
#define BLIND_QUAKES_CUH

#include "blind.cuh"

// ---- Waves in a plane, 8th order, in double: neighbours from global memory, or a tile ----

enum { SOUND_W = 1024, SOUND_H = 768, SOUND_PITCH = SOUND_W + 8, SOUND_STEPS = 2 };

enum { SOUND_SIZE = SOUND_PITCH * (SOUND_H + 8) };

__host__ __device__ inline size_t sound_at(int x, int y)
{
    return (size_t) (y + 4) * SOUND_PITCH + x + 4;
}

// Second derivatives in both directions; rows are `pitch` apart.
__host__ __device__ inline double sound_curve(const double *at, int pitch)
{
    const double weights[4] = { 1.6, -0.2, 0.0253968254, -0.00178571429 };
    double sum = 2 * -2.8472222222 * at[0];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int k = 1; k <= 4; k++)
        sum += weights[k - 1] * (at[k] + at[-k] + at[k * pitch] + at[-k * pitch]);
    return sum;
}

__host__ __device__ inline double sound_next(double now, double before, double curve, double speed)
{
    return 2 * now - before + speed * curve;
}

__global__ void sound_global_kernel(const double *now, const double *speeds, double *before)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    const size_t i = sound_at(x, y);
    before[i] = sound_next(now[i], before[i], sound_curve(now + i, SOUND_PITCH), speeds[i]);
}

__global__ void sound_tile_kernel(const double *now, const double *speeds, double *before)
{
    __shared__ double tile[24][40];
    const int x = blockIdx.x * 32, y = blockIdx.y * 16, tx = threadIdx.x, ty = threadIdx.y;
    for (int row = ty; row < 24; row += 16)
        for (int column = tx; column < 40; column += 32)
            tile[row][column] = now[sound_at(x + column - 4, y + row - 4)];
    __syncthreads();
    const size_t i = sound_at(x + tx, y + ty);
    const double *at = &tile[ty + 4][tx + 4];
    before[i] = sound_next(at[0], before[i], sound_curve(at, 40), speeds[i]);
}

static std::vector<double> sound_host(std::vector<double> now, const std::vector<double> &speeds)
{
    std::vector<double> before(now);
    for (int step = 0; step < SOUND_STEPS; step++) {
        for (int y = 0; y < SOUND_H; y++)
            for (int x = 0; x < SOUND_W; x++) {
                const size_t i = sound_at(x, y);
                const double curve = sound_curve(&now[i], SOUND_PITCH);
                before[i] = sound_next(now[i], before[i], curve, speeds[i]);
            }
        std::swap(now, before);
    }
    return now;
}

static void sound(Run &run, void (*kernel)(const double *, const double *, double *))
{
    const std::vector<float> s = floats(SOUND_SIZE, 12060);
    const std::vector<float> v = floats(SOUND_SIZE, 12061, 0.05f, 0.2f);
    const std::vector<double> start(s.begin(), s.end()), speeds(v.begin(), v.end());
    const double *from = run.upload(start), *ds = run.upload(speeds);
    double *a = run.zeros<double>(SOUND_SIZE), *b = run.zeros<double>(SOUND_SIZE);
    const dim3 grid(SOUND_W / 32, SOUND_H / 16), block(32, 16);
    run.measure(
        [=] {
            kernel<<<grid, block>>>(a, ds, b);
            kernel<<<grid, block>>>(b, ds, a);
        },
        [=] {
            const size_t size = SOUND_SIZE * sizeof(double);
            CHECK(cudaMemcpy(a, from, size, cudaMemcpyDeviceToDevice));
            CHECK(cudaMemcpy(b, from, size, cudaMemcpyDeviceToDevice));
        });
    const std::vector<double> wanted = sound_host(start, speeds);
    run.expect_all(
        run.output(a, SOUND_SIZE), [&](size_t i) { return wanted[i]; }, 1e-9, 1009);
}

static void sound_global(Run &run)
{
    sound(run, sound_global_kernel);
}

static void sound_tile(Run &run)
{
    sound(run, sound_tile_kernel);
}

// ---- Migration of traces to an image: a point sums all traces, or a trace adds to all points ----

enum { IMAGE_W = 256, IMAGE_H = 144, TRACES = 112, TRACE_LENGTH = 1024 };

// A trace's sample at the time of a wave to the point and back.
__host__ __device__ inline float migrated(const float *traces, float place, int trace, int x, int z)
{
    const float dx = x * 10.0f - place, depth = z * 10.0f + 5;
    const float path = sqrtf(dx * dx + depth * depth), time = path * 0.25f;
    const int at = (int) time;
    if (at >= TRACE_LENGTH - 1)
        return 0;
    const float *samples = traces + trace * TRACE_LENGTH + at, part = time - at;
    return (samples[0] + part * (samples[1] - samples[0])) * depth / path;
}

__global__ void migrate_points_kernel(const float *traces, const float *places, float *image)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.y;
    float sum = 0;
    for (int trace = 0; trace < TRACES; trace++)
        sum += migrated(traces, places[trace], trace, x, z);
    image[z * IMAGE_W + x] = sum;
}

__global__ void migrate_traces_kernel(const float *traces, const float *places, float *image)
{
    const int x = threadIdx.x, z = blockIdx.x, trace = blockIdx.y;
    atomicAdd(&image[z * IMAGE_W + x], migrated(traces, places[trace], trace, x, z));
}

static void migrate(Run &run, bool points)
{
    const std::vector<float> traces = floats(TRACES * TRACE_LENGTH, 12062);
    const std::vector<float> places = floats(TRACES, 12063, 0, 10 * IMAGE_W);
    const float *from = run.upload(traces), *dp = run.upload(places);
    float *to = run.zeros<float>(IMAGE_W * IMAGE_H);
    run.measure(
        [=] {
            if (points)
                migrate_points_kernel<<<dim3(IMAGE_W / 128, IMAGE_H), 128>>>(from, dp, to);
            else
                migrate_traces_kernel<<<dim3(IMAGE_H, TRACES), IMAGE_W>>>(from, dp, to);
        },
        [=] { CHECK(cudaMemset(to, 0, IMAGE_W * IMAGE_H * sizeof(float))); });
    run.expect_all(
        run.output(to, IMAGE_W * IMAGE_H),
        [&](size_t i) {
            double sum = 0;
            for (int trace = 0; trace < TRACES; trace++)
                sum += migrated(traces.data(), places[trace], trace, (int) (i % IMAGE_W),
                                (int) (i / IMAGE_W));
            return sum;
        },
        5e-3, 61);
}

static void migrate_points(Run &run)
{
    migrate(run, true);
}

static void migrate_traces(Run &run)
{
    migrate(run, false);
}

// ---- Semblance of 512 times and 32 velocities over 192 offsets: a thread or a warp per value ----

enum { GATHER_TRACES = 192, GATHER_LENGTH = 1500, SCAN_TIMES = 512, SCAN_SPEEDS = 32 };

// The sample of a trace on the hyperbola of a time and a velocity.
__host__ __device__ inline float semblance_sample(const float *gather, int trace, int time,
                                                  int speed)
{
    const float offset = 6.0f * trace / (1.5f + 0.03f * speed);
    const float at = sqrtf((float) time * time + offset * offset);
    const int i = (int) at;
    if (i >= GATHER_LENGTH - 1)
        return 0;
    const float *samples = gather + trace * GATHER_LENGTH + i;
    return samples[0] + (at - i) * (samples[1] - samples[0]);
}

__host__ __device__ inline float semblance_value(float sum, float squares)
{
    return squares > 0 ? sum * sum / (GATHER_TRACES * squares) : 0;
}

__global__ void semblance_thread_kernel(const float *gather, float *out)
{
    const int time = blockIdx.x * blockDim.x + threadIdx.x, speed = blockIdx.y;
    float sum = 0, squares = 0;
    for (int trace = 0; trace < GATHER_TRACES; trace++) {
        const float v = semblance_sample(gather, trace, time, speed);
        sum += v;
        squares += v * v;
    }
    out[speed * SCAN_TIMES + time] = semblance_value(sum, squares);
}

__global__ void semblance_warp_kernel(const float *gather, float *out)
{
    const int time = blockIdx.x * blockDim.y + threadIdx.y, speed = blockIdx.y;
    float sum = 0, squares = 0;
    for (int trace = threadIdx.x; trace < GATHER_TRACES; trace += 32) {
        const float v = semblance_sample(gather, trace, time, speed);
        sum += v;
        squares += v * v;
    }
    for (int by = 16; by; by /= 2) {
        sum += __shfl_down_sync(~0u, sum, by);
        squares += __shfl_down_sync(~0u, squares, by);
    }
    if (threadIdx.x == 0)
        out[speed * SCAN_TIMES + time] = semblance_value(sum, squares);
}

static void semblance(Run &run, bool warps)
{
    const std::vector<float> gather = floats(GATHER_TRACES * GATHER_LENGTH, 12064);
    const float *from = run.upload(gather);
    float *to = run.zeros<float>(SCAN_TIMES * SCAN_SPEEDS);
    run.measure([=] {
        if (warps)
            semblance_warp_kernel<<<dim3(SCAN_TIMES / 8, SCAN_SPEEDS), dim3(32, 8)>>>(from, to);
        else
            semblance_thread_kernel<<<dim3(SCAN_TIMES / 64, SCAN_SPEEDS), 64>>>(from, to);
    });
    run.expect_all(
        run.output(to, SCAN_TIMES * SCAN_SPEEDS),
        [&](size_t i) {
            float sum = 0, squares = 0;
            for (int trace = 0; trace < GATHER_TRACES; trace++) {
                const float v = semblance_sample(gather.data(), trace, (int) (i % SCAN_TIMES),
                                                 (int) (i / SCAN_TIMES));
                sum += v;
                squares += v * v;
            }
            return semblance_value(sum, squares);
        },
        2e-3, 61);
}

static void semblance_thread(Run &run)
{
    semblance(run, false);
}

static void semblance_warp(Run &run)
{
    semblance(run, true);
}

// ---- First breaks: short energy far above long energy; a thread or a warp per trace ----

enum { BREAK_TRACES = 1024, BREAK_LENGTH = 4096, BREAK_SHORT = 16, BREAK_LONG = 128 };

// Both windows end before sample t, the long one where the short one begins.
__host__ __device__ inline bool is_break(uint32_t near, uint32_t far)
{
    return near > far / (BREAK_LONG / BREAK_SHORT) * 5;
}

__host__ __device__ inline int first_break(const short *s)
{
    uint32_t near = 0, far = 0;
    for (int t = 0; t < BREAK_SHORT + BREAK_LONG; t++)
        (t < BREAK_LONG ? far : near) += s[t] * s[t];
    for (int t = BREAK_SHORT + BREAK_LONG; t < BREAK_LENGTH; t++) {
        if (is_break(near, far))
            return t;
        const int middle = s[t - BREAK_SHORT], last = s[t - BREAK_SHORT - BREAK_LONG];
        near += s[t] * s[t] - middle * middle;
        far += middle * middle - last * last;
    }
    return BREAK_LENGTH;
}

__global__ void firstbreaks_thread_kernel(const short *traces, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = first_break(traces + i * BREAK_LENGTH);
}

// Lanes sum 32 samples at a time; sums from the first sample on lie in shared memory.
__global__ void firstbreaks_warp_kernel(const short *traces, int *out)
{
    __shared__ uint32_t sums[2][BREAK_LENGTH + 1];
    const int i = blockIdx.x * 2 + threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t *mine = sums[threadIdx.x / 32], before = 0;
    if (lane == 0)
        mine[0] = 0;
    for (int t = lane; t < BREAK_LENGTH; t += 32) {
        const int v = traces[i * BREAK_LENGTH + t];
        uint32_t sum = v * v;
        for (int by = 1; by < 32; by *= 2) {
            const uint32_t other = __shfl_up_sync(~0u, sum, by);
            sum += lane >= by ? other : 0;
        }
        mine[t + 1] = sum += before;
        before = __shfl_sync(~0u, sum, 31);
        __syncwarp();
        const int end = t + 1, middle = end - BREAK_SHORT, begin = middle - BREAK_LONG;
        const bool found = begin >= 0 && end < BREAK_LENGTH &&
                           is_break(mine[end] - mine[middle], mine[middle] - mine[begin]);
        const unsigned votes = __ballot_sync(~0u, found);
        if (votes) {
            if (lane == 0)
                out[i] = t + __ffs(votes);
            return;
        }
    }
    if (lane == 0)
        out[i] = BREAK_LENGTH;
}

// Noise, then from some place on a signal that is eight times as large.
static void firstbreaks(Run &run, bool warps)
{
    const std::vector<int> v = integers(BREAK_TRACES * BREAK_LENGTH, 200, 12065);
    const std::vector<int> onsets = integers(BREAK_TRACES, 2000, 12066);
    std::vector<short> traces(v.size());
    for (int i = 0; i < BREAK_TRACES * BREAK_LENGTH; i++) {
        const bool loud = i % BREAK_LENGTH >= 1800 + onsets[i / BREAK_LENGTH];
        traces[i] = (short) ((v[i] - 100) * (loud ? 8 : 1));
    }
    const short *from = run.upload(traces);
    int *to = run.zeros<int>(BREAK_TRACES);
    run.measure([=] {
        if (warps)
            firstbreaks_warp_kernel<<<BREAK_TRACES / 2, 64>>>(from, to);
        else
            firstbreaks_thread_kernel<<<BREAK_TRACES / 32, 32>>>(from, to);
    });
    run.expect_all(
        run.output(to, BREAK_TRACES),
        [&](size_t i) { return first_break(&traces[i * BREAK_LENGTH]); }, 0, 7);
}

static void firstbreaks_thread(Run &run)
{
    firstbreaks(run, false);
}

static void firstbreaks_warp(Run &run)
{
    firstbreaks(run, true);
}

#endif
