/* extract.h - what is taken of a hand-in: each lab's kernel and predictions, nothing else. */
#ifndef GRADEBOOK_IMPORT_EXTRACT_H
#define GRADEBOOK_IMPORT_EXTRACT_H

#include "gradebook/import/submission.h"
#include "base/registry.h"

enum { LABS = 64 };

typedef struct Harvest {
    const HandedFile *kernel[LABS];      /* by the lab's place in all_labs; NULL: missing */
    const HandedFile *predictions[LABS]; /* NULL: none */
} Harvest;

/* The workbook's own files, to tell what a student changed beside the kernels. */
typedef struct Manifest Manifest;
Manifest *manifest_read(const char *root);
void manifest_free(Manifest *manifest);

/* Finds them at any depth. Where two differ and neither lies nearer to the top, none is taken;
 * that, and what else was changed or added, is remarked. `manifest` may be NULL. `only`: the place
 * of the one lab that is asked for, whose kernel may then be a kernel.cu at the top; -1: several
 * are. */
void harvest(Submission *handin, const Manifest *manifest, int only, Harvest *found);

#endif
