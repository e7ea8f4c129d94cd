/* course.h - a course file: what of a lab a course sets otherwise than we do (docs/course-file.md).
 *
 * Lines `key = value` in sections: [course]; [all], for every lab; [06_transpose], for one. A line
 * that begins with # or ; is a comment. The same text, cut down, says what an attempt is graded
 * under, and what students get to see.
 */
#ifndef BASE_COURSE_H
#define BASE_COURSE_H

#include "base/marks.h"
#include "base/registry.h"

enum { COURSE_LABS = 64, COURSE_CASES = 24, COURSE_BYTES = 64 << 10 };

typedef struct CourseLab {
    Policy policy;
    double bar[COURSE_CASES]; /* by the place of the case; 0: the lab's own */
    uint64_t seed;            /* secret: what submissions are graded with; 0: a new one each time */
    uint64_t practice_seed;   /* what `make grade` uses; 0: a new one each time */
} CourseLab;

typedef struct Course {
    char name[120];
    char device[80];            /* that counts: "sim:h200", or a part of a GPU's name; "": any */
    int times;                  /* 1: times of files count as times of submission */
    CourseLab lab[COURSE_LABS]; /* by the place in all_labs */
} Course;

void course_default(Course *course);

/* Reads a text, named `shown` in mistakes. False if there are any: then *mistakes holds all of
 * them, a line each with file and line number, to be freed; and the course is the default one. */
bool course_read(const char *text, const char *shown, Course *course, char **mistakes);

/* The same from a file; "-": standard input, to its end. Also false if it can't be read. */
bool course_load(const char *path, Course *course, char **text, char **mistakes);

/* What students may see of a text that has no mistakes: no comment and no secret. The caller frees.
 */
char *course_public(const char *text);

/* What a grading of this lab depends on, as a text that course_read takes: bars, seed, device. Two
 * gradings under the same terms need not be repeated. The caller frees. */
char *course_terms(const Course *course, const LabEntry *entry);

/* The bar of a lab's case. */
double course_bar(const Course *course, const LabEntry *entry, int i);

/* Is this the device that counts? `simulated`: the name given after "sim:"; NULL: a real one. */
bool course_device_counts(const Course *course, const char *name, const char *simulated);

#endif
