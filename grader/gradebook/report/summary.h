/* summary.h - the class as a table for a terminal: one line per student. */
#ifndef GRADEBOOK_REPORT_SUMMARY_H
#define GRADEBOOK_REPORT_SUMMARY_H

#include "gradebook/report/results_table.h"

void summary_print(const ResultsTable *results);

#endif
