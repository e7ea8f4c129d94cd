/* page.h - one lab's grading on one screen, at most 15 lines: the verdict, the reason, what to do
 * next. */
#ifndef LEARNER_PAGE_H
#define LEARNER_PAGE_H

#include "judge/grade.h"
#include "learner/progress.h"

/* `progress`: with this grading in it; NULL: a submission, whose author is not the reader. */
void print_page(const Session *session, const Result *result, const Progress *progress);

#endif
