/* csv.h - writes spreadsheet cells by RFC 4180 that cannot run as formulas. */
#ifndef GRADEBOOK_REPORT_CSV_H
#define GRADEBOOK_REPORT_CSV_H

#include <stdbool.h>
#include <stdio.h>

void csv_text(FILE *to, const char *text); /* followed by a comma */
void csv_last(FILE *to, const char *text); /* followed by a line end */
/* True if a spreadsheet may run this text: csv_text puts an apostrophe before it. */
bool csv_is_formula(const char *text);
void csv_number(FILE *to, bool present, const char *format, double value);

#endif
