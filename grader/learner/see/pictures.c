/* pictures.c - the pictures of draw/ that need no stepping, embedded as SVG. */
#include "learner/see/page.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* A larger picture gives way to its text form, so that pages stay small. */
enum { MOST_SVG = 120 << 10 };

static void put_text_form(Page *page, const PictureKind *kind, const Picture *picture)
{
    Words words = { .why = "" };
    char *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);
    const bool printed = kind->print(picture, to, &words);

    text_close(to);
    if (printed)
        page_print(page, "<pre>%s</pre>\n", text);
    else
        page_print(page, "<p>This picture is too large for the page: "
                         "<code>make draw</code> draws it.</p>\n");
    free(text);
}

static void put_svg(Page *page, const PictureKind *kind, const Picture *picture, const char *id)
{
    Words words = { .why = "" };
    Svg svg;
    char *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);
    bool drawn;

    svg_begin(&svg, PICTURE_WIDTH);
    drawn = kind->draw(picture, &svg, &words);
    svg_write(&svg, &(SvgHead){ words.title, words.description, THEME_AUTO, id }, to);
    text_close(to);
    if (drawn)
        page_print(page,
                   "<div class=\"scroll picture\" tabindex=\"0\" role=\"group\" "
                   "aria-label=\"%s: %s\">\n",
                   id, kind->about);
    if (drawn && bytes <= MOST_SVG)
        fwrite(text, 1, bytes, page->to);
    else if (drawn)
        put_text_form(page, kind, picture);
    if (drawn)
        page_print(page, "</div>\n");
    free(text);
}

static void put_kind(Page *page, const Seen *seen, const char *name, const SeenKernel *k)
{
    const Picture picture = see_picture(seen, k);
    char id[40];

    put_svg(page, picture_kind(name), &picture, PUT(id, "%s-%s", name, k->id));
}

/* Copies and kernels on streams are worth a picture if there are several. */
static bool has_streams(const SeenKernel *k)
{
    return k->records->span_count > 1;
}

static void put_roofline(Page *page, const Seen *seen)
{
    page_print(page, "<h3>Roofline</h3>\n");
    if (!roofline_any_drawable(&seen->roofline)) {
        page_print(page, "<p>No point: in this case no kernel does FP32 operations on bytes from "
                         "DRAM.</p>\n");
        return;
    }
    if (seen->rungs_left_out)
        page_print(page,
                   "<p>Left out: %d of the rungs, since they take more than a second. "
                   "<code>make draw KIND=roofline LAB=%s</code> draws all of them%s.</p>\n",
                   seen->rungs_left_out, lab_name(seen->entry),
                   seen->is_shrunk || seen->is_graded_size ? ", at its own size" : "");
    else if (seen->count == 1)
        page_print(page, "<p>Once you have passed, the reference and the rungs of the ladder are "
                         "shown here, too.</p>\n");
    put_kind(page, seen, "roofline", &seen->kernels[0]);
}

void see_pictures(Page *page, const Seen *seen)
{
    page_print(page, "<section id=\"pictures\">\n"
                     "<h2>Over time, by lane, on the roofline</h2>\n");
    for (int i = 0; i < seen->count; i++) {
        const SeenKernel *k = &seen->kernels[i];
        page_print(page, "<h3>%s</h3>\n", k->name);
        put_kind(page, seen, "blocks", k);
        if (has_streams(k))
            put_kind(page, seen, "streams", k);
        put_kind(page, seen, "lanes", k);
        put_kind(page, seen, "tiles", k);
    }
    put_roofline(page, seen);
    if (seen->ladder.count) {
        page_print(page, "<h3>The ladder, measured</h3>\n");
        put_kind(page, seen, "ladder", &seen->kernels[0]);
    }
    page_print(page, "</section>\n");
}
