/* test_sim_timeline.c - when work runs: small timelines, scheduled by hand. */
#include "capture.h"
#include "rows.h"
#include "sim/report/report.h"
#include "sim/report/totals.h"
#include "sim/sim_timeline.h"

#include <stdio.h>
#include <string.h>

/* ---- Streams and engines ---- */

/* Items of one stream run one after the other. */
static void a_stream_is_a_queue(void)
{
    Program p = begin(2);
    const int up = issue(&p, 1, 'U', 3), kernel = issue(&p, 1, 'K', 5), down = issue(&p, 1, 'D', 2);

    timeline_play(p.timeline, NULL);
    ENDS(up, 3);
    ENDS(kernel, 8);
    ENDS(down, 10);
    finish(&p);
}

/* Stages of 2, 3 and 1 us in two streams; the second stream is one chunk later:
 *     U 1122
 *     K   111222
 *     D      1  2 */
static void two_streams_overlap(void)
{
    Program p = begin(2);
    int down[2];

    for (int s = 0; s < 2; s++) {
        issue(&p, s + 1, 'U', 2);
        issue(&p, s + 1, 'K', 3);
        down[s] = issue(&p, s + 1, 'D', 1);
    }
    timeline_play(p.timeline, NULL);
    ENDS(down[0], 6);
    ENDS(down[1], 9);
    finish(&p);
}

/* Four chunks with equal stages take 12, 7 and 6 us with 1, 2 and 3 buffers. */
static void as_many_chunks_as_buffers_are_on_their_way(void)
{
    static const struct {
        int buffers;
        double us;
    } rows[] = { { 1, 12 }, { 2, 7 }, { 3, 6 } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Program p = begin(2);
        int last = 0;
        for (int chunk = 0; chunk < 4; chunk++) {
            const int stream = chunk % rows[i].buffers;
            issue(&p, stream, 'U', 1);
            issue(&p, stream, 'K', 1);
            last = issue(&p, stream, 'D', 1);
        }
        timeline_play(p.timeline, NULL);
        ENDS(last, rows[i].us);
        finish(&p);
    }
}

/* U 4 and D 4 in two streams run one after the other if one engine, or only the SMs, must copy
 * both. */
static void copy_engines_are_by_direction(void)
{
    static const struct {
        int engines;
        double down, kernel;
    } rows[] = { { 3, 4, 5 }, { 2, 4, 5 }, { 1, 8, 5 }, { 0, 8, 13 } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Program p = begin(rows[i].engines);
        const int up = issue(&p, 1, 'U', 4), down = issue(&p, 2, 'D', 4),
                  kernel = issue(&p, 3, 'K', 5);
        timeline_play(p.timeline, NULL);
        ENDS(up, 4);
        ENDS(down, rows[i].down);
        ENDS(kernel, rows[i].kernel);
        finish(&p);
    }
}

/* An engine takes a ready item: the second stream's copy, although the first stream's copy was
 * issued earlier. Of two ready items it takes the one that was issued first. */
static void an_engine_takes_what_is_ready(void)
{
    Program p = begin(2);
    const int kernel = issue(&p, 1, 'K', 3), late = issue(&p, 1, 'D', 1),
              early = issue(&p, 2, 'D', 4), other = issue(&p, 3, 'D', 1);

    timeline_play(p.timeline, NULL);
    ENDS(kernel, 3);
    ENDS(early, 4);
    ENDS(late, 5);
    ENDS(other, 6);
    finish(&p);
}

/* Half speed while both run: 10 up from 0, 4 down from 2. The upload runs 2 us alone; then the
 * download takes 8 us, in which the upload makes 4 us of progress; its last 4 us run alone. */
static void both_ways_at_once_are_slower(void)
{
    Program p = begin(2);
    const int up = add(&p, 1), pause = issue(&p, 2, 'K', 2), down = add(&p, 2);
    TimelineJob up_job = job('U', 10), down_job = job('D', 4);

    up_job.shared = down_job.shared = 0.5;
    timeline_done(p.items[up], &up_job);
    timeline_done(p.items[down], &down_job);
    timeline_play(p.timeline, NULL);
    ENDS(pause, 2);
    ENDS(down, 10);
    ENDS(up, 14);
    finish(&p);
}

/* ---- Kernels ---- */

/* Two half kernels fit together. A whole one begins on half of the SMs and is done with half of its
 * work when the other half becomes free, at 6 us. Until then the last one waits: kernels do not
 * overtake each other. */
static void kernels_share_the_sms_if_they_fit(void)
{
    Program p = begin(2);
    const int a = issue(&p, 0, 'k', 6), b = issue(&p, 1, 'k', 4), whole = issue(&p, 2, 'K', 2),
              c = issue(&p, 3, 'k', 5);

    timeline_play(p.timeline, NULL);
    ENDS(a, 6);
    ENDS(b, 4);
    ENDS(whole, 7);
    ENDS(c, 12);
    finish(&p);
}

/* Ends after half of the SMs ran it for 3 us, and all of them for 0.5 us. */
static void fills_run_beside_copies_and_share_the_sms(void)
{
    Program p = begin(2);
    const int kernel = issue(&p, 0, 'k', 3), fill = issue(&p, 1, 'F', 2), up = issue(&p, 2, 'U', 4);

    timeline_play(p.timeline, NULL);
    ENDS(kernel, 3);
    ENDS(fill, 3.5);
    ENDS(up, 4);
    finish(&p);
}

/* Of the first kernel only a quarter of the blocks runs from 4 us on. The second one gets the other
 * three quarters: it is done with three of its 4 us when the first one ends. */
static void a_kernel_begins_in_the_tail_of_another(void)
{
    Program p = begin(2);
    TimelineJob ragged = job('K', 8);
    const int first = add(&p, 0), second = issue(&p, 1, 'K', 4);

    ragged.use.tail.begins = 0.5;
    for (int i = 0; i < TAIL_PARTS; i++)
        ragged.use.tail.places[i] = 0.25;
    timeline_done(p.items[first], &ragged);
    timeline_play(p.timeline, NULL);
    ENDS(first, 8);
    ENDS(second, 9);
    finish(&p);
}

/* A kernel of 8 us fills the SMs; after 3 us another one of 1 us is ready. With a higher priority
 * it begins after the wave that runs, if there is another wave, and takes only the places that it
 * needs. */
static void a_higher_priority_is_first_after_a_wave(void)
{
    static const struct {
        double waves;
        char row;
        int priority;
        double end_us, other_end_us;
    } rows[] = { { 4, 'K', 0, 9, 8 },
                 { 4, 'K', -1, 5, 9 },
                 { 1, 'K', -1, 9, 8 },
                 { 4, 'k', -1, 5, 8.5 },
                 { 2.5, 'K', -1, 4.2, 9 } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Program p = begin(2);
        TimelineJob others = job('K', 8), own = job(rows[i].row, 1);
        const int other = add(&p, 0), before = issue(&p, 1, 'U', 3), kernel = add(&p, 1);
        others.use.waves = rows[i].waves;
        others.use.tail.begins = 1 - 1 / rows[i].waves;
        for (int part = 0; part < TAIL_PARTS; part++)
            others.use.tail.places[part] = 1;
        own.priority = rows[i].priority;
        timeline_done(p.items[other], &others);
        timeline_done(p.items[kernel], &own);
        timeline_play(p.timeline, NULL);
        ENDS(before, 3);
        ENDS(kernel, rows[i].end_us);
        ENDS(other, rows[i].other_end_us);
        finish(&p);
    }
}

/* Of those that wait, too: the last one runs before the second one. */
static void a_higher_priority_is_first_of_those_that_wait(void)
{
    Program p = begin(2);
    TimelineJob own = job('K', 1);
    const int first = issue(&p, 0, 'K', 2), second = issue(&p, 1, 'K', 3);
    const int before = issue(&p, 2, 'U', 1), last = add(&p, 2);

    own.priority = -5;
    timeline_done(p.items[last], &own);
    timeline_play(p.timeline, NULL);
    ENDS(before, 1);
    ENDS(first, 2);
    ENDS(last, 3);
    ENDS(second, 6);
    finish(&p);
}

/* ---- Waiting ---- */

/* Stream 2 waits for a mark between two kernels of stream 1, not for the whole stream. */
static void a_mark_is_where_it_was_put(void)
{
    Program p = begin(2);
    const int up = issue(&p, 1, 'U', 3), mark = issue(&p, 1, 'M', 0), more = issue(&p, 1, 'U', 5),
              waits = add(&p, 2);

    timeline_after(p.items[waits], p.items[mark]);
    done(&p, waits, 'D', 1);
    timeline_play(p.timeline, NULL);
    ENDS(up, 3);
    ENDS(mark, 3);
    ENDS(waits, 4);
    ENDS(more, 8);
    finish(&p);
}

/* The host issues a copy in another stream after it has waited for the first copy. */
static void what_the_host_issues_comes_after_its_waits(void)
{
    Program p = begin(2);
    const int kernel = issue(&p, 1, 'K', 6), up = issue(&p, 2, 'U', 2);
    int second;

    wait_for(&p, up);
    ENDS(up, 2);
    ENDS(kernel, -1); /* the host has not waited that long */
    second = issue(&p, 3, 'U', 3);
    timeline_play(p.timeline, NULL);
    ENDS(second, 5);
    ENDS(kernel, 6);
    finish(&p);
}

/* Work that runs when the host's wait ends continues at its previous speed. */
static void a_pause_changes_nothing(void)
{
    double ends[2][2];

    for (int pause = 0; pause < 2; pause++) {
        Program p = begin(2);
        TimelineJob up_job = job('U', 10), down_job = job('D', 7);
        const int up = add(&p, 1), down = add(&p, 2), kernel = issue(&p, 3, 'K', 3);
        up_job.shared = down_job.shared = 0.75;
        timeline_done(p.items[up], &up_job);
        timeline_done(p.items[down], &down_job);
        if (pause)
            wait_for(&p, kernel);
        timeline_play(p.timeline, NULL);
        ends[pause][0] = end_of(&p, up);
        ends[pause][1] = end_of(&p, down);
        finish(&p);
    }
    CU_ASSERT_EQUAL(ends[0][0], ends[1][0]);
    CU_ASSERT_EQUAL(ends[0][1], ends[1][1]);
    CU_ASSERT_DOUBLE_EQUAL(ends[0][0], 7 / 0.75 + 3, 1e-5);
    CU_ASSERT_DOUBLE_EQUAL(ends[0][1], 7 / 0.75, 1e-5);
}

/* Durations may become known late and in any order; the timeline is the same. */
static void the_order_of_doing_does_not_count(void)
{
    static const int orders[][4] = { { 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 2, 0, 3, 1 } };

    for (size_t i = 0; i < COUNT(orders); i++) {
        Program p = begin(2);
        for (int k = 0; k < 4; k++)
            CU_ASSERT_EQUAL(add(&p, 1 + k / 2), k);
        for (int k = 0; k < 4; k++)
            done(&p, orders[i][k], orders[i][k] % 2 ? 'K' : 'U', 2 + orders[i][k]);
        timeline_play(p.timeline, NULL);
        ENDS(0, 2);
        ENDS(1, 5);
        ENDS(2, 6);
        ENDS(3, 11);
        finish(&p);
    }
}

/* An item that is done after earlier work was scheduled begins where the schedule ends. */
static void what_is_done_late_is_laid_out_behind(void)
{
    Program p = begin(2);
    const int late = add(&p, 1), up = issue(&p, 2, 'U', 4);

    wait_for(&p, up);
    done(&p, late, 'U', 3);
    timeline_play(p.timeline, NULL);
    ENDS(late, 7);
    finish(&p);
}

static void without_memory_nothing_happens(void)
{
    TimelineItem *kept = NULL;
    int64_t ps;
    long count, total;
    const TimelineJob none = { .row = ROW_MARK };

    CU_ASSERT_PTR_NULL(timeline_add(NULL, 0));
    timeline_after(NULL, NULL);
    timeline_done(NULL, &none);
    timeline_keep(&kept, NULL);
    timeline_play(NULL, NULL);
    timeline_forget(NULL);
    CU_ASSERT_FALSE(timeline_ended(NULL, &ps));
    CU_ASSERT_PTR_NULL(timeline_spans(NULL, &count, &total));
    CU_ASSERT_EQUAL(count + total, 0);
}

/* ---- The chart ---- */

/* 58 us, one per column. In column 38, stream 1 has a quarter and stream 2 the rest; in the next
 * column, stream 2 has a quarter. */
static void a_chart_is_drawn(void)
{
    static const char want[] =
        "\n"
        "timeline: 58.00 us, 1.00 us per column, simulated; digits are streams\n"
        "  H2D        1111111111..............................................22  20.7 %\n"
        "  kernels    ..........11111111111111111111111111112:..................  50.4 %\n"
        "  D2H        .......................................22222222222222222..  28.9 %\n";
    Program p = begin(2);
    Capture capture;
    int kernel;

    issue(&p, 1, 'U', 10);
    kernel = issue(&p, 1, 'K', 28.25);
    wait_for(&p, kernel);
    issue(&p, 2, 'K', 1);
    issue(&p, 2, 'D', 16.75);
    issue(&p, 2, 'U', 2);
    timeline_play(p.timeline, NULL);
    capture_begin(&capture, stderr);
    timeline_write_chart(p.timeline, stderr);
    CU_ASSERT_STRING_EQUAL(capture_end(&capture), want);
    timeline_forget(p.timeline);
    capture_begin(&capture, stderr);
    timeline_write_chart(p.timeline, stderr);
    CU_ASSERT_STRING_EQUAL(capture_end(&capture), "");
    finish(&p);
}

/* The report has one line per piece of work, in whole nanoseconds, with the names of kernels. */
static void the_report_tells_when_work_ran(void)
{
    static const char want[] = "{\"record\":\"work\",\"row\":\"D2H\",\"stream\":1,\"start_ns\":0,"
                               "\"end_ns\":1500,\"bytes\":4096}\n"
                               "{\"record\":\"work\",\"row\":\"kernels\",\"stream\":1,"
                               "\"start_ns\":1500,\"end_ns\":4501,\"kernel\":\"sum\"}\n";
    Program p = begin(2);
    const int down = add(&p, 1), kernel = add(&p, 1);
    TimelineJob down_job = job('D', 1.5), kernel_job = job('K', 3.0005);
    Report report = { .timeline = p.timeline };
    Capture capture;
    const char *text;

    down_job.bytes = 4096;
    kernel_job.name = "sum";
    timeline_done(p.items[down], &down_job);
    timeline_done(p.items[kernel], &kernel_job);
    timeline_play(p.timeline, NULL);
    capture_begin(&capture, stderr);
    report_write_json(&report, stderr);
    text = capture_end(&capture);
    CU_ASSERT_PTR_NOT_NULL_FATAL(strchr(text, '\n'));
    CU_ASSERT_STRING_EQUAL(strchr(text, '\n') + 1, want);
    finish(&p);
}

/* A kernel that uses the link all the time and a copy have half of it each, while both run. */
static void kernels_and_copies_share_the_link(void)
{
    Program p = begin(2);
    TimelineJob reads = job('K', 6);
    const int kernel = add(&p, 1);
    int copy, other;

    reads.use.busy[UNIT_LINK] = 1;
    timeline_done(p.items[kernel], &reads);
    copy = issue(&p, 2, 'U', 4);
    other = issue(&p, 1, 'K', 3);
    timeline_play(p.timeline, NULL);
    ENDS(copy, 8);
    ENDS(kernel, 10);
    ENDS(other, 13);
    finish(&p);
}

static CU_TestInfo tests[] = {
    { "a stream is a queue", a_stream_is_a_queue },
    { "two streams overlap", two_streams_overlap },
    { "the buffers limit the chunks in flight", as_many_chunks_as_buffers_are_on_their_way },
    { "one copy engine per direction", copy_engines_are_by_direction },
    { "an engine takes a ready item", an_engine_takes_what_is_ready },
    { "copies in both directions are slower", both_ways_at_once_are_slower },
    { "kernels and copies share the link", kernels_and_copies_share_the_link },
    { "kernels share the SMs if they fit", kernels_share_the_sms_if_they_fit },
    { "fills overlap with copies and share the SMs", fills_run_beside_copies_and_share_the_sms },
    { "a kernel begins in the tail of another", a_kernel_begins_in_the_tail_of_another },
    { "a higher priority is first after a wave", a_higher_priority_is_first_after_a_wave },
    { "a higher priority is first of those that wait",
      a_higher_priority_is_first_of_those_that_wait },
    { "a mark is where it was put", a_mark_is_where_it_was_put },
    { "issued work comes after the host's waits", what_the_host_issues_comes_after_its_waits },
    { "a pause changes nothing", a_pause_changes_nothing },
    { "the order of execution does not matter", the_order_of_doing_does_not_count },
    { "work that is done late is scheduled later", what_is_done_late_is_laid_out_behind },
    { "without memory nothing happens", without_memory_nothing_happens },
    { "a chart is drawn", a_chart_is_drawn },
    { "the report has the times of work", the_report_tells_when_work_ran },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_timeline = { "test_sim_timeline", NULL, NULL, NULL, NULL, tests };
