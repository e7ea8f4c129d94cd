/* stop.h - Ctrl-C, and its kin. */
#ifndef GRADEBOOK_BASE_STOP_H
#define GRADEBOOK_BASE_STOP_H

#include <stdbool.h>

/* From now on the first signal (SIGINT, SIGTERM, ...) only sets a mark, for an end in good order;
 * the second ends the program at once. */
void stop_heed(void);
bool stop_asked(void);

#endif
