/* questions.h - questions about a learner's own kernel, whose answers the simulated GPU counted.
 *
 * The kinds are rows of a table (questions.c): when a kind fits a kernel, the text, the answer, its
 * tolerance, and an explanation that ends with the command whose picture shows it.
 */
#ifndef LEARNER_QUIZ_QUESTIONS_H
#define LEARNER_QUIZ_QUESTIONS_H

#include "learner/quiz/facts.h"

enum { QUIZ_OWN = 3, QUIZ_KEY = 40, QUIZ_CHOICE = 160 };

typedef struct Question {
    char key[QUIZ_KEY]; /* "load_sectors@14", "transfer.one_field": letters, digits, _ . @ */
    char text[600];
    char choices[LAB_CHOICES][QUIZ_CHOICE];
    int choice_count;         /* 0: the answer is a number */
    double answer, tolerance; /* of choices: the number of the right one, from 1 */
    char because[900];
} Question;

/* Chooses up to QUIZ_OWN questions of different kinds; returns how many. The same kernel, named by
 * its hash, gets the same questions. */
int questions_choose(const KernelFacts *facts, uint64_t kernel, Question questions[QUIZ_OWN]);

/* The lab's transfer questions (lab.h); returns how many. */
int questions_transfer(const Lab *lab, Question questions[LAB_QUESTIONS]);

/* For tests: the question of this key, "load_sectors@14" or "resident_blocks". Returns false if the
 * kind does not exist or does not fit. */
bool question_about(const KernelFacts *facts, const char *key, Question *question);
/* For tests: the name of the i-th kind; NULL after the last. */
const char *question_kind(int i);

/* A question's short name from its key, "sectors per load, line 14"; the text of a transfer
 * question; or the key, if it is unknown. Returns the buffer. */
char *question_title(const Lab *lab, const char *key, char *text, size_t size);

/* Reads an answer as people write it: "4", "4.0 sectors", "line 22", "~1,024", "50 %", and for
 * choices "b" or "2". Returns false if it is neither; `why` then says what to write. */
bool question_read(const Question *question, const char *text, double *answer, const char **why);
bool question_is_right(const Question *question, double answer);
/* The right answer as text: "4", "b) DRAM". Returns the buffer. */
char *question_answer(const Question *question, char *text, size_t size);

#endif
