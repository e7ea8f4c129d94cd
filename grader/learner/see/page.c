/* page.c - the shell of the page: head, contents, figures in numbers, sections, data, script. */
#include "learner/see/page.h"
#include "base/util.h"
#include "learner/see/data.h"
#include "sim/base/source_shape.h"

#include <string.h>

/* ---- Head and contents ---- */

static const char *place(const Seen *seen, char *text, size_t size)
{
    char sizes[120];

    return put(text, size, "Case %s, %s", seen->lab_case.label,
               case_size(seen->entry->lab, &seen->lab_case, sizes, sizeof sizes));
}

/* make explain and make grade name the size that they took. */
static const char *about_size(const Seen *seen)
{
    if (seen->is_shrunk)
        return "make grade and make explain take a larger size; this one shows the same, and you "
               "need not wait long";
    if (seen->is_graded_size)
        return "This is the size that make grade and make explain take on this device";
    return "This is the smallest size at which this case is timed; make grade and make explain "
           "may take a larger one";
}

static void put_head(Page *page, const Seen *seen)
{
    char text[300];

    page_print(page,
               "<a class=\"skip\" href=\"#main\">Skip to the page's content</a>\n<header>\n"
               "<h1>%02d %s: what your kernel does</h1>\n<p>",
               lab_number(seen->entry), lab_name(seen->entry));
    page_sentence(page, place(seen, text, sizeof text));
    page_print(page,
               ", one call with cold caches on the %s. Times are modelled. %s.</p>\n</header>\n",
               seen->device, about_size(seen));
}

static void put_contents(Page *page, const Seen *seen)
{
    static const char *const names[][2] = {
        { "findings", "What the simulated GPU reports" },
        { "numbers", "In numbers" },
        { "source", "Source, with costs by line" },
        { "memory", "Memory accesses, step by step" },
        { "arrays", "Arrays: who touched what" },
        { "pictures", "Over time, by lane, on the roofline" },
    };

    page_print(page, "<nav aria-label=\"Contents\">\n<ol>\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (i || seen->findings.any)
            page_print(page, "<li><a href=\"#%s\">%s</a></li>\n", names[i][0], names[i][1]);
    page_print(page, "</ol>\n</nav>\n");
}

/* ---- In numbers ---- */

typedef void Say(const SeenKernel *kernel, char *text, size_t size);

static void say_time(const SeenKernel *k, char *text, size_t size)
{
    if (see_call_ns(k) > 0)
        put(text, size, "%.2f us", see_call_ns(k) / 1e3);
}

static void say_limit(const SeenKernel *k, char *text, size_t size)
{
    if (see_call_ns(k) > 0)
        limits_sentence(&k->limited.limits, text, size);
}

/* "262 k, 8.0x the minimum" */
static void say_ratio(double is, double least, char *text, size_t size)
{
    if (is > 0)
        see_count(is, text, size);
    if (is > least && least > 0)
        append(text, size, ", %.1fx the minimum", is / least);
}

static void say_sectors(const SeenKernel *k, char *text, size_t size)
{
    say_ratio(k->limited.limits.sectors, k->limited.limits.least_sectors, text, size);
}

static void say_wavefronts(const SeenKernel *k, char *text, size_t size)
{
    say_ratio(k->limited.limits.wavefronts, k->limited.limits.least_shared, text, size);
}

static void say_lanes(const SeenKernel *k, char *text, size_t size)
{
    if (k->limited.limits.lanes > 0)
        put(text, size, "%.1f of 32", k->limited.limits.lanes);
}

static void say_bytes(const SeenKernel *k, char *text, size_t size)
{
    char bytes[20];

    if (!(see_call_ns(k) > 0) || !(k->limited.limits.bytes > 0))
        return;
    see_count(k->limited.limits.bytes, bytes, sizeof bytes);
    put(text, size, "%s%sB, %.1f GB/s", bytes, strchr(bytes, ' ') ? "" : " ",
        k->limited.limits.bytes / see_call_ns(k));
}

static void say_launch(const SeenKernel *k, char *text, size_t size)
{
    const Picture picture = { .records = k->records };
    const int launch = picture_launch(&picture);
    const RecordedLaunch *l = &k->records->launches[launch < 0 ? 0 : launch];

    if (launch < 0)
        return;
    put(text, size, "%s: %d x %d x %d blocks of %d x %d x %d threads", l->kernel, l->grid[0],
        l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2]);
    if (l->resident)
        append(text, size, ", %lld at once", (long long) l->resident);
}

static const struct {
    const char *name;
    Say *say;
} number_rows[] = {
    { "Modelled time of the call", say_time },
    { "What limits it", say_limit },
    { "Longest launch", say_launch },
    { "Sectors of global memory", say_sectors },
    { "Wavefronts of shared memory", say_wavefronts },
    { "Active lanes per instruction", say_lanes },
    { "Moved by DRAM", say_bytes },
};

static void put_share(Page *page, const SeenKernel *k, Limit limit)
{
    const double whole = see_call_ns(k);

    if (whole > 0)
        page_print(page, "<td>%.1f %%</td>", 100 * k->limited.limits.spent.at[limit] / whole);
    else
        page_print(page, "<td>-</td>");
}

static bool is_worth_a_row(const Seen *seen, Limit limit)
{
    for (int i = 0; i < seen->count; i++)
        if (see_call_ns(&seen->kernels[i]) > 0 &&
            seen->kernels[i].limited.limits.spent.at[limit] >= see_call_ns(&seen->kernels[i]) / 100)
            return true;
    return false;
}

static void put_number_row(Page *page, const Seen *seen, const char *name, Say *say)
{
    char text[500];

    page_print(page, "<tr><th scope=\"row\">%s</th>", name);
    for (int i = 0; i < seen->count; i++) {
        PUT(text, "-");
        say(&seen->kernels[i], text, sizeof text);
        page_print(page, "<td>%s</td>", text);
    }
    page_print(page, "</tr>\n");
}

static void put_failure(Page *page, const SeenKernel *k)
{
    char text[COLLECT_WHY];

    PUT(text, "%s", k->failed);
    if (k->source)
        source_shape_sentence(k->source, text, sizeof text);
    page_print(page, "<p class=\"failed\">%s: ", k->name);
    page_sentence(page, text);
    page_print(page, "</p>\n");
}

static void put_numbers(Page *page, const Seen *seen)
{
    page_print(page, "<section id=\"numbers\">\n<h2>In numbers</h2>\n");
    for (int i = 0; i < seen->count; i++)
        if (*seen->kernels[i].failed)
            put_failure(page, &seen->kernels[i]);
    page_print(page, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
                     "aria-label=\"In numbers\">\n<table>\n<thead><tr><td></td>");
    for (int i = 0; i < seen->count; i++)
        page_print(page, "<th scope=\"col\">%s</th>", seen->kernels[i].name);
    page_print(page, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < sizeof number_rows / sizeof *number_rows; i++)
        put_number_row(page, seen, number_rows[i].name, number_rows[i].say);
    for (int limit = 0; limit < LIMITS; limit++) {
        if (!is_worth_a_row(seen, (Limit) limit))
            continue;
        page_print(page, "<tr><th scope=\"row\">Where the time goes: %s</th>", limit_words[limit]);
        for (int i = 0; i < seen->count; i++)
            put_share(page, &seen->kernels[i], (Limit) limit);
        page_print(page, "</tr>\n");
    }
    page_print(page,
               "</tbody>\n</table>\n</div>\n"
               "<p>The shares of time add up to 100 %%. A unit that is busy while another one "
               "decides may have a small share.</p>\n</section>\n");
}

/* ---- The page ---- */

Picture see_picture(const Seen *seen, const SeenKernel *k)
{
    return (Picture){ .entry = seen->entry,
                      .lab_case = seen->lab_case,
                      .file = k->file,
                      .source = k->source,
                      .failed = k->failed,
                      .records = k->records,
                      .roofline = &seen->roofline,
                      .ladder = &seen->ladder,
                      .most_bars = 300 };
}

static void put_data(Page *page, const Seen *seen)
{
    fputs("<script type=\"application/json\" id=\"data\">\n", page->to);
    see_data(seen, page->to);
    fputs("</script>\n", page->to);
}

void see_page(const Seen *seen, FILE *to)
{
    char title[200];
    Page page;

    PUT(title, "%d %s: what your kernel does", lab_number(seen->entry), lab_name(seen->entry));
    page_begin(&page, to, &(PageHead){ title, see_style, .has_pictures = true });
    put_head(&page, seen);
    put_contents(&page, seen);
    page_print(&page, "<main id=\"main\" tabindex=\"-1\">\n");
    see_finding_rows(&page, seen);
    put_numbers(&page, seen);
    see_source(&page, seen);
    see_accesses(&page, seen);
    see_arrays(&page, seen);
    see_pictures(&page, seen);
    page_print(&page, "</main>\n");
    put_data(&page, seen);
    page_script(&page, see_script);
    page_end(&page);
}
