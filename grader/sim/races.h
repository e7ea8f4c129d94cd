/* races.h - what races.c and race_tell.c share: who touched a word, and how two accesses meet. */
#ifndef SIM_RACES_H
#define SIM_RACES_H

#include "access.h"

/* One access: the last write, or the first read since the last synchronisation. `who` is the thread
 * in its block, and whether others did the same that are not written down here. */
typedef struct Slot {
    uint32_t when; /* shared: a moment of the warp; global: a segment. 0: never */
    uint16_t who;
    uint16_t site; /* where: see race_site() */
} Slot;

enum {
    WHO_THREAD = 0x3ff,
    WHO_SAME_WARP = 0x400, /* others of that warp, too */
    WHO_OTHERS = 0x800,    /* others of other warps; global: of other blocks */
    WHO_ATOMIC = 0x1000    /* all of them atomics, or as strong as such */
};

typedef struct Cell {
    Slot write, read;
} Cell;

/* The other side of a race. */
typedef struct Meeting {
    int lane;         /* of this side */
    bool other_wrote; /* or read */
    bool somebody;    /* not the slot's thread, but others at the same place */
    bool one_warp;
    bool at_once; /* by lanes of one instruction: `other_lane` */
    int other_lane;
    Slot slot;
    int64_t block; /* global: number of the other block */
} Meeting;

enum { OLDEST_TO_KEEP = 1 << 30 }; /* numbers of moments and segments; then they begin anew */

typedef struct Cells {
    size_t bytes;
    int log2_grain; /* bytes of a cell: 4 or 1 */
    Cell cell[];
} Cells;

/* block->shared_races: a block's view. Kept for the next block when it ends. */
typedef struct BlockRaces {
    struct BlockRaces *next; /* of those that are free */
    Cells *cells;
    int epoch;     /* of the block, when it was last looked at */
    uint32_t full; /* the last moment before the last barrier of all */
    bool parts;    /* there were barriers of some warps only */
    uint32_t now[WARPS_A_BLOCK];
    uint32_t seen[WARPS_A_BLOCK][WARPS_A_BLOCK];
    uint32_t segment;
    uint32_t acquired; /* how many hand-overs it knows of */
    bool fenced;
} BlockRaces;

/* What one access of a warp carries through its cells. */
typedef struct Visit {
    Access *x;
    BlockRaces *r;
    int warp;
    uint16_t site;
    bool met;
    Meeting meeting;
    Allocation *allocation; /* global: that of the lane before, and its cells */
    Cells *cells;
} Visit;

/* races.c */
BlockRaces *races_of(Block *block); /* NULL: no memory for it */
int races_site(const Step *step);   /* 0: too many */
const Step *race_step(int site);    /* NULL: not known */
/* The cells of memory of so many bytes, fine enough for accesses of `width`; NULL: no memory. */
Cells *races_cells(Cells **place, size_t bytes, int width);
int races_follower(const Access *access, int leader);       /* the next lane at its address */
bool races_at_once(const Access *access, Meeting *meeting); /* lanes of one store meet */

/* races_global.c */
void races_new_segments(void);

/* race_tell.c */
void race_tell_shared(const Access *access, const Meeting *meeting);
void race_tell_global(const Access *access, const Meeting *meeting);

#endif
