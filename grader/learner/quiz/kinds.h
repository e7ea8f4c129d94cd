/* kinds.h - the kinds of questions, one row each. */
#ifndef LEARNER_QUIZ_KINDS_H
#define LEARNER_QUIZ_KINDS_H

#include "learner/quiz/questions.h"

/* A kernel, and the line that a question is about (NULL: none). */
typedef struct Subject {
    const KernelFacts *facts;
    const FactLine *line;
} Subject;

typedef double Value(const Subject *);

/* Texts hold {line}, {source}, {lab}, {case}, {doubled}, {array}, {sms}, {per_sm}, {device};
 * {answer} and {other}, the values of `answer` and `other`. */
typedef struct QuestionKind {
    const char *key, *title;
    const char *group; /* of a group, at most one question is asked */
    int from;          /* the number of the first lab whose lesson has the question's words */
    bool of_line;      /* about a line of the kernel */
    bool (*fits)(const Subject *);
    Value *answer, *other;
    double tolerance, relative; /* the larger one counts */
    const char *text, *because;
    int (*choose)(const Subject *, Question *); /* fills choices; returns the right one, from 1 */
} QuestionKind;

extern const QuestionKind question_kinds[]; /* ends with no key */

#endif
