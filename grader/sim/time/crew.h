/* crew.h - threads that do the parts of a piece of work together. */
#ifndef SIM_TIME_CREW_H
#define SIM_TIME_CREW_H

#include <stdbool.h>

typedef struct Crew Crew;

/* Starts `helpers` threads, or as many as the system allows, for work of at most `most` parts.
 * NULL: out of memory. */
Crew *crew_open(int helpers, int most);
void crew_close(Crew *crew);
/* Calls part(self, i) for i < parts, on any of the threads. Only one thread, the leader, calls it.
 */
void crew_do(Crew *crew, int parts, void (*part)(void *self, int i), void *self);
/* Another thread helps the leader until is_enough(self). */
void crew_help(Crew *crew, bool (*is_enough)(void *self), void *self);

#endif
