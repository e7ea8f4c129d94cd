/* lanes.c - which lanes of one warp are active, instruction by instruction. */
#include "base/util.h"
#include "draw/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_STRETCHES = 44, /* stretches in a picture */
    CELL = 11,
    ROW = 17,
    LEFT = 150,                               /* left end of the lanes */
    ACTIVE = LEFT + RECORD_LANES * CELL + 40, /* right end of the number of active lanes */
    CODE = ACTIVE + 14,
};

/* Consecutive instructions of one line that the same lanes execute. */
typedef struct Stretch {
    int line, count;
    uint32_t lanes;
} Stretch;

typedef struct Stretches {
    Stretch rows[MOST_STRETCHES];
    int count, instructions, shown; /* stretches; instructions: recorded, in rows */
    uint64_t lanes;                 /* active lanes, summed over all recorded instructions */
} Stretches;

static int next_step(const Records *r, int launch, int i)
{
    while (i < r->lane_step_count && r->lane_steps[i].launch != launch)
        i++;
    return i;
}

static void add_step(Stretches *all, const LaneStep *step)
{
    Stretch *last = all->count ? &all->rows[all->count - 1] : NULL;

    all->instructions++;
    all->lanes += (uint64_t) __builtin_popcount(step->executed);
    if (!(last && last->line == step->line && last->lanes == step->executed)) {
        if (all->count == MOST_STRETCHES || all->shown < all->instructions - 1)
            return;
        all->rows[all->count++] = (Stretch){ .line = step->line, .lanes = step->executed };
    } else if (all->shown < all->instructions - 1) {
        return;
    }
    all->rows[all->count - 1].count++;
    all->shown++;
}

/* Instructions that no lane executes are left out, as in the counters. */
static void find_stretches(const Picture *picture, int launch, Stretches *all)
{
    const Records *r = picture->records;

    *all = (Stretches){ .count = 0 };
    for (int i = next_step(r, launch, 0); i < r->lane_step_count; i = next_step(r, launch, i + 1))
        if (r->lane_steps[i].executed)
            add_step(all, &r->lane_steps[i]);
}

/* Finds the launch and its stretches; -1: nothing was recorded. */
static int find(const Picture *picture, Stretches *all, Words *words)
{
    const int launch = picture_launch(picture);

    if (launch >= 0)
        find_stretches(picture, launch, all);
    if (launch >= 0 && all->count)
        return launch;
    PUT(words->why, "no instruction of that warp was recorded");
    return -1;
}

/* ---- Words ---- */

/* Says so if the reader did not choose this warp by its number. */
static const char *kind_of_warp(const Records *r, const RecordedLaunch *l)
{
    const bool is_typical =
        r->filter.block == l->typical_block && r->filter.warp == l->typical_warp;

    return is_typical ? ", a typical one" : "";
}

static double average(uint64_t lanes, uint64_t instructions)
{
    return instructions ? (double) lanes / (double) instructions : 0;
}

static void say(const Picture *picture, int launch, const Stretches *all, Words *words,
                char *sample, size_t size)
{
    const Records *r = picture->records;
    const RecordedLaunch *l = &r->launches[launch];
    const int64_t block = r->filter.block < 0 ? 0 : r->filter.block;
    const int warp = r->filter.warp < 0 ? 0 : r->filter.warp;
    const double mine = average(all->lanes, (uint64_t) all->instructions);
    const double launch_mean = average(l->lanes, l->executed);

    PUT(words->title, "%s, warp %d of block %lld%s: on average %.1f of 32 lanes are active",
        l->kernel, warp, (long long) block, kind_of_warp(r, l), mine);
    if (fabs(mine - launch_mean) >= 0.05) /* a warp need not be typical */
        APPEND(words->title, "; all warps: %.1f", launch_mean);
    put(sample, size, "These are the first %d PTX instructions of this warp", all->shown);
    if (all->instructions > all->shown)
        append(sample, size, "; %d were recorded", all->instructions);
    append(sample, size,
           ". Over all warps of this launch, %.1f of 32 lanes are active. Simulated on "
           "the %s.",
           launch_mean, r->device.name);
}

/* ---- Drawing ---- */

/* Draws each run of active lanes as one rectangle. */
static void draw_mask(Svg *svg, uint32_t lanes, double y)
{
    const char *fill = lanes == UINT32_MAX ? "c1" : "c2";

    for (int lane = 0, end; lane < RECORD_LANES; lane = end) {
        const bool is_on = lanes >> lane & 1;
        for (end = lane; end < RECORD_LANES && (lanes >> end & 1) == is_on; end++)
            ;
        if (is_on)
            svg_rect(svg, LEFT + lane * CELL, y, (end - lane) * CELL, ROW - 3, fill);
    }
    svg_rect(svg, LEFT, y, RECORD_LANES * CELL, ROW - 3, "grid");
}

static void draw_stretch(const Picture *picture, Svg *svg, const Stretch *s, bool is_new_line,
                         double y)
{
    char source[200];

    svg_group(svg, "%d instruction%s, %d lanes", s->count, s->count == 1 ? "" : "s",
              __builtin_popcount(s->lanes));
    if (is_new_line && s->line)
        svg_text(svg, PICTURE_MARGIN + 46, y + 11, "dim small end", "line %d", s->line);
    else if (is_new_line)
        svg_text(svg, PICTURE_MARGIN + 46, y + 11, "dim small end", "a header");
    svg_text(svg, LEFT - 8, y + 11, "dim small end", "%d instr.", s->count);
    draw_mask(svg, s->lanes, y);
    svg_text(svg, ACTIVE, y + 11, "dim small end", "%d", __builtin_popcount(s->lanes));
    picture_source(picture, s->line, source, sizeof source);
    if (*source && is_new_line)
        svg_text_in(svg, CODE, y + 11, PICTURE_WIDTH - CODE - 8, "code", "%s", source);
    svg_end_group(svg);
}

static double draw_stretches(const Picture *picture, Svg *svg, const Stretches *all, double y)
{
    svg_text(svg, LEFT, y + 10, "dim small", "lane 0");
    svg_text(svg, LEFT + RECORD_LANES * CELL, y + 10, "dim small end", "lane 31");
    svg_text(svg, ACTIVE + 6, y + 10, "dim small end", "active");
    y += 16;
    for (int i = 0; i < all->count; i++, y += ROW)
        draw_stretch(picture, svg, &all->rows[i], !i || all->rows[i].line != all->rows[i - 1].line,
                     y);
    return y;
}

bool draw_lanes(const Picture *picture, Svg *svg, Words *words)
{
    char place[300], sample[600];
    Stretches all;
    const int launch = find(picture, &all, words);
    double y, x;

    if (launch < 0)
        return false;
    say(picture, launch, &all, words, sample, sizeof sample);
    picture_place(picture, 0, place, sizeof place);
    y = draw_stretches(picture, svg, &all, picture_head(picture, svg, words->title, place)) + 22;
    x = picture_key(svg, PICTURE_MARGIN, y, "c1", "all 32 lanes active");
    x = picture_key(svg, x, y, "c2", "active, while other lanes are not");
    picture_key(svg, x, y, "empty", "inactive");
    PUT(words->description,
        "%s. From top to bottom: the warp's instructions, grouped by source line. From left to "
        "right: its 32 lanes. %s",
        place, sample);
    picture_caption(picture, svg, y + 26, sample);
    return true;
}

/* ---- Text ---- */

static void print_stretch(const Picture *picture, FILE *to, const Stretch *s)
{
    char source[200], lanes[RECORD_LANES + 1] = { 0 };

    for (int lane = 0; lane < RECORD_LANES; lane++)
        lanes[lane] = s->lanes >> lane & 1 ? '#' : '.';
    picture_source(picture, s->line, source, sizeof source);
    if (s->line)
        fprintf(to, "%5d %5d  %s  %.33s\n", s->line, s->count, lanes, source);
    else
        fprintf(to, "%5s %5d  %s  in a header\n", "-", s->count, lanes);
}

/* Marks the `most` rows with the fewest lanes, the first of equal ones: where lanes are idle. */
static void choose_rows(const Stretches *all, int most, bool *chosen)
{
    for (int n = 0; n < most; n++) {
        int best = -1;
        for (int i = 0; i < all->count; i++)
            if (!chosen[i] && (best < 0 || __builtin_popcount(all->rows[i].lanes) <
                                               __builtin_popcount(all->rows[best].lanes)))
                best = i;
        chosen[best] = true;
    }
}

bool print_lanes(const Picture *picture, FILE *to, Words *words)
{
    char place[300], sample[600];
    bool chosen[MOST_STRETCHES] = { false };
    Stretches all;
    int rows;
    const int launch = find(picture, &all, words);

    if (launch < 0)
        return false;
    rows = picture_rows(picture, all.count);
    say(picture, launch, &all, words, sample, sizeof sample);
    picture_place(picture, 0, place, sizeof place);
    fprintf(to, "%s\n%s\n\n%5s %5s  %-32s\n", words->title, place, "line", "instr",
            "lanes 0 to 31");
    choose_rows(&all, rows, chosen);
    for (int i = 0; i < all.count; i++)
        if (chosen[i])
            print_stretch(picture, to, &all.rows[i]);
    if (rows < all.count)
        fprintf(to, "... %d more row%s with at least as many lanes\n", all.count - rows,
                all.count - rows == 1 ? "" : "s");
    fprintf(to, "\n# active, . not. %s\n", sample);
    return true;
}
