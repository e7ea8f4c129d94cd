/* feed.h - plays blocks on a thread of its own while the executor runs later blocks.
 *
 * The model of time does everything in the same order as without the thread. Where the executor
 * needs what the model knows, it waits until all its blocks so far are played (feed_wait).
 */
#ifndef SIM_TIME_FEED_H
#define SIM_TIME_FEED_H

#include "sim/time/play.h"

typedef struct Feed Feed;

/* Starts the threads that the GPU may use. `most`: blocks that may wait to be played. NULL: it may
 * use none, or none can be started, or the launch has an observer that other threads must not call.
 */
Feed *feed_open(Play *play, long most);
/* As play_begin and play_block, but later. */
void feed_begin(Feed *feed, BlockTrace *trace, const BlockStart *start);
void feed_block(Feed *feed, BlockTrace *trace);
void feed_wait(Feed *feed);
/* If `rest`: as play_rest. Then ends all threads. */
void feed_close(Feed *feed, bool rest);

#endif
