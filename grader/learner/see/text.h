/* text.h - the two pictures that show a kernel's limit best, as text of 80 columns. */
#ifndef LEARNER_SEE_TEXT_H
#define LEARNER_SEE_TEXT_H

#include "draw/collect.h"

/* Runs the job's kernel once more, with samples. Prints nothing if there is nothing to show. */
void see_text(const CollectJob *job, const Limits *limits, FILE *to);

/* For tests: the kinds of pictures for a limit. */
const char *const *see_text_kinds(const Limits *limits);

#endif
