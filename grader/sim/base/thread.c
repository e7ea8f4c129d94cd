/* thread.c - starts threads. */
#include "sim/base/thread.h"

#include <signal.h>

enum { STACK_BYTES = 1 << 19 };

bool thread_start(pthread_t *thread, void *(*work)(void *self), void *self)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    bool well;

    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    well = !pthread_create(thread, &attributes, work, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return well;
}
