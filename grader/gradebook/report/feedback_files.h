/* feedback_files.h - one file per student, with safe names and an index. */
#ifndef GRADEBOOK_REPORT_FEEDBACK_FILES_H
#define GRADEBOOK_REPORT_FEEDBACK_FILES_H

#include "gradebook/report/formats.h"

/* One kind of file per student: its contents and its file name extension, such as ".json". */
typedef struct FileKind {
    const char *ending;
    void (*write)(Export *export, const Student *student, FILE *to);
} FileKind;

/* Called for each student with the name of his first file. */
typedef void EachFile(Export *export, const Student *student, const char *file, void *context);

/* Writes each student's files and index.csv; `kinds` ends with a NULL ending. `each` may be NULL.
 * Exits if it cannot write. */
void files_write(Export *export, const FileKind *kinds, EachFile *each, void *context);

#endif
