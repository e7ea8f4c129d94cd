/* race.h - shared by the race checker's files: who accessed a word, and when two accesses race.
 * The method is described in race_order.c. */
#ifndef SIM_CHECK_RACE_H
#define SIM_CHECK_RACE_H

#include "sim/exec/access.h"

/* One access to a word: its last write, or the first of the reads that are not ordered with each
 * other. */
typedef struct Slot {
    uint32_t when; /* epoch of the thread's warp; 0: no access yet */
    uint32_t tag;  /* low 16 bits: the thread (WHO_...); high 16 bits: its race_site() */
} Slot;

/* The thread's number in its block, and whether other, unrecorded threads did the same. */
enum {
    WHO_THREAD = 0x3ff,
    WHO_SAME_WARP = 0x400, /* also other threads of that warp */
    WHO_OTHERS = 0x800,    /* also threads of other warps of the block */
    WHO_STRONG = 0x1000,   /* all accesses are atomics, or as strong as atomics */
    WHO_BLOCKS = 0x2000,   /* also threads of other blocks */
    WHO_MORE = WHO_SAME_WARP | WHO_OTHERS | WHO_BLOCKS,
    WHO_SHIFT = 0xc000, /* see RaceLine */
    WHO = 0xffff
};

static inline int slot_site(Slot slot)
{
    return (int) (slot.tag >> 16);
}

typedef struct RaceWord {
    Slot write, read;
} RaceWord;

/* A structure of arrays, so that vector code checks 8 words at a time. */
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

/* The access history of a block's shared memory. */
typedef struct SharedWords {
    size_t bytes;
    int log2_grain; /* bytes of a word: 4 or 1 */
    Pair pair[];
} SharedWords;

/* The access history of a line: 32 consecutive words of global memory. While whole warps access the
 * line in order, one Slot per side is enough. It records the thread that accessed word 0; the
 * number of the thread that accessed word i is higher by i >> shift (the WHO_SHIFT bits of the tag
 * hold the shift: 0, 1 or 2 for 4, 8 or 16 bytes per lane). Otherwise these bits are LINE_SPREAD,
 * and the other bits of the tag hold the number of a Side in the pool. */
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

/* A lane of the current access, and the earlier access that it races with. */
typedef struct Conflict {
    int lane;
    bool other_wrote; /* false: the earlier access read */
    bool unrecorded;  /* made by another thread than the slot's, at the same place in the code */
    bool one_warp;
    bool one_instruction; /* `lane` races with `other_lane` of the same instruction */
    int other_lane;
    Slot slot;
    int64_t block; /* number of the other block; -1: the same block; SOMEWHERE: unknown */
} Conflict;
#define SOMEWHERE INT64_MAX

typedef struct DeferredLoads DeferredLoads;

/* block->shared_races: the checker's state for a block. Reused for later blocks. */
typedef struct BlockRaces {
    struct BlockRaces *next; /* in the free list */
    SharedWords *words;
    int block_epoch;         /* block->epoch at the last check */
    uint32_t last_barrier;   /* the last epoch before the last barrier of the whole block */
    DeferredLoads *deferred; /* loads since then, none of which is recorded (race_defer.c) */
    int deferred_count;
    bool records_loads;          /* loads are recorded at once until the next such barrier */
    bool partial_sync;           /* since then, some warps have synchronised without the others */
    uint32_t now[WARPS_A_BLOCK]; /* current epoch of each warp */
    /* [v][w]: v is ordered after w's epochs up to this one */
    uint32_t seen[WARPS_A_BLOCK][WARPS_A_BLOCK];
    uint32_t released[WARPS_A_BLOCK]; /* epochs up to this one were released inside the block */
    uint32_t fenced; /* warps that have executed a fence since their last release */
    bool ever_fenced;
    /* For global memory. */
    bool fenced_for_all; /* the fence also applies to other blocks */
    uint32_t first;      /* first epoch of the block's newest segment; 0: none yet */
    uint32_t segment;    /* index of that segment + 1 */
    uint32_t acquired;   /* number of releases that the block has acquired */
} BlockRaces;

/* State of one warp access while its words are checked. */
typedef struct Visit {
    Access *x;
    BlockRaces *r;
    int warp;
    bool strong, is_global;
    bool observes;          /* an atomic whose result is used: ordered after earlier atomics */
    uint32_t now, site;     /* `site`: shifted into a tag */
    uint32_t ordered_until; /* epochs up to this one happen before the access */
    uint32_t before_block;  /* all later epochs belong to this block */
    bool all_foreign;       /* all epochs of this launch up to before_block belong to other blocks,
                             * of which none has released anything */
    int log2_grain;
    bool raced, same; /* `same`: the word already held the value that is written */
    Conflict conflict;
} Visit;

/* ---- Called by the observer (check.c), even when checks are off ---- */

void race_launch_begin(Launch *launch);
void race_launch_end(Launch *launch); /* frees */
void race_block_end(Block *block);    /* frees block->shared_races */
void race_barrier(Block *block, uint32_t warps);
void race_warp_sync(Warp *warp, uint32_t lanes);
void race_fence(Warp *warp, bool of_block);
void race_cluster(Block *block, bool leaves);
void race_global(Access *access);
void race_shared(Access *access);
/* load_again.c: see Observer. */
bool check_load_again(Warp *warp, const Step *step, const Shape *shape, const Allocation *a,
                      size_t at);
/* store_again.c: the same. */
bool check_store_again(Warp *warp, const Step *step, const Shape *shape, const Allocation *a,
                       size_t at);
/* written.c. Also marks the bytes that the access writes as written. */
void access_check_written(Access *access);

/* ---- race_order.c: blocks, warps, epochs ---- */

BlockRaces *race_of(Block *block); /* NULL: out of memory */
uint32_t race_next_epoch(void);
uint32_t race_last_epoch(void);
bool history_exhausted(void);             /* this launch has used all epoch numbers */
uint32_t race_site(const Access *access); /* the number of its step, shifted into a tag; 0: the
                                           * table of sites is full */
const Step *race_step(int site);          /* NULL: unknown */
bool race_observed(int site);             /* an atomic whose result is used */
/* Sets the fields that do not depend on the words. Returns false if out of memory. */
bool race_begin_visit(Visit *visit, Access *access);
/* The same for a load that race_begin_visit() has seen before; false also for one that counts as
 * strong. `x` is not set. */
bool race_begin_again(Visit *visit, const Warp *warp, const Step *step);
/* Releases and acquires inside the block, as strong accesses do. */
void race_hand_over(Visit *visit);

/* ---- race_rules.c: do two accesses race? ---- */

/* Checks the access of one lane to one word, and records it in one side of the word. `at`: the
 * word's byte address, comparable to access->address[lane]. */
void race_visit(Visit *visit, RaceWord *word, int lane, uint64_t at);
/* Checks whether lanes of one store write different values to the same address. */
bool race_in_instruction(Visit *visit);

/* ---- race_defer.c, race_shared.c ---- */

/* Notes a load of shared memory for later; `first`: the first lane's address. Returns false for
 * other accesses, and if it must be recorded now. */
bool race_defer(const Visit *visit, Warp *warp, const Step *step, const Shape *shape,
                uint32_t first);
/* Called before anything that changes how loads are recorded, or that they may race with. */
void race_record_deferred(BlockRaces *r);
/* Records a store of a full warp to consecutive bytes, `at` bytes into shared memory. Returns false
 * if the words must be visited one by one. */
bool race_shared_store(Visit *visit, const Shape *shape, size_t at);
/* Checks and records an access to shared memory. */
void race_shared_words(Visit *visit);

/* ---- race_words.c ---- */

/* Consecutive words `from` .. from + count - 1 of both sides, at most LINE. Word k belongs to lane
 * (skip + k) >> shift. */
typedef struct Words {
    Side *write, *read;
    int from, count, skip, shift;
    uint32_t followed; /* lanes whose words other lanes share */
} Words;

/* Record the plain loads or stores of these words by the visit's warp. Return the words that
 * race_visit() must check, one bit each; these are not changed. */
uint32_t race_load_words(const Visit *visit, const Words *words);
uint32_t race_store_words(const Visit *visit, const Words *words);

/* ---- race_global.c ---- */

void race_global_begin(void); /* at the start of a launch */
void race_global_end(void);
/* Completes race_begin_again(); false: the block has no segment yet, or another block ran. */
bool race_global_begin_again(Visit *visit);
/* The number of the block to which the epoch belongs; -1: this block. `*ordered`: that block's
 * writes (`wrote`) or reads in this epoch happen before the visit. */
int64_t race_foreign(const Visit *visit, uint32_t epoch, bool wrote, bool *ordered);
/* Whether any block of this launch has released its writes (`wrote`) or at least its reads. */
bool race_handed_over(bool wrote);

/* ---- race_pool.c: Sides for LINE_SPREAD lines ---- */

void pool_begin(void);
void pool_end(void);
Side *pool_side(uint32_t number);
Side *pool_take(uint32_t *number); /* NULL: the memory limit is reached */
/* Counts `bytes` of lines toward the memory limit. Returns false if they would exceed it. */
bool pool_spend(size_t bytes);

/* ---- race_report.c ---- */

void race_report(const Access *access, const Conflict *conflict);

#endif
