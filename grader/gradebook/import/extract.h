/* extract.h - extracts each lab's kernel and predictions from a submission. */
#ifndef GRADEBOOK_IMPORT_EXTRACT_H
#define GRADEBOOK_IMPORT_EXTRACT_H

#include "gradebook/import/submission.h"
#include "base/registry.h"

enum { LABS = 64 };

typedef struct Extracted {
    const SubmittedFile *kernel[LABS];      /* by index in all_labs; NULL: missing */
    const SubmittedFile *predictions[LABS]; /* NULL: none */
    const SubmittedFile *quiz[LABS];        /* answers to make quiz (base/quiz_sheet.h) */
} Extracted;

/* The workbook's own files, to detect what a student changed besides the kernels. */
typedef struct Manifest Manifest;
Manifest *manifest_read(const char *root);
void manifest_free(Manifest *manifest);

/* Finds kernels and predictions at any depth. If two different files for a lab are equally good,
 * neither is taken. Remarks report this, nearly right names that were taken (kind `matched`), and
 * any other changed or added files. `manifest` may be NULL. `only`: as in lab_of_file. */
void extract_files(Submission *submission, const Manifest *manifest, int only, Extracted *found);

/* The finding with index `place` (from 0) about suspicious words in a kernel, as part of a sentence
 * ("it contains /proc: ..."); NULL after the last finding. */
const char *suspicion(const char *source, int place);

#endif
