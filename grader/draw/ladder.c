/* ladder.c - bars: the speed of each kernel of a ladder, with the bar and the device's limit. */
#include "base/util.h"
#include "draw/picture.h"

#include <math.h>
#include <string.h>

enum {
    LEFT = 190, /* left end of the bars */
    RIGHT = PICTURE_WIDTH - PICTURE_MARGIN - 150,
    ROW = 30,
};

static double rate_of(const Ladder *ladder, const Rung *rung)
{
    return *ladder->unit ? rung->rate : rung->ratio;
}

/* The reference's rate; 1 if only ratios are known. */
static double reference_rate(const Ladder *ladder)
{
    for (int i = 0; i < ladder->count; i++)
        if (ladder->rungs[i].is_reference)
            return rate_of(ladder, &ladder->rungs[i]);
    return *ladder->unit ? 0 : 1;
}

static double fastest(const Ladder *ladder)
{
    double most = 0;

    for (int i = 0; i < ladder->count; i++)
        most = fmax(most, rate_of(ladder, &ladder->rungs[i]));
    return most;
}

/* If even the fastest kernel is far below the limit, something else limits the case. */
static bool has_limit(const Ladder *ladder)
{
    return ladder->limit > 0 && fastest(ladder) >= ladder->limit / 4;
}

static double largest(const Ladder *ladder)
{
    return has_limit(ladder) ? fmax(fastest(ladder), ladder->limit) : fastest(ladder);
}

/* Describes a limit that is not drawn; otherwise "". */
static void say_limit(const Ladder *ladder, char *text, size_t size)
{
    *text = 0;
    if (ladder->limit > 0 && !has_limit(ladder))
        put(text, size, "Something other than the device's limit of %.0f %s limits this case. ",
            ladder->limit, ladder->unit);
}

static bool is_drawable(const Ladder *ladder, Words *words)
{
    if (ladder->count && fastest(ladder) > 0)
        return true;
    PUT(words->why, "no kernel's speed is known");
    return false;
}

static void say(const Picture *picture, Words *words)
{
    const Ladder *ladder = picture->ladder;

    PUT(words->title, "%02d %s, case %s: the ladder%s%s", lab_number(picture->entry),
        lab_name(picture->entry), picture->lab_case.label, *ladder->unit ? " in " : "",
        ladder->unit);
    PUT(words->description, "Bars, one per kernel. %s.", ladder->where);
    for (int i = 0; i < ladder->count; i++)
        APPEND(words->description, " %s: %.3f of the reference's speed.", ladder->rungs[i].name,
               ladder->rungs[i].ratio);
}

/* ---- Drawing ---- */

static double x_of(const Ladder *ladder, double rate)
{
    return LEFT + (RIGHT - LEFT) * rate / largest(ladder);
}

static void draw_rung(const Ladder *ladder, Svg *svg, const Rung *rung, double y)
{
    const double end = x_of(ladder, rate_of(ladder, rung));
    const bool passes = ladder->bar > 0 && rung->ratio >= ladder->bar;
    char value[80];

    if (*ladder->unit)
        PUT(value, "%.*f (%.3f)", rung->rate < 100 ? 1 : 0, rung->rate, rung->ratio);
    else
        PUT(value, "%.3f", rung->ratio);
    svg_group(svg, "%s: %s", rung->name, value);
    svg_text_in(svg, LEFT - 10, y + 17, LEFT - 10 - PICTURE_MARGIN, "text end", "%s", rung->name);
    svg_rect(svg, LEFT, y + 4, end - LEFT, ROW - 10, rung->is_yours ? "c2" : passes ? "c3" : "c1");
    svg_rect(svg, LEFT, y + 4, end - LEFT, ROW - 10, passes ? "strong" : "frame");
    svg_text(svg, RIGHT + 14, y + 18, "text", "%s", value);
    svg_end_group(svg);
}

static void draw_mark(Svg *svg, double x, double top, double bottom, const char *classes,
                      const char *text)
{
    svg_line(svg, x, top, x, bottom, classes);
    svg_text(svg, x, top - 5, "text small middle", "%s", text);
}

static void draw_marks(const Ladder *ladder, Svg *svg, double top, double bottom)
{
    char text[60];

    if (ladder->bar > 0 && reference_rate(ladder) > 0)
        draw_mark(svg, x_of(ladder, ladder->bar * reference_rate(ladder)), top, bottom, "dashed",
                  PUT(text, "bar %.2f", ladder->bar));
    if (has_limit(ladder))
        draw_mark(svg, x_of(ladder, ladder->limit), top, bottom, "strong",
                  PUT(text, "limit %.0f %s", ladder->limit, ladder->unit));
}

static void draw_keys(const Ladder *ladder, Svg *svg, double y)
{
    double x = PICTURE_MARGIN;

    x = picture_key(svg, x, y, "c1", ladder->bar > 0 ? "below the bar" : "rung");
    if (ladder->bar > 0)
        x = picture_key(svg, x, y, "c3", "reaches the bar");
    for (int i = 0; i < ladder->count; i++)
        if (ladder->rungs[i].is_yours)
            picture_key(svg, x, y, "c2", "your kernel");
}

bool draw_ladder(const Picture *picture, Svg *svg, Words *words)
{
    const Ladder *ladder = picture->ladder;
    char caption[400];
    double top, y;

    if (!is_drawable(ladder, words))
        return false;
    say(picture, words);
    top =
        picture_head(picture, svg, words->title, "In parentheses: share of the reference's speed") +
        18;
    y = top;
    for (int i = 0; i < ladder->count; i++, y += ROW)
        draw_rung(ladder, svg, &ladder->rungs[i], y);
    draw_marks(ladder, svg, top, y);
    svg_line(svg, LEFT, top, LEFT, y, "frame");
    draw_keys(ladder, svg, y + 24);
    say_limit(ladder, caption, sizeof caption);
    APPEND(caption, "%s", ladder->where);
    picture_caption(picture, svg, y + 50, caption);
    return true;
}

/* ---- Text ---- */

bool print_ladder(const Picture *picture, FILE *to, Words *words)
{
    enum { COLUMNS = 40 };
    const Ladder *ladder = picture->ladder;
    char text[200];

    if (!is_drawable(ladder, words))
        return false;
    say(picture, words);
    fprintf(to, "%s\n\n", words->title);
    for (int i = 0; i < ladder->count; i++) {
        const Rung *rung = &ladder->rungs[i];
        const int length = (int) lround(COLUMNS * rate_of(ladder, rung) / largest(ladder));
        fprintf(to, "%-26.26s %-*.*s ", rung->name, COLUMNS, length,
                "########################################");
        if (*ladder->unit)
            fprintf(to, "%8.*f", rung->rate < 100 ? 1 : 0, rung->rate);
        fprintf(to, "  %.3f\n", rung->ratio);
    }
    if (ladder->bar > 0)
        fprintf(to, "\nThe bar is %.2f of the reference's speed.\n", ladder->bar);
    if (has_limit(ladder))
        fprintf(to, "The device's limit is %.0f %s.\n", ladder->limit, ladder->unit);
    say_limit(ladder, text, sizeof text);
    fprintf(to, "%s%s\n", text, ladder->where);
    return true;
}
