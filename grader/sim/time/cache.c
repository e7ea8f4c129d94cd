/* cache.c - the lines of a cache: sets with least-recently-used replacement.
 *
 * Finding lines dominates the cost of a modelled access, since the modelled tag array does not fit
 * into the host's caches. So each set keeps the data for finding a line, or the line to displace,
 * separately in 24 bytes, and all data of a line is in one place.
 */
#include "sim/time/model.h"

#include <stdlib.h>
#include <string.h>

/* The order of a set has four bits per way, and its marks have one byte per way. */
enum { WAY_BITS = 4, WAY = (1 << WAY_BITS) - 1, MARK_BITS = 8, MARKS_A_WORD = 64 / MARK_BITS };

#define EACH_WAY  0x1111111111111111ull
#define EACH_MARK 0x0101010101010101ull

#define FIRST_ORDER 0xfedcba9876543210ull

static size_t sets_for(double bytes, int ways)
{
    const size_t lines = (size_t) (bytes / LINE_BYTES), sets = lines / (size_t) ways;

    return sets ? sets : 1;
}

static void empty(Cache *cache)
{
    const size_t count = cache->count * (size_t) cache->ways;

    for (size_t i = 0; i < cache->count; i++)
        cache->sets[i] = (CacheSet){ .order = FIRST_ORDER };
    memset(cache->lines, 0, count * sizeof *cache->lines);
    for (size_t i = 0; i < count; i++)
        cache->lines[i].line = NO_LINE;
    memset(cache->recent, 0, sizeof cache->recent);
}

bool cache_open(Cache *cache, double bytes, int ways)
{
    *cache = (Cache){ .ways = ways, .count = sets_for(bytes, ways) };
    cache->sets = malloc(cache->count * sizeof *cache->sets);
    cache->lines =
        aligned_alloc(sizeof(CacheLine), cache->count * (size_t) ways * sizeof *cache->lines);
    if (!cache->sets || !cache->lines)
        return false;
    empty(cache);
    return true;
}

bool cache_open_again(Cache *cache, double bytes, int ways)
{
    if (cache->lines && !cache->words && cache->ways == ways &&
        cache->count == sets_for(bytes, ways)) {
        empty(cache);
        return true;
    }
    cache_close(cache);
    return cache_open(cache, bytes, ways);
}

void cache_close(Cache *cache)
{
    free(cache->sets);
    free(cache->lines);
    free(cache->words);
    *cache = (Cache){ .lines = NULL };
}

bool cache_copy(Cache *to, const Cache *from)
{
    const size_t lines = from->count * (size_t) from->ways;

    if (!cache_open(to, (double) lines * LINE_BYTES, from->ways))
        return false;
    memcpy(to->sets, from->sets, from->count * sizeof *to->sets);
    memcpy(to->lines, from->lines, lines * sizeof *to->lines);
    return true;
}

bool cache_keep_words(Cache *cache)
{
    cache->words = calloc(cache->count * (size_t) cache->ways, sizeof *cache->words);
    return cache->words;
}

/* ---- Finding ---- */

/* Addresses are hashed to sets, as in hardware, so that no stride uses only a few sets. */
static uint64_t mixed(uint64_t line)
{
    return (line ^ line >> 17) * 0x9e3779b97f4a7c15ull;
}

static size_t set_of(const Cache *cache, uint64_t hash)
{
    return (size_t) ((unsigned __int128) hash * cache->count >> 64);
}

/* The top bit of each byte that is 0. */
static uint64_t zero_bytes(uint64_t x)
{
    const uint64_t low = 0x7f * EACH_MARK;

    return ~(((x & low) + low) | x | low);
}

static uint64_t zero_nibbles(uint64_t x)
{
    const uint64_t low = 7 * EACH_WAY;

    return ~(((x & low) + low) | x | low);
}

/* The way that holds the line; -1: none. Few other lines have its mark. */
static int way_of(const Cache *cache, const CacheSet *set, const CacheLine *lines, uint64_t line,
                  uint64_t mark)
{
    for (int first = 0; first < cache->ways; first += MARKS_A_WORD) {
        uint64_t same = zero_bytes(set->marks[first / MARKS_A_WORD] ^ mark * EACH_MARK);
        for (; same; same &= same - 1) {
            const int way = first + __builtin_ctzll(same) / MARK_BITS;
            if (way < cache->ways && lines[way].line == line)
                return way;
        }
    }
    return -1;
}

static int last_way(const Cache *cache, const CacheSet *set)
{
    return (int) (set->order >> (cache->ways - 1) * WAY_BITS) & WAY;
}

/* Moves a way to the front of the set's order. */
static void use(CacheSet *set, int way)
{
    const uint64_t order = set->order, here = zero_nibbles(order ^ (uint64_t) way * EACH_WAY);
    const int at = __builtin_ctzll(here) & ~(WAY_BITS - 1);
    const uint64_t before = (1ull << at) - 1, up_to = before | (uint64_t) WAY << at;

    set->order = (order & ~up_to) | (order & before) << WAY_BITS | (uint64_t) way;
}

static void mark(CacheSet *set, int way, uint64_t byte)
{
    const int shift = way % MARKS_A_WORD * MARK_BITS;
    uint64_t *marks = &set->marks[way / MARKS_A_WORD];

    *marks = (*marks & ~(0xffull << shift)) | byte << shift;
}

bool cache_ask(const Cache *cache, uint64_t line)
{
    const uint64_t hash = mixed(line);
    const size_t n = set_of(cache, hash);
    const CacheSet *set = &cache->sets[n];
    const CacheLine *lines = &cache->lines[n * (size_t) cache->ways];
    bool is_here = false;
    int way = last_way(cache, set);

    for (int first = 0; first < cache->ways; first += MARKS_A_WORD) {
        uint64_t same = zero_bytes(set->marks[first / MARKS_A_WORD] ^ (hash & 0xff) * EACH_MARK);
        if (same)
            way = first + __builtin_ctzll(same) / MARK_BITS;
        is_here |= same != 0;
    }
    __builtin_prefetch(&lines[way], 1);
    return is_here;
}

CacheLine *cache_peek(const Cache *cache, uint64_t line)
{
    const uint64_t hash = mixed(line);
    const size_t n = set_of(cache, hash);
    CacheLine *lines = &cache->lines[n * (size_t) cache->ways];
    const int way = way_of(cache, &cache->sets[n], lines, line, hash & 0xff);

    return way < 0 ? NULL : &lines[way];
}

static CacheLine *find_or_add(Cache *cache, size_t n, uint64_t line, uint64_t byte, bool *is_new,
                              CacheLine *displaced)
{
    CacheSet *set = &cache->sets[n];
    CacheLine *lines = &cache->lines[n * (size_t) cache->ways];
    int way = way_of(cache, set, lines, line, byte);

    *is_new = way < 0;
    if (*is_new) {
        way = last_way(cache, set);
        *displaced = lines[way];
        lines[way] = (CacheLine){ .line = line };
        mark(set, way, byte);
    }
    use(set, way);
    return &lines[way];
}

/* The line that was used last in its set needs no further look: each set has one place in
 * `recent`, which all accesses to the set update. */
CacheLine *cache_line(Cache *cache, uint64_t line, bool *is_new, CacheLine *displaced)
{
    const uint64_t hash = mixed(line);
    const size_t n = set_of(cache, hash);
    CacheLine **recent = &cache->recent[n % RECENT_LINES];

    *is_new = false;
    if (!*recent || (*recent)->line != line)
        *recent = find_or_add(cache, n, line, hash & 0xff, is_new, displaced);
    return *recent;
}

static void forget_recent(Cache *cache)
{
    memset(cache->recent, 0, sizeof cache->recent);
}

void cache_displace(Cache *cache, double lines)
{
    const double share = lines / (double) cache->count;
    const int ways = share < cache->ways ? (int) share : cache->ways;

    forget_recent(cache);
    for (size_t n = 0; n < cache->count; n++)
        for (int i = 0; i < ways; i++) {
            const int way = last_way(cache, &cache->sets[n]);
            cache->lines[n * (size_t) cache->ways + (size_t) way].line = NO_LINE;
            use(&cache->sets[n], way);
        }
}

/* ---- Packing ---- */

/* Per set: how many lines, then two words for each of them, the most recently used first. A way
 * without a line has NO_LINE, and the last ones of a set are left out. */
enum { PACKED_LINE = 2 };

size_t cache_packed_words(const Cache *cache)
{
    return cache->count * (1 + PACKED_LINE * (size_t) cache->ways);
}

/* Returns where the next line belongs. */
static uint64_t *pack_line(uint64_t *to, const CacheLine *line)
{
    uint32_t written;

    memcpy(&written, line->written, sizeof written);
    to[0] = line->line;
    to[1] = line->line == NO_LINE
                ? 0
                : (uint64_t) written << 32 | (uint64_t) line->dirty << 8 | line->valid;
    return to + PACKED_LINE;
}

static uint64_t *pack_set(uint64_t *to, const CacheSet *set, const CacheLine *lines, int ways)
{
    uint64_t *at = to + 1, *end = at;

    for (int i = 0; i < ways; i++) {
        const CacheLine *line = &lines[set->order >> i * WAY_BITS & WAY];
        at = pack_line(at, line);
        end = line->line == NO_LINE ? end : at;
    }
    *to = (uint64_t) (end - to - 1) / PACKED_LINE;
    return end;
}

size_t cache_pack(const Cache *cache, uint64_t *words)
{
    uint64_t *at = words;

    for (size_t n = 0; n < cache->count; n++)
        at = pack_set(at, &cache->sets[n], &cache->lines[n * (size_t) cache->ways], cache->ways);
    return (size_t) (at - words);
}

static CacheLine unpack_line(const uint64_t *words)
{
    const uint32_t written = (uint32_t) (words[1] >> 32);
    CacheLine line = { .line = words[0],
                       .valid = (uint8_t) (words[1] & 0xff),
                       .dirty = (uint8_t) (words[1] >> 8 & 0xff) };

    memcpy(line.written, &written, sizeof written);
    return line;
}

/* Way numbers mean nothing, so the lines get them in their order. */
void cache_unpack(Cache *cache, const uint64_t *words)
{
    forget_recent(cache);
    for (size_t n = 0; n < cache->count; n++) {
        const int count = (int) *words++;
        CacheSet *set = &cache->sets[n];
        *set = (CacheSet){ .order = FIRST_ORDER };
        for (int way = 0; way < cache->ways; way++) {
            CacheLine *line = &cache->lines[n * (size_t) cache->ways + (size_t) way];
            *line = (CacheLine){ .line = NO_LINE };
            if (way >= count)
                continue;
            *line = unpack_line(words);
            words += PACKED_LINE;
            mark(set, way, mixed(line->line) & 0xff);
        }
    }
}
