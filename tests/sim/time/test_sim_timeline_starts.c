/* test_sim_timeline_starts.c - how soon work starts: leads, queues, the device's front end. */
#include "rows.h"
#include "sim/sim_timeline.h"

/* ---- Leads ---- */

/* The overhead of a launch delays only its own stream. */
static void a_lead_keeps_no_engine(void)
{
    Program p = begin(2);
    TimelineJob late = job('K', 4);
    const int first = add(&p, 1);
    int second, third;

    late.lead_ps = late.follow_ps = 3 * us;
    timeline_done(p.items[first], &late);
    second = issue(&p, 2, 'K', 2);
    third = add(&p, 1);
    timeline_done(p.items[third], &late);
    timeline_play(p.timeline, NULL);
    ENDS(second, 2);
    ENDS(first, 7);
    ENDS(third, 14);
    finish(&p);
}

/* Work that waits behind work of its own engine starts sooner than work that the host has just
 * issued, and later behind work of another engine, of which a copy spends half on its engine. A
 * mark between them, such as an event, changes nothing, unless it is the host's. */
static void the_engine_before_decides_how_soon_work_starts(void)
{
    static const struct {
        char first, second;
        bool marked, by_host;
        double second_us;
    } rows[] = {
        { 'K', 'K', false, false, 7 + 1 + 4 },     { 'F', 'K', false, false, 7 + 1 + 4 },
        { 'U', 'U', false, false, 7 + 1 + 4 },     { 'U', 'K', false, false, 7 + 6 + 4 },
        { 'K', 'U', false, false, 7 + 3 + 3 + 4 }, { 'U', 'D', false, false, 7 + 3 + 3 + 4 },
        { 'K', 'K', true, false, 7 + 1 + 4 },      { 'U', 'K', true, false, 7 + 6 + 4 },
        { 'K', 'K', true, true, 7 + 3 + 4 }
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Program p = begin(2);
        TimelineJob first_job = job(rows[i].first, 4), second_job = job(rows[i].second, 4),
                    mark = job('M', 0);
        mark.on_host = rows[i].by_host;
        first_job.lead_ps = second_job.lead_ps = 3 * us;
        second_job.follow_ps = us;
        second_job.cross_ps = 6 * us;
        timeline_done(p.items[add(&p, 1)], &first_job);
        if (rows[i].marked)
            timeline_done(p.items[add(&p, 1)], &mark);
        const int second = add(&p, 1);
        timeline_done(p.items[second], &second_job);
        timeline_play(p.timeline, NULL);
        ENDS(second, rows[i].second_us);
        finish(&p);
    }
}

/* Others may use a copy's engine during the first half of its change from another engine. */
static void a_change_of_the_engine_occupies_the_new_one_by_half(void)
{
    Program p = begin(2);
    TimelineJob up = job('U', 4);
    int late, other;

    up.cross_ps = 6 * us;
    issue(&p, 1, 'K', 2);
    late = add(&p, 1);
    timeline_done(p.items[late], &up);
    other = issue(&p, 2, 'U', 5);
    timeline_play(p.timeline, NULL);
    ENDS(other, 5);
    ENDS(late, 5 + 3 + 4);
    finish(&p);
}

/* If work waits for a kernel and for the host, and both are there at the same time, the host has
 * issued it late. */
static void what_waits_for_the_host_does_not_follow(void)
{
    Program p = begin(2);
    TimelineJob piece = job('K', 4), mark = job('M', 4);
    const int first = issue(&p, 1, 'K', 4), host = add(&p, 2), second = add(&p, 1);

    mark.on_host = true;
    piece.lead_ps = 3 * us;
    timeline_done(p.items[host], &mark);
    timeline_after(p.items[second], p.items[host]);
    timeline_done(p.items[second], &piece);
    timeline_play(p.timeline, NULL);
    ENDS(first, 4);
    ENDS(second, 11);
    finish(&p);
}

/* ---- Queues ---- */

static int issue_in(Program *p, int queue, int stream, char row, double length_us)
{
    const int item = add(p, stream);

    timeline_queue(p->items[item], queue);
    done(p, item, row, length_us);
    return item;
}

/* Streams 1 and 2 share a queue. A kernel that runs does not hold up the next one; what waits for
 * it does, here a mark in its stream. */
static void what_waits_holds_up_its_queue(void)
{
    static const struct {
        int queues[2];
        bool marked;
        double second_us;
    } rows[] = { { { 0, 0 }, false, 4 }, { { 0, 0 }, true, 10 }, { { 0, 1 }, true, 4 } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Program p = begin(2);
        const int first = issue_in(&p, rows[i].queues[0], 1, 'k', 6);
        if (rows[i].marked)
            issue_in(&p, rows[i].queues[0], 1, 'M', 0);
        const int second = issue_in(&p, rows[i].queues[1], 2, 'k', 4);
        timeline_play(p.timeline, NULL);
        ENDS(first, 6);
        ENDS(second, rows[i].second_us);
        finish(&p);
    }
}

/* Stream 1 has work that is not executed before that of stream 2, which is behind it in a queue,
 * has been waited for. */
static void what_is_not_done_holds_up_nothing(void)
{
    Program p = begin(2);
    const int late = add(&p, 1);

    timeline_queue(p.items[late], 0);
    const int second = issue_in(&p, 0, 2, 'k', 4);
    wait_for(&p, second);
    ENDS(second, 4);
    done(&p, late, 'k', 3);
    timeline_play(p.timeline, NULL);
    ENDS(late, 7);
    finish(&p);
}

/* ---- The front end ---- */

/* Two small kernels in each of three queues: starts are 1 us apart, and 3 us more if the device
 * turns to another queue than the last two. It does so when these have nothing left. */
static void starts_take_turns(void)
{
    static const struct {
        int queue;
        double end_us;
    } rows[] = { { 0, 10 }, { 1, 11 }, { 2, 17 }, { 0, 12 }, { 1, 13 }, { 2, 18 } };
    Program p = begin(2);
    TimelineJob small = job('k', 10);

    small.use.blocks = 1;
    small.use.part[PART_WARPS] = 0.1;
    small.start_ps = us;
    small.switch_ps = 3 * us;
    for (size_t i = 0; i < COUNT(rows); i++) {
        TimelineItem *item = timeline_add(p.timeline, 0);
        timeline_keep(&p.items[p.count++], item);
        timeline_queue(item, rows[i].queue);
        timeline_done(item, &small);
    }
    timeline_play(p.timeline, NULL);
    for (size_t i = 0; i < COUNT(rows); i++)
        ENDS((int) i, rows[i].end_us);
    finish(&p);
}

static CU_TestInfo tests[] = {
    { "a lead does not occupy the engine", a_lead_keeps_no_engine },
    { "the engine before decides how soon work starts",
      the_engine_before_decides_how_soon_work_starts },
    { "a change of the engine occupies the new one by half",
      a_change_of_the_engine_occupies_the_new_one_by_half },
    { "work that waits for the host does not follow", what_waits_for_the_host_does_not_follow },
    { "what waits holds up its queue", what_waits_holds_up_its_queue },
    { "what is not done holds up nothing", what_is_not_done_holds_up_nothing },
    { "starts take turns", starts_take_turns },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_timeline_starts = {
    "test_sim_timeline_starts", NULL, NULL, NULL, NULL, tests
};
