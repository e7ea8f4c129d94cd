/* chart.c - a lab's speed over its gradings, as SVG.
 *
 * Shapes and words carry the meaning; colours come from the page's style, so that the chart follows
 * light, dark and print.
 */
#include "learner/portfolio/page.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 640, HEIGHT = 200, LEFT = 44, RIGHT = 16, TOP = 14, BOTTOM = 30 };
enum { INNER_W = WIDTH - LEFT - RIGHT, INNER_H = HEIGHT - TOP - BOTTOM };

typedef struct Chart {
    const HistoryEntry *points[PORTFOLIO_GRADINGS];
    int count;
    double most; /* the top of the scale */
} Chart;

/* Speeds on different devices cannot be compared, so the latest device's are shown. */
static void choose_points(const PortfolioLab *lab, Chart *chart)
{
    const char *device = NULL;

    *chart = (Chart){ .most = 1.25 };
    for (int i = lab->gradings; i-- > 0 && !device;)
        if (lab->history[i].ratio > 0)
            device = lab->history[i].device;
    for (int i = 0; device && i < lab->gradings; i++) {
        const HistoryEntry *h = &lab->history[i];
        if (h->ratio <= 0 || strcmp(h->device, device))
            continue;
        chart->points[chart->count++] = h;
        chart->most = fmax(chart->most, 1.05 * h->ratio);
    }
}

static double x_of(const Chart *chart, int i)
{
    return LEFT + (chart->count < 2 ? INNER_W / 2.0 : (double) INNER_W * i / (chart->count - 1));
}

static double y_of(const Chart *chart, double ratio)
{
    return TOP + INNER_H * (1 - ratio / chart->most);
}

static void put_line(Page *page, const char *class, double y)
{
    page_print(page, "<line class=\"%s\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n", class,
               LEFT, y, WIDTH - RIGHT, y);
}

static void put_scale(Page *page, const Chart *chart)
{
    for (int i = 0; i * 0.5 <= chart->most && i < 20; i++) {
        put_line(page, "axis", y_of(chart, i * 0.5));
        page_print(page, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.1f</text>\n", LEFT - 6,
                   y_of(chart, i * 0.5) + 4, i * 0.5);
    }
}

/* Each different bar of the lab's timed cases. */
static void put_bars(Page *page, const Chart *chart, const Lab *lab)
{
    double drawn = 0;

    for (const Case *c = lab->cases; c && c->label; c++)
        if (c->kind == TIMED && fabs(c->bar - drawn) > 1e-9) {
            put_line(page, "bar", y_of(chart, c->bar));
            drawn = c->bar;
        }
}

/* Filled dots are passes. */
static void put_points(Page *page, const Chart *chart)
{
    page_print(page, "<path class=\"curve\" d=\"");
    for (int i = 0; i < chart->count; i++)
        page_print(page, "%s%.1f %.1f", i ? "L" : "M", x_of(chart, i),
                   y_of(chart, chart->points[i]->ratio));
    page_print(page, "\"/>\n");
    for (int i = 0; i < chart->count; i++)
        page_print(page,
                   "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>%s: %.2f, "
                   "%s</title></circle>\n",
                   verdict_passed(chart->points[i]->verdict) ? "dot" : "ring", x_of(chart, i),
                   y_of(chart, chart->points[i]->ratio), chart->points[i]->at,
                   chart->points[i]->ratio, verdict_word(chart->points[i]->verdict));
}

static void put_dates(Page *page, const Chart *chart)
{
    const char *first = chart->points[0]->at, *last = chart->points[chart->count - 1]->at;
    char date[12];

    page_print(page, "<text x=\"%d\" y=\"%d\">%s</text>\n", LEFT, HEIGHT - 8,
               PUT(date, "%.10s", first));
    if (strncmp(first, last, 10))
        page_print(page, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", WIDTH - RIGHT,
                   HEIGHT - 8, PUT(date, "%.10s", last));
}

int portfolio_chart(Page *page, const PortfolioLab *lab)
{
    Chart chart;
    char device[sizeof chart.points[0]->device];

    choose_points(lab, &chart);
    if (!chart.count)
        return 0;
    page_print(page,
               "<figure>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Speed over %d "
               "gradings: first %.2f, last %.2f of the reference's\">\n",
               WIDTH, HEIGHT, chart.count, chart.points[0]->ratio,
               chart.points[chart.count - 1]->ratio);
    put_scale(page, &chart);
    put_bars(page, &chart, lab->entry->lab);
    put_points(page, &chart);
    put_dates(page, &chart);
    page_print(page,
               "</svg>\n<figcaption>Speed as a share of the reference's, grading by grading, on "
               "the %s. Filled dots are passes; dashed lines are bars.</figcaption>\n</figure>\n",
               portfolio_device(chart.points[0], device, sizeof device));
    return chart.count;
}
