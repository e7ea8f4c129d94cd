/* extract.h - extracts each lab's kernel and predictions from a submission. */
#ifndef GRADEBOOK_IMPORT_EXTRACT_H
#define GRADEBOOK_IMPORT_EXTRACT_H

#include "gradebook/import/submission.h"
#include "base/registry.h"

enum { LABS = 64 };

typedef struct Extracted {
    const SubmittedFile *kernel[LABS];      /* by the lab's place in all_labs; NULL: missing */
    const SubmittedFile *predictions[LABS]; /* NULL: none */
} Extracted;

/* The workbook's own files, to detect what a student changed besides the kernels. */
typedef struct Manifest Manifest;
Manifest *manifest_read(const char *root);
void manifest_free(Manifest *manifest);

/* Finds them at any depth. If two differ at the same depth, neither is taken; a remark reports
 * that, and other changed or added files. `manifest` may be NULL. `only`: the index of the only
 * requested lab, whose kernel may be a kernel.cu at the top; -1: several labs are requested. */
void extract_files(Submission *submission, const Manifest *manifest, int only, Extracted *found);

/* Finding number `place` (from 0) of suspicious words in a kernel, as part of a sentence ("it names
 * /proc: ..."); NULL: no more. */
const char *suspicion(const char *source, int place);

#endif
