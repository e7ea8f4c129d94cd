/* annotation.h - a message that belongs to a place in a file, and how other programs read it. */
#ifndef BASE_ANNOTATION_H
#define BASE_ANNOTATION_H

#include <stdbool.h>
#include <stdio.h>

/* One row per level: the words of SARIF, of GCC and of GitHub. */
#define LEVEL_ROWS(X)                                                                              \
    X(LEVEL_NOTE, "note", "note", "notice")                                                        \
    X(LEVEL_WARNING, "warning", "warning", "warning")                                              \
    X(LEVEL_ERROR, "error", "error", "error")

#define LEVEL_ENUM(level, sarif, gcc, github) level,
typedef enum Level { LEVEL_ROWS(LEVEL_ENUM) LEVELS } Level;
#undef LEVEL_ENUM

typedef struct Annotation {
    Level level;
    char rule[40];       /* "unsafe/race" */
    const char *meaning; /* of the rule: a clause */
    const char *file;    /* NULL: about no file */
    int line, column;    /* 0: unknown */
    char text[1500];
    int other_line; /* another line of the file that matters; 0: none */
    const char *other_text;
} Annotation;

/* The path as the other program needs it: relative, if it is below the working directory. */
const char *path_from_here(const char *path);

/* `file:line:column: level: text [rule]`, and a note for the other line. Unknown numbers are 1,
 * because readers of these lines need them. */
void annotation_gcc(FILE *out, const Annotation *annotation);

/* A workflow command of GitHub Actions. */
void annotation_github(FILE *out, const Annotation *annotation);

/* SARIF 2.1.0: one run. The rules follow the results, because only then they are known. Messages
 * about no file become notifications: GitHub refuses results without a place. */
enum { SARIF_RULES = 128, SARIF_NOTIFICATIONS = 32 };
typedef struct Sarif {
    FILE *out;
    int results, rules, notifications;
    struct {
        Level level;
        char rule[40], text[1500];
    } notification[SARIF_NOTIFICATIONS];
    struct {
        char id[40];
        const char *meaning;
    } rule[SARIF_RULES];
} Sarif;
void sarif_begin(Sarif *sarif, FILE *out);
void sarif_result(Sarif *sarif, const Annotation *annotation);
void sarif_end(Sarif *sarif, bool successful); /* false: the tool itself failed */

#endif
