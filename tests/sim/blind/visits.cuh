// visits.cuh - the log of a web shop: sessions, funnels, unique visitors, campaigns in addresses.
#ifndef BLIND_VISITS_CUH
#define BLIND_VISITS_CUH

#include "blind.cuh"

// ---- A log: per user, its events in order of time ----

enum { VISIT_DAYS = 60, VISIT_MINUTES = VISIT_DAYS * 1440 };

struct VisitLog {
    std::vector<int> begins, users, minutes;
};

// Most users have few events, some many. Gaps are mostly minutes, sometimes days.
static VisitLog visit_log(int users, int least, int most, uint32_t seed)
{
    VisitLog log;
    const std::vector<int> r = integers(2 * users, 1000, seed);
    log.begins.push_back(0);
    for (int u = 0; u < users; u++) {
        const float x = r[u] / 1000.0f;
        const int count = least + (int) ((most - least) * x * x * x);
        int at = r[users + u] * 15;
        for (int k = 0; k < count; k++) {
            const uint32_t h = mix(u * 7919u + k * 104729u + seed);
            at += h % 10 < 7 ? h / 16 % 12 : h / 16 % (VISIT_MINUTES / count + 40);
            log.minutes.push_back(std::min(at, VISIT_MINUTES - 1));
            log.users.push_back(u);
        }
        log.begins.push_back((int) log.minutes.size());
    }
    return log;
}

// ---- Sessions, parted by gaps of half an hour: a thread per user, or per event ----

enum { SESSION_USERS = 196608, SESSION_GAP = 30 };

__global__ void sessions_users_kernel(const int *begins, const int *minutes, int *sessions)
{
    const int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= SESSION_USERS)
        return;
    int count = 0, last = -1000;
    for (int i = begins[u]; i < begins[u + 1]; i++) {
        count += minutes[i] - last > SESSION_GAP;
        last = minutes[i];
    }
    sessions[u] = count;
}

__global__ void sessions_events_kernel(const int *users, const int *minutes, int n, int *sessions)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int u = users[i];
    if (i == 0 || users[i - 1] != u || minutes[i] - minutes[i - 1] > SESSION_GAP)
        atomicAdd(&sessions[u], 1);
}

static void sessions(Run &run, bool events)
{
    const VisitLog log = visit_log(SESSION_USERS, 6, 140, 13000);
    const int n = (int) log.minutes.size();
    const int *db = run.upload(log.begins), *du = run.upload(log.users);
    const int *dm = run.upload(log.minutes);
    int *to = run.zeros<int>(SESSION_USERS);
    run.measure(
        [=] {
            if (events)
                sessions_events_kernel<<<blocks_for(n, 256), 256>>>(du, dm, n, to);
            else
                sessions_users_kernel<<<blocks_for(SESSION_USERS, 128), 128>>>(db, dm, to);
        },
        [=] { CHECK(cudaMemset(to, 0, SESSION_USERS * sizeof(int))); });
    run.expect_all(
        run.output(to, SESSION_USERS),
        [&](int u) {
            int count = 1;
            for (int i = log.begins[u] + 1; i < log.begins[u + 1]; i++)
                count += log.minutes[i] - log.minutes[i - 1] > SESSION_GAP;
            return count;
        },
        0, 17);
}

static void sessions_users(Run &run)
{
    sessions(run, false);
}

static void sessions_events(Run &run)
{
    sessions(run, true);
}

// ---- How far users come in a funnel of pages: a thread per user, or a warp ----

enum { FUNNEL_USERS = 8192, FUNNEL_STEPS = 6 };

__constant__ unsigned char funnel_pages[FUNNEL_STEPS] = { 3, 14, 15, 9, 26, 5 };

__global__ void funnel_thread_kernel(const int *begins, const unsigned char *pages, int *steps)
{
    const int u = blockIdx.x * blockDim.x + threadIdx.x;
    const int end = begins[u + 1];
    int step = 0;
    for (int i = begins[u]; i < end && step < FUNNEL_STEPS; i++)
        if (pages[i] == funnel_pages[step])
            step++;
    steps[u] = step;
}

// A warp reads 32 events; as long as one of the rest is the next page, it takes the first such.
__global__ void funnel_warp_kernel(const int *begins, const unsigned char *pages, int *steps)
{
    const int u = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int end = begins[u + 1];
    int step = 0;
    for (int i = begins[u]; i < end && step < FUNNEL_STEPS; i += 32) {
        const int page = i + lane < end ? pages[i + lane] : 255;
        unsigned rest = ~0u;
        while (step < FUNNEL_STEPS) {
            const unsigned hits = __ballot_sync(~0u, page == funnel_pages[step]) & rest;
            if (!hits)
                break;
            rest = ~0u << (__ffs(hits) - 1) << 1;
            step++;
        }
    }
    if (lane == 0)
        steps[u] = step;
}

static void funnel(Run &run, bool warp)
{
    const VisitLog log = visit_log(FUNNEL_USERS, 120, 2600, 13001);
    const std::vector<int> v = integers(log.minutes.size(), 180, 13002);
    const std::vector<unsigned char> pages(v.begin(), v.end());
    const int *db = run.upload(log.begins);
    const unsigned char *dp = run.upload(pages);
    int *to = run.zeros<int>(FUNNEL_USERS);
    run.measure([=] {
        if (warp)
            funnel_warp_kernel<<<FUNNEL_USERS / 8, 256>>>(db, dp, to);
        else
            funnel_thread_kernel<<<FUNNEL_USERS / 64, 64>>>(db, dp, to);
    });
    const int wanted[FUNNEL_STEPS] = { 3, 14, 15, 9, 26, 5 };
    run.expect_all(
        run.output(to, FUNNEL_USERS),
        [&](int u) {
            int step = 0;
            for (int i = log.begins[u]; i < log.begins[u + 1] && step < FUNNEL_STEPS; i++)
                step += pages[i] == wanted[step];
            return step;
        },
        0, 7);
}

static void funnel_thread(Run &run)
{
    funnel(run, false);
}

static void funnel_warp(Run &run)
{
    funnel(run, true);
}

// ---- Unique visitors per day: bits of a log by day, or first events of a log by user ----

enum { UNIQUE_USERS = 131072, UNIQUE_WORDS = UNIQUE_USERS / 32 };

__global__ void uniques_mark_kernel(const int *users, const int *minutes, int n, unsigned *bits)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicOr(&bits[minutes[i] / 1440 * UNIQUE_WORDS + users[i] / 32], 1u << users[i] % 32);
}

// A block counts the bits of a day.
__global__ void uniques_count_kernel(const unsigned *bits, int *visitors)
{
    int count = 0;
    for (int i = threadIdx.x; i < UNIQUE_WORDS; i += blockDim.x)
        count += __popc(bits[blockIdx.x * UNIQUE_WORDS + i]);
    for (int d = 16; d; d /= 2)
        count += __shfl_down_sync(~0u, count, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&visitors[blockIdx.x], count);
}

__global__ void uniques_firsts_kernel(const int *users, const int *minutes, int n, int *visitors)
{
    __shared__ int counts[VISIT_DAYS];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < VISIT_DAYS)
        counts[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) {
        const int day = minutes[i] / 1440;
        if (i == 0 || users[i - 1] != users[i] || minutes[i - 1] / 1440 != day)
            atomicAdd(&counts[day], 1);
    }
    __syncthreads();
    if (threadIdx.x < VISIT_DAYS && counts[threadIdx.x])
        atomicAdd(&visitors[threadIdx.x], counts[threadIdx.x]);
}

// The same events by day, and within a day as if they came from many users at a time.
static VisitLog visit_days(const VisitLog &log)
{
    const int n = (int) log.minutes.size();
    std::vector<std::pair<uint32_t, int>> order(n);
    VisitLog days;
    for (int i = 0; i < n; i++)
        order[i] = { log.minutes[i] / 1440 << 20 | mix(i + 13003) >> 12, i };
    std::sort(order.begin(), order.end());
    for (const auto &at : order) {
        days.users.push_back(log.users[at.second]);
        days.minutes.push_back(log.minutes[at.second]);
    }
    return days;
}

static std::vector<int> uniques_host(const VisitLog &log)
{
    std::vector<int> visitors(VISIT_DAYS);
    for (size_t i = 0; i < log.users.size(); i++)
        if (i == 0 || log.users[i - 1] != log.users[i] ||
            log.minutes[i - 1] / 1440 != log.minutes[i] / 1440)
            visitors[log.minutes[i] / 1440]++;
    return visitors;
}

static void uniques(Run &run, bool bitmap)
{
    const VisitLog log = visit_log(UNIQUE_USERS, 8, 110, 13004);
    const VisitLog given = bitmap ? visit_days(log) : log;
    const int n = (int) log.users.size();
    const size_t size = (size_t) VISIT_DAYS * UNIQUE_WORDS * sizeof(unsigned);
    const int *du = run.upload(given.users), *dm = run.upload(given.minutes);
    unsigned *bits = run.zeros<unsigned>(size / sizeof(unsigned));
    int *to = run.zeros<int>(VISIT_DAYS);
    run.measure(
        [=] {
            if (bitmap) {
                uniques_mark_kernel<<<blocks_for(n, 256), 256>>>(du, dm, n, bits);
                uniques_count_kernel<<<VISIT_DAYS, 512>>>(bits, to);
            } else
                uniques_firsts_kernel<<<blocks_for(n, 256), 256>>>(du, dm, n, to);
        },
        [=] {
            CHECK(cudaMemset(bits, 0, size));
            CHECK(cudaMemset(to, 0, VISIT_DAYS * sizeof(int)));
        });
    const std::vector<int> wanted = uniques_host(log);
    run.expect_all(
        run.output(to, VISIT_DAYS), [&](int day) { return wanted[day]; }, 0);
}

static void uniques_bitmap(Run &run)
{
    uniques(run, true);
}

static void uniques_firsts(Run &run)
{
    uniques(run, false);
}

// ---- The campaign in an address, hashed: bytes from global memory, or staged by the block ----

enum { CAMPAIGN_URLS = 30720, CAMPAIGN_BLOCK = 64, CAMPAIGN_LONGEST = 400 };

// Hashes what follows "utm=" up to '&' or the end; 0: there is no campaign.
__host__ __device__ inline uint32_t campaign_hash(const unsigned char *url, int length)
{
    uint32_t last = 0, hash = 0;
    bool inside = false;
    for (int i = 0; i < length; i++) {
        const uint32_t c = url[i];
        if (inside) {
            if (c == '&')
                break;
            hash = (hash ^ c) * 16777619u;
        } else {
            last = last << 8 | c;
            inside = last == ('u' << 24 | 't' << 16 | 'm' << 8 | '=');
            hash = inside ? 2166136261u : 0;
        }
    }
    return hash;
}

__global__ void campaign_direct_kernel(const unsigned char *text, const int *begins, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = campaign_hash(text + begins[i], begins[i + 1] - begins[i]);
}

__global__ void campaign_staged_kernel(const unsigned char *text, const int *begins, uint32_t *out)
{
    __shared__ unsigned char staged[CAMPAIGN_BLOCK * CAMPAIGN_LONGEST];
    const int first = blockIdx.x * CAMPAIGN_BLOCK, i = first + threadIdx.x;
    const int from = begins[first], count = begins[first + CAMPAIGN_BLOCK] - from;
    for (int k = threadIdx.x; k < count; k += CAMPAIGN_BLOCK)
        staged[k] = text[from + k];
    __syncthreads();
    out[i] = campaign_hash(staged + begins[i] - from, begins[i + 1] - begins[i]);
}

static void campaign_text(std::vector<unsigned char> &text, std::vector<int> &begins)
{
    const char letters[] = "abcdefghijklmnopqrstuvwxyz/?=&-0123456789";
    const std::vector<int> r = integers(2 * CAMPAIGN_URLS, 1000, 13005);
    begins.push_back(0);
    for (int u = 0; u < CAMPAIGN_URLS; u++) {
        const int path = 32 + r[u] % 170, value = 16 + r[CAMPAIGN_URLS + u] % 170;
        for (int k = 0; k < path; k++)
            text.push_back(letters[mix(u * 256 + k + 13006) % 41]);
        const char *mark = r[u] % 4 ? "&utm=" : "&ref=";
        text.insert(text.end(), mark, mark + 5);
        for (int k = 0; k < value; k++)
            text.push_back(letters[mix(u * 256 + k + 13007) % 41]);
        begins.push_back((int) text.size());
    }
}

static void campaign(Run &run, void (*kernel)(const unsigned char *, const int *, uint32_t *))
{
    std::vector<unsigned char> text;
    std::vector<int> begins;
    campaign_text(text, begins);
    const unsigned char *dt = run.upload(text);
    const int *db = run.upload(begins);
    uint32_t *to = run.zeros<uint32_t>(CAMPAIGN_URLS);
    run.measure([=] { kernel<<<CAMPAIGN_URLS / CAMPAIGN_BLOCK, CAMPAIGN_BLOCK>>>(dt, db, to); });
    run.expect_all(
        run.output(to, CAMPAIGN_URLS),
        [&](int u) { return campaign_hash(&text[begins[u]], begins[u + 1] - begins[u]); }, 0, 29);
}

static void campaign_direct(Run &run)
{
    campaign(run, campaign_direct_kernel);
}

static void campaign_staged(Run &run)
{
    campaign(run, campaign_staged_kernel);
}

#endif
