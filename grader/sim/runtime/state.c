/* state.c - the library's state: its lock, its start, and the common beginning and end of each
 * call.
 *
 * The library starts at the first call that needs the GPU; end.c has its end. A child forked from a
 * process with an open GPU cannot use the GPU, as with CUDA: a message says so, and the child
 * writes no report. A thread cannot be cancelled during a call, since the lock would stay locked.
 */
#include "sim/runtime/runtime.h"
#include "sim/report/report.h"
#include "sim/report/trace.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

Runtime rt;
_Thread_local bool rt_in_host_function, rt_inside, rt_in_driver;

static _Thread_local int cancelling; /* as the program has set it */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;

/* ---- The lock ---- */

void rt_lock(void)
{
    pthread_mutex_lock(&lock);
}

/* A thread in an endless kernel does not prevent the program from ending. */
bool rt_lock_at_end(void)
{
    static bool in_vain;
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += !in_vain;
    in_vain = pthread_mutex_timedlock(&lock, &until);
    return !in_vain;
}

void rt_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void rt_wait(void)
{
    pthread_cond_wait(&woken, &lock);
}

void rt_wake(void)
{
    pthread_cond_broadcast(&woken);
}

/* ---- Messages ---- */

void rt_say(const char *format, ...)
{
    char text[1100] = "sim: ";
    va_list list;

    va_start(list, format);
    vsnprintf(text + strlen(text), sizeof text - strlen(text), format, list);
    va_end(list);
    finding_print(text);
}

/* ---- Fork ---- */

static void after_fork_in_child(void)
{
    rt.forked = rt.open;
    pthread_cond_init(&woken, NULL);
    rt_unlock();
}

static bool refuse_child(void)
{
    if (rt.refusal)
        return true;
    rt_say("this process was forked from one that had already used the GPU. CUDA does not survive "
           "a fork: make the first CUDA call after it, or start a new program (exec)");
    rt.refusal = cudaErrorInitializationError;
    return true;
}

/* ---- The start ---- */

static bool read_device(void)
{
    char folder[RT_PATH], why[900];

    settings_devices(&rt.settings, folder, sizeof folder);
    if (device_read(folder, rt.settings.device, &rt.device, why, sizeof why)) {
        if (!rt.settings.whole)
            device_slice(&rt.device);
        return true;
    }
    rt_say("%s", why);
    return false;
}

static bool open_memory(void)
{
    char why[400];

    if (!memory_open((size_t) rt.device.memory_bytes, rt.settings.uninitialised, why, sizeof why)) {
        rt_say("%s", why);
        return false;
    }
    if (rt.settings.time)
        memory_follow();
    return true;
}

static cudaError_t open_gpu(void)
{
    settings_read(&rt.settings);
    finding_quiet(rt.settings.quiet);
    finding_write_as(rt.settings.write);
    if (!read_device())
        return cudaErrorNoDevice;
    if (!open_memory())
        return cudaErrorInitializationError;
    if (!stream_first())
        return cudaErrorMemoryAllocation;
    report_device(&rt.device);
    if (*rt.settings.trace && !trace_start())
        rt_say("no trace is written: out of memory");
    watch_death();
    rt.open = true;
    return cudaSuccess;
}

__attribute__((constructor)) static void prepare(void)
{
    pthread_atfork(rt_lock, rt_unlock, after_fork_in_child);
}

/* ---- Each call ---- */

bool rt_enter(bool refuse_if_failed)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    rt_lock();
    rt_inside = true;
    rt.calls++;
    rt.user_calls += !rt_in_driver;
    if (rt.forked)
        refuse_child();
    if (!rt.open && !rt.refusal)
        rt.refusal = open_gpu();
    rt.refused = rt.refusal            ? rt.refusal
                 : rt_in_host_function ? cudaErrorNotPermitted
                 : refuse_if_failed    ? rt.sticky
                                       : cudaSuccess;
    return rt.refused != cudaSuccess;
}

cudaError_t rt_leave(cudaError_t error)
{
    struct UserObject *gone = objects_take();

    if (error && error != cudaErrorNotReady) /* which is a status, not an error */
        last_error_set(error);
    rt_inside = false;
    rt_unlock();
    objects_destroy(gone);
    pthread_setcancelstate(cancelling, NULL);
    return error;
}

/* ---- The last error of each thread ---- */

static _Thread_local cudaError_t last;

void last_error_set(cudaError_t error)
{
    last = error;
}

int refuse_unsupported(void); /* used by sim/runtime/stubs.c, which cannot include runtime.h */
int refuse_unsupported(void)
{
    last = cudaErrorNotSupported;
    return cudaErrorNotSupported;
}

/* Neither call needs the lock or opens the GPU. After a failed kernel, cudaGetLastError also resets
 * the error, but the next call returns it again. */
API cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last;

    advice_asked();
    last = cudaSuccess;
    return error;
}

API cudaError_t cudaPeekAtLastError(void)
{
    advice_asked();
    return last;
}
