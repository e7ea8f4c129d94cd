/* signal.c - fatal signals: reports host code that used device memory, and writes the report with
 * the counts so far.
 *
 * A handler may call hardly any function, since the program may have been in malloc() or printf().
 * So the handler forks a copy of the process, which does the work. The original waits for the copy
 * and then dies of the same signal. If the copy hangs at a lock, an alarm kills it, and a message
 * says that there is no report. The program's own signal handlers are kept.
 */
#include "sim/runtime/runtime.h"
#include "sim/report/report.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COPY_SECONDS = 20, STACK_BYTES = 1 << 18 };

static const int faults[] = { SIGSEGV, SIGBUS };
static const int others[] = { SIGABRT, SIGFPE, SIGILL,  SIGTRAP, SIGINT,
                              SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };

enum { FAULTS = sizeof faults / sizeof *faults, OTHERS = sizeof others / sizeof *others };

/* ---- In the copy ---- */

static void report_fault(uint64_t address)
{
    char where[200];
    AddressKind ground = memory_address_kind(address);

    if (ground != ADDRESS_LIVE && ground != ADDRESS_FREED && ground != ADDRESS_GUARD)
        return;
    memory_describe(address, 1, where, sizeof where);
    rt_finding(FINDING_HOST_POINTER, true, NULL,
               "the program's host code reads or writes the device address 0x%llx: %s. Only "
               "kernels can access it; use cudaMemcpy",
               (unsigned long long) address, where);
}

static void report_inside(int number)
{
    if (rt.running)
        rt_say("the program was killed (%s) while kernel %s ran; that launch's counts are lost",
               strsignal(number), rt.running);
    else if (number == SIGSEGV || number == SIGBUS)
        rt_say("the program was killed (%s) in a CUDA call: it passed an invalid pointer, or the "
               "simulator has a bug",
               strsignal(number));
}

static void work_of_copy(int number, uint64_t address)
{
    signal(SIGALRM, SIG_DFL);
    alarm(COPY_SECONDS);
    report_died(number);
    if (rt_inside)
        report_inside(number);
    else if (number == SIGSEGV || number == SIGBUS)
        report_fault(address);
    _exit(!end_report());
}

/* ---- In the program ---- */

/* Restores the default action; the signal is delivered again when the handler returns. */
static void die_by(int number)
{
    struct sigaction usual = { .sa_handler = SIG_DFL };

    sigemptyset(&usual.sa_mask);
    sigaction(number, &usual, NULL);
    raise(number);
}

static bool has_something_to_do(int number)
{
    return rt.open && !rt.ended && rt.process == getpid() &&
           (number == SIGSEGV || number == SIGBUS || *rt.settings.report || rt.settings.table ||
            *rt.settings.found);
}

/* Like fork(), but without running the libraries' fork handlers, one of which takes the lock. */
static pid_t copy_process(void)
{
    return (pid_t) syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void on_death(int number, siginfo_t *info, void *context)
{
    static const char sorry[] = "sim: a signal killed the program, and no report can be written\n";
    static volatile sig_atomic_t begun;
    int status = 0, error = errno;
    pid_t copy;

    (void) context;
    if (begun++ || !has_something_to_do(number)) {
        die_by(number);
        return;
    }
    copy = copy_process();
    if (!copy)
        work_of_copy(number, (uint64_t) (uintptr_t) info->si_addr);
    while (copy > 0 && waitpid(copy, &status, 0) < 0 && errno == EINTR)
        ;
    if ((copy < 0 || status) && write(2, sorry, sizeof sorry - 1) < 0)
        status = 1; /* the message cannot be delivered either */
    errno = error;
    die_by(number);
}

/* The handler needs its own stack in case the program's stack has overflowed. */
static void give_stack(void)
{
    stack_t now, ours = { .ss_size = STACK_BYTES };

    if (sigaltstack(NULL, &now) || !(now.ss_flags & SS_DISABLE))
        return;
    ours.ss_sp = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ours.ss_sp != MAP_FAILED)
        sigaltstack(&ours, NULL);
}

static void watch(int number)
{
    struct sigaction now,
        ours = { .sa_sigaction = on_death, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };

    if (sigaction(number, NULL, &now) || (now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL)
        return;
    sigemptyset(&ours.sa_mask);
    sigaction(number, &ours, NULL);
}

void watch_death(void)
{
    rt.process = getpid();
    give_stack();
    for (int i = 0; i < FAULTS; i++)
        watch(faults[i]);
    if (!*rt.settings.report && !rt.settings.table && !*rt.settings.found)
        return;
    for (int i = 0; i < OTHERS; i++)
        watch(others[i]);
}
