/* page_pairs.c - the part of the class's page about identical and similar kernels. */
#include "gradebook/report/page_pairs.h"
#include "gradebook/report/similarity.h"
#include "base/util.h"

#include <string.h>

enum { NAMES = 2000, SHOWN = 20 };

/* `columns` ends with NULL. */
static void begin_table(Page *page, const char *head, const char *const *columns, bool number_first)
{
    page_print(page,
               "<h3>%s</h3>\n"
               "<div class=\"scroll\" tabindex=\"0\"><table class=\"stack\"><thead><tr>",
               head);
    for (int i = 0; columns[i]; i++)
        page_print(page,
                   i || !number_first ? "<th scope=\"col\">%s</th>"
                                      : "<th scope=\"col\" class=\"number\">%s</th>",
                   columns[i]);
    page_print(page, "</tr></thead><tbody>\n");
}

static void put_words(Page *page, const char *words)
{
    page_print(page, "<td class=\"words\"><bdi>%s</bdi></td>", words);
}

/* ---- Identical kernels ---- */

/* A kernel is listed with the first student who submitted it. */
static bool is_first(const ResultsTable *results, int student, int lab)
{
    int64_t kernel = results->students[student].labs[lab].kernel;

    for (int i = 0; i < student; i++)
        if (results->students[i].labs[lab].kernel == kernel)
            return false;
    return true;
}

static void put_same(Export *export, Page *page)
{
    static const char *const columns[] = { "Lab", "Submitted by", NULL };
    const ResultsTable *results = &export->results;
    char names[NAMES];
    bool begun = false;

    for (int lab = 0; lab < results->lab_count; lab++)
        for (int i = 0; i < results->count; i++) {
            const Row *row = &results->students[i].labs[lab];
            const ComparedKernel kernel = { row->kernel, "" };
            if (row->same < 1 || !strcmp(row->state, "unchanged") || !is_first(results, i, lab))
                continue;
            if (!begun)
                begin_table(page, "Identical files", columns, false);
            begun = true;
            page_print(page, "<tr>");
            put_words(page, row->lab);
            put_words(page, similarity_names(results, row->lab, &kernel, names, sizeof names));
            page_print(page, "</tr>\n");
        }
    if (begun)
        page_print(page, "</tbody></table></div>\n");
}

/* ---- Similar kernels ---- */

static void put_list(Export *export, Page *page, const char *lab, const Similarity *s,
                     const Likenesses *found, const char *other)
{
    static const char *const columns[] = { "In common", "Kernel", "Other kernel", NULL };
    char head[200], names[NAMES];

    if (!found->count)
        return;
    begin_table(page, PUT(head, "%s, %s", lab, other), columns, true);
    for (int i = 0; i < found->count && i < SHOWN; i++) {
        const Likeness *pair = &found->list[i];
        page_print(page, "<tr><td class=\"number\">%s%d %%</td>",
                   pair->percent >= LIKENESS_ALIKE ? "⚑ " : "", pair->percent);
        put_words(page, similarity_names(&export->results, lab, &s->kernels[pair->a], names,
                                         sizeof names));
        put_words(page, similarity_names(&export->results, lab, &s->kernels[pair->b], names,
                                         sizeof names));
        page_print(page, "</tr>\n");
    }
    page_print(page, "</tbody></table></div>\n");
    if (found->count > SHOWN)
        page_print(
            page,
            "<p class=\"soft\">The %d most similar of %d%s pairs. For more pairs: export --format "
            "alike.</p>\n",
            SHOWN, found->count, found->cut ? " or more" : "");
}

static void put_lab(Export *export, Page *page, const char *lab)
{
    Similarity s;

    similarity_find(export->store, lab, &s);
    if (s.found.problem[0])
        page_print(page, "<p>%s: not compared: %s.</p>\n", lab, s.found.problem);
    put_list(export, page, lab, &s, &s.found.fixed, "with the ladder");
    put_list(export, page, lab, &s, &s.found.pairs, "with each other");
    similarity_free(&s);
}

void put_pairs(Export *export, Page *page)
{
    page_print(
        page,
        "<h2 id=\"alike\">Similar kernels</h2>\n<p class=\"soft\">"
        "The share of each kernel that also occurs in another student's kernel or in a file "
        "of the lab's ladder (by sim_c), ignoring the lab's own code, names, comments and "
        "layout. Pairs of at least %d %% are marked ⚑: no two of the workbook's honest kernels in "
        "different styles share that much. But a lesson leads many students to the same few lines: "
        "compare the two files before you conclude anything.</p>\n",
        LIKENESS_ALIKE);
    put_same(export, page);
    for (int i = 0; i < export->results.lab_count; i++)
        put_lab(export, page, export->results.labs[i]);
}
