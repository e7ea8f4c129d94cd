/* publish.h - the marks that students see: frozen when the instructor publishes them.
 *
 * Publishing adds a row for each result that is new or differs from what was published last.
 * Rows are never changed, so each mark that a student ever saw is kept.
 */
#ifndef GRADEBOOK_REPORT_PUBLISH_H
#define GRADEBOOK_REPORT_PUBLISH_H

#include "gradebook/report/results_table.h"

#include <stdio.h>

typedef struct Publication {
    const char *author, *note;
    int64_t from; /* students see it from then on, in seconds since 1970; 0: at once */
} Publication;

/* Adds a publication of these results, except those whose marks are open. Returns the number of
 * results that are new, have changed, or are shown earlier than before. */
int publish(Store *store, const ResultsTable *results, const Publication *publication);

/* Prints per lab what publishing these results would change: how many are new or open, and each
 * result that differs from what was published. Prints nothing about a lab without such results,
 * or, with `only_published`, that was never published. Returns the number of lines. */
int publish_print_changes(Store *store, const ResultsTable *results, bool only_published, FILE *to);

/* Replaces results by what students may see now. Labs of which nothing is published leave the
 * table. Returns false if there are no others. */
bool published_apply(Store *store, ResultsTable *results);

#endif
