/* end.c - the end of the process: reports work that never ran and memory that was never freed, and
 * writes the report. It runs as a destructor, after all destructors of the program, or in
 * quick_exit(); signal.c handles fatal signals. _exit() cannot be intercepted, so there is no
 * report after it.
 */
#include "sim/runtime/runtime.h"
#include "sim/report/totals.h"
#include "sim/report/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Leftovers ---- */

typedef struct Leaks {
    int count;
    size_t bytes;
    const Allocation *first;
} Leaks;

static void count_leak(const Allocation *allocation, void *self)
{
    Leaks *leaks = self;

    if (allocation->kind == VARIABLE_GLOBAL || allocation->kind == VARIABLE_CONST ||
        allocation->name) /* a variable of the program */
        return;
    if (!leaks->count++)
        leaks->first = allocation;
    leaks->bytes += allocation->bytes;
}

static void report_leaks(void)
{
    Leaks leaks = { 0 };
    char first[200];

    memory_each(count_leak, &leaks);
    if (!leaks.count || rt.sticky || !rt.settings.leaks)
        return;
    memory_name(leaks.first, first, sizeof first);
    if (leaks.count == 1)
        rt_finding(FINDING_LEAK, false, NULL, "%s was never freed", first);
    else
        rt_finding(FINDING_LEAK, false, NULL,
                   "%d allocations, %zu bytes in total, were never freed; the first is %s",
                   leaks.count, leaks.bytes, first);
}

/* Reports launches that the program did not wait for: on a GPU they may or may not have run. */
static void report_unfinished(void)
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
                   "the program ended before %s%d launch%s ran, since it did not wait for %s. Call "
                   "cudaDeviceSynchronize() at the end",
                   count > 1 ? "its last " : "", count, count > 1 ? "es" : "",
                   count > 1 ? "them" : "it");
}

/* ---- The report ---- */

/* If findings decide the exit status of `warpbook sim`, it checks whether the file has a byte. */
static void note_found(void)
{
    int fd =
        *rt.settings.found && finding_count() ? open(rt.settings.found, O_WRONLY | O_CLOEXEC) : -1;

    if (fd < 0)
        return;
    if (write(fd, "x", 1) != 1)
        rt_say("findings cannot be passed on to warpbook sim: %s", strerror(errno));
    close(fd);
}

/* A process without launches leaves the file unchanged, as with the report. */
static void write_trace(void)
{
    FILE *out;
    bool well;

    if (!*rt.settings.trace || !trace_is_on() || !report_so_far()->kernel_count)
        return;
    out = fopen(rt.settings.trace, "we");
    well = out;
    if (out) {
        trace_write(report_so_far()->timeline, &rt.device, out);
        well = !ferror(out);
        well &= !fclose(out);
    }
    if (!well)
        rt_say("the trace %s cannot be written: %s", rt.settings.trace, strerror(errno));
}

bool end_report(void)
{
    const char *path = *rt.settings.report ? rt.settings.report : NULL;

    note_found();
    write_trace();
    if (*rt.settings.sarif && !report_sarif(rt.settings.sarif))
        rt_say("the SARIF file %s cannot be written: %s", rt.settings.sarif, strerror(errno));
    if (report_at_exit(path, rt.settings.table))
        return true;
    rt_say("the report %s cannot be written: %s", path ? path : "", strerror(errno));
    return false;
}

/* Called once, in a process that has used the GPU. */
static void end(void)
{
    if (!rt.open || rt.forked || rt.ended)
        return;
    rt.ended = true;
    report_unfinished();
    advice_end();
    report_leaks();
    clock_report();
    end_report();
}

/* Another thread may still be in a call and change counts: it has one second to return. */
__attribute__((destructor)) static void leave(void)
{
    if (rt_lock_at_end()) {
        end();
        rt_unlock();
        return;
    }
    if (rt.open && !rt.forked && (*rt.settings.report || rt.settings.table))
        rt_say("no report was written: the program ended while one of its threads was in a kernel "
               "or a CUDA call. main() must wait for all threads");
}

__attribute__((constructor)) static void prepare(void)
{
    at_quick_exit(leave);
}
