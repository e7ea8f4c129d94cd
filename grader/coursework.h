/* coursework.h - what a course file changes in `make grade`: bars and curves, seeds, the device
 * that counts; and what of it students get. */
#ifndef COURSEWORK_H
#define COURSEWORK_H

#include "judge/grade.h"

typedef struct Coursework {
    Course course;
    bool named;     /* by --course: then its secret seeds hold, too */
    uint64_t fresh; /* the seed where the course has none */
} Coursework;

/* `path`: --course, or NULL: course.ini at the top, if it is there. False, after telling all
 * mistakes. */
bool coursework_take(const char *path, Coursework *work);

/* The seed of a lab's inputs. */
uint64_t coursework_seed(const Coursework *work, const LabEntry *entry);

/* After a grading on another device than the one that counts: the same labs on that one, simulated,
 * in a few lines. Says nothing where the course names none. */
void coursework_counting(const Coursework *work, const Session *session, const Result *results,
                         int count, bool quick);

/* The part of a course file that students may see, as FOLDER/course.ini; `path` NULL: none. False,
 * after saying why. */
bool coursework_pack(const char *path, const char *folder);

#endif
