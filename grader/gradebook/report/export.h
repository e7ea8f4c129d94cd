/* export.h - exports the gradebook. Each format is a row of the table in export.c. */
#ifndef GRADEBOOK_REPORT_EXPORT_H
#define GRADEBOOK_REPORT_EXPORT_H

#include "gradebook/report/filter.h"
#include "gradebook/store/store.h"

typedef struct ExportOptions {
    const char *format;    /* a known one */
    const char *to;        /* a file, or a folder (needs_folder); NULL: standard output */
    const char *worksheet; /* the file to be filled, from the learning system; NULL: none */
    const char *column;    /* its column to be filled; NULL: found by its name */
    bool force;            /* replace the file `to` */
    bool unpublished;      /* the current marks, not those that were published */
    Filter filter;
} ExportOptions;

bool export_is_format(const char *format);
bool export_needs_folder(const char *format);    /* several files, most often one per student */
bool export_needs_worksheet(const char *format); /* fills a file of the learning system */
const char *export_formats(void);                /* "csv, json, ..." */

/* Writes the export. On failure, returns false with `problem` set; then no file is written. */
bool export_write(Store *store, const ExportOptions *options, char problem[700]);

#endif
