/* history.h - .warpbook/history: one line per grading, oldest first.
 *
 * `at:2026-11-25T00:12:07Z lab:06_transpose verdict:slow ratio:0.4060 device:Teaching_GPU
 * kernel:0123456789abcdef`. `ratio` is that of the deciding case (record.h) and left out if speed
 * was not judged; a device's blanks are underscores. Lines are only added. When the file would
 * exceed HISTORY_MOST bytes, its older half is dropped. Lines that cannot be read are skipped.
 */
#ifndef LEARNER_PORTFOLIO_HISTORY_H
#define LEARNER_PORTFOLIO_HISTORY_H

#include "base/registry.h"
#include "base/verdict.h"
#include "judge/grade.h"

#include <stdbool.h>
#include <stdint.h>

enum { HISTORY_MOST = 512 << 10, HISTORY_ENTRIES = 2000, HISTORY_TIME = 24 };

typedef struct HistoryEntry {
    char at[HISTORY_TIME]; /* UTC: "2026-11-25T00:12:07Z" */
    Verdict verdict;
    double ratio; /* 0: speed was not judged */
    char device[64];
    uint64_t kernel; /* hash of the file that was graded; 0: unknown */
} HistoryEntry;

/* Adds a line; an entry without `at` is of now. Returns false with errno set on failure. */
bool history_add(const char *file, const LabEntry *entry, const HistoryEntry *what);

/* Adds a grading, to the history next to the progress file. Warns on stderr if that fails. */
void history_keep(const char *progress, const Result *result, const char *device);

/* Loads a lab's lines, the last `most` of them, oldest first; returns how many. */
int history_load(const char *file, const LabEntry *entry, HistoryEntry *entries, int most);

/* True if the latest grading of exactly this kernel passed, or was correct where speed cannot be
 * judged. */
bool history_passed(const char *file, const LabEntry *entry, uint64_t kernel);

/* When the lab was last graded with such a verdict; false: never. */
bool history_last_pass(const char *file, const LabEntry *entry, char at[HISTORY_TIME]);

#endif
