/* stop.h - stops gradebook on Ctrl-C and other signals. */
#ifndef GRADEBOOK_BASE_STOP_H
#define GRADEBOOK_BASE_STOP_H

#include <stdbool.h>

/* From now on the first signal (SIGINT, SIGTERM, ...) only sets a flag, for an orderly exit; the
 * second one exits immediately. */
void stop_on_signals(void);
bool stop_requested(void);

#endif
