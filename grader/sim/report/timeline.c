/* timeline.c - a text chart of when work ran: one row per engine, with time running to the right.
 *
 * A column shows the stream whose work took most of it, as a digit or letter: 0 is the default
 * stream, 1 the first that was created. A colon marks a column in which the engine was busy for
 * less than half of the time, a dot one in which it was idle.
 */
#include "sim/report/totals.h"

#include <string.h>

enum { COLUMNS = 58, LABEL = 9, NAMED = 36 }; /* NAMED: streams that have a digit or letter */

const char *const row_words[ROWS] = {
    [ROW_UP] = "H2D",
    [ROW_KERNEL] = "kernels",
    [ROW_FILL] = "on device",
    [ROW_DOWN] = "D2H",
};

typedef struct Chart {
    const TimelineSpan *spans;
    long count;
    int64_t start_ps, end_ps;
} Chart;

/* The overlap of two spans of time. */
static int64_t shared_ps(int64_t from, int64_t to, int64_t start, int64_t end)
{
    const int64_t first = from > start ? from : start, last = to < end ? to : end;

    return last > first ? last - first : 0;
}

/* The time at which a column begins, computed without products of times, which could overflow. */
static int64_t column_ps(const Chart *chart, int column)
{
    const int64_t all = chart->end_ps - chart->start_ps;

    return chart->start_ps + all / COLUMNS * column + all % COLUMNS * column / COLUMNS;
}

static int letter_of(int stream)
{
    return stream < 0 || stream >= NAMED ? '*' : "0123456789abcdefghijklmnopqrstuvwxyz"[stream];
}

static int sign_of(const Chart *chart, TimelineRow row, int column)
{
    const int64_t from = column_ps(chart, column), to = column_ps(chart, column + 1);
    int64_t busy[NAMED + 1] = { 0 }, all = 0;
    int most = 0;

    for (long i = 0; i < chart->count && chart->spans[i].start_ps < to; i++) {
        const TimelineSpan *span = &chart->spans[i];
        const int stream = span->stream < 0 || span->stream >= NAMED ? NAMED : span->stream;
        if (span->row != row)
            continue;
        const int64_t ps = shared_ps(from, to, span->start_ps, span->end_ps);
        busy[stream] += ps;
        all += ps;
        if (busy[stream] > busy[most])
            most = stream;
    }
    return !all ? '.' : all < (to - from) - all ? ':' : letter_of(most);
}

/* The time in which any of these rows was busy; overlapping work counts once. Spans are in order of
 * their starts. */
static int64_t union_ps(const TimelineSpan *spans, long count, unsigned rows)
{
    int64_t busy = 0, until = 0;

    for (long i = 0; i < count; i++) {
        const int64_t from = spans[i].start_ps > until ? spans[i].start_ps : until;
        if (!(rows >> spans[i].row & 1) || spans[i].end_ps <= from)
            continue;
        busy += spans[i].end_ps - from;
        until = spans[i].end_ps;
    }
    return busy;
}

static void put_chart_row(FILE *out, const Chart *chart, TimelineRow row)
{
    const int64_t busy = union_ps(chart->spans, chart->count, 1u << row),
                  all = chart->end_ps - chart->start_ps;
    char signs[COLUMNS + 1] = "";

    if (!busy)
        return;
    for (int column = 0; column < COLUMNS; column++)
        signs[column] = (char) sign_of(chart, row, column);
    put_row(out, "  %-*s  %s %5s %%", LABEL, row_words[row], signs,
            quotient((uint64_t) busy / 1000 * 100, (uint64_t) all / 1000, 1).text);
}

void timeline_write_chart(const Timeline *timeline, FILE *out)
{
    long total;
    Chart chart = { .end_ps = 0 };

    chart.spans = timeline_spans(timeline, &chart.count, &total);
    if (!chart.count)
        return;
    chart.start_ps = chart.spans[0].start_ps;
    for (long i = 0; i < chart.count; i++)
        if (chart.spans[i].end_ps > chart.end_ps)
            chart.end_ps = chart.spans[i].end_ps;
    if (chart.end_ps - chart.start_ps < COLUMNS * 1000) /* less than 1 ns per column */
        return;
    put_row(out, "%s", "");
    put_row(out, "timeline: %s us, %s us per column, simulated; digits are streams",
            quotient((uint64_t) (chart.end_ps - chart.start_ps), 1000000, 2).text,
            quotient((uint64_t) (chart.end_ps - chart.start_ps), 1000000 * COLUMNS, 2).text);
    for (int row = 0; row < ROW_MARK; row++)
        put_chart_row(out, &chart, (TimelineRow) row);
    if (total > chart.count)
        put_row(out, "  the first %ld of %ld pieces of work", chart.count, total);
}

/* ---- Shares of the time ---- */

static int busiest(const int64_t alone[ROWS], unsigned taken)
{
    int most = -1;

    for (int row = 0; row < ROW_MARK; row++)
        if (!(taken >> row & 1) && (most < 0 || alone[row] > alone[most]))
            most = row;
    return most;
}

void timeline_shares(const Timeline *timeline, int64_t ps[ROWS])
{
    long count, total;
    const TimelineSpan *spans = timeline_spans(timeline, &count, &total);
    int64_t alone[ROWS] = { 0 }, so_far = 0, end_ps = 0;
    unsigned taken = 0;

    memset(ps, 0, ROWS * sizeof *ps);
    for (int row = 0; row < ROW_MARK; row++)
        alone[row] = union_ps(spans, count, 1u << row);
    for (int i = 0; i < ROW_MARK; i++) {
        const int row = busiest(alone, taken);
        taken |= 1u << row;
        ps[row] = union_ps(spans, count, taken) - so_far;
        so_far += ps[row];
    }
    for (long i = 0; i < count; i++)
        end_ps = spans[i].end_ps > end_ps ? spans[i].end_ps : end_ps;
    if (count)
        ps[ROW_MARK] = end_ps - spans[0].start_ps - so_far;
}

int64_t timeline_transfer_ps(const Timeline *timeline)
{
    long count, total;
    const TimelineSpan *spans = timeline_spans(timeline, &count, &total);

    const int64_t up = union_ps(spans, count, 1u << ROW_UP);
    const int64_t down = union_ps(spans, count, 1u << ROW_DOWN);

    return up > down ? up : down;
}
