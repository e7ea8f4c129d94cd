/* chunk.h - blocks that run ahead together (ahead.h), and what they have done. */
#ifndef SIM_EXEC_CHUNK_H
#define SIM_EXEC_CHUNK_H

#include "sim/exec/ahead.h"
#include "sim/exec/walk.h"

#include <pthread.h>

enum { MOST_IN_CHUNK = 32, MOST_USED = 64 };

/* Allocations that blocks have read or written. */
typedef struct UsedList {
    const Allocation *of[MOST_USED];
    int count;
    bool is_full;
} UsedList;

void used_add(UsedList *list, const Allocation *a);
bool used_overlap(const UsedList *one, const UsedList *other);

/* The launch's own walk knows the states. */
typedef struct ChunkWalk {
    Walk walk; /* first */
    Walk *of;
    pthread_mutex_t *lock;
} ChunkWalk;

typedef struct Chunk {
    long first;
    int count;
    Launch launch; /* with its own counters */
    ChunkWalk walk;
    BlockTrace *traces[MOST_IN_CHUNK];
    uint64_t executed[MOST_IN_CHUNK]; /* by block */
    Writes writes;
    UsedList read, written; /* by its thread, in this chunk and earlier ones */
    bool is_done;           /* under the lock of Ahead */
} Chunk;

/* What a thread needs to run chunks. */
typedef struct AheadThread {
    Shapes *shapes;
    Block block;
    bool is_open; /* `block` is */
    UsedList read, written;
    Chunk *chunk; /* that it runs */
} AheadThread;

bool chunk_open(Chunk *chunk, const Launch *launch, pthread_mutex_t *lock);
void chunk_close(Chunk *chunk);
/* `model`: the launch as it is when nothing runs; `most`: warp instructions of the chunk. */
void chunk_run(Chunk *chunk, AheadThread *thread, const Launch *model, uint64_t most);
/* Whether it may be taken over after chunks that wrote this. */
bool chunk_is_usable(const Chunk *chunk, const Launch *launch, const UsedList *written);
/* Adds the counters and does the writes. */
void chunk_add(Chunk *chunk, Launch *launch);

bool ahead_thread_open(AheadThread *thread);
void ahead_thread_close(AheadThread *thread);

#endif
