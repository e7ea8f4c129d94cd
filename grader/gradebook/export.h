/* export.h - the gradebook for other programs. A format is a row of export.c. */
#ifndef EXPORT_H
#define EXPORT_H

#include <stdio.h>
#include "store.h"

/* Writes it; false if there is no such format. */
bool export_write(Store *store, const char *format, FILE *to);
const char *export_formats(void); /* "csv, json" */

#endif
