/* import_losses.h - finds the students and labs that an import would make missing. */
#ifndef GRADEBOOK_STORE_IMPORT_LOSSES_H
#define GRADEBOOK_STORE_IMPORT_LOSSES_H

#include "gradebook/store/store.h"

/* Remembers, in temporary tables, who has submitted which lab. */
void losses_begin(Store *store);

/* One line per lab that has lost submissions since losses_begin: "lab 01: 35 of 35 students would
 * become missing (Ann Lee, ...)"; NULL if there is none. The caller frees. */
char *losses_since(Store *store);

/* The number of results of the same person and lab, but of another kernel than at losses_begin. */
int losses_changed(Store *store);

#endif
