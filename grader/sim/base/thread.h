/* thread.h - threads of the simulator's own, in the program's process. */
#ifndef SIM_BASE_THREAD_H
#define SIM_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread with a small stack. It gets no signals, which are for the program's threads.
 * Returns false if the system does not allow it. */
bool thread_start(pthread_t *thread, void *(*work)(void *self), void *self);

#endif
