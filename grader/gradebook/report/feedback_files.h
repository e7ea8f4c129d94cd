/* feedback_files.h - one file per student, with safe names and an index. */
#ifndef GRADEBOOK_REPORT_FEEDBACK_FILES_H
#define GRADEBOOK_REPORT_FEEDBACK_FILES_H

#include "gradebook/report/formats.h"

/* What goes into a student's file; `ending`: ".json". */
typedef struct FileKind {
    const char *ending;
    void (*write)(Export *export, const Student *student, FILE *to);
} FileKind;

/* Writes each student's files and index.csv; `kinds` ends with a NULL ending. `whole`: students
 * whose marks are incomplete get no files but a message on standard error. Exits if it cannot
 * write. */
void files_write(Export *export, const FileKind *kinds, bool whole);

#endif
