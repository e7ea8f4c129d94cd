/* feedback_files.h - one file per student, with safe names and an index. */
#ifndef GRADEBOOK_REPORT_FEEDBACK_FILES_H
#define GRADEBOOK_REPORT_FEEDBACK_FILES_H

#include "gradebook/report/formats.h"

/* One kind of file per student: its contents and its file name extension, such as ".json". */
typedef struct FileKind {
    const char *ending;
    void (*write)(Export *export, const Student *student, FILE *to);
} FileKind;

/* Writes each student's files and index.csv; `kinds` ends with a NULL ending. With `whole`,
 * students whose marks are incomplete get no files, and a message on standard error says so. Exits
 * if it cannot write. */
void files_write(Export *export, const FileKind *kinds, bool whole);

#endif
