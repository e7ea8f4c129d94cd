/* result_text.h - what a program printed that `make watch` ran. */
#ifndef LEARNER_WATCH_RESULT_TEXT_H
#define LEARNER_WATCH_RESULT_TEXT_H

#include "learner/watch/job.h"

/* Whose words: keys and saves, or commands (NEXT_FORM in next.h). */
typedef enum Form { FORM_WATCH, FORM_SHELL } Form;

/* The text without empty lines around it, with columns after line numbers, and how the program
 * ended if that is the news. The caller frees it. */
char *result_text(const Job *job, Form form);

#endif
