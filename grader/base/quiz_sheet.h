/* quiz_sheet.h - labs/NN/quiz.txt: a student's answers to the questions of make quiz, handed in
 * next to kernel.cu.
 *
 * Lines `key: value`; # begins a comment. `kernel` is the hash of the kernel.cu that was asked
 * about, `device` the simulated GPU; every other key is a question. `make quiz` writes the file,
 * and a student can edit it. It counts only in a course whose file says so, and gradebook computes
 * the right answers itself.
 */
#ifndef BASE_QUIZ_SHEET_H
#define BASE_QUIZ_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { QUIZ_SHEET_ANSWERS = 16, QUIZ_SHEET_BYTES = 16 << 10, QUIZ_SHEET_KEY = 40 };

typedef struct QuizSheet {
    uint64_t kernel; /* 0: unknown */
    char device[64];
    char key[QUIZ_SHEET_ANSWERS][QUIZ_SHEET_KEY];
    double given[QUIZ_SHEET_ANSWERS];
    int count;
} QuizSheet;

/* Lines that cannot be read are skipped; of equal keys the first counts. */
void quiz_sheet_read(const char *text, size_t size, QuizSheet *sheet);
void quiz_sheet_write(const QuizSheet *sheet, FILE *to);

/* Stores the answer to this question; returns false if the sheet has no answer to it. */
bool quiz_sheet_answer(const QuizSheet *sheet, const char *key, double *given);

#endif
