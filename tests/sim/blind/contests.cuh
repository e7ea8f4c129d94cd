// contests.cuh - games: rook moves, poker hands, four in a row, knight's tours, Mastermind.
#ifndef BLIND_CONTESTS_CUH
#define BLIND_CONTESTS_CUH

#include "blind.cuh"

// ---- The squares that a rook attacks: walked until blocked, or from a table of lines ----

__host__ __device__ inline uint64_t rook_walked(uint64_t occupied, int square)
{
    const int steps[4][2] = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } };
    uint64_t attacked = 0;
    for (int d = 0; d < 4; d++) {
        int x = square % 8 + steps[d][0], y = square / 8 + steps[d][1];
        while (x >= 0 && x < 8 && y >= 0 && y < 8) {
            attacked |= 1ull << (8 * y + x);
            if (occupied >> (8 * y + x) & 1)
                break;
            x += steps[d][0];
            y += steps[d][1];
        }
    }
    return attacked;
}

__global__ void rook_walk_kernel(const uint64_t *boards, uint64_t *out, const uint8_t *, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = rook_walked(boards[i], i * 37 % 64);
}

// `lines`: for each place in a line and each occupation of the line, the attacked places.
__global__ void rook_table_kernel(const uint64_t *boards, uint64_t *out, const uint8_t *lines,
                                  int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, square = i * 37 % 64;
    const uint64_t ones = 0x0101010101010101ull;
    if (i >= n)
        return;
    const uint64_t board = boards[i];
    const int x = square % 8, y = square / 8;
    const uint32_t row = (uint32_t) (board >> 8 * y) & 255;
    const uint32_t column = (uint32_t) ((board >> x & ones) * 0x0102040810204080ull >> 56);
    const uint64_t across = lines[x * 256 + row], down = lines[y * 256 + column];
    const uint64_t spread = ((down & 127) * 0x0002040810204081ull & ones) | down >> 7 << 56;
    out[i] = across << 8 * y | spread << x;
}

static void rook(Run &run, void (*kernel)(const uint64_t *, uint64_t *, const uint8_t *, int))
{
    const int n = 600000;
    const std::vector<uint32_t> bits = words(4 * n, 3021);
    std::vector<uint64_t> boards(n);
    std::vector<uint8_t> lines(8 * 256);
    for (int i = 0; i < n; i++)
        boards[i] =
            (uint64_t) (bits[4 * i] & bits[4 * i + 1]) << 32 | (bits[4 * i + 2] & bits[4 * i + 3]);
    for (int i = 0; i < 8 * 256; i++)
        lines[i] = (uint8_t) rook_walked(i % 256, i / 256);
    uint64_t *from = run.upload(boards), *to = run.zeros<uint64_t>(n);
    uint8_t *table = run.upload(lines);
    run.measure([=] { kernel<<<blocks_for(n, 256), 256>>>(from, to, table, n); });
    const std::vector<uint64_t> got = run.output(to, n);
    for (int i = 0; i < n; i += 7)
        run.expect(got[i] == rook_walked(boards[i], i * 37 % 64), 1, 0);
}

static void rook_walk(Run &run)
{
    rook(run, rook_walk_kernel);
}

static void rook_table(Run &run)
{
    rook(run, rook_table_kernel);
}

// ---- The class of 7 poker cards: by counts in arrays, or by sorting in registers ----

__host__ __device__ inline bool has_straight(uint32_t ranks)
{
    ranks = ranks << 1 | (ranks >> 12 & 1); // the ace is also the lowest
    return (ranks & ranks >> 1 & ranks >> 2 & ranks >> 3 & ranks >> 4) != 0;
}

__host__ __device__ inline int poker_class(int most, int second, bool flush, bool straight,
                                           bool straight_flush)
{
    if (straight_flush)
        return 8;
    if (most == 4)
        return 7;
    if (most == 3 && second >= 2)
        return 6;
    if (flush)
        return 5;
    if (straight)
        return 4;
    return most == 3 ? 3 : most == 2 ? (second == 2 ? 2 : 1) : 0;
}

__host__ __device__ inline int poker_counted(const uint8_t *cards)
{
    int ranks[13] = {}, suits[4] = {}, most = 0, second = 0;
    uint32_t mask = 0, flush = 0;
    for (int k = 0; k < 7; k++) {
        ranks[cards[k] % 13]++;
        suits[cards[k] / 13]++;
        mask |= 1u << cards[k] % 13;
    }
    for (int k = 0; k < 7; k++)
        if (suits[cards[k] / 13] >= 5)
            flush |= 1u << cards[k] % 13;
    for (int r = 0; r < 13; r++)
        if (ranks[r] > most) {
            second = most;
            most = ranks[r];
        } else if (ranks[r] > second) {
            second = ranks[r];
        }
    return poker_class(most, second, flush, has_straight(mask), has_straight(flush));
}

__global__ void poker_counts_kernel(const uint8_t *hands, uint8_t *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = poker_counted(hands + 8 * i);
}

__device__ inline void order_cards(int &a, int &b)
{
    const int low = min(a, b);
    b = max(a, b);
    a = low;
}

__global__ void poker_sorted_kernel(const uint8_t *hands, uint8_t *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int rank[7], most = 0, second = 0, length = 1;
    uint32_t mask = 0, suits = 0, flush = 0;
    if (i >= n)
        return;
    const uint2 hand = ((const uint2 *) hands)[i];
#pragma unroll
    for (int k = 0; k < 7; k++) {
        const int card = (k < 4 ? hand.x >> 8 * k : hand.y >> 8 * (k - 4)) & 255;
        rank[k] = card % 13 | card / 13 << 8;
        mask |= 1u << card % 13;
        suits += 1u << 4 * (card / 13);
    }
#pragma unroll
    for (int k = 0; k < 7; k++) {
        if ((suits >> 4 * (rank[k] >> 8) & 15) >= 5)
            flush |= 1u << (rank[k] & 255);
        rank[k] &= 255;
    }
#pragma unroll
    for (int pass = 0; pass < 7; pass++)
#pragma unroll
        for (int k = pass % 2; k + 1 < 7; k += 2)
            order_cards(rank[k], rank[k + 1]);
#pragma unroll
    for (int k = 1; k <= 7; k++) {
        if (k < 7 && rank[k] == rank[k - 1]) {
            length++;
            continue;
        }
        second = max(second, min(most, length));
        most = max(most, length);
        length = 1;
    }
    out[i] = poker_class(most, second, flush, has_straight(mask), has_straight(flush));
}

static void poker(Run &run, void (*kernel)(const uint8_t *, uint8_t *, int))
{
    const int n = 500000;
    std::vector<uint8_t> hands(8 * n);
    for (int i = 0; i < n; i++) {
        uint64_t taken = 0;
        for (int k = 0, draw = 0; k < 7; draw++) {
            const int card = mix(i * 64 + draw + 3022) % 52;
            if (taken >> card & 1)
                continue;
            taken |= 1ull << card;
            hands[8 * i + k++] = (uint8_t) card;
        }
    }
    uint8_t *from = run.upload(hands), *to = run.zeros<uint8_t>(n);
    run.measure([=] { kernel<<<blocks_for(n, 128), 128>>>(from, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return poker_counted(&hands[8 * i]); }, 0, 3);
}

static void poker_counts(Run &run)
{
    poker(run, poker_counts_kernel);
}

static void poker_sorted(Run &run)
{
    poker(run, poker_sorted_kernel);
}

// ---- Boards of 7 x 6 cells: who has four in a row? Each cell tried, or packed into bits ----

__host__ __device__ inline int four_walked(const char *board)
{
    const int steps[4][2] = { { 1, 0 }, { 0, 1 }, { 1, 1 }, { 1, -1 } };
    int winners = 0;
    for (int at = 0; at < 42; at++)
        for (int d = 0; d < 4 && board[at]; d++) {
            int x = at % 7, y = at / 7, length = 0;
            while (x < 7 && y >= 0 && y < 6 && board[7 * y + x] == board[at]) {
                length++;
                x += steps[d][0];
                y += steps[d][1];
            }
            if (length >= 4)
                winners |= board[at];
        }
    return winners;
}

__global__ void four_cells_kernel(const char *boards, char *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = four_walked(boards + 42 * i);
}

__device__ inline bool four_bits(uint64_t bits)
{
    const int steps[4] = { 1, 8, 9, 7 }; // rows of 8 bits: the eighth is always 0
    bool found = false;
    for (int d = 0; d < 4; d++) {
        const uint64_t two = bits & bits >> steps[d];
        found |= (two & two >> 2 * steps[d]) != 0;
    }
    return found;
}

__global__ void four_masks_kernel(const char *boards, char *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t first = 0, second = 0;
    if (i >= n)
        return;
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 7; x++) {
            const char cell = boards[42 * i + 7 * y + x];
            first |= (uint64_t) (cell == 1) << (8 * y + x);
            second |= (uint64_t) (cell == 2) << (8 * y + x);
        }
    out[i] = (four_bits(first) ? 1 : 0) | (four_bits(second) ? 2 : 0);
}

static void four(Run &run, void (*kernel)(const char *, char *, int))
{
    const int n = 40000;
    std::vector<char> boards(42 * n);
    for (int i = 0; i < 42 * n; i++)
        boards[i] = (char) (mix(i + 3023) % 3);
    char *from = run.upload(boards), *to = run.zeros<char>(n);
    run.measure([=] { kernel<<<blocks_for(n, 64), 64>>>(from, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return four_walked(&boards[42 * i]); }, 0, 3);
}

static void four_cells(Run &run)
{
    four(run, four_cells_kernel);
}

static void four_masks(Run &run)
{
    four(run, four_masks_kernel);
}

// ---- Knight's tours: always to the square with the fewest exits, ties broken at random ----

__host__ __device__ inline int knight_exits(uint64_t visited, int square, uint8_t *exits)
{
    const int steps[8][2] = { { 1, 2 },   { 2, 1 },   { 2, -1 }, { 1, -2 },
                              { -1, -2 }, { -2, -1 }, { -2, 1 }, { -1, 2 } };
    int count = 0;
    for (int k = 0; k < 8; k++) {
        const int x = square % 8 + steps[k][0], y = square / 8 + steps[k][1];
        if (x >= 0 && x < 8 && y >= 0 && y < 8 && !(visited >> (8 * y + x) & 1))
            exits[count++] = (uint8_t) (8 * y + x);
    }
    return count;
}

__host__ __device__ inline int knight_tour(int i)
{
    uint64_t visited = 0;
    uint32_t chance = i * 2654435769u + 1;
    int square = i % 64, length = 1;
    for (;;) {
        uint8_t exits[8], onward[8];
        int fewest = 9, next = square;
        visited |= 1ull << square;
        const int count = knight_exits(visited, square, exits);
        chance = chance * 1664525 + 1013904223;
        for (int k = 0; k < count; k++) {
            const int to = exits[(k + (chance >> 16)) % count];
            const int left = knight_exits(visited, to, onward);
            if (left < fewest) {
                fewest = left;
                next = to;
            }
        }
        if (next == square)
            return length;
        square = next;
        length++;
    }
}

__global__ void knight_kernel(uint8_t *lengths, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        lengths[i] = knight_tour(i);
}

static void knight_tours(Run &run)
{
    const int n = 1500;
    uint8_t *to = run.zeros<uint8_t>(n);
    run.measure([=] { knight_kernel<<<blocks_for(n, 32), 32>>>(to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return knight_tour((int) i); }, 0, 3);
}

// ---- Mastermind: for each guess, the most codes that one answer leaves; a block per guess ----

enum { MIND_CODES = 1296 };

// Four pegs of six colours: places that agree, and colours that occur in both.
__host__ __device__ inline int mind_answer(int guess, int code)
{
    uint32_t of_guess = 0, of_code = 0;
    int black = 0, both = 0;
    for (int peg = 0; peg < 4; peg++) {
        black += guess % 6 == code % 6;
        of_guess += 1u << 4 * (guess % 6);
        of_code += 1u << 4 * (code % 6);
        guess /= 6;
        code /= 6;
    }
    for (int colour = 0; colour < 6; colour++) {
        const int a = of_guess >> 4 * colour & 15, b = of_code >> 4 * colour & 15;
        both += a < b ? a : b;
    }
    return 5 * black + both - black;
}

__global__ void mastermind_kernel(int *worst)
{
    __shared__ int answers[25];
    if (threadIdx.x < 25)
        answers[threadIdx.x] = 0;
    __syncthreads(); // the counts are zero
    for (int code = threadIdx.x; code < MIND_CODES; code += blockDim.x)
        atomicAdd(&answers[mind_answer(blockIdx.x, code)], 1);
    __syncthreads(); // the counts are complete
    if (threadIdx.x == 0) {
        int most = 0;
        for (int k = 0; k < 25; k++)
            most = max(most, answers[k]);
        worst[blockIdx.x] = most;
    }
}

static void mastermind(Run &run)
{
    int *to = run.zeros<int>(MIND_CODES);
    run.measure([=] { mastermind_kernel<<<MIND_CODES, 96>>>(to); });
    run.expect_all(
        run.output(to, MIND_CODES),
        [&](int guess) {
            int answers[25] = {};
            for (int code = 0; code < MIND_CODES; code++)
                answers[mind_answer(guess, code)]++;
            return *std::max_element(answers, answers + 25);
        },
        0, 7);
}

#endif
