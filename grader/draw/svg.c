/* svg.c - a small SVG writer. */
#include "draw/svg.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Classes ---- */

typedef struct Palette {
    const char *ground, *ink, *dim, *frame, *grid, *hatch;
} Palette;

static const Palette light = { "#ffffff", "#1f2328", "#57606a", "#6e7781", "#d0d7de", "#8c959f" };
static const Palette dark = { "#0d1117", "#e6edf3", "#9da7b1", "#8b949e", "#30363d", "#6e7681" };

/* The colours of Okabe and Ito, "Color Universal Design" (2008): all are light enough for black
 * text, on a light or a dark page. Each rule includes the picture's class, so that it does not
 * affect the rest of a page. */
static const char fixed_rules[] =
    ".draw text{font-family:system-ui,sans-serif;font-size:13px}\n"
    ".draw .head{font-size:16px;font-weight:600}\n"
    ".draw .small{font-size:11px}\n"
    ".draw .code{font-family:ui-monospace,monospace;font-size:12px;white-space:pre}\n"
    ".draw .middle{text-anchor:middle}.draw .end{text-anchor:end}\n"
    ".draw .c1{fill:#56b4e9}.draw .c2{fill:#e69f00}.draw .c3{fill:#009e73}\n"
    ".draw .c4{fill:#f0e442}.draw .c5{fill:#cc79a7}.draw .c6{fill:#d55e00}\n"
    ".draw .frame,.draw .grid,.draw .strong,.draw .dashed,.draw .empty{fill:none}\n"
    ".draw .strong,.draw .dashed{stroke-width:2}.draw .dashed{stroke-dasharray:6 4}\n"
    ".draw .on{fill:#000}\n";

static void put_palette(FILE *to, const Palette *p)
{
    fprintf(to, ".draw .ground{fill:%s}.draw .head,.draw .text,.draw .code{fill:%s}\n", p->ground,
            p->ink);
    fprintf(to, ".draw .dim{fill:%s}.draw .frame{stroke:%s}.draw .grid{stroke:%s}\n", p->dim,
            p->frame, p->grid);
    fprintf(to, ".draw .strong,.draw .dashed{stroke:%s}\n", p->ink);
    fprintf(to, ".draw .hatching{stroke:%s;stroke-width:1.5}\n", p->hatch);
}

/* `id` is unique to the picture, since a page may contain several. */
static void put_style(FILE *to, Theme theme, const char *id)
{
    fprintf(to, "<style>\n%s.draw .hatch{fill:url(#hatch-%s)}\n", fixed_rules, id);
    put_palette(to, theme == THEME_DARK ? &dark : &light);
    if (theme == THEME_AUTO) {
        fprintf(to, "@media (prefers-color-scheme:dark){\n");
        put_palette(to, &dark);
        fprintf(to, "}\n");
    }
    fprintf(to,
            "</style>\n"
            "<defs><pattern id=\"hatch-%s\" width=\"5\" height=\"5\" "
            "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
            "<path class=\"hatching\" d=\"M0 0v5\"/></pattern></defs>\n",
            id);
}

static bool has_class(const char *classes, const char *name)
{
    return is_in(classes, name);
}

/* ---- Text ---- */

/* All text in a picture passes through here. Characters that are not printable ASCII become
 * question marks. */
static void put_escaped(FILE *to, const char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char) *text;
        if (c == '&')
            fputs("&amp;", to);
        else if (c == '<')
            fputs("&lt;", to);
        else if (c == '>')
            fputs("&gt;", to);
        else if (c == '"')
            fputs("&quot;", to);
        else if (c == '\'')
            fputs("&#39;", to);
        else
            fputc(c < ' ' || c > '~' ? '?' : c, to);
    }
}

/* Widths in thousandths of the font size: ' ' to '~' in DejaVu Sans, the widest common sans-serif
 * font, and in its bold face. */
static const short widths[] = {
    318, 401, 460, 838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361,  318, 337, 637, 637, 637,
    637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 531, 1000, 685, 687, 699, 771, 632,
    576, 775, 752, 295, 295, 656, 558, 863, 749, 788, 604, 788, 695, 635,  611, 732, 685, 989, 686,
    611, 686, 391, 337, 391, 838, 500, 500, 613, 635, 550, 635, 616, 353,  635, 634, 278, 278, 580,
    278, 975, 634, 612, 635, 635, 412, 521, 393, 634, 592, 818, 592, 592,  525, 637, 337, 637, 838
};
static const short bold_widths[] = { 349, 457, 521, 838, 696, 1002, 873, 307,  458,  458, 523, 838,
                                     380, 416, 380, 366, 696, 696,  696, 696,  696,  696, 696, 696,
                                     696, 696, 400, 400, 838, 838,  838, 581,  1000, 774, 763, 734,
                                     831, 684, 684, 821, 837, 373,  373, 775,  638,  996, 837, 851,
                                     733, 851, 771, 721, 683, 813,  774, 1104, 771,  725, 726, 458,
                                     366, 458, 838, 500, 500, 675,  716, 593,  716,  679, 436, 716,
                                     712, 343, 343, 666, 343, 1042, 712, 688,  716,  716, 494, 596,
                                     479, 712, 652, 924, 646, 652,  583, 712,  366,  712, 838 };

/* Verdana's narrow letters are wider than those of DejaVu. */
static const double margin = 1.04;
static const double mono_width = 0.61;

static double font_size(const char *classes)
{
    return has_class(classes, "head")    ? 16
           : has_class(classes, "code")  ? 12
           : has_class(classes, "small") ? 11
                                         : 13;
}

double svg_text_width(const char *classes, const char *text)
{
    const short *table = has_class(classes, "head") ? bold_widths : widths;
    double sum = 0;

    if (has_class(classes, "code"))
        return (double) strlen(text) * mono_width * font_size(classes) * margin;
    for (; *text; text++)
        sum += *text < ' ' || *text > '~' ? table['?' - ' '] : table[*text - ' '];
    return sum * font_size(classes) * margin / 1000;
}

/* ---- Numbers: at most one decimal, whatever the locale ---- */

static void put_number(FILE *to, const char *name, double value)
{
    const long tenths = lround(value * 10);
    const long whole = labs(tenths) / 10, rest = labs(tenths) % 10;

    fprintf(to, " %s=\"%s%ld", name, tenths < 0 ? "-" : "", whole);
    if (rest)
        fprintf(to, ".%ld", rest);
    fputc('"', to);
}

/* ---- The picture ---- */

void svg_begin(Svg *svg, int width)
{
    *svg = (Svg){ .width = width };
    svg->body = text_open(&svg->text, &svg->bytes);
}

void svg_write(Svg *svg, const SvgHead *head, FILE *to)
{
    char id[40];

    text_close(svg->body);
    PUT(id, "%08x", (unsigned) hash_bytes(HASH_START, svg->text, svg->bytes));
    if (head->id)
        PUT(id, "%s", head->id);
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" class=\"draw\" role=\"img\" aria-labelledby=\"title-%s about-%s\">\n",
            svg->width, svg->height, svg->width, svg->height, id, id);
    fprintf(to, "<title id=\"title-%s\">", id);
    put_escaped(to, head->title);
    fprintf(to, "</title>\n<desc id=\"about-%s\">", id);
    put_escaped(to, head->description);
    fprintf(to, "</desc>\n");
    put_style(to, head->theme, id);
    fprintf(to, "<rect class=\"ground\" width=\"%d\" height=\"%d\"/>\n", svg->width, svg->height);
    fwrite(svg->text, 1, svg->bytes, to);
    fprintf(to, "</svg>\n");
    free(svg->text);
    svg->text = NULL;
}

void svg_group(Svg *svg, const char *format, ...)
{
    va_list values;
    char *text;

    va_start(values, format);
    text = xvasprintf(format, values);
    va_end(values);
    fprintf(svg->body, "<g><title>");
    put_escaped(svg->body, text);
    fprintf(svg->body, "</title>\n");
    free(text);
}

void svg_end_group(Svg *svg)
{
    fprintf(svg->body, "</g>\n");
}

void svg_rect(Svg *svg, double x, double y, double width, double height, const char *classes)
{
    fprintf(svg->body, "<rect class=\"%s\"", classes);
    put_number(svg->body, "x", x);
    put_number(svg->body, "y", y);
    put_number(svg->body, "width", width);
    put_number(svg->body, "height", height);
    fprintf(svg->body, "/>\n");
}

void svg_line(Svg *svg, double x1, double y1, double x2, double y2, const char *classes)
{
    fprintf(svg->body, "<line class=\"%s\"", classes);
    put_number(svg->body, "x1", x1);
    put_number(svg->body, "y1", y1);
    put_number(svg->body, "x2", x2);
    put_number(svg->body, "y2", y2);
    fprintf(svg->body, "/>\n");
}

void svg_circle(Svg *svg, double x, double y, double radius, const char *classes)
{
    fprintf(svg->body, "<circle class=\"%s\"", classes);
    put_number(svg->body, "cx", x);
    put_number(svg->body, "cy", y);
    put_number(svg->body, "r", radius);
    fprintf(svg->body, "/>\n");
}

static void put_line_of_text(Svg *svg, double x, double y, const char *classes, const char *text)
{
    const double width = svg_text_width(classes, text);
    const double left = has_class(classes, "middle") ? x - width / 2
                        : has_class(classes, "end")  ? x - width
                                                     : x;

    svg->misfits += left < 0 || left + width > svg->width;
    fprintf(svg->body, "<text class=\"%s\"", classes);
    put_number(svg->body, "x", x);
    put_number(svg->body, "y", y);
    fputc('>', svg->body);
    put_escaped(svg->body, text);
    fprintf(svg->body, "</text>\n");
}

void svg_text(Svg *svg, double x, double y, const char *classes, const char *format, ...)
{
    va_list values;
    char *text;

    va_start(values, format);
    text = xvasprintf(format, values);
    va_end(values);
    put_line_of_text(svg, x, y, classes, text);
    free(text);
}

/* Shortens the text until it fits together with its dots. */
static void cut(char *text, const char *classes, double room)
{
    size_t length = strlen(text);

    while (length > 3 && svg_text_width(classes, text) > room) {
        length--;
        memcpy(text + length - 3, "...", 4);
    }
    if (svg_text_width(classes, text) > room)
        *text = 0;
}

void svg_text_in(Svg *svg, double x, double y, double room, const char *classes, const char *format,
                 ...)
{
    va_list values;
    char *text;

    va_start(values, format);
    text = xvasprintf(format, values);
    va_end(values);
    cut(text, classes, room);
    if (*text)
        put_line_of_text(svg, x, y, classes, text);
    free(text);
}

double svg_paragraph(Svg *svg, double x, double y, double room, const char *classes,
                     const char *text)
{
    const double line_height = font_size(classes) * 1.4;
    char line[400];

    while (*text) {
        size_t taken = 0, fits = 0;
        do {
            taken += strspn(text + taken, " ");
            taken += strcspn(text + taken, " ");
            PUT(line, "%.*s", (int) taken, text);
            if (svg_text_width(classes, line) <= room || !fits)
                fits = taken;
        } while (fits == taken && text[taken] && taken < sizeof line - 1);
        PUT(line, "%.*s", (int) fits, text);
        svg_text_in(svg, x, y, room, classes, "%s", line);
        y += line_height;
        text += fits + strspn(text + fits, " ");
    }
    return y;
}
