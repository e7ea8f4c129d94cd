/* lms.h - finds a submission's owner from the file names that learning systems use. */
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
    bool is_text;   /* text that was typed into the learning system: it holds no kernel */
} Owner;

/* The owner of a folder or file at the top of an export. One is always found, since "plain" accepts
 * any name (and removes .zip and similar endings). */
void lms_owner(const char *top, bool is_folder, Owner *owner);

/* True if the name comes from a learning system. */
bool lms_knows(const char *top, bool is_folder);

/* Sets owners from Gradescope's submission_metadata.yml, which names the students of each
 * submission_N; a group's other members get copies. */
void lms_gradescope(Class *class, const char *text);

#endif
