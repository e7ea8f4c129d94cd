/* people.h - who is one person: students of several exports, matched with the roster.
 *
 * A row of `students` is a person as one export names him. Moodle's number belongs to the
 * assignment, so one person has several rows. people_match decides which rows are one person
 * (people_rules.h) and fills temporary tables, since roster, submissions and answers come in any
 * order:
 *
 *   temp.people       id       the smallest students.id of the person; -members.id if he submitted
 *                              nothing. Changes with later imports: store `key` instead
 *                     key      stays valid: "id:20260001", "email:j@x.org", "student:17" or
 *                              "name:..."
 *                     name, number, email, section   the roster's, else the learning system's
 *                     status   active, withdrawn or audit
 *                     member   members.id; NULL: not on the roster
 *                     state    "" (on the roster, or there is none), unknown (not on the roster),
 *                              unclear, absent (submitted nothing)
 *   temp.person_of    student, person   which person a row of `students` is
 *   temp.person_keys  key, person       all keys of each person: a decision that was stored under
 *                                       any of them finds its person again
 *   temp.handed_in    person, lab, kernel, submission, path, predicted, at   what counts
 *   temp.unreadable   person, lab   something was submitted, but no kernel could be read
 */
#ifndef GRADEBOOK_STORE_PEOPLE_H
#define GRADEBOOK_STORE_PEOPLE_H

#include "gradebook/store/store.h"

/* Fills the tables above. Cheap if nothing has changed since the last call. */
void people_match(Store *store);

/* The same with the students of all imports, also of those that count no more: for looking back.
 * What counts does not change. The next people_match fills the tables as usual. */
void people_match_ever(Store *store);

/* The number of people who submitted but are unclear, or not on the roster. */
int people_open(Store *store);

/* Finds the only person with this number, e-mail address, alias, NAME_NUMBER or name (in this
 * order), and sets *person to people.id. Calls people_match. Returns false and sets `problem`,
 * which names the candidates, if no person (*person is 0) or several people match. */
bool people_find(Store *store, const char *text, int64_t *person, char *problem, size_t size);

/* The same among the students of all imports. Calls people_match_ever. */
bool people_find_ever(Store *store, const char *text, int64_t *person, char *problem, size_t size);

/* Stores an answer: the student (students.id) is the person with this key, ANSWER_APART for a
 * person of his own, "" to undo the previous answer. */
void people_answer(Store *store, int64_t student, const char *key, const char *author);

#endif
