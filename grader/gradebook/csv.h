/* csv.h - cells for a spreadsheet: RFC 4180, and nothing that it would run. */
#ifndef CSV_H
#define CSV_H

#include <stdbool.h>
#include <stdio.h>

void csv_text(FILE *to, const char *text); /* and a comma */
void csv_last(FILE *to, const char *text); /* and the end of the line */
void csv_number(FILE *to, bool there, const char *format, double value);

#endif
