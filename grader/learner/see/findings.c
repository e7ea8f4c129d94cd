/* findings.c - what the simulated GPU reports: for each fault its accesses, lanes and lines. */
#include "learner/see/page.h"
#include "base/util.h"
#include "sim/base/source_shape.h"

#include <ctype.h>
#include <string.h>

/* The launch of this kernel; NULL: not recorded. */
static const RecordedLaunch *launch_of(const Records *r, const char *kernel)
{
    for (int i = 0; i < r->launch_count; i++)
        if (!strcmp(r->launches[i].kernel, kernel))
            return &r->launches[i];
    return NULL;
}

static void say_thread(const RecordedThread *t, char *text, size_t size)
{
    put(text, size, "-");
    if (t->has_thread)
        put(text, size, "(%d, %d, %d) of block (%d, %d, %d)", t->thread[0], t->thread[1],
            t->thread[2], t->block[0], t->block[1], t->block[2]);
}

/* The thread's number in its block; -1: unknown. */
static int number_of(const RecordedLaunch *l, const RecordedThread *t)
{
    return l && t->has_thread
               ? t->thread[0] + l->block[0] * (t->thread[1] + l->block[1] * t->thread[2])
               : -1;
}

/* 32 boxes, one of them marked: the same information as the numbers before it. */
static void put_lanes(Page *page, int thread)
{
    page_print(page, "<td>");
    if (thread >= 0) {
        page_print(page, "warp %d, lane %d <span class=\"strip\" aria-hidden=\"true\">",
                   thread / RECORD_LANES, thread % RECORD_LANES);
        for (int lane = 0; lane < RECORD_LANES; lane++)
            page_print(page, lane == thread % RECORD_LANES ? "<b></b>" : "<i></i>");
        page_print(page, "</span>");
    }
    page_print(page, "</td>");
}

static void put_access(Page *page, const Seen *seen, const RecordedFinding *f,
                       const RecordedThread *t, const char *name)
{
    const SeenKernel *k = &seen->kernels[0];
    const Picture picture = see_picture(seen, k);
    char thread[100], source[300] = "";

    say_thread(t, thread, sizeof thread);
    picture_source(&picture, t->line, source, sizeof source);
    page_print(page, "<tr><th scope=\"row\">%s</th><td class=\"whole\">%s</td>", name, thread);
    put_lanes(page, number_of(launch_of(seen->findings.records, f->kernel), t));
    if (t->line)
        page_print(page, "<td><a href=\"#%s-%d\">line %d</a>: <code>%s</code></td></tr>\n", k->id,
                   t->line, t->line, source);
    else
        page_print(page, "<td>-</td></tr>\n");
}

/* The place, and what happened there. */
static void put_sentence(Page *page, const SeenKernel *k, const RecordedFinding *f)
{
    char word[RECORD_NAME], text[sizeof f->text];

    PUT(text, "%s", f->text);
    if (k->source)
        source_shape_sentence(k->source, text, sizeof text);
    PUT(word, "%s", f->word);
    *word = (char) toupper((unsigned char) *word);
    page_print(page, "<h3>%s in %s</h3>\n<p>", word, f->kernel);
    if (f->access.line)
        page_print(page, "%s:%d: ", k->file, f->access.line);
    page_sentence(page, text);
    page_print(page, ".</p>\n");
}

static bool in_one_block(const RecordedFinding *f)
{
    return f->has_other && f->other.has_thread && f->access.has_thread &&
           !memcmp(f->other.block, f->access.block, sizeof f->other.block);
}

static const char *say_barriers(uint64_t count, char *text, size_t size)
{
    if (!count)
        return "no barrier";
    return put(text, size, "%.0f barrier%s", (double) count, count == 1 ? "" : "s");
}

static void put_finding(Page *page, const Seen *seen, const RecordedFinding *f)
{
    char barriers[40];

    put_sentence(page, &seen->kernels[0], f);
    page_print(page,
               "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"%s\">\n"
               "<table>\n<thead><tr><th scope=\"col\">access</th><th scope=\"col\">thread"
               "</th><th scope=\"col\">warp and lane</th><th scope=\"col\">line</th></tr>"
               "</thead>\n<tbody>\n",
               f->word);
    if (f->has_other)
        put_access(page, seen, f, &f->other, "earlier");
    put_access(page, seen, f, &f->access, f->has_other ? "later" : "access");
    page_print(page,
               "</tbody>\n</table>\n</div>\n"
               "<p>When: its block had passed %s by then.%s</p>\n",
               say_barriers(f->barriers, barriers, sizeof barriers),
               in_one_block(f) ? " No barrier separates the two accesses." : "");
}

void see_finding_rows(Page *page, const Seen *seen)
{
    const SeenFindings *found = &seen->findings;
    char sizes[120];

    if (!found->any)
        return;
    page_print(page,
               "<section id=\"findings\">\n<h2>What the simulated GPU reports</h2>\n"
               "<p>In a small case: %s (",
               found->lab_case.label);
    page_sentence(page, case_size(seen->entry->lab, &found->lab_case, sizes, sizeof sizes));
    page_print(page, ").</p>\n");
    for (int i = 0; i < found->records->finding_count; i++)
        put_finding(page, seen, &found->records->findings[i]);
    page_print(page, "</section>\n");
}
