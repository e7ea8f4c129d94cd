/* screen.h - composes what `make watch` shows as text: pure, without a terminal. */
#ifndef LEARNER_WATCH_SCREEN_H
#define LEARNER_WATCH_SCREEN_H

#include <stdbool.h>

typedef struct Screen {
    int columns, rows;
    const char *head, *state; /* of the first line: its left and its right end */
    const char *body;         /* lines of any length; longer ones are broken */
    int scroll;               /* the number of the body's first line that is shown */
    const char *question;     /* instead of the keys; NULL: the keys */
    const char *state_colour; /* parameters of SGR, such as "32"; NULL: no colours at all */
} Screen;

/* Returns at most `rows` lines of at most `columns` characters, without a line end after the last
 * one. Control characters become '?', except SGR sequences (colours). The caller frees. */
char *screen_text(const Screen *screen);

/* The largest useful value of screen->scroll, and how many of the body's lines are visible. */
int screen_scroll_most(const Screen *screen);
int screen_page(const Screen *screen);

/* Removes escape sequences from a text, in place. */
void screen_plain(char *text);

#endif
