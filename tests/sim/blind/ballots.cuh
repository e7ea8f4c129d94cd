// ballots.cuh - elections: duels of candidates, instant runoffs, seats by divisors, simulated
// polls.
#ifndef BLIND_BALLOTS_CUH
#define BLIND_BALLOTS_CUH

#include "blind.cuh"

// ---- Ranked ballots: the candidates in the order of the voter, 12 bytes ----

enum { BALLOT_SIZE = 12 };

// Candidates with a high number tend to come late.
static std::vector<unsigned char> ranked_ballots(int count, uint32_t seed)
{
    std::vector<unsigned char> ballots((size_t) count * BALLOT_SIZE);
    for (int b = 0; b < count; b++) {
        uint32_t keys[BALLOT_SIZE];
        for (uint32_t c = 0; c < BALLOT_SIZE; c++)
            keys[c] = mix(b * 16u + c + seed) % (1000 + 130 * c) << 4 | c;
        std::sort(keys, keys + BALLOT_SIZE);
        for (int k = 0; k < BALLOT_SIZE; k++)
            ballots[(size_t) b * BALLOT_SIZE + k] = keys[k] & 15;
    }
    return ballots;
}

// ---- How many voters prefer a to b, for all pairs: counts in global memory, or in shared memory
// ----

enum { DUEL_BALLOTS = 184320 };

__global__ void condorcet_global_kernel(const unsigned char *ballots, int *wins)
{
    const unsigned char *ballot = ballots + (blockIdx.x * blockDim.x + threadIdx.x) * BALLOT_SIZE;
    for (int i = 0; i < BALLOT_SIZE; i++)
        for (int j = i + 1; j < BALLOT_SIZE; j++)
            atomicAdd(&wins[ballot[i] * BALLOT_SIZE + ballot[j]], 1);
}

__global__ void condorcet_shared_kernel(const unsigned char *ballots, int *wins)
{
    __shared__ int counts[BALLOT_SIZE * BALLOT_SIZE];
    const unsigned char *ballot = ballots + (blockIdx.x * blockDim.x + threadIdx.x) * BALLOT_SIZE;
    for (int i = threadIdx.x; i < BALLOT_SIZE * BALLOT_SIZE; i += blockDim.x)
        counts[i] = 0;
    __syncthreads();
    for (int i = 0; i < BALLOT_SIZE; i++)
        for (int j = i + 1; j < BALLOT_SIZE; j++)
            atomicAdd(&counts[ballot[i] * BALLOT_SIZE + ballot[j]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < BALLOT_SIZE * BALLOT_SIZE; i += blockDim.x)
        if (counts[i])
            atomicAdd(&wins[i], counts[i]);
}

static void condorcet(Run &run, void (*kernel)(const unsigned char *, int *))
{
    const std::vector<unsigned char> ballots = ranked_ballots(DUEL_BALLOTS, 13020);
    const unsigned char *from = run.upload(ballots);
    int *to = run.zeros<int>(BALLOT_SIZE * BALLOT_SIZE);
    run.measure([=] { kernel<<<DUEL_BALLOTS / 256, 256>>>(from, to); },
                [=] { CHECK(cudaMemset(to, 0, BALLOT_SIZE * BALLOT_SIZE * sizeof(int))); });
    std::vector<int> wins(BALLOT_SIZE * BALLOT_SIZE);
    for (size_t b = 0; b < ballots.size(); b += BALLOT_SIZE)
        for (int i = 0; i < BALLOT_SIZE; i++)
            for (int j = i + 1; j < BALLOT_SIZE; j++)
                wins[ballots[b + i] * BALLOT_SIZE + ballots[b + j]]++;
    run.expect_all(
        run.output(to, BALLOT_SIZE * BALLOT_SIZE), [&](int i) { return wins[i]; }, 0);
}

static void condorcet_global(Run &run)
{
    condorcet(run, condorcet_global_kernel);
}

static void condorcet_shared(Run &run)
{
    condorcet(run, condorcet_shared_kernel);
}

// ---- Instant runoff: each round counts all ballots, or moves those of the candidate who left ----

enum { RUNOFF_BALLOTS = 330000 };

struct Runoff {
    int standing, loser, round, counts[BALLOT_SIZE], order[BALLOT_SIZE];
};

__host__ __device__ inline int runoff_next(const unsigned char *ballot, int from, int standing)
{
    while (!(standing >> ballot[from] & 1))
        from++;
    return from;
}

__device__ inline void runoff_add(int *counts, int choice, Runoff *state)
{
    if (threadIdx.x < BALLOT_SIZE)
        counts[threadIdx.x] = 0;
    __syncthreads();
    if (choice >= 0)
        atomicAdd(&counts[choice], 1);
    __syncthreads();
    if (threadIdx.x < BALLOT_SIZE && counts[threadIdx.x])
        atomicAdd(&state->counts[threadIdx.x], counts[threadIdx.x]);
}

__global__ void runoff_count_kernel(const unsigned char *ballots, Runoff *state)
{
    __shared__ int counts[BALLOT_SIZE];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned char *ballot = ballots + (size_t) i * BALLOT_SIZE;
    int choice = -1;
    if (i < RUNOFF_BALLOTS)
        choice = ballot[runoff_next(ballot, 0, state->standing)];
    runoff_add(counts, choice, state);
}

// `places`: how far down each ballot the candidate is who has its vote.
__global__ void runoff_move_kernel(const unsigned char *ballots, unsigned char *places,
                                   Runoff *state)
{
    __shared__ int counts[BALLOT_SIZE];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned char *ballot = ballots + (size_t) i * BALLOT_SIZE;
    int choice = -1;
    if (i < RUNOFF_BALLOTS && ballot[places[i]] == state->loser) {
        const int place = runoff_next(ballot, places[i], state->standing);
        places[i] = place;
        choice = ballot[place];
    }
    runoff_add(counts, choice, state);
}

// The candidate with the fewest votes leaves.
__global__ void runoff_drop_kernel(Runoff *state, bool recount)
{
    int loser = -1;
    for (int c = 0; c < BALLOT_SIZE; c++)
        if (state->standing >> c & 1 && (loser < 0 || state->counts[c] < state->counts[loser]))
            loser = c;
    state->order[state->round++] = loser;
    state->standing &= ~(1 << loser);
    state->loser = loser;
    for (int c = 0; recount && c < BALLOT_SIZE; c++)
        state->counts[c] = 0;
}

static std::vector<int> runoff_host(const std::vector<unsigned char> &ballots)
{
    std::vector<int> order;
    for (int standing = (1 << BALLOT_SIZE) - 1; standing & (standing - 1);) {
        int counts[BALLOT_SIZE] = {}, loser = -1;
        for (size_t b = 0; b < ballots.size(); b += BALLOT_SIZE)
            counts[ballots[b + runoff_next(&ballots[b], 0, standing)]]++;
        for (int c = 0; c < BALLOT_SIZE; c++)
            if (standing >> c & 1 && (loser < 0 || counts[c] < counts[loser]))
                loser = c;
        standing &= ~(1 << loser);
        order.push_back(loser);
    }
    return order;
}

static void runoff(Run &run, bool recount)
{
    const std::vector<unsigned char> ballots = ranked_ballots(RUNOFF_BALLOTS, 13021);
    const std::vector<Runoff> start(1, { (1 << BALLOT_SIZE) - 1, -1, 0, {}, {} });
    const unsigned char *from = run.upload(ballots);
    const Runoff *first = run.upload(start);
    unsigned char *places = run.zeros<unsigned char>(RUNOFF_BALLOTS);
    Runoff *state = run.zeros<Runoff>(1);
    const int grid = blocks_for(RUNOFF_BALLOTS, 512);
    run.measure(
        [=] {
            runoff_count_kernel<<<grid, 512>>>(from, state);
            for (int round = 0; round < BALLOT_SIZE - 1; round++) {
                runoff_drop_kernel<<<1, 1>>>(state, recount);
                if (recount)
                    runoff_count_kernel<<<grid, 512>>>(from, state);
                else
                    runoff_move_kernel<<<grid, 512>>>(from, places, state);
            }
        },
        [=] {
            CHECK(cudaMemcpy(state, first, sizeof(Runoff), cudaMemcpyDeviceToDevice));
            CHECK(cudaMemset(places, 0, RUNOFF_BALLOTS));
        });
    const std::vector<Runoff> got = run.output(state, 1);
    const std::vector<int> order = runoff_host(ballots);
    for (int round = 0; round < BALLOT_SIZE - 1; round++)
        run.expect(got[0].order[round], order[round], 0);
}

static void runoff_scan(Run &run)
{
    runoff(run, true);
}

static void runoff_places(Run &run)
{
    runoff(run, false);
}

// ---- Seats of districts by highest averages: a thread per district, or 16 lanes ----

enum { DHONDT_DISTRICTS = 1600, DHONDT_PARTIES = 16 };

__host__ __device__ inline void dhondt_seats(const int *votes, int seats, int *out)
{
    int won[DHONDT_PARTIES] = {};
    for (int s = 0; s < seats; s++) {
        int best = 0;
        for (int p = 1; p < DHONDT_PARTIES; p++)
            if ((long long) votes[p] * (won[best] + 1) > (long long) votes[best] * (won[p] + 1))
                best = p;
        won[best]++;
    }
    for (int p = 0; p < DHONDT_PARTIES; p++)
        out[p] = won[p];
}

__global__ void dhondt_thread_kernel(const int *votes, const int *seats, int *out)
{
    const int d = blockIdx.x * blockDim.x + threadIdx.x;
    if (d < DHONDT_DISTRICTS)
        dhondt_seats(votes + d * DHONDT_PARTIES, seats[d], out + d * DHONDT_PARTIES);
}

__global__ void dhondt_lanes_kernel(const int *votes, const int *seats, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, d = i / DHONDT_PARTIES;
    const int party = i % DHONDT_PARTIES, mine = votes[i];
    const unsigned half = 0xffffu << (threadIdx.x & 16);
    int won = 0;
    for (int s = 0; s < seats[d]; s++) {
        int best = party, most = mine, divisor = won + 1;
        for (int step = DHONDT_PARTIES / 2; step; step /= 2) {
            const int other = __shfl_xor_sync(half, best, step);
            const int others = __shfl_xor_sync(half, most, step);
            const int by = __shfl_xor_sync(half, divisor, step);
            const long long a = (long long) others * divisor, b = (long long) most * by;
            if (a > b || (a == b && other < best)) {
                best = other;
                most = others;
                divisor = by;
            }
        }
        won += best == party;
    }
    out[i] = won;
}

// Districts are listed by size: the largest come first.
static void dhondt(Run &run, bool lanes)
{
    const int n = DHONDT_DISTRICTS * DHONDT_PARTIES;
    const std::vector<int> r = integers(n, 10000, 13022);
    std::vector<int> votes(n), seats(DHONDT_DISTRICTS);
    for (int i = 0; i < n; i++)
        votes[i] = 50 + r[i] * 40 / (1 + i % DHONDT_PARTIES);
    for (int d = 0; d < DHONDT_DISTRICTS; d++)
        seats[d] = 8 + (DHONDT_DISTRICTS - d) * 230 / DHONDT_DISTRICTS;
    const int *dv = run.upload(votes), *ds = run.upload(seats);
    int *to = run.zeros<int>(n);
    run.measure([=] {
        if (lanes)
            dhondt_lanes_kernel<<<n / 128, 128>>>(dv, ds, to);
        else
            dhondt_thread_kernel<<<blocks_for(DHONDT_DISTRICTS, 32), 32>>>(dv, ds, to);
    });
    const std::vector<int> got = run.output(to, n);
    for (int d = 0; d < DHONDT_DISTRICTS; d += 13) {
        int wanted[DHONDT_PARTIES];
        dhondt_seats(&votes[d * DHONDT_PARTIES], seats[d], wanted);
        for (int p = 0; p < DHONDT_PARTIES; p++)
            run.expect(got[d * DHONDT_PARTIES + p], wanted[p], 0);
    }
}

static void dhondt_thread(Run &run)
{
    dhondt(run, false);
}

static void dhondt_lanes(Run &run)
{
    dhondt(run, true);
}

// ---- Electors won in simulated elections of 51 states: a thread per election, or a warp ----

enum { COLLEGE_RUNS = 28672, COLLEGE_STATES = 51 };

struct CollegeState {
    float lead, spread;
    int electors;
};

__constant__ CollegeState college_states[COLLEGE_STATES];

__host__ __device__ inline float college_normal(uint32_t a)
{
    uint32_t x = a * 2654435769u + 13023;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    x ^= x >> 16;
    const uint32_t y = (x ^ 0x5bd1e995u) * 747796405u + 2891336453u;
    const float u = ((x >> 8) + 1) * 0x1p-24f, v = (y >> 8) * 0x1p-24f;
    return sqrtf(-2 * logf(u)) * cosf(6.2831853f * v);
}

// The lead in one state: a swing of the whole country, and one of the state.
__host__ __device__ inline float college_lead(const CollegeState &state, int election, int s,
                                              float swing)
{
    return state.lead + swing + state.spread * college_normal(election * 64 + s);
}

__host__ __device__ inline float college_swing(int election)
{
    return 2.5f * college_normal(election * 64 + 63);
}

__global__ void colleges_thread_kernel(int *electors)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    const float swing = college_swing(e);
    int sum = 0;
    for (int s = 0; s < COLLEGE_STATES; s++)
        if (college_lead(college_states[s], e, s, swing) > 0)
            sum += college_states[s].electors;
    electors[e] = sum;
}

__global__ void colleges_warp_kernel(const CollegeState *states, int *electors)
{
    const int e = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float swing = college_swing(e);
    int sum = 0;
    for (int s = lane; s < COLLEGE_STATES; s += 32)
        if (college_lead(states[s], e, s, swing) > 0)
            sum += states[s].electors;
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0)
        electors[e] = sum;
}

static void colleges(Run &run, bool warp)
{
    const std::vector<float> lead = floats(COLLEGE_STATES, 13024, -9, 9);
    std::vector<CollegeState> states(COLLEGE_STATES);
    for (int s = 0; s < COLLEGE_STATES; s++)
        states[s] = { lead[s], 2 + s % 7 * 0.4f, 3 + s * 37 % 29 };
    CHECK(cudaMemcpyToSymbol(college_states, states.data(), sizeof(college_states)));
    const CollegeState *from = run.upload(states);
    int *to = run.zeros<int>(COLLEGE_RUNS);
    run.measure([=] {
        if (warp)
            colleges_warp_kernel<<<COLLEGE_RUNS / 8, 256>>>(from, to);
        else
            colleges_thread_kernel<<<COLLEGE_RUNS / 128, 128>>>(to);
    });
    const std::vector<int> got = run.output(to, COLLEGE_RUNS);
    for (int e = 0; e < COLLEGE_RUNS; e += 19) {
        const float swing = college_swing(e);
        float closest = 1;
        int sum = 0;
        for (int s = 0; s < COLLEGE_STATES; s++) {
            const float margin = college_lead(states[s], e, s, swing);
            closest = std::min(closest, fabsf(margin));
            sum += margin > 0 ? states[s].electors : 0;
        }
        if (closest > 1e-4f) // rounding may decide the others
            run.expect(got[e], sum, 0);
    }
}

static void colleges_thread(Run &run)
{
    colleges(run, false);
}

static void colleges_warp(Run &run)
{
    colleges(run, true);
}

#endif
