/* stop.c - stops gradebook on Ctrl-C and other signals. */
#include "gradebook/base/stop.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t requested;

static void note(int number)
{
    (void) number;
    requested = 1;
}

void stop_on_signals(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action = { .sa_handler = note, .sa_flags = SA_RESETHAND };
        sigaction(signals[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
}

bool stop_requested(void)
{
    return requested;
}
