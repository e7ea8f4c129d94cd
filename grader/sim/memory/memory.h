/* memory.h - the simulated GPU's memory: its allocations, their addresses, and the calls that made
 * them.
 *
 * Global memory is one range of addresses, reserved at a fixed place without access rights, so that
 * host code that reads a device pointer faults immediately, as with a real GPU. The simulator keeps
 * the bytes in a second range; only touched pages of either take memory. (Managed memory is the
 * exception: host and device use it at the same address.) There are gaps between allocations. A
 * freed range keeps its addresses until they are needed again, so that use after free is reported
 * as such.
 *
 * Generic addresses: shared and local memory have windows of their own (SHARED_WINDOW,
 * LOCAL_WINDOW); all other addresses are global.
 */
#ifndef SIM_MEMORY_MEMORY_H
#define SIM_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __SANITIZE_THREAD__ /* leaves programs other addresses */
#define GLOBAL_BASE 0x7e9000000000ull
#else
#define GLOBAL_BASE 0x700000000000ull
#endif
#define GLOBAL_STEP   0x010000000000ull /* distance to the next candidate if one is taken */
#define GLOBAL_BASES  8
#define GLOBAL_END    (GLOBAL_BASE + GLOBAL_BASES * GLOBAL_STEP)
#define SHARED_WINDOW 0x600000000000ull /* + offset in the block's shared memory */
#define LOCAL_WINDOW  0x610000000000ull /* + offset in the thread's local memory */
#define PARAM_WINDOW  0x620000000000ull /* + offset in the kernel's parameters (cvta.param) */
#define WINDOW_BYTES  0x000100000000ull
enum { ALLOCATION_ALIGN = 512 };

typedef enum AllocationKind {
    ALLOCATED,
    HOST_PINNED,
    VARIABLE_GLOBAL,
    VARIABLE_CONST,
    MANAGED,
    DEVICE_HEAP, /* malloc() in a kernel */
    ARRAY_MEMORY /* of a CUDA array */
} AllocationKind;

/* What simMark() sets for bytes inside an allocation. */
typedef enum MarkKind { MARK_OK, MARK_NO_ACCESS, MARK_UNINIT } MarkKind;

typedef struct Allocation {
    uint64_t base;
    size_t bytes;
    char *host; /* the simulator's view of the bytes */
    AllocationKind kind;
    int number;        /* 1, 2, ... in the order of allocation */
    const char *name;  /* name of a variable, or NULL */
    const char *label; /* name set by simName(), or NULL */
    size_t row_bytes;  /* of a matrix, set by simName(); 0: unknown */
    bool freed;
    bool freeing;       /* a free is queued in a stream */
    bool reserved;      /* keeps its addresses when it is freed, for memory_revive() */
    uint8_t *written;   /* one bit per byte: initialised; NULL: not tracked */
    uint8_t *forbidden; /* one bit per byte: MARK_NO_ACCESS; NULL: none */
    void *races;        /* shadow memory of race_order.c, from one malloc; NULL: none yet */
    void *pool;         /* the runtime's memory pool; NULL: none */
    bool on_host;       /* it is the host's memory, which kernels access over the link */
    bool followed;      /* managed memory whose use pages.h tells */
    unsigned flags;     /* of pinned memory, as cudaHostGetFlags returns them */
    void *chunks;       /* where its parts are: the runtime's, from one malloc; NULL: none yet */
    void *advised;      /* hints for its pages: the runtime's, from one malloc; NULL: none yet */
} Allocation;

/* Reserves the range. On failure, returns false and sets `why`. `most_bytes`: the total that
 * cudaMemGetInfo reports. */
bool memory_open(size_t most_bytes, bool track_uninitialised, char *why, size_t why_size);
void memory_close(void);

Allocation *memory_allocate(size_t bytes, AllocationKind kind,
                            const char *name); /* NULL: out of memory */
Allocation *memory_adopt(void *host, size_t bytes,
                         AllocationKind kind); /* pinned: base is `host` */
bool memory_free(uint64_t base); /* false: no allocation begins there, or it is freed already */
/* Makes a freed allocation that is `reserved` live again, with unwritten contents. Returns false if
 * there is none, or too little memory. */
bool memory_revive(uint64_t base);
/* From now on, new managed memory is followed. */
void memory_follow(void);
bool memory_follows(void); /* whether any live memory is */
size_t memory_in_use(void);
size_t memory_heap_in_use(void); /* of kind DEVICE_HEAP */

/* The live allocation that contains the byte, or NULL. */
Allocation *memory_find(uint64_t address);
/* Grows when an allocation is freed, forgotten or marked: until then, pointers to it stay valid. */
extern uint32_t memory_changes;
/* Whether bytes of new allocations are marked when they are written. */
bool memory_tracks(void);

/* Describes an address by the nearest allocation, freed ones included: "4 bytes after the end of
 * allocation 3 (4000 bytes, cudaMalloc)" */
void memory_describe(uint64_t address, size_t bytes, char *text, size_t size);
/* "allocation 3 (4000 bytes, cudaMalloc)", "`table` (16 bytes, __constant__)" */
void memory_name(const Allocation *allocation, char *text, size_t size);

/* What an address refers to: live memory; a freed range; a gap in the GPU's range; the host's own
 * memory; the first page; nothing. */
typedef enum AddressKind {
    ADDRESS_LIVE,
    ADDRESS_FREED,
    ADDRESS_GUARD,
    ADDRESS_HOST,
    ADDRESS_NULL,
    ADDRESS_NOTHING
} AddressKind;
AddressKind memory_address_kind(uint64_t address);
/* The allocation that contains the address, freed or not; the nearest one for an address in a gap;
 * or NULL. */
const Allocation *memory_nearest(uint64_t address);
uint64_t memory_base(void); /* start of the range: GLOBAL_BASE, unless that was taken */

/* For the runtime's copies: the simulator's view of a range within one live allocation, or NULL.
 * Marks the bytes as written if `writing`. */
char *memory_range(uint64_t address, size_t bytes, bool writing);

/* written.c. After a copy between two such ranges, marks as unwritten at `to` the bytes that are
 * unwritten at `from`. */
void memory_copy_written(uint64_t to, uint64_t from, size_t bytes);

bool memory_mark(uint64_t address, size_t bytes, MarkKind kind);

/* Visits every allocation that is not freed, for the report of leaks. */
void memory_each(void (*visit)(const Allocation *, void *), void *self);

#endif
