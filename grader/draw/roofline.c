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
    LIST = RIGHT + 30, /* of the names */
};

/* The plane: decades of operations per byte, and of GFLOP/s. */
typedef struct Plane {
    double top;
    double low_x, high_x, low_y, high_y; /* logarithms */
} Plane;

/* A point that can be drawn has operations and bytes. */
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

static void draw_axes(Svg *svg, const Plane *p)
{
    const double bottom = p->top + HEIGHT;

    for (int d = (int) ceil(p->low_x); d <= (int) floor(p->high_x); d++) {
        svg_line(svg, x_of(p, pow(10, d)), p->top, x_of(p, pow(10, d)), bottom, "grid");
        svg_text(svg, x_of(p, pow(10, d)), bottom + 16, "dim small middle", "%g", pow(10, d));
    }
    for (int d = (int) ceil(p->low_y); d <= (int) floor(p->high_y); d++) {
        svg_line(svg, LEFT, y_of(p, pow(10, d)), RIGHT, y_of(p, pow(10, d)), "grid");
        svg_text(svg, LEFT - 8, y_of(p, pow(10, d)) + 4, "dim small end", "%.10g", pow(10, d));
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

static void draw_point(Svg *svg, const Plane *p, const RooflinePoint *point, int number, double y)
{
    const char *fill = point->is_yours ? "c2" : point->is_reference ? "c3" : "c1";

    svg_group(svg, "%s: %.0f GFLOP/s at %.3g operations per byte", point->name, point->at.gflops,
              point->at.intensity);
    if (is_drawable(point)) {
        const double x = x_of(p, point->at.intensity), at = y_of(p, point->at.gflops);
        svg_circle(svg, x, at, 9, fill);
        svg_circle(svg, x, at, 9, "frame");
        svg_text(svg, x, at + 4, "on small middle", "%d", number);
    }
    svg_circle(svg, LIST + 9, y, 9, fill);
    svg_circle(svg, LIST + 9, y, 9, "frame");
    svg_text(svg, LIST + 9, y + 4, "on small middle", "%d", number);
    svg_text_in(svg, LIST + 26, y - 1, PICTURE_WIDTH - LIST - 34, "text", "%s", point->name);
    if (is_drawable(point))
        svg_text_in(svg, LIST + 26, y + 13, PICTURE_WIDTH - LIST - 34, "dim small",
                    "%.0f GFLOP/s, %.0f %% of the roof", point->at.gflops,
                    100 * point->at.reached);
    else
        svg_text_in(svg, LIST + 26, y + 13, PICTURE_WIDTH - LIST - 34, "dim small", "%s",
                    point->at.is_cached ? "all in L2: no point" : "no FP32 operation: no point");
    svg_end_group(svg);
}

static bool any_drawable(const RooflinePoints *points)
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
    PUT(words->description, "Kernels by FP32 operations per byte of DRAM and by GFLOP/s, modelled.");
    for (int i = 0; i < points->count; i++)
        APPEND(words->description, " %s: %.3g operations per byte, %.0f GFLOP/s.",
               points->points[i].name, points->points[i].at.intensity, points->points[i].at.gflops);
}

bool draw_roofline(const Picture *picture, Svg *svg, Words *words)
{
    const RooflinePoints *points = picture->roofline;
    Plane plane;
    double y, x;

    if (!any_drawable(points)) {
        PUT(words->why, "no kernel of this case does FP32 operations on bytes from DRAM");
        return false;
    }
    say(picture, words);
    y = picture_head(picture, svg, words->title, "Of each kernel one call, with cold caches") +
        TOP_ROOM;
    plane = plane_of(points, y);
    draw_axes(svg, &plane);
    draw_roofs(svg, points, &plane);
    for (int i = 0; i < points->count; i++)
        draw_point(svg, &plane, &points->points[i], i + 1, y + 10 + i * 34);
    y += HEIGHT + 60;
    if (y < plane.top + points->count * 34 + 30)
        y = plane.top + points->count * 34 + 30;
    x = picture_key(svg, PICTURE_MARGIN, y, "c1", "rung");
    x = picture_key(svg, x, y, "c3", "reference");
    picture_key(svg, x, y, "c2", "your kernel");
    picture_caption(picture, svg, y + 26,
                    "Modelled times and counted operations of the simulated GPU.");
    return true;
}
