// friends.cuh - social networks: news that spread, communities, feeds, close circles.
#ifndef BLIND_FRIENDS_CUH
#define BLIND_FRIENDS_CUH

#include "blind.cuh"

// ---- A network: per member, the members that it knows; those with the most come first ----

struct Friends {
    std::vector<int> begins, others;
};

// `bend`: how many the first members know; small is many.
static Friends friend_network(int members, int edges, float bend, uint32_t seed)
{
    const std::vector<float> r = floats(2 * edges, seed, 0, 1);
    std::vector<std::pair<int, int>> pairs;
    for (int e = 0; e < edges; e++) {
        const float x = r[2 * e] + bend, least = bend * bend * members;
        const float most = (1 + bend) * (1 + bend) * members - least;
        const int a = std::min((int) ((x * x * members - least) / most * members), members - 1);
        const int b = std::min((int) (r[2 * e + 1] * members), members - 1);
        if (a == b)
            continue;
        pairs.push_back({ a, b });
        pairs.push_back({ b, a });
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    Friends f;
    f.begins.assign(members + 1, 0);
    for (const auto &p : pairs) {
        f.begins[p.first + 1]++;
        f.others.push_back(p.second);
    }
    for (int i = 0; i < members; i++)
        f.begins[i + 1] += f.begins[i];
    return f;
}

// ---- News that spread in 32 trials: each trial by itself, or as the bits of words ----

enum { NEWS_MEMBERS = 4096, NEWS_ROUNDS = 6 };

// In which trials the news may pass an edge: a quarter of them.
__host__ __device__ inline uint32_t news_coins(uint32_t edge)
{
    uint32_t x = edge * 2654435769u + 13060, y;
    x = (x ^ x >> 15) * 0x2c1b3c6du;
    x = (x ^ x >> 12) * 0x297a2d39u;
    y = x * 0x9e3779b1u + 0x7f4a7c15u;
    return (x ^ x >> 15) & (y ^ y >> 13);
}

__global__ void cascades_each_kernel(const int *begins, const int *others,
                                     const unsigned char *from, unsigned char *to)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x, trial = blockIdx.y;
    const unsigned char *known = from + trial * NEWS_MEMBERS;
    int now = known[v];
    for (int e = begins[v]; e < begins[v + 1] && !now; e++)
        if (known[others[e]] && news_coins(e) >> trial & 1)
            now = 1;
    to[trial * NEWS_MEMBERS + v] = now;
}

__global__ void cascades_bits_kernel(const int *begins, const int *others, const uint32_t *from,
                                     uint32_t *to)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t now = from[v];
    for (int e = begins[v]; e < begins[v + 1]; e++)
        now |= from[others[e]] & news_coins(e);
    to[v] = now;
}

static std::vector<uint32_t> cascades_host(const Friends &f, std::vector<uint32_t> known)
{
    for (int round = 0; round < NEWS_ROUNDS; round++) {
        const std::vector<uint32_t> from(known);
        for (int v = 0; v < NEWS_MEMBERS; v++)
            for (int e = f.begins[v]; e < f.begins[v + 1]; e++)
                known[v] |= from[f.others[e]] & news_coins(e);
    }
    return known;
}

// Four members know the news at first. The number of rounds is even: the result is in `a`.
static void cascades(Run &run, bool bits)
{
    const Friends f = friend_network(NEWS_MEMBERS, 20000, 0.2f, 13061);
    std::vector<uint32_t> known(NEWS_MEMBERS);
    std::vector<unsigned char> each(32 * NEWS_MEMBERS);
    for (int k = 0; k < 4; k++) {
        known[100 + 900 * k] = ~0u;
        for (int trial = 0; trial < 32; trial++)
            each[trial * NEWS_MEMBERS + 100 + 900 * k] = 1;
    }
    const int *db = run.upload(f.begins), *dn = run.upload(f.others);
    const uint32_t *first = run.upload(known);
    const unsigned char *firsts = run.upload(each);
    uint32_t *a = run.zeros<uint32_t>(NEWS_MEMBERS), *b = run.zeros<uint32_t>(NEWS_MEMBERS);
    unsigned char *as = run.zeros<unsigned char>(32 * NEWS_MEMBERS);
    unsigned char *bs = run.zeros<unsigned char>(32 * NEWS_MEMBERS);
    run.measure(
        [=] {
            for (int round = 0; round < NEWS_ROUNDS; round++)
                if (bits)
                    cascades_bits_kernel<<<NEWS_MEMBERS / 64, 64>>>(db, dn, round % 2 ? b : a,
                                                                    round % 2 ? a : b);
                else
                    cascades_each_kernel<<<dim3(NEWS_MEMBERS / 256, 32), 256>>>(
                        db, dn, round % 2 ? bs : as, round % 2 ? as : bs);
        },
        [=] {
            CHECK(cudaMemcpy(a, first, 4 * NEWS_MEMBERS, cudaMemcpyDeviceToDevice));
            CHECK(cudaMemcpy(as, firsts, 32 * NEWS_MEMBERS, cudaMemcpyDeviceToDevice));
        });
    const std::vector<uint32_t> wanted = cascades_host(f, known);
    if (bits)
        run.expect_all(
            run.output(a, NEWS_MEMBERS), [&](int v) { return wanted[v]; }, 0);
    else
        run.expect_all(
            run.output(as, 32 * NEWS_MEMBERS),
            [&](int i) { return wanted[i % NEWS_MEMBERS] >> i / NEWS_MEMBERS & 1; }, 0);
}

static void cascades_each(Run &run)
{
    cascades(run, false);
}

static void cascades_bits(Run &run)
{
    cascades(run, true);
}

// ---- The most frequent community among those that a member knows: a thread, or a warp ----

enum { COMMUNITY_MEMBERS = 24576, COMMUNITIES = 12 };

// Orders by frequency; of equally frequent ones, the lower community counts.
__host__ __device__ inline int community_key(int count, int community)
{
    return count << 16 | (0xffff - community);
}

__global__ void communities_thread_kernel(const int *begins, const int *others, const int *labels,
                                          int *out)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    int best = 0;
    for (int i = begins[v]; i < begins[v + 1]; i++) {
        const int label = labels[others[i]];
        int count = 0;
        for (int k = begins[v]; k < begins[v + 1]; k++)
            count += labels[others[k]] == label;
        best = max(best, community_key(count, label));
    }
    out[v] = best;
}

__global__ void communities_warp_kernel(const int *begins, const int *others, const int *labels,
                                        int *out)
{
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int begin = begins[v], end = begins[v + 1];
    int best = 0;
    for (int i = begin; i < end; i += 32) {
        const int label = i + lane < end ? labels[others[i + lane]] : -1;
        int count = 0;
        for (int k = begin; k < end; k++)
            count += labels[others[k]] == label;
        if (label >= 0)
            best = max(best, community_key(count, label));
    }
    best = __reduce_max_sync(~0u, best);
    if (lane == 0)
        out[v] = best;
}

static void communities(Run &run, bool warp)
{
    const Friends f = friend_network(COMMUNITY_MEMBERS, 150000, 0.02f, 13062);
    const std::vector<int> labels = integers(COMMUNITY_MEMBERS, COMMUNITIES, 13063);
    const int *db = run.upload(f.begins), *dn = run.upload(f.others), *dl = run.upload(labels);
    int *to = run.zeros<int>(COMMUNITY_MEMBERS);
    run.measure([=] {
        if (warp)
            communities_warp_kernel<<<COMMUNITY_MEMBERS / 4, 128>>>(db, dn, dl, to);
        else
            communities_thread_kernel<<<COMMUNITY_MEMBERS / 128, 128>>>(db, dn, dl, to);
    });
    run.expect_all(
        run.output(to, COMMUNITY_MEMBERS),
        [&](int v) {
            int counts[COMMUNITIES] = {}, best = 0;
            for (int i = f.begins[v]; i < f.begins[v + 1]; i++)
                counts[labels[f.others[i]]]++;
            for (int c = 0; c < COMMUNITIES; c++)
                if (counts[c])
                    best = std::max(best, community_key(counts[c], c));
            return best;
        },
        0, 11);
}

static void communities_thread(Run &run)
{
    communities(run, false);
}

static void communities_warp(Run &run)
{
    communities(run, true);
}

// ---- The 20 newest posts of those that a member follows: a sorted list, or lanes with heads ----

enum { FEED_MEMBERS = 3072, FEED_POSTS = 8, FEED_LENGTH = 20, FEED_HEADS = 6 };

// `posts`: per member, the newest first; all differ.
__global__ void feeds_thread_kernel(const int *begins, const int *others, const int *posts,
                                    int *feeds)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    int feed[FEED_LENGTH];
    for (int k = 0; k < FEED_LENGTH; k++)
        feed[k] = -1;
    for (int i = begins[v]; i < begins[v + 1]; i++)
        for (int p = 0; p < FEED_POSTS; p++) {
            const int post = posts[others[i] * FEED_POSTS + p];
            if (post < feed[FEED_LENGTH - 1])
                break;
            int at = FEED_LENGTH - 1;
            for (; at > 0 && feed[at - 1] < post; at--)
                feed[at] = feed[at - 1];
            feed[at] = post;
        }
    for (int k = 0; k < FEED_LENGTH; k++)
        feeds[v * FEED_LENGTH + k] = feed[k];
}

// Each lane merges up to 6 of those followed; the lane with the newest post moves on.
__global__ void feeds_warp_kernel(const int *begins, const int *others, const int *posts,
                                  int *feeds)
{
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int begin = begins[v] + lane, end = begins[v + 1];
    int heads[FEED_HEADS] = {};
    for (int k = 0; k < FEED_LENGTH; k++) {
        int best = -1, which = 0;
        for (int h = 0; h < FEED_HEADS; h++)
            if (begin + 32 * h < end && heads[h] < FEED_POSTS) {
                const int post = posts[others[begin + 32 * h] * FEED_POSTS + heads[h]];
                which = post > best ? h : which;
                best = max(best, post);
            }
        const int newest = __reduce_max_sync(~0u, best);
        if (newest == best)
            heads[which]++;
        if (lane == 0)
            feeds[v * FEED_LENGTH + k] = newest;
    }
}

static std::vector<int> feed_host(const Friends &f, const std::vector<int> &posts, int v)
{
    std::vector<int> all(FEED_LENGTH, -1);
    for (int i = f.begins[v]; i < f.begins[v + 1]; i++)
        for (int p = 0; p < FEED_POSTS; p++)
            all.push_back(posts[f.others[i] * FEED_POSTS + p]);
    std::sort(all.rbegin(), all.rend());
    return all;
}

static void feeds(Run &run, bool warp)
{
    const Friends f = friend_network(FEED_MEMBERS, 110000, 0.3f, 13064);
    std::vector<int> posts = integers(FEED_MEMBERS * FEED_POSTS, 1 << 12, 13065);
    for (int i = 0; i < FEED_MEMBERS * FEED_POSTS; i++) // the places differ, thus the posts do
        posts[i] = posts[i] << 16 | i;
    for (int v = 0; v < FEED_MEMBERS; v++)
        std::sort(&posts[v * FEED_POSTS], &posts[v * FEED_POSTS] + FEED_POSTS,
                  [](int a, int b) { return a > b; });
    const int *db = run.upload(f.begins), *dn = run.upload(f.others), *dp = run.upload(posts);
    int *to = run.zeros<int>(FEED_MEMBERS * FEED_LENGTH);
    run.measure([=] {
        if (warp)
            feeds_warp_kernel<<<FEED_MEMBERS / 8, 256>>>(db, dn, dp, to);
        else
            feeds_thread_kernel<<<FEED_MEMBERS / 64, 64>>>(db, dn, dp, to);
    });
    const std::vector<int> got = run.output(to, FEED_MEMBERS * FEED_LENGTH);
    for (int v = 0; v < FEED_MEMBERS; v += 7) {
        const std::vector<int> wanted = feed_host(f, posts, v);
        for (int k = 0; k < FEED_LENGTH; k++)
            run.expect(got[v * FEED_LENGTH + k], wanted[k], 0);
    }
}

static void feeds_thread(Run &run)
{
    feeds(run, false);
}

static void feeds_warp(Run &run)
{
    feeds(run, true);
}

// ---- Circles in which each knows 10 others: counts that are pushed, or counted again ----

enum { CORE_MEMBERS = 40960, CORE_LEAST = 10, CORE_ROUNDS = 10 };

// `left`: the round in which a member left; 0: it has not. Marks those who know too few.
__global__ void cores_mark_kernel(const int *known, int round, int *left)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (!left[v] && known[v] < CORE_LEAST)
        left[v] = round;
}

__global__ void cores_push_kernel(const int *begins, const int *others, const int *left, int round,
                                  int *known)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (left[v] == round)
        for (int e = begins[v]; e < begins[v + 1]; e++)
            atomicSub(&known[others[e]], 1);
}

__global__ void cores_pull_kernel(const int *begins, const int *others, const int *left, int *known)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (left[v])
        return;
    int count = 0;
    for (int e = begins[v]; e < begins[v + 1]; e++)
        count += !left[others[e]];
    known[v] = count;
}

static std::vector<int> cores_host(const Friends &f)
{
    std::vector<int> left(CORE_MEMBERS);
    for (int round = 1; round <= CORE_ROUNDS; round++) {
        const std::vector<int> before(left);
        for (int v = 0; v < CORE_MEMBERS; v++) {
            int count = 0;
            for (int e = f.begins[v]; e < f.begins[v + 1]; e++)
                count += !before[f.others[e]];
            if (!before[v] && count < CORE_LEAST)
                left[v] = round;
        }
    }
    return left;
}

static void cores(Run &run, bool push)
{
    const Friends f = friend_network(CORE_MEMBERS, 330000, 0.15f, 13066);
    std::vector<int> degrees(CORE_MEMBERS);
    for (int v = 0; v < CORE_MEMBERS; v++)
        degrees[v] = f.begins[v + 1] - f.begins[v];
    const int *db = run.upload(f.begins), *dn = run.upload(f.others), *dd = run.upload(degrees);
    int *known = run.zeros<int>(CORE_MEMBERS), *left = run.zeros<int>(CORE_MEMBERS);
    const size_t bytes = CORE_MEMBERS * sizeof(int);
    run.measure(
        [=] {
            for (int round = 1; round <= CORE_ROUNDS; round++) {
                const int grid = CORE_MEMBERS / 256;
                cores_mark_kernel<<<grid, 256>>>(known, round, left);
                if (push)
                    cores_push_kernel<<<grid, 256>>>(db, dn, left, round, known);
                else
                    cores_pull_kernel<<<grid, 256>>>(db, dn, left, known);
            }
        },
        [=] {
            CHECK(cudaMemcpy(known, dd, bytes, cudaMemcpyDeviceToDevice));
            CHECK(cudaMemset(left, 0, bytes));
        });
    const std::vector<int> wanted = cores_host(f);
    run.expect_all(
        run.output(left, CORE_MEMBERS), [&](int v) { return wanted[v]; }, 0);
}

static void cores_push(Run &run)
{
    cores(run, true);
}

static void cores_pull(Run &run)
{
    cores(run, false);
}

#endif
