// training.cuh - what trains networks: windows as columns, pooling backward, gradients of a norm's
// gain, state spaces, alignments.
#ifndef BLIND_TRAINING_CUH
#define BLIND_TRAINING_CUH

#include "blind.cuh"

// ---- Windows of 3 by 3 as columns (im2col): nine values or one per thread ----

enum { UNFOLD_SIDE = 56, UNFOLD_AREA = UNFOLD_SIDE * UNFOLD_SIDE, UNFOLD_PLANES = 192 };

__host__ __device__ inline float unfolded(const float *plane, int x, int y)
{
    const bool inside = x >= 0 && y >= 0 && x < UNFOLD_SIDE && y < UNFOLD_SIDE;
    return inside ? plane[y * UNFOLD_SIDE + x] : 0;
}

__global__ void unfold_pixel_kernel(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int x = i % UNFOLD_SIDE, y = i / UNFOLD_SIDE % UNFOLD_SIDE, plane = i / UNFOLD_AREA;
    float *to = out + plane * 9 * UNFOLD_AREA + y * UNFOLD_SIDE + x;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            *to = unfolded(in + plane * UNFOLD_AREA, x + dx, y + dy);
            to += UNFOLD_AREA;
        }
}

__host__ __device__ inline float unfolded_at(const float *in, int i)
{
    const int x = i % UNFOLD_SIDE, y = i / UNFOLD_SIDE % UNFOLD_SIDE;
    const int tap = i / UNFOLD_AREA % 9, plane = i / UNFOLD_AREA / 9;
    return unfolded(in + plane * UNFOLD_AREA, x + tap % 3 - 1, y + tap / 3 - 1);
}

__global__ void unfold_value_kernel(const float *in, float *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 9 * n; i += gridDim.x * blockDim.x)
        out[i] = unfolded_at(in, i);
}

static void unfold(Run &run, bool by_value)
{
    const int n = UNFOLD_PLANES * UNFOLD_AREA;
    const std::vector<float> in = floats(n, 741);
    float *from = run.upload(in), *to = run.zeros<float>(9 * n);
    run.measure([=] {
        if (by_value)
            unfold_value_kernel<<<1024, 256>>>(from, to, n);
        else
            unfold_pixel_kernel<<<blocks_for(n, 512), 512>>>(from, to, n);
    });
    run.expect_all(
        run.output(to, 9 * n), [&](size_t i) { return unfolded_at(in.data(), i); }, 0, 77);
}

static void unfold_pixel(Run &run)
{
    unfold(run, false);
}

static void unfold_value(Run &run)
{
    unfold(run, true);
}

// ---- Backward of max pooling, windows of 3 by 3 at every second pixel: scattered or gathered ----

enum { POOL_SIDE = 56, POOL_OUT = 27, POOL_PLANES = 640 };

__global__ void unpool_scatter_kernel(const float *gradient, const int *largest, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&out[i / (POOL_OUT * POOL_OUT) * POOL_SIDE * POOL_SIDE + largest[i]],
                  gradient[i]);
}

__host__ __device__ inline float unpooled(const float *gradient, const int *largest, int i)
{
    const int x = i % POOL_SIDE, y = i / POOL_SIDE % POOL_SIDE, plane = i / (POOL_SIDE * POOL_SIDE);
    const int here = y * POOL_SIDE + x;
    float sum = 0;
    for (int v = y < 2 ? 0 : (y - 1) / 2; v <= y / 2 && v < POOL_OUT; v++)
        for (int u = x < 2 ? 0 : (x - 1) / 2; u <= x / 2 && u < POOL_OUT; u++) {
            const int at = (plane * POOL_OUT + v) * POOL_OUT + u;
            if (largest[at] == here)
                sum += gradient[at];
        }
    return sum;
}

__global__ void unpool_gather_kernel(const float *gradient, const int *largest, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = unpooled(gradient, largest, i);
}

static std::vector<int> pool_largest(const std::vector<float> &in)
{
    std::vector<int> largest(POOL_PLANES * POOL_OUT * POOL_OUT);
    for (size_t i = 0; i < largest.size(); i++) {
        const int u = i % POOL_OUT, v = i / POOL_OUT % POOL_OUT;
        const float *plane = &in[i / (POOL_OUT * POOL_OUT) * POOL_SIDE * POOL_SIDE];
        int best = 2 * v * POOL_SIDE + 2 * u;
        for (int k = 0; k < 9; k++) {
            const int at = (2 * v + k / 3) * POOL_SIDE + 2 * u + k % 3;
            best = plane[at] > plane[best] ? at : best;
        }
        largest[i] = best;
    }
    return largest;
}

static void unpool(Run &run, bool gather)
{
    const int n = POOL_PLANES * POOL_SIDE * POOL_SIDE, outs = POOL_PLANES * POOL_OUT * POOL_OUT;
    const std::vector<int> largest = pool_largest(floats(n, 742));
    const std::vector<float> gradient = floats(outs, 743);
    const int *dl = run.upload(largest);
    float *dg = run.upload(gradient), *to = run.zeros<float>(n);
    run.measure(
        [=] {
            if (gather)
                unpool_gather_kernel<<<blocks_for(n, 256), 256>>>(dg, dl, to, n);
            else
                unpool_scatter_kernel<<<blocks_for(outs, 256), 256>>>(dg, dl, to, outs);
        },
        [=] { CHECK(cudaMemset(to, 0, n * sizeof(float))); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return unpooled(gradient.data(), largest.data(), i); },
        1e-5, 23);
}

static void unpool_scatter(Run &run)
{
    unpool(run, false);
}

static void unpool_gather(Run &run)
{
    unpool(run, true);
}

// ---- Gradient of a norm's gain: sums of columns, atomically per value or by blocks of columns
// ----

enum { GAIN_ROWS = 3000, GAIN_WIDTH = 768 };

__global__ void gain_atomic_kernel(const float *upstream, const float *in, const float2 *moments,
                                   float *gradient)
{
    const int row = blockIdx.x;
    const float2 m = moments[row];
    for (int c = threadIdx.x; c < GAIN_WIDTH; c += blockDim.x) {
        const float normal = (in[row * GAIN_WIDTH + c] - m.x) * m.y;
        atomicAdd(&gradient[c], upstream[row * GAIN_WIDTH + c] * normal);
    }
}

__global__ void __launch_bounds__(256) gain_columns_kernel(const float *upstream, const float *in,
                                                           const float2 *moments, float *gradient)
{
    __shared__ float part[8][33];
    const int c = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int row = threadIdx.y; row < GAIN_ROWS; row += 8) {
        const float2 m = moments[row];
        sum += upstream[row * GAIN_WIDTH + c] * ((in[row * GAIN_WIDTH + c] - m.x) * m.y);
    }
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads(); // the sums of each eighth are complete
    if (threadIdx.y == 0) {
        for (int k = 1; k < 8; k++)
            sum += part[k][threadIdx.x];
        gradient[c] = sum;
    }
}

static void gain(Run &run, bool columns)
{
    const int n = GAIN_ROWS * GAIN_WIDTH;
    const std::vector<float> up = floats(n, 744), in = floats(n, 745),
                             raw = floats(2 * GAIN_ROWS, 746, 0.1f, 0.9f);
    float *du = run.upload(up), *from = run.upload(in), *to = run.zeros<float>(GAIN_WIDTH);
    const float2 *moments = (const float2 *) run.upload(raw);
    run.measure(
        [=] {
            if (columns)
                gain_columns_kernel<<<GAIN_WIDTH / 32, dim3(32, 8)>>>(du, from, moments, to);
            else
                gain_atomic_kernel<<<GAIN_ROWS, 256>>>(du, from, moments, to);
        },
        [=] { CHECK(cudaMemset(to, 0, GAIN_WIDTH * sizeof(float))); });
    run.expect_all(
        run.output(to, GAIN_WIDTH),
        [&](size_t c) {
            double sum = 0;
            for (int row = 0; row < GAIN_ROWS; row++)
                sum += (double) up[row * GAIN_WIDTH + c] *
                       ((in[row * GAIN_WIDTH + c] - raw[2 * row]) * raw[2 * row + 1]);
            return sum;
        },
        1e-3, 7);
}

static void gain_atomic(Run &run)
{
    gain(run, false);
}

static void gain_columns(Run &run)
{
    gain(run, true);
}

// ---- State spaces over time: eight states in a thread's registers, or one per lane ----

enum { STATE_CHANNELS = 3072, STATE_STEPS = 160, SPACE_STATES = 8 };

__global__ void state_thread_kernel(const float *x, const float *rate, const float *decay,
                                    const float *into, const float *from, float *out)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    float h[SPACE_STATES] = {}, a[SPACE_STATES];
    for (int s = 0; s < SPACE_STATES; s++)
        a[s] = decay[c * SPACE_STATES + s];
    for (int t = 0; t < STATE_STEPS; t++) {
        const float dt = rate[t * STATE_CHANNELS + c], value = x[t * STATE_CHANNELS + c];
        float sum = 0;
        for (int s = 0; s < SPACE_STATES; s++) {
            h[s] = __expf(dt * a[s]) * h[s] + dt * into[t * SPACE_STATES + s] * value;
            sum += from[t * SPACE_STATES + s] * h[s];
        }
        out[t * STATE_CHANNELS + c] = sum;
    }
}

__global__ void state_lanes_kernel(const float *x, const float *rate, const float *decay,
                                   const float *into, const float *from, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, c = i / SPACE_STATES, s = i % SPACE_STATES;
    const float a = decay[i];
    float h = 0;
    for (int t = 0; t < STATE_STEPS; t++) {
        const float dt = rate[t * STATE_CHANNELS + c];
        h = __expf(dt * a) * h + dt * into[t * SPACE_STATES + s] * x[t * STATE_CHANNELS + c];
        float sum = from[t * SPACE_STATES + s] * h;
        for (int apart = SPACE_STATES / 2; apart; apart /= 2)
            sum += __shfl_xor_sync(~0u, sum, apart);
        if (s == 0)
            out[t * STATE_CHANNELS + c] = sum;
    }
}

static void state(Run &run, bool lanes)
{
    const int n = STATE_CHANNELS * STATE_STEPS;
    const std::vector<float> x = floats(n, 747), rate = floats(n, 748, 0.01f, 0.2f),
                             decay = floats(STATE_CHANNELS * SPACE_STATES, 749, -4, -0.2f),
                             into = floats(STATE_STEPS * SPACE_STATES, 750),
                             from = floats(STATE_STEPS * SPACE_STATES, 751);
    float *dx = run.upload(x), *dr = run.upload(rate), *dd = run.upload(decay),
          *di = run.upload(into), *df = run.upload(from), *to = run.zeros<float>(n);
    run.measure([=] {
        if (lanes)
            state_lanes_kernel<<<STATE_CHANNELS * SPACE_STATES / 128, 128>>>(dx, dr, dd, di, df,
                                                                             to);
        else
            state_thread_kernel<<<STATE_CHANNELS / 64, 64>>>(dx, dr, dd, di, df, to);
    });
    const std::vector<float> got = run.output(to, n);
    for (int c = 0; c < STATE_CHANNELS; c += 37) {
        double h[SPACE_STATES] = {};
        for (int t = 0; t < STATE_STEPS; t++) {
            const double dt = rate[t * STATE_CHANNELS + c], value = x[t * STATE_CHANNELS + c];
            double sum = 0;
            for (int s = 0; s < SPACE_STATES; s++) {
                h[s] = exp(dt * decay[c * SPACE_STATES + s]) * h[s] +
                       dt * into[t * SPACE_STATES + s] * value;
                sum += from[t * SPACE_STATES + s] * h[s];
            }
            run.expect(got[t * STATE_CHANNELS + c], sum, 1e-4);
        }
    }
}

static void state_thread(Run &run)
{
    state(run, false);
}

static void state_lanes(Run &run)
{
    state(run, true);
}

// ---- Alignments of labels with frames (CTC): a block per utterance, a barrier per frame ----

enum { CTC_FRAMES = 120, CTC_LABELS = 24, CTC_STATES = 2 * CTC_LABELS + 1, CTC_ALPHABET = 40 };

__host__ __device__ inline float log_sum(float a, float b)
{
    const float high = fmaxf(a, b), low = fminf(a, b);
    return low < -1e29f ? high : high + log1pf(expf(low - high));
}

// States of even number are blanks, symbol 0.
__host__ __device__ inline float ctc_next(const float *before, const int *label, const float *frame,
                                          int s)
{
    const int symbol = s % 2 ? label[s / 2] : 0;
    float sum = before[s];
    if (s >= 1)
        sum = log_sum(sum, before[s - 1]);
    if (s >= 3 && s % 2 && symbol != label[s / 2 - 1])
        sum = log_sum(sum, before[s - 2]);
    return sum + frame[symbol];
}

__global__ void __launch_bounds__(64) ctc_kernel(const float *score, const int *label, float *loss)
{
    __shared__ float alpha[2][CTC_STATES];
    const int s = threadIdx.x;
    const float *frame = score + blockIdx.x * CTC_FRAMES * CTC_ALPHABET;
    const int *mine = label + blockIdx.x * CTC_LABELS;
    if (s < CTC_STATES)
        alpha[0][s] = s == 0 ? frame[0] : s == 1 ? frame[mine[0]] : -1e30f;
    __syncthreads(); // the first frame's values are complete
    for (int t = 1; t < CTC_FRAMES; t++) {
        if (s < CTC_STATES)
            alpha[t % 2][s] = ctc_next(alpha[(t - 1) % 2], mine, frame + t * CTC_ALPHABET, s);
        __syncthreads(); // the frame's values are complete
    }
    if (s == 0)
        loss[blockIdx.x] = -log_sum(alpha[(CTC_FRAMES - 1) % 2][CTC_STATES - 1],
                                    alpha[(CTC_FRAMES - 1) % 2][CTC_STATES - 2]);
}

static void ctc_alignment(Run &run)
{
    const int utterances = 96;
    const std::vector<float> score = floats(utterances * CTC_FRAMES * CTC_ALPHABET, 752, -6, 0);
    std::vector<int> label = integers(utterances * CTC_LABELS, CTC_ALPHABET - 1, 753);
    for (int &symbol : label)
        symbol++;
    float *ds = run.upload(score), *loss = run.zeros<float>(utterances);
    int *dl = run.upload(label);
    run.measure([=] { ctc_kernel<<<utterances, 64>>>(ds, dl, loss); });
    run.expect_all(
        run.output(loss, utterances),
        [&](size_t u) {
            std::vector<float> now(CTC_STATES, -1e30f), before;
            const float *frame = &score[u * CTC_FRAMES * CTC_ALPHABET];
            now[0] = frame[0];
            now[1] = frame[label[u * CTC_LABELS]];
            for (int t = 1; t < CTC_FRAMES; t++) {
                before = now;
                for (int s = 0; s < CTC_STATES; s++)
                    now[s] = ctc_next(before.data(), &label[u * CTC_LABELS],
                                      frame + t * CTC_ALPHABET, s);
            }
            return -log_sum(now[CTC_STATES - 1], now[CTC_STATES - 2]);
        },
        1e-3, 5);
}

#endif
