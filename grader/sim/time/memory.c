/* memory.c - the L2, in front of the DRAM. Requests for the host's memory go to the link instead.
 *
 * The L2 and the DRAM are queues: each request is queued when it is made, occupies the queue for
 * the time that its bytes take at full bandwidth, and returns one latency after its turn. So a few
 * requests are limited by latency, and many are limited by bandwidth.
 *
 * Written data stays in the L2 until its line is displaced.
 */
#include "sim/time/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- How busy they are ---- */

MemoryBusy memory_busy(const Memory *m)
{
    MemoryBusy busy = { .l2 = m->l2_busy,
                        .l2_free = latest(m->l2_free, m->store_free),
                        .dram = m->dram_busy,
                        .dram_free = m->dram_free,
                        .rows = m->rows_busy,
                        .rows_free = m->rows_free,
                        .atomics = m->atomics_busy,
                        .atomics_until = m->atomics_until };

    for (int i = 0; i < LINK_WAYS; i++) {
        busy.link[i] = m->link.busy[i];
        busy.link_free[i] = m->link.free[i];
    }
    return busy;
}

static void write_back(Memory *memory, const CacheLine *line, double now)
{
    const unsigned partial = line->dirty & (unsigned) ~line->valid;

    if (partial && memory->fills)
        memory_fill_atoms(memory, line->line, memory->atoms[partial], now);
    memory_write_atoms(memory, line->line, memory->atoms[line->dirty], now);
}

/* ---- L2 ---- */

static CacheLine *line_of(Memory *memory, uint64_t address, double now)
{
    CacheLine displaced;
    bool is_new;
    CacheLine *line = cache_line(&memory->l2, address, &is_new, &displaced);

    if (!is_new)
        return line;
    if (displaced.line != NO_LINE && displaced.dirty)
        write_back(memory, &displaced, now);
    else if (displaced.line == NO_LINE && memory->stand_in)
        memory_write_atoms(memory, address, memory->atoms_dirtied / (double) (memory->lines_in + 1),
                           now);
    memory->lines_in++;
    return line;
}

double memory_pass(Memory *memory, double parts, uint64_t now)
{
    memory->l2_free = latest(memory->l2_free, (double) now) + parts * memory->l2_cycles;
    memory->l2_busy += parts * memory->l2_cycles;
    return memory->l2_free;
}

/* The L2 accepts fewer sectors than it can read: an H200 passes half of them on to its other half
 * (its counters show 1.5 times the sectors that are stored). A request takes a part of the time,
 * and sectors that are written in part take longer (tests/sim/time/mechanisms, store). */
double memory_pass_stores(Memory *memory, StoredParts stored, uint64_t now)
{
    const double turn = memory_pass(memory, stored.parts, now);
    const double each = stored.whole ? memory->store_cycles : memory->store_part_cycles;
    const double cycles = stored.requests * memory->store_request_cycles + stored.sectors * each;
    const double more = cycles - stored.parts * memory->l2_cycles;

    memory->store_free = latest(memory->store_free, (double) now) + cycles;
    memory->l2_busy += more > 0 ? more : 0;
    return latest(turn, memory->store_free);
}

uint64_t memory_up(double cycle)
{
    const uint64_t whole = (uint64_t) cycle;

    return whole + ((double) whole < cycle);
}

/* Some lines arrive later than others, since their channel is farther away or has to open a row
 * first. Every row has a delay of its own from an exponential distribution: with it, loads of an
 * H200 that wait for the latest of 1 to 32 lines at random take what was measured
 * (tests/sim/time/mechanisms/traffic.cu, later.memory), and so do blocks that copy a row each
 * (copy.float and occupancy in tests/sim/time/h200-all.txt). */
static void fill_delays(Memory *memory, int mean)
{
    for (int i = 0; i < DELAYS; i++)
        memory->delays[i] = (uint16_t) lround(-log((i + 0.5) / DELAYS) * mean);
}

/* A random number of a line; neighbours must not alternate. */
static uint64_t mixed(uint64_t line)
{
    const uint64_t once = (line ^ line >> 15) * 0x9e3779b97f4a7c15ull;

    return (once ^ once >> 29) * 0xbf58476d1ce4e5b9ull >> 32;
}

static double delay_of(const Memory *memory, uint64_t line)
{
    return memory->delays[mixed(line / ROW_LINES) % DELAYS];
}

/* The latency that DRAM adds to that of the L2. Reads wait while its banks are written, the longer
 * the less idle time it has: on an H200, reads alone take hardly longer if the memory is busy
 * (traffic.cu, flight). */
double memory_beyond(const Memory *memory, uint64_t line, double now)
{
    static const double least_idle = 0.15; /* after that, its bandwidth is the limit */
    const double written = now > 0 ? memory->write_busy / now : 0;
    const double idle = now > 0 ? 1 - memory->dram_busy / now : 1;

    return memory->memory_latency - memory->l2_latency + delay_of(memory, line) +
           memory->memory_queue * written / latest(idle, least_idle);
}

/* When a line of the L2 has arrived that its slice handles at `turn`. Slices are at different
 * distances, and each has lines everywhere. */
static uint64_t near_at(const Memory *memory, uint64_t line, double turn)
{
    return memory_up(turn) + (mixed(line) >> DELAY_BITS) % (uint64_t) (memory->l2_spread + 1);
}

/* Returns the cycle at which the sectors have arrived. `turn`: when the L2 handles them. */
static uint64_t fetch(Memory *memory, CacheLine *line, unsigned sectors, double turn)
{
    const unsigned missing = sectors & ~line->valid;
    memory->l2_hits += sectors_in(sectors & line->valid);
    memory->l2_misses += sectors_in(missing);
    if (missing) {
        double read = memory_read_atoms(memory, line->line, memory->atoms[missing], turn);
        line->valid |= (uint8_t) memory->whole[missing];
        line->ready = memory_up(read + memory_beyond(memory, line->line, turn));
    }
    return later(line->ready, near_at(memory, line->line, turn));
}

/* ---- The halves of an L2: each serves half of the SMs, and is home to half of the lines ---- */

/* Marks the copy of a line in the half that is not its home. */
#define COPY (1ull << 62)

static bool is_far(const Memory *memory, int half, uint64_t line)
{
    return memory->halves > 1 && half != NO_HALF &&
           (int) (line * 0x9e3779b97f4a7c15ull >> 63) != half;
}

/* Sectors that an SM of the other half reads stay in that half, too. */
static void keep_copy(Memory *memory, uint64_t address, unsigned sectors, uint64_t ready,
                      double now)
{
    CacheLine *copy = line_of(memory, address | COPY, now);

    copy->valid |= (uint8_t) sectors;
    copy->ready = ready;
}

static void drop_copy(Memory *memory, uint64_t address, unsigned sectors)
{
    CacheLine *copy = memory->halves > 1 ? cache_peek(&memory->l2, address | COPY) : NULL;

    if (copy)
        copy->valid &= (uint8_t) ~sectors;
}

static uint64_t load(Memory *memory, int half, uint64_t address, unsigned sectors, uint64_t now)
{
    const double turn = memory_pass(memory, memory->passes[sectors], now);
    const bool far = is_far(memory, half, address);
    const CacheLine *copy = far ? cache_peek(&memory->l2, address | COPY) : NULL;

    if (copy && !(sectors & ~copy->valid)) {
        memory->l2_hits += sectors_in(sectors);
        return later(copy->ready, near_at(memory, address, turn)) + (uint64_t) memory->l2_latency;
    }
    uint64_t there = fetch(memory, line_of(memory, address, turn), sectors, turn);
    if (far) {
        there = (uint64_t) latest((double) there, (double) memory_up(turn) + memory->far_latency);
        keep_copy(memory, address, sectors, there, turn);
    }
    return there + (uint64_t) memory->l2_latency;
}

uint64_t memory_load(Memory *memory, int half, uint64_t address, unsigned sectors, uint64_t now)
{
    if (trace_is_on_host(address))
        return link_load(&memory->link, sectors_in(sectors) * SECTOR_BYTES, now);
    return load(memory, half, address, sectors, now);
}

static void put(Memory *memory, CacheLine *line, unsigned sectors, unsigned bytes)
{
    memory->atoms_dirtied += memory->atoms[line->dirty | sectors] - memory->atoms[line->dirty];
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

/* Each slice of the L2 accepts the sectors of its own lines. If threads write row after row of
 * their own, a warp returns to the same few slices, of which some have more to do than others
 * (tests/sim/time/mechanisms, own). */
static double pass_slice(Memory *memory, uint64_t line, unsigned sectors, uint64_t now)
{
    /* Of the time measured for all slices, in which some wait while others are late; fitted to rows
     * of `own` and `store` of an H200. */
    static const double share = 0.95;
    double *slice = &memory->slice_free[mixed(line) * (uint64_t) memory->slices >> 32];
    const double cycles =
        memory->store_request_cycles + sectors_in(sectors) * memory->store_part_cycles;

    *slice = latest(*slice, (double) now) + share * cycles * memory->slices;
    return *slice;
}

/* A line that an SM of the other half stores also takes a place there: copies of N MiB that an H200
 * repeats miss its 60 MiB from N = 20 on (tests/sim/time/mechanisms, again). */
static void take_place_of_copy(Memory *memory, uint64_t address, double now)
{
    line_of(memory, address | COPY, now);
}

static uint64_t store(Memory *memory, int half, uint64_t address, unsigned sectors, unsigned bytes,
                      uint64_t now)
{
    const bool whole = bytes >= SECTOR_BYTES;
    double turn = memory_pass_stores(
        memory, (StoredParts){ 1, memory->passes[sectors], sectors_in(sectors), whole }, now);
    CacheLine *line;

    if (!whole && memory->slices)
        turn = latest(turn, pass_slice(memory, address, sectors, now));
    line = line_of(memory, address, turn);

    put(memory, line, sectors, bytes);
    if (is_far(memory, half, address))
        take_place_of_copy(memory, address, turn);
    drop_copy(memory, address, sectors);
    return memory_up(turn) + (uint64_t) memory->store_latency;
}

uint64_t memory_store(Memory *memory, int half, uint64_t address, unsigned sectors, unsigned bytes,
                      uint64_t now)
{
    if (trace_is_on_host(address))
        return link_store(&memory->link, sectors_in(sectors) * bytes, now);
    return store(memory, half, address, sectors, bytes, now);
}

uint64_t memory_merge(Memory *memory, uint64_t address, unsigned sectors, unsigned bytes,
                      uint64_t now)
{
    if (trace_is_on_host(address))
        return link_merge(&memory->link, sectors_in(sectors) * bytes, now);
    put(memory, line_of(memory, address, (double) now), sectors, bytes);
    return now + (uint64_t) memory->store_latency;
}

/* Records that an update waits for another update of its line. */
static void note_wait(Memory *memory, double from, double until)
{
    from = latest(from, memory->atomics_until);
    if (until <= from)
        return;
    memory->atomics_busy += until - from;
    memory->atomics_until = until;
}

/* Units of the L2 update sectors. Pieces of 256 bytes go to the two units of their kilobyte in turn
 * (tests/sim/time/mechanisms: updates of 8 lines are twice as fast as those of 2). Neighbouring
 * kilobytes have different pairs: multiples of the golden ratio spread evenly, however many. */
int memory_unit(uint64_t line)
{
    const uint64_t kilobyte = line / 8, spread = kilobyte * 0x9e3779b97f4a7c15ull >> 32;

    return (int) ((spread * (ATOMIC_UNITS / 2) >> 32) * 2 + line / 2 % 2);
}

/* The cycles of a pass. The more units are busy, the more often one of them is idle while the next
 * update for it is still queued in its SM, behind updates for others. With n updates in flight
 * to u units, each unit works for n / (n + u - 1) of the time. A unit that has far more to do than
 * others is rarely idle: units with shorter queues than its own (until cycle `own`) count in part.
 */
static double pass_cycles(const Memory *memory, double own, double now)
{
    double busy = 0;

    if (own <= now)
        return memory->pass_cycles;
    for (int i = 0; i < ATOMIC_UNITS; i++)
        if (memory->unit_free[i] > now)
            busy += fmin(1, (memory->unit_free[i] - now) / (own - now));
    return memory->pass_cycles * (1 + (busy > 1 ? busy - 1.0 : 0) / UPDATES_SENT);
}

double memory_atomic_cycles(const Memory *memory, TraceKind kind, uint64_t word)
{
    const unsigned same = trace_amount(word);

    if (kind == TRACE_ATOMIC)
        return same * memory->atomic_cycles;
    return memory->integer_atomic_cycles + (same > 1 ? same - 1 : 0) * memory->pass_cycles;
}

uint64_t memory_update(Memory *memory, CacheLine *line, TraceKind kind, uint64_t word,
                       uint64_t here)
{
    double *unit = &memory->unit_free[memory_unit(trace_number(word))];
    const double passes = trace_passes(word) * pass_cycles(memory, *unit, (double) here);
    const double begin = latest(latest((double) here, *unit), line->busy);

    note_wait(memory, (double) here, begin);
    *unit = latest(*unit, (double) here) + passes;
    line->busy = begin + latest(passes, memory_atomic_cycles(memory, kind, word));
    return memory_up(line->busy) + (uint64_t) memory->l2_latency;
}

/* Each pass reaches the L2 as a sector of its own, and half of them pass through its other half, as
 * stores do: an H100's and an H200's counters show 1.5 times the passes in the L2. */
static uint64_t update(Memory *memory, TraceKind kind, uint64_t word, uint64_t now)
{
    const unsigned sectors = trace_sectors(word);
    const double turn = memory_pass_stores(
        memory, (StoredParts){ 1, trace_passes(word), trace_passes(word), false }, now);
    CacheLine *line = line_of(memory, trace_number(word), turn);
    const uint64_t here = fetch(memory, line, sectors, turn);

    put(memory, line, sectors, SECTOR_BYTES);
    drop_copy(memory, trace_number(word), sectors);
    return memory_update(memory, line, kind, word, here);
}

uint64_t memory_atomic(Memory *memory, TraceKind kind, uint64_t word, uint64_t now)
{
    if (trace_is_on_host(trace_number(word)))
        return link_update(&memory->link, trace_passes(word), now);
    return update(memory, kind, word, now);
}

/* ---- The memory model ---- */

/* The SM cycles that `bytes` take. */
static double cycles_for(const Device *device, double bytes, double gbps)
{
    return bytes / (gbps * 1e9) * (device->sm_mhz * 1e6);
}

static double cycles_a_row(const Device *device)
{
    const double rows_a_ns = device->memory_rows_per_ns;

    return rows_a_ns > 0 ? device->sm_mhz / 1e3 / rows_a_ns : 0;
}

/* The L2 reads `l2_pass_bytes` at a time, whatever part of them is requested. */
static void fill_passes(Memory *memory, const Device *device)
{
    const int sectors = device->l2_pass_bytes / SECTOR_BYTES;
    const unsigned pass = (1u << sectors) - 1;

    memory->pass_sectors = sectors;
    memory->l2_cycles = cycles_for(device, device->l2_pass_bytes, device->l2_gbps);
    for (unsigned mask = 0; mask < 1u << SECTORS; mask++)
        for (int i = 0; i < SECTORS; i += sectors)
            memory->passes[mask] += (mask >> i & pass) != 0;
}

static void set_stores(Memory *memory, const Device *device)
{
    const double line = cycles_for(device, LINE_BYTES, device->l2_store_gbps);
    const double single = cycles_for(device, SECTOR_BYTES, device->l2_store_sector_gbps);
    const double part = cycles_for(device, LINE_BYTES, device->l2_store_part_gbps);

    memory->store_cycles = (line - single) / (SECTORS - 1);
    memory->store_request_cycles = single - memory->store_cycles;
    memory->store_part_cycles = (part - memory->store_request_cycles) / SECTORS;
}

static void fill_atoms(Memory *memory, int sectors)
{
    const unsigned atom = (1u << sectors) - 1, all = (1u << SECTORS) - 1;

    for (unsigned mask = 0; mask <= all; mask++)
        for (int i = 0; i < SECTORS; i += sectors)
            if (mask >> i & atom) {
                memory->atoms[mask]++;
                memory->whole[mask] |= (uint8_t) (atom << i & all);
            }
}

bool memory_model_open(Memory *memory, const Device *device, bool by_words)
{
    const double atom = device->memory_atom_bytes;

    *memory = (Memory){
        .read_cycles = cycles_for(device, atom, device->memory_gbps * device->memory_read_share),
        .write_cycles = cycles_for(device, atom, device->memory_gbps * device->memory_write_share),
        .atomic_cycles = device->atomic_ns * device->sm_mhz / 1e3,
        .pass_cycles = device->atomic_pass_ns * device->sm_mhz / 1e3,
        .integer_atomic_cycles = device->integer_atomic_ns * device->sm_mhz / 1e3,
        .l2_latency = device->l2_latency,
        .memory_latency = device->memory_latency,
        .memory_queue = device->memory_queue,
        .l2_spread = device->l2_spread,
        .far_latency = device->l2_far_latency,
        .store_latency = device->store_latency,
        .atom_sectors = device->memory_atom_bytes / SECTOR_BYTES,
        .row_cycles = by_words ? 0 : cycles_a_row(device),
        .halves = device->l2_halves,
        .slices = device->l2_slices < MOST_SLICES ? device->l2_slices : MOST_SLICES,
        .fills = device->memory_ecc
    };
    fill_passes(memory, device);
    set_stores(memory, device);
    fill_atoms(memory, memory->atom_sectors);
    fill_delays(memory, device->memory_spread);
    link_open(&memory->link, device);
    return cache_open(&memory->l2, device->l2_bytes, device->l2_ways) &&
           (!by_words || cache_keep_words(&memory->l2));
}

void memory_model_close(Memory *memory)
{
    cache_close(&memory->l2);
}

void memory_model_begin(Memory *memory)
{
    for (size_t i = 0; i < memory->l2.count * (size_t) memory->l2.ways; i++)
        memory->l2.lines[i].ready = 0, memory->l2.lines[i].busy = 0;
    link_begin(&memory->link);
    memory->l2_free = memory->store_free = memory->dram_free = memory->dram_busy = 0;
    memory->rows_free = memory->rows_busy = memory->write_busy = 0;
    memset(memory->rows, 0xff, sizeof memory->rows);
    memory->l2_busy = memory->atomics_busy = memory->atomics_until = 0;
    memset(memory->unit_free, 0, sizeof memory->unit_free);
    memset(memory->slice_free, 0, sizeof memory->slice_free);
    memory->read_bytes = memory->write_bytes = 0;
    memory->l2_hits = memory->l2_misses = 0;
    memory->stand_in = 0;
    memory->lines_in = 0;
    memory->atoms_dirtied = memory->ahead = memory->ahead_all = 0;
}

void memory_rewind(Memory *memory, const Memory *before, uint64_t now)
{
    const Cache l2 = memory->l2;
    const uint64_t lines_in = memory->lines_in;
    const double read = memory->read_bytes, written = memory->write_bytes;

    *memory = *before;
    memory->l2 = l2;
    memory->lines_in = lines_in;
    memory->read_bytes = read;
    memory->write_bytes = written;
    for (size_t i = 0; i < l2.count * (size_t) l2.ways; i++) {
        CacheLine *line = &l2.lines[i];
        line->ready = line->ready < now ? line->ready : now;
        line->busy = fmin(line->busy, (double) now);
    }
}
