/* quiz.h - make quiz: after a pass, three questions about the learner's own kernel, then the lab's
 * transfer questions.
 *
 * Answers come from the terminal, from standard input (one per line) or from --answers. On a
 * terminal a wrong answer may be corrected once. Results are kept in .warpbook/quiz (record.h).
 * They are for learning, not for marks: this program also prints the answers.
 */
#ifndef LEARNER_QUIZ_QUIZ_H
#define LEARNER_QUIZ_QUIZ_H

#include "judge/grade.h"
#include "learner/command_line.h"
#include "learner/quiz/questions.h"
#include "learner/quiz/record.h"

#include <stdio.h>

enum { QUIZ_QUESTIONS = QUIZ_OWN + LAB_QUESTIONS };

typedef struct Quiz {
    const LabEntry *entry;
    Question list[QUIZ_QUESTIONS]; /* first those about the kernel */
    int own, count;
    QuizRecords records;
} Quiz;

/* Where answers come from: `list`, "4,14,2" (NULL: `from`). Questions are printed to `to`. */
typedef struct Answers {
    const char *list;
    FILE *from, *to;
    bool is_terminal;
} Answers;

/* `warpbook quiz`; returns the exit status. */
int run_quiz(Options *options);

/* Asks what has not been answered yet, and explains each answer. */
void quiz_ask(Quiz *quiz, Answers *answers);

/* How many of the questions about the kernel, or of the transfer questions, have a right answer. */
int quiz_right(const QuizRecords *records, bool transfer);

/* `--format lines` (docs/lines.md). */
void quiz_lines(const Quiz *quiz);

/* For a grading in a course that counts the quiz: the right answers to the questions about this
 * kernel, as lines quiz.N.key, quiz.N.answer and quiz.N.tolerance; "" if the kernel does not pass
 * or cannot be simulated. The caller frees the text. */
char *quiz_right_answers(const Result *result, const char *shown);

#endif
