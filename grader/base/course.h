/* course.h - a course file: the settings that a course changes from the labs' defaults
 * (docs/course-file.md).
 *
 * It has lines `key = value` in sections: [course]; [all], for every lab; [06_transpose], for one
 * lab. A line that begins with # or ; is a comment. Shortened versions of the same text record
 * the terms that an attempt is graded under, and show students the public settings.
 */
#ifndef BASE_COURSE_H
#define BASE_COURSE_H

#include "base/marks.h"
#include "base/registry.h"

enum { COURSE_LABS = 64, COURSE_CASES = 24, COURSE_BYTES = 64 << 10 };

typedef struct CourseLab {
    Policy policy;
    double bar[COURSE_CASES]; /* by the index of the case; 0: the lab's own bar */
    uint64_t seed;            /* secret: submissions are graded with it; 0: a new one each time */
    uint64_t practice_seed;   /* what `make grade` uses; 0: a new one each time */
} CourseLab;

typedef struct Course {
    char name[120];
    char device[80]; /* the device that counts: "sim:h200", or a part of a GPU's name; "": any */
    int times;       /* 1: a file's time counts as its time of submission */
    int late_days;   /* each student's budget of days that cost no marks */
    CourseLab lab[COURSE_LABS]; /* by the index in all_labs */
} Course;

void course_default(Course *course);

/* Reads a text, which messages call `shown`. If it has mistakes, returns false, sets `course` to
 * the default, and sets *mistakes to all of them, one per line with file and line number. The
 * caller frees *mistakes. */
bool course_read(const char *text, const char *shown, Course *course, char **mistakes);

/* The same from a file; "-" reads standard input to its end. Also false if it cannot be read. */
bool course_load(const char *path, Course *course, char **text, char **mistakes);

/* The part of a text without mistakes that students may see: no comments and no secrets. The
 * caller frees it. */
char *course_public(const char *text);

/* The settings that a grading of this lab depends on (bars, seed, device), as a text that
 * course_read accepts. A grading need not be repeated under the same terms. The caller frees it.
 * course_measured leaves out the bars, which stored measurements can often be compared with again
 * (speed.h); course_bars has only them, as lines without a section. */
char *course_terms(const Course *course, const LabEntry *entry);
char *course_measured(const Course *course, const LabEntry *entry);
char *course_bars(const Course *course, const LabEntry *entry);

/* Whether the lab is judged by counters instead of time: the course wants it, and the lab has
 * bounds.
 */
bool course_counts(const Course *course, const LabEntry *entry);

/* The bar of a lab's case. */
double course_bar(const Course *course, const LabEntry *entry, int i);

/* True if this is the device that counts. `simulated`: the name given after "sim:"; NULL: a real
 * GPU. */
bool course_device_counts(const Course *course, const char *name, const char *simulated);

#endif
