// lookup.cuh - words in dictionaries, departures in timetables, addresses in ranges.
#ifndef BLIND_LOOKUP_CUH
#define BLIND_LOOKUP_CUH

#include "blind.cuh"

#include <set>
#include <string>

// ---- Words in a dictionary: hashed, sorted, or a trie with tables or lists of children ----

enum {
    LEXICON_WORDS = 20000,
    LEXICON_QUERIES = 280000,
    LEXICON_FEWER = 220000,
    LEXICON_STRIDE = 16
};
enum { LEXICON_SLOTS = 65536, LEXICON_LETTERS = 26 };

// A node of the trie with lists: its first child, the next child of its parent, its letter, and
// its word or -1.
typedef int4 LexiconNode;

struct Lexicon {
    const char *words, *queries; // of LEXICON_STRIDE bytes each, filled up with zeros
    const int *slots;            // a word or -1
    const int *children, *ends;  // by node: LEXICON_LETTERS children, 0 for none; its word or -1
    const LexiconNode *nodes;
};

__host__ __device__ inline unsigned lexicon_hash(const char *word)
{
    unsigned hash = 2166136261u;
    for (int k = 0; k < LEXICON_STRIDE && word[k]; k++)
        hash = (hash ^ (unsigned char) word[k]) * 16777619u;
    return hash;
}

__device__ inline int lexicon_compare(const char *a, const char *b)
{
    for (int k = 0; k < LEXICON_STRIDE; k++) {
        if (a[k] != b[k])
            return a[k] - b[k];
        if (!a[k])
            break;
    }
    return 0;
}

__global__ void lexicon_hashed_kernel(Lexicon l, int count, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const char *query = l.queries + i * LEXICON_STRIDE;
    unsigned slot = lexicon_hash(query) % LEXICON_SLOTS;
    int word = l.slots[slot];
    while (word >= 0 && lexicon_compare(query, l.words + word * LEXICON_STRIDE)) {
        slot = (slot + 1) % LEXICON_SLOTS;
        word = l.slots[slot];
    }
    out[i] = word;
}

__global__ void lexicon_sorted_kernel(Lexicon l, int count, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const char *query = l.queries + i * LEXICON_STRIDE;
    int low = 0, high = LEXICON_WORDS - 1, found = -1;
    while (low <= high && found < 0) {
        const int middle = (low + high) / 2;
        const int order = lexicon_compare(query, l.words + middle * LEXICON_STRIDE);
        if (order == 0)
            found = middle;
        else if (order < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    out[i] = found;
}

__global__ void lexicon_tables_kernel(Lexicon l, int count, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const char *query = l.queries + i * LEXICON_STRIDE;
    int node = 0;
    for (int k = 0; k < LEXICON_STRIDE && query[k]; k++) {
        node = l.children[node * LEXICON_LETTERS + query[k] - 'a'];
        if (!node)
            break;
    }
    out[i] = node ? l.ends[node] : -1;
}

__global__ void lexicon_lists_kernel(Lexicon l, int count, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const char *query = l.queries + i * LEXICON_STRIDE;
    LexiconNode node = l.nodes[0];
    for (int k = 0; k < LEXICON_STRIDE && query[k]; k++) {
        int at = node.x;
        while (at && l.nodes[at].z != query[k])
            at = l.nodes[at].y;
        node = at ? l.nodes[at] : make_int4(0, 0, 0, -1);
        if (!at)
            break;
    }
    out[i] = node.w;
}

// 3 to 12 letters; early letters of the alphabet are more frequent.
static std::string lexicon_word(uint32_t seed)
{
    std::string word(3 + mix(seed) % 10, 'a');
    for (size_t k = 0; k < word.size(); k++) {
        const uint32_t r = mix(seed * 16 + (uint32_t) k + 1);
        word[k] = (char) ('a' + std::min(r % 26, std::min((r >> 8) % 26, (r >> 16) % 26)));
    }
    return word;
}

static std::vector<std::string> lexicon_words()
{
    std::set<std::string> unique;
    for (uint32_t i = 0; unique.size() < LEXICON_WORDS; i++)
        unique.insert(lexicon_word(15150 + i * 977));
    return std::vector<std::string>(unique.begin(), unique.end());
}

// A fifth of the queries are probably not in the dictionary; the others repeat some words often.
static std::vector<std::string> lexicon_queries(const std::vector<std::string> &all)
{
    const std::vector<uint32_t> random = words(LEXICON_QUERIES, 15151);
    std::vector<std::string> queries;
    for (uint32_t r : random) {
        const uint64_t place = (uint64_t) (r >> 16) * (r >> 16) >> 16;
        queries.push_back(r % 5 ? all[place * 7919 % LEXICON_WORDS] : lexicon_word(r));
    }
    return queries;
}

static std::vector<char> lexicon_bytes(const std::vector<std::string> &all)
{
    std::vector<char> bytes(all.size() * LEXICON_STRIDE, 0);
    for (size_t i = 0; i < all.size(); i++)
        std::copy(all[i].begin(), all[i].end(), bytes.begin() + i * LEXICON_STRIDE);
    return bytes;
}

static std::vector<int> lexicon_slots(const std::vector<char> &bytes)
{
    std::vector<int> slots(LEXICON_SLOTS, -1);
    for (int i = 0; i < LEXICON_WORDS; i++) {
        unsigned slot = lexicon_hash(&bytes[i * LEXICON_STRIDE]) % LEXICON_SLOTS;
        while (slots[slot] >= 0)
            slot = (slot + 1) % LEXICON_SLOTS;
        slots[slot] = i;
    }
    return slots;
}

static void lexicon_trie(const std::vector<std::string> &all, std::vector<int> &children,
                         std::vector<int> &ends, std::vector<LexiconNode> &nodes)
{
    children.assign(LEXICON_LETTERS, 0);
    ends.assign(1, -1);
    for (size_t i = 0; i < all.size(); i++) {
        int node = 0;
        for (char letter : all[i]) {
            const size_t at = (size_t) node * LEXICON_LETTERS + letter - 'a';
            if (!children[at]) {
                children[at] = (int) ends.size();
                ends.push_back(-1);
                children.resize(ends.size() * LEXICON_LETTERS, 0);
            }
            node = children[at];
        }
        ends[node] = (int) i;
    }
    nodes.assign(ends.size(), make_int4(0, 0, 0, -1));
    for (size_t n = 0; n < ends.size(); n++) {
        nodes[n].w = ends[n];
        for (int letter = LEXICON_LETTERS - 1; letter >= 0; letter--)
            if (const int child = children[n * LEXICON_LETTERS + letter]) {
                nodes[child].y = nodes[n].x;
                nodes[child].z = 'a' + letter;
                nodes[n].x = child;
            }
    }
}

static void lexicon(Run &run, void (*kernel)(Lexicon, int, int *), int count)
{
    const std::vector<std::string> all = lexicon_words(), queries = lexicon_queries(all);
    const std::vector<char> bytes = lexicon_bytes(all), query_bytes = lexicon_bytes(queries);
    std::vector<int> children, ends;
    std::vector<LexiconNode> nodes;
    lexicon_trie(all, children, ends, nodes);
    const Lexicon l = {
        run.upload(bytes),    run.upload(query_bytes), run.upload(lexicon_slots(bytes)),
        run.upload(children), run.upload(ends),        run.upload(nodes)
    };
    int *to = run.zeros<int>(count);
    run.measure([=] { kernel<<<blocks_for(count, 128), 128>>>(l, count, to); });
    run.expect_all(
        run.output(to, count),
        [&](size_t i) {
            const auto at = std::lower_bound(all.begin(), all.end(), queries[i]);
            return at != all.end() && *at == queries[i] ? at - all.begin() : -1;
        },
        0, 17);
}

static void lexicon_hashed(Run &run)
{
    lexicon(run, lexicon_hashed_kernel, LEXICON_FEWER);
}

static void lexicon_sorted(Run &run)
{
    lexicon(run, lexicon_sorted_kernel, LEXICON_FEWER);
}

static void lexicon_tables(Run &run)
{
    lexicon(run, lexicon_tables_kernel, LEXICON_QUERIES);
}

static void lexicon_lists(Run &run)
{
    lexicon(run, lexicon_lists_kernel, LEXICON_QUERIES);
}

// ---- Journeys of many legs: the next departure by a search, or from the start of its 5 minutes
// ----

enum { TRAIN_STATIONS = 500, TRAIN_TRAVELLERS = 3200, TRAIN_LEGS = 90, TRAIN_DAY = 86400 };
enum { TRAIN_SLOTS = 288, TRAIN_SLOT = TRAIN_DAY / TRAIN_SLOTS };

struct Trains {
    std::vector<int> starts, slots, times, travels, stations;
};

struct TrainColumns {
    const int *starts, *slots; // slots: of each station, the first departure in each 5 minutes
    const int *times, *travels, *stations;
};

// The first departure of a station that is not before a time; or its end, if there is none.
template <bool SLOTS>
__host__ __device__ inline int train_next(const TrainColumns &t, int station, int time)
{
    int low = t.starts[station], high = t.starts[station + 1];
    if (SLOTS)
        for (low = t.slots[station * TRAIN_SLOTS + time / TRAIN_SLOT]; low < high; low++)
            if (t.times[low] >= time)
                return low;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (t.times[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Returns the time of arrival in seconds since the first day began.
template <bool SLOTS> __host__ __device__ inline int train_journey(const TrainColumns &t, int who)
{
    int station = who * 7 % TRAIN_STATIONS, time = who * 331 % TRAIN_DAY, day = 0;
    for (int leg = 0; leg < TRAIN_LEGS; leg++) {
        int at = train_next<SLOTS>(t, station, time);
        if (at == t.starts[station + 1]) { // the first one of the next day
            at = t.starts[station];
            day++;
        }
        time = t.times[at] + t.travels[at];
        station = t.stations[at];
        if (time >= TRAIN_DAY) {
            time -= TRAIN_DAY;
            day++;
        }
    }
    return day * TRAIN_DAY + time;
}

template <bool SLOTS> __global__ void train_kernel(TrainColumns t, int *out)
{
    const int who = blockIdx.x * blockDim.x + threadIdx.x;
    out[who] = train_journey<SLOTS>(t, who);
}

static Trains train_tables()
{
    Trains t;
    for (int s = 0; s < TRAIN_STATIONS; s++) {
        const int count = 600 + (int) (mix(15152 + s) % 2000);
        std::vector<int> times = integers(count, TRAIN_DAY, 15153 + 7907 * s);
        std::sort(times.begin(), times.end());
        t.starts.push_back((int) t.times.size());
        for (int slot = 0; slot < TRAIN_SLOTS; slot++)
            t.slots.push_back(t.starts[s] + (int) (std::lower_bound(times.begin(), times.end(),
                                                                    slot * TRAIN_SLOT) -
                                                   times.begin()));
        t.times.insert(t.times.end(), times.begin(), times.end());
    }
    t.starts.push_back((int) t.times.size());
    t.stations = integers(t.times.size(), TRAIN_STATIONS, 15154);
    t.travels = integers(t.times.size(), 7000, 15155);
    return t;
}

template <bool SLOTS> static void train(Run &run)
{
    const Trains t = train_tables();
    const TrainColumns host = { t.starts.data(), t.slots.data(), t.times.data(), t.travels.data(),
                                t.stations.data() };
    const TrainColumns device = { run.upload(t.starts), run.upload(t.slots), run.upload(t.times),
                                  run.upload(t.travels), run.upload(t.stations) };
    int *to = run.zeros<int>(TRAIN_TRAVELLERS);
    run.measure([=] { train_kernel<SLOTS><<<TRAIN_TRAVELLERS / 64, 64>>>(device, to); });
    run.expect_all(
        run.output(to, TRAIN_TRAVELLERS),
        [&](size_t who) { return train_journey<false>(host, (int) who); }, 0, 7);
}

static void train_search(Run &run)
{
    train<false>(run);
}

static void train_slots(Run &run)
{
    train<true>(run);
}

// ---- Countries of addresses: a search in all ranges, or in those of the same upper 16 bits ----

enum { GEO_RANGES = 200000, GEO_QUERIES = 1000000 };

// The last range that does not start after the address, among first to last.
__device__ inline int geo_range(const unsigned *starts, unsigned address, int first, int last)
{
    while (first < last) {
        const int middle = (first + last + 1) / 2;
        if (starts[middle] <= address)
            first = middle;
        else
            last = middle - 1;
    }
    return first;
}

__global__ void geo_search_kernel(const unsigned *starts, const int *, const uint16_t *countries,
                                  const unsigned *addresses, uint16_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < GEO_QUERIES)
        out[i] = countries[geo_range(starts, addresses[i], 0, GEO_RANGES - 1)];
}

__global__ void geo_index_kernel(const unsigned *starts, const int *index,
                                 const uint16_t *countries, const unsigned *addresses,
                                 uint16_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= GEO_QUERIES)
        return;
    const unsigned address = addresses[i], upper = address >> 16;
    out[i] = countries[geo_range(starts, address, index[upper], index[upper + 1])];
}

// Half of the values are in a sixteenth of all addresses.
static std::vector<uint32_t> geo_values(size_t count, uint32_t seed)
{
    std::vector<uint32_t> v = words(count, seed);
    for (uint32_t &x : v)
        if (x & 1)
            x = 0x60000000u + (x >> 4);
    return v;
}

static void geo(Run &run, void (*kernel)(const unsigned *, const int *, const uint16_t *,
                                         const unsigned *, uint16_t *))
{
    std::vector<uint32_t> starts = geo_values(GEO_RANGES, 15156);
    starts[0] = 0;
    std::sort(starts.begin(), starts.end());
    const auto range = [&](uint32_t address) {
        return (int) (std::upper_bound(starts.begin(), starts.end(), address) - starts.begin()) - 1;
    };
    std::vector<int> index;
    for (uint32_t upper = 0; upper < 65536; upper++)
        index.push_back(range(upper << 16));
    index.push_back(GEO_RANGES - 1);
    const std::vector<int> v = integers(GEO_RANGES, 240, 15157);
    const std::vector<uint16_t> countries(v.begin(), v.end());
    const std::vector<uint32_t> addresses = geo_values(GEO_QUERIES, 15158);
    const unsigned *ds = run.upload(starts), *da = run.upload(addresses);
    const int *di = run.upload(index);
    const uint16_t *dc = run.upload(countries);
    uint16_t *to = run.zeros<uint16_t>(GEO_QUERIES);
    run.measure([=] { kernel<<<blocks_for(GEO_QUERIES, 256), 256>>>(ds, di, dc, da, to); });
    run.expect_all(
        run.output(to, GEO_QUERIES), [&](size_t i) { return countries[range(addresses[i])]; }, 0,
        101);
}

static void geo_search(Run &run)
{
    geo(run, geo_search_kernel);
}

static void geo_index(Run &run)
{
    geo(run, geo_index_kernel);
}

#endif
