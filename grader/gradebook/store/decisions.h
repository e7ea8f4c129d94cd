/* decisions.h - what people decided about a person's lab: marks, an extension, an excuse.
 *
 * Decisions are rows that are only added. The latest one of a person, lab and kind counts, until a
 * row of the kind `undo` takes it back: then the one before counts again. They belong to the person
 * (people.h), whatever he hands in later.
 */
#ifndef GRADEBOOK_STORE_DECISIONS_H
#define GRADEBOOK_STORE_DECISIONS_H

#include "gradebook/store/store.h"
#include "base/marks.h"

typedef struct Decision {
    int64_t person;   /* temp.people's id */
    const char *lab;  /* its folder; "": all labs (extend only) */
    const char *kind; /* marks, extend, excuse */
    const char *value;
    const char *note, *author;
} Decision;

void decisions_add(Store *store, const Decision *decision);

/* Takes back the latest decision of this person, lab and kind. Returns false if there is none. */
bool decisions_undo(Store *store, const Decision *decision);

/* Fills a temporary table `decided` with the decisions that count: person, lab, kind, decision (its
 * id). Call people_match first. */
void decisions_find(Store *store);

/* The value of `marks`: "pass", "zero", or a number from 0 to 100. Returns false for others. */
bool decision_marks(const char *value, Decided *decided, double *marks);

/* The value of `extend`: a span after the deadline, such as 2d, or a time with its zone. */
bool decision_extension(const char *value, double *by_s, int64_t *until);

#endif
