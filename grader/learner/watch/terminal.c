/* terminal.c - the terminal of `make watch`.
 *
 * Enters and leaves in one place. The state that leaving needs is kept in static variables, because
 * a signal handler uses it: only write() and tcsetattr() are called there (signal-safety(7)).
 */
#include "learner/watch/terminal.h"
#include "base/util.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define SECOND_SCREEN "\033[?1049h"
#define FIRST_SCREEN  "\033[?1049l"
#define HOME          "\033[H"
#define CLEAR_LINE    "\033[K"
#define CLEAR_BELOW   "\033[J"

static struct termios before;
static volatile sig_atomic_t entered, second_screen;

TerminalKind terminal_kind(void)
{
    const char *term = getenv("TERM");

    if (!isatty(0) || !isatty(1))
        return TERMINAL_NONE;
    return term && *term && strcmp(term, "dumb") ? TERMINAL_FULL : TERMINAL_DUMB;
}

bool terminal_colour(TerminalKind kind)
{
    const char *no = getenv("NO_COLOR"); /* https://no-color.org: any value but the empty one */

    return kind == TERMINAL_FULL && (!no || !*no);
}

/* ---- In and out ---- */

void terminal_leave(void)
{
    if (second_screen && write(1, FIRST_SCREEN, sizeof FIRST_SCREEN - 1) < 0)
        second_screen = 0; /* the terminal is gone */
    second_screen = 0;
    if (entered)
        tcsetattr(0, TCSADRAIN, &before);
    entered = 0;
}

/* Our own crash: a terminal without an echo would be the worst of it. */
static void leave_and_die(int signal_number)
{
    terminal_leave();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void leave_on_the_way_out(void)
{
    static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    static bool done;

    if (done)
        return;
    done = true;
    atexit(terminal_leave);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], leave_and_die);
}

void terminal_enter(TerminalKind kind)
{
    struct termios now;

    if (kind == TERMINAL_NONE || tcgetattr(0, &before))
        return;
    leave_on_the_way_out();
    now = before;
    now.c_lflag &= ~(tcflag_t) (ICANON | ECHO);
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    now.c_cc[VINTR] = _POSIX_VDISABLE; /* Ctrl-C is a key: make does not print an error */
    entered = 1;
    tcsetattr(0, TCSADRAIN, &now);
    if (kind == TERMINAL_FULL) {
        second_screen = 1;
        write_all(1, SECOND_SCREEN, sizeof SECOND_SCREEN - 1);
    }
}

/* ---- The picture ---- */

void terminal_size(int *columns, int *rows)
{
    struct winsize size;
    bool known = !ioctl(1, TIOCGWINSZ, &size) && size.ws_col > 0 && size.ws_row > 0;

    *columns = known ? size.ws_col : 80;
    *rows = known ? size.ws_row : 24;
}

/* Each line is cleared after its text, and never before, so that nothing flickers. */
bool terminal_draw(const char *text)
{
    char *out;
    size_t bytes;
    FILE *stream = text_open(&out, &bytes);
    bool written;

    fputs(HOME, stream);
    for (; *text; text++)
        if (*text == '\n')
            fputs(CLEAR_LINE "\r\n", stream);
        else
            putc(*text, stream);
    fputs(CLEAR_LINE CLEAR_BELOW, stream);
    text_close(stream);
    written = write_all(1, out, bytes);
    free(out);
    return written;
}
