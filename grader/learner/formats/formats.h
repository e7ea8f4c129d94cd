/* formats.h - `warpbook grade --format ...`: results as other programs read them.
 *
 * One list of annotations per lab (annotations.c) is the source of all formats. What a format
 * prints for all labs together is one document.
 */
#ifndef LEARNER_FORMATS_H
#define LEARNER_FORMATS_H

#include "base/annotation.h"
#include "judge/grade.h"

enum { ANNOTATIONS = BUILD_ERRORS };

typedef struct Annotations {
    int count;
    Annotation list[ANNOTATIONS];
} Annotations;

/* The messages about one result. `file`: the graded file, as the reader names it. */
void annotations_of(const Result *result, const char *file, Annotations *annotations);

/* A document in progress. */
typedef struct Document {
    FILE *out;
    const Session *session;
    Sarif sarif;
} Document;

typedef struct Format {
    const char *word;
    void (*begin)(Document *document); /* may be NULL, as `end` */
    void (*lab)(Document *document, const Result *result, const Annotations *annotations);
    void (*end)(Document *document, bool sound);
} Format;

/* The format with that name; NULL: there is none. */
const Format *format_find(const char *word);

/* JUnit's XML (junit.c). */
void junit_begin(Document *document);
void junit_lab(Document *document, const Result *result, const Annotations *annotations);
void junit_end(Document *document, bool sound);

#endif
