/* test_sandbox.c - the sandbox, seen from inside: a child closes it and tries an action. How the
 * child ends shows whether the action was stopped. Without seccomp, the tests are skipped.
 */
#include "base/lockdown.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <sys/prctl.h>
#include <asm/sockios.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static int own_pipe[2];

/* Each returns 0 if the action worked. */
static int do_fork(void)
{
    return syscall(SYS_fork) < 0;
}

static int do_libc_fork(void)
{
    return fork() < 0;
}

static int do_vfork(void)
{
    return system("true");
}

static int do_exec(void)
{
    return execl("/bin/true", "true", NULL);
}

static int do_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0);
}

static int do_unlink(void)
{
    return unlink("/nonexistent/file");
}

static int do_kill_parent(void)
{
    return kill(getppid(), 0);
}

static int do_raise(void)
{
    raise(SIGUSR1);
    return 0;
}

static int do_raise_limit(void)
{
    return (int) syscall(SYS_prlimit64, getppid(), RLIMIT_CORE, NULL, NULL);
}

static int do_read_limit(void)
{
    struct rlimit now;

    return getrlimit(RLIMIT_NOFILE, &now);
}

static int do_type_into_terminal(void)
{
    return ioctl(0, TIOCSTI, "x");
}

static int do_other_ioctl(void)
{
    int waiting;

    return ioctl(own_pipe[0], FIONREAD, &waiting);
}

static int do_32_bit_call(void)
{
#ifdef __x86_64__
    long result;

    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(20)
                     : "memory"); /* getpid, by its i386 number */
    return (int) result;
#else
    return -1;
#endif
}

static void *add_one(void *number)
{
    ++*(int *) number;
    return NULL;
}

static int do_thread(void)
{
    pthread_t thread;
    int number = 0;

    return pthread_create(&thread, NULL, add_one, &number) || pthread_join(thread, NULL) ||
           number != 1;
}

static void *fork_in_thread(void *unused)
{
    do_fork();
    return unused;
}

static int do_fork_in_thread(void)
{
    pthread_t thread;

    return pthread_create(&thread, NULL, fork_in_thread, NULL) || pthread_join(thread, NULL);
}

static int do_pipe(void)
{
    char byte = 'x';

    return write(own_pipe[1], &byte, 1) != 1 || read(own_pipe[0], &byte, 1) != 1;
}

static int do_map_and_read(void)
{
    char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = open("/proc/self/maps", O_RDONLY), null = open("/dev/null", O_RDWR);

    return memory == MAP_FAILED || fd < 0 || read(fd, memory, 100) <= 0 || null < 0;
}

/* 3: this kernel has no Landlock. A new file, an old one, the parent's memory. */
static int do_change_files(void)
{
    const long landlock_create_ruleset = 444;
    char memory[64];

    if (syscall(landlock_create_ruleset, NULL, 0, 1) < 1)
        return 3;
    PUT(memory, "/proc/%d/mem", (int) getppid());
    return open("/tmp/warpbook-test-serve", O_WRONLY | O_CREAT, 0600) >= 0 ||
           open("/proc/self/exe", O_WRONLY) >= 0 || open(memory, O_RDONLY) >= 0 ||
           open("/tmp", O_TMPFILE | O_WRONLY, 0600) >= 0;
}

/* Landlock has no rule for a file's attributes. */
static int do_note_beside_a_file(void)
{
    return setxattr("/etc/hostname", "user.note", "x", 1, 0);
}

static int do_date_a_file(void)
{
    return utimensat(AT_FDCWD, "/etc/hostname", NULL, 0);
}

static int do_memory_file(void)
{
    return memfd_create("x", 0) < 0;
}

/* 3: no Landlock, or no such folder here. */
static int do_shared_memory(void)
{
    if (syscall(444, NULL, 0, 1) < 1 || access("/dev/shm", F_OK))
        return 3;
    return open("/dev/shm", O_RDONLY | O_DIRECTORY) >= 0 ||
           open("/dev/shm/warpbook-test", O_WRONLY | O_CREAT, 0600) >= 0;
}

/* The kernel would send the parent a signal of our choice whenever the pipe can be read. */
static int do_set_owner(void)
{
    return fcntl(own_pipe[0], F_SETOWN, getppid());
}

static int do_set_owner_by_ioctl(void)
{
    int parent = getppid();

    return ioctl(own_pipe[0], FIOSETOWN, &parent);
}

static int do_choose_signal(void)
{
    return fcntl(own_pipe[0], F_SETSIG, SIGKILL);
}

static int do_other_fcntl(void)
{
    return fcntl(own_pipe[0], F_GETFL) < 0 || fcntl(own_pipe[0], F_DUPFD_CLOEXEC, 0) < 0;
}

static int do_filter(void)
{
    return prctl(PR_SET_SECCOMP, 2, NULL);
}

static int do_set_priority(void)
{
    return setpriority(PRIO_PROCESS, (id_t) getppid(), 10);
}

enum { DIES = 128 + SIGSYS };

static const struct {
    const char *name;
    int (*action)(void);
    int status; /* DIES; or 0: the action works */
} actions[] = {
    { "fork", do_fork, DIES },
    { "fork of libc", do_libc_fork, DIES },
    { "system", do_vfork, DIES },
    { "exec", do_exec, DIES },
    { "socket", do_socket, DIES },
    { "unlink", do_unlink, DIES },
    { "kill of the parent", do_kill_parent, DIES },
    { "prlimit of the parent", do_raise_limit, DIES },
    { "typing into the terminal", do_type_into_terminal, DIES },
    { "i386 calls", do_32_bit_call, DIES },
    { "fork in a thread", do_fork_in_thread, DIES },
    { "owner of a pipe", do_set_owner, DIES },
    { "owner of a pipe, by ioctl", do_set_owner_by_ioctl, DIES },
    { "signal of a pipe", do_choose_signal, DIES },
    { "a filter of its own", do_filter, DIES },
    { "priority of the parent", do_set_priority, DIES },
    { "a note in a file's attributes", do_note_beside_a_file, DIES },
    { "the date of a file", do_date_a_file, DIES },
    { "a file in memory", do_memory_file, DIES },
    { "other fcntl", do_other_fcntl, 0 },
    { "raise", do_raise, 0 },
    { "getrlimit", do_read_limit, 0 },
    { "other ioctl", do_other_ioctl, 0 },
    { "thread", do_thread, 0 },
    { "pipe", do_pipe, 0 },
    { "mmap and files", do_map_and_read, 0 },
};

static int inside(int (*action)(void))
{
    int status = 0;
    pid_t pid;

    if (pipe(own_pipe) || (pid = fork()) < 0)
        return -1;
    if (pid == 0) {
        signal(SIGUSR1, SIG_IGN);
        signal(SIGSEGV, SIG_DFL); /* without a sanitizer's report */
        alarm(20);
        if (!lockdown_close("/etc/hostname"))
            _exit(99);
        _exit(action());
    }
    close(own_pipe[0]);
    close(own_pipe[1]);
    while (waitpid(pid, &status, 0) < 0)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool no_filter_here(void)
{
    if (inside(do_pipe) != 99)
        return false;
    printf("(skipped: no seccomp here) ");
    return true;
}

/* A kernel built without i386 calls kills the process before any filter sees the call. */
static bool no_i386_calls_here(void)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        _exit(do_32_bit_call() <= 0);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        ;
    return pid > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

static void sandbox_stops_and_allows(void)
{
    if (no_filter_here())
        return;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        int wanted = actions[i].status, status = inside(actions[i].action);
        if (actions[i].action == do_32_bit_call && no_i386_calls_here())
            wanted = 128 + SIGSEGV;
        if (status != wanted) {
            printf("\n    %s: %d\n", actions[i].name, status);
            CU_FAIL("an action does not end as expected");
        }
    }
}

/* The filter also binds a thread that existed before. */
static void *fork_when_told(void *unused)
{
    char byte;

    if (read(own_pipe[0], &byte, 1) == 1)
        do_fork();
    return unused;
}

static void files_stay_as_they_are(void)
{
    int (*const actions[])(void) = { do_change_files, do_shared_memory };

    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        int status = inside(actions[i]);
        if (status == 3 || status == 99)
            printf("(skipped: no Landlock here) ");
        else
            CU_ASSERT_EQUAL(status, 0);
    }
}

static void sandbox_binds_older_threads(void)
{
    pid_t pid;
    int status = 0;

    if (no_filter_here() || pipe(own_pipe))
        return;
    pid = fork();
    if (pid == 0) {
        pthread_t thread;
        alarm(20);
        if (pthread_create(&thread, NULL, fork_when_told, NULL) ||
            !lockdown_close("/etc/hostname") || do_pipe())
            _exit(1);
        if (write(own_pipe[1], "x", 1) == 1)
            pthread_join(thread, NULL);
        _exit(0);
    }
    close(own_pipe[0]);
    close(own_pipe[1]);
    waitpid(pid, &status, 0);
    CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

static void inherited_descriptors_are_closed(void)
{
    int fd = open("/dev/null", O_RDONLY), high = fcntl(fd, F_DUPFD, 77), status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        lockdown_begin();
        _exit(fcntl(0, F_GETFD) >= 0 && fcntl(high, F_GETFD) < 0 ? 0 : 1);
    }
    close(fd);
    close(high);
    waitpid(pid, &status, 0);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

CU_SuiteInfo test_sandbox = {
    "sandbox",
    .pTests =
        (CU_TestInfo[]){
            { "stops and allows", sandbox_stops_and_allows },
            { "files stay as they are", files_stay_as_they_are },
            { "binds older threads", sandbox_binds_older_threads },
            { "inherited descriptors are closed", inherited_descriptors_are_closed },
            CU_TEST_INFO_NULL,
        },
};
