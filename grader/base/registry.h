/* registry.h - all labs, in order; build/registry_table.c is generated from the lab folders. */
#ifndef BASE_REGISTRY_H
#define BASE_REGISTRY_H

#include "lab.h"

typedef struct LabEntry {
    const char *folder; /* "06_transpose" */
    const Lab *lab;
} LabEntry;

extern const LabEntry all_labs[]; /* ends with a NULL folder */

/* Finds a lab by folder, number or words ("06_transpose", "6", "06", "transpose"). NULL if no lab
 * matches, or if a number or words match more than one. */
const LabEntry *lab_find(const char *name);
const LabEntry *lab_find_in(const LabEntry *table, const char *name);

int lab_number(const LabEntry *entry);       /* 6; -1 if the folder has no number */
const char *lab_name(const LabEntry *entry); /* "transpose" */
const Case *case_labelled(const Lab *lab,
                          const char *label); /* NULL: no case of the lab has this label */

/* The shapes of a case's large inputs, with their names: "`in` of 65536 x 16". All dims must be
 * set. */
char *case_size(const Lab *lab, const Case *sized, char *text, size_t size);

#endif
