/* migration.h - where the parts of managed memory are, and what moving them costs.
 *
 * The driver moves chunks of 64 KB between host and device when one of them touches what the other
 * has used last. Its cost is per block of 2 MB of addresses and per chunk.
 */
#ifndef SIM_TIME_MIGRATION_H
#define SIM_TIME_MIGRATION_H

#include "sim/device/device.h"
#include "sim/time/digest.h"

typedef enum ChunkPlace { NOWHERE, ON_HOST, ON_DEVICE, ON_BOTH } ChunkPlace;

typedef struct Chunk {
    uint8_t place;
    bool reads_mostly, prefers_host; /* as advised */
    bool was_there; /* before it was advised to be mostly read, and not written since */
    Digest content; /* of one that is mostly read, when it was last used: whether it was written */
} Chunk;

/* Of an allocation. */
typedef struct Chunks {
    const char *at; /* its bytes */
    size_t bytes, count;
    Chunk chunk[];
} Chunks;

typedef struct Migration {
    double us, bytes; /* bytes: moved over the link */
    /* Whether there is a chunk that was on the host; one in a block that is partly on the device.
     */
    bool faults, splits;
} Migration;

/* From one malloc. NULL: out of memory. */
Chunks *chunks_new(const void *at, size_t bytes);
/* The chunks were used, as pages_used() tells. chunks_copied: by a copy or a fill, whose own time
 * is all that it takes. */
void chunks_host_used(Chunks *chunks, const bool *used);
void chunks_copied(Chunks *chunks, const bool *used);
/* Adds what the kernel waits for to the sum over its allocations. migration_first_faults: adds what
 * is once per kernel. */
void chunks_kernel_used(Chunks *chunks, const bool *used, const Device *device, Migration *sum);
void migration_first_faults(Migration *sum, const Device *device);
/* Hints for chunks first .. end - 1. chunks_prefetch, chunks_take_back: they move to the device, to
 * the host. */
Migration chunks_prefetch(Chunks *chunks, size_t first, size_t end, const Device *device);
Migration chunks_take_back(Chunks *chunks, size_t first, size_t end, const Device *device);
void chunks_read_mostly(Chunks *chunks, size_t first, size_t end, bool on);
void chunks_prefer_host(Chunks *chunks, size_t first, size_t end, bool on);
/* Whether kernels access the allocation on the host: all of it prefers that, and none of it is on
 * the device. */
bool chunks_stay(const Chunks *chunks);

#endif
