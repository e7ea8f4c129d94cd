/* lms.h - finds a submission's owner by the file names of learning systems. */
#ifndef GRADEBOOK_IMPORT_LMS_H
#define GRADEBOOK_IMPORT_LMS_H

#include <stdbool.h>
#include <stdint.h>
#include "gradebook/import/submission.h"

typedef struct Owner {
    const char *layout; /* "moodle", "canvas", "gradescope", "plain" */
    char student[200];
    char number[64];
    bool late;
    int64_t order;
    char file[256]; /* the student's file name; "" for a folder */
} Owner;

/* The owner of an export's top folder or file. There is always one: "plain" takes the name as it is
 * (without .zip and the like). */
void lms_owner(const char *top, bool is_folder, Owner *owner);

/* True if the name comes from a learning system. */
bool lms_knows(const char *top, bool is_folder);

/* Takes owners from Gradescope's submission_metadata.yml, which names the students of each
 * submission_N; a group's other members get copies. */
void lms_gradescope(Class *class, const char *text);

#endif
