// riddles.cuh - games: moves of Reversi, scores of word guesses, ways to pay, ants on a torus.
#ifndef BLIND_RIDDLES_CUH
#define BLIND_RIDDLES_CUH

#include "blind.cuh"

// ---- Legal moves of Reversi: each square walks in 8 directions, or shifts of whole boards ----

enum { REVERSI_BOARDS = 8000 };

__host__ __device__ inline bool reversi_legal(uint64_t mine, uint64_t other, int square)
{
    if ((mine | other) >> square & 1)
        return false;
    for (int way = 0; way < 9; way++) {
        const int dx = way % 3 - 1, dy = way / 3 - 1;
        int x = square % 8 + dx, y = square / 8 + dy, turned = 0;
        if (way == 4)
            continue;
        while (x >= 0 && x < 8 && y >= 0 && y < 8 && other >> (8 * y + x) & 1) {
            x += dx;
            y += dy;
            turned++;
        }
        if (turned && x >= 0 && x < 8 && y >= 0 && y < 8 && mine >> (8 * y + x) & 1)
            return true;
    }
    return false;
}

__global__ void reversi_walk_kernel(const ulonglong2 *boards, uint32_t *moves)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const ulonglong2 board = boards[i / 64];
    const uint32_t legal = __ballot_sync(~0u, reversi_legal(board.x, board.y, i % 64));
    if (i % 32 == 0)
        moves[i / 32] = legal;
}

// `by` is positive towards higher squares.
__device__ inline uint64_t reversi_shifted(uint64_t v, int by)
{
    return by > 0 ? v << by : v >> -by;
}

__device__ inline uint64_t reversi_along(uint64_t mine, uint64_t other, int by)
{
    uint64_t turned = reversi_shifted(mine, by) & other;
#pragma unroll
    for (int k = 0; k < 5; k++)
        turned |= reversi_shifted(turned, by) & other;
    return reversi_shifted(turned, by);
}

__global__ void reversi_shifts_kernel(const ulonglong2 *boards, uint2 *moves)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= REVERSI_BOARDS)
        return;
    const uint64_t mine = boards[i].x, other = boards[i].y;
    const uint64_t inner = other & 0x7e7e7e7e7e7e7e7eull; // without the outer columns: no wrap
    uint64_t legal = reversi_along(mine, inner, 1) | reversi_along(mine, inner, -1);
    legal |= reversi_along(mine, other, 8) | reversi_along(mine, other, -8);
    legal |= reversi_along(mine, inner, 7) | reversi_along(mine, inner, -7);
    legal |= reversi_along(mine, inner, 9) | reversi_along(mine, inner, -9);
    legal &= ~(mine | other);
    moves[i] = make_uint2((uint32_t) legal, (uint32_t) (legal >> 32));
}

static void reversi(Run &run, bool walk)
{
    const int n = REVERSI_BOARDS;
    const std::vector<uint32_t> v = words(6 * n, 4081);
    std::vector<ulonglong2> boards(n);
    for (int i = 0; i < n; i++) {
        const uint32_t *at = &v[6 * i];
        const uint64_t taken = (uint64_t) (at[0] | at[4]) << 32 | at[1] | at[5];
        const uint64_t mine = (uint64_t) at[2] << 32 | at[3];
        boards[i].x = taken & mine;
        boards[i].y = taken & ~mine;
    }
    ulonglong2 *from = run.upload(boards);
    uint32_t *to = run.zeros<uint32_t>(2 * n);
    run.measure([=] {
        if (walk)
            reversi_walk_kernel<<<n / 4, 256>>>(from, to);
        else
            reversi_shifts_kernel<<<blocks_for(n, 64), 64>>>(from, (uint2 *) to);
    });
    const std::vector<uint32_t> got = run.output(to, 2 * n);
    for (int i = 0; i < 64 * n; i += 37)
        run.expect(got[i / 32] >> i % 32 & 1,
                   reversi_legal(boards[i / 64].x, boards[i / 64].y, i % 64), 0);
}

static void reversi_walk(Run &run)
{
    reversi(run, true);
}

static void reversi_shifts(Run &run)
{
    reversi(run, false);
}

// ---- Scores of 5-letter guesses against all answers: counts of letters, or masks of places ----

enum { GUESS_COUNT = 400, GUESS_ANSWERS = 1536, GUESS_LETTERS = 5 };

__host__ __device__ inline int guess_letter(uint32_t word, int k)
{
    return word >> 5 * k & 31;
}

__host__ __device__ inline int guess_by_counts(uint32_t guess, uint32_t answer)
{
    unsigned char left[32];
    int score = 0;
    for (int k = 0; k < 32; k++)
        left[k] = 0;
    for (int k = 0; k < GUESS_LETTERS; k++)
        left[guess_letter(answer, k)] += guess_letter(guess, k) != guess_letter(answer, k);
    for (int k = 0; k < GUESS_LETTERS; k++) {
        const int letter = guess_letter(guess, k);
        score *= 3;
        if (letter == guess_letter(answer, k)) {
            score += 2;
        } else if (left[letter]) {
            left[letter]--;
            score++;
        }
    }
    return score;
}

__device__ inline int guess_by_masks(uint32_t guess, uint32_t answer)
{
    int used = 0, score = 0;
#pragma unroll
    for (int k = 0; k < GUESS_LETTERS; k++)
        used |= (guess_letter(guess, k) == guess_letter(answer, k)) << k;
    const int right = used;
#pragma unroll
    for (int k = 0; k < GUESS_LETTERS; k++) {
        int same = 0;
#pragma unroll
        for (int j = 0; j < GUESS_LETTERS; j++)
            same |= (guess_letter(guess, k) == guess_letter(answer, j)) << j;
        same &= ~used;
        const bool exact = right >> k & 1;
        if (!exact)
            used |= same & -same;
        score = 3 * score + (exact ? 2 : same != 0);
    }
    return score;
}

template <bool counts>
__global__ void guesses_kernel(const uint32_t *guesses, const uint32_t *answers, unsigned char *out)
{
    const int a = blockIdx.x * blockDim.x + threadIdx.x, g = blockIdx.y;
    const int score =
        counts ? guess_by_counts(guesses[g], answers[a]) : guess_by_masks(guesses[g], answers[a]);
    out[g * GUESS_ANSWERS + a] = score;
}

static std::vector<uint32_t> guess_words(int n, uint32_t seed)
{
    std::vector<uint32_t> v = words(n, seed);
    for (uint32_t &word : v) // of 12 letters
        word = word % 12 | word / 12 % 12 << 5 | word / 144 % 12 << 10 | word / 1728 % 12 << 15 |
               word / 20736 % 12 << 20;
    return v;
}

template <bool counts> static void guesses(Run &run)
{
    const int n = GUESS_COUNT * GUESS_ANSWERS;
    const std::vector<uint32_t> guess = guess_words(GUESS_COUNT, 4082);
    const std::vector<uint32_t> answer = guess_words(GUESS_ANSWERS, 4083);
    uint32_t *dg = run.upload(guess), *da = run.upload(answer);
    unsigned char *to = run.zeros<unsigned char>(n);
    run.measure([=] {
        guesses_kernel<counts><<<dim3(GUESS_ANSWERS / 128, GUESS_COUNT), 128>>>(dg, da, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            return guess_by_counts(guess[i / GUESS_ANSWERS], answer[i % GUESS_ANSWERS]);
        },
        0, 29);
}

static void guesses_counts(Run &run)
{
    guesses<true>(run);
}

static void guesses_masks(Run &run)
{
    guesses<false>(run);
}

// ---- Ways to pay 150 with each thread's own 6 coins: the row in local or in shared memory ----

enum { COIN_SETS = 12000, COIN_KINDS = 6, COIN_AMOUNT = 150, COIN_BLOCK = 64 };

// `step`: between two amounts of the row.
__host__ __device__ inline uint32_t coin_ways(const int *coins, int pitch, uint32_t *ways, int step)
{
    ways[0] = 1;
    for (int a = 1; a <= COIN_AMOUNT; a++)
        ways[a * step] = 0;
    for (int k = 0; k < COIN_KINDS; k++) {
        const int coin = 1 + coins[k * pitch];
        for (int a = coin; a <= COIN_AMOUNT; a++)
            ways[a * step] += ways[(a - coin) * step];
    }
    return ways[COIN_AMOUNT * step];
}

__global__ void coins_local_kernel(const int *coins, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t ways[COIN_AMOUNT + 1];
    if (i < COIN_SETS)
        out[i] = coin_ways(coins + i, COIN_SETS, ways, 1);
}

__global__ void coins_shared_kernel(const int *coins, uint32_t *out)
{
    __shared__ uint32_t ways[(COIN_AMOUNT + 1) * COIN_BLOCK];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COIN_SETS)
        out[i] = coin_ways(coins + i, COIN_SETS, ways + threadIdx.x, COIN_BLOCK);
}

static void coins(Run &run, void (*kernel)(const int *, uint32_t *))
{
    const std::vector<int> kinds = integers(COIN_SETS * COIN_KINDS, 30, 4084);
    int *from = run.upload(kinds);
    uint32_t *to = run.zeros<uint32_t>(COIN_SETS);
    run.measure([=] { kernel<<<blocks_for(COIN_SETS, COIN_BLOCK), COIN_BLOCK>>>(from, to); });
    run.expect_all(
        run.output(to, COIN_SETS),
        [&](size_t i) {
            uint32_t ways[COIN_AMOUNT + 1];
            return coin_ways(&kinds[i], COIN_SETS, ways, 1);
        },
        0, 11);
}

static void coins_local(Run &run)
{
    coins(run, coins_local_kernel);
}

static void coins_shared(Run &run)
{
    coins(run, coins_shared_kernel);
}

// ---- Langton's ants, each on a torus of its own ----

enum { ANT_WORLDS = 64, ANT_SIDE = 64, ANT_STEPS = 1500 };

__host__ __device__ inline int ant_walk(unsigned char *world, int x, int y, int way)
{
    int black = 0;
    for (int k = 0; k < ANT_STEPS; k++) {
        unsigned char *at = &world[y * ANT_SIDE + x];
        const int was = *at;
        *at = !was;
        black += was ? -1 : 1;
        way = (way + (was ? 3 : 1)) & 3;
        if (way & 1)
            x = (x + 2 - way) & (ANT_SIDE - 1);
        else
            y = (y + 1 - way) & (ANT_SIDE - 1);
    }
    return black;
}

__global__ void ants_kernel(unsigned char *worlds, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = ant_walk(worlds + i * ANT_SIDE * ANT_SIDE, i % 7 * 9, i % 5 * 12, i & 3);
}

static void langton_ants(Run &run)
{
    const int n = ANT_WORLDS, size = n * ANT_SIDE * ANT_SIDE;
    std::vector<unsigned char> start(size);
    for (int i = 0; i < size; i++)
        start[i] = mix(i + 4085) % 5 == 0;
    unsigned char *first = run.upload(start), *worlds = run.upload(start);
    int *to = run.zeros<int>(n);
    run.measure([=] { ants_kernel<<<n / 32, 32>>>(worlds, to); },
                [=] { CHECK(cudaMemcpy(worlds, first, size, cudaMemcpyDeviceToDevice)); });
    run.expect_all(
        run.output(to, n),
        [&](int i) {
            return ant_walk(&start[i * ANT_SIDE * ANT_SIDE], i % 7 * 9, i % 5 * 12, i & 3);
        },
        0);
}

#endif
