// arcade.cuh - games and small worlds: sliding tiles, roads, the chaos game, noughts and crosses.
#ifndef BLIND_ARCADE_CUH
#define BLIND_ARCADE_CUH

#include "blind.cuh"

// ---- The game 2048, moved to the left at random: a row by loops, or from a table of all rows ----

enum { SLIDE_BOARDS = 16384, SLIDE_MOVES = 30 };

// A row is four exponents of four bits each.
__host__ __device__ inline uint32_t slide_row(uint32_t row)
{
    uint32_t result = 0, last = 0;
    int filled = 0;
    for (int k = 0; k < 4; k++) {
        const uint32_t tile = row >> 4 * k & 15;
        if (!tile)
            continue;
        if (tile == last && tile < 15) {
            result += 1u << 4 * (filled - 1);
            last = 0;
        } else {
            result |= tile << 4 * filled++;
            last = tile;
        }
    }
    return result;
}

__host__ __device__ inline uint64_t slide_turned(uint64_t board)
{
    uint64_t turned = 0;
    for (int i = 0; i < 16; i++)
        turned |= (board >> 4 * i & 15) << 4 * (i % 4 * 4 + 3 - i / 4);
    return turned;
}

struct RowLoops {
    __host__ __device__ uint32_t operator()(uint32_t row) const
    {
        return slide_row(row);
    }
};

struct RowTable {
    const uint16_t *table;

    __host__ __device__ uint32_t operator()(uint32_t row) const
    {
        return table[row];
    }
};

template <class Row> __host__ __device__ inline uint64_t slide_game(uint32_t seed, Row row)
{
    uint64_t board = 0x0000001000000100ull;
    for (int m = 0; m < SLIDE_MOVES; m++) {
        uint64_t moved = 0;
        seed = seed * 1664525u + 1013904223u;
        if (seed >> 30 & 1)
            board = slide_turned(board);
        for (int k = 0; k < 4; k++)
            moved |= (uint64_t) row((uint32_t) (board >> 16 * k & 0xffff)) << 16 * k;
        board = moved;
        for (int place = seed >> 20 & 15, k = 0; k < 16; k++, place = (place + 1) & 15)
            if (!(board >> 4 * place & 15)) {
                board |= 1ull << 4 * place;
                break;
            }
    }
    return board;
}

__global__ void tiles_loops_kernel(const uint16_t *, uint64_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = slide_game(i * 7919u, RowLoops());
}

__global__ void tiles_table_kernel(const uint16_t *table, uint64_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = slide_game(i * 7919u, RowTable{ table });
}

static void tiles_2048(Run &run, void (*kernel)(const uint16_t *, uint64_t *))
{
    std::vector<uint16_t> table(65536);
    for (int row = 0; row < 65536; row++)
        table[row] = (uint16_t) slide_row(row);
    uint16_t *dt = run.upload(table);
    uint64_t *to = run.zeros<uint64_t>(SLIDE_BOARDS);
    run.measure([=] { kernel<<<SLIDE_BOARDS / 128, 128>>>(dt, to); });
    const std::vector<uint64_t> got = run.output(to, SLIDE_BOARDS);
    for (int i = 0; i < SLIDE_BOARDS; i += 37) {
        const uint64_t wanted = slide_game(i * 7919u, RowLoops());
        run.expect(got[i] >> 32, wanted >> 32, 0);
        run.expect((uint32_t) got[i], (uint32_t) wanted, 0);
    }
}

static void tiles_loops(Run &run)
{
    tiles_2048(run, tiles_loops_kernel);
}

static void tiles_table(Run &run)
{
    tiles_2048(run, tiles_table_kernel);
}

// ---- Traffic on ring roads (Nagel and Schreckenberg): a thread per cell, or one per car ----

enum { ROADS = 24, ROAD_CELLS = 512, ROAD_CARS = 128, ROAD_STEPS = 400, ROAD_SPEED = 5 };

__host__ __device__ inline int road_speed(int speed, int gap, uint32_t random)
{
    speed = speed < ROAD_SPEED ? speed + 1 : speed;
    speed = speed < gap ? speed : gap;
    return speed > 0 && random % 4 == 0 ? speed - 1 : speed;
}

__host__ __device__ inline uint32_t road_random(int road, int cell, int step)
{
    uint32_t x = (road * ROAD_CELLS + cell) * 747796405u + step * 2891336453u;
    x ^= x >> 15;
    x *= 0x2c1b3c6du;
    return x >> 12;
}

// A cell holds the speed of its car, or -1.
__global__ void roads_cells_kernel(const signed char *in, signed char *out)
{
    __shared__ signed char now[ROAD_CELLS], next[ROAD_CELLS];
    const int i = threadIdx.x, at = blockIdx.x * ROAD_CELLS + i;
    now[i] = in[at];
    for (int step = 0; step < ROAD_STEPS; step++) {
        next[i] = -1;
        __syncthreads();
        if (now[i] >= 0) {
            int gap = 0;
            while (gap < ROAD_SPEED && now[(i + gap + 1) % ROAD_CELLS] < 0)
                gap++;
            const int speed = road_speed(now[i], gap, road_random(blockIdx.x, i, step));
            next[(i + speed) % ROAD_CELLS] = (signed char) speed;
        }
        __syncthreads();
        now[i] = next[i];
        __syncthreads();
    }
    out[at] = now[i];
}

__global__ void roads_cars_kernel(const signed char *in, signed char *out)
{
    __shared__ int place[ROAD_CARS];
    __shared__ int count;
    const int i = threadIdx.x, base = blockIdx.x * ROAD_CELLS;
    if (i == 0) {
        count = 0;
        for (int c = 0; c < ROAD_CELLS; c++)
            if (in[base + c] >= 0)
                place[count++] = c;
    }
    __syncthreads();
    int speed = in[base + place[i]];
    for (int step = 0; step < ROAD_STEPS; step++) {
        const int mine = place[i], ahead = place[(i + 1) % ROAD_CARS];
        const int gap = (ahead - mine - 1 + ROAD_CELLS) % ROAD_CELLS;
        speed = road_speed(speed, gap, road_random(blockIdx.x, mine, step));
        __syncthreads();
        place[i] = (mine + speed) % ROAD_CELLS;
        __syncthreads();
    }
    for (int c = i; c < ROAD_CELLS; c += ROAD_CARS)
        out[base + c] = -1;
    __syncthreads();
    out[base + place[i]] = (signed char) speed;
}

static std::vector<signed char> roads_after(const signed char *in, int road)
{
    std::vector<signed char> now(in, in + ROAD_CELLS), next(ROAD_CELLS);
    for (int step = 0; step < ROAD_STEPS; step++) {
        std::fill(next.begin(), next.end(), -1);
        for (int i = 0; i < ROAD_CELLS; i++) {
            int gap = 0;
            if (now[i] < 0)
                continue;
            while (gap < ROAD_SPEED && now[(i + gap + 1) % ROAD_CELLS] < 0)
                gap++;
            const int speed = road_speed(now[i], gap, road_random(road, i, step));
            next[(i + speed) % ROAD_CELLS] = (signed char) speed;
        }
        std::swap(now, next);
    }
    return now;
}

static void roads(Run &run, void (*kernel)(const signed char *, signed char *), int threads)
{
    std::vector<signed char> in(ROADS * ROAD_CELLS, -1);
    for (int i = 0; i < ROADS * ROAD_CARS; i++)
        in[4 * i + mix(i + 5061) % 4] = mix(i + 5062) % (ROAD_SPEED + 1);
    signed char *from = run.upload(in), *to = run.zeros<signed char>(in.size());
    run.measure([=] { kernel<<<ROADS, threads>>>(from, to); });
    const std::vector<signed char> got = run.output(to, in.size());
    for (int road = 0; road < ROADS; road += 7) {
        const std::vector<signed char> wanted = roads_after(&in[road * ROAD_CELLS], road);
        for (int i = 0; i < ROAD_CELLS; i++)
            run.expect(got[road * ROAD_CELLS + i], wanted[i], 0);
    }
}

static void roads_cells(Run &run)
{
    roads(run, roads_cells_kernel, ROAD_CELLS);
}

static void roads_cars(Run &run)
{
    roads(run, roads_cars_kernel, ROAD_CARS);
}

// ---- The chaos game: visits of 96 x 96 places counted in global memory, or per block first ----

enum { CHAOS_SIDE = 96, CHAOS_BLOCKS = 96, CHAOS_STEPS = 300 };

struct Chaos {
    uint32_t seed;
    int x, y;
};

// The next place: half way to a corner.
__host__ __device__ inline int chaos_next(Chaos *at)
{
    at->seed = at->seed * 1664525u + 1013904223u;
    const uint32_t k = (at->seed >> 16) * 3 >> 16;
    at->x = (at->x + (k == 0 ? 0 : k == 1 ? 65535 : 32768)) / 2;
    at->y = (at->y + (k == 2 ? 65535 : 0)) / 2;
    return (at->y * CHAOS_SIDE >> 16) * CHAOS_SIDE + (at->x * CHAOS_SIDE >> 16);
}

__host__ __device__ inline Chaos chaos_start(uint32_t i)
{
    return { i * 2654435769u, 20000, 20000 };
}

__global__ void chaos_global_kernel(unsigned *visits)
{
    Chaos at = chaos_start(blockIdx.x * blockDim.x + threadIdx.x);
    for (int step = 0; step < CHAOS_STEPS; step++)
        atomicAdd(&visits[chaos_next(&at)], 1u);
}

__global__ void chaos_shared_kernel(unsigned *visits)
{
    __shared__ unsigned mine[CHAOS_SIDE * CHAOS_SIDE];
    Chaos at = chaos_start(blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = threadIdx.x; i < CHAOS_SIDE * CHAOS_SIDE; i += blockDim.x)
        mine[i] = 0;
    __syncthreads();
    for (int step = 0; step < CHAOS_STEPS; step++)
        atomicAdd(&mine[chaos_next(&at)], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < CHAOS_SIDE * CHAOS_SIDE; i += blockDim.x)
        if (mine[i])
            atomicAdd(&visits[i], mine[i]);
}

static void chaos(Run &run, void (*kernel)(unsigned *))
{
    const int n = CHAOS_SIDE * CHAOS_SIDE;
    std::vector<unsigned> wanted(n);
    for (uint32_t i = 0; i < CHAOS_BLOCKS * 256; i++) {
        Chaos at = chaos_start(i);
        for (int step = 0; step < CHAOS_STEPS; step++)
            wanted[chaos_next(&at)]++;
    }
    unsigned *visits = run.zeros<unsigned>(n);
    run.measure([=] { kernel<<<CHAOS_BLOCKS, 256>>>(visits); },
                [=] { CHECK(cudaMemset(visits, 0, n * sizeof *visits)); });
    run.expect_all(
        run.output(visits, n), [&](int i) { return wanted[i]; }, 0);
}

static void chaos_global(Run &run)
{
    chaos(run, chaos_global_kernel);
}

static void chaos_shared(Run &run)
{
    chaos(run, chaos_shared_kernel);
}

// ---- Noughts and crosses: the value of each position after four moves, by recursion ----

enum { OXO_GAMES = 3024 };

__host__ __device__ inline bool oxo_won(int marks)
{
    const int lines[8] = { 7, 56, 448, 73, 146, 292, 273, 84 };
    for (int k = 0; k < 8; k++)
        if ((marks & lines[k]) == lines[k])
            return true;
    return false;
}

// The best result for `mine`, whose turn it is: 1, 0 or -1.
__host__ __device__ int oxo_value(int mine, int theirs)
{
    int best = -1;
    if (oxo_won(theirs))
        return -1;
    if ((mine | theirs) == 511)
        return 0;
    for (int k = 0; k < 9 && best < 1; k++) {
        if ((mine | theirs) >> k & 1)
            continue;
        const int value = -oxo_value(theirs, mine | 1 << k);
        best = value > best ? value : best;
    }
    return best;
}

__host__ __device__ inline int oxo_game(int number)
{
    int mine = 0, theirs = 0;
    for (int move = 0; move < 4; move++) {
        int skip = number % (9 - move), k = 0;
        number /= 9 - move;
        while ((mine | theirs) >> k & 1 || skip--)
            k++;
        const int moved = mine | 1 << k;
        mine = theirs;
        theirs = moved;
    }
    return oxo_value(mine, theirs);
}

__global__ void oxo_kernel(signed char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < OXO_GAMES)
        out[i] = (signed char) oxo_game(i);
}

static void oxo_recursive(Run &run)
{
    signed char *to = run.zeros<signed char>(OXO_GAMES);
    run.measure([=] { oxo_kernel<<<blocks_for(OXO_GAMES, 64), 64>>>(to); });
    run.expect_all(
        run.output(to, OXO_GAMES), [](int i) { return oxo_game(i); }, 0, 3);
}

#endif
