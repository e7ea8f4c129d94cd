/* words.c - time without extra sectors: what if data lay in the order in which warps access it?
 *
 * Caches and memory move only the words of four bytes that lanes request, and the words of one
 * access fill as few lines as possible. A word that has been moved stays in the cache with its
 * line. The caches hold as many lines as before, so what denser data would leave there in addition
 * is not part of the bound.
 */
#include "sim/time/model.h"

enum { WORD_BYTES = 4, LINE_WORDS = LINE_BYTES / WORD_BYTES };

static int words_in(uint32_t words)
{
    return __builtin_popcount(words);
}

static double sectors_of(double words)
{
    return words * WORD_BYTES / SECTOR_BYTES;
}

static uint64_t share(uint64_t n, int part)
{
    return (n + (uint64_t) part - 1) / (uint64_t) part;
}

/* ---- L2 and memory ---- */

static double atoms_of(const Memory *memory, double words)
{
    return sectors_of(words) / memory->atom_sectors;
}

static CacheLine *line_of(Memory *memory, uint64_t address, double now, CacheWords **words)
{
    CacheLine displaced;
    bool is_new;
    CacheLine *line = cache_line(&memory->l2, address, &is_new, &displaced);

    *words = &memory->l2.words[line - memory->l2.lines];
    if (!is_new)
        return line;
    if (displaced.line != NO_LINE && (*words)->dirty)
        memory_write_atoms(memory, displaced.line, atoms_of(memory, words_in((*words)->dirty)),
                           now);
    else if (displaced.line == NO_LINE && memory->stand_in)
        memory_write_atoms(memory, address, memory->atoms_dirtied / (double) (memory->lines_in + 1),
                           now);
    memory->lines_in++;
    **words = (CacheWords){ 0 };
    return line;
}

static uint64_t fetch(Memory *memory, CacheLine *line, CacheWords *there, uint32_t words,
                      double turn)
{
    const uint32_t missing = words & ~there->here;

    memory->l2_hits += share((uint64_t) words_in(words & there->here), SECTOR_BYTES / WORD_BYTES);
    memory->l2_misses += share((uint64_t) words_in(missing), SECTOR_BYTES / WORD_BYTES);
    if (missing) {
        const double read =
            memory_read_atoms(memory, line->line, atoms_of(memory, words_in(missing)), turn);
        there->here |= missing;
        line->ready = memory_up(read + memory_beyond(memory, line->line, turn));
    }
    return later(line->ready, memory_up(turn));
}

static void put(Memory *memory, CacheWords *there, uint32_t words)
{
    memory->atoms_dirtied += atoms_of(memory, words_in(words & ~there->dirty));
    there->here |= words;
    there->dirty |= words;
}

static uint64_t load(Memory *memory, uint64_t address, uint32_t words, uint64_t now)
{
    if (trace_is_on_host(address))
        return link_load(&memory->link, words_in(words) * WORD_BYTES, now);
    const double turn =
        memory_pass(memory, sectors_of(words_in(words)) / memory->pass_sectors, now);
    CacheWords *there;
    CacheLine *line = line_of(memory, address, turn, &there);

    return fetch(memory, line, there, words, turn) + (uint64_t) memory->l2_latency;
}

uint64_t words_store(Memory *memory, uint64_t address, uint32_t words, uint64_t now)
{
    if (trace_is_on_host(address))
        return link_store(&memory->link, words_in(words) * WORD_BYTES, now);
    const double sectors = sectors_of(words_in(words));
    /* Those of a warp would be in as few requests as lines. */
    const StoredParts stored = { .requests = sectors / SECTORS,
                                 .parts = sectors / memory->pass_sectors,
                                 .sectors = sectors,
                                 .whole = true };
    const double turn = memory_pass_stores(memory, stored, now);
    CacheWords *there;

    line_of(memory, address, turn, &there);
    put(memory, there, words);
    return memory_up(turn) + (uint64_t) memory->store_latency;
}

/* A pass is one sector, however few words it updates. */
static uint64_t update(Memory *memory, TraceKind kind, uint64_t word, uint32_t words, uint64_t now)
{
    if (trace_is_on_host(trace_number(word)))
        return link_update(&memory->link, trace_passes(word), now);
    const double turn = memory_pass_stores(
        memory, (StoredParts){ 1, trace_passes(word), trace_passes(word), false }, now);
    CacheWords *there;
    CacheLine *line = line_of(memory, trace_number(word), turn, &there);
    const uint64_t here = fetch(memory, line, there, words, turn);

    put(memory, there, words);
    return memory_update(memory, line, kind, word, here);
}

/* ---- L1 ---- */

static CacheLine *l1_line(Sm *sm, uint64_t address, CacheWords **words)
{
    CacheLine displaced;
    bool is_new;
    CacheLine *line = cache_line(&sm->l1, address, &is_new, &displaced);

    *words = &sm->l1.words[line - sm->l1.lines];
    if (is_new)
        **words = (CacheWords){ 0 };
    return line;
}

/* Returns when the words have arrived in the L1. Counts those that were not there. */
static uint64_t load_line(Sm *sm, uint64_t address, uint32_t words, uint64_t at, int *missed)
{
    CacheWords *there;
    CacheLine *line = l1_line(sm, address, &there);
    const uint32_t missing = words & ~there->here;

    sm->l1_misses += share((uint64_t) words_in(missing), SECTOR_BYTES / WORD_BYTES);
    sm->l1_hits += share((uint64_t) words_in(words & ~missing), SECTOR_BYTES / WORD_BYTES);
    *missed += words_in(missing);
    if (missing)
        line->ready = later(line->ready, load(sm->memory, address, missing, at));
    there->here |= missing;
    return line->ready;
}

static uint64_t load_lines(Sm *sm, const uint64_t *lines, int count, uint64_t start, int least)
{
    const Device *device = &sm->gpu->device;
    int words = 0, missed = 0;
    uint64_t there = 0, cycles;

    for (int i = 0; i < 2 * count; i += 2) {
        const uint64_t packed = (uint64_t) (words / LINE_WORDS / device->l1_lines);
        words += words_in((uint32_t) lines[i + 1]);
        there = later(there, load_line(sm, trace_number(lines[i]), (uint32_t) lines[i + 1],
                                       start + packed, &missed));
    }
    cycles = later(share(share((uint64_t) words, LINE_WORDS), device->l1_lines),
                   share((uint64_t) words * WORD_BYTES, device->l1_load_bytes));
    cycles = later(cycles, (uint64_t) least);
    lsu_keep(sm, false, start,
             start + cycles + share((uint64_t) missed * WORD_BYTES, device->l1_fill_bytes));
    return later(there, start + cycles - 1 + l1_latency(device, lines[0]));
}

static uint64_t store_line(Sm *sm, uint64_t line, uint32_t words, TraceKind kind, uint64_t at)
{
    const uint64_t address = trace_number(line);
    CacheWords *there;

    l1_line(sm, address, &there);
    const bool atomic = kind == TRACE_ATOMIC || kind == TRACE_INTEGER_ATOMIC;
    there->here = atomic ? there->here & ~words : there->here | words;
    return atomic ? update(sm->memory, kind, line, words, at)
                  : words_store(sm->memory, address, words, at);
}

static uint64_t store_lines(Sm *sm, const uint64_t *lines, int count, uint64_t start,
                            TraceKind kind)
{
    const Device *device = &sm->gpu->device;
    const uint64_t cycles = share(LINE_BYTES, device->l1_store_bytes);
    const uint64_t queue = (uint64_t) device->lsu_queue, begin = start;
    const uint64_t first = later(sm->store_free, start);
    int words = 0;
    uint64_t there = 0, packed;

    for (int i = 0; i < 2 * count; i += 2) {
        const uint64_t at = first + (uint64_t) (words / LINE_WORDS) * cycles;
        words += words_in((uint32_t) lines[i + 1]);
        there = later(there, store_line(sm, lines[i], (uint32_t) lines[i + 1], kind, at));
    }
    packed = share((uint64_t) words, LINE_WORDS);
    sm->store_free = first + packed * cycles;
    sm->stores_busy += (double) (packed * cycles);
    start += later(share(packed, device->l1_lines), 1);
    lsu_keep(sm, false, begin, sm->store_free > start + queue ? sm->store_free - queue : start);
    return there;
}

uint64_t words_access(Sm *sm, TraceKind kind, const uint64_t *lines, int count, uint64_t start,
                      int least)
{
    switch (kind) {
    case TRACE_LOAD:
        return load_lines(sm, lines, count, start, least);
    default:
        return store_lines(sm, lines, count, start, kind);
    }
}
