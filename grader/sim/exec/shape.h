/* shape.h - the address pattern of one access, and its cost on hardware. */
#ifndef SIM_EXEC_SHAPE_H
#define SIM_EXEC_SHAPE_H

#include "sim/exec/exec.h"

/* Compiles a function for several levels of vector instructions; the version is chosen by processor
 * when the library is loaded. For integer code only. (With clang 14, such functions cannot be
 * called from another file.) */
#if defined __x86_64__ && !defined __clang__
#define WITH_VECTORS __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define WITH_VECTORS
#endif

enum { SECTOR_BYTES = 32, SECTORS = 4, LINE_BYTES = SECTORS * SECTOR_BYTES };

typedef enum AccessKind { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC } AccessKind;

enum { EIGHT = 8 };

typedef struct Shape {
    /* The key of the cache. */
    uint32_t step; /* the step's number */
    uint32_t mask;
    uint8_t bytes; /* per lane */
    uint8_t kind, space;
    uint8_t start; /* offset of the first active lane in its sector; for shared memory, modulo 4 or
                      `bytes`, whichever is larger */
    bool linear;   /* all lanes are active, with consecutive addresses in lane order */
    bool uniform;  /* all lanes have the same address */
    bool line;     /* as linear, for the active lanes, which follow each other */
    bool has_eights; /* the next two are set: see shape_find_eights() */
    bool in_eights;  /* words of a full warp: each group of eight lanes has consecutive addresses in
                      * lane order, or one address; */
    uint8_t eights_linear; /* the former: a bit for each group */
    /* For ops/memory_again.c and memory_words.h: the allocation that all lanes accessed last, while
     * memory_changes is:
     */
    uint32_t memory_changes;
    Allocation *allocation;
    /* The same for words of full warps: if the first lane's address is one of the `room` from
     * `from` on, the access is aligned and in bounds, and its bytes are at that address plus
     * to_host (in shared memory: of the block). `repeats`: see repeats.h. `before`: the first
     * lane's address in the last access, if it was prefetched for. */
    uint64_t from, room, to_host, repeats, before;
    _Alignas(64) uint64_t delta[LANES]; /* from the first active lane; 0 for inactive lanes */
    /* Derived from the key. */
    uint32_t narrow[LANES]; /* delta, modulo 2^32 */
    uint64_t deltas;        /* a new number whenever `delta` has changed */
    int64_t low, high;      /* of delta */
    uint8_t low_bits;       /* of all deltas, or-ed */
    bool aligned;           /* each lane is aligned to `bytes` */
    bool has_leaders;       /* `leaders`, `followed` and `in_row` are set: see shape_leaders() */
    bool in_row;            /* the leaders are consecutive lanes, with consecutive addresses */
    uint32_t leaders, followed;
    int asked; /* bytes requested by all active lanes */
    int sectors;
    int wavefronts, ideal, loop_loads, loop_ideal;
    int l1_wavefronts; /* see shape_wavefronts(); 0: not counted yet */
    int rounds,
        round_lanes; /* rounds of the loop after the first, and the lanes waiting in them, summed */
    /* Of repeats.c: the counters to which the repeats belong, and whether its list has the shape.
     */
    Launch *launch;
    Count *count;
    bool is_listed;
} Shape;

/* The shape of an access to global or shared memory, valid until the next call. Addresses of
 * inactive lanes are ignored. */
const Shape *shape_of(const Step *step, Space space, AccessKind kind, uint32_t mask, int bytes,
                      const uint64_t address[LANES]);

/* The last shapes of steps, of full warps and then of parts of warps without and with their first
 * lane, as branches at the two edges of an array make them. */
enum { SHAPES_KEPT = 1024 /* of each kind */, SHAPE_ENTRIES = 3 * SHAPES_KEPT };

/* Of a shuffle: the lane that each lane reads, and the lanes whose source is inside their segment.
 */
typedef struct Route {
    uint32_t mode, b, c; /* key of the cache, if the same for all lanes */
    uint32_t inside;
    uint8_t source[LANES];
} Route;
enum { ROUTES_KEPT = 256 };

/* What a thread that runs blocks keeps from step to step. */
typedef struct Shapes {
    Shape shape[SHAPE_ENTRIES];
    Shape *repeated[SHAPE_ENTRIES]; /* repeats.c: those whose repeats may not be counted yet */
    int repeated_count;
    uint64_t numbers;          /* of deltas */
    Route routes[ROUTES_KEPT]; /* of the last shuffles with the same distance in all lanes, */
    Route route;               /* and of one with other distances */
} Shapes;

/* Those of this thread. Only one thread at a time runs a launch, and has the only ones unless
 * others run blocks ahead (ahead.h), each with its own. */
extern _Thread_local Shapes *thread_shapes __attribute__((tls_model("initial-exec")));

/* The step's last shape for these lanes, if `step` is the step's number. Neighbouring steps never
 * share an entry, and neither do the two sides of a copy to shared memory. */
static inline Shape *shape_last_of(const Step *step, Space space, uint32_t mask)
{
    const uint32_t at = step->number + (space == SPACE_SHARED ? SHAPES_KEPT / 2 : 0);
    const uint32_t kind = mask == UINT32_MAX ? 0 : 1 + (mask & 1);
    return &thread_shapes->shape[at % SHAPES_KEPT + kind * SHAPES_KEPT];
}

/* The same for a full warp. */
static inline Shape *shape_last(const Step *step, Space space)
{
    return shape_last_of(step, space, UINT32_MAX);
}

/* Changes the start of a load's or store's shape in global memory. */
void shape_move(Shape *shape, uint8_t start);

/* Sets `in_eights` and `eights_linear`, if the pattern is likely to be repeated. */
void shape_find_eights(Shape *shape);

/* Sets `leaders`, `followed` and `in_row`, which few accesses need. */
void shape_find_leaders(const Shape *shape);

/* The first lane at each address. */
static inline uint32_t shape_leaders(const Shape *shape)
{
    if (!shape->has_leaders)
        shape_find_leaders(shape);
    return shape->leaders;
}

/* Leaders whose address other lanes share. */
static inline uint32_t shape_followed(const Shape *shape)
{
    if (!shape->has_leaders)
        shape_find_leaders(shape);
    return shape->followed;
}

static inline bool shape_in_row(const Shape *shape)
{
    if (!shape->has_leaders)
        shape_find_leaders(shape);
    return shape->in_row;
}

/* The wavefronts of an access to the L1 as to shared memory: the L1 has the same banks. */
int shape_wavefronts(const Shape *shape);

/* The number of sectors for a subset of the lanes. */
int shape_sectors(const Shape *shape, uint32_t lanes);

static inline int first_lane(uint32_t mask)
{
    return __builtin_ctz(mask);
}

#endif
