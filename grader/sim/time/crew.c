/* crew.c - threads that do the parts of a piece of work together.
 *
 * Pieces of work take some microseconds and follow each other closely. So a thread without work
 * spins for a while before it sleeps. Each part has an owner, in whose processor's caches its data
 * is. Others do it only if its owner has not come, so the leader does not wait for a thread that
 * sleeps or does not run. The thread that helps at times, the guest, takes some parts of the
 * others. Threads without a part of their own sleep until there are more parts.
 */
#include "sim/time/crew.h"
#include "sim/base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* SPINS: about 50 microseconds, if no other thread wants the processor. */
enum { HOST_LINE = 64, PAUSES = 200, PATIENCE = 250, SPINS = 400 };

/* Each in its own line of the host's caches, since threads write it. */
typedef struct Counter {
    _Alignas(HOST_LINE) uint32_t n;
} Counter;

typedef struct Helper {
    Crew *crew;
    int number;
    pthread_t thread;
} Helper;

struct Crew {
    int most, helpers;
    Helper *helper;
    void (*part)(void *self, int i);
    void *self;
    Counter round, done, sleeping; /* round: number of the piece of work; done: parts of it */
    Counter guest, threads;        /* whether the guest helps now; threads in this round */
    Counter parts;                 /* of the work */
    Counter *claims;               /* by part: the last round in which a thread has taken it */
    Counter *arrived;              /* by thread: its last round */
    bool ends;
    pthread_mutex_t lock;
    pthread_cond_t called;
};

static uint32_t load(const Counter *counter)
{
    return __atomic_load_n(&counter->n, __ATOMIC_SEQ_CST);
}

static int parts_of(const Crew *crew)
{
    return (int) __atomic_load_n(&crew->parts.n, __ATOMIC_ACQUIRE);
}

/* For a loop that waits for another thread, which may need this processor. */
static void spin(int spins)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#endif
    if (spins > PAUSES)
        sched_yield();
}

/* ---- A round ---- */

static void try_part(Crew *crew, uint32_t round, int i)
{
    uint32_t before = round - 1;

    if (__atomic_load_n(&crew->claims[i].n, __ATOMIC_RELAXED) != before ||
        !__atomic_compare_exchange_n(&crew->claims[i].n, &before, round, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return;
    crew->part(crew->self, i);
    __atomic_fetch_add(&crew->done.n, 1, __ATOMIC_ACQ_REL);
}

/* The number of a part's owner. The leader has 0, and the guest the last number. */
static int owner_of(const Crew *crew, int i)
{
    const int always = crew->helpers + 1, threads = (int) load(&crew->threads);

    return threads > always && i % threads == always ? always : i % always;
}

static void do_round(Crew *crew, uint32_t round, int number)
{
    const int parts = parts_of(crew);

    __atomic_store_n(&crew->arrived[number].n, round, __ATOMIC_SEQ_CST);
    for (int i = 0; i < parts; i++)
        if (owner_of(crew, i) == number)
            try_part(crew, round, i);
    for (int i = 0; i < parts; i++)
        if (load(&crew->arrived[owner_of(crew, i)]) != round)
            try_part(crew, round, i);
}

/* The leader waits for the others. It does what a thread has not begun that came, but then lost its
 * processor. */
static void end_round(Crew *crew, uint32_t round)
{
    const int parts = parts_of(crew);

    for (int spins = 0; load(&crew->done) < (uint32_t) parts; spins++) {
        for (int i = 0; spins > PATIENCE && i < parts; i++)
            try_part(crew, round, i);
        spin(spins);
    }
}

static void wake(Crew *crew)
{
    if (!load(&crew->sleeping))
        return;
    pthread_mutex_lock(&crew->lock);
    pthread_cond_broadcast(&crew->called);
    pthread_mutex_unlock(&crew->lock);
}

/* A thread that is late, in an earlier round, finds no part that it could take: all of them appear
 * to have been done in the round before this one. */
static void set_parts(Crew *crew, int parts, uint32_t round)
{
    pthread_mutex_lock(&crew->lock);
    for (int i = 0; i < crew->most; i++)
        __atomic_store_n(&crew->claims[i].n, round - 1, __ATOMIC_RELAXED);
    __atomic_store_n(&crew->parts.n, (uint32_t) parts, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&crew->called);
    pthread_mutex_unlock(&crew->lock);
}

void crew_do(Crew *crew, int parts, void (*part)(void *self, int i), void *self)
{
    const uint32_t round = crew->round.n + 1;

    if (parts != parts_of(crew))
        set_parts(crew, parts, round);
    crew->part = part;
    crew->self = self;
    __atomic_store_n(&crew->threads.n, (uint32_t) crew->helpers + 1 + load(&crew->guest),
                     __ATOMIC_SEQ_CST);
    __atomic_store_n(&crew->done.n, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&crew->round.n, round, __ATOMIC_SEQ_CST);
    wake(crew);
    do_round(crew, round, 0);
    end_round(crew, round);
}

/* ---- Helpers ---- */

static bool has_parts(const Helper *helper)
{
    return helper->number < parts_of(helper->crew);
}

/* Until the next round, or until this changes: whether the thread has parts. */
static void sleep_until_called(const Helper *helper, uint32_t seen)
{
    Crew *crew = helper->crew;

    pthread_mutex_lock(&crew->lock);
    const bool works = has_parts(helper);
    __atomic_fetch_add(&crew->sleeping.n, works, __ATOMIC_SEQ_CST);
    while (works == has_parts(helper) && !(works && load(&crew->round) != seen) && !crew->ends)
        pthread_cond_wait(&crew->called, &crew->lock);
    __atomic_fetch_sub(&crew->sleeping.n, works, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&crew->lock);
}

static void *help(void *self)
{
    const Helper *helper = self;
    Crew *crew = helper->crew;
    uint32_t seen = 0;

    while (!__atomic_load_n(&crew->ends, __ATOMIC_ACQUIRE)) {
        for (int spins = 0; has_parts(helper) && load(&crew->round) == seen && spins < SPINS;)
            spin(++spins);
        if (!has_parts(helper) || load(&crew->round) == seen)
            sleep_until_called(helper, seen);
        if (!has_parts(helper) || load(&crew->round) == seen)
            continue;
        seen = load(&crew->round);
        do_round(crew, seen, helper->number);
    }
    return NULL;
}

void crew_help(Crew *crew, bool (*is_enough)(void *self), void *self)
{
    const struct timespec shortly = { .tv_nsec = 50000 };
    uint32_t seen = load(&crew->round);

    __atomic_store_n(&crew->guest.n, 1, __ATOMIC_SEQ_CST);
    for (int spins = 0; !is_enough(self); spins++) {
        const uint32_t round = load(&crew->round);
        if (round != seen) {
            do_round(crew, round, crew->helpers + 1);
            seen = round;
            spins = 0;
        } else if (spins < SPINS) {
            spin(spins);
        } else {
            nanosleep(&shortly, NULL);
        }
    }
    __atomic_store_n(&crew->guest.n, 0, __ATOMIC_SEQ_CST);
}

/* ---- Opening and closing ---- */

static void start_helpers(Crew *crew, int helpers)
{
    for (int i = 0; i < helpers; i++) {
        Helper *helper = &crew->helper[crew->helpers];
        *helper = (Helper){ .crew = crew, .number = i + 1 };
        if (!thread_start(&helper->thread, help, helper))
            break;
        crew->helpers++;
    }
}

static Counter *new_counters(int count)
{
    Counter *counters = aligned_alloc(HOST_LINE, (size_t) count * sizeof *counters);

    for (int i = 0; counters && i < count; i++)
        counters[i].n = 0;
    return counters;
}

Crew *crew_open(int helpers, int most)
{
    Crew *crew = aligned_alloc(HOST_LINE, sizeof *crew);

    if (!crew)
        return NULL;
    *crew = (Crew){ .most = most };
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->called, NULL);
    crew->helper = calloc((size_t) helpers + 1, sizeof *crew->helper);
    crew->claims = new_counters(most);
    crew->arrived = new_counters(helpers + 2);
    if (crew->helper && crew->claims && crew->arrived) {
        start_helpers(crew, helpers);
        return crew;
    }
    crew_close(crew);
    return NULL;
}

void crew_close(Crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    __atomic_store_n(&crew->ends, true, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&crew->called);
    pthread_mutex_unlock(&crew->lock);
    for (int i = 0; i < crew->helpers; i++)
        pthread_join(crew->helper[i].thread, NULL);
    free(crew->helper);
    free(crew->claims);
    free(crew->arrived);
    free(crew);
}
