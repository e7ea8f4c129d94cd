/* terminal.h - the terminal of `make watch`: single keys, redrawn screens, and its old state back
 * on every way out. Plain termios and a few ANSI sequences. */
#ifndef LEARNER_WATCH_TERMINAL_H
#define LEARNER_WATCH_TERMINAL_H

#include <stdbool.h>

typedef enum TerminalKind {
    TERMINAL_NONE, /* standard input or output is not a terminal */
    TERMINAL_DUMB, /* keys work, but only plain lines can be printed */
    TERMINAL_FULL
} TerminalKind;

/* What standard input and output are. TERM=dumb, or no TERM, is a dumb terminal. */
TerminalKind terminal_kind(void);

/* True if texts may have colours: a full terminal, and NO_COLOR is not set. */
bool terminal_colour(TerminalKind kind);

/* Enter: keys arrive one by one without an echo; a full terminal shows its second screen, so that
 * leaving brings back what was there. Leave may be called at any time, also twice, and in a signal
 * handler. exit() leaves, and so do signals for which there is no other handler. */
void terminal_enter(TerminalKind kind);
void terminal_leave(void);

void terminal_size(int *columns, int *rows); /* 80 x 24 if unknown */

/* Replaces what a full terminal shows. Returns false, with errno set, if it cannot be written. */
bool terminal_draw(const char *text);

#endif
