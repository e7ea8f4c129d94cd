/* shape.h - the address pattern of one access, and its cost on hardware. */
#ifndef SIM_EXEC_SHAPE_H
#define SIM_EXEC_SHAPE_H

#include "sim/exec/exec.h"

/* Compiles a function twice; the version is chosen by processor when the library is loaded. For
 * integer code only. (With clang 14, such functions cannot be called from another file.) */
#if defined __x86_64__ && !defined __clang__
#define WITH_AVX2 __attribute__((target_clones("avx2", "default")))
#else
#define WITH_AVX2
#endif

enum { SECTOR_BYTES = 32, SECTORS = 4, LINE_BYTES = SECTORS * SECTOR_BYTES };

typedef enum AccessKind { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC } AccessKind;

typedef struct Shape {
    /* The key of the cache. */
    uint32_t step; /* the step's number */
    uint32_t mask;
    uint8_t bytes; /* per lane */
    uint8_t kind, space;
    uint8_t start; /* offset of the first active lane in its sector; for shared memory, modulo 4 or
                      `bytes`, whichever is larger */
    _Alignas(64) uint64_t delta[LANES]; /* from the first active lane; 0 for inactive lanes */
    /* Derived from the key. */
    int64_t low, high; /* of delta */
    bool aligned;      /* each lane is aligned to `bytes` */
    bool linear;       /* all lanes are active, with consecutive addresses in lane order */
    bool uniform;      /* all lanes have the same address */
    uint32_t leaders;  /* the first lane at each address */
    uint32_t followed; /* leaders whose address other lanes share */
    int asked;         /* bytes requested by all active lanes */
    int sectors;
    int wavefronts, ideal, loop_loads, loop_ideal;
    int rounds,
        round_lanes; /* rounds of the loop after the first, and the lanes waiting in them, summed */
} Shape;

/* The shape of an access to global or shared memory, valid until the next call. Addresses of
 * inactive lanes are ignored. */
const Shape *shape_of(const Step *step, Space space, AccessKind kind, uint32_t mask, int bytes,
                      const uint64_t address[LANES]);

/* The number of sectors for a subset of the lanes. */
int shape_sectors(const Shape *shape, uint32_t lanes);

static inline int first_lane(uint32_t mask)
{
    return __builtin_ctz(mask);
}

#endif
