/* roster.h - the students of a course from a CSV, matched with those who submitted. */
#ifndef GRADEBOOK_IMPORT_ROSTER_H
#define GRADEBOOK_IMPORT_ROSTER_H

#include <stdbool.h>
#include <stddef.h>

enum { ROSTER_BYTES = 4 << 20, ROSTER_MEMBERS = 20000 };

typedef struct Member {
    char number[64]; /* the id, or "" */
    char name[200];  /* "" */
    char email[200], section[80];
    bool unclear; /* after roster_match: several students may match */
} Member;

typedef struct Roster {
    Member *list;
    int count;
} Roster;

/* Reads a CSV (comma, semicolon or tab; quoted or not) whose first line names its columns: at least
 * id or name. On errors, returns false; *mistakes then has one line per error, with file and line
 * number, which the caller frees. */
bool roster_read(const char *text, size_t size, const char *shown, Roster *roster, char **mistakes);
void roster_free(Roster *roster);

/* A student who submitted. */
typedef struct Submitter {
    const char *name, *number;
    int member;   /* the index in the roster; -1: not found */
    bool unclear; /* several members match, or several students match one member */
} Submitter;

/* Matches students by id (which may be a folder's name), then the remaining students by name. Only
 * a match that is unique on both sides counts. */
void roster_match(Roster *roster, Submitter *submitters, int count);

/* Jane Doe, "Doe, Jane", jane_doe, doejane and JaneDoe are the same name: the same words, rotated,
 * with any separators. */
bool same_name(const char *a, const char *b);

#endif
