/* coursework.h - applies a course file to `make grade` (bars, curves, seeds, and the device that
 * counts), and packs the part that students may see. */
#ifndef COURSEWORK_H
#define COURSEWORK_H

#include "judge/grade.h"

typedef struct Coursework {
    Course course;
    bool named;     /* chosen by --course, so its secret seeds also apply */
    uint64_t fresh; /* the seed if the course sets none */
} Coursework;

/* Reads the course file `path`; NULL: course.ini at the top of the tree, if it exists. Returns
 * false after reporting all mistakes. */
bool coursework_take(const char *path, Coursework *work);

/* The seed of a lab's inputs. */
uint64_t coursework_seed(const Coursework *work, const LabEntry *entry);

/* If this grading ran on a device that does not count, grades the same labs on a simulation of the
 * device that counts, and prints a short summary. Does nothing if the course names no device. */
void coursework_counting(const Coursework *work, const Session *session, const Result *results,
                         int count, bool quick);

/* Writes the part of a course file that students may see to FOLDER/course.ini; nothing if `path` is
 * NULL. Returns false after reporting why. */
bool coursework_pack(const char *path, const char *folder);

#endif
