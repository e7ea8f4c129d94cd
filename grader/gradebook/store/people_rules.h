/* people_rules.h - decides which students of several exports are one person, without a database.
 *
 * The rules, strongest first: an instructor's answer; the roster's id, e-mail address or alias; the
 * same e-mail address or the same number of a learning system; a name that is unique on the roster;
 * a name that is not on the roster but unique in every import. Whatever is unclear stays apart.
 */
#ifndef GRADEBOOK_STORE_PEOPLE_RULES_H
#define GRADEBOOK_STORE_PEOPLE_RULES_H

#include "gradebook/import/names.h"
#include "gradebook/import/roster.h"

#include <stdint.h>

#define ANSWER_APART "apart"

/* A student as one export names him: a row of the table `students`. */
typedef struct StudentRow {
    int64_t id;
    const char *name, *number;
    const char *email;  /* "": unknown */
    const char *layout; /* Moodle's number belongs to an assignment, other numbers to a person */
    const char *answer; /* "", ANSWER_APART, or a key (store/people.h) */
    int *imports;       /* indices, ascending, of the imports that hold a submission */
    int import_count;
    /* Set by people_decide. */
    int group;    /* the index of the person's first row */
    int next;     /* the index of another row of the person; a circle */
    int member;   /* the index on the roster; -1: none */
    bool certain; /* an answer or an alias names him */
    bool unclear; /* may be somebody else on the roster, or of the same name */
    PlainName plain;
} StudentRow;

typedef struct People {
    StudentRow *rows; /* ordered by id */
    int count, import_count;
    const Roster *roster;
    bool *member_unclear; /* set: an unclear row may be this member, who has no other rows */
} People;

bool has_own_number(const StudentRow *row);
const char *address_of(const StudentRow *row); /* older gradebooks kept it as the number */

/* Sets group, member and unclear of each row. */
void people_decide(People *people);

#endif
