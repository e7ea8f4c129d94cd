/* record.h - .warpbook/quiz: what was answered, one line per question.
 *
 * `lab:06_transpose kernel:0123456789abcdef device:sim-teaching key:load_sectors@14 given:4 right:1
 * tries:1 date:2026-11-25`. The kernel is the hash of the file that the questions were about; a
 * quiz about another kernel of the lab replaces the lab's lines. Lines that cannot be read, or that
 * have a field `format`, are kept unchanged. Its path: state_path(progress, "quiz", ...).
 */
#ifndef LEARNER_QUIZ_RECORD_H
#define LEARNER_QUIZ_RECORD_H

#include "base/registry.h"

#include <stdbool.h>
#include <stdint.h>

enum { QUIZ_RECORDS = 16, QUIZ_RECORD_KEY = 40 };

typedef struct QuizRecord {
    char key[QUIZ_RECORD_KEY];
    double given;
    bool right;
    int tries;
} QuizRecord;

typedef struct QuizRecords {
    uint64_t kernel; /* 0: nothing was answered */
    char device[64], date[16];
    QuizRecord list[QUIZ_RECORDS];
    int count;
} QuizRecords;

/* Loads a lab's lines; those of the kernel in the last line count. A missing or unreadable file
 * gives none. */
void quiz_load(const char *file, const LabEntry *entry, QuizRecords *records);

/* Replaces the lab's lines, completely or not at all. Returns false with errno set on failure; an
 * unreadable file is not overwritten. */
bool quiz_save(const char *file, const LabEntry *entry, const QuizRecords *records);

/* The record of this key; NULL: none. */
const QuizRecord *quiz_find(const QuizRecords *records, const char *key);

#endif
