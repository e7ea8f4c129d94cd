/* roster.h - the students of a course, from a CSV. */
#ifndef GRADEBOOK_IMPORT_ROSTER_H
#define GRADEBOOK_IMPORT_ROSTER_H

#include <stdbool.h>
#include <stddef.h>

enum { ROSTER_BYTES = 4 << 20, ROSTER_MEMBERS = 20000 };

typedef struct Member {
    char number[64]; /* the id, or "" */
    char name[200];  /* "" */
    char email[200], section[80];
    char aliases[400]; /* other names and numbers of this person, separated by | */
    char status[16];   /* active, withdrawn, audit */
} Member;

typedef struct Roster {
    Member *list;
    int count;
} Roster;

/* Reads a CSV (comma, semicolon or tab; quoted or not) whose first line names its columns: at least
 * id or name. On errors, returns false; *mistakes then has one line per error, with file and line
 * number, which the caller frees. Optional columns: email, section, lms and alias (both join
 * `aliases`), status. */
bool roster_read(const char *text, size_t size, const char *shown, Roster *roster, char **mistakes);
void roster_free(Roster *roster);

#endif
