/* page.h - writes the page of make report. */
#ifndef LEARNER_PORTFOLIO_PAGE_H
#define LEARNER_PORTFOLIO_PAGE_H

#include "base/markup.h"
#include "learner/portfolio/history.h"
#include "learner/predictions.h"
#include "learner/progress.h"
#include "learner/quiz/record.h"

enum { PORTFOLIO_GRADINGS = 200 }; /* the latest ones of a lab */

/* What the page shows of a lab. */
typedef struct PortfolioLab {
    const LabEntry *entry;
    Progress progress;
    HistoryEntry history[PORTFOLIO_GRADINGS];
    int gradings;
    PredictionRow predictions[LAB_PREDICTIONS];
    int prediction_count;
    QuizRecords quiz;
    char *roofline; /* SVG, trusted: draw/ escapes its texts; NULL: none */
} PortfolioLab;

typedef struct Portfolio {
    PortfolioLab *labs;
    int count;
    char date[40];
    char no_roofline[700]; /* why there are none; "": they were drawn */
} Portfolio;

void portfolio_page(const Portfolio *portfolio, FILE *to);

/* chart.c: the speeds of the gradings on the latest one's device, with the bars. Returns how many
 * gradings it shows; writes nothing if none. */
int portfolio_chart(Page *page, const PortfolioLab *lab);

/* The device of a grading as people write it, with blanks. Returns the buffer. */
char *portfolio_device(const HistoryEntry *grading, char *text, size_t size);

extern const char portfolio_style[]; /* page.css */

#endif
