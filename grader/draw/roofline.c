/* roofline.c - kernels below the roofs of memory and arithmetic, on two logarithmic axes. */
#include "base/util.h"
#include "draw/picture.h"

#include <math.h>
#include <string.h>

enum {
    LEFT = 80,
    RIGHT = 560,
    TOP_ROOM = 16,
    HEIGHT = 320,
    LIST = RIGHT + 30, /* x of the list of names */
    NAME = 34,
};

/* The coordinate system: decades of operations per byte and of GFLOP/s. */
typedef struct Plane {
    double top;
    double low_x, high_x, low_y, high_y; /* logarithms */
} Plane;

/* True if a point has operations and bytes, so that it can be drawn. */
static bool is_drawable(const RooflinePoint *p)
{
    return !p->at.is_cached && p->at.gflops > 0 && p->at.intensity > 0;
}

static Plane plane_of(const RooflinePoints *points, double top)
{
    const double ridge = points->fp32_tflops * 1e3 / points->memory_gbps;
    Plane p = { top, log10(ridge) - 1, log10(ridge) + 1, INFINITY,
                log10(points->fp32_tflops * 1e3) + 0.2 };

    for (int i = 0; i < points->count; i++) {
        if (!is_drawable(&points->points[i]))
            continue;
        p.low_x = fmin(p.low_x, log10(points->points[i].at.intensity) - 0.3);
        p.high_x = fmax(p.high_x, log10(points->points[i].at.intensity) + 0.3);
        p.low_y = fmin(p.low_y, log10(points->points[i].at.gflops) - 0.3);
    }
    p.low_y = fmin(p.low_y, log10(points->memory_gbps) + p.low_x);
    return p;
}

static double x_of(const Plane *p, double intensity)
{
    return LEFT + (RIGHT - LEFT) * (log10(intensity) - p->low_x) / (p->high_x - p->low_x);
}

static double y_of(const Plane *p, double gflops)
{
    return p->top + HEIGHT * (p->high_y - log10(gflops)) / (p->high_y - p->low_y);
}

/* ---- Drawing ---- */

/* The i-th of 1, 2, 5, 10, 20, 50, ... */
static double tick(int i)
{
    static const double steps[] = { 1, 2, 5 };
    const int decade = (int) floor(i / 3.0);

    return steps[i - 3 * decade] * pow(10, decade);
}

static void draw_axes(Svg *svg, const Plane *p)
{
    const double bottom = p->top + HEIGHT;

    for (int i = 3 * (int) floor(p->low_x); log10(tick(i)) <= p->high_x; i++) {
        if (log10(tick(i)) < p->low_x)
            continue;
        svg_line(svg, x_of(p, tick(i)), p->top, x_of(p, tick(i)), bottom, "grid");
        svg_text(svg, x_of(p, tick(i)), bottom + 16, "dim small middle", "%.10g", tick(i));
    }
    for (int i = 3 * (int) floor(p->low_y); log10(tick(i)) <= p->high_y; i++) {
        if (log10(tick(i)) < p->low_y)
            continue;
        svg_line(svg, LEFT, y_of(p, tick(i)), RIGHT, y_of(p, tick(i)), "grid");
        svg_text(svg, LEFT - 8, y_of(p, tick(i)) + 4, "dim small end", "%.10g", tick(i));
    }
    svg_line(svg, LEFT, bottom, RIGHT, bottom, "frame");
    svg_line(svg, LEFT, p->top, LEFT, bottom, "frame");
    svg_text(svg, (LEFT + RIGHT) / 2.0, bottom + 34, "dim middle",
             "FP32 operations per byte of DRAM");
    svg_text(svg, PICTURE_MARGIN, p->top - 8, "dim", "GFLOP/s");
}

static void draw_roofs(Svg *svg, const RooflinePoints *points, const Plane *p)
{
    const double roof = points->fp32_tflops * 1e3, ridge = roof / points->memory_gbps;
    const double first = fmax(pow(10, p->low_x), pow(10, p->low_y) / points->memory_gbps);

    svg_line(svg, x_of(p, first), y_of(p, first * points->memory_gbps), x_of(p, ridge),
             y_of(p, roof), "strong");
    svg_line(svg, x_of(p, ridge), y_of(p, roof), RIGHT, y_of(p, roof), "strong");
    svg_text(svg, RIGHT - 4, y_of(p, roof) - 6, "text small end", "%.4g TFLOP/s",
             points->fp32_tflops);
    svg_text(svg, LEFT + 6, p->top + 14, "text small", "%.4g GB/s below %.3g operations per byte",
             points->memory_gbps, ridge);
}

/* Positions of the numbers: next to each point, towards the middle, and further away if another
 * number is in the way. */
typedef struct Labels {
    double x[MOST_RUNGS], y[MOST_RUNGS];
    int count;
} Labels;

static double free_x(Labels *labels, double x, double y, double step)
{
    for (int i = 0; i < labels->count; i++)
        if (fabs(labels->x[i] - x) < 19 && fabs(labels->y[i] - y) < 19)
            return free_x(labels, labels->x[i] + step, y, step);
    labels->x[labels->count] = x;
    labels->y[labels->count++] = y;
    return x;
}

static void draw_number(Svg *svg, double x, double y, const char *fill, int number)
{
    svg_circle(svg, x, y, 9, fill);
    svg_circle(svg, x, y, 9, "frame");
    svg_text(svg, x, y + 4, "on small middle", "%d", number);
}

static const char *fill_of(const RooflinePoint *point)
{
    return point->is_yours ? "c2" : point->is_reference ? "c3" : "c1";
}

static void draw_point(Svg *svg, const Plane *p, Labels *labels, const RooflinePoint *point,
                       int number)
{
    const double x = x_of(p, point->at.intensity), y = y_of(p, point->at.gflops);
    const double step = x < (LEFT + RIGHT) / 2.0 ? 19.5 : -19.5;
    const double label = free_x(labels, x + step, y, step);

    svg_line(svg, x, y, label, y, "frame");
    svg_circle(svg, x, y, 4, fill_of(point));
    svg_circle(svg, x, y, 4, "frame");
    draw_number(svg, label, y, fill_of(point), number);
}

static void draw_name(Svg *svg, const RooflinePoint *point, int number, double y)
{
    svg_group(svg, "%s: %.0f GFLOP/s at %.3g operations per byte", point->name, point->at.gflops,
              point->at.intensity);
    draw_number(svg, LIST + 9, y, fill_of(point), number);
    svg_text_in(svg, LIST + 26, y - 1, PICTURE_WIDTH - LIST - 34, "text", "%s", point->name);
    if (is_drawable(point))
        svg_text_in(svg, LIST + 26, y + 13, PICTURE_WIDTH - LIST - 34, "dim small",
                    "%.0f GFLOP/s, %.0f %% of the roof", point->at.gflops, 100 * point->at.reached);
    else
        svg_text_in(svg, LIST + 26, y + 13, PICTURE_WIDTH - LIST - 34, "dim small", "%s",
                    point->at.is_cached ? "all in L2: no point" : "no FP32 operation: no point");
    svg_end_group(svg);
}

bool roofline_any_drawable(const RooflinePoints *points)
{
    for (int i = 0; i < points->count; i++)
        if (is_drawable(&points->points[i]))
            return true;
    return false;
}

static void say(const Picture *picture, Words *words)
{
    const RooflinePoints *points = picture->roofline;

    PUT(words->title, "%02d %s, case %s: roofline of the %s", lab_number(picture->entry),
        lab_name(picture->entry), picture->lab_case.label, points->device);
    PUT(words->description,
        "Kernels by FP32 operations per byte of DRAM and by GFLOP/s, modelled.");
    for (int i = 0; i < points->count; i++)
        APPEND(words->description, " %s: %.3g operations per byte, %.0f GFLOP/s.",
               points->points[i].name, points->points[i].at.intensity, points->points[i].at.gflops);
}

/* Draws the points, and their names next to the coordinate system; returns the y below both. */
static double draw_points(Svg *svg, const RooflinePoints *points, const Plane *plane)
{
    Labels labels = { .count = 0 };

    for (int i = 0; i < points->count; i++) {
        if (is_drawable(&points->points[i]))
            draw_point(svg, plane, &labels, &points->points[i], i + 1);
        draw_name(svg, &points->points[i], i + 1, plane->top + 10 + i * NAME);
    }
    return plane->top + fmax(HEIGHT + 60, points->count * NAME + 30);
}

bool draw_roofline(const Picture *picture, Svg *svg, Words *words)
{
    const RooflinePoints *points = picture->roofline;
    Plane plane;
    double y, x;

    if (!roofline_any_drawable(points)) {
        PUT(words->why, "no kernel of this case does FP32 operations on bytes from DRAM");
        return false;
    }
    say(picture, words);
    y = picture_head(picture, svg, words->title, "One call of each kernel, with cold caches");
    plane = plane_of(points, y + TOP_ROOM);
    draw_axes(svg, &plane);
    draw_roofs(svg, points, &plane);
    y = draw_points(svg, points, &plane);
    x = picture_key(svg, PICTURE_MARGIN, y, "c1", "rung");
    x = picture_key(svg, x, y, "c3", "reference");
    picture_key(svg, x, y, "c2", "your kernel");
    picture_caption(picture, svg, y + 26,
                    "Modelled times and counted operations of the simulated GPU.");
    return true;
}

/* ---- Text ---- */

static void print_point(FILE *to, const RooflinePoint *p)
{
    if (is_drawable(p))
        fprintf(to, "%-28.28s %12.3g %12.0f %8.0f %%\n", p->name, p->at.intensity, p->at.gflops,
                100 * p->at.reached);
    else
        fprintf(to, "%-28.28s %12s\n", p->name, p->at.is_cached ? "all in L2" : "no FP32");
}

bool print_roofline(const Picture *picture, FILE *to, Words *words)
{
    const RooflinePoints *points = picture->roofline;

    if (!roofline_any_drawable(points)) {
        PUT(words->why, "no kernel of this case does FP32 operations on bytes from DRAM");
        return false;
    }
    say(picture, words);
    fprintf(to, "%s\n\n%-28s %12s %12s %10s\n", words->title, "", "FP32 per", "GFLOP/s",
            "of the roof");
    fprintf(to, "%-28s %12s\n", "", "byte of DRAM");
    for (int i = 0; i < points->count; i++)
        print_point(to, &points->points[i]);
    fprintf(to,
            "\nThe roof is %.4g GB/s below %.3g operations per byte, and %.4g TFLOP/s above. "
            "Modelled times.\n",
            points->memory_gbps, points->fp32_tflops * 1e3 / points->memory_gbps,
            points->fp32_tflops);
    return true;
}
