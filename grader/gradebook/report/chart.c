/* chart.c - small SVG charts of a lab's speeds.
 *
 * Shapes and words carry the meaning. Colours come from the page's style, so charts also follow its
 * light, dark and print styles.
 */
#include "gradebook/report/chart.h"

#include <math.h>

enum { WIDTH = 360, HEIGHT = 190, LEFT = 42, RIGHT = 10, TOP = 22, BOTTOM = 34 };
enum { INNER_W = WIDTH - LEFT - RIGHT, INNER_H = HEIGHT - TOP - BOTTOM };
enum { BINS = 26 }; /* each 0.05 wide; the last bin holds all faster kernels */
enum { FULL_MARKS = 100, MARK_BINS = 20 };
static const double most = 1.3;

static double x_at(double value, double highest)
{
    return LEFT + INNER_W * (value < highest ? value : highest) / highest;
}

static double x_of(double ratio)
{
    return x_at(ratio, most);
}

static double y_of(double share)
{
    return TOP + INNER_H * (1 - share);
}

static void begin(Page *page, const char *what)
{
    page_print(page, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", WIDTH, HEIGHT,
               what);
}

static void label(Page *page, double x, double y, const char *anchor, const char *text)
{
    page_print(page, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
               text);
}

static void line(Page *page, const char *class, double x1, double y1, double x2, double y2)
{
    page_print(page, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
               class, x1, y1, x2, y2);
}

static void x_axis(Page *page, const char *name, double step, double highest)
{
    line(page, "axis", LEFT, TOP + INNER_H, WIDTH - RIGHT, TOP + INNER_H);
    for (int i = 0; i * step <= highest; i++) {
        char text[16];
        double x = x_at(i * step, highest);
        snprintf(text, sizeof text, "%.3g", i * step);
        line(page, "axis", x, TOP + INNER_H, x, TOP + INNER_H + 4);
        label(page, x, TOP + INNER_H + 15, "middle", text);
    }
    label(page, LEFT + INNER_W / 2.0, HEIGHT - 4, "middle", name);
}

/* The bar, or the lowest and highest bar, as labelled dashed lines. */
static void bars(Page *page, const Speeds *speeds)
{
    if (speeds->bar_lo <= 0)
        return;
    line(page, "bar", x_of(speeds->bar_lo), TOP - 4, x_of(speeds->bar_lo), TOP + INNER_H);
    if (speeds->bar_hi > speeds->bar_lo)
        line(page, "bar", x_of(speeds->bar_hi), TOP - 4, x_of(speeds->bar_hi), TOP + INNER_H);
    label(page, x_of((speeds->bar_lo + speeds->bar_hi) / 2), TOP - 8, "middle",
          speeds->bar_hi > speeds->bar_lo ? "bars" : "bar");
}

static double quantile(const Speeds *speeds, double share)
{
    return speeds->ratios[(int) (share * (speeds->count - 1) + 0.5)];
}

/* Columns for the numbers of values in `bins` equal parts from 0 to `highest`. */
static void columns(Page *page, const int *counts, int bins, double highest)
{
    int tallest = 1;
    char text[16];

    for (int i = 0; i < bins; i++)
        tallest = counts[i] > tallest ? counts[i] : tallest;
    for (int i = 0; i < bins; i++)
        if (counts[i])
            page_print(
                page,
                "<rect class=\"bin\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
                x_at(i * highest / bins, highest) + 0.5, y_of((double) counts[i] / tallest),
                (double) INNER_W / bins - 1, INNER_H * (double) counts[i] / tallest);
    snprintf(text, sizeof text, "%d", tallest);
    label(page, LEFT - 4, TOP + 8, "end", text);
    label(page, LEFT - 4, TOP + INNER_H, "end", "0");
}

static void count_values(const double *values, int count, double highest, int *counts, int bins)
{
    for (int i = 0; i < count; i++) {
        int bin = (int) (values[i] / highest * bins);
        counts[bin < 0 ? 0 : bin < bins ? bin : bins - 1]++;
    }
}

void chart_draw_distribution(Page *page, const Speeds *speeds)
{
    int counts[BINS] = { 0 };
    char text[200];

    snprintf(text, sizeof text,
             "Distribution of %d speeds: from %.2f to %.2f of the reference's, a quarter below "
             "%.2f, half below %.2f, three quarters below %.2f.",
             speeds->count, speeds->ratios[0], speeds->ratios[speeds->count - 1],
             quantile(speeds, 0.25), quantile(speeds, 0.5), quantile(speeds, 0.75));
    begin(page, text);
    count_values(speeds->ratios, speeds->count, most, counts, BINS);
    columns(page, counts, BINS, most);
    x_axis(page, "speed (reference = 1)", 0.25, most);
    bars(page, speeds);
    page_print(page, "</svg>\n");
}

void chart_distribution(Page *page, const Speeds *speeds)
{
    page_print(page, "<figure>\n");
    chart_draw_distribution(page, speeds);
    page_print(page,
               "<figcaption>Kernels by speed: %d measured; a quarter below %.2f, half below %.2f, "
               "three quarters below %.2f.</figcaption></figure>\n",
               speeds->count, quantile(speeds, 0.25), quantile(speeds, 0.5),
               quantile(speeds, 0.75));
}

/* ---- Marks ---- */

static double marks_below(const MarksGiven *marks, double share)
{
    return marks->list[(int) (share * (marks->count - 1) + 0.5)];
}

void chart_draw_marks(Page *page, const MarksGiven *marks)
{
    int counts[MARK_BINS] = { 0 };
    char text[200];

    snprintf(text, sizeof text,
             "Distribution of the marks of %d submissions: from %.1f to %.1f, half below %.1f.",
             marks->count, marks->list[0], marks->list[marks->count - 1], marks_below(marks, 0.5));
    begin(page, text);
    count_values(marks->list, marks->count, FULL_MARKS, counts, MARK_BINS);
    columns(page, counts, MARK_BINS, FULL_MARKS);
    x_axis(page, "marks of 100", 20, FULL_MARKS);
    page_print(page, "</svg>\n");
}

void chart_marks(Page *page, const MarksGiven *marks)
{
    page_print(page, "<figure>\n");
    chart_draw_marks(page, marks);
    page_print(page,
               "<figcaption>Submissions by marks: %d marked, %d missing; quartiles: %.1f, %.1f and "
               "%.1f.</figcaption></figure>\n",
               marks->count, marks->missing, marks_below(marks, 0.25), marks_below(marks, 0.5),
               marks_below(marks, 0.75));
}

/* ---- Files ---- */

/* The classes of page.css that charts use. */
static const char file_style[] =
    "svg{background:#fff;font:11px system-ui,sans-serif}text{fill:#1c1c1c}.axis{stroke:#1c1c1c}"
    ".bar{stroke:#a11d28;stroke-width:1.5;stroke-dasharray:4 3}.bin{fill:#1d5aa0}";

void chart_file_begin(Page *page, FILE *to, const char *title)
{
    *page = (Page){ .to = to };
    page_print(page,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
               "viewBox=\"0 0 %d %d\">\n<style>%s</style>\n<title>%s</title>\n"
               "<text x=\"%d\" y=\"14\">%s</text>\n<svg y=\"20\" width=\"%d\" "
               "height=\"%d\">\n",
               2 * WIDTH, 2 * (HEIGHT + 20), WIDTH, HEIGHT + 20, file_style, title, LEFT, title,
               WIDTH, HEIGHT);
}

void chart_file_end(Page *page)
{
    page_print(page, "</svg>\n</svg>\n");
}

/* ---- The share of the class ---- */

double share_at_least(const Speeds *speeds, double ratio)
{
    int slower = 0;

    while (slower < speeds->count && speeds->ratios[slower] < ratio)
        slower++;
    return speeds->of ? (double) (speeds->count - slower) / speeds->of : 0;
}

void chart_share_over(Page *page, const Speeds *speeds)
{
    page_print(page, "<figure>\n");
    begin(page, "Share of the class whose kernel is correct and reaches at least p times the "
                "reference's speed, as a function of p");
    for (int i = 0; i <= 4; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d %%", i * 25);
        line(page, "grid", LEFT, y_of(i / 4.0), WIDTH - RIGHT, y_of(i / 4.0));
        label(page, LEFT - 4, y_of(i / 4.0) + 3, "end", text);
    }
    x_axis(page, "p (reference = 1)", 0.25, most);
    bars(page, speeds);
    page_print(page, "<path class=\"curve\" d=\"M%.1f %.1f", x_of(0),
               y_of(share_at_least(speeds, 0)));
    for (int i = 0; i < speeds->count && speeds->ratios[i] <= most; i++) {
        double after = (double) (speeds->count - i - 1) / speeds->of;
        page_print(page, "H%.1fV%.1f", x_of(speeds->ratios[i]), y_of(after));
    }
    page_print(page,
               "H%.1f\"/>\n</svg>\n<figcaption>Share of all %d students with a correct kernel at "
               "least p times as fast as the reference: %.0f %% for p = 0.5, %.0f %% at the bar, "
               "%.0f %% for p = "
               "1.</figcaption></figure>\n",
               x_of(most), speeds->of, 100 * share_at_least(speeds, 0.5),
               100 * share_at_least(speeds, speeds->bar_lo > 0 ? speeds->bar_lo : 1),
               100 * share_at_least(speeds, 1));
}
