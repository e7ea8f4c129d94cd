/* race.h - shared by the race checker's files: who accessed a word, and when two accesses race.
 * The method is described in race_order.c. */
#ifndef SIM_CHECK_RACE_H
#define SIM_CHECK_RACE_H

#include "sim/exec/access.h"

/* One access to a word: its last write, or the first of the reads that are not ordered with each
 * other. */
typedef struct Slot {
    uint32_t when; /* a moment of its warp; 0: no access yet */
    uint32_t tag;  /* the thread (WHO_...), and 16 bits higher the place in the code, by
                    * race_site() */
} Slot;

/* The thread within its block, and whether others that are not recorded did the same. */
enum {
    WHO_THREAD = 0x3ff,
    WHO_SAME_WARP = 0x400, /* other threads of that warp, too */
    WHO_OTHERS = 0x800,    /* threads of other warps of the block, too */
    WHO_STRONG = 0x1000,   /* all of them atomics, or as strong as atomics */
    WHO_BLOCKS = 0x2000,   /* threads of other blocks, too */
    WHO_MORE = WHO_SAME_WARP | WHO_OTHERS | WHO_BLOCKS,
    WHO_SHIFT = 0xc000, /* of a line: see below */
    WHO = 0xffff
};

static inline int slot_site(Slot slot)
{
    return (int) (slot.tag >> 16);
}

typedef struct RaceWord {
    Slot write, read;
} RaceWord;

/* Side by side, so that 8 words are checked at once. */
enum { LINE = 32 };
typedef struct Side {
    uint32_t when[LINE], tag[LINE];
} Side;

typedef struct Pair {
    Side write, read;
} Pair;

static inline Slot side_get(const Side *side, int i)
{
    return (Slot){ side->when[i], side->tag[i] };
}

static inline void side_put(Side *side, int i, Slot slot)
{
    side->when[i] = slot.when;
    side->tag[i] = slot.tag;
}

/* The words of a block's shared memory. */
typedef struct SharedWords {
    size_t bytes;
    int log2_grain; /* bytes of a word: 4 or 1 */
    Pair pair[];
} SharedWords;

/* A line of 32 words of global memory has one Slot per side, as long as whole warps access it in
 * order: the slot's thread is that of word 0, and the thread of word i is i >> shift higher
 * (shift: the tag's bits of WHO_SHIFT; 4, 8 or 16 bytes per lane are shifts 0, 1, 2). Otherwise
 * it is LINE_SPREAD: the tag's other bits are then the number of a Side in the pool. */
typedef struct RaceLine {
    Slot side[2]; /* writes, reads */
} RaceLine;
enum { WRITES, READS };
#define LINE_SPREAD 0xc000u

typedef struct GlobalWords {
    size_t bytes;
    int log2_grain;
    RaceLine line[];
} GlobalWords;

/* The other side of a race. */
typedef struct Meeting {
    int lane;         /* of this side */
    bool other_wrote; /* false: it read */
    bool somebody;    /* not the slot's thread, but another one at the same place in the code */
    bool one_warp;
    bool at_once; /* the lanes of one instruction race with each other: see `other_lane` */
    int other_lane;
    Slot slot;
    int64_t block; /* global memory: number of the other block; -1: the same block; or SOMEWHERE */
} Meeting;
#define SOMEWHERE INT64_MAX

/* block->shared_races: what the checker knows of a block. Reused for the next block. */
typedef struct BlockRaces {
    struct BlockRaces *next; /* in the list of free ones */
    SharedWords *words;
    int epoch;     /* of the block, at the last check */
    uint32_t full; /* the last moment before the last barrier of the whole block */
    bool parts;    /* since then, some warps have synchronised without the others */
    uint32_t now[WARPS_A_BLOCK];
    uint32_t seen[WARPS_A_BLOCK][WARPS_A_BLOCK]; /* [v][w]: the moment of w up to which v is
                                                  * ordered after w */
    uint32_t handed[WARPS_A_BLOCK];              /* the moments that a hand-over inside the block
                                                  * covers */
    uint32_t fenced;                             /* warps that have executed a fence since their
                                                  * last hand-over */
    bool ever_fenced;
    /* For global memory. */
    bool fenced_for_all; /* the fence also applies to other blocks */
    uint32_t first;      /* moment of its newest segment; 0: none yet */
    uint32_t segment;    /* that segment's index + 1 */
    uint32_t acquired;   /* number of hand-overs it has acquired */
} BlockRaces;

/* State of one warp access while its words are checked. */
typedef struct Visit {
    Access *x;
    BlockRaces *r;
    int warp;
    bool strong, is_global;
    bool observes;      /* an atomic whose result is used: it is ordered after the earlier ones */
    uint32_t now, site; /* the site's bits in a tag */
    uint32_t old;       /* moments up to this one are ordered before everything */
    uint32_t mine;      /* later moments than this one belong to this block */
    int log2_grain;
    bool met, same; /* `same`: it wrote the value that was there */
    Meeting meeting;
} Visit;

/* ---- Called by the observer (check.c), also when checks are off ---- */

void race_launch_begin(Launch *launch);
void race_launch_end(Launch *launch); /* frees */
void race_block_end(Block *block);    /* frees block->shared_races */
void race_barrier(Block *block, uint32_t warps);
void race_warp_sync(Warp *warp, uint32_t lanes);
void race_fence(Warp *warp, bool of_block);
void race_global(Access *access);
void race_shared(Access *access);
void access_check_written(Access *access); /* written.c: also marks what the access writes as
                                            * written */

/* ---- race_order.c: blocks, warps, moments ---- */

BlockRaces *race_of(Block *block); /* NULL: out of memory */
uint32_t race_moment(void);        /* the next one */
uint32_t race_last_moment(void);
bool history_exhausted(void);                        /* no moments are left in this launch */
uint32_t race_site(const Access *access);            /* its step's bits in a tag; 0: too many */
const Step *race_step(int site);                     /* NULL: unknown */
bool race_observed(int site);                        /* the results of its atomics are used */
bool race_begin_visit(Visit *visit, Access *access); /* sets all but old and mine; false: out of
                                                      * memory */
/* Strong accesses release and acquire inside the block. */
void race_hand_over(Visit *visit);

/* ---- race_rules.c: do two accesses race? ---- */

/* `at`: the word's byte address, in the same form as the lane's. Updates one side of the word. */
void race_visit(Visit *visit, RaceWord *word, int lane, uint64_t at);
bool race_at_once(Visit *visit); /* lanes of one store write the same word */

/* ---- race_global.c ---- */

void race_global_begin(void); /* a launch */
void race_global_end(void);
/* The block that a moment belongs to if it is not one of `mine`; -1: it is of this block.
 * `ordered`: whether what that block wrote then (or only read) was handed over to this block. */
int64_t race_foreign(const Visit *visit, uint32_t moment, bool wrote, bool *ordered);
bool race_handed_over(bool wrote); /* has any block in this launch handed over what it wrote
                                    * (or, if not `wrote`, anything)? */

/* ---- race_pool.c: Sides for lines of global memory that need them ---- */

void pool_begin(void);
void pool_end(void);
Side *pool_side(uint32_t number);
Side *pool_take(uint32_t *number); /* NULL: the memory limit is reached */
/* Reserves this many bytes for lines; false: over the limit. */
bool pool_spend(size_t bytes);

/* ---- race_report.c ---- */

void race_report_shared(const Access *access, const Meeting *meeting);
void race_report_global(const Access *access, const Meeting *meeting);

#endif
