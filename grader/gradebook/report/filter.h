/* filter.h - the students and labs that a report or an export is limited to. */
#ifndef GRADEBOOK_REPORT_FILTER_H
#define GRADEBOOK_REPORT_FILTER_H

#include "gradebook/report/results_query.h"

typedef struct Filter {
    int64_t person;      /* as in store/people.h; 0: all */
    const char *section; /* of the roster; NULL: all */
    const bool *labs;    /* by the index in all_labs; NULL: all */
} Filter;

bool filter_takes_lab(const Filter *filter, const char *lab);
bool filter_takes_student(const Filter *filter, const Row *row);
bool filter_is_everyone(const Filter *filter); /* all students */

#endif
