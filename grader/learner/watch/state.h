/* state.h - what `make watch` knows and does, whatever it looks like. */
#ifndef LEARNER_WATCH_STATE_H
#define LEARNER_WATCH_STATE_H

#include "build/workbook.h"
#include "learner/command_line.h"
#include "learner/watch/events.h"
#include "learner/watch/job.h"
#include "learner/watch/keys.h"
#include "learner/watch/saved.h"
#include "learner/watch/terminal.h"

/* What the body of the screen holds. */
typedef enum Showing { SHOW_STEPS, SHOW_REPORT, SHOW_ANSWER } Showing;

typedef enum Asking { ASK_NOTHING, ASK_RESET, ASK_LAB } Asking;

typedef struct Watch {
    const Options *options;
    Workbook book;
    TerminalKind kind;
    const LabEntry *entry;
    char path[PATH]; /* of its kernel.cu */

    Saved saved;
    FileState seen; /* the state of kernel.cu that is graded, or will be */
    double saved_s; /* when it was noticed */
    double due_s;   /* when grading starts; 0: nothing is due */

    Job grading;
    Grading steps;
    char *report;          /* of the last grading; NULL: none yet */
    char *farewell;        /* the same with commands instead of keys: it stays in the terminal */
    char notice[3 * PATH]; /* above the body; "": none */
    bool notice_new;       /* it belongs to the grading that comes next */
    bool lab_changed;      /* since it was passed: this grading checks it again */

    Job answer;          /* the program that a key started */
    const char *answers; /* the command that it runs */
    char *answer_text;
    Grading answer_steps; /* while it runs: of the grading that it begins with */
    char doing[100];      /* and what it runs now; "": unknown */

    Showing showing;
    int scroll;
    Asking asking;
    char typed[8];   /* a lab's number */
    char unknown[8]; /* one that no lab has */
    bool dirty;      /* what is shown is out of date */
    bool input_over, quit;
    int steps_printed; /* plain lines: the final steps that were printed */
} Watch;

/* Turns to a lab and grades it. */
void watch_lab(Watch *watch, const LabEntry *entry);

/* Notices a save: kills the running grading at once, and starts the next one as soon as the file
 * has been quiet for a moment. */
void watch_file(Watch *watch);

/* Takes what the running programs have reported since the last call. */
void watch_jobs(Watch *watch);

/* Does what a key stands for. */
void watch_key(Watch *watch, int key);

/* How long nothing will happen without a key, a save or an event, in seconds. */
double watch_patience_s(const Watch *watch);

/* True while a grading runs or is due. */
bool watch_busy(const Watch *watch);

void watch_close(Watch *watch);

#endif
