/* data.h - the data that the page's script steps through, as JSON. */
#ifndef LEARNER_SEE_DATA_H
#define LEARNER_SEE_DATA_H

#include "learner/see/seen.h"

/* One line per source line, access list and array, so that programs can also read them by lines.
 * Safe inside a script element: < > & are escaped in all texts. */
void see_data(const Seen *seen, FILE *to);

/* For tests: writes a JSON string. */
void see_json_text(FILE *to, const char *text);

#endif
