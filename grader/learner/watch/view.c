/* view.c - shows the state of `make watch`. */
#include "learner/watch/view.h"
#include "base/util.h"
#include "base/verdict.h"
#include "learner/watch/screen.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Plain lines ---- */

void view_lines(Watch *watch, const char *text)
{
    static bool said;

    if (watch->kind == TERMINAL_FULL || write_all(1, text, strlen(text)))
        return;
    watch->quit |= errno == EPIPE; /* as in: make watch | head */
    if (said)
        return;
    said = true;
    dprintf(2, "warpbook: cannot write the results: %s; grading continues\n", strerror(errno));
}

/* ---- The screen ---- */

static const char *state_word(const Watch *watch)
{
    const Grading *steps = &watch->steps;
    Verdict verdict;

    if (!state_exists(&watch->seen))
        return "file missing";
    if (!watch_busy(watch) && verdict_from_word(steps->verdict, &verdict))
        return verdict == BUILD ? "does not build" : verdict_label(verdict);
    if (!watch_busy(watch))
        return steps->verdict;
    return steps->timing ? "timing" : steps->built ? "checking" : "compiling";
}

/* Green for a pass, red for what is wrong, else bold only. */
static const char *state_colour(const Watch *watch)
{
    Verdict verdict;

    if (!terminal_colour(watch->kind))
        return NULL;
    if (watch_busy(watch) || !verdict_from_word(watch->steps.verdict, &verdict) ||
        verdict == UNCHANGED || verdict == CORRECT_ONLY)
        return "39";
    return verdict_passed(verdict) ? "32" : verdict == SLOW ? "33" : "31";
}

static const char *question(const Watch *watch, char *text, size_t size)
{
    switch (watch->asking) {
    case ASK_RESET:
        return put(text, size,
                   "Put the starter back? A copy of your kernel is kept.  y yes  "
                   "any other key: no");
    case ASK_LAB:
        put(text, size, "%s", "");
        if (*watch->unknown)
            append(text, size, "There is no lab %s. ", watch->unknown);
        return append(text, size, "A lab's number and Enter, or n (Enter alone: back): %s",
                      watch->typed);
    default:
        return NULL;
    }
}

/* The steps of the program that a key started, and of a grading that runs at the same time. */
static void print_running(const Watch *watch, FILE *out)
{
    const Grading *g = &watch->answer_steps;
    char steps[2000];

    fprintf(out, "Enter: back\n\nmake %s is running, %.0f s so far (up to half a minute)\n",
            watch->answers, floor(now_s() - watch->answer.began_s));
    if (g->building || g->built)
        fputs(grading_text(g, false, steps, sizeof steps), out);
    if (*watch->doing && (*g->verdict || !g->building))
        fprintf(out, "  %s ...\n", watch->doing);
    if (watch->grading.pid)
        fprintf(out, "\nYour kernel is being graded\n%s",
                grading_text(&watch->steps, false, steps, sizeof steps));
}

/* The way back stands first: a long answer is cut at the end of the screen. */
static void print_answer(const Watch *watch, FILE *out)
{
    if (!watch->answer_text)
        print_running(watch, out);
    else
        fprintf(out, "%s%s", watch->asking ? "" : "Enter: back\n\n", watch->answer_text);
}

static char *body(const Watch *watch)
{
    char steps[2000], *text;
    size_t bytes;
    FILE *out = text_open(&text, &bytes);

    if (*watch->notice)
        fprintf(out, "%s%s\n", watch->notice, strchr(watch->notice, '\n') ? "" : "\n");
    if (watch->showing == SHOW_ANSWER)
        print_answer(watch, out);
    else if (watch->showing == SHOW_REPORT && watch->report)
        fputs(watch->report, out);
    else
        fputs(grading_text(&watch->steps, false, steps, sizeof steps), out);
    text_close(out);
    if (!terminal_colour(watch->kind))
        screen_plain(text);
    return text;
}

static Screen screen_of(const Watch *watch, char *head, size_t head_size, char *asked,
                        size_t asked_size)
{
    Screen screen = { .scroll = watch->scroll, .state = state_word(watch) };

    terminal_size(&screen.columns, &screen.rows);
    screen.head = put(head, head_size, "%02d %s  labs/%s/kernel.cu", lab_number(watch->entry),
                      lab_name(watch->entry), watch->entry->folder);
    screen.question = question(watch, asked, asked_size);
    screen.body = body(watch);
    screen.state_colour = state_colour(watch);
    return screen;
}

void view_screen(Watch *watch)
{
    char head[PATH], asked[120], *text;
    Screen screen;

    if (watch->kind != TERMINAL_FULL || !watch->dirty)
        return;
    screen = screen_of(watch, head, sizeof head, asked, sizeof asked);
    text = screen_text(&screen);
    watch->dirty = false;
    if (!terminal_draw(text) && errno == EIO)
        watch->quit = true; /* the terminal is gone */
    free(text);
    free((char *) screen.body);
}

void view_scroll(Watch *watch, int lines, int pages)
{
    char head[PATH], asked[120];
    Screen screen = screen_of(watch, head, sizeof head, asked, sizeof asked);
    int most = screen_scroll_most(&screen), to = watch->scroll + lines;

    to += pages * (screen_page(&screen) - 1);
    watch->scroll = to < 0 ? 0 : to > most ? most : to;
    watch->dirty = true;
    free((char *) screen.body);
}
