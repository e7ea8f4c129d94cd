/* svg.h - a small SVG writer: shapes and text with theme classes, light and dark.
 *
 * A picture is assembled in memory; svg_write() adds the head once the height is known. All text
 * is escaped here and nowhere else. Coordinates are pixels with one decimal, and the same calls
 * give the same bytes. Text widths are those of a wide font, so text that fits here fits
 * everywhere; svg_write() reports how many texts did not fit.
 *
 * Classes, one or more separated by blanks:
 *   fills     c1 to c6 (colour-blind readers can distinguish them), hatch (unused), empty
 *   strokes   frame, grid, strong, dashed
 *   text      head, text, dim, small, code, on (on top of a fill), middle, end
 */
#ifndef DRAW_SVG_H
#define DRAW_SVG_H

#include <stdbool.h>
#include <stdio.h>

typedef enum Theme { THEME_AUTO, THEME_LIGHT, THEME_DARK } Theme;

typedef struct Svg {
    FILE *body;
    char *text;
    size_t bytes;
    int width, height; /* height: set it before svg_write() */
    int misfits;       /* texts that extend beyond the picture or beyond their room */
} Svg;

typedef struct SvgHead {
    const char *title, *description; /* for screen readers */
    Theme theme;
    const char *id; /* unique in the page that holds the picture; NULL: from its contents */
} SvgHead;

void svg_begin(Svg *svg, int width);
/* Writes the picture and frees it. */
void svg_write(Svg *svg, const SvgHead *head, FILE *to);

/* Begins a group; its text describes the contents to screen readers and as a tooltip. */
void svg_group(Svg *svg, const char *format, ...) __attribute__((format(printf, 2, 3)));
void svg_end_group(Svg *svg);

void svg_rect(Svg *svg, double x, double y, double width, double height, const char *classes);
void svg_line(Svg *svg, double x1, double y1, double x2, double y2, const char *classes);
void svg_circle(Svg *svg, double x, double y, double radius, const char *classes);

/* Draws one line of text; x is its beginning, middle or end, depending on the class. */
void svg_text(Svg *svg, double x, double y, const char *classes, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The same, cut off with "..." if it is wider than `room`; draws nothing if even that does not
 * fit. */
void svg_text_in(Svg *svg, double x, double y, double room, const char *classes, const char *format,
                 ...) __attribute__((format(printf, 6, 7)));
/* Breaks text at blanks into lines of at most `room`; returns the y after the last line. */
double svg_paragraph(Svg *svg, double x, double y, double room, const char *classes,
                     const char *text);

/* The width of a text of these classes in a wide font, in pixels. */
double svg_text_width(const char *classes, const char *text);

#endif
