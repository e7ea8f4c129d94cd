/* formats.c - the table of formats for other programs. */
#include "learner/formats/formats.h"

#include <string.h>

static void each(Document *document, const Annotations *annotations,
                 void (*write)(FILE *out, const Annotation *annotation))
{
    for (int i = 0; i < annotations->count; i++)
        write(document->out, &annotations->list[i]);
}

static void gcc_lab(Document *document, const Result *result, const Annotations *annotations)
{
    (void) result;
    each(document, annotations, annotation_gcc);
}

static void github_lab(Document *document, const Result *result, const Annotations *annotations)
{
    (void) result;
    each(document, annotations, annotation_github);
}

static void begin_sarif(Document *document)
{
    sarif_begin(&document->sarif, document->out);
}

static void sarif_lab(Document *document, const Result *result, const Annotations *annotations)
{
    (void) result;
    for (int i = 0; i < annotations->count; i++)
        sarif_result(&document->sarif, &annotations->list[i]);
}

static void end_sarif(Document *document, bool sound)
{
    sarif_end(&document->sarif, sound);
}

static const Format formats[] = {
    { "gcc", NULL, gcc_lab, NULL },
    { "github", NULL, github_lab, NULL },
    { "junit", junit_begin, junit_lab, junit_end },
    { "sarif", begin_sarif, sarif_lab, end_sarif },
};

const Format *format_find(const char *word)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i].word, word))
            return &formats[i];
    return NULL;
}
