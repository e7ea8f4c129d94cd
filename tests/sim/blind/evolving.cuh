// evolving.cuh - search by populations: swarms, test functions, tournaments, lengths of round
// trips.
#ifndef BLIND_EVOLVING_CUH
#define BLIND_EVOLVING_CUH

#include "blind.cuh"

// ---- A step of a particle swarm in 8 dimensions: a record per particle, or planes ----

enum { SWARM_SIZE = 3 << 18, SWARM_DIMS = 8 };

struct SwarmParticle {
    float place[SWARM_DIMS], speed[SWARM_DIMS], best[SWARM_DIMS];
};

struct SwarmGoal {
    float place[SWARM_DIMS];
};

__host__ __device__ inline float swarm_random(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    return (x & 0xffffffu) * 0x1p-24f;
}

// The speed turns towards the particle's best place and towards the best of all.
__host__ __device__ inline float swarm_speed(float speed, float place, float best, float goal,
                                             uint32_t key)
{
    const float own = 1.5f * swarm_random(key), all = 1.5f * swarm_random(key + 0x9e3779b9u);
    const float v = 0.7f * speed + own * (best - place) + all * (goal - place);
    return v < -1 ? -1 : v > 1 ? 1 : v;
}

__global__ void swarm_records_kernel(SwarmParticle *swarm, SwarmGoal goal)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    SwarmParticle *p = &swarm[i];
    for (int d = 0; d < SWARM_DIMS; d++) {
        const float place = p->place[d];
        const float speed =
            swarm_speed(p->speed[d], place, p->best[d], goal.place[d], i * SWARM_DIMS + d);
        p->speed[d] = speed;
        p->place[d] = place + speed;
    }
}

__global__ void swarm_planes_kernel(float *places, float *speeds, const float *best, SwarmGoal goal)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int d = 0; d < SWARM_DIMS; d++) {
        const int at = d * SWARM_SIZE + i;
        const float place = places[at];
        const float speed =
            swarm_speed(speeds[at], place, best[at], goal.place[d], i * SWARM_DIMS + d);
        speeds[at] = speed;
        places[at] = place + speed;
    }
}

// Dimension d of value k of particle i, in planes.
static size_t swarm_at(size_t k, size_t d, size_t i)
{
    return (k * SWARM_DIMS + d) * SWARM_SIZE + i;
}

static SwarmGoal swarm_goal()
{
    SwarmGoal goal;
    for (int d = 0; d < SWARM_DIMS; d++)
        goal.place[d] = 0.1f * d - 0.3f;
    return goal;
}

static void swarm_check(Run &run, const std::vector<float> &in, size_t i, size_t d, float place,
                        float speed)
{
    const float before = in[swarm_at(0, d, i)];
    const float wanted = swarm_speed(in[swarm_at(1, d, i)], before, in[swarm_at(2, d, i)],
                                     swarm_goal().place[d], (uint32_t) (i * SWARM_DIMS + d));
    run.expect(speed, wanted, 1e-5);
    run.expect(place, before + wanted, 1e-5);
}

static void swarm_planes(Run &run)
{
    const size_t plane = (size_t) SWARM_DIMS * SWARM_SIZE;
    const std::vector<float> in = floats(3 * plane, 12010);
    const float *from = run.upload(in);
    float *to = run.zeros<float>(3 * plane);
    const SwarmGoal goal = swarm_goal();
    run.measure(
        [=] {
            swarm_planes_kernel<<<SWARM_SIZE / 256, 256>>>(to, to + plane, to + 2 * plane, goal);
        },
        [=] { CHECK(cudaMemcpy(to, from, 3 * plane * sizeof(float), cudaMemcpyDeviceToDevice)); });
    const std::vector<float> got = run.output(to, 2 * plane);
    for (size_t i = 0; i < SWARM_SIZE; i += 1013)
        for (size_t d = 0; d < SWARM_DIMS; d++)
            swarm_check(run, in, i, d, got[swarm_at(0, d, i)], got[swarm_at(1, d, i)]);
}

static void swarm_records(Run &run)
{
    const std::vector<float> in = floats((size_t) 3 * SWARM_DIMS * SWARM_SIZE, 12010);
    std::vector<SwarmParticle> records(SWARM_SIZE);
    for (size_t i = 0; i < SWARM_SIZE; i++)
        for (size_t d = 0; d < SWARM_DIMS; d++) {
            records[i].place[d] = in[swarm_at(0, d, i)];
            records[i].speed[d] = in[swarm_at(1, d, i)];
            records[i].best[d] = in[swarm_at(2, d, i)];
        }
    const SwarmParticle *from = run.upload(records);
    SwarmParticle *to = run.zeros<SwarmParticle>(SWARM_SIZE);
    const SwarmGoal goal = swarm_goal();
    run.measure([=] { swarm_records_kernel<<<SWARM_SIZE / 256, 256>>>(to, goal); },
                [=] {
                    const size_t size = SWARM_SIZE * sizeof(SwarmParticle);
                    CHECK(cudaMemcpy(to, from, size, cudaMemcpyDeviceToDevice));
                });
    const std::vector<SwarmParticle> got = run.output(to, SWARM_SIZE);
    for (size_t i = 0; i < SWARM_SIZE; i += 1013)
        for (size_t d = 0; d < SWARM_DIMS; d++)
            swarm_check(run, in, i, d, got[i].place[d], got[i].speed[d]);
}

// ---- Rastrigin's function of 384 variables: a thread or a warp per individual ----

enum { RASTRIGIN_SIZE = 12288, RASTRIGIN_DIMS = 384 };

__host__ __device__ inline float rastrigin_term(float x)
{
    return x * x - 10 * cosf(6.2831853f * x) + 10;
}

__global__ void rastrigin_thread_kernel(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int d = 0; d < RASTRIGIN_DIMS; d++)
        sum += rastrigin_term(in[(size_t) i * RASTRIGIN_DIMS + d]);
    out[i] = sum;
}

__global__ void rastrigin_warp_kernel(const float *in, float *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int d = lane; d < RASTRIGIN_DIMS; d += 32)
        sum += rastrigin_term(in[(size_t) i * RASTRIGIN_DIMS + d]);
    for (int by = 16; by; by /= 2)
        sum += __shfl_down_sync(~0u, sum, by);
    if (lane == 0)
        out[i] = sum;
}

static void rastrigin(Run &run, bool warps)
{
    const std::vector<float> in = floats((size_t) RASTRIGIN_SIZE * RASTRIGIN_DIMS, 12011, -5, 5);
    const float *from = run.upload(in);
    float *to = run.zeros<float>(RASTRIGIN_SIZE);
    run.measure([=] {
        if (warps)
            rastrigin_warp_kernel<<<RASTRIGIN_SIZE / 8, 256>>>(from, to);
        else
            rastrigin_thread_kernel<<<RASTRIGIN_SIZE / 128, 128>>>(from, to);
    });
    run.expect_all(
        run.output(to, RASTRIGIN_SIZE),
        [&](size_t i) {
            double sum = 0;
            for (int d = 0; d < RASTRIGIN_DIMS; d++)
                sum += rastrigin_term(in[i * RASTRIGIN_DIMS + d]);
            return sum;
        },
        1e-4, 37);
}

static void rastrigin_thread(Run &run)
{
    rastrigin(run, false);
}

static void rastrigin_warp(Run &run)
{
    rastrigin(run, true);
}

// ---- Children of parents chosen by tournaments, genomes of 64 words: a thread or a warp each ----

enum { GENOMES = 65536, GENOME_WORDS = 64 };

// The fitter of two random individuals.
__host__ __device__ inline int genome_parent(const float *fitness, uint32_t key)
{
    uint32_t x = (key ^ key >> 16) * 0x7feb352du;
    const int a = (x ^ x >> 15) % GENOMES;
    x = (x ^ x >> 13) * 0x846ca68bu;
    const int b = (x ^ x >> 16) % GENOMES;
    return fitness[a] >= fitness[b] ? a : b;
}

// Words before `cut` are the mother's; one bit in some words is flipped.
__host__ __device__ inline uint32_t genome_word(const uint32_t *mother, const uint32_t *father,
                                                int k, int cut, uint32_t key)
{
    const uint32_t word = k < cut ? mother[k] : father[k];
    const uint32_t x = (key * 64 + k) * 2654435769u;
    return (x >> 27) == 0 ? word ^ 1u << (x >> 20 & 31) : word;
}

__global__ void children_thread_kernel(const uint32_t *in, const float *fitness, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t *mother = in + genome_parent(fitness, 2 * i) * GENOME_WORDS;
    const uint32_t *father = in + genome_parent(fitness, 2 * i + 1) * GENOME_WORDS;
    for (int k = 0; k < GENOME_WORDS; k++)
        out[i * GENOME_WORDS + k] = genome_word(mother, father, k, i % GENOME_WORDS, i);
}

__global__ void children_warp_kernel(const uint32_t *in, const float *fitness, uint32_t *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const uint32_t *mother = in + genome_parent(fitness, 2 * i) * GENOME_WORDS;
    const uint32_t *father = in + genome_parent(fitness, 2 * i + 1) * GENOME_WORDS;
    for (int k = threadIdx.x % 32; k < GENOME_WORDS; k += 32)
        out[i * GENOME_WORDS + k] = genome_word(mother, father, k, i % GENOME_WORDS, i);
}

static void children(Run &run, bool warps)
{
    const std::vector<uint32_t> in = words(GENOMES * GENOME_WORDS, 12012);
    const std::vector<float> fitness = floats(GENOMES, 12013, 0, 1);
    const uint32_t *from = run.upload(in);
    const float *df = run.upload(fitness);
    uint32_t *to = run.zeros<uint32_t>(in.size());
    run.measure([=] {
        if (warps)
            children_warp_kernel<<<GENOMES / 8, 256>>>(from, df, to);
        else
            children_thread_kernel<<<GENOMES / 128, 128>>>(from, df, to);
    });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t at) {
            const uint32_t i = (uint32_t) (at / GENOME_WORDS);
            const uint32_t *mother =
                &in[(size_t) genome_parent(fitness.data(), 2 * i) * GENOME_WORDS];
            const uint32_t *father =
                &in[(size_t) genome_parent(fitness.data(), 2 * i + 1) * GENOME_WORDS];
            return genome_word(mother, father, at % GENOME_WORDS, i % GENOME_WORDS, i);
        },
        0, 997);
}

static void children_thread(Run &run)
{
    children(run, false);
}

static void children_warp(Run &run)
{
    children(run, true);
}

// ---- Lengths of round trips in 1024 cities, a thread each: cities in global or shared memory ----

enum { TRIPS = 4096, TRIP_CITIES = 1024, TRIP_STOPS = 1024 };

__host__ __device__ inline float trip_leg(float2 a, float2 b)
{
    const float dx = a.x - b.x, dy = a.y - b.y;
    return sqrtf(dx * dx + dy * dy);
}

// Stop k of trip i is at k * TRIPS + i.
__device__ inline float trip_length(const unsigned short *stops, const float2 *cities, int i)
{
    float length = 0;
    const float2 first = cities[stops[i]];
    float2 last = first;
    for (int k = 1; k < TRIP_STOPS; k++) {
        const float2 next = cities[stops[k * TRIPS + i]];
        length += trip_leg(last, next);
        last = next;
    }
    return length + trip_leg(last, first);
}

__global__ void trips_global_kernel(const unsigned short *stops, const float2 *cities, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = trip_length(stops, cities, i);
}

__global__ void trips_shared_kernel(const unsigned short *stops, const float2 *cities, float *out)
{
    __shared__ float2 near[TRIP_CITIES];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int c = threadIdx.x; c < TRIP_CITIES; c += blockDim.x)
        near[c] = cities[c];
    __syncthreads();
    out[i] = trip_length(stops, near, i);
}

static void trips(Run &run, void (*kernel)(const unsigned short *, const float2 *, float *))
{
    const std::vector<int> v = integers(TRIPS * TRIP_STOPS, TRIP_CITIES, 12014);
    const std::vector<unsigned short> stops(v.begin(), v.end());
    const std::vector<float> cities = floats(2 * TRIP_CITIES, 12015);
    const unsigned short *from = run.upload(stops);
    const float2 *dc = (const float2 *) run.upload(cities);
    float *to = run.zeros<float>(TRIPS);
    run.measure([=] { kernel<<<TRIPS / 128, 128>>>(from, dc, to); });
    run.expect_all(
        run.output(to, TRIPS),
        [&](size_t i) {
            const float2 *places = (const float2 *) cities.data();
            double length = 0;
            for (size_t k = 0; k < TRIP_STOPS; k++)
                length += trip_leg(places[stops[k * TRIPS + i]],
                                   places[stops[(k + 1) % TRIP_STOPS * TRIPS + i]]);
            return length;
        },
        1e-4, 31);
}

static void trips_global(Run &run)
{
    trips(run, trips_global_kernel);
}

static void trips_shared(Run &run)
{
    trips(run, trips_shared_kernel);
}

#endif
