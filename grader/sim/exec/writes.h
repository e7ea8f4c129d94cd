/* writes.h - lists what blocks write to global memory, to be done later in the same order. */
#ifndef SIM_EXEC_WRITES_H
#define SIM_EXEC_WRITES_H

#include "sim/exec/access.h"

typedef struct Writes {
    uint8_t *list;
    size_t used, room;
    bool incomplete; /* out of memory */
} Writes;

/* The value that takes the place of `old`. */
typedef uint64_t Update(uint64_t old, uint64_t b, uint64_t c);

/* Lists a store that has been opened. */
void writes_store(Writes *writes, const Access *access);
/* Lists an atomic of one lane whose result is not used, on `bytes` at most 8. */
void writes_update(Writes *writes, char *at, size_t bytes, Update *update, uint64_t b);
/* Does all that is listed, and empties the list. */
void writes_do(Writes *writes);
void writes_free(Writes *writes);

#endif
