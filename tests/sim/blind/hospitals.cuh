// hospitals.cuh - hospitals: doses over time, electrocardiograms, donors, outbreaks in a ward.
#ifndef BLIND_HOSPITALS_CUH
#define BLIND_HOSPITALS_CUH

#include "blind.cuh"

// ---- The concentration of a drug every quarter of an hour, after doses at any times: a thread
// per patient and time adds what is left of all doses before, or a thread per patient carries the
// concentration from time to time ----

enum { HOSPITAL_PATIENTS = 2000, HOSPITAL_TIMES = 96 };

__global__ void hospital_dose_sums_kernel(const double2 *doses, const int *starts,
                                          const double *rates, double *levels)
{
    const int patient = blockIdx.x;
    const double now = threadIdx.x * 0.25, rate = rates[patient];
    double sum = 0;
    for (int k = starts[patient]; k < starts[patient + 1]; k++) {
        const double2 dose = doses[k];
        if (dose.x > now)
            break;
        sum += dose.y * exp(rate * (dose.x - now));
    }
    levels[patient * HOSPITAL_TIMES + threadIdx.x] = sum;
}

__global__ void hospital_dose_carried_kernel(const double2 *doses, const int *starts,
                                             const double *rates, double *levels)
{
    const int patient = blockIdx.x * blockDim.x + threadIdx.x;
    if (patient >= HOSPITAL_PATIENTS)
        return;
    const double rate = rates[patient], decay = exp(-0.25 * rate);
    double level = 0;
    int k = starts[patient];
    const int end = starts[patient + 1];
    for (int time = 0; time < HOSPITAL_TIMES; time++) {
        level *= decay;
        for (; k < end && doses[k].x <= time * 0.25; k++)
            level += doses[k].y * exp(rate * (doses[k].x - time * 0.25));
        levels[patient * HOSPITAL_TIMES + time] = level;
    }
}

// Doses: time in hours, and amount; by patient, then by time.
static void hospital_dose(Run &run, bool carried)
{
    const std::vector<int> counts = integers(HOSPITAL_PATIENTS, 44, 23540);
    const std::vector<float> speeds = floats(HOSPITAL_PATIENTS, 23541, 0.05f, 0.9f);
    std::vector<int> starts(HOSPITAL_PATIENTS + 1);
    for (int i = 0; i < HOSPITAL_PATIENTS; i++)
        starts[i + 1] = starts[i] + 2 + counts[i];
    const std::vector<float> draws = floats((size_t) 2 * starts.back(), 23542, 0, 1);
    std::vector<double2> doses(starts.back());
    for (int i = 0; i < HOSPITAL_PATIENTS; i++)
        for (int k = starts[i], n = starts[i + 1] - k; k < starts[i + 1]; k++)
            doses[k] = { 24 * (k - starts[i] + (double) draws[2 * k]) / n, 0.2 + draws[2 * k + 1] };
    const std::vector<double> rates(speeds.begin(), speeds.end());
    const double2 *dd = run.upload(doses);
    const int *ds = run.upload(starts);
    const double *dr = run.upload(rates);
    const size_t n = (size_t) HOSPITAL_PATIENTS * HOSPITAL_TIMES;
    double *to = run.zeros<double>(n);
    run.measure([=] {
        if (carried)
            hospital_dose_carried_kernel<<<blocks_for(HOSPITAL_PATIENTS, 32), 32>>>(dd, ds, dr, to);
        else
            hospital_dose_sums_kernel<<<HOSPITAL_PATIENTS, HOSPITAL_TIMES>>>(dd, ds, dr, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            const int patient = (int) i / HOSPITAL_TIMES;
            const double now = i % HOSPITAL_TIMES * 0.25;
            double sum = 0;
            for (int k = starts[patient]; k < starts[patient + 1] && doses[k].x <= now; k++)
                sum += doses[k].y * exp(rates[patient] * (doses[k].x - now));
            return sum;
        },
        1e-9, 7);
}

static void hospital_dose_sums(Run &run)
{
    hospital_dose(run, false);
}

static void hospital_dose_carried(Run &run)
{
    hospital_dose(run, true);
}

// ---- Heart beats in electrocardiograms, by Pan and Tompkins: the sum of squared slopes in a
// window. Each thread computes all slopes of its window, or a block keeps them in a tile ----

enum { HOSPITAL_LEADS = 48, HOSPITAL_SAMPLES = 16384, HOSPITAL_WINDOW = 24 };

// The squared slope before sample i of a lead.
__host__ __device__ inline int hospital_slope(const short *lead, int i)
{
    if (i < 4)
        return 0;
    const int slope = 2 * lead[i] + lead[i - 1] - lead[i - 3] - 2 * lead[i - 4];
    return slope * slope >> 6;
}

__global__ void hospital_beats_direct_kernel(const short *leads, int *sums)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const short *lead = leads + blockIdx.y * HOSPITAL_SAMPLES;
    int sum = 0;
    for (int k = 0; k < HOSPITAL_WINDOW; k++)
        sum += hospital_slope(lead, i - k);
    sums[blockIdx.y * HOSPITAL_SAMPLES + i] = sum;
}

__global__ void hospital_beats_tile_kernel(const short *leads, int *sums)
{
    __shared__ int tile[256 + HOSPITAL_WINDOW];
    const int first = blockIdx.x * 256 - HOSPITAL_WINDOW;
    const short *lead = leads + blockIdx.y * HOSPITAL_SAMPLES;
    for (int k = threadIdx.x; k < 256 + HOSPITAL_WINDOW; k += 256)
        tile[k] = hospital_slope(lead, first + k);
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < HOSPITAL_WINDOW; k++)
        sum += tile[threadIdx.x + HOSPITAL_WINDOW - k];
    sums[blockIdx.y * HOSPITAL_SAMPLES + blockIdx.x * 256 + threadIdx.x] = sum;
}

static void hospital_beats(Run &run, void (*kernel)(const short *, int *))
{
    const size_t n = (size_t) HOSPITAL_LEADS * HOSPITAL_SAMPLES;
    const std::vector<int> draws = integers(n, 2001, 23550);
    std::vector<short> leads(n);
    for (size_t i = 0; i < n; i++)
        leads[i] = (short) (draws[i] - 1000);
    const short *from = run.upload(leads);
    int *to = run.zeros<int>(n);
    run.measure([=] { kernel<<<dim3(HOSPITAL_SAMPLES / 256, HOSPITAL_LEADS), 256>>>(from, to); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            const short *lead = leads.data() + i / HOSPITAL_SAMPLES * HOSPITAL_SAMPLES;
            int sum = 0;
            for (int k = 0; k < HOSPITAL_WINDOW; k++)
                sum += hospital_slope(lead, (int) (i % HOSPITAL_SAMPLES) - k);
            return sum;
        },
        0, 5);
}

static void hospital_beats_direct(Run &run)
{
    hospital_beats(run, hospital_beats_direct_kernel);
}

static void hospital_beats_tile(Run &run)
{
    hospital_beats(run, hospital_beats_tile_kernel);
}

// ---- The best donor for each patient: the one with the most of 16 antigens in common, compared
// byte by byte, or four bytes at a time ----

enum { HOSPITAL_WAITING = 2048, HOSPITAL_DONORS = 2048, HOSPITAL_SLICE = 128 };
enum { HOSPITAL_ANTIGENS = 16 };

// More in common wins, then the first donor.
__host__ __device__ inline int hospital_rank(int common, int donor)
{
    return common * HOSPITAL_DONORS + HOSPITAL_DONORS - 1 - donor;
}

__global__ void hospital_donors_bytes_kernel(const uint4 *patients, const uint4 *donors, int *best)
{
    __shared__ __align__(16) unsigned char slice[HOSPITAL_SLICE][HOSPITAL_ANTIGENS];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * HOSPITAL_SLICE;
    *(uint4 *) slice[threadIdx.x] = donors[first + threadIdx.x];
    unsigned char mine[HOSPITAL_ANTIGENS];
    for (int a = 0; a < HOSPITAL_ANTIGENS; a++)
        mine[a] = ((const unsigned char *) &patients[i])[a];
    __syncthreads();
    int most = 0;
    for (int k = 0; k < HOSPITAL_SLICE; k++) {
        int common = 0;
        for (int a = 0; a < HOSPITAL_ANTIGENS; a++)
            common += mine[a] == slice[k][a];
        most = max(most, hospital_rank(common, first + k));
    }
    atomicMax(&best[i], most);
}

__global__ void hospital_donors_words_kernel(const uint4 *patients, const uint4 *donors, int *best)
{
    __shared__ uint4 slice[HOSPITAL_SLICE];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * HOSPITAL_SLICE;
    slice[threadIdx.x] = donors[first + threadIdx.x];
    const uint4 mine = patients[i];
    __syncthreads();
    int most = 0;
    for (int k = 0; k < HOSPITAL_SLICE; k++) {
        const uint4 other = slice[k];
        const unsigned common = __vseteq4(mine.x, other.x) + __vseteq4(mine.y, other.y) +
                                __vseteq4(mine.z, other.z) + __vseteq4(mine.w, other.w);
        most = max(most, hospital_rank(common * 0x01010101u >> 24, first + k));
    }
    atomicMax(&best[i], most);
}

// One of eight variants per antigen.
static std::vector<uint4> hospital_people(int count, uint32_t seed)
{
    const std::vector<uint32_t> draws = words((size_t) count * 4, seed);
    std::vector<uint4> people(count);
    for (int i = 0; i < count; i++)
        people[i] = { draws[i * 4] & 0x07070707u, draws[i * 4 + 1] & 0x07070707u,
                      draws[i * 4 + 2] & 0x07070707u, draws[i * 4 + 3] & 0x07070707u };
    return people;
}

static void hospital_donors(Run &run, void (*kernel)(const uint4 *, const uint4 *, int *))
{
    const std::vector<uint4> patients = hospital_people(HOSPITAL_WAITING, 23560);
    const std::vector<uint4> donors = hospital_people(HOSPITAL_DONORS, 23561);
    const uint4 *dp = run.upload(patients), *dd = run.upload(donors);
    int *to = run.zeros<int>(HOSPITAL_WAITING);
    const dim3 grid(HOSPITAL_WAITING / HOSPITAL_SLICE, HOSPITAL_DONORS / HOSPITAL_SLICE);
    run.measure([=] { kernel<<<grid, HOSPITAL_SLICE>>>(dp, dd, to); },
                [=] { CHECK(cudaMemset(to, 0, HOSPITAL_WAITING * sizeof(int))); });
    run.expect_all(
        run.output(to, HOSPITAL_WAITING),
        [&](size_t i) {
            int most = 0;
            for (int k = 0; k < HOSPITAL_DONORS; k++) {
                int common = 0;
                for (int a = 0; a < HOSPITAL_ANTIGENS; a++)
                    common += ((const unsigned char *) &patients[i])[a] ==
                              ((const unsigned char *) &donors[k])[a];
                most = std::max(most, hospital_rank(common, k));
            }
            return most;
        },
        0, 3);
}

static void hospital_donors_bytes(Run &run)
{
    hospital_donors(run, hospital_donors_bytes_kernel);
}

static void hospital_donors_words(Run &run)
{
    hospital_donors(run, hospital_donors_words_kernel);
}

// ---- Outbreaks in a ward of 128 beds, day by day until no patient is ill: a block per trial, a
// thread per bed. Some trials end at once, others take months. Each block has a fixed share of the
// trials, or draws tickets ----

enum { HOSPITAL_TRIALS = 3000, HOSPITAL_BEDS = 128, HOSPITAL_BLOCKS = 264 };

// Between 0 and 65535.
__host__ __device__ inline unsigned hospital_luck(unsigned trial, unsigned day, unsigned bed)
{
    unsigned x = (trial * 4096 + day) * 128 + bed;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x >> 16;
}

// A bed's state after a day: 0 is well, -1 is immune, otherwise the days of illness that remain.
__host__ __device__ inline int hospital_day(int state, int ill, int risk, unsigned luck)
{
    if (state > 0)
        return state > 1 ? state - 1 : -1;
    if (state == 0 && (int) luck < ill * risk)
        return 4 + luck % 5;
    return state;
}

// The days, and how many became ill.
__device__ inline int2 hospital_trial(int trial, int risk)
{
    int state = threadIdx.x < 3 ? 6 : 0, day = 0;
    for (;;) {
        const int ill = __syncthreads_count(state > 0);
        if (ill == 0)
            break;
        state = hospital_day(state, ill, risk, hospital_luck(trial, day, threadIdx.x));
        day++;
    }
    return make_int2(day, __syncthreads_count(state < 0));
}

__global__ void hospital_outbreak_shares_kernel(const int *risks, int2 *results)
{
    const int end = (blockIdx.x + 1) * HOSPITAL_TRIALS / gridDim.x;
    for (int trial = blockIdx.x * HOSPITAL_TRIALS / gridDim.x; trial < end; trial++) {
        const int2 result = hospital_trial(trial, risks[trial]);
        if (threadIdx.x == 0)
            results[trial] = result;
    }
}

__global__ void hospital_outbreak_tickets_kernel(const int *risks, int2 *results, int *ticket)
{
    __shared__ int drawn;
    for (;;) {
        if (threadIdx.x == 0)
            drawn = atomicAdd(ticket, 1);
        __syncthreads();
        const int trial = drawn;
        if (trial >= HOSPITAL_TRIALS)
            break;
        const int2 result = hospital_trial(trial, risks[trial]);
        if (threadIdx.x == 0)
            results[trial] = result;
    }
}

static int2 hospital_host_trial(int trial, int risk)
{
    int states[HOSPITAL_BEDS] = { 6, 6, 6 }, day = 0;
    for (;; day++) {
        const int ill =
            (int) std::count_if(states, states + HOSPITAL_BEDS, [](int s) { return s > 0; });
        if (ill == 0)
            break;
        for (int bed = 0; bed < HOSPITAL_BEDS; bed++)
            states[bed] = hospital_day(states[bed], ill, risk, hospital_luck(trial, day, bed));
    }
    return { day,
             (int) std::count_if(states, states + HOSPITAL_BEDS, [](int s) { return s < 0; }) };
}

// The risk rises over the first half of the trials, as the ward gets full, then falls.
static void hospital_outbreak(Run &run, bool tickets)
{
    std::vector<int> risks = integers(HOSPITAL_TRIALS, 60, 23570);
    for (int i = 0; i < HOSPITAL_TRIALS; i++)
        risks[i] += 20 + 150 * std::min(i, HOSPITAL_TRIALS - i) / HOSPITAL_TRIALS;
    const int *from = run.upload(risks);
    int2 *to = run.zeros<int2>(HOSPITAL_TRIALS);
    int *ticket = run.zeros<int>(1);
    run.measure(
        [=] {
            if (tickets)
                hospital_outbreak_tickets_kernel<<<HOSPITAL_BLOCKS, HOSPITAL_BEDS>>>(from, to,
                                                                                     ticket);
            else
                hospital_outbreak_shares_kernel<<<HOSPITAL_BLOCKS, HOSPITAL_BEDS>>>(from, to);
        },
        [=] { CHECK(cudaMemset(ticket, 0, sizeof(int))); });
    const std::vector<int2> got = run.output(to, HOSPITAL_TRIALS);
    for (int i = 0; i < HOSPITAL_TRIALS; i++) {
        const int2 wanted = hospital_host_trial(i, risks[i]);
        run.expect(got[i].x, wanted.x, 0);
        run.expect(got[i].y, wanted.y, 0);
    }
}

static void hospital_outbreak_shares(Run &run)
{
    hospital_outbreak(run, false);
}

static void hospital_outbreak_tickets(Run &run)
{
    hospital_outbreak(run, true);
}

#endif
