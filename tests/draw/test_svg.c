/* test_svg.c - the SVG writer: escaping, widths, numbers, themes. */
#include "base/util.h"
#include "draw/svg.h"
#include "draw/well_formed.h"
#include "rows.h"

#include <stdlib.h>
#include <string.h>

static char *written(Svg *svg, const char *title, Theme theme)
{
    char *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);

    svg->height = 100;
    svg_write(svg, &(SvgHead){ title, "what is seen", theme }, to);
    text_close(to);
    return text;
}

/* ---- The test's own check can fail ---- */

static const struct {
    const char *text;
    bool fine;
} documents[] = {
    { "<a/>\n", true },
    { "<a b=\"c\"><d>e &lt; f</d></a>", true },
    { "", false },
    { "<a>", false },
    { "</a>", false },
    { "<a></b>", false },
    { "<a b=c/>", false },
    { "<a b=\"<\"/>", false },
    { "<a>&</a>", false },
    { "<a>&nbsp;</a>", false },
    { "<a>\x01</a>", false },
    { "<a/>x", false },
};

static void the_check_finds_what_is_malformed(void)
{
    for (size_t i = 0; i < COUNT(documents); i++)
        if (is_well_formed(documents[i].text) != documents[i].fine)
            FAIL_SAYING("row %zu: %s", i, documents[i].text);
}

/* ---- Text ---- */

static const struct {
    const char *text, *escaped;
} escapes[] = {
    { "plain", ">plain<" },
    { "a < b && c > d", ">a &lt; b &amp;&amp; c &gt; d<" },
    { "\"'", ">&quot;&#39;<" },
    { "</text><script>", ">&lt;/text&gt;&lt;script&gt;<" },
    { "]]>", ">]]&gt;<" },
    { "\x1b[31m\t\n\x7f", ">?[31m?"
                          "?"
                          "?<" },
    { "\xe2\x80\xae", ">?"
                      "?"
                      "?<" }, /* a character that reverses the text direction */
    { "%s%n", ">%s%n<" },
};

static void hostile_text_is_escaped(void)
{
    for (size_t i = 0; i < COUNT(escapes); i++) {
        Svg svg;
        char *text;
        svg_begin(&svg, 800);
        svg_text(&svg, 10, 20, "text", "%s", escapes[i].text);
        svg_group(&svg, "%s", escapes[i].text);
        svg_end_group(&svg);
        text = written(&svg, escapes[i].text, THEME_AUTO);
        if (!strstr(text, escapes[i].escaped) || !is_well_formed(text))
            FAIL_SAYING("row %zu: %s", i, text);
        free(text);
    }
}

/* Widths in pixels in DejaVu Sans, measured with its font file; svg_text_width() must not be
 * smaller. */
static const struct {
    const char *classes, *text;
    double least, most;
} measured[] = {
    { "text", "", 0, 0 },
    { "text", "0123456789", 82.7, 90 },
    { "dim small", "sector 0", 44.6, 50 },
    { "head", "WWWWWWWWWW", 176.5, 190 },
    { "code", "iiiiiiiiii", 72.2, 80 },
    { "text", "\xc3\xa9", 13.8, 16 }, /* each byte is drawn as a question mark */
};

static void widths_are_those_of_a_wide_font(void)
{
    for (size_t i = 0; i < COUNT(measured); i++) {
        const double width = svg_text_width(measured[i].classes, measured[i].text);
        if (width < measured[i].least || width > measured[i].most)
            FAIL_SAYING("row %zu: %.2f", i, width);
    }
}

static void text_is_cut_to_its_room(void)
{
    static const struct {
        double room;
        const char *there; /* NULL: no text at all */
    } rows[] = { { 500, ">a long line of text<" }, { 80, "...<" }, { 15, ">...<" }, { 5, NULL } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Svg svg;
        char *text;
        svg_begin(&svg, 800);
        svg_text_in(&svg, 0, 20, rows[i].room, "text", "a long line of text");
        CU_ASSERT_EQUAL(svg.misfits, 0);
        text = written(&svg, "t", THEME_LIGHT);
        if (rows[i].there ? !strstr(text, rows[i].there) : !!strstr(text, "<text class"))
            FAIL_SAYING("row %zu: %s", i, text);
        free(text);
    }
}

static void text_beyond_the_picture_is_counted(void)
{
    static const struct {
        double x;
        const char *classes;
        int misfits;
    } rows[] = { { 10, "text", 0 },     { 90, "text", 1 },       { 90, "text end", 0 },
                 { 10, "text end", 1 }, { 5, "text middle", 1 }, { 50, "text middle", 0 } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Svg svg;
        svg_begin(&svg, 100);
        svg_text(&svg, rows[i].x, 20, rows[i].classes, "word");
        if (svg.misfits != rows[i].misfits)
            FAIL_SAYING("row %zu: %d", i, svg.misfits);
        free(written(&svg, "t", THEME_LIGHT));
    }
}

static void a_paragraph_stays_in_its_room(void)
{
    Svg svg;
    char *text;
    double y;

    svg_begin(&svg, 220);
    y = svg_paragraph(
        &svg, 10, 20, 200, "text",
        "some words that need two lines and a_word_that_is_wider_than_any_line_can_be");
    CU_ASSERT(y > 20 + 2 * 13);
    CU_ASSERT_EQUAL(svg.misfits, 0);
    text = written(&svg, "t", THEME_LIGHT);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">some words that need two<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "...<"));
    free(text);
}

/* ---- Numbers and themes ---- */

static void numbers_have_one_decimal_at_most(void)
{
    Svg svg;
    char *text;

    svg_begin(&svg, 100);
    svg_rect(&svg, 1.26, -0.04, 3, 1e5, "c1");
    svg_rect(&svg, -2.5, 0.05, 0, 0, "c1");
    text = written(&svg, "t", THEME_LIGHT);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "x=\"1.3\" y=\"0\" width=\"3\" height=\"100000\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "x=\"-2.5\" y=\"0.1\" width=\"0\" height=\"0\""));
    free(text);
}

static void themes_are_fixed_or_the_readers(void)
{
    static const struct {
        Theme theme;
        bool light, dark, asks;
    } rows[] = { { THEME_AUTO, true, true, true },
                 { THEME_LIGHT, true, false, false },
                 { THEME_DARK, false, true, false } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Svg svg;
        char *text;
        svg_begin(&svg, 100);
        text = written(&svg, "t", rows[i].theme);
        if (!strstr(text, "#ffffff") == rows[i].light || !strstr(text, "#0d1117") == rows[i].dark ||
            !strstr(text, "prefers-color-scheme:dark") == rows[i].asks || !is_well_formed(text))
            FAIL_SAYING("row %zu", i);
        free(text);
    }
}

CU_SuiteInfo test_svg = {
    "svg",
    .pTests =
        (CU_TestInfo[]){
            { "the check finds what is malformed", the_check_finds_what_is_malformed },
            { "hostile text is escaped", hostile_text_is_escaped },
            { "widths are those of a wide font", widths_are_those_of_a_wide_font },
            { "text is cut to its room", text_is_cut_to_its_room },
            { "text beyond the picture is counted", text_beyond_the_picture_is_counted },
            { "a paragraph stays in its room", a_paragraph_stays_in_its_room },
            { "numbers have one decimal at most", numbers_have_one_decimal_at_most },
            { "themes are fixed or the reader's", themes_are_fixed_or_the_readers },
            CU_TEST_INFO_NULL,
        },
};
