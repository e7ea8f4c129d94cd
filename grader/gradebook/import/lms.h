/* lms.h - whose is it? The names that learning systems give to what students handed in. */
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
    char file[256]; /* the name that the student gave it; "" for a folder */
} Owner;

/* Who the topmost folder or file of an export belongs to. Always somebody: "plain" takes the name
 * as it is (without .zip and the like). */
void lms_owner(const char *top, bool is_folder, Owner *owner);

/* Does the name come from a learning system? */
bool lms_knows(const char *top, bool is_folder);

/* Gradescope's submission_metadata.yml says whose each submission_N is: gives the hand-ins their
 * owners, and a group's other members copies. */
void lms_gradescope(Class *class, const char *yaml);

#endif
