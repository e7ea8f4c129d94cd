/* view.h - shows the state of `make watch`: a screen on a full terminal, plain lines elsewhere. */
#ifndef LEARNER_WATCH_VIEW_H
#define LEARNER_WATCH_VIEW_H

#include "learner/watch/state.h"

/* Draws the screen anew if it is out of date. Does nothing on a dumb terminal or a pipe. */
void view_screen(Watch *watch);

/* Scrolls the screen's body by lines, or by pages. */
void view_scroll(Watch *watch, int lines, int pages);

/* Prints these lines on a dumb terminal or a pipe; does nothing on a full one. If they cannot be
 * written, says so once on standard error. */
void view_lines(Watch *watch, const char *text);

#endif
