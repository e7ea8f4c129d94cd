/* blocks.c - blocks on SMs over modelled time: waves and the tail. */
#include "base/util.h"
#include "draw/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_SMS = 40,    /* rows in a picture */
    MOST_PLACES = 32, /* blocks side by side on an SM */
    MOST_BARS = 2000,
    LEFT = 90,
    RIGHT = PICTURE_WIDTH - PICTURE_MARGIN,
};

/* A block, and its place among the blocks of its SM. */
typedef struct Bar {
    const BlockSpan *span;
    int place;
} Bar;

/* The launch's blocks, ordered by SM, place and start time. */
typedef struct Placed {
    Bar *bars;
    int count, places; /* places: the most blocks that run side by side on an SM */
    int most_bars;
    uint64_t end; /* when the last block ends */
} Placed;

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_begin(const void *a, const void *b)
{
    const Bar *x = a, *y = b;
    const int sm = x->span->sm - y->span->sm;
    const int begin = compare(x->span->begin, y->span->begin);

    return sm ? sm : begin ? begin : compare((uint64_t) x->span->block, (uint64_t) y->span->block);
}

static int by_place(const void *a, const void *b)
{
    const Bar *x = a, *y = b;

    return x->span->sm != y->span->sm ? x->span->sm - y->span->sm
           : x->place != y->place     ? x->place - y->place
                                      : by_begin(a, b);
}

/* Each block takes the first place that is free when it begins. */
static void find_places(Placed *p)
{
    uint64_t busy_until[MOST_PLACES] = { 0 };

    for (int i = 0; i < p->count; i++) {
        const BlockSpan *b = p->bars[i].span;
        int place = 0;
        if (!i || b->sm != p->bars[i - 1].span->sm)
            memset(busy_until, 0, sizeof busy_until);
        while (place < MOST_PLACES - 1 && busy_until[place] > b->begin)
            place++;
        busy_until[place] = b->end;
        p->bars[i].place = place;
        p->places = place + 1 > p->places ? place + 1 : p->places;
        p->end = b->end > p->end ? b->end : p->end;
    }
}

static bool find_placed(const Picture *picture, int launch, Placed *p, Words *words)
{
    const Records *r = picture->records;

    if (launch < 0) {
        PUT(words->why, "no launch was recorded");
        return false;
    }
    *p = (Placed){ .bars = xcalloc((size_t) r->block_span_count + 1, sizeof *p->bars),
                   .most_bars = picture->most_bars ? picture->most_bars : MOST_BARS };
    for (int i = 0; i < r->block_span_count; i++)
        if (r->block_spans[i].launch == launch)
            p->bars[p->count++].span = &r->block_spans[i];
    qsort(p->bars, (size_t) p->count, sizeof *p->bars, by_begin);
    find_places(p);
    qsort(p->bars, (size_t) p->count, sizeof *p->bars, by_place);
    if (p->count && p->end > 0)
        return true;
    PUT(words->why, "no block's time was modelled");
    return false;
}

/* ---- Figures ---- */

static int64_t blocks_of(const RecordedLaunch *l)
{
    return (int64_t) l->grid[0] * l->grid[1] * l->grid[2];
}

static int64_t waves_of(const RecordedLaunch *l)
{
    return l->resident ? (blocks_of(l) + l->resident - 1) / l->resident : 0;
}

/* The share of the places that blocks occupy, from the first start to the last end. */
static double busy_share(const Records *r, const Placed *p)
{
    double busy = 0;

    for (int i = 0; i < p->count; i++)
        busy += (double) (p->bars[i].span->end - p->bars[i].span->begin);
    return busy / ((double) p->end * r->device.sms * p->places);
}

static double microseconds(const Records *r, uint64_t cycles)
{
    return (double) cycles / r->device.sm_mhz;
}

static void say(const Picture *picture, int launch, const Placed *p, Words *words, char *sample,
                size_t size)
{
    const Records *r = picture->records;
    const RecordedLaunch *l = &r->launches[launch];

    PUT(words->title, "%s: %lld block%s on %d SMs", l->kernel, (long long) blocks_of(l),
        blocks_of(l) == 1 ? "" : "s", r->device.sms);
    if (waves_of(l))
        APPEND(words->title, ", %lld wave%s of at most %lld blocks", (long long) waves_of(l),
               waves_of(l) == 1 ? "" : "s", (long long) l->resident);
    put(sample, size,
        "%s ends after %.2f us of modelled time; until then, blocks fill %.0f %% "
        "of the places on the SMs.",
        l->played < blocks_of(l) ? "The last block of the sample" : "The last block",
        microseconds(r, p->end), 100 * busy_share(r, p));
    if (l->played < blocks_of(l))
        append(sample, size, " The sample has %lld of the blocks; the time of all is worked out.",
               (long long) l->played);
    if (r->lost_block_spans && p->count < l->played)
        append(sample, size, " The first %d of them are shown.", p->count);
    append(sample, size, " Simulated on the %s.", r->device.name);
}

/* ---- Drawing ---- */

static double x_of(const Placed *p, uint64_t cycle)
{
    return LEFT + (RIGHT - LEFT) * (double) cycle / (double) p->end;
}

/* The height of one place: large enough for text if few blocks are side by side. */
static double place_height(const Placed *p, int sms)
{
    const double all = 420.0 / (sms * p->places);

    return all > 22 ? 22 : all < 3 ? 3 : all;
}

/* Draws one bar for several blocks that follow each other in one place, from the i-th on. */
static void draw_bar(Svg *svg, const Placed *p, int i, int blocks, double y, double height,
                     const char *fill)
{
    const BlockSpan *b = p->bars[i].span, *last = p->bars[i + blocks - 1].span;
    const double x = x_of(p, b->begin), width = x_of(p, last->end) - x;

    if (blocks == 1)
        svg_group(svg, "block %lld, SM %d", (long long) b->block, b->sm);
    else
        svg_group(svg, "%d blocks, from %lld on, SM %d", blocks, (long long) b->block, b->sm);
    svg_rect(svg, x, y, width, height, fill);
    svg_rect(svg, x, y, width, height, "frame");
    if (height >= 12 && blocks == 1)
        svg_text_in(svg, x + width / 2, y + height / 2 + 4, width - 4, "on small middle", "%lld",
                    (long long) b->block);
    svg_end_group(svg);
}

static bool same_place(const Bar *a, const Bar *b)
{
    return a->span->sm == b->span->sm && a->place == b->place;
}

/* How many blocks, at most `most`, the bar from the i-th block on stands for. */
static int bar_from(const Placed *p, int i, int most)
{
    int count = 1;

    while (count < most && i + count < p->count && same_place(&p->bars[i], &p->bars[i + count]))
        count++;
    return count;
}

/* More than one if there are very many blocks. */
static int blocks_per_bar(const Placed *p)
{
    return (p->count + p->most_bars - 1) / p->most_bars;
}

/* Neighbours in a place alternate in colour. */
static void draw_bars(Svg *svg, const Placed *p, int sms, double y, double height, double sm_height)
{
    bool is_odd = false;

    for (int i = 0, blocks; i < p->count; i += blocks) {
        const Bar *bar = &p->bars[i];
        is_odd = i && same_place(bar, bar - 1) && !is_odd;
        blocks = bar_from(p, i, blocks_per_bar(p));
        if (bar->span->sm < sms)
            draw_bar(svg, p, i, blocks, y + bar->span->sm * sm_height + bar->place * height, height,
                     is_odd ? "c3" : "c1");
    }
}

static double draw_rows(Svg *svg, const Records *r, const Placed *p, double y)
{
    const int sms = r->device.sms < MOST_SMS ? r->device.sms : MOST_SMS;
    const double height = place_height(p, sms), sm_height = height * p->places + 4;

    for (int sm = 0; sm < sms; sm++) {
        if (sm_height >= 12 || sm % 4 == 0)
            svg_text(svg, LEFT - 10, y + sm * sm_height + sm_height / 2 + 3, "dim small end",
                     "SM %d", sm);
        svg_rect(svg, LEFT, y + sm * sm_height, RIGHT - LEFT, sm_height - 4, "hatch");
    }
    draw_bars(svg, p, sms, y, height, sm_height);
    return y + sms * sm_height;
}

static double draw_keys(Svg *svg, const Placed *p, double y)
{
    double x = picture_key(svg, PICTURE_MARGIN, y, "c1",
                           blocks_per_bar(p) == 1 ? "a block" : "several blocks");

    x = picture_key(svg, x, y, "c3", "the next in its place");
    picture_key(svg, x, y, "hatch", "no block");
    return y + 26;
}

static void draw_placed(const Picture *picture, Svg *svg, int launch, const Placed *p, Words *words)
{
    const Records *r = picture->records;
    char place[300], sample[600];
    double y;

    say(picture, launch, p, words, sample, sizeof sample);
    if (r->device.sms > MOST_SMS)
        APPEND(sample, " The first %d SMs are shown.", MOST_SMS);
    if (blocks_per_bar(p) > 1)
        APPEND(sample, " A bar stands for up to %d consecutive blocks.", blocks_per_bar(p));
    picture_place(picture, 0, place, sizeof place);
    PUT(words->description, "%s. One row per SM, time from left to right; bars are blocks. %s",
        place, sample);
    y = draw_rows(svg, r, p, picture_head(picture, svg, words->title, place) + 4);
    y = picture_time_axis(svg, LEFT, RIGHT, y, microseconds(r, p->end)) + 20;
    picture_caption(picture, svg, draw_keys(svg, p, y), sample);
}

bool draw_blocks(const Picture *picture, Svg *svg, Words *words)
{
    const int launch = picture_launch(picture);
    Placed p = { .count = 0 };
    const bool found = find_placed(picture, launch, &p, words);

    if (found)
        draw_placed(picture, svg, launch, &p, words);
    free(p.bars);
    return found;
}

/* ---- Text: one character per 1/60 of the time: the number of blocks on the SM ---- */

enum { COLUMNS = 60 };

static int blocks_at(const Placed *p, int sm, uint64_t cycle)
{
    int count = 0;

    for (int i = 0; i < p->count; i++)
        count += p->bars[i].span->sm == sm && p->bars[i].span->begin <= cycle &&
                 cycle < p->bars[i].span->end;
    return count < MOST_PLACES ? count : MOST_PLACES;
}

static void print_sm(FILE *to, const Placed *p, int sm)
{
    static const char digits[] = ".123456789abcdefghijklmnopqrstuvw";

    fprintf(to, "SM %3d  ", sm);
    for (int i = 0; i < COLUMNS; i++)
        fputc(digits[blocks_at(p, sm, (uint64_t) ((i + 0.5) / COLUMNS * (double) p->end))], to);
    fputc('\n', to);
}

bool print_blocks(const Picture *picture, FILE *to, Words *words)
{
    const Records *r = picture->records;
    const int launch = picture_launch(picture);
    char place[300], sample[600];
    const int sms = r->device.sms < MOST_SMS ? r->device.sms : MOST_SMS;
    const int shown = picture_rows(picture, sms);
    Placed p = { .count = 0 };
    const bool found = find_placed(picture, launch, &p, words);

    if (found) {
        say(picture, launch, &p, words, sample, sizeof sample);
        picture_place(picture, 0, place, sizeof place);
        fprintf(to, "%s\n%s\n\n", words->title, place);
        for (int sm = 0; sm < shown; sm++)
            print_sm(to, &p, sm);
        picture_rest(to, r->device.sms, shown);
        fprintf(to,
                "\nTime runs from left to right. Each character is the number of blocks on the SM "
                "(. for none)."
                "\n%s\n",
                sample);
    }
    free(p.bars);
    return found;
}
