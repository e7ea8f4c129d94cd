/* backlog.h - the traces of a launch in little memory, in case that they must be played later. */
#ifndef SIM_TIME_BACKLOG_H
#define SIM_TIME_BACKLOG_H

#include "sim/time/play.h"

/* A block began or ended. */
typedef struct BacklogEvent {
    BlockStart start; /* if it began */
    long block;
    size_t at; /* bytes[at ..]: its trace, if it ended */
    bool ended;
} BacklogEvent;

typedef struct Backlog {
    BacklogEvent *events;
    unsigned char *bytes;
    long count, room;  /* of the events */
    size_t used, size; /* of the bytes */
} Backlog;

/* Both return false if out of memory; backlog_end also if all traces would have more than `most`
 * bytes. */
bool backlog_begin(Backlog *kept, const BlockTrace *trace, const BlockStart *start);
bool backlog_end(Backlog *kept, const BlockTrace *trace, size_t most);
/* Copies the first `count` events to an empty one; adds blocks that have begun. Both return false
 * if out of memory. */
bool backlog_copy(Backlog *kept, const Backlog *from, long count);
bool backlog_add(Backlog *kept, const Backlog *begun);
/* Copies the trace of a block that ended to an empty one. Returns false if out of memory. */
bool backlog_get(const Backlog *kept, const BacklogEvent *event, BlockTrace *trace);
void backlog_trim(Backlog *kept);          /* nothing follows: gives memory back */
size_t backlog_bytes(const Backlog *kept); /* that it occupies */
void backlog_free(Backlog *kept);

#endif
