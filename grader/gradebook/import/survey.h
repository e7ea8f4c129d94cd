/* survey.h - finds out how a class is packed, from names only. */
#ifndef GRADEBOOK_IMPORT_SURVEY_H
#define GRADEBOOK_IMPORT_SURVEY_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include "gradebook/import/submission.h"

extern const char metadata_name[]; /* Gradescope's file of names and times */

/* Sets `wrapper` to the prefix of all paths in a folder or archive, if one folder wraps all
 * students; else to "". Returns false and sets `problem` if it cannot be read, or is one student's
 * own folder. */
bool survey_wrapper(const char *path, bool is_folder, char wrapper[SUBMISSION_PATH], char *problem,
                    size_t size);

/* Lists the exports of learning systems in a folder, in the order of their numbers and names; the
 * caller frees them and the list. Returns 0 if any other archive or folder is in it: a student
 * must not pass for an export with others' work. */
int survey_exports(const char *path, struct dirent ***items);

#endif
