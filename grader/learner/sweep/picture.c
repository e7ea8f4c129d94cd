/* picture.c - a sweep as bars: in a terminal, and as SVG next to an H200's. */
#include "learner/sweep/sweep.h"
#include "base/text.h"
#include "base/util.h"
#include "draw/picture.h"

#include <math.h>
#include <string.h>

static double fastest(const Sweep *sweep)
{
    double most = 0;

    for (int i = 0; i < sweep->count; i++)
        most = fmax(most, fmax(sweep->points[i].yours, sweep->points[i].reference));
    return most;
}

static const char *number(double value, char *text, size_t size)
{
    return value > 0 ? put(text, size, "%.*f",
                           value < 10    ? 2
                           : value < 100 ? 1
                                         : 0,
                           value)
                     : put(text, size, "failed");
}

/* ---- Text ---- */

static void print_bar(FILE *to, const char *name, double value, double most, char sign)
{
    enum { BAR = 44, NAME = 18 };
    char bar[BAR + 1], text[30];
    const int length = most > 0 ? (int) lround(BAR * value / most) : 0;

    memset(bar, sign, (size_t) length);
    bar[length] = 0;
    fprintf(to, "%*.*s %-*s %s\n", NAME, NAME, name, BAR, bar, number(value, text, sizeof text));
}

void sweep_print(const Sweep *sweep, FILE *to)
{
    const double most = fastest(sweep);
    char text[600];

    PUT(text, "%02d %s: %s, on the %s", lab_number(sweep->entry), lab_name(sweep->entry),
        sweep->what, sweep->where);
    print_wrapped_to(to, text, 0, 80);
    fprintf(to, "%s, more is faster. # %s, - the reference\n\n", sweep->unit, sweep->kernel);
    for (int i = 0; i < sweep->count; i++) {
        print_bar(to, sweep->points[i].name, sweep->points[i].yours, most, '#');
        print_bar(to, "", sweep->points[i].reference, most, '-');
    }
    if (*sweep->why)
        print_wrapped_to(to, PUT(text, "\nOne of them has no time: %s", sweep->why), 0, 80);
}

/* ---- SVG ---- */

enum { LEFT = 150, RIGHT = PICTURE_WIDTH - PICTURE_MARGIN - 70, BAR = 11, STEP = 30 };

static void draw_bar(Svg *svg, double y, double value, double most, const char *classes)
{
    const double width = most > 0 ? (RIGHT - LEFT) * value / most : 0;
    char text[30];

    svg_rect(svg, LEFT, y, width, BAR, classes);
    svg_text(svg, LEFT + width + 6, y + BAR - 1, "text small", "%s",
             number(value, text, sizeof text));
}

static double draw_points(Svg *svg, const Sweep *sweep, double y)
{
    const double most = fastest(sweep);

    for (int i = 0; i < sweep->count; i++, y += STEP) {
        const SweepPoint *p = &sweep->points[i];
        svg_group(svg, "%s: %.4g and %.4g %s", p->name, p->yours, p->reference, sweep->unit);
        svg_text_in(svg, LEFT - 10, y + 16, LEFT - 10 - PICTURE_MARGIN, "text end", "%s", p->name);
        draw_bar(svg, y, p->yours, most, "c2");
        draw_bar(svg, y + BAR + 1, p->reference, most, "c1");
        svg_end_group(svg);
    }
    svg_line(svg, LEFT, y - STEP * sweep->count - 4, LEFT, y, "frame");
    return y;
}

/* One device: its heading, the keys, the bars. Returns the y below. */
static double draw_panel(Svg *svg, const Sweep *sweep, double y)
{
    const double room = PICTURE_WIDTH - 2 * PICTURE_MARGIN;
    double x = PICTURE_MARGIN;
    char text[300];

    y = svg_paragraph(svg, PICTURE_MARGIN, y, room, "text",
                      PUT(text, "%s, in %s", sweep->where, sweep->unit));
    x = picture_key(svg, x, y + 4, "c2", sweep->kernel);
    picture_key(svg, x, y + 4, "c1", "reference");
    return draw_points(svg, sweep, y + 24) + 20;
}

static void describe(const Sweep *sweep, char *text, size_t size)
{
    append(text, size, "On the %s: ", sweep->where);
    for (int i = 0; i < sweep->count; i++)
        append(text, size, "%s: %.4g and %.4g %s. ", sweep->points[i].name, sweep->points[i].yours,
               sweep->points[i].reference, sweep->unit);
}

void sweep_draw(const Sweep *sweep, const Sweep *stored, FILE *to)
{
    const double room = PICTURE_WIDTH - 2 * PICTURE_MARGIN;
    char title[200], words[3000] = "";
    Svg svg;
    double y;

    PUT(title, "%02d %s: %s", lab_number(sweep->entry), lab_name(sweep->entry), sweep->what);
    describe(sweep, words, sizeof words);
    if (stored)
        describe(stored, words, sizeof words);
    svg_begin(&svg, PICTURE_WIDTH);
    y = svg_paragraph(&svg, PICTURE_MARGIN, 34, room, "head", title);
    y = draw_panel(&svg, sweep, y + 8);
    if (stored)
        y = draw_panel(&svg, stored, y + 8);
    else
        y = svg_paragraph(&svg, PICTURE_MARGIN, y + 8, room, "dim",
                          "The same sweep on an H200 is not stored (docs/measured).");
    svg.height = (int) y + 4;
    svg_write(&svg, &(SvgHead){ title, words, THEME_AUTO }, to);
}
