/* roster.h - who takes part in a course: a CSV, and which of its people handed a submission in. */
#ifndef GRADEBOOK_IMPORT_ROSTER_H
#define GRADEBOOK_IMPORT_ROSTER_H

#include <stdbool.h>
#include <stddef.h>

enum { ROSTER_BYTES = 4 << 20, ROSTER_MEMBERS = 20000 };

typedef struct Member {
    char number[64]; /* the id; "" */
    char name[200];  /* "" */
    char email[200], section[80];
    bool unclear; /* after roster_match: may be one of those who handed something in */
} Member;

typedef struct Roster {
    Member *list;
    int count;
} Roster;

/* Reads a CSV (comma, semicolon or tab; quoted or not) whose first line names its columns: id or
 * name at least. False if anything is wrong: *mistakes then holds all of it, a line each with file
 * and line, to be freed. */
bool roster_read(const char *text, size_t size, const char *shown, Roster *roster, char **mistakes);
void roster_free(Roster *roster);

/* A student as the submissions have them. */
typedef struct Attendee {
    const char *name, *number;
    int member;   /* found: the place in the roster; -1: none */
    bool unclear; /* several members fit, or several students one member */
} Attendee;

/* By id (which a folder may have for its name), then, among the rest, by name. A fit that is not
 * the only one, on either side, is none. */
void roster_match(Roster *roster, Attendee *attendees, int count);

/* Jane Doe, "Doe, Jane", jane_doe, doejane, JaneDoe: the same words in a circle, whatever stands
 * between them. */
bool same_name(const char *a, const char *b);

#endif
