// models.cuh - language models: rotary embedding, cross entropy, gradients of embeddings, products
// of bytes, permuted axes.
#ifndef BLIND_MODELS_CUH
#define BLIND_MODELS_CUH

#include "dense.cuh"

// ---- Rotary embedding: angles computed by every thread, or read from a table ----

enum { ROTARY_HEADS = 16, ROTARY_HALF = 32, ROTARY_TOKENS = 2400 };

template <class T> __host__ __device__ inline T rotary_angle(int token, int k)
{
    return token * pow(T(10000), -T(k) / ROTARY_HALF);
}

// The first half of a head's values and the second half form the pairs.
__device__ inline void rotate_pair(const float *in, float *out, int at, float cosine, float sine)
{
    float a = in[at], b = in[at + ROTARY_HALF];
    out[at] = a * cosine - b * sine;
    out[at + ROTARY_HALF] = b * cosine + a * sine;
}

__global__ void rotary_computed_kernel(const float *in, float *out, int pairs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float cosine, sine;
    if (i >= pairs)
        return;
    int k = i % ROTARY_HALF, head = i / ROTARY_HALF, token = head / ROTARY_HEADS;
    sincosf(rotary_angle<float>(token, k), &sine, &cosine);
    rotate_pair(in, out, head * 2 * ROTARY_HALF + k, cosine, sine);
}

__global__ void rotary_table_kernel(const float *in, float *out, const float2 *table, int pairs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs)
        return;
    int k = i % ROTARY_HALF, head = i / ROTARY_HALF, token = head / ROTARY_HEADS;
    float2 turn = table[token * ROTARY_HALF + k];
    rotate_pair(in, out, head * 2 * ROTARY_HALF + k, turn.x, turn.y);
}

static void rotary(Run &run, bool by_table)
{
    const int pairs = ROTARY_TOKENS * ROTARY_HEADS * ROTARY_HALF;
    const std::vector<float> in = floats(pairs * 2, 531);
    std::vector<float2> table(ROTARY_TOKENS * ROTARY_HALF);
    for (size_t i = 0; i < table.size(); i++) {
        const double angle = rotary_angle<double>((int) i / ROTARY_HALF, (int) i % ROTARY_HALF);
        table[i] = make_float2((float) cos(angle), (float) sin(angle));
    }
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    float2 *turns = run.upload(table);
    run.measure([=] {
        if (by_table)
            rotary_table_kernel<<<blocks_for(pairs, 256), 256>>>(from, to, turns, pairs);
        else
            rotary_computed_kernel<<<blocks_for(pairs, 256), 256>>>(from, to, pairs);
    });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            const size_t k = i % ROTARY_HALF, token = i / (2 * ROTARY_HALF * ROTARY_HEADS);
            const float2 turn = table[token * ROTARY_HALF + k];
            return i % (2 * ROTARY_HALF) < ROTARY_HALF
                       ? in[i] * turn.x - in[i + ROTARY_HALF] * turn.y
                       : in[i] * turn.x + in[i - ROTARY_HALF] * turn.y;
        },
        2e-3, 47);
}

static void rotary_computed(Run &run)
{
    rotary(run, false);
}

static void rotary_table(Run &run)
{
    rotary(run, true);
}

// ---- Cross entropy over 3000 words: the maximum, then the sum; or both in one pass ----

enum { WORDS_KNOWN = 3000, ENTROPY_ROWS = 1300 };

// A maximum and the sum of exponentials relative to it.
struct Exponents {
    float most, sum;

    __device__ void add(float v)
    {
        if (v > most) {
            sum *= __expf(most - v);
            most = v;
        }
        sum += __expf(v - most);
    }

    __device__ void merge(float other_most, float other_sum)
    {
        float larger = fmaxf(most, other_most);
        sum = sum * __expf(most - larger) + other_sum * __expf(other_most - larger);
        most = larger;
    }
};

__global__ void __launch_bounds__(128)
    entropy_passes_kernel(const float *score, const int *target, float *loss)
{
    __shared__ float work[128];
    const int t = threadIdx.x;
    const float *row = score + (size_t) blockIdx.x * WORDS_KNOWN;
    float most = -1e30f, sum = 0;
    for (int k = t; k < WORDS_KNOWN; k += 128)
        most = fmaxf(most, row[k]);
    work[t] = most;
    for (int half = 64; half; half /= 2) {
        __syncthreads(); // the step before is complete
        if (t < half)
            work[t] = fmaxf(work[t], work[t + half]);
    }
    __syncthreads(); // the maximum is complete
    most = work[0];
    for (int k = t; k < WORDS_KNOWN; k += 128)
        sum += __expf(row[k] - most);
    __syncthreads(); // all have read the maximum
    work[t] = sum;
    for (int half = 64; half; half /= 2) {
        __syncthreads(); // the step before is complete
        if (t < half)
            work[t] += work[t + half];
    }
    if (t == 0)
        loss[blockIdx.x] = logf(work[0]) + most - row[target[blockIdx.x]];
}

__global__ void __launch_bounds__(128)
    entropy_online_kernel(const float *score, const int *target, float *loss)
{
    __shared__ float most[4], sum[4];
    const float *row = score + (size_t) blockIdx.x * WORDS_KNOWN;
    Exponents all = { -1e30f, 0 };
    for (int k = threadIdx.x; k < WORDS_KNOWN; k += 128)
        all.add(row[k]);
    for (int step = 16; step; step /= 2) {
        float other = __shfl_xor_sync(~0u, all.most, step);
        all.merge(other, __shfl_xor_sync(~0u, all.sum, step));
    }
    if (threadIdx.x % 32 == 0) {
        most[threadIdx.x / 32] = all.most;
        sum[threadIdx.x / 32] = all.sum;
    }
    __syncthreads(); // the warps' results are complete
    if (threadIdx.x > 0)
        return;
    for (int k = 1; k < 4; k++)
        all.merge(most[k], sum[k]);
    loss[blockIdx.x] = logf(all.sum) + all.most - row[target[blockIdx.x]];
}

template <class Launch> static void entropy(Run &run, Launch launch)
{
    const std::vector<float> score = floats((size_t) ENTROPY_ROWS * WORDS_KNOWN, 532, -6, 6);
    const std::vector<int> target = integers(ENTROPY_ROWS, WORDS_KNOWN, 533);
    float *ds = run.upload(score), *loss = run.zeros<float>(ENTROPY_ROWS);
    int *dt = run.upload(target);
    run.measure([=] { launch(ds, dt, loss); });
    run.expect_all(
        run.output(loss, ENTROPY_ROWS),
        [&](size_t i) {
            double sum = 0;
            for (int k = 0; k < WORDS_KNOWN; k++)
                sum += exp((double) score[i * WORDS_KNOWN + k]);
            return log(sum) - score[i * WORDS_KNOWN + target[i]];
        },
        1e-4, 11);
}

static void entropy_passes(Run &run)
{
    entropy(run, [](float *score, int *target, float *loss) {
        entropy_passes_kernel<<<ENTROPY_ROWS, 128>>>(score, target, loss);
    });
}

static void entropy_online(Run &run)
{
    entropy(run, [](float *score, int *target, float *loss) {
        entropy_online_kernel<<<ENTROPY_ROWS, 128>>>(score, target, loss);
    });
}

// ---- Gradient of an embedding of 64 values: atomics per token, or a block per word of the table

enum { EMBEDDED = 64, EMBEDDING_ROWS = 3000, TOKENS = 14000 };

__global__ void gradient_atomic_kernel(const int *token, const float *gradient, float *table)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < TOKENS * EMBEDDED)
        atomicAdd(&table[token[i / EMBEDDED] * EMBEDDED + i % EMBEDDED], gradient[i]);
}

// `order` lists the tokens by word; those of a word begin at first[word].
__global__ void __launch_bounds__(EMBEDDED)
    gradient_sorted_kernel(const int *order, const int *first, const float *gradient, float *table)
{
    float sum = 0;
    for (int k = first[blockIdx.x]; k < first[blockIdx.x + 1]; k++)
        sum += gradient[order[k] * EMBEDDED + threadIdx.x];
    table[blockIdx.x * EMBEDDED + threadIdx.x] = sum;
}

// Small words are frequent, as in a text.
static std::vector<int> some_text()
{
    std::vector<int> token(TOKENS);
    for (int i = 0; i < TOKENS; i++) {
        const double u = mix(i + 534) * 0x1p-32;
        token[i] = (int) (EMBEDDING_ROWS * u * u * u);
    }
    return token;
}

static void gradient(Run &run, bool sorted)
{
    const std::vector<int> token = some_text();
    const std::vector<float> in = exact_floats(TOKENS * EMBEDDED, 9, 535);
    std::vector<int> order(TOKENS), first(EMBEDDING_ROWS + 1);
    std::vector<double> wanted(EMBEDDING_ROWS * EMBEDDED);
    for (int i = 0; i < TOKENS; i++) {
        order[i] = i;
        first[token[i] + 1]++;
        for (int d = 0; d < EMBEDDED; d++)
            wanted[token[i] * EMBEDDED + d] += in[i * EMBEDDED + d];
    }
    for (int word = 0; word < EMBEDDING_ROWS; word++)
        first[word + 1] += first[word];
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return token[a] < token[b]; });
    int *dt = run.upload(token), *od = run.upload(order), *df = run.upload(first);
    float *dg = run.upload(in), *table = run.zeros<float>(wanted.size());
    run.measure(
        [=] {
            if (sorted)
                gradient_sorted_kernel<<<EMBEDDING_ROWS, EMBEDDED>>>(od, df, dg, table);
            else
                gradient_atomic_kernel<<<blocks_for(TOKENS * EMBEDDED, 256), 256>>>(dt, dg, table);
        },
        [=] { CHECK(cudaMemset(table, 0, sizeof(float[EMBEDDING_ROWS * EMBEDDED]))); });
    run.expect_all(
        run.output(table, wanted.size()), [&](size_t i) { return wanted[i]; }, 0, 3);
}

static void gradient_atomic(Run &run)
{
    gradient(run, false);
}

static void gradient_sorted(Run &run)
{
    gradient(run, true);
}

// ---- Matrix of bytes times vector, a warp per row: single bytes, or 16 bytes at once ----

enum { BYTE_COLS = 2048, BYTE_ROWS = 16000 };

__global__ void gemv8_bytes_kernel(const signed char *matrix, const signed char *x, int *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, sum = 0;
    if (row >= BYTE_ROWS)
        return;
    for (int c = lane; c < BYTE_COLS; c += 32)
        sum += matrix[row * BYTE_COLS + c] * x[c];
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0)
        y[row] = sum;
}

__global__ void gemv8_vector_kernel(const int4 *matrix, const int4 *x, int *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, sum = 0;
    if (row >= BYTE_ROWS)
        return;
    for (int c = lane; c < BYTE_COLS / 16; c += 32) {
        int4 a = matrix[row * (BYTE_COLS / 16) + c], b = x[c];
        sum = __dp4a(a.x, b.x, __dp4a(a.y, b.y, sum));
        sum = __dp4a(a.z, b.z, __dp4a(a.w, b.w, sum));
    }
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0)
        y[row] = sum;
}

template <class Launch> static void gemv8(Run &run, Launch launch)
{
    const std::vector<uint32_t> matrix = words((size_t) BYTE_ROWS * BYTE_COLS / 4, 536),
                                x = words(BYTE_COLS / 4, 537);
    uint32_t *dm = run.upload(matrix), *dx = run.upload(x);
    int *y = run.zeros<int>(BYTE_ROWS);
    run.measure([=] { launch(dm, dx, y); });
    const signed char *a = (const signed char *) matrix.data(), *b = (const signed char *) x.data();
    run.expect_all(
        run.output(y, BYTE_ROWS),
        [&](size_t row) {
            int sum = 0;
            for (int c = 0; c < BYTE_COLS; c++)
                sum += a[row * BYTE_COLS + c] * b[c];
            return sum;
        },
        0, 23);
}

static void gemv8_bytes(Run &run)
{
    gemv8(run, [](void *matrix, void *x, int *y) {
        gemv8_bytes_kernel<<<blocks_for(BYTE_ROWS * 32, 256), 256>>>((signed char *) matrix,
                                                                     (signed char *) x, y);
    });
}

static void gemv8_vector(Run &run)
{
    gemv8(run, [](void *matrix, void *x, int *y) {
        gemv8_vector_kernel<<<blocks_for(BYTE_ROWS * 32, 256), 256>>>((int4 *) matrix, (int4 *) x,
                                                                      y);
    });
}

// ---- Any permutation of four axes, by division ----

struct Axes {
    int size[4], step[4]; // sizes of the output's axes; steps in the input
};

__host__ __device__ inline int permuted(const Axes &axes, int i)
{
    int from = 0;
    for (int axis = 3; axis >= 0; axis--) {
        from += i % axes.size[axis] * axes.step[axis];
        i /= axes.size[axis];
    }
    return from;
}

__global__ void permute_kernel(const float *in, float *out, Axes axes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[permuted(axes, i)];
}

static void permute_axes(Run &run)
{
    const int a = 5, b = 50, c = 80, d = 72, n = a * b * c * d;
    const Axes axes = { { c, a, d, b }, { d, b * c * d, 1, c * d } };
    const std::vector<float> in = floats(n, 538);
    float *from = run.upload(in), *to = run.zeros<float>(n);
    run.measure([=] { permute_kernel<<<blocks_for(n, 512), 512>>>(from, to, axes, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return in[permuted(axes, (int) i)]; }, 0, 29);
}

#endif
