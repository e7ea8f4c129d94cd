/* similarity.h - kernels of a class that are similar to each other, to a rung, or to a kernel of an
 * earlier class (store->against). They are only reported and change no verdict. */
#ifndef GRADEBOOK_REPORT_SIMILARITY_H
#define GRADEBOOK_REPORT_SIMILARITY_H

#include "gradebook/report/likeness.h"
#include "gradebook/report/results_table.h"

/* One kernel of a pair: a student's, a file of the lab's ladder, or one of an earlier class. */
typedef struct ComparedKernel {
    int64_t kernel;   /* 0: not of this class */
    const char *file; /* "5_padded.cu", "beyond/…", "Ann Lee (4712) in results-2025"; else "" */
} ComparedKernel;

typedef struct Similarity {
    ComparedKernel *kernels;
    char **texts;
    int count, students; /* the first `students` of `count` are students' */
    Compared found;      /* a, b: indices into kernels */
} Similarity;

void similarity_find(Store *store, const char *lab, Similarity *similarity);
void similarity_free(Similarity *similarity);

/* The students who submitted a kernel: "Ann Lee (4712), Bo Ek". */
char *similarity_names(const ResultsTable *results, const char *lab, const ComparedKernel *kernel,
                       char *text, size_t size);

#endif
