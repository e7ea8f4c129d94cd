/* events.h - the progress of a grading, from the lines of `warpbook grade --events`
 * (docs/lines.md).
 */
#ifndef LEARNER_WATCH_EVENTS_H
#define LEARNER_WATCH_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

enum { GRADING_SPEEDS = 16 };

/* Times are seconds since the save. */
typedef struct GradedSpeed {
    char name[48];
    double ratio, bar, at_s;
    bool control;
} GradedSpeed;

typedef struct Grading {
    bool building, built, counting, timing;
    int right, wrong, skipped, of;
    double built_s, cases_s, verdict_s;
    GradedSpeed speed[GRADING_SPEEDS];
    int speeds;
    char verdict[16]; /* "": not yet */
} Grading;

/* Applies one line. Returns false, and changes nothing, for a line that is not a known event. */
bool event_apply(Grading *grading, const char *line, double at_s);

/* Writes what is known so far, a line for each step; `final`: only lines that will not change.
 * Returns the buffer. */
char *grading_text(const Grading *grading, bool final, char *text, size_t size);

#endif
