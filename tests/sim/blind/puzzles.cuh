// puzzles.cuh - search and games: exchanges in a tour, an automaton of bits, liberties on boards of
// Go, sudokus, the smallest values by heaps.
#ifndef BLIND_PUZZLES_CUH
#define BLIND_PUZZLES_CUH

#include "blind.cuh"

// ---- The best exchange of two edges of a tour: a thread per pair of edges, or per first edge ----

enum { CITIES = 1400, TOUR_PAIRS = (CITIES - 1) * (CITIES - 2) / 2 };

// Rounded, as in TSPLIB.
__host__ __device__ inline int way_between(short2 a, short2 b)
{
    const int dx = a.x - b.x, dy = a.y - b.y;
    return (int) (sqrtf((float) (dx * dx + dy * dy)) + 0.5f);
}

// What the tour gains if the edges that begin at i < j are exchanged. Key: gain, then the pair.
__host__ __device__ inline long long exchange_key(const short2 *tour, int i, int j)
{
    const int gain = way_between(tour[i], tour[i + 1]) + way_between(tour[j], tour[j + 1]) -
                     way_between(tour[i], tour[j]) - way_between(tour[i + 1], tour[j + 1]);
    return ((long long) gain << 32) + i * CITIES + j;
}

__device__ inline void keep_best(long long key, long long *best)
{
    for (int step = 16; step; step /= 2)
        key = max(key, __shfl_xor_sync(~0u, key, step));
    if (threadIdx.x % 32 == 0)
        atomicMax(best, key);
}

__global__ void two_opt_pairs_kernel(const short2 *tour, long long *best)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    long long key = 0;
    if (k < TOUR_PAIRS) {
        int j = (int) ((1 + sqrtf(1 + 8.0f * k)) / 2);
        while (j * (j - 1) / 2 > k)
            j--;
        while (j * (j + 1) / 2 <= k)
            j++;
        key = exchange_key(tour, k - j * (j - 1) / 2, j);
    }
    keep_best(key, best);
}

__global__ void two_opt_rows_kernel(const short2 *tour, long long *best)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long key = 0;
    for (int j = i + 1; j < CITIES - 1; j++)
        key = max(key, exchange_key(tour, i, j));
    keep_best(key, best);
}

template <class Launch> static void two_opt(Run &run, Launch launch)
{
    std::vector<short2> tour(CITIES);
    for (int i = 0; i < CITIES; i++)
        tour[i] = make_short2((short) (mix(2 * i + 581) % 5000), (short) (mix(2 * i + 582) % 5000));
    short2 *from = run.upload(tour);
    long long *best = run.zeros<long long>(1), wanted = 0;
    run.measure([=] { launch(from, best); },
                [=] { CHECK(cudaMemset(best, 0, sizeof(long long))); });
    for (int j = 0; j < CITIES - 1; j++)
        for (int i = 0; i < j; i++)
            wanted = std::max(wanted, exchange_key(tour.data(), i, j));
    run.expect(run.output(best, 1)[0] == wanted, 1, 0);
}

static void two_opt_pairs(Run &run)
{
    two_opt(run, [](short2 *tour, long long *best) {
        two_opt_pairs_kernel<<<blocks_for(TOUR_PAIRS, 256), 256>>>(tour, best);
    });
}

static void two_opt_rows(Run &run)
{
    two_opt(run, [](short2 *tour, long long *best) {
        two_opt_rows_kernel<<<blocks_for(CITIES, 32), 32>>>(tour, best);
    });
}

// ---- Rule 110 on a ring, 12 steps: a cell per byte and thread, or 32 cells per word ----

enum { RING_WORDS = 13000, RING = RING_WORDS * 32, RING_STEPS = 12 };

__global__ void rule110_bytes_kernel(const unsigned char *in, unsigned char *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= RING)
        return;
    int left = in[(i + RING - 1) % RING], right = in[(i + 1) % RING];
    out[i] = 110 >> (left * 4 + in[i] * 2 + right) & 1;
}

// The cell on the left is the next lower bit.
__host__ __device__ inline unsigned rule110(unsigned before, unsigned here, unsigned after)
{
    const unsigned left = here << 1 | before >> 31, right = here >> 1 | after << 31;
    return (here | right) & ~(left & here & right);
}

__global__ void rule110_words_kernel(const unsigned *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < RING_WORDS)
        out[i] = rule110(in[i == 0 ? RING_WORDS - 1 : i - 1], in[i],
                         in[i == RING_WORDS - 1 ? 0 : i + 1]);
}

static std::vector<uint32_t> ring_on_host(std::vector<uint32_t> now)
{
    std::vector<uint32_t> next(RING_WORDS);
    for (int step = 0; step < RING_STEPS; step++, now.swap(next))
        for (int i = 0; i < RING_WORDS; i++)
            next[i] =
                rule110(now[(i + RING_WORDS - 1) % RING_WORDS], now[i], now[(i + 1) % RING_WORDS]);
    return now;
}

static void rule110_bytes(Run &run)
{
    const std::vector<uint32_t> start = words(RING_WORDS, 583), wanted = ring_on_host(start);
    std::vector<unsigned char> cell(RING);
    for (int i = 0; i < RING; i++)
        cell[i] = start[i / 32] >> i % 32 & 1;
    unsigned char *from = run.upload(cell), *a = run.zeros<unsigned char>(RING),
                  *b = run.zeros<unsigned char>(RING);
    run.measure([=] {
        for (int step = 0; step < RING_STEPS; step++)
            rule110_bytes_kernel<<<blocks_for(RING, 256), 256>>>(step == 0  ? from
                                                                 : step % 2 ? b
                                                                            : a,
                                                                 step % 2 ? a : b);
    });
    run.expect_all(
        run.output(a, RING), [&](size_t i) { return wanted[i / 32] >> i % 32 & 1; }, 0, 5);
}

static void rule110_words(Run &run)
{
    const std::vector<uint32_t> start = words(RING_WORDS, 583), wanted = ring_on_host(start);
    unsigned *from = run.upload(start), *a = run.zeros<unsigned>(RING_WORDS),
             *b = run.zeros<unsigned>(RING_WORDS);
    run.measure([=] {
        for (int step = 0; step < RING_STEPS; step++)
            rule110_words_kernel<<<blocks_for(RING_WORDS, 128), 128>>>(step == 0  ? from
                                                                       : step % 2 ? b
                                                                                  : a,
                                                                       step % 2 ? a : b);
    });
    run.expect_all(
        run.output(a, RING_WORDS), [&](size_t i) { return wanted[i]; }, 0);
}

// ---- Liberties of the group at the centre of a Go board: by a stack of points, or by masks ----

enum { BOARD = 19, BOARDS = 9000 };

// Row r of board b is word r * BOARDS + b.
__global__ void liberties_stack_kernel(const unsigned *own, const unsigned *other, int *out)
{
    int board = blockIdx.x * blockDim.x + threadIdx.x, top = 0, liberties = 0;
    unsigned seen[BOARD] = {};
    short stack[BOARD * BOARD];
    if (board >= BOARDS)
        return;
    stack[top++] = BOARD / 2 * BOARD + BOARD / 2;
    seen[BOARD / 2] = 1u << BOARD / 2;
    while (top > 0) {
        const int at = stack[--top], x = at % BOARD, y = at / BOARD;
        for (int k = 0; k < 4; k++) {
            const int nx = x + (k == 0) - (k == 1), ny = y + (k == 2) - (k == 3);
            if (nx < 0 || ny < 0 || nx >= BOARD || ny >= BOARD || seen[ny] >> nx & 1)
                continue;
            seen[ny] |= 1u << nx;
            if (own[ny * BOARDS + board] >> nx & 1)
                stack[top++] = (short) (ny * BOARD + nx);
            else if (!(other[ny * BOARDS + board] >> nx & 1))
                liberties++;
        }
    }
    out[board] = liberties;
}

// The points of row r that are in a group or next to it.
__host__ __device__ inline unsigned group_reach(const unsigned *group, int r)
{
    unsigned reach = group[r] | group[r] << 1 | group[r] >> 1;
    if (r > 0)
        reach |= group[r - 1];
    if (r < BOARD - 1)
        reach |= group[r + 1];
    return reach & ((1u << BOARD) - 1);
}

__host__ __device__ inline int liberties_of(const unsigned *own, const unsigned *other, int board)
{
    unsigned group[BOARD] = {}, stones[BOARD];
    bool grown = true;
    int liberties = 0;
#pragma unroll
    for (int r = 0; r < BOARD; r++)
        stones[r] = own[r * BOARDS + board];
    group[BOARD / 2] = 1u << BOARD / 2;
    while (grown) {
        grown = false;
#pragma unroll
        for (int r = 0; r < BOARD; r++) {
            unsigned more = group_reach(group, r) & stones[r];
            grown |= more != group[r];
            group[r] = more;
        }
    }
#pragma unroll
    for (int r = 0; r < BOARD; r++) {
        unsigned empty = group_reach(group, r) & ~stones[r] & ~other[r * BOARDS + board];
#ifdef __CUDA_ARCH__
        liberties += __popc(empty);
#else
        liberties += __builtin_popcount(empty);
#endif
    }
    return liberties;
}

__global__ void liberties_masks_kernel(const unsigned *own, const unsigned *other, int *out)
{
    int board = blockIdx.x * blockDim.x + threadIdx.x;
    if (board < BOARDS)
        out[board] = liberties_of(own, other, board);
}

// Half of the points have an own stone, a quarter have another one; the centre is own.
template <class Launch> static void liberties(Run &run, Launch launch)
{
    std::vector<uint32_t> own = words(BOARD * BOARDS, 584), other = words(BOARD * BOARDS, 585);
    for (int i = 0; i < BOARD * BOARDS; i++) {
        own[i] = (own[i] | (i / BOARDS == BOARD / 2) << BOARD / 2) & ((1u << BOARD) - 1);
        other[i] &= ~own[i] & ((1u << BOARD) - 1);
    }
    unsigned *da = run.upload(own), *db = run.upload(other);
    int *to = run.zeros<int>(BOARDS);
    run.measure([=] { launch(da, db, to); });
    run.expect_all(
        run.output(to, BOARDS),
        [&](size_t i) { return liberties_of(own.data(), other.data(), (int) i); }, 0, 7);
}

static void liberties_stack(Run &run)
{
    liberties(run, [](unsigned *own, unsigned *other, int *out) {
        liberties_stack_kernel<<<blocks_for(BOARDS, 64), 64>>>(own, other, out);
    });
}

static void liberties_masks(Run &run)
{
    liberties(run, [](unsigned *own, unsigned *other, int *out) {
        liberties_masks_kernel<<<blocks_for(BOARDS, 64), 64>>>(own, other, out);
    });
}

// ---- Sudokus by trial and error, a thread each, with masks of the digits that are used ----

struct Sudoku {
    unsigned short row[9], column[9], square[9];

    __device__ void flip(int cell, int digit)
    {
        const int r = cell / 9, c = cell % 9;
        row[r] ^= 1 << digit;
        column[c] ^= 1 << digit;
        square[r / 3 * 3 + c / 3] ^= 1 << digit;
    }

    __device__ unsigned used(int cell) const
    {
        const int r = cell / 9, c = cell % 9;
        return row[r] | column[c] | square[r / 3 * 3 + c / 3];
    }
};

// Cells hold digits from 1, or 0. The thread continues with the next open cell or returns to the
// previous one.
__global__ void sudoku_kernel(const signed char *in, signed char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, open = 0, at = 0;
    signed char digit[81], cell[81];
    Sudoku masks = {};
    if (i >= n)
        return;
    for (int k = 0; k < 81; k++) {
        digit[k] = in[i * 81 + k];
        if (digit[k])
            masks.flip(k, digit[k]);
        else
            cell[open++] = (signed char) k;
    }
    while (at >= 0 && at < open) {
        const int here = cell[at];
        int next = digit[here];
        if (next)
            masks.flip(here, next);
        const unsigned used = masks.used(here);
        do
            next++;
        while (next <= 9 && used >> next & 1);
        digit[here] = (signed char) (next <= 9 ? next : 0);
        if (next <= 9)
            masks.flip(here, next);
        at += next <= 9 ? 1 : -1;
    }
    for (int k = 0; k < 81; k++)
        out[i * 81 + k] = digit[k];
}

// Grids that are a shifted pattern with exchanged digits, rows and columns, and 42 open cells.
static std::vector<signed char> sudoku_grids(int n)
{
    std::vector<signed char> grid(n * 81);
    for (int i = 0; i < n; i++) {
        signed char *at = &grid[i * 81];
        const int shift = mix(i + 586) % 9, rows = mix(i + 587) % 3, columns = mix(i + 588) % 3;
        for (int k = 0; k < 81; k++) {
            const int r = k / 27 * 3 + (k / 9 + rows) % 3, c = k % 9 / 3 * 3 + (k + columns) % 3;
            at[k] = (signed char) ((r * 3 + r / 3 + c + shift) % 9 * 4 % 9 + 1);
        }
        for (int k = 0; k < 42; k++)
            at[mix(i * 64 + k) % 81] = 0;
    }
    return grid;
}

// A grid may have several solutions: each row, column and square must have all digits.
static void expect_solved(Run &run, const signed char *given, const signed char *got)
{
    Sudoku seen = {};
    for (int k = 0; k < 81; k++) {
        const int r = k / 9, c = k % 9;
        run.expect(given[k] ? got[k] == given[k] : got[k] > 0, 1, 0);
        seen.row[r] |= 1 << got[k];
        seen.column[c] |= 1 << got[k];
        seen.square[r / 3 * 3 + c / 3] |= 1 << got[k];
    }
    for (int k = 0; k < 9; k++)
        run.expect(seen.row[k] & seen.column[k] & seen.square[k], 1022, 0);
}

static void sudoku_stack(Run &run)
{
    const int n = 3000;
    const std::vector<signed char> in = sudoku_grids(n);
    signed char *from = run.upload(in), *to = run.zeros<signed char>(in.size());
    run.measure([=] { sudoku_kernel<<<blocks_for(n, 32), 32>>>(from, to, n); });
    const std::vector<signed char> got = run.output(to, in.size());
    for (int i = 0; i < n; i += 13)
        expect_solved(run, &in[i * 81], &got[i * 81]);
}

// ---- The 16 smallest of a thread's 400 values: a heap in local memory, or in shared memory ----

enum { HEAP = 16, HEAP_VALUES = 400, HEAP_THREADS = 6400, HEAP_BLOCK = 64 };

// Puts a value in place of the largest one. Entry k is heap[k * step].
__device__ inline void heap_replace(unsigned *heap, int step, unsigned v)
{
    int at = 0;
    for (int child = 1; child < HEAP; child = 2 * at + 1) {
        if (child + 1 < HEAP && heap[(child + 1) * step] > heap[child * step])
            child++;
        if (heap[child * step] <= v)
            break;
        heap[at * step] = heap[child * step];
        at = child;
    }
    heap[at * step] = v;
}

__device__ inline void heap_of_column(unsigned *heap, int step, const unsigned *in, unsigned *out)
{
    int i = blockIdx.x * HEAP_BLOCK + threadIdx.x;
    for (int k = 0; k < HEAP; k++)
        heap[k * step] = ~0u;
    for (int k = 0; k < HEAP_VALUES; k++) {
        unsigned v = in[k * HEAP_THREADS + i];
        if (v < heap[0])
            heap_replace(heap, step, v);
    }
    for (int k = 0; k < HEAP; k++)
        out[k * HEAP_THREADS + i] = heap[k * step];
}

__global__ void heap_local_kernel(const unsigned *in, unsigned *out)
{
    unsigned heap[HEAP];
    heap_of_column(heap, 1, in, out);
}

__global__ void heap_shared_kernel(const unsigned *in, unsigned *out)
{
    __shared__ unsigned heap[HEAP * HEAP_BLOCK];
    heap_of_column(heap + threadIdx.x, HEAP_BLOCK, in, out);
}

template <class Launch> static void heaps(Run &run, Launch launch)
{
    const std::vector<uint32_t> in = words(HEAP_THREADS * HEAP_VALUES, 589);
    unsigned *from = run.upload(in), *to = run.zeros<unsigned>(HEAP * HEAP_THREADS);
    run.measure([=] { launch(from, to); });
    const std::vector<unsigned> got = run.output(to, HEAP * HEAP_THREADS);
    for (int i = 0; i < HEAP_THREADS; i += 9) {
        std::vector<unsigned> all, smallest;
        for (int k = 0; k < HEAP_VALUES; k++)
            all.push_back(in[k * HEAP_THREADS + i]);
        for (int k = 0; k < HEAP; k++)
            smallest.push_back(got[k * HEAP_THREADS + i]);
        std::sort(all.begin(), all.end());
        std::sort(smallest.begin(), smallest.end());
        for (int k = 0; k < HEAP; k++)
            run.expect(smallest[k], all[k], 0);
    }
}

static void heap_local(Run &run)
{
    heaps(run, [](unsigned *in, unsigned *out) {
        heap_local_kernel<<<HEAP_THREADS / HEAP_BLOCK, HEAP_BLOCK>>>(in, out);
    });
}

static void heap_shared(Run &run)
{
    heaps(run, [](unsigned *in, unsigned *out) {
        heap_shared_kernel<<<HEAP_THREADS / HEAP_BLOCK, HEAP_BLOCK>>>(in, out);
    });
}

#endif
