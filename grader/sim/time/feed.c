/* feed.c - plays blocks on a thread of its own while the executor runs later blocks.
 *
 * The executor lists what the thread is to do. An executor that has to wait helps to play.
 */
#include "sim/time/feed.h"
#include "sim/base/thread.h"

#include <stdlib.h>

/* MOST_BYTES: of the traces that wait to be played, unless it is one. */
enum { MOST_BYTES = 64 << 20 };

typedef enum Task { BEGIN_BLOCK, PLAY_BLOCK, PLAY_REST } Task;

typedef struct Order {
    struct Order *next;
    Task task;
    BlockTrace *trace;
    BlockStart start;
    size_t bytes; /* of the trace, for PLAY_BLOCK */
} Order;

struct Feed {
    Play *play;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t listed;
    Order *first, **last, *spare;
    /* Of what is not done yet. Read without the lock. */
    long orders, blocks;
    size_t bytes;
    long most; /* blocks */
    bool ends;
};

/* ---- The thread ---- */

static void do_order(Play *play, const Order *order)
{
    switch (order->task) {
    case BEGIN_BLOCK:
        play_begin(play, order->trace, &order->start);
        break;
    case PLAY_BLOCK:
        play_block(play, order->trace);
        break;
    case PLAY_REST:
        play_rest(play);
        break;
    }
}

/* Counts a block that waits. Called with the lock. */
static void count(Feed *feed, const Order *order, int more)
{
    __atomic_fetch_add(&feed->blocks, (order->task == PLAY_BLOCK) * more, __ATOMIC_ACQ_REL);
    __atomic_fetch_add(&feed->bytes, order->bytes * (size_t) more, __ATOMIC_ACQ_REL);
}

/* Returns NULL at the end. Called with the lock. */
static Order *next_order(Feed *feed)
{
    Order *order;

    while (!feed->first && !feed->ends)
        pthread_cond_wait(&feed->listed, &feed->lock);
    order = feed->first;
    if (!order)
        return NULL;
    feed->first = order->next;
    if (!feed->first)
        feed->last = &feed->first;
    count(feed, order, -1);
    return order;
}

static void *work(void *self)
{
    Feed *feed = self;
    Order *order;

    pthread_mutex_lock(&feed->lock);
    while ((order = next_order(feed))) {
        pthread_mutex_unlock(&feed->lock);
        do_order(feed->play, order);
        pthread_mutex_lock(&feed->lock);
        __atomic_fetch_sub(&feed->orders, 1, __ATOMIC_ACQ_REL);
        order->next = feed->spare;
        feed->spare = order;
    }
    pthread_mutex_unlock(&feed->lock);
    return NULL;
}

/* ---- The executor ---- */

static bool is_idle(void *self)
{
    const Feed *feed = self;

    return !__atomic_load_n(&feed->orders, __ATOMIC_ACQUIRE);
}

static bool has_room(void *self)
{
    const Feed *feed = self;
    const long blocks = __atomic_load_n(&feed->blocks, __ATOMIC_ACQUIRE);

    return !blocks ||
           (blocks < feed->most && __atomic_load_n(&feed->bytes, __ATOMIC_ACQUIRE) < MOST_BYTES);
}

void feed_wait(Feed *feed)
{
    crew_help(feed->play->crew, is_idle, feed);
}

/* If out of memory, the caller does it itself, in its turn. */
static void list(Feed *feed, Order order)
{
    Order *to;

    pthread_mutex_lock(&feed->lock);
    to = feed->spare;
    if (to)
        feed->spare = to->next;
    pthread_mutex_unlock(&feed->lock);
    if (!to && !(to = malloc(sizeof *to))) {
        feed_wait(feed);
        do_order(feed->play, &order);
        return;
    }
    *to = order;
    pthread_mutex_lock(&feed->lock);
    *feed->last = to;
    feed->last = &to->next;
    __atomic_fetch_add(&feed->orders, 1, __ATOMIC_ACQ_REL);
    count(feed, to, 1);
    pthread_cond_signal(&feed->listed);
    pthread_mutex_unlock(&feed->lock);
}

void feed_begin(Feed *feed, BlockTrace *trace, const BlockStart *start)
{
    list(feed, (Order){ .task = BEGIN_BLOCK, .trace = trace, .start = *start });
}

void feed_block(Feed *feed, BlockTrace *trace)
{
    crew_help(feed->play->crew, has_room, feed);
    list(feed, (Order){ .task = PLAY_BLOCK, .trace = trace, .bytes = trace_bytes(trace) });
}

/* ---- Opening and closing ---- */

static void free_feed(Feed *feed)
{
    while (feed->spare) {
        Order *order = feed->spare;
        feed->spare = order->next;
        free(order);
    }
    if (feed->play->crew)
        crew_close(feed->play->crew);
    feed->play->crew = NULL;
    pthread_mutex_destroy(&feed->lock);
    pthread_cond_destroy(&feed->listed);
    free(feed);
}

Feed *feed_open(Play *play, long most)
{
    const int threads = play->gpu->threads;
    Feed *feed = threads > 1 && !play_is_observed(play->launch) ? calloc(1, sizeof *feed) : NULL;

    if (!feed)
        return NULL;
    feed->play = play;
    feed->most = most;
    feed->last = &feed->first;
    pthread_mutex_init(&feed->lock, NULL);
    pthread_cond_init(&feed->listed, NULL);
    play->crew = crew_open(threads - 2, play->gpu->device.sms);
    if (play->crew && thread_start(&feed->thread, work, feed))
        return feed;
    free_feed(feed);
    return NULL;
}

void feed_close(Feed *feed, bool rest)
{
    if (rest)
        list(feed, (Order){ .task = PLAY_REST });
    feed_wait(feed);
    pthread_mutex_lock(&feed->lock);
    feed->ends = true;
    pthread_cond_signal(&feed->listed);
    pthread_mutex_unlock(&feed->lock);
    pthread_join(feed->thread, NULL);
    free_feed(feed);
}
