/* whatif.h - what removing one cause of slowness would be worth at most: the modelled time of a
 * call again, without the cause. */
#ifndef LEARNER_WHATIF_H
#define LEARNER_WHATIF_H

#include "judge/session.h"

typedef struct WhatIf {
    CauseSet without;
    double ms;
    Limit limit; /* of the call without the causes */
} WhatIf;

/* A cause that is worth less is not shown. */
extern const double whatif_least;

/* Fills a row for each cause that a call with these limits may have; returns their number. */
int whatif_choose(const Limits *limits, WhatIf rows[CAUSES]);

/* Calls the kernel once for each row and fills the row. Several calls run at once if the machine
 * has several processors. Returns false, with the reason in `why`, if a call fails. */
bool whatif_run(Session *session, const LabEntry *entry, const char *object, const Case *sized,
                uint64_t seed, WhatIf *rows, int count, char *why, size_t size);

/* Copies the rows that are worth showing, the most valuable first; returns their number. `ms`: the
 * time with all causes. */
int whatif_worth(const WhatIf *rows, int count, double ms, WhatIf worth[CAUSES]);

/* "without bank conflicts at most 1.90x; then limited by DRAM" */
char *whatif_sentence(const WhatIf *row, double ms, char *text, size_t size);

#endif
