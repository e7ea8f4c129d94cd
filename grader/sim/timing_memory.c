/* timing_memory.c - the caches, and the memory behind them.
 *
 * A cache knows lines of four sectors. The L2 and the DRAM are queues: each request takes its place
 * when it is made, keeps the queue as long as its bytes take at full bandwidth, and comes back a
 * latency after its turn. So whoever asks for little waits for the latency, and whoever asks for
 * much for the bandwidth.
 *
 * What is written stays in the L2 until its line is displaced. The DRAM moves atoms: a sector alone
 * costs all of its atom; and one that was written in part is read first, since memory with error
 * correction writes whole atoms only.
 */
#include "timing_model.h"

#include <stdlib.h>
#include <string.h>

/* ---- Caches ---- */

bool tags_open(Cache *cache, double bytes, int ways)
{
    const size_t lines = (size_t) (bytes / LINE_BYTES);
    size_t count;

    *cache = (Cache){ .ways = ways, .sets = lines / (size_t) ways };
    if (!cache->sets)
        cache->sets = 1;
    count = cache->sets * (size_t) ways;
    cache->tags = malloc(count * sizeof *cache->tags);
    cache->used = malloc(count * sizeof *cache->used);
    cache->lines = malloc(count * sizeof *cache->lines);
    if (!cache->tags || !cache->used || !cache->lines)
        return false;
    memset(cache->tags, 0xff, count * sizeof *cache->tags); /* NO_LINE */
    memset(cache->used, 0, count * sizeof *cache->used);
    memset(cache->lines, 0, count * sizeof *cache->lines);
    return true;
}

void tags_close(Cache *cache)
{
    free(cache->tags);
    free(cache->used);
    free(cache->lines);
    *cache = (Cache){ .lines = NULL };
}

/* Addresses are spread over the sets as hardware does it: no stride falls into few of them. */
static size_t set_of(const Cache *cache, uint64_t line)
{
    const uint64_t mixed = (line ^ line >> 17) * 0x9e3779b97f4a7c15ull;

    return (size_t) ((unsigned __int128) mixed * cache->sets >> 64) * (size_t) cache->ways;
}

CacheLine *tags_find(Cache *cache, uint64_t line)
{
    const size_t set = set_of(cache, line);

    for (int i = 0; i < cache->ways; i++)
        if (cache->tags[set + (size_t) i] == line) {
            cache->used[set + (size_t) i] = ++cache->clock;
            return &cache->lines[set + (size_t) i];
        }
    return NULL;
}

CacheLine *tags_place(Cache *cache, uint64_t line, bool *displaced)
{
    const size_t set = set_of(cache, line), end = set + (size_t) cache->ways;
    size_t oldest = set;

    for (size_t i = set; i < end && cache->tags[oldest] != NO_LINE; i++)
        if (cache->tags[i] == NO_LINE || (int32_t) (cache->used[i] - cache->used[oldest]) < 0)
            oldest = i;
    *displaced = cache->tags[oldest] != NO_LINE;
    cache->tags[oldest] = line;
    cache->used[oldest] = ++cache->clock;
    return &cache->lines[oldest];
}

/* ---- DRAM ---- */

static double latest(double a, double b)
{
    return a > b ? a : b;
}

/* How many atoms these sectors lie in. */
static int atoms_of(const Memory *memory, unsigned sectors)
{
    const unsigned atom = (1u << memory->atom_sectors) - 1;
    int count = 0;

    for (int i = 0; i < SECTORS; i += memory->atom_sectors)
        count += (sectors >> i & atom) != 0;
    return count;
}

/* All sectors of those atoms. */
static unsigned whole_atoms(const Memory *memory, unsigned sectors)
{
    const unsigned atom = (1u << memory->atom_sectors) - 1;
    unsigned whole = 0;

    for (int i = 0; i < SECTORS; i += memory->atom_sectors)
        if (sectors >> i & atom)
            whole |= atom << i;
    return whole;
}

static double read_atoms(Memory *memory, int atoms, double now)
{
    memory->dram_free = latest(memory->dram_free, now) + atoms * memory->read_cycles;
    memory->dram_busy += atoms * memory->read_cycles;
    memory->read_bytes += (double) atoms * memory->atom_sectors * SECTOR_BYTES;
    return memory->dram_free;
}

static void write_atoms(Memory *memory, double atoms, double now)
{
    memory->dram_free = latest(memory->dram_free, now) + atoms * memory->write_cycles;
    memory->dram_busy += atoms * memory->write_cycles;
    memory->write_bytes += atoms * memory->atom_sectors * SECTOR_BYTES;
}

static void write_back(Memory *memory, const CacheLine *line, double now)
{
    unsigned partial = 0;

    for (int i = 0; i < SECTORS; i++)
        if ((line->dirty & ~line->valid) >> i & 1)
            partial |= 1u << i;
    if (partial && memory->fills)
        read_atoms(memory, atoms_of(memory, partial), now);
    write_atoms(memory, atoms_of(memory, line->dirty), now);
}

/* ---- L2 ---- */

static CacheLine *new_line(Memory *memory, uint64_t address, double now)
{
    bool displaced;
    CacheLine *line = tags_place(&memory->l2, address, &displaced);

    if (displaced && line->dirty)
        write_back(memory, line, now);
    else if (!displaced && memory->stand_in)
        write_atoms(memory, (double) memory->atoms_dirtied / (double) (memory->lines_in + 1), now);
    memory->lines_in++;
    *line = (CacheLine){ .ready = 0 };
    return line;
}

static CacheLine *line_of(Memory *memory, uint64_t address, double now)
{
    CacheLine *line = tags_find(&memory->l2, address);

    return line ? line : new_line(memory, address, now);
}

/* Its turn at the L2: when so many sectors have gone through. */
static double pass(Memory *memory, unsigned sectors, uint64_t now)
{
    memory->l2_free =
        latest(memory->l2_free, (double) now) + __builtin_popcount(sectors) * memory->l2_cycles;
    memory->l2_busy += __builtin_popcount(sectors) * memory->l2_cycles;
    return memory->l2_free;
}

static uint64_t up(double cycle)
{
    const uint64_t whole = (uint64_t) cycle;

    return whole + ((double) whole < cycle);
}

/* What memory adds to the L2's latency: the busier it was so far, the longer its banks make wait.
 */
static double beyond(const Memory *memory, double now)
{
    const double busy = now > 0 ? memory->dram_busy / now : 0;

    return memory->memory_latency - memory->l2_latency +
           memory->memory_queue * (busy < 1 ? busy : 1);
}

/* The sectors are there at the cycle that is returned; `turn`: at the L2. */
static uint64_t fetch(Memory *memory, CacheLine *line, unsigned sectors, double turn)
{
    const unsigned missing = sectors & ~line->valid;
    memory->l2_hits += (unsigned) __builtin_popcount(sectors & line->valid);
    memory->l2_misses += (unsigned) __builtin_popcount(missing);
    if (missing) {
        double read = read_atoms(memory, atoms_of(memory, missing), turn);
        line->valid |= (uint8_t) whole_atoms(memory, missing);
        line->ready = up(read + beyond(memory, turn));
    }
    return line->ready > up(turn) ? line->ready : up(turn);
}

uint64_t memory_load(Memory *memory, uint64_t address, unsigned sectors, uint64_t now)
{
    const double turn = pass(memory, sectors, now);
    CacheLine *line = line_of(memory, address, turn);

    return fetch(memory, line, sectors, turn) + (uint64_t) memory->l2_latency;
}

static void put(Memory *memory, CacheLine *line, unsigned sectors, unsigned bytes)
{
    memory->atoms_dirtied +=
        (unsigned) (atoms_of(memory, line->dirty | sectors) - atoms_of(memory, line->dirty));
    for (int i = 0; i < SECTORS; i++) {
        if (!(sectors >> i & 1))
            continue;
        unsigned written = (line->dirty >> i & 1 ? line->written[i] : 0) + bytes;
        line->written[i] = (uint8_t) (written < SECTOR_BYTES ? written : SECTOR_BYTES);
        if (written >= SECTOR_BYTES)
            line->valid |= (uint8_t) (1u << i);
    }
    line->dirty |= (uint8_t) sectors;
}

uint64_t memory_store(Memory *memory, uint64_t address, unsigned sectors, unsigned bytes,
                      uint64_t now)
{
    const double turn = pass(memory, sectors, now);
    CacheLine *line = line_of(memory, address, turn);

    put(memory, line, sectors, bytes);
    return up(turn) + (uint64_t) memory->store_latency;
}

/* An update waits for another from then until then. */
static void note_wait(Memory *memory, double from, double until)
{
    from = latest(from, memory->atomics_until);
    if (until <= from)
        return;
    memory->atomics_busy += until - from;
    memory->atomics_until = until;
}

uint64_t memory_atomic(Memory *memory, uint64_t address, unsigned sectors, unsigned passes,
                       uint64_t now)
{
    const double turn = pass(memory, sectors, now);
    CacheLine *line = line_of(memory, address, turn);
    const uint64_t here = fetch(memory, line, sectors, turn);
    const double begin = latest((double) here, (double) line->busy);

    note_wait(memory, (double) here, (double) line->busy);
    put(memory, line, sectors, SECTOR_BYTES);
    line->busy = up(begin + passes * memory->atomic_cycles);
    return line->busy + (uint64_t) memory->l2_latency;
}

/* ---- All ---- */

/* Cycles of an SM that `bytes` take. */
static double cycles_for(const Device *device, double bytes, double gbps)
{
    return bytes / (gbps * 1e9) * (device->sm_mhz * 1e6);
}

bool memory_model_open(Memory *memory, const Device *device)
{
    const double atom = device->memory_atom_bytes;

    *memory = (Memory){
        .l2_cycles = cycles_for(device, SECTOR_BYTES, device->l2_gbps),
        .read_cycles = cycles_for(device, atom, device->memory_gbps * device->memory_read_share),
        .write_cycles = cycles_for(device, atom, device->memory_gbps * device->memory_write_share),
        .atomic_cycles = device->atomic_ns * device->sm_mhz / 1e3,
        .l2_latency = device->l2_latency,
        .memory_latency = device->memory_latency,
        .memory_queue = device->memory_queue,
        .store_latency = device->store_latency,
        .atom_sectors = device->memory_atom_bytes / SECTOR_BYTES,
        .fills = device->memory_ecc
    };
    return tags_open(&memory->l2, device->l2_bytes, device->l2_ways);
}

void memory_model_close(Memory *memory)
{
    tags_close(&memory->l2);
}

void memory_model_begin(Memory *memory)
{
    for (size_t i = 0; i < memory->l2.sets * (size_t) memory->l2.ways; i++)
        memory->l2.lines[i].ready = memory->l2.lines[i].busy = 0;
    memory->l2_free = memory->dram_free = memory->dram_busy = 0;
    memory->l2_busy = memory->atomics_busy = memory->atomics_until = 0;
    memory->read_bytes = memory->write_bytes = 0;
    memory->l2_hits = memory->l2_misses = 0;
    memory->stand_in = 0;
    memory->lines_in = memory->atoms_dirtied = 0;
}
