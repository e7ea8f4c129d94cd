/* races.h - what the files of races share: who touched a word, and how two accesses meet. How it
 * all works: races.c. */
#ifndef SIM_CHECK_RACES_H
#define SIM_CHECK_RACES_H

#include "sim/exec/access.h"

/* One access to a word: its last write, or the first read of those that nothing orders. */
typedef struct Slot {
    uint32_t when; /* a moment of its warp; 0: never */
    uint32_t tag;  /* who, and 16 bits further: where, by races_site() */
} Slot;

/* Who: a thread of its block, and whether others did the same that are not written down. */
enum {
    WHO_THREAD = 0x3ff,
    WHO_SAME_WARP = 0x400, /* others of that warp, too */
    WHO_OTHERS = 0x800,    /* others of other warps of the block */
    WHO_STRONG = 0x1000,   /* all of them atomics, or as strong as such */
    WHO_BLOCKS = 0x2000,   /* others of other blocks */
    WHO_MORE = WHO_SAME_WARP | WHO_OTHERS | WHO_BLOCKS,
    WHO_SHIFT = 0xc000, /* of a line: see below */
    WHO = 0xffff
};

static inline int slot_site(Slot slot)
{
    return (int) (slot.tag >> 16);
}

typedef struct Word {
    Slot write, read;
} Word;

/* Side by side, so that 8 words are looked at at once. */
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

/* Of global memory a line of 32 words has one Slot a side, as long as whole warps use it in order:
 * the slot's thread is that of word 0, and word i's is i >> shift further (shift: the tag's bits of
 * WHO_SHIFT; 4, 8 or 16 bytes a lane are 0, 1, 2). Else it is LINE_SPREAD: the tag's other bits
 * then number a Side of the pool. */
typedef struct Line {
    Slot side[2]; /* writes, reads */
} Line;
enum { WRITES, READS };
#define LINE_SPREAD 0xc000u

typedef struct GlobalWords {
    size_t bytes;
    int log2_grain;
    Line line[];
} GlobalWords;

/* The other side of a race. */
typedef struct Meeting {
    int lane;         /* of this side */
    bool other_wrote; /* or read */
    bool somebody;    /* not the slot's thread, but others at the same place */
    bool one_warp;
    bool at_once; /* by lanes of one instruction: `other_lane` */
    int other_lane;
    Slot slot;
    int64_t block; /* global: number of the other block; -1: of the same; or SOMEWHERE */
} Meeting;
#define SOMEWHERE INT64_MAX

/* block->shared_races: a block's view. Kept for the next block when it ends. */
typedef struct BlockRaces {
    struct BlockRaces *next; /* of those that are free */
    SharedWords *words;
    int epoch;     /* of the block, when it was last looked at */
    uint32_t full; /* the last moment before the last barrier of all */
    bool parts;    /* since then, some warps have met without the others */
    uint32_t now[WARPS_A_BLOCK];
    uint32_t seen[WARPS_A_BLOCK][WARPS_A_BLOCK]; /* [v][w]: what v knows of w to be over */
    uint32_t handed[WARPS_A_BLOCK];              /* what a hand-over inside the block covers */
    uint32_t fenced;                             /* warps that have, since they last handed over */
    bool ever_fenced;
    /* Of global memory. */
    bool fenced_for_all; /* for other blocks, too */
    uint32_t first;      /* moment of its newest segment; 0: none yet */
    uint32_t segment;    /* that, as 1 + index */
    uint32_t acquired;   /* how many hand-overs it knows of */
} BlockRaces;

/* What one access of a warp carries through its words. */
typedef struct Visit {
    Access *x;
    BlockRaces *r;
    int warp;
    bool strong, is_global;
    bool observes;      /* an atomic whose answer is used: it has seen those before it */
    uint32_t now, site; /* the site's bits in a tag */
    uint32_t old;       /* moments up to it are over for everybody */
    uint32_t mine;      /* those after it are of this block */
    int log2_grain;
    bool met, same; /* `same`: it wrote what was there */
    Meeting meeting;
} Visit;

/* ---- What the observer calls (check.c); all may be called with checks off ---- */

void races_launch_begin(Launch *launch);
void races_launch_end(Launch *launch); /* frees */
void races_block_end(Block *block);    /* frees block->shared_races */
void races_barrier(Block *block, uint32_t warps);
void races_warp_sync(Warp *warp, uint32_t lanes);
void races_fence(Warp *warp, bool of_block);
void races_global(Access *access);
void races_shared(Access *access);
void access_check_written(Access *access); /* written.c: and marks what it writes */

/* ---- races.c: blocks, warps, moments ---- */

BlockRaces *races_of(Block *block); /* NULL: no memory for it */
uint32_t races_moment(void);        /* the next one */
uint32_t races_last_moment(void);
bool history_exhausted(void);                         /* no moments are left in this launch */
uint32_t races_site(const Access *access);            /* its step's bits in a tag; 0: too many */
const Step *race_step(int site);                      /* NULL: not known */
bool race_observed(int site);                         /* its atomics' answers are used */
bool races_begin_visit(Visit *visit, Access *access); /* but for old and mine; false: no memory */
/* Strong accesses hand over, and take over, inside the block. */
void races_hand_over(Visit *visit);

/* ---- race_rules.c: do two accesses race? ---- */

/* `at`: the word's place in bytes, as the lane's address is. Changes one side of it. */
void race_visit(Visit *visit, Word *word, int lane, uint64_t at);
bool race_at_once(Visit *visit); /* lanes of one store meet */

/* ---- races_global.c ---- */

void races_global_begin(void); /* a launch */
void races_global_end(void);
/* The block that a moment is of, if it is none of `mine`, and whether what it did then was handed
 * over to it: what it wrote, or only what it read; -1: it is of mine. */
int64_t races_foreign(const Visit *visit, uint32_t moment, bool wrote, bool *ordered);
bool races_handed_over(bool wrote); /* has any block, in this launch, what it wrote, or anything? */

/* ---- race_pool.c: Sides for lines of global memory that need them ---- */

void pool_begin(void);
void pool_end(void);
Side *pool_side(uint32_t number);
Side *pool_take(uint32_t *number); /* NULL: what may be spent is spent */
/* So many bytes go to lines; false: too many. */
bool pool_spend(size_t bytes);

/* ---- race_tell.c ---- */

void race_tell_shared(const Access *access, const Meeting *meeting);
void race_tell_global(const Access *access, const Meeting *meeting);

#endif
