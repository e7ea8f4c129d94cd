/* idle.c - executes work while the program makes no call.
 *
 * Work is executed when a call waits for it. But a program may wait elsewhere, for example for a
 * semaphore that a host function of a stream posts, or the destructor of a user object. So once one
 * of those is queued, a thread periodically checks whether the program has stopped making calls,
 * and then executes the work up to that function. It may also wait for what a kernel writes to
 * memory that both use, so if there is such memory, all work is executed once the program has made
 * no call for longer. While the program makes calls, the thread does nothing, so the order is the
 * same in each run.
 */
#include "sim/runtime/runtime.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { LOOKS_BEFORE_ALL = 8 }; /* without a call in between: two seconds */

static const struct timespec between_looks = { .tv_nsec = 250 * 1000 * 1000 };

static bool has_shared_memory; /* that the host and kernels use */

/* The stream with the earliest host function, or with the earliest work whose end may destroy a
 * user object; *number: the number of that work. */
static Stream *waiting_stream(uint64_t *number)
{
    Stream *first = NULL;

    for (Stream *stream = rt.streams; stream; stream = stream->next)
        for (const Work *work = stream->first; work; work = work->next)
            if ((work->kind == WORK_HOST || work->held) && !stream->busy &&
                (!first || work->number < *number)) {
                first = stream;
                *number = work->number;
                break;
            }
    return first;
}

/* The stream with the earliest work. */
static Stream *first_stream(uint64_t *number)
{
    Stream *first = NULL;

    for (Stream *stream = rt.streams; stream; stream = stream->next)
        if (stream->first && !stream->busy && (!first || stream->first->number < *number)) {
            first = stream;
            *number = stream->first->number;
        }
    return first;
}

static void do_waiting(bool all)
{
    Stream *stream;
    uint64_t number;

    rt_inside = true;
    while ((stream = all ? first_stream(&number) : waiting_stream(&number)))
        stream_do(stream, number);
    rt_inside = false;
}

static void *look_now_and_then(void *unused)
{
    uint64_t calls = 0;
    int looks = 0; /* since the last call */
    struct UserObject *gone;

    (void) unused;
    for (;;) {
        nanosleep(&between_looks, NULL);
        rt_lock();
        looks = rt.calls == calls ? looks + 1 : 0;
        if (looks)
            do_waiting(has_shared_memory && looks >= LOOKS_BEFORE_ALL);
        calls = rt.calls;
        gone = objects_take();
        rt_unlock();
        objects_destroy(gone);
    }
    return NULL;
}

/* Blocks all signals in the thread: they are for the program's own threads. */
static void begin(void)
{
    sigset_t all, before;
    pthread_t thread;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!pthread_create(&thread, NULL, look_now_and_then, NULL))
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void idle_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, begin);
}

void idle_watch_memory(void)
{
    has_shared_memory = true;
    idle_watch();
}

bool idle_watches_memory(void)
{
    return has_shared_memory;
}
