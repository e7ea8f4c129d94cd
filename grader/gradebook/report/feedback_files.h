/* feedback_files.h - one file a student: names that no student chose, and an index of them. */
#ifndef GRADEBOOK_REPORT_FEEDBACK_FILES_H
#define GRADEBOOK_REPORT_FEEDBACK_FILES_H

#include "gradebook/report/formats.h"

/* What goes into a student's file; `ending`: ".json". */
typedef struct FileKind {
    const char *ending;
    void (*write)(Export *export, const Student *student, FILE *to);
} FileKind;

/* Writes each student's files, and index.csv; kinds end with no ending. `whole`: students whose
 * marks are not all there yet get none, and a sentence on standard error. Dies if it cannot write.
 */
void files_write(Export *export, const FileKind *kinds, bool whole);

#endif
