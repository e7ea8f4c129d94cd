/* page.c - the page of make report: a table of all labs, then a section per lab. */
#include "learner/portfolio/page.h"
#include "learner/next.h"
#include "learner/quiz/quiz.h"
#include "base/marks.h"
#include "base/util.h"

#include <string.h>

/* ---- The table ---- */

static int hints_of(const Lab *lab)
{
    int count = 0;

    while (count < LAB_HINTS && lab->hints[count] && *lab->hints[count])
        count++;
    return count;
}

static int predictions_right(const PortfolioLab *lab, int *filled)
{
    int right = 0;

    *filled = 0;
    for (int i = 0; i < lab->prediction_count; i++) {
        *filled += lab->predictions[i].is_filled;
        right += lab->predictions[i].is_right;
    }
    return right;
}

static bool has_begun(const PortfolioLab *lab)
{
    int filled;

    predictions_right(lab, &filled);
    return filled || lab->gradings || lab->quiz.count || lab->progress.hints ||
           (lab->progress.graded && lab->progress.latest != UNCHANGED);
}

static const char *verdict_class(const Progress *p)
{
    return p->graded && verdict_passed(p->best) ? "good" : "";
}

/* "3 of 5", "-" if nothing was answered. */
static char *say_right(int right, int of, bool any, char *text, size_t size)
{
    return any ? put(text, size, "%d of %d", right, of) : put(text, size, "-");
}

/* All questions of a quiz, as make quiz counts them. Questions about the kernel are recorded only
 * once they are answered; nearly every kernel has QUIZ_OWN of them. */
static int quiz_questions(const Lab *lab)
{
    int count = QUIZ_OWN;

    for (int i = 0; i < LAB_QUESTIONS && lab->questions[i].key; i++)
        count++;
    return count;
}

static int quiz_right_in_all(const QuizRecords *r)
{
    return quiz_right(r, false) + quiz_right(r, true);
}

static void put_row(Page *page, const PortfolioLab *lab)
{
    const Progress *p = &lab->progress;
    char ratio[20] = "-", predictions[40], quiz[40];
    int filled;
    const int right = predictions_right(lab, &filled);

    if (p->reached > 0)
        PUT(ratio, "%.2f", ratio_shown(p->reached, p->bar, 2));
    else if (p->ratio > 0) /* recorded before `reached` was */
        PUT(ratio, "%.2f", p->ratio);
    say_right(right, lab->prediction_count, filled, predictions, sizeof predictions);
    say_right(quiz_right_in_all(&lab->quiz), quiz_questions(lab->entry->lab), lab->quiz.count, quiz,
              sizeof quiz);
    page_print(page,
               has_begun(lab) ? "<tr><th scope=\"row\"><a href=\"#%s\">"
                              : "<tr><th scope=\"row\"><span class=\"soft\" id=\"%s\">",
               lab->entry->folder);
    page_print(page, "%s", lab->entry->folder);
    page_print(page, has_begun(lab) ? "</a></th>" : "</span></th>");
    page_print(page,
               "<td class=\"%s\">%s</td><td>%s</td><td class=\"number\">%s</td>"
               "<td class=\"number\">%d</td><td class=\"number\">%d of %d</td>"
               "<td class=\"number\">%s</td><td class=\"number\">%s</td></tr>\n",
               verdict_class(p), p->graded ? verdict_label(p->best) : "-",
               p->graded ? verdict_label(p->latest) : "-", ratio, lab->gradings, p->hints,
               hints_of(lab->entry->lab), predictions, quiz);
}

static void put_table(Page *page, const Portfolio *portfolio)
{
    int done = 0;

    for (int i = 0; i < portfolio->count; i++)
        done += next_is_done(&portfolio->labs[i].progress);
    page_print(page,
               "<p>%d of %d labs are done. Speed is a share of the reference's, in the timed case "
               "that was nearest to failing or failed by most, in the latest grading.</p>\n"
               "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All labs\">\n"
               "<table>\n<thead><tr><th scope=\"col\">lab</th><th scope=\"col\">best</th>"
               "<th scope=\"col\">latest</th><th scope=\"col\">speed</th>"
               "<th scope=\"col\">gradings</th><th scope=\"col\">hints seen</th>"
               "<th scope=\"col\">predictions right</th><th scope=\"col\">quiz right</th></tr>"
               "</thead>\n<tbody>\n",
               done, portfolio->count);
    for (int i = 0; i < portfolio->count; i++)
        put_row(page, &portfolio->labs[i]);
    page_print(page, "</tbody>\n</table>\n</div>\n");
}

/* ---- A lab ---- */

/* Begins a part of a lab's section: a heading, and a region that scrolls on a small screen. */
static void begin_part(Page *page, const PortfolioLab *lab, const char *name)
{
    page_print(page,
               "<h3>%s</h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
               "aria-label=\"%s, %s\">\n",
               name, name, lab_name(lab->entry));
}

char *portfolio_device(const HistoryEntry *h, char *text, size_t size)
{
    put(text, size, "%s", h->device);
    for (char *at = text; *at; at++)
        if (*at == '_')
            *at = ' ';
    return text;
}

static void put_gradings(Page *page, const PortfolioLab *lab)
{
    char ratio[20], device[sizeof lab->history->device];

    if (!lab->gradings)
        return;
    page_print(page, "<h3>Speed over time</h3>\n");
    if (!portfolio_chart(page, lab))
        page_print(page, "<p>No grading of this lab judged a speed.</p>\n");
    page_print(page,
               "<details>\n<summary>%d grading%s</summary>\n<div class=\"scroll\" tabindex=\"0\" "
               "role=\"region\" aria-label=\"Gradings, %s\"><table>\n<thead><tr><th "
               "scope=\"col\">time (UTC)</th>"
               "<th scope=\"col\">verdict</th><th scope=\"col\">speed</th>"
               "<th scope=\"col\">device</th></tr></thead>\n<tbody>\n",
               lab->gradings, lab->gradings == 1 ? "" : "s", lab_name(lab->entry));
    for (int i = lab->gradings; i-- > 0;) {
        const HistoryEntry *h = &lab->history[i];
        PUT(ratio, h->ratio > 0 ? "%.2f" : "-", h->ratio);
        page_print(page, "<tr><td>%s</td><td>%s</td><td class=\"number\">%s</td><td>%s</td></tr>\n",
                   h->at, verdict_label(h->verdict), ratio,
                   portfolio_device(h, device, sizeof device));
    }
    page_print(page, "</tbody>\n</table></div>\n</details>\n");
}

/* The answer to a prediction is shown only once it was made. */
static void put_predictions(Page *page, const PortfolioLab *lab)
{
    int filled;

    predictions_right(lab, &filled);
    if (!filled)
        return;
    begin_part(page, lab, "Predictions");
    page_print(page,
               "<table>\n<thead><tr>"
               "<th scope=\"col\">question</th><th scope=\"col\">you said</th>"
               "<th scope=\"col\">it is</th><th scope=\"col\">result</th></tr></thead>\n<tbody>\n");
    for (int i = 0; i < lab->prediction_count; i++) {
        const PredictionRow *row = &lab->predictions[i];
        if (row->is_filled)
            page_print(page,
                       "<tr><td>%s</td><td class=\"number\">%.10g</td><td class=\"number\">%.10g"
                       "</td><td class=\"%s\">%s</td></tr>\n",
                       row->about->question, row->guess, row->about->answer,
                       row->is_right ? "good" : "bad", row->is_right ? "right" : "not right");
    }
    page_print(page, "</tbody>\n</table></div>\n");
    if (filled < lab->prediction_count)
        page_print(page, "<p class=\"soft\">%d of %d are not filled in yet.</p>\n",
                   lab->prediction_count - filled, lab->prediction_count);
}

static void put_quiz(Page *page, const PortfolioLab *lab)
{
    char title[700];

    if (!lab->quiz.count)
        return;
    begin_part(page, lab, "Quiz");
    page_print(page, "<p>%d of %d right, %d answered.</p>\n", quiz_right_in_all(&lab->quiz),
               quiz_questions(lab->entry->lab), lab->quiz.count);
    page_print(page,
               "<table>\n<thead><tr><th scope=\"col\">question</th>"
               "<th scope=\"col\">tries</th><th scope=\"col\">result</th></tr></thead>\n<tbody>\n");
    for (int i = 0; i < lab->quiz.count; i++) {
        const QuizRecord *r = &lab->quiz.list[i];
        page_print(page,
                   "<tr><td>%s</td><td class=\"number\">%d</td><td class=\"%s\">%s</td></tr>\n",
                   question_title(lab->entry->lab, r->key, title, sizeof title), r->tries,
                   r->right ? "good" : "bad", r->right ? "right" : "not right");
    }
    page_print(page, "</tbody>\n</table></div>\n");
    page_print(page,
               "<p class=\"soft\">Answered %s. <code>make quiz LAB=%s</code> explains the "
               "answers, as long as the kernel has not changed.</p>\n",
               lab->quiz.date, lab_name(lab->entry));
}

static void put_roofline(Page *page, const PortfolioLab *lab)
{
    if (!lab->roofline)
        return;
    begin_part(page, lab, "Roofline");
    fputs(lab->roofline, page->to);
    page_print(page, "</div>\n");
}

static void put_lab(Page *page, const PortfolioLab *lab)
{
    const Progress *p = &lab->progress;

    if (!has_begun(lab))
        return;
    page_print(page,
               "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s: "
               "%s</h2>\n",
               lab->entry->folder, lab->entry->folder, lab->entry->folder, lab->entry->folder,
               lab->entry->lab->title);
    if (p->graded)
        page_print(page, "<p>Latest grading: %s (%s). Best: <span class=\"%s\">%s</span>.</p>\n",
                   verdict_label(p->latest), *p->date ? p->date : "no date", verdict_class(p),
                   verdict_label(p->best));
    put_gradings(page, lab);
    put_predictions(page, lab);
    put_quiz(page, lab);
    put_roofline(page, lab);
    page_print(page, "</section>\n");
}

void portfolio_page(const Portfolio *portfolio, FILE *to)
{
    Page page;

    page_begin(&page, to, &(PageHead){ "Your labs", portfolio_style, true });
    page_print(
        &page,
        "<a class=\"skip\" href=\"#main\">Skip to the page's content</a>\n<header>\n"
        "<h1>Your labs</h1>\n<p class=\"soft\">Written by <code>make report</code>, %s. "
        "Only you have this page: it is made from files in <code>.warpbook/</code> and "
        "<code>labs/</code>, and does not count for a mark.</p>\n</header>\n<main id=\"main\">\n",
        portfolio->date);
    put_table(&page, portfolio);
    if (*portfolio->no_roofline)
        page_print(&page, "<p>Without rooflines: %s.</p>\n", portfolio->no_roofline);
    for (int i = 0; i < portfolio->count; i++)
        put_lab(&page, &portfolio->labs[i]);
    page_print(&page, "</main>\n");
    page_end(&page);
}
