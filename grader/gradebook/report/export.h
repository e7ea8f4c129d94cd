/* export.h - exports the gradebook. Each format is a row of the table in export.c. */
#ifndef GRADEBOOK_REPORT_EXPORT_H
#define GRADEBOOK_REPORT_EXPORT_H

#include <stdio.h>
#include "gradebook/store/store.h"

bool export_is_format(const char *format);
bool export_needs_folder(const char *format); /* one file per student */
const char *export_formats(void);             /* "csv, json, ..." */

/* Writes a known format to a file, or (needs_folder) into a folder, which is created. */
void export_write(Store *store, const char *format, FILE *to, const char *folder);

#endif
