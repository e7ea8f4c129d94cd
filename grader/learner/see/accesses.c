/* accesses.c - the sections of memory accesses and of arrays. What the script draws, these print as
 * text first, so that the page can be read without a script. */
#include "learner/see/page.h"
#include "base/util.h"

#include <stdlib.h>

static const char *const kind_words[] = { "load", "store", "atomic" };

/* ---- Accesses ---- */

static void put_grid(Page *page, const Picture *picture, const WarpAccess *a)
{
    char *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);

    picture_access_grid(picture, a, to);
    text_close(to);
    page_print(page, "<pre>%s</pre>\n", text);
    free(text);
}

static void put_sums(Page *page, const AccessList *list)
{
    const bool is_global = list->turns[0]->space == RECORD_GLOBAL;
    const char *unit = is_global ? "sectors" : "wavefronts";

    if (list->requests <= 0)
        return;
    page_print(page, "<p>All warps: %.0f requests, %.0f %s: %.1f per request", list->requests,
               list->passes, unit, list->passes / list->requests);
    if (list->passes > 1.2 * list->least && list->least > 0)
        page_print(page, "; %.1f %s", list->least / list->requests,
                   is_global ? "would hold the data" : "without bank conflicts");
    page_print(page, ".</p>\n");
}

static void put_list(Page *page, const Seen *seen, int kernel, int number, const AccessList *list)
{
    const SeenKernel *k = &seen->kernels[kernel];
    const Picture picture = see_picture(seen, k);
    const WarpAccess *first = list->turns[0];
    char title[300], source[300], block[24];

    picture_access_title(&picture, first, title, sizeof title);
    picture_source(&picture, first->line, source, sizeof source);
    page_print(page,
               "<section class=\"access\" data-kernel=\"%d\" data-access=\"%d\">\n"
               "<h4>Line %d: %s%s%s</h4>\n"
               "<p><a href=\"#%s-%d\"><code>%s</code></a></p>\n",
               kernel, number, first->line, kind_words[first->kind],
               first->array >= 0 ? " of " : ", shared memory",
               first->array >= 0 ? k->records->arrays[first->array].name : "", k->id, first->line,
               *source ? source : k->file);
    put_sums(page, list);
    page_print(page,
               "<div class=\"controls\" hidden></div>\n"
               "<p class=\"now\">%s. Warp %d of block %s, execution 1 of %d recorded.</p>\n"
               "<div class=\"stage scroll\" tabindex=\"0\" role=\"group\" "
               "aria-label=\"Lanes and memory, line %d\">\n",
               title, first->warp, PUT(block, "%lld", (long long) first->block), list->count,
               first->line);
    put_grid(page, &picture, first);
    page_print(page, "</div>\n</section>\n");
}

void see_accesses(Page *page, const Seen *seen)
{
    page_print(page,
               "<section id=\"memory\">\n<h2>Memory accesses, step by step</h2>\n"
               "<p>For each line, the first warp that executes it, and its first %d executions. "
               "Each cell is a word of 4 bytes with the number of its lane. Global memory: a row "
               "is a line of 128 bytes, four sectors of 32 bytes. Shared memory: a row is 128 "
               "bytes, one word in each of the 32 banks.</p>\n",
               TURNS_PER_LINE);
    for (int i = 0; i < seen->count; i++) {
        AccessList lists[SEE_LISTS];
        const int count = see_lists(seen->kernels[i].records, lists);
        page_print(page, "<h3>%s</h3>\n", seen->kernels[i].name);
        if (!count)
            page_print(page, "<p>No access to memory in this file was recorded.</p>\n");
        for (int n = 0; n < count; n++)
            put_list(page, seen, i, n, &lists[n]);
    }
    page_print(page, "</section>\n");
}

/* ---- Arrays ---- */

static void put_array_row(Page *page, const RecordedArray *a)
{
    page_print(page,
               "<tr><th scope=\"row\">%s</th><td>%.0f</td><td>%.0f</td><td>%.0f</td>"
               "<td>%.0f</td></tr>\n",
               *a->name ? a->name : "array", (double) a->bytes, see_moved(a), see_used(a),
               see_moved(a) > see_used(a) ? see_moved(a) - see_used(a) : 0.0);
}

static void put_map(Page *page, const SeenKernel *k, int kernel, int number, int array)
{
    const RecordedArray *a = &k->records->arrays[array];

    page_print(page,
               "<section class=\"map\" data-kernel=\"%d\" data-map=\"%d\" hidden>\n"
               "<h4>%s</h4>\n</section>\n",
               kernel, number, *a->name ? a->name : "array");
}

static void put_arrays(Page *page, const SeenKernel *k, int kernel)
{
    int maps[SEE_MAPS];
    const int count = see_maps(k->records, maps);

    page_print(page, "<h3>%s</h3>\n", k->name);
    if (!count) {
        page_print(page, "<p>No array in global memory was accessed.</p>\n");
        return;
    }
    page_print(page,
               "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Arrays of %s\">\n"
               "<table>\n<thead><tr><th scope=\"col\">array</th><th scope=\"col\">bytes</th>"
               "<th scope=\"col\">bytes moved in sectors</th>"
               "<th scope=\"col\">bytes that lanes used</th>"
               "<th scope=\"col\">moved, not used</th></tr></thead>\n<tbody>\n",
               k->id);
    for (int i = 0; i < count; i++)
        put_array_row(page, &k->records->arrays[maps[i]]);
    page_print(page, "</tbody>\n</table>\n</div>\n");
    for (int i = 0; i < count; i++)
        put_map(page, k, kernel, i, maps[i]);
}

void see_arrays(Page *page, const Seen *seen)
{
    page_print(
        page,
        "<section id=\"arrays\">\n<h2>Arrays: who touched what</h2>\n"
        "<p>Each map divides an array into at most %d cells, a matrix into tiles of its rows and "
        "columns. A cell shows the first thread "
        "that touched it, when its block began, and how many bytes of the sectors that "
        "requests moved were used. A byte that several lanes use counts several times.</p>\n",
        MAP_CELLS);
    for (int i = 0; i < seen->count; i++)
        put_arrays(page, &seen->kernels[i], i);
    page_print(page, "</section>\n");
}
