/* watch.c - make watch: waits for keys, signals, saves and the programs that run. */
#include "learner/watch/watch.h"
#include "base/util.h"
#include "learner/next.h"
#include "learner/watch/labs.h"
#include "learner/watch/state.h"
#include "learner/watch/view.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Signals: each becomes a byte in a pipe ---- */

static int signals[2];

static void note_signal(int number)
{
    const char byte = (char) number;
    int kept = errno;

    if (write(signals[1], &byte, 1) < 0) /* the pipe is full: the loop is awake anyway */
        kept = errno == EAGAIN ? kept : errno;
    errno = kept;
}

static void catch (int number)
{
    struct sigaction action = { .sa_handler = note_signal, .sa_flags = SA_RESTART };

    sigaction(number, &action, NULL);
}

static bool catch_signals(void)
{
    static const int caught[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                  SIGTSTP, SIGCONT, SIGCHLD, SIGWINCH };

    if (pipe2(signals, O_CLOEXEC | O_NONBLOCK))
        return false;
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        catch (caught[i]);
    signal(SIGPIPE, SIG_IGN);
    return true;
}

/* Stops like any program, but with the terminal as it was. */
static void suspend(Watch *watch)
{
    terminal_leave();
    signal(SIGTSTP, SIG_DFL);
    raise(SIGTSTP);
    catch (SIGTSTP);
    terminal_enter(watch->kind); /* the kernel drops SIGTSTP in an orphaned process group, and no
                                    SIGCONT follows */
    watch->dirty = true;
}

/* Returns the signal that ends the program, or 0. */
static int take_signals(Watch *watch)
{
    char bytes[64];
    ssize_t got = read(signals[0], bytes, sizeof bytes);

    for (ssize_t i = 0; i < got; i++)
        switch (bytes[i]) {
        case SIGTSTP:
            suspend(watch);
            break;
        case SIGCONT:
            terminal_leave(); /* a shell may have changed the terminal in the meantime */
            terminal_enter(watch->kind);
            watch->dirty = true;
            break;
        case SIGWINCH:
            watch->dirty = true;
            break;
        case SIGCHLD:
            break;
        default:
            return bytes[i];
        }
    return 0;
}

/* ---- Keys ---- */

static void take_keys(Watch *watch)
{
    char bytes[256];
    size_t at = 0, used = 1;
    ssize_t got = read(0, bytes, sizeof bytes);

    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        watch->input_over = true;
    while (got > 0 && at < (size_t) got && used) {
        int key = key_read(bytes + at, (size_t) got - at, &used);
        at += used;
        if (key != KEY_NONE)
            watch_key(watch, key);
    }
}

/* ---- The loop ---- */

enum { SIGNALS, INPUT, FOLDER, OUT, EVENTS, ANSWER, ANSWER_EVENTS, SOURCES };

static void wait_for_any(const Watch *watch, struct pollfd *source)
{
    const int fds[SOURCES] = { signals[0],          watch->input_over ? -1 : 0, watch->saved.fd,
                               watch->grading.out,  watch->grading.events,      watch->answer.out,
                               watch->answer.events };

    for (int i = 0; i < SOURCES; i++)
        source[i] = (struct pollfd){ fds[i], POLLIN, 0 };
    if (poll(source, SOURCES, (int) (watch_patience_s(watch) * 1000) + 1) < 0)
        for (int i = 0; i < SOURCES; i++)
            source[i].revents = 0;
}

/* Without a terminal the end of the input ends the program, after the grading that runs. */
static bool is_over(const Watch *watch)
{
    return watch->quit || (watch->input_over && (watch->kind != TERMINAL_NONE ||
                                                 (!watch_busy(watch) && !watch->answer.pid)));
}

/* Returns the signal that ended it, or 0. */
static int loop(Watch *watch)
{
    struct pollfd source[SOURCES];
    int ended_by = 0;

    while (!ended_by && !is_over(watch)) {
        view_screen(watch);
        wait_for_any(watch, source);
        ended_by = take_signals(watch);
        if (source[INPUT].revents)
            take_keys(watch);
        if (source[FOLDER].revents)
            saved_take(&watch->saved);
        watch_jobs(watch);
        watch_file(watch);
    }
    return ended_by;
}

/* ---- The command ---- */

static const LabEntry *choose_lab(const Watch *watch)
{
    return watch->options->count ? watch->options->labs[0] : lab_after(&watch->book, NULL);
}

static int die_by(int number)
{
    signal(number, SIG_DFL);
    raise(number);
    return COULD_NOT;
}

/* What stays in the terminal's history. */
static void say_goodbye(const Watch *watch)
{
    if (watch->kind == TERMINAL_FULL && watch->farewell)
        fputs(watch->farewell, stdout);
    fflush(stdout);
}

static int open_watch(Watch *watch, const LabEntry **entry)
{
    char problem[PATH + 300];

    if (watch->options->count > 1) {
        fprintf(stderr, "warpbook: watch takes one lab: make watch LAB=%s\n",
                lab_name(watch->options->labs[0]));
        return USAGE;
    }
    if (!workbook_find(&watch->book, problem, sizeof problem) || !catch_signals()) {
        fprintf(stderr, "warpbook: %s\n", *problem ? problem : strerror(errno));
        return COULD_NOT;
    }
    *entry = choose_lab(watch);
    if (!*entry)
        printf("All labs are done. To watch one of them: make watch LAB=%s\n",
               lab_name(&all_labs[0]));
    return DONE;
}

int run_watch(Options *options)
{
    static Watch watch;
    const LabEntry *entry = NULL;
    int status, ended_by;

    watch = (Watch){ .options = options,
                     .kind = terminal_kind(),
                     .saved.fd = -1,
                     .grading = { .out = -1, .events = -1 },
                     .answer = { .out = -1, .events = -1 } };
    status = open_watch(&watch, &entry);
    if (status != DONE || !entry)
        return status;
    job_adopt_orphans();
    terminal_enter(watch.kind);
    watch_lab(&watch, entry);
    ended_by = loop(&watch);
    terminal_leave();
    say_goodbye(&watch);
    watch_close(&watch);
    return ended_by ? die_by(ended_by) : DONE;
}
