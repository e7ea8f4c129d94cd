/* rt_state.c - the library's one state: its lock, how it begins, and how it ends with the process.
 *
 * Begin: at the first call that needs the GPU. End: a destructor, after all the program's own; it
 * tells what was never waited for and never freed, and writes the report. A child that was forked
 * from a process with an open GPU has none, as with CUDA: it is told so, and writes no report. A
 * host that touches device memory dies by SIGSEGV, as it should, but first it is told why.
 */
#include "rt.h"
#include "report.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SIM_DEVICES
#define SIM_DEVICES "grader/sim/devices"
#endif

Runtime rt;
_Thread_local bool rt_in_host_function;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;

/* ---- The lock ---- */

void rt_lock(void)
{
    pthread_mutex_lock(&lock);
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

/* ---- Saying ---- */

void rt_say(const char *format, ...)
{
    char text[600];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(stderr, "sim: %s\n", text);
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
    rt_say("this process was forked from one that had used the GPU already. CUDA does not survive "
           "a fork: make the first CUDA call after it, or start the program anew (exec)");
    rt.refusal = cudaErrorInitializationError;
    return true;
}

/* ---- A host that touches device memory ---- */

static struct sigaction older;

static void tell_fault(uint64_t address)
{
    char where[200];
    Ground ground = memory_ground(address);

    if (ground != GROUND_LIVE && ground != GROUND_FREED && ground != GROUND_GAP)
        return;
    memory_describe(address, 1, where, sizeof where);
    rt_finding(FINDING_HOST_POINTER, true, NULL,
               "the program's host code reads or writes the device address 0x%llx: %s. Only "
               "kernels may; copy with cudaMemcpy",
               (unsigned long long) address, where);
    report_at_exit(*rt.settings.report ? rt.settings.report : NULL, rt.settings.table);
}

/* Where the fault was inside this library, the lock is held, and nothing can be said. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    (void) context;
    sigaction(number, &older, NULL);
    if (pthread_mutex_trylock(&lock))
        return;
    tell_fault((uint64_t) (uintptr_t) info->si_addr);
    rt_unlock();
}

/* A program that looks after its own faults is left alone. */
static void watch_faults(void)
{
    struct sigaction now, ours = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };

    if (sigaction(SIGSEGV, NULL, &now) || (now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL)
        return;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGSEGV, &ours, &older);
}

/* ---- Begin ---- */

static bool read_device(void)
{
    char why[400];

    if (device_read(SIM_DEVICES, rt.settings.device, &rt.device, why, sizeof why)) {
        device_slice(&rt.device);
        return true;
    }
    rt_say("%s", why);
    return false;
}

static bool open_memory(void)
{
    char why[400];

    if (memory_open((size_t) rt.device.memory_bytes, rt.settings.uninitialised, why, sizeof why))
        return true;
    rt_say("%s", why);
    return false;
}

static cudaError_t open_gpu(void)
{
    settings_read(&rt.settings);
    finding_quiet(rt.settings.quiet);
    if (!read_device())
        return cudaErrorNoDevice;
    if (!open_memory())
        return cudaErrorInitializationError;
    if (!stream_first())
        return cudaErrorMemoryAllocation;
    report_device(&rt.device);
    watch_faults();
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
    rt_lock();
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
    if (error)
        last_error_set(error);
    rt_unlock();
    return error;
}

/* ---- End ---- */

typedef struct Leaks {
    int count;
    size_t bytes;
    uint64_t first;
} Leaks;

static void count_leak(const Allocation *allocation, void *self)
{
    Leaks *leaks = self;

    if (allocation->name) /* a variable of the program's */
        return;
    if (!leaks->count++)
        leaks->first = allocation->base;
    leaks->bytes += allocation->bytes;
}

static void tell_leaks(void)
{
    Leaks leaks = { 0 };
    char first[200];

    memory_each(count_leak, &leaks);
    if (!leaks.count || rt.sticky)
        return;
    memory_describe(leaks.first, 1, first, sizeof first);
    rt_finding(FINDING_LEAK, false, NULL,
               "%d allocation%s, %zu bytes in all, %s never freed; the first is at %s", leaks.count,
               leaks.count > 1 ? "s" : "", leaks.bytes, leaks.count > 1 ? "were" : "was", first);
}

/* Nothing waited for it: on a GPU it may or may not have run. */
static void tell_unfinished(void)
{
    const Work *first = NULL;
    int count = 0;

    for (const Stream *stream = rt.streams; stream; stream = stream->next)
        for (const Work *work = stream->first; work; work = work->next)
            if (work->kind == WORK_KERNEL) {
                first = !first || work->number < first->number ? work : first;
                count++;
            }
    if (first)
        rt_finding(FINDING_LAUNCH, false, first->kernel.function->plain,
                   "the program ended before %s%d launch%s ran: nothing waited for %s. Call "
                   "cudaDeviceSynchronize() before the end",
                   count > 1 ? "its last " : "", count, count > 1 ? "es" : "",
                   count > 1 ? "them" : "it");
}

__attribute__((destructor)) static void end(void)
{
    const char *path = *rt.settings.report ? rt.settings.report : NULL;

    if (pthread_mutex_trylock(&lock)) /* another thread is still inside: its counts would change */
        return;
    if (rt.open && !rt.forked) {
        tell_unfinished();
        tell_leaks();
        if (!report_at_exit(path, rt.settings.table))
            rt_say("the report %s cannot be written: %s", path ? path : "", strerror(errno));
    }
    rt_unlock();
}
