/* memory.h - what all SMs share: the L2, memory, and the link to the host; and caches, of which
 * each SM has one, too.
 */
#ifndef SIM_TIME_MEMORY_H
#define SIM_TIME_MEMORY_H

#include "sim/base/common.h"
#include "sim/time/timing.h"

static inline double latest(double a, double b)
{
    return a > b ? a : b;
}

/* ---- Caches: the L2, and each SM's L1 (sim/time/cache.c) ---- */

#define NO_LINE UINT64_MAX

typedef struct CacheLine {
    uint64_t line;        /* its address / LINE_BYTES, or NO_LINE */
    uint64_t ready;       /* when its last fetch arrives */
    double busy;          /* atomics update it until this cycle; not rounded, since they add up */
    uint8_t valid, dirty; /* one bit per sector */
    uint8_t written[SECTORS]; /* bytes written in a dirty sector, at most 32 */
} CacheLine;

enum { MOST_WAYS = 16 };

/* Data for finding a line in a set: one byte of each line's hash, by way, and the ways in order of
 * use, with the most recent in the lowest four bits. */
typedef struct CacheSet {
    uint64_t marks[MOST_WAYS / 8];
    uint64_t order;
} CacheSet;

/* Words of four bytes of a line, one bit each. */
typedef struct CacheWords {
    uint32_t here, dirty;
} CacheWords;

enum { RECENT_LINES = 128 };

typedef struct Cache {
    CacheSet *sets;
    CacheLine *lines;                /* set n begins at n * ways */
    CacheWords *words;               /* of each line, without extra sectors; else NULL */
    CacheLine *recent[RECENT_LINES]; /* by set: what cache_line() found last; NULL: nothing */
    size_t count;                    /* number of sets */
    int ways;
} Cache;

bool cache_open(Cache *cache, double bytes, int ways);
/* Empties a cache that may have another size, or be closed. Returns false if out of memory. */
bool cache_open_again(Cache *cache, double bytes, int ways);
void cache_close(Cache *cache);
/* Opens a cache with the same lines. Returns false if out of memory. */
bool cache_copy(Cache *to, const Cache *from);
/* From now on the cache has words, of which no line has any. Returns false if out of memory. */
bool cache_keep_words(Cache *cache);
/* The line if the cache has it, else NULL. It does not count as used. */
CacheLine *cache_peek(const Cache *cache, uint64_t line);
/* Finds or adds the line and makes it the most recently used. A new line is empty, and `displaced`
 * is the line that it replaces: the least recently used line of its set, or NO_LINE. */
CacheLine *cache_line(Cache *cache, uint64_t line, bool *is_new, CacheLine *displaced);
/* All that affects later accesses after a launch, as at most cache_packed_words() words: the same
 * for any two caches that behave the same. cache_pack returns the number of words. */
size_t cache_packed_words(const Cache *cache);
size_t cache_pack(const Cache *cache, uint64_t *words);
void cache_unpack(Cache *cache, const uint64_t *words);
/* Replaces this many of the least recently used lines by other lines. */
void cache_displace(Cache *cache, double lines);
/* Prefetches the entry of a line that will be requested soon. Affects only the speed of the
 * simulator. Returns whether the cache probably has the line. */
bool cache_ask(const Cache *cache, uint64_t line);

/* ATOMIC_UNITS, of the L2: warps that updated lines of their own kept 54 to 72 of an H200's busy
 * (tests/sim/time/mechanisms, red_u32.own). UPDATES_SENT to them at a time: about two per SM of an
 * H100, which explains 128 and 2048 lines there (red_u32.hash) within 8 %. */
enum { ATOMIC_UNITS = 80, UPDATES_SENT = 264 };

/* Banks of the DRAM, each with an open row of 1 KiB: an H200's six stacks have 16 channels of two
 * halves with 16 banks each (JESD238, HBM3). */
enum { OPEN_ROWS = 6 * 16 * 2 * 16, ROW_LINES = 1024 / LINE_BYTES };

enum { DELAY_BITS = 8, DELAYS = 1 << DELAY_BITS };

enum { MOST_SLICES = 256 };

/* ---- The link to the host's memory (sim/time/link.c) ---- */

typedef enum LinkWay { LINK_READS, LINK_WRITES, LINK_WAYS } LinkWay;

typedef struct Link {
    int latency, store_latency;
    double request_cycles;           /* that a request takes at least */
    double byte_cycles, data_cycles; /* per byte that is moved; per byte of data, at least */
    double free[LINK_WAYS], busy[LINK_WAYS];
} Link;

void link_open(Link *link, const Device *device);
void link_begin(Link *link); /* begins a launch */
/* At cycle `now` an SM reads or writes so many bytes of a line, or updates sectors of it in so many
 * passes. Return the cycle at which the data, the write or the old value has arrived. link_merge:
 * bytes that an earlier store takes along. */
uint64_t link_load(Link *link, double bytes, uint64_t now);
uint64_t link_store(Link *link, double bytes, uint64_t now);
uint64_t link_merge(Link *link, double bytes, uint64_t now);
uint64_t link_update(Link *link, double passes, uint64_t now);

/* ---- Memory that all SMs share (sim/time/memory.c) ---- */

typedef struct Memory {
    Cache l2;
    Link link;
    double l2_free, dram_free;                   /* the cycle at which they become free */
    double store_free;                           /* the same of what accepts stores in the L2 */
    double l2_cycles;                            /* in which it reads a part of a line */
    int pass_sectors;                            /* of such a part */
    uint8_t passes[1 << SECTORS];                /* by set of sectors: number of these parts */
    double store_request_cycles, store_cycles;   /* per request; per stored sector */
    double store_part_cycles;                    /* per sector of which a part is stored */
    double read_cycles, write_cycles;            /* per atom */
    double atomic_cycles, integer_atomic_cycles; /* between updates of one address */
    double pass_cycles;                          /* in which a unit updates a sector */
    double unit_free[ATOMIC_UNITS];              /* the cycle at which it becomes free */
    double slice_free[MOST_SLICES];              /* the same of those that accept stores */
    int slices;                                  /* 0: they are not modelled */
    double row_cycles, rows_free, rows_busy;     /* opening a row of the DRAM */
    uint64_t rows[OPEN_ROWS];                    /* the open ones, by a hash of their number */
    int halves;                                  /* of the L2 */
    int l2_latency, l2_spread, far_latency, memory_latency, memory_queue, store_latency;
    uint16_t delays[DELAYS]; /* quantiles of the cycles by which lines of the DRAM arrive later */
    int atom_sectors;
    uint8_t atoms[1 << SECTORS];               /* by set of sectors: number of their atoms */
    uint8_t whole[1 << SECTORS];               /* by set of sectors: all sectors of their atoms */
    bool fills;                                /* partly written atoms are read first */
    uint64_t l2_hits, l2_misses;               /* sectors loaded */
    double read_bytes, write_bytes, dram_busy; /* dram_busy: cycles of this launch */
    double write_busy;                         /* the part of them in which it was written */
    double l2_busy;
    double atomics_busy, atomics_until; /* time in which an update waited for another one */
    /* For a launch whose blocks are not all played: the part of the L2 that the other blocks would
     * have filled with dirty lines. */
    bool stand_in; /* a line that displaces no other costs as much as the average line will */
    uint64_t lines_in;
    double atoms_dirtied; /* since the launch began */
    /* Cycles in which the DRAM, otherwise idle, wrote lines of the L2 that have not been displaced
     * yet; and all such cycles of this launch. */
    double ahead, ahead_all;
} Memory;

/* How busy its queues are. All SMs see what it was when their turn of a few cycles began, whichever
 * of them is played first. */
typedef struct MemoryBusy {
    double l2, l2_free, dram, dram_free, rows, rows_free, atomics, atomics_until;
    double link[LINK_WAYS], link_free[LINK_WAYS];
} MemoryBusy;

MemoryBusy memory_busy(const Memory *memory);

/* by_words: only the words that lanes request are moved, as if they lay side by side. */
bool memory_model_open(Memory *memory, const Device *device, bool by_words);
void memory_model_close(Memory *memory);
void memory_model_begin(Memory *memory); /* begins a launch, whose clock starts at 0 */
/* Puts the clock back to `now`, and counters and queues to those of `before`, a copy from then; but
 * not what the L2 holds, nor the number of its lines and of bytes that memory moved. */
void memory_rewind(Memory *memory, const Memory *before, uint64_t now);

static inline void memory_ask(const Memory *memory, uint64_t line)
{
    cache_ask(&memory->l2, line);
}
enum { NO_HALF = -1 }; /* the home of the line */

/* At cycle `now` an SM reads, writes or updates these sectors; an update blocks its unit and
 * its line for a number of cycles. `half`: of the L2, next to the SM. Returns the cycle at which
 * the data, the write or the old value has arrived. */
uint64_t memory_load(Memory *memory, int half, uint64_t line, unsigned sectors, uint64_t now);
uint64_t memory_store(Memory *memory, int half, uint64_t line, unsigned sectors, unsigned bytes,
                      uint64_t now);
/* The same for bytes that an earlier store takes along. */
uint64_t memory_merge(Memory *memory, uint64_t line, unsigned sectors, unsigned bytes,
                      uint64_t now);
uint64_t memory_atomic(Memory *memory, TraceKind kind, uint64_t word, uint64_t now);
/* The unit of the L2 that updates the line. */
int memory_unit(uint64_t line);
/* For how long an atomic, a word of the trace, blocks its line. */
double memory_atomic_cycles(const Memory *memory, TraceKind kind, uint64_t word);

/* What SMs store: requests, one per line; parts that the L2 reads at a time; sectors, of which all
 * bytes are stored (`whole`) or some. */
typedef struct StoredParts {
    double requests, parts, sectors;
    bool whole;
} StoredParts;

/* Parts of these. memory_pass: queues parts of lines at the L2; returns when it has handled them.
 * memory_pass_stores: the same for stored ones. sim/time/dram.c: memory_read_atoms returns when the
 * DRAM has read them; memory_write_atoms and memory_fill_atoms write, and read first, those of a
 * line that is displaced. memory_beyond: the latency that the DRAM adds to that of the L2.
 * memory_update: an atomic whose data is in the L2 at cycle `here`; returns when the old value has
 * arrived. memory_up: rounds up to a cycle. */
double memory_pass(Memory *memory, double parts, uint64_t now);
double memory_pass_stores(Memory *memory, StoredParts stored, uint64_t now);
double memory_read_atoms(Memory *memory, uint64_t line, double atoms, double now);
void memory_write_atoms(Memory *memory, uint64_t line, double atoms, double now);
void memory_fill_atoms(Memory *memory, uint64_t line, double atoms, double now);
double memory_dram_busy(const Memory *memory); /* cycles of this launch */
double memory_beyond(const Memory *memory, uint64_t line, double now);
uint64_t memory_update(Memory *memory, CacheLine *line, TraceKind kind, uint64_t word,
                       uint64_t here);
uint64_t memory_up(double cycle);

#endif
