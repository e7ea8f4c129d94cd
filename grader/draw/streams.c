/* streams.c - copies and kernels on a timeline: once by engine, once by stream. */
#include "base/util.h"
#include "draw/picture.h"

#include <math.h>
#include <string.h>

enum {
    MOST_STREAMS = 12, /* rows in a picture */
    LEFT = 120,
    RIGHT = PICTURE_WIDTH - PICTURE_MARGIN,
    ROW = 26,
};

static const char *const engine_words[ENGINES] = { [ENGINE_UP] = "copy to GPU",
                                                   [ENGINE_KERNEL] = "kernels",
                                                   [ENGINE_FILL] = "fills on GPU",
                                                   [ENGINE_DOWN] = "copy to host" };
static const char *const engine_fills[ENGINES] = {
    [ENGINE_UP] = "c1", [ENGINE_KERNEL] = "c2", [ENGINE_FILL] = "c5", [ENGINE_DOWN] = "c3"
};
static const char engine_letters[ENGINES] = {
    [ENGINE_UP] = 'H', [ENGINE_KERNEL] = 'K', [ENGINE_FILL] = 'F', [ENGINE_DOWN] = 'D'
};

/* The spans in the records, and the data for the rows. */
typedef struct Chart {
    const Records *records;
    double begin_ns, end_ns;
    int streams[MOST_STREAMS], stream_count; /* in order of their first spans */
    bool has_engine[ENGINES];
} Chart;

/* The row of a stream; -1: no room. */
static int stream_row(Chart *chart, int stream)
{
    for (int i = 0; i < chart->stream_count; i++)
        if (chart->streams[i] == stream)
            return i;
    if (chart->stream_count == MOST_STREAMS)
        return -1;
    chart->streams[chart->stream_count] = stream;
    return chart->stream_count++;
}

static bool find_chart(const Picture *picture, Chart *chart, Words *words)
{
    const Records *r = picture->records;

    *chart = (Chart){ .records = r, .begin_ns = INFINITY };
    for (int i = 0; i < r->span_count; i++) {
        chart->begin_ns = fmin(chart->begin_ns, r->spans[i].begin_ns);
        chart->end_ns = fmax(chart->end_ns, r->spans[i].end_ns);
        chart->has_engine[r->spans[i].engine] = true;
        stream_row(chart, r->spans[i].stream);
    }
    if (r->span_count && chart->end_ns > chart->begin_ns)
        return true;
    PUT(words->why, "no copy or kernel has a modelled time");
    return false;
}

/* ---- Figures ---- */

/* The time during which at least `least` engines are busy, in ns. An engine's own spans may
 * overlap. */
static double busy_ns(const Chart *chart, int least)
{
    const Records *r = chart->records;
    double sum = 0;

    for (int i = 0; i < 2 * r->span_count; i++) {
        const double at = i % 2 ? r->spans[i / 2].end_ns : r->spans[i / 2].begin_ns;
        double next = INFINITY;
        unsigned busy = 0;
        bool is_first = true;
        for (int k = 0; k < r->span_count; k++) {
            const Span *s = &r->spans[k];
            if (s->begin_ns <= at && at < s->end_ns)
                busy |= 1u << s->engine;
            next = s->begin_ns > at ? fmin(next, s->begin_ns) : next;
            next = s->end_ns > at ? fmin(next, s->end_ns) : next;
        }
        for (int k = 0; k < i; k++)
            is_first &= at != (k % 2 ? r->spans[k / 2].end_ns : r->spans[k / 2].begin_ns);
        if (is_first && isfinite(next) && __builtin_popcount(busy) >= least)
            sum += next - at;
    }
    return sum;
}

static void say(const Picture *picture, const Chart *chart, Words *words, char *sample, size_t size)
{
    const Records *r = picture->records;
    const double whole_us = (chart->end_ns - chart->begin_ns) / 1e3;

    PUT(words->title, "%d operation%s in %d stream%s: %.1f us", r->span_count,
        r->span_count == 1 ? "" : "s", chart->stream_count, chart->stream_count == 1 ? "" : "s",
        whole_us);
    put(sample, size,
        "At least two engines are busy %.0f %% of the time, one or more %.0f %%. Times "
        "are modelled on the simulated %s.",
        busy_ns(chart, 2) / whole_us / 10, busy_ns(chart, 1) / whole_us / 10, r->device.name);
    if (r->lost_spans)
        append(sample, size, " Only the first %d operations are shown.", r->span_count);
}

/* ---- Drawing ---- */

static double x_of(const Chart *chart, double ns)
{
    return LEFT + (RIGHT - LEFT) * (ns - chart->begin_ns) / (chart->end_ns - chart->begin_ns);
}

static void draw_span(Svg *svg, const Chart *chart, const Span *span, double y, bool by_engine)
{
    const double x = x_of(chart, span->begin_ns), width = x_of(chart, span->end_ns) - x;

    svg_group(svg, "%s%s%s, stream %d: %.1f us from %.1f us on", engine_words[span->engine],
              *span->name ? " " : "", span->name, span->stream,
              (span->end_ns - span->begin_ns) / 1e3, (span->begin_ns - chart->begin_ns) / 1e3);
    svg_rect(svg, x, y + 3, width, ROW - 8, engine_fills[span->engine]);
    svg_rect(svg, x, y + 3, width, ROW - 8, "frame");
    if (by_engine)
        svg_text_in(svg, x + width / 2, y + 16, width - 2, "on small middle", "%d", span->stream);
    else
        svg_text_in(svg, x + width / 2, y + 16, width - 2, "on small middle", "%c",
                    engine_letters[span->engine]);
    svg_end_group(svg);
}

static double draw_engines(Svg *svg, const Chart *chart, double y)
{
    svg_text(svg, PICTURE_MARGIN, y + 10, "text", "One row per engine; the number is the stream");
    y += 18;
    for (int engine = 0; engine < ENGINES; engine++) {
        if (!chart->has_engine[engine])
            continue;
        svg_text(svg, LEFT - 10, y + 17, "dim end", "%s", engine_words[engine]);
        svg_line(svg, LEFT, y + ROW, RIGHT, y + ROW, "grid");
        for (int i = 0; i < chart->records->span_count; i++)
            if ((int) chart->records->spans[i].engine == engine)
                draw_span(svg, chart, &chart->records->spans[i], y, true);
        y += ROW;
    }
    return y;
}

static double draw_streams_of(Svg *svg, Chart *chart, double y)
{
    svg_text(svg, PICTURE_MARGIN, y + 10, "text", "By stream");
    y += 18;
    for (int row = 0; row < chart->stream_count; row++) {
        svg_text(svg, LEFT - 10, y + 17, "dim end", "stream %d", chart->streams[row]);
        svg_line(svg, LEFT, y + ROW, RIGHT, y + ROW, "grid");
        for (int i = 0; i < chart->records->span_count; i++)
            if (chart->records->spans[i].stream == chart->streams[row])
                draw_span(svg, chart, &chart->records->spans[i], y, false);
        y += ROW;
    }
    return y;
}

bool draw_streams(const Picture *picture, Svg *svg, Words *words)
{
    char place[300], sample[600];
    Chart chart;
    double y, x = PICTURE_MARGIN;

    if (!find_chart(picture, &chart, words))
        return false;
    say(picture, &chart, words, sample, sizeof sample);
    picture_place(picture, 0, place, sizeof place);
    y = draw_engines(svg, &chart, picture_head(picture, svg, words->title, place));
    y = draw_streams_of(svg, &chart, y + 12);
    y = picture_time_axis(svg, LEFT, RIGHT, y, (chart.end_ns - chart.begin_ns) / 1e3) + 20;
    for (int engine = 0; engine < ENGINES; engine++)
        if (chart.has_engine[engine]) {
            char text[40];
            x = picture_key(svg, x, y, engine_fills[engine],
                            PUT(text, "%c: %s", engine_letters[engine], engine_words[engine]));
        }
    PUT(words->description, "%s. Time runs from left to right; rows are engines, then streams. %s",
        place, sample);
    picture_caption(picture, svg, y + 26, sample);
    return true;
}

/* ---- Text: one row per engine, one character per 1/60 of the time: the stream ---- */

enum { COLUMNS = 60 };

static char char_at(const Chart *chart, int engine, double ns)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    char found = '.';

    for (int i = 0; i < chart->records->span_count; i++) {
        const Span *s = &chart->records->spans[i];
        if (s->engine != engine || ns < s->begin_ns || ns >= s->end_ns)
            continue;
        found = found == '.' ? digits[s->stream % 36] : '*';
    }
    return found;
}

static void print_engine(FILE *to, const Chart *chart, int engine)
{
    fprintf(to, "%-12s  ", engine_words[engine]);
    for (int i = 0; i < COLUMNS; i++)
        fputc(char_at(chart, engine,
                      chart->begin_ns + (i + 0.5) / COLUMNS * (chart->end_ns - chart->begin_ns)),
              to);
    fputc('\n', to);
}

bool print_streams(const Picture *picture, FILE *to, Words *words)
{
    char place[300], sample[600];
    Chart chart;

    if (!find_chart(picture, &chart, words))
        return false;
    say(picture, &chart, words, sample, sizeof sample);
    picture_place(picture, 0, place, sizeof place);
    fprintf(to, "%s\n%s\n\n", words->title, place);
    for (int engine = 0; engine < ENGINES; engine++)
        if (chart.has_engine[engine])
            print_engine(to, &chart, engine);
    fprintf(to,
            "\nTime runs from left to right. Each character is the number of the stream "
            "(* several, . idle).\n%s\n",
            sample);
    return true;
}
