/* similarity.h - kernels of a class that have much in common, with each other or with a rung. It
 * reports; it decides nothing. */
#ifndef GRADEBOOK_REPORT_SIMILARITY_H
#define GRADEBOOK_REPORT_SIMILARITY_H

#include "gradebook/report/likeness.h"
#include "gradebook/report/results_table.h"

/* One of a pair: a kernel of students', or a file of the lab's ladder. */
typedef struct Twin {
    int64_t kernel;   /* 0: a file of the ladder */
    const char *file; /* "5_padded.cu", "beyond/…"; "" */
} Twin;

typedef struct Similarity {
    Twin *twins;
    char **texts;
    int count, students; /* the first so many are students' */
    Compared found;      /* a, b: places in twins */
} Similarity;

void similarity_find(Store *store, const char *lab, Similarity *similarity);
void similarity_free(Similarity *similarity);

/* Who handed a kernel in, for people: "Ann Lee (4712), Bo Ek". */
char *similarity_names(const ResultsTable *roll, const char *lab, const Twin *twin, char *text,
                       size_t size);

#endif
