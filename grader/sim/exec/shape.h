/* shape.h - the pattern of the addresses of one access, and what it costs the hardware. */
#ifndef SIM_EXEC_SHAPE_H
#define SIM_EXEC_SHAPE_H

#include "sim/exec/exec.h"

/* Compiled twice: the processor decides when the library is loaded. For integer code only. (With
 * clang 14 such functions cannot be called from another file.) */
#if defined __x86_64__ && !defined __clang__
#define WITH_AVX2 __attribute__((target_clones("avx2", "default")))
#else
#define WITH_AVX2
#endif

enum { SECTOR_BYTES = 32, SECTORS = 4, LINE_BYTES = SECTORS * SECTOR_BYTES };

typedef enum AccessKind { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC } AccessKind;

typedef struct Shape {
    /* The key of the cache. */
    uint32_t step; /* its number */
    uint32_t mask;
    uint8_t bytes; /* per lane */
    uint8_t kind, space;
    uint8_t start; /* the first active lane's place in a sector; of shared memory: in 4 bytes, or in
                    * `bytes` if those are more */
    _Alignas(64) uint64_t delta[LANES]; /* from the first active lane; 0 for inactive lanes */
    /* Derived from the key. */
    int64_t low, high; /* of delta */
    bool aligned;      /* each lane to `bytes` */
    bool linear;       /* all lanes active, with consecutive addresses in their order */
    bool uniform;      /* one address */
    uint32_t leaders;  /* the first lane at each address */
    uint32_t followed; /* leaders with others at their address */
    int asked;         /* bytes, of all active lanes */
    int sectors;
    int wavefronts, ideal, loop_loads, loop_ideal;
    int rounds,
        round_lanes; /* of the loop, after the first one; sum of the lanes that wait in these */
} Shape;

/* The shape of the addresses, of global or of shared memory. It stays valid until the next call.
 * `address` of inactive lanes may be anything. */
const Shape *shape_of(const Step *step, Space space, AccessKind kind, uint32_t mask, int bytes,
                      const uint64_t address[LANES]);

/* The sectors of some of its lanes alone. */
int shape_sectors(const Shape *shape, uint32_t lanes);

static inline int first_lane(uint32_t mask)
{
    return __builtin_ctz(mask);
}

#endif
