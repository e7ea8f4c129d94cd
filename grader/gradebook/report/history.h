/* history.h - prints what happened to a person's marks, in the order of time. */
#ifndef GRADEBOOK_REPORT_HISTORY_H
#define GRADEBOOK_REPORT_HISTORY_H

#include "gradebook/store/store.h"

/* `who` as in people_find; also a student whose imports were replaced or taken back. lab "": all
 * labs. Returns false and sets `problem` if no person or several people match. */
bool history_print(Store *store, const char *who, const char *lab, char *problem, size_t size);

#endif
