/* workbook.h - where the workbook's files are: labs, solutions, builds, stored results. */
#ifndef BUILD_WORKBOOK_H
#define BUILD_WORKBOOK_H

#include "base/registry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Workbook {
    char root[512];       /* folder of the trusted labs, solutions and common files */
    char cache[600];      /* build/cache */
    char floors[600];     /* build/floor: the ratios that rung 1 reaches on this device */
    char runner[600];     /* for the real GPU */
    char sim_runner[600]; /* for simulated GPUs */
    char progress[600];   /* .warpbook/progress */
} Workbook;

/* Finds the workbook from the working folder. Returns false, with `problem` set, outside a
 * workbook. */
bool workbook_find(Workbook *book, char *problem, size_t size);

/* Files of a lab. */
enum { FILES = 320, PATH = 512 };
typedef struct FileList {
    char path[FILES][PATH]; /* sorted by name, numbers by value */
    int count;
} FileList;

/* Writes the path to `path` (PATH bytes) and returns it. */
char *lab_file(const Workbook *book, const LabEntry *entry, const char *name, char *path);
void list_files(const char *folder, const char *suffix, FileList *list);

/* The ladder: the numbered rungs without the starter. The last one is the reference. */
void list_rungs(const Workbook *book, const LabEntry *entry, FileList *list);
void list_solutions(const Workbook *book, const LabEntry *entry, const char *kind, FileList *list);

/* A hash of everything that a grading of this lab depends on, except the submission. It is part of
 * the results. */
uint64_t lab_hash(const Workbook *book, const LabEntry *entry);

#endif
