/* fake_misdeeds.c - how the scripted runner breaks the protocol, when its script says so. */
#include "runner/fake_misdeeds.h"
#include "base/child.h"
#include "runner/fake_script.h"
#include "base/util.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

static void say_raw(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) < 0)
        _exit(1);
}

static void silent(void)
{
    for (;;)
        pause();
}

static void hang(void)
{
    for (volatile int on = 1; on;)
        ;
}

/* Bypasses a sanitizer's signal handler. */
static void crash(void)
{
    signal(SIGSEGV, SIG_DFL);
    kill(getpid(), SIGSEGV);
    silent();
}

static void flood(void)
{
    for (;;)
        say_raw(CHILD_OUT, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
}

static void print_flood(void)
{
    for (;;)
        say_raw(STDOUT_FILENO, "All work and no play makes Jack a dull boy.\n");
}

static void leave(void)
{
    _exit(0);
}

static void garbage(void)
{
    say_raw(CHILD_OUT, "PASSED 100/100\n");
    silent();
}

static void wrong_tag(void)
{
    say_raw(CHILD_OUT, "0123456789abcdef ok ms:0.001\n");
    silent();
}

/* Holds more and more memory, as the system counts it. It maps the same 64 MiB again and again, so
 * that the machine that runs the tests does not need as much memory as the limit. */
static void memory_hog(void)
{
    const size_t piece = 64 << 20;
    int fd = memfd_create("hog", 0);

    if (fd < 0 || ftruncate(fd, (off_t) piece))
        die("no memory to hog");
    for (;;) {
        mmap(NULL, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
        sleep_s(0.005);
    }
}

static void *spin(void *unused)
{
    (void) unused;
    for (volatile unsigned n = 0;; n++)
        ;
    return NULL;
}

/* Its threads keep the processor from the first thread. */
static void crowd(void)
{
    pthread_t thread;

    for (int i = 0; i < 16 * (int) sysconf(_SC_NPROCESSORS_ONLN); i++)
        if (pthread_create(&thread, NULL, spin, NULL))
            die("no thread to crowd with");
    spin(NULL);
}

/* NULL for a misdeed that happens after the answer. */
static const struct {
    const char *name;
    void (*commit)(void);
} misdeeds[] = {
    { "silent", silent },
    { "hang", hang },
    { "crash", crash },
    { "flood", flood },
    { "print-flood", print_flood },
    { "exit", leave },
    { "garbage", garbage },
    { "wrong-tag", wrong_tag },
    { "memory-hog", memory_hog },
    { "crowd", crowd },
    { "early", NULL }, /* answers before a command arrives */
    { "twice", NULL }, /* sends the same answer again */
};

static bool planned(const char *name, const char *step)
{
    for (int i = 0; i < script.misdeed_count; i++)
        if (is(script.misdeeds[i].name, name) && is(script.misdeeds[i].step, step))
            return true;
    return false;
}

void misbehave(const char *step)
{
    for (size_t i = 0; i < sizeof misdeeds / sizeof *misdeeds; i++)
        if (misdeeds[i].commit && planned(misdeeds[i].name, step))
            misdeeds[i].commit();
}

void misdeeds_check(void)
{
    for (int i = 0; i < script.misdeed_count; i++) {
        size_t k = 0;
        while (k < sizeof misdeeds / sizeof *misdeeds &&
               !is(misdeeds[k].name, script.misdeeds[i].name))
            k++;
        if (k == sizeof misdeeds / sizeof *misdeeds)
            die("fake runner: unknown misdeed: %s", script.misdeeds[i].name);
    }
}

void misdeeds_answered(const char *command, const char *line)
{
    if (planned("early", command))
        say_raw(CHILD_OUT, "0123456789abcdef ok ms:0.001\n");
    if (planned("twice", command))
        say_raw(CHILD_OUT, line);
}
