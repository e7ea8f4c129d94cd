/* labs.h - which lab `make watch` is about: what is passed stays passed until the lab changes. */
#ifndef LEARNER_WATCH_LABS_H
#define LEARNER_WATCH_LABS_H

#include "build/workbook.h"

#include <stdbool.h>

typedef enum LabState {
    LAB_OPEN,
    LAB_DONE,   /* passed, or correct where speed could not be judged */
    LAB_CHANGED /* done, but with another version of the lab: it is checked again */
} LabState;

LabState lab_state(const Workbook *book, const LabEntry *entry);

/* The first lab after `after` that is not LAB_DONE, from the first lab on if the end is reached.
 * NULL for `after`: begins at the first lab. Returns NULL if all labs are done. */
const LabEntry *lab_after(const Workbook *book, const LabEntry *after);

#endif
