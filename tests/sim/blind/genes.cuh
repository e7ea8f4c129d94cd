// genes.cuh - genomes: likelihoods on a tree, motifs, trimmed reads, affine gaps, backward search.
#ifndef BLIND_GENES_CUH
#define BLIND_GENES_CUH

#include "blind.cuh"

// ---- Likelihood of sites at a node with two children: a thread per site, or per state ----

enum { FELS_SITES = 400000 };

__global__ void site_thread_kernel(const float4 *left, const float4 *right, const float *pl,
                                   const float *pr, float4 *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float result[4];
    if (i >= n)
        return;
    const float4 a = left[i], b = right[i];
#pragma unroll
    for (int s = 0; s < 4; s++) {
        const float *l = pl + 4 * s, *r = pr + 4 * s;
        result[s] = (l[0] * a.x + l[1] * a.y + l[2] * a.z + l[3] * a.w) *
                    (r[0] * b.x + r[1] * b.y + r[2] * b.z + r[3] * b.w);
    }
    out[i] = make_float4(result[0], result[1], result[2], result[3]);
}

__global__ void site_state_kernel(const float *left, const float *right, const float *pl,
                                  const float *pr, float *out, int n)
{
    __shared__ float l[16], r[16];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, s = i % 4, first = i - s;
    float a = 0, b = 0;
    if (threadIdx.x < 16) {
        l[threadIdx.x] = pl[threadIdx.x];
        r[threadIdx.x] = pr[threadIdx.x];
    }
    __syncthreads(); // the probabilities are here
    if (i >= 4 * n)
        return;
    for (int k = 0; k < 4; k++) {
        a += l[4 * s + k] * left[first + k];
        b += r[4 * s + k] * right[first + k];
    }
    out[i] = a * b;
}

static void site_likelihood(Run &run, bool thread)
{
    const int n = FELS_SITES;
    const std::vector<float> left = floats(4 * n, 4051, 0, 1), right = floats(4 * n, 4052, 0, 1);
    const std::vector<float> pl = floats(16, 4053, 0, 1), pr = floats(16, 4054, 0, 1);
    float *dl = run.upload(left), *dr = run.upload(right), *to = run.zeros<float>(4 * n);
    float *dpl = run.upload(pl), *dpr = run.upload(pr);
    run.measure([=] {
        if (thread)
            site_thread_kernel<<<blocks_for(n, 128), 128>>>((float4 *) dl, (float4 *) dr, dpl, dpr,
                                                            (float4 *) to, n);
        else
            site_state_kernel<<<blocks_for(4 * n, 256), 256>>>(dl, dr, dpl, dpr, to, n);
    });
    run.expect_all(
        run.output(to, 4 * n),
        [&](size_t i) {
            double a = 0, b = 0;
            for (int k = 0; k < 4; k++) {
                a += pl[i % 4 * 4 + k] * left[i / 4 * 4 + k];
                b += pr[i % 4 * 4 + k] * right[i / 4 * 4 + k];
            }
            return a * b;
        },
        1e-5, 43);
}

static void site_thread(Run &run)
{
    site_likelihood(run, true);
}

static void site_state(Run &run)
{
    site_likelihood(run, false);
}

// ---- Scores of a motif of 14 at each place: weights in constant or in shared memory ----

enum { MOTIF_LENGTH = 14, MOTIF_GENOME = 1500000 };

__constant__ float motif_weights[MOTIF_LENGTH * 4];

__global__ void motif_constant_kernel(const unsigned char *genome, const float *, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (i > MOTIF_GENOME - MOTIF_LENGTH)
        return;
    for (int k = 0; k < MOTIF_LENGTH; k++)
        sum += motif_weights[4 * k + genome[i + k]];
    out[i] = sum;
}

__global__ void motif_shared_kernel(const unsigned char *genome, const float *weights, float *out)
{
    __shared__ float mine[MOTIF_LENGTH * 4];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (threadIdx.x < MOTIF_LENGTH * 4)
        mine[threadIdx.x] = weights[threadIdx.x];
    __syncthreads(); // the weights are here
    if (i > MOTIF_GENOME - MOTIF_LENGTH)
        return;
    for (int k = 0; k < MOTIF_LENGTH; k++)
        sum += mine[4 * k + genome[i + k]];
    out[i] = sum;
}

static std::vector<unsigned char> genome_bases(int n, uint32_t seed)
{
    std::vector<unsigned char> bases(n);
    for (int i = 0; i < n; i++)
        bases[i] = mix(i + seed) & 3;
    return bases;
}

static void motif(Run &run, void (*kernel)(const unsigned char *, const float *, float *))
{
    const int n = MOTIF_GENOME;
    const std::vector<unsigned char> genome = genome_bases(n, 4055);
    const std::vector<float> weights = floats(MOTIF_LENGTH * 4, 4056);
    unsigned char *dg = run.upload(genome);
    float *dw = run.upload(weights), *to = run.zeros<float>(n);
    CHECK(cudaMemcpyToSymbol(motif_weights, weights.data(), sizeof motif_weights));
    run.measure([=] { kernel<<<blocks_for(n, 256), 256>>>(dg, dw, to); });
    run.expect_all(
        run.output(to, n - MOTIF_LENGTH + 1),
        [&](size_t i) {
            float sum = 0;
            for (int k = 0; k < MOTIF_LENGTH; k++)
                sum += weights[4 * k + genome[i + k]];
            return sum;
        },
        1e-5, 47);
}

static void motif_constant(Run &run)
{
    motif(run, motif_constant_kernel);
}

static void motif_shared(Run &run)
{
    motif(run, motif_shared_kernel);
}

// ---- Reads end where the quality falls below a limit for good: a thread or a warp per read ----

enum { TRIM_READS = 60000, TRIM_LENGTH = 160, TRIM_LIMIT = 20 };

// The place after which the sum of (limit - quality) from the end is largest.
__host__ __device__ inline int trim_place(const unsigned char *quality)
{
    int sum = 0, most = 0, place = TRIM_LENGTH;
    for (int k = TRIM_LENGTH - 1; k >= 0; k--) {
        sum += TRIM_LIMIT - quality[k];
        if (sum < 0)
            break;
        if (sum > most) {
            most = sum;
            place = k;
        }
    }
    return place;
}

__global__ void trim_thread_kernel(const unsigned char *quality, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < TRIM_READS)
        out[i] = trim_place(quality + i * TRIM_LENGTH);
}

__global__ void trim_warp_kernel(const unsigned char *quality, int *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    int before = 0, most = 0, place = TRIM_LENGTH;
    for (int end = TRIM_LENGTH; end > 0; end -= 32) {
        int sum = TRIM_LIMIT - quality[i * TRIM_LENGTH + end - 1 - lane];
        for (int apart = 1; apart < 32; apart *= 2) {
            const int other = __shfl_up_sync(~0u, sum, apart);
            sum += lane >= apart ? other : 0;
        }
        sum += before;
        const unsigned stop = __ballot_sync(~0u, sum < 0);
        const int valid = stop ? __ffs(stop) - 1 : 32;
        const int best = __reduce_max_sync(~0u, lane < valid ? sum : 0);
        const unsigned where = __ballot_sync(~0u, lane < valid && sum == best);
        if (best > most) {
            most = best;
            place = end - __ffs(where);
        }
        if (stop)
            break;
        before = __shfl_sync(~0u, sum, 31);
    }
    if (lane == 0)
        out[i] = place;
}

static void trim(Run &run, bool warp)
{
    std::vector<unsigned char> quality(TRIM_READS * TRIM_LENGTH);
    for (size_t i = 0; i < quality.size(); i++) {
        const int good = TRIM_LENGTH - mix(i / TRIM_LENGTH + 4057) % 128;
        quality[i] = (mix(i + 4058) & 15) + ((int) (i % TRIM_LENGTH) < good ? 22 : 8);
    }
    unsigned char *from = run.upload(quality);
    int *to = run.zeros<int>(TRIM_READS);
    run.measure([=] {
        if (warp)
            trim_warp_kernel<<<TRIM_READS / 4, 128>>>(from, to);
        else
            trim_thread_kernel<<<blocks_for(TRIM_READS, 128), 128>>>(from, to);
    });
    run.expect_all(
        run.output(to, TRIM_READS), [&](size_t i) { return trim_place(&quality[i * TRIM_LENGTH]); },
        0, 3);
}

static void trim_thread(Run &run)
{
    trim(run, false);
}

static void trim_warp(Run &run)
{
    trim(run, true);
}

// ---- Alignment with affine gaps in a band of 17, one pair of sequences per thread ----

enum { GOTOH_PAIRS = 3000, GOTOH_LENGTH = 64, GOTOH_HALF = 8, GOTOH_BAND = 2 * GOTOH_HALF + 1 };

__host__ __device__ inline int gotoh_score(const unsigned char *a, const unsigned char *b)
{
    int best[GOTOH_BAND + 1], gap[GOTOH_BAND + 1], most = 0;
    for (int k = 0; k <= GOTOH_BAND; k++)
        best[k] = gap[k] = 0;
    for (int i = 0; i < GOTOH_LENGTH; i++) {
        int along = 0, left = 0;
        for (int k = 0; k < GOTOH_BAND; k++) {
            const int j = i + k - GOTOH_HALF;
            if (j < 0 || j >= GOTOH_LENGTH)
                continue;
            const int open = left - 5, up = best[k + 1] - 5;
            along = (open > along - 1 ? open : along - 1);
            gap[k] = up > gap[k + 1] - 1 ? up : gap[k + 1] - 1;
            int v = best[k] + (a[i] == b[j] ? 3 : -2);
            v = v > along ? v : along;
            v = v > gap[k] ? v : gap[k];
            v = v > 0 ? v : 0;
            best[k] = left = v;
            most = v > most ? v : most;
        }
    }
    return most;
}

__global__ void gotoh_kernel(const unsigned char *a, const unsigned char *b, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = gotoh_score(a + i * GOTOH_LENGTH, b + i * GOTOH_LENGTH);
}

static void gap_bands(Run &run)
{
    const int n = GOTOH_PAIRS;
    const std::vector<unsigned char> a = genome_bases(n * GOTOH_LENGTH, 4059);
    std::vector<unsigned char> b = a;
    for (size_t i = 0; i + 1 < b.size(); i++)
        b[i] = mix(i + 4060) % 9 == 0 ? a[i + 1] : a[i];
    unsigned char *da = run.upload(a), *db = run.upload(b);
    int *to = run.zeros<int>(n);
    run.measure([=] { gotoh_kernel<<<blocks_for(n, 64), 64>>>(da, db, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) { return gotoh_score(&a[i * GOTOH_LENGTH], &b[i * GOTOH_LENGTH]); }, 0, 11);
}

// ---- Backward search in a Burrows-Wheeler index: counts per 64 bases, then bits of the rest ----

enum { INDEX_BASES = 1 << 20, INDEX_QUERIES = 50000, INDEX_QUERY = 16 };

struct IndexBlock {
    uint32_t counts[4];
    uint64_t low, high; // the bits of 64 bases
};

// How many of the first `end` bases are `base`.
__host__ __device__ inline uint32_t index_rank(const IndexBlock *blocks, int base, uint32_t end)
{
    const IndexBlock &b = blocks[end / 64];
    const uint64_t same = (base & 1 ? b.low : ~b.low) & (base & 2 ? b.high : ~b.high);
    const uint64_t rest = same & ((1ull << end % 64) - 1);
#ifdef __CUDA_ARCH__
    return b.counts[base] + __popcll(rest);
#else
    return b.counts[base] + __builtin_popcountll(rest);
#endif
}

__host__ __device__ inline uint32_t index_found(const IndexBlock *blocks, const uint32_t *starts,
                                                uint32_t query)
{
    uint32_t first = 0, end = INDEX_BASES;
    for (int k = 0; k < INDEX_QUERY && first < end; k++, query >>= 2) {
        const int base = query & 3;
        first = starts[base] + index_rank(blocks, base, first);
        end = starts[base] + index_rank(blocks, base, end);
    }
    return first < end ? end - first : 0;
}

__global__ void index_kernel(const IndexBlock *blocks, const uint32_t *starts,
                             const uint32_t *queries, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < INDEX_QUERIES)
        out[i] = index_found(blocks, starts, queries[i]);
}

static void backward_search(Run &run)
{
    std::vector<IndexBlock> blocks(INDEX_BASES / 64 + 1);
    std::vector<uint32_t> starts(4), counts(4);
    const std::vector<uint32_t> queries = words(INDEX_QUERIES, 4062);
    for (int i = 0; i < INDEX_BASES; i++) {
        const uint64_t base = mix(i + 4061) & 3;
        IndexBlock &b = blocks[i / 64];
        if (i % 64 == 0)
            std::copy(counts.begin(), counts.end(), b.counts);
        b.low |= (base & 1) << i % 64;
        b.high |= (base >> 1) << i % 64;
        counts[base]++;
    }
    std::copy(counts.begin(), counts.end(), blocks.back().counts);
    for (int k = 1; k < 4; k++)
        starts[k] = starts[k - 1] + counts[k - 1];
    IndexBlock *db = run.upload(blocks);
    uint32_t *ds = run.upload(starts), *dq = run.upload(queries);
    uint32_t *to = run.zeros<uint32_t>(INDEX_QUERIES);
    run.measure([=] { index_kernel<<<blocks_for(INDEX_QUERIES, 256), 256>>>(db, ds, dq, to); });
    run.expect_all(
        run.output(to, INDEX_QUERIES),
        [&](size_t i) { return index_found(blocks.data(), starts.data(), queries[i]); }, 0, 7);
}

#endif
