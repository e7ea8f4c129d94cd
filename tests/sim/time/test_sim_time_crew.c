/* test_sim_time_crew.c - threads that do the parts of a piece of work together. */
#include <CUnit/CUnit.h>

#include "sim/time/crew.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { MOST = 8, ROUNDS = 2000, PATIENCE_S = 20 };

/* ---- Each part is done once ---- */

static int done[MOST];

static void count(void *self, int i)
{
    (void) self;
    __atomic_fetch_add(&done[i], 1, __ATOMIC_RELAXED);
}

static bool is_over(void *self)
{
    return __atomic_load_n((bool *) self, __ATOMIC_ACQUIRE);
}

typedef struct Guest {
    Crew *crew;
    bool over;
} Guest;

static void *help(void *self)
{
    Guest *guest = self;

    crew_help(guest->crew, is_over, &guest->over);
    return NULL;
}

/* Returns the number of parts that were not done exactly once. */
static int round_of(Crew *crew, int parts)
{
    int wrong = 0;

    for (int i = 0; i < MOST; i++)
        done[i] = 0;
    crew_do(crew, parts, count, NULL);
    for (int i = 0; i < MOST; i++)
        wrong += done[i] != (i < parts);
    return wrong;
}

/* The number of parts stays the same for some rounds, and then changes: threads without a part
 * begin to sleep, and threads that sleep get one. */
static void each_part_is_done_once(void)
{
    static const int parts[] = { 2, 8, 1, 5, 3 };
    enum { CHANGES = sizeof parts / sizeof *parts, FEW = 50 };

    for (int helpers = 0; helpers <= 4; helpers++) {
        Guest guest = { .crew = crew_open(helpers, MOST) };
        pthread_t thread;
        int wrong = 0;
        CU_ASSERT_FATAL(guest.crew != NULL);
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, help, &guest), 0);
        for (int i = 0; i < ROUNDS; i++)
            wrong += round_of(guest.crew, parts[i / FEW % CHANGES]);
        __atomic_store_n(&guest.over, true, __ATOMIC_RELEASE);
        pthread_join(thread, NULL);
        crew_close(guest.crew);
        CU_ASSERT_EQUAL(wrong, 0);
    }
}

/* ---- Parts are done at the same time ---- */

static int begun, together;

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

/* Waits for the other part, so one thread alone can't do both. */
static void meet(void *self, int i)
{
    const double until = seconds() + *(const double *) self;

    (void) i;
    __atomic_fetch_add(&begun, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) < 2 && seconds() < until)
        sched_yield();
    __atomic_fetch_add(&together, __atomic_load_n(&begun, __ATOMIC_ACQUIRE) == 2, __ATOMIC_ACQ_REL);
}

static bool do_they_meet(Crew *crew, double seconds_most)
{
    begun = together = 0;
    crew_do(crew, 2, meet, &seconds_most);
    return together == 2;
}

/* Two SMs were played, numbers 2 and 6 of eight parts; of two or three threads, the leader owned
 * both, and the other threads waited. */
static void two_parts_have_two_owners(void)
{
    for (int helpers = 1; helpers <= 3; helpers++) {
        Crew *crew = crew_open(helpers, MOST);
        CU_ASSERT_FATAL(crew != NULL);
        CU_ASSERT_TRUE(do_they_meet(crew, PATIENCE_S));
        crew_close(crew);
    }
}

static void a_guest_owns_one_of_two_parts(void)
{
    const double until = seconds() + PATIENCE_S;
    Guest guest = { .crew = crew_open(0, MOST) };
    pthread_t thread;
    bool met = false;

    CU_ASSERT_FATAL(guest.crew != NULL);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, help, &guest), 0);
    while (!met && seconds() < until) /* the guest comes at some time */
        met = do_they_meet(guest.crew, 0.1);
    __atomic_store_n(&guest.over, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    crew_close(guest.crew);
    CU_ASSERT_TRUE(met);
}

static CU_TestInfo tests[] = {
    { "each part is done once, however many there are", each_part_is_done_once },
    { "two parts have two owners", two_parts_have_two_owners },
    { "a guest owns one of two parts", a_guest_owns_one_of_two_parts },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_crew = { "test_sim_time_crew", NULL, NULL, NULL, NULL, tests };
