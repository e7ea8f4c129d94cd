/* state.c - what `make watch` knows and does: gradings, keys, labs. */
#include "learner/watch/state.h"
#include "base/util.h"
#include "learner/next.h"
#include "learner/predictions.h"
#include "learner/watch/labs.h"
#include "learner/watch/reset.h"
#include "learner/watch/result_text.h"
#include "learner/watch/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An editor may write a file in several steps. */
static const double settle_s = 0.01;

/* How often the file is checked without an event: network file systems report none. */
static const double check_s = 1, check_alone_s = 0.25;

/* ---- A grading ---- */

/* The arguments of a command that takes a lab and a device. */
enum { WORDS = 12 };
static void arguments(const Watch *watch, const char *command, bool events, char *argv[WORDS])
{
    const Options *options = watch->options;
    int count = 0;

    argv[count++] = "warpbook";
    argv[count++] = (char *) command;
    argv[count++] = (char *) watch->entry->folder;
    if (events) {
        argv[count++] = "--events";
        argv[count++] = "3";
    }
    if (options->device) {
        argv[count++] = "--device";
        argv[count++] = (char *) options->device;
    }
    if (!strcmp(command, "grade") && options->course) {
        argv[count++] = "--course";
        argv[count++] = (char *) options->course;
    }
    argv[count] = NULL;
}

static void set_text(char **text, const char *to)
{
    free(*text);
    *text = to ? xstrdup(to) : NULL;
}

static void show(Watch *watch, Showing showing)
{
    watch->showing = showing;
    watch->scroll = 0;
    watch->dirty = true;
}

/* Back from an answer. */
static void show_gradings(Watch *watch)
{
    show(watch, watch_busy(watch) ? SHOW_STEPS : SHOW_REPORT);
}

/* Shown above the next grading. */
static void give_notice(Watch *watch, const char *text)
{
    PUT(watch->notice, "%s", text);
    watch->notice_new = true;
}

static void finish_with(Watch *watch, const char *text, const char *farewell)
{
    set_text(&watch->report, text);
    set_text(&watch->farewell, farewell);
    view_lines(watch, text);
    if (watch->showing == SHOW_STEPS)
        show(watch, SHOW_REPORT);
    watch->dirty = true;
}

static void cannot_grade(Watch *watch, int why)
{
    char text[200], farewell[200];

    PUT(farewell, "Cannot grade: %s.\n", strerror(why));
    finish_with(watch, PUT(text, "Cannot grade: %s. Save again to retry.\n", strerror(why)),
                farewell);
}

static void start_grading(Watch *watch)
{
    char *argv[WORDS], text[PATH + 200];

    job_kill(&watch->answer);
    watch->steps = (Grading){ 0 };
    watch->steps_printed = 0;
    if (!watch->notice_new)
        watch->notice[0] = 0;
    watch->notice_new = false;
    arguments(watch, "grade", true, argv);
    view_lines(watch, PUT(text, "\nlabs/%s/kernel.cu: grading\n", watch->entry->folder));
    if (*watch->notice)
        view_lines(watch, PUT(text, "%s\n", watch->notice));
    show(watch, SHOW_STEPS);
    if (!job_start(&watch->grading, argv))
        cannot_grade(watch, errno);
}

static void report_missing(Watch *watch)
{
    const char *folder = watch->entry->folder;
    char text[2 * PATH], farewell[2 * PATH];

    watch->steps = (Grading){ 0 };
    show(watch, SHOW_STEPS);
    PUT(text,
        "labs/%s/kernel.cu is missing. It is graded as soon as it is back.\n"
        "r puts the starter there.\n",
        folder);
    PUT(farewell, "labs/%s/kernel.cu is missing. To put the starter there: make reset LAB=%s\n",
        folder, lab_name(watch->entry));
    finish_with(watch, text, farewell);
}

/* Plain lines: prints the steps that are final and were not printed yet. */
static void print_steps(Watch *watch)
{
    char text[2000];
    const char *at = grading_text(&watch->steps, true, text, sizeof text);
    int line = 0;

    for (; *at && line < watch->steps_printed; line++)
        at = strchr(at, '\n') + 1;
    view_lines(watch, at);
    for (; *at; line++)
        at = strchr(at, '\n') + 1;
    watch->steps_printed = line;
}

static void take_events(Watch *watch)
{
    char line[400];

    while (job_event(&watch->grading, line, sizeof line))
        if (event_apply(&watch->steps, line, now_s() - watch->saved_s)) {
            print_steps(watch);
            watch->dirty = true;
        }
}

/* "event:doing what:06 transpose: what if, flat (about a minute; Ctrl-C is safe)" becomes "what if,
 * flat": the lab stands above, and Ctrl-C would end the watch. */
static bool take_doing(Watch *watch, const char *line)
{
    const char *what = strstr(line, ": ");

    if (strncmp(line, "event:doing ", strlen("event:doing ")) || !what)
        return false;
    what += strlen(": ");
    PUT(watch->doing, "%.*s", (int) strcspn(what, "("), what);
    return true;
}

static void take_answer_events(Watch *watch)
{
    char line[400];

    while (job_event(&watch->answer, line, sizeof line))
        watch->dirty |= take_doing(watch, line) ||
                        event_apply(&watch->answer_steps, line, now_s() - watch->answer.began_s);
}

static void take_answer(Watch *watch)
{
    char *text;

    job_read(&watch->answer);
    take_answer_events(watch);
    watch->dirty |= watch->answer.pid && watch->showing == SHOW_ANSWER; /* its seconds */
    if (!job_over(&watch->answer))
        return;
    text = result_text(&watch->answer, FORM_WATCH);
    set_text(&watch->answer_text, text);
    view_lines(watch, watch->answer_text);
    free(text);
    watch->dirty = true;
}

/* A lab that had changed was checked again. */
static void report_change(Watch *watch)
{
    const bool done = lab_state(&watch->book, watch->entry) == LAB_DONE;

    if (watch->lab_changed && *watch->steps.verdict)
        PUT(watch->notice, "The lab has changed since you passed it. Your kernel %s.",
            done ? "still passes" : "no longer passes");
    watch->lab_changed &= !*watch->steps.verdict;
}

static void take_grading(Watch *watch)
{
    char *text, *farewell;

    job_read(&watch->grading);
    take_events(watch);
    if (!job_over(&watch->grading))
        return;
    take_events(watch);
    report_change(watch);
    text = result_text(&watch->grading, FORM_WATCH);
    farewell = result_text(&watch->grading, FORM_SHELL);
    finish_with(watch, text, farewell);
    free(text);
    free(farewell);
}

void watch_jobs(Watch *watch)
{
    take_grading(watch);
    take_answer(watch);
}

/* ---- The file ---- */

void watch_file(Watch *watch)
{
    FileState now = file_state(watch->path);

    if (!same_state(&now, &watch->seen)) {
        watch->seen = now;
        if (!watch->due_s)
            watch->saved_s = now_s();
        watch->due_s = now_s() + settle_s;
        job_kill(&watch->grading);
        watch->dirty = true;
    } else if (watch->due_s && now_s() >= watch->due_s) {
        watch->due_s = 0;
        watch->asking = ASK_NOTHING;
        if (state_exists(&now))
            start_grading(watch);
        else
            report_missing(watch);
    }
}

double watch_patience_s(const Watch *watch)
{
    double left_s = watch->due_s - now_s();

    if (!watch->due_s)
        return watch->saved.fd < 0 ? check_alone_s : check_s;
    return left_s > 0 ? left_s : 0;
}

bool watch_busy(const Watch *watch)
{
    return watch->grading.pid || watch->due_s;
}

static void grade_now(Watch *watch)
{
    job_kill(&watch->grading);
    watch->seen = file_state(watch->path);
    watch->saved_s = watch->due_s = now_s();
    watch_file(watch);
}

void watch_lab(Watch *watch, const LabEntry *entry)
{
    const LabEntry *next;
    char folder[PATH];

    job_kill(&watch->answer);
    saved_close(&watch->saved);
    watch->entry = entry;
    next = lab_after(&watch->book, entry);
    setenv(NEXT_IN_WATCH, next ? next->folder : "-", true);
    lab_file(&watch->book, entry, "kernel.cu", watch->path);
    PUT(folder, "%.*s", (int) (strrchr(watch->path, '/') - watch->path), watch->path);
    saved_open(&watch->saved, folder);
    watch->notice[0] = 0;
    watch->lab_changed = lab_state(&watch->book, entry) == LAB_CHANGED;
    if (watch->lab_changed)
        give_notice(watch,
                    "The lab has changed since you passed it. Your kernel is checked again.");
    grade_now(watch);
}

/* ---- Keys ---- */

static void answer_with(Watch *watch, const char *text)
{
    job_kill(&watch->answer);
    set_text(&watch->answer_text, text);
    view_lines(watch, text);
    show(watch, SHOW_ANSWER);
}

static void begin_answer(Watch *watch, const char *command)
{
    job_kill(&watch->answer);
    watch->answers = command;
    watch->answer_steps = (Grading){ 0 };
    watch->doing[0] = 0;
    set_text(&watch->answer_text, NULL);
    show(watch, SHOW_ANSWER);
}

static void answer_by(Watch *watch, const char *command, bool device)
{
    char *argv[WORDS], text[200];

    begin_answer(watch, command);
    arguments(watch, command, device, argv);
    if (!device)
        argv[3] = NULL;
    if (!job_start(&watch->answer, argv))
        answer_with(watch, PUT(text, "Cannot start %s: %s\n", command, strerror(errno)));
}

static void predictions(void *context)
{
    const Watch *watch = context;

    explain_predictions(&watch->book, watch->entry, true);
}

static void answer_predictions(Watch *watch)
{
    begin_answer(watch, "progress");
    if (!job_call(&watch->answer, predictions, watch))
        answer_with(watch, "Cannot start a process.\n");
}

static void turn_to_next(Watch *watch)
{
    const LabEntry *next = lab_after(&watch->book, watch->entry);

    if (next)
        watch_lab(watch, next);
    else
        answer_with(watch, "No other lab is left. solutions/*/beyond/ go further.\n");
}

static void list_labs(Watch *watch)
{
    begin_answer(watch, "progress");
    if (!job_start(&watch->answer, (char *[]){ "warpbook", "progress", NULL }))
        answer_with(watch, "Cannot start a process.\n");
    watch->asking = watch->kind == TERMINAL_NONE ? ASK_NOTHING : ASK_LAB;
    watch->typed[0] = watch->unknown[0] = 0;
    view_lines(watch, watch->asking ? "The lab's number, then Enter; Enter alone: back\n" : "");
}

static void ask_reset(Watch *watch)
{
    char text[200];

    if (watch->kind == TERMINAL_NONE)
        answer_with(watch,
                    PUT(text, "There is no terminal to ask on: make reset LAB=%s FLAGS=--yes\n",
                        lab_name(watch->entry)));
    else {
        watch->asking = ASK_RESET;
        view_lines(watch, "Put the starter back? A copy of your kernel is kept. y: yes, any other "
                          "key: no\n");
    }
}

static void answer_reset(Watch *watch, int key)
{
    char message[3 * PATH];

    watch->asking = ASK_NOTHING;
    if (key != 'y' && key != 'Y') {
        view_lines(watch, "Nothing was changed.\n");
        return;
    }
    if (reset_lab(&watch->book, watch->entry, message, sizeof message) == RESET_DONE)
        give_notice(watch, message); /* the file has changed, so a grading follows */
    answer_with(watch, message);
}

static void act(Watch *watch, Action action)
{
    switch (action) {
    case ACT_NEXT:
        turn_to_next(watch);
        break;
    case ACT_HINT:
        answer_by(watch, "hint", false);
        break;
    case ACT_EXPLAIN:
        answer_by(watch, "explain", true);
        break;
    case ACT_SEE:
        answer_by(watch, "see", true);
        break;
    case ACT_PREDICTIONS:
        answer_predictions(watch);
        break;
    case ACT_LIST:
        list_labs(watch);
        break;
    case ACT_RESET:
        ask_reset(watch);
        break;
    case ACT_GRADE:
        grade_now(watch);
        break;
    case ACT_QUIT:
        watch->quit = true;
        break;
    case ACT_BACK:
        show_gradings(watch);
        break;
    case ACT_HELP:
        answer_with(watch, watch_help);
        break;
    case ACT_LINE_UP:
    case ACT_LINE_DOWN:
        view_scroll(watch, action == ACT_LINE_UP ? -1 : 1, 0);
        break;
    case ACT_PAGE_UP:
    case ACT_PAGE_DOWN:
        view_scroll(watch, 0, action == ACT_PAGE_UP ? -1 : 1);
        break;
    case ACT_NONE:
        break;
    }
}

/* Takes the number that was typed. */
static void choose_lab(Watch *watch)
{
    const LabEntry *entry = lab_find(watch->typed);

    if (entry) {
        watch->asking = ASK_NOTHING;
        watch_lab(watch, entry);
        return;
    }
    PUT(watch->unknown, "%s", watch->typed);
    watch->typed[0] = 0;
    view_lines(watch, "There is no lab with this number.\n");
}

static bool scrolls(Action action)
{
    return action == ACT_LINE_UP || action == ACT_LINE_DOWN || action == ACT_PAGE_UP ||
           action == ACT_PAGE_DOWN;
}

/* In the list of labs. Keys that are no part of a number do there what they do elsewhere. */
static void answer_lab(Watch *watch, int key)
{
    const Action action = key_action(key);
    const size_t used = strlen(watch->typed);

    if (key >= '0' && key <= '9') {
        if (used + 1 < sizeof watch->typed)
            APPEND(watch->typed, "%c", key);
        watch->unknown[0] = 0;
    } else if (key == KEY_BACKSPACE || key == KEY_DELETE) {
        watch->typed[used ? used - 1 : 0] = 0;
    } else if (key == KEY_ENTER && used) {
        choose_lab(watch);
    } else if (action != ACT_NONE) {
        watch->asking = scrolls(action) ? ASK_LAB : ASK_NOTHING;
        act(watch, action);
    }
}

void watch_key(Watch *watch, int key)
{
    watch->dirty = true;
    if (key_action(key) == ACT_QUIT)
        watch->quit = true;
    else if (watch->asking == ASK_RESET)
        answer_reset(watch, key);
    else if (watch->asking == ASK_LAB)
        answer_lab(watch, key);
    else
        act(watch, key_action(key));
}

void watch_close(Watch *watch)
{
    job_free(&watch->grading);
    job_free(&watch->answer);
    saved_close(&watch->saved);
    free(watch->report);
    free(watch->farewell);
    free(watch->answer_text);
}
