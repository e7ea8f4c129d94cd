// machines.cuh - long serial work per thread: a small interpreter, time warping, hidden states,
// subsets, annealing.
#ifndef BLIND_MACHINES_CUH
#define BLIND_MACHINES_CUH

#include "blind.cuh"

// ---- An interpreter of 8 programs with 8 registers: threads ordered by program, or mixed ----

enum { PROGRAMS = 8, PROGRAM_LENGTH = 24, PROGRAM_ROUNDS = 6 };

// An instruction: operation, target, source, and a number, 8 bits each.
__host__ __device__ inline uint32_t interpret(const uint32_t *program, uint32_t input)
{
    uint32_t r[8];
    for (int k = 0; k < 8; k++)
        r[k] = input + k;
    for (int at = 0; at < PROGRAM_LENGTH * PROGRAM_ROUNDS; at++) {
        const uint32_t code = program[at % PROGRAM_LENGTH];
        const int to = code >> 8 & 7;
        const uint32_t a = r[to], b = r[code >> 16 & 7], number = code >> 24;
        switch (code & 7) {
        case 0:
            r[to] = a + b;
            break;
        case 1:
            r[to] = a - number;
            break;
        case 2:
            r[to] = a * b + 1;
            break;
        case 3:
            r[to] = a ^ b >> 3;
            break;
        case 4:
            r[to] = a << number % 32 | a >> (32 - number % 32) % 32;
            break;
        case 5:
            r[to] = a < b ? a : b;
            break;
        case 6:
            r[to] = a / (number + 1);
            break;
        default:
            r[to] = b & 1 ? a + number : b;
        }
    }
    return r[0] ^ r[1] ^ r[2] ^ r[3] ^ r[4] ^ r[5] ^ r[6] ^ r[7];
}

__global__ void bytecode_kernel(const uint32_t *programs, const int *which, uint32_t *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = interpret(programs + which[i] * PROGRAM_LENGTH, i);
}

static void bytecode(Run &run, bool ordered)
{
    const int n = 10000;
    const std::vector<uint32_t> programs = words(PROGRAMS * PROGRAM_LENGTH, 701);
    std::vector<int> which = integers(n, PROGRAMS, 702);
    if (ordered)
        std::sort(which.begin(), which.end());
    uint32_t *dp = run.upload(programs), *to = run.zeros<uint32_t>(n);
    int *dw = run.upload(which);
    run.measure([=] { bytecode_kernel<<<blocks_for(n, 64), 64>>>(dp, dw, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) { return interpret(&programs[which[i] * PROGRAM_LENGTH], (uint32_t) i); }, 0,
        11);
}

static void bytecode_ordered(Run &run)
{
    bytecode(run, true);
}

static void bytecode_mixed(Run &run)
{
    bytecode(run, false);
}

// ---- Dynamic time warping of 64 against 64 values: a thread with a local row, or a warp ----

enum { WARP_LENGTH = 64 };

__host__ __device__ inline int warp_least(int a, int b, int c)
{
    const int least = a < b ? a : b;
    return least < c ? least : c;
}

__host__ __device__ inline int warp_cost(const int *a, const int *b)
{
    int row[WARP_LENGTH + 1];
    row[0] = 0;
    for (int k = 1; k <= WARP_LENGTH; k++)
        row[k] = 1 << 29;
    for (int i = 0; i < WARP_LENGTH; i++) {
        int corner = row[0];
        row[0] = 1 << 29;
        for (int k = 1; k <= WARP_LENGTH; k++) {
            const int above = row[k], apart = a[i] - b[k - 1];
            row[k] = (apart < 0 ? -apart : apart) + warp_least(corner, above, row[k - 1]);
            corner = above;
        }
    }
    return row[WARP_LENGTH];
}

__global__ void warping_thread_kernel(const int *a, const int *b, int *out, int pairs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs)
        out[i] = warp_cost(a + i * WARP_LENGTH, b + i * WARP_LENGTH);
}

// A lane has two columns and is one row behind the lane to its left.
__global__ void warping_warp_kernel(const int *a, const int *b, int *out, int pairs)
{
    const int pair = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (pair >= pairs)
        return;
    const int far = 1 << 29, *mine = a + pair * WARP_LENGTH;
    const int b0 = b[pair * WARP_LENGTH + 2 * lane], b1 = b[pair * WARP_LENGTH + 2 * lane + 1];
    int above0 = far, above1 = far, corner = lane ? far : 0;
    for (int step = 0; step < WARP_LENGTH + 31; step++) {
        const int row = step - lane;
        int left = __shfl_up_sync(~0u, above1, 1);
        if (lane == 0)
            left = far;
        if (row < 0 || row >= WARP_LENGTH)
            continue;
        const int v = mine[row];
        const int first = abs(v - b0) + warp_least(corner, above0, left);
        const int second = abs(v - b1) + warp_least(above0, above1, first);
        corner = left;
        above0 = first;
        above1 = second;
    }
    if (lane == 31)
        out[pair] = above1;
}

static void warping(Run &run, bool by_warp)
{
    const int pairs = 2000;
    const std::vector<int> a = integers(pairs * WARP_LENGTH, 1000, 703);
    const std::vector<int> b = integers(pairs * WARP_LENGTH, 1000, 704);
    int *da = run.upload(a), *db = run.upload(b), *to = run.zeros<int>(pairs);
    run.measure([=] {
        if (by_warp)
            warping_warp_kernel<<<blocks_for(pairs * 32, 128), 128>>>(da, db, to, pairs);
        else
            warping_thread_kernel<<<blocks_for(pairs, 32), 32>>>(da, db, to, pairs);
    });
    run.expect_all(
        run.output(to, pairs),
        [&](size_t i) { return warp_cost(&a[i * WARP_LENGTH], &b[i * WARP_LENGTH]); }, 0, 7);
}

static void warping_thread(Run &run)
{
    warping(run, false);
}

static void warping_warp(Run &run)
{
    warping(run, true);
}

// ---- The best path through 64 hidden states (Viterbi): costs in global or in shared memory ----

enum { HIDDEN_STATES = 64, HIDDEN_SYMBOLS = 20, HIDDEN_STEPS = 40 };

// `cost`: [from][to].
__device__ inline int viterbi_step(const int *cost, const int *score, int state)
{
    int best = 1 << 30;
    for (int from = 0; from < HIDDEN_STATES; from++)
        best = min(best, score[from] + cost[from * HIDDEN_STATES + state]);
    return best;
}

// One block per sequence, one thread per state.
__device__ inline void viterbi_sequence(const int *cost, const int *emission, const int *seen,
                                        int *out)
{
    __shared__ int score[2][HIDDEN_STATES];
    const int state = threadIdx.x;
    seen += blockIdx.x * HIDDEN_STEPS;
    score[0][state] = emission[seen[0] * HIDDEN_STATES + state];
    for (int t = 1; t < HIDDEN_STEPS; t++) {
        __syncthreads(); // the scores before are complete
        score[t % 2][state] =
            viterbi_step(cost, score[1 - t % 2], state) + emission[seen[t] * HIDDEN_STATES + state];
    }
    out[blockIdx.x * HIDDEN_STATES + state] = score[1 - HIDDEN_STEPS % 2][state];
}

__global__ void __launch_bounds__(HIDDEN_STATES)
    viterbi_global_kernel(const int *cost, const int *emission, const int *seen, int *out)
{
    viterbi_sequence(cost, emission, seen, out);
}

__global__ void __launch_bounds__(HIDDEN_STATES)
    viterbi_shared_kernel(const int *cost, const int *emission, const int *seen, int *out)
{
    __shared__ int local[HIDDEN_STATES * HIDDEN_STATES];
    for (int k = threadIdx.x; k < HIDDEN_STATES * HIDDEN_STATES; k += HIDDEN_STATES)
        local[k] = cost[k];
    __syncthreads(); // the costs are complete
    viterbi_sequence(local, emission, seen, out);
}

static void viterbi(Run &run, void (*kernel)(const int *, const int *, const int *, int *))
{
    const int sequences = 200;
    const std::vector<int> cost = integers(HIDDEN_STATES * HIDDEN_STATES, 500, 705);
    const std::vector<int> emission = integers(HIDDEN_SYMBOLS * HIDDEN_STATES, 500, 706);
    const std::vector<int> seen = integers(sequences * HIDDEN_STEPS, HIDDEN_SYMBOLS, 707);
    int *dc = run.upload(cost), *de = run.upload(emission), *ds = run.upload(seen);
    int *to = run.zeros<int>(sequences * HIDDEN_STATES);
    run.measure([=] { kernel<<<sequences, HIDDEN_STATES>>>(dc, de, ds, to); });
    const std::vector<int> got = run.output(to, sequences * HIDDEN_STATES);
    for (int s = 0; s < sequences; s += 13) {
        std::vector<int> score(HIDDEN_STATES), next(HIDDEN_STATES);
        for (int t = 0; t < HIDDEN_STEPS; t++, score.swap(next))
            for (int state = 0; state < HIDDEN_STATES; state++) {
                int best = t ? 1 << 30 : 0;
                for (int from = 0; t && from < HIDDEN_STATES; from++)
                    best = std::min(best, score[from] + cost[from * HIDDEN_STATES + state]);
                next[state] = best + emission[seen[s * HIDDEN_STEPS + t] * HIDDEN_STATES + state];
            }
        for (int state = 0; state < HIDDEN_STATES; state++)
            run.expect(got[s * HIDDEN_STATES + state], score[state], 0);
    }
}

static void viterbi_global(Run &run)
{
    viterbi(run, viterbi_global_kernel);
}

static void viterbi_shared(Run &run)
{
    viterbi(run, viterbi_shared_kernel);
}

// ---- How many subsets of 10 numbers have a sum in a range: recursion, or a loop by Gray code ----

enum { SUBSET_ITEMS = 10, SUBSET_LOW = 240, SUBSET_HIGH = 300 };

__host__ __device__ int subsets_below(const int *item, int at, int sum)
{
    if (at == SUBSET_ITEMS)
        return sum >= SUBSET_LOW && sum < SUBSET_HIGH;
    return subsets_below(item, at + 1, sum) + subsets_below(item, at + 1, sum + item[at]);
}

__global__ void subsets_recursive_kernel(const int *items, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        count[i] = subsets_below(items + i * SUBSET_ITEMS, 0, 0);
}

// Code k differs from the code before in the bit of k's lowest one.
__global__ void subsets_gray_kernel(const int *items, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, item[SUBSET_ITEMS], sum = 0, found = 0;
    if (i >= n)
        return;
    for (int k = 0; k < SUBSET_ITEMS; k++)
        item[k] = items[i * SUBSET_ITEMS + k];
    for (int k = 1; k < 1 << SUBSET_ITEMS; k++) {
        int bit = __ffs(k) - 1;
        sum += (k ^ k >> 1) >> bit & 1 ? item[bit] : -item[bit];
        found += sum >= SUBSET_LOW && sum < SUBSET_HIGH;
    }
    count[i] = found;
}

static void subsets(Run &run, void (*kernel)(const int *, int *, int))
{
    const int n = 3000;
    const std::vector<int> items = integers(n * SUBSET_ITEMS, 100, 708);
    int *from = run.upload(items), *to = run.zeros<int>(n);
    run.measure([=] { kernel<<<blocks_for(n, 64), 64>>>(from, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return subsets_below(&items[i * SUBSET_ITEMS], 0, 0); },
        0, 7);
}

static void subsets_recursive(Run &run)
{
    subsets(run, subsets_recursive_kernel);
}

static void subsets_gray(Run &run)
{
    subsets(run, subsets_gray_kernel);
}

// ---- A tour of 24 cities by annealing with a falling threshold: a chain per thread ----

enum { TOUR_CITIES = 24, TOUR_MOVES = 700 };

// Swaps two cities if the tour becomes at most `threshold` longer.
__host__ __device__ inline int anneal(const int *distance, uint32_t seed)
{
    unsigned char tour[TOUR_CITIES];
    int length = 0;
    for (int k = 0; k < TOUR_CITIES; k++)
        tour[k] = (unsigned char) k;
    for (int move = 0; move < TOUR_MOVES; move++) {
        seed = seed * 1664525u + 1013904223u;
        const int a = (seed >> 8) % (TOUR_CITIES - 2) + 1, b = (seed >> 20) % (TOUR_CITIES - 2) + 1;
        if (a == b || a == b + 1 || b == a + 1)
            continue;
        const int *at_a = distance + tour[a] * TOUR_CITIES,
                  *at_b = distance + tour[b] * TOUR_CITIES;
        const int change = at_b[tour[a - 1]] + at_b[tour[a + 1]] + at_a[tour[b - 1]] +
                           at_a[tour[b + 1]] - at_a[tour[a - 1]] - at_a[tour[a + 1]] -
                           at_b[tour[b - 1]] - at_b[tour[b + 1]];
        if (change > (TOUR_MOVES - move) / 4)
            continue;
        const unsigned char city = tour[a];
        tour[a] = tour[b];
        tour[b] = city;
    }
    for (int k = 1; k < TOUR_CITIES; k++)
        length += distance[tour[k - 1] * TOUR_CITIES + tour[k]];
    return length;
}

__global__ void annealing_kernel(const int *distance, int *length, int n)
{
    __shared__ int local[TOUR_CITIES * TOUR_CITIES];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = threadIdx.x; k < TOUR_CITIES * TOUR_CITIES; k += blockDim.x)
        local[k] = distance[k];
    __syncthreads(); // the distances are complete
    if (i < n)
        length[i] = anneal(local, i + 1);
}

static void annealing(Run &run)
{
    const int n = 2800;
    std::vector<int> distance(TOUR_CITIES * TOUR_CITIES);
    for (int a = 0; a < TOUR_CITIES; a++)
        for (int b = 0; b < TOUR_CITIES; b++)
            distance[a * TOUR_CITIES + b] =
                a == b ? 0 : 50 + (int) (mix(std::min(a, b) * 64 + std::max(a, b) + 709) % 500);
    int *dd = run.upload(distance), *to = run.zeros<int>(n);
    run.measure([=] { annealing_kernel<<<blocks_for(n, 32), 32>>>(dd, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return anneal(distance.data(), (uint32_t) i + 1); }, 0,
        7);
}

#endif
