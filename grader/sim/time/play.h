/* play.h - plays the blocks of a launch on all SMs. */
#ifndef SIM_TIME_PLAY_H
#define SIM_TIME_PLAY_H

#include "sim/time/crew.h"
#include "sim/time/model.h"
#include "sim/time/sample.h"
#include "sim/time/twins.h"

typedef struct Play {
    Gpu *gpu;
    Launch *launch;
    long blocks, placed;  /* of the launch; those that were given to an SM */
    int places;           /* for blocks, per SM */
    int *room;            /* by SM: number of free places */
    uint64_t *room_at;    /* [sm * places + n]: when free place n became free */
    uint64_t *starts;     /* of the played blocks, in the order in which they were placed */
    uint64_t *block_ends; /* in the order in which they were collected */
    long starts_room, collected;
    uint64_t horizon, ends;
    double next_start;   /* the cycle at which another block can begin */
    double place_cycles; /* that blocks spent in their places, summed */
    bool failed;         /* out of memory */
    int *played_sms;     /* those that no twin stands for; listed for so many groups */
    int played_count, listed_groups;
    Crew *crew;      /* NULL: SMs are played one after another */
    bool lists;      /* the SMs list their requests in the current turn (answers.h) */
    bool on_threads; /* that is played on several threads */
    AskedList asked;
    Sample sample;
    Twins twins;
    BlockTrace *waiting, **last; /* executed blocks that no SM has yet */
    long waits, wave;            /* number of these; of blocks for which all SMs have places */
    long compared;               /* blocks of bundles that were compared before */
    bool is_begun;               /* some have left the list: from then on each leaves it at once */
    BlockTrace *bundle[GROUP_SMS]; /* the next one */
    int bundled;
    long repeating;      /* blocks of twins that have not ended */
    uint64_t turn_began; /* the first cycle of the last turns */
    uint64_t issued;     /* instructions so far */
    pthread_mutex_t lock;
    BlockTrace *played; /* of blocks that have ended; taken by play_take */
} Play;

/* A block as it begins: the blocks that began before it, and the instructions executed by then. */
typedef struct BlockStart {
    long begun;
    uint64_t executed, most_played;
} BlockStart;

/* Begins a launch. `samples`: blocks may be left out. Returns false if out of memory. */
bool play_open(Play *play, Gpu *gpu, Launch *launch, int places, long blocks, bool samples);
void play_close(Play *play);
/* The executor has begun a block. */
void play_begin(Play *play, BlockTrace *trace, const BlockStart *start);
/* Gives an executed block to an SM, and plays all SMs until one has room for it. */
void play_block(Play *play, BlockTrace *trace);
/* Plays the blocks that are there to their end. */
void play_rest(Play *play);
/* The cycles of the blocks played if no SM lacked blocks before the end: at least as long as if
 * every place were occupied all the time; and as long as the SMs need for all instructions if each
 * issues them as fast as the fastest one did with all its places occupied. */
double play_even_cycles(const Play *play);
/* How the blocks played end if all of them take `cycles`. */
KernelTail play_tail(const Play *play, double cycles);
/* Whether an observer wants to know when blocks are played. */
bool play_is_observed(const Launch *launch);
/* The traces of blocks that have ended, for the caller. */
BlockTrace *play_take(Play *play);

#endif
