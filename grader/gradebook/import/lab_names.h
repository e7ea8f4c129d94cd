/* lab_names.h - which lab a file belongs to, from names that students choose. */
#ifndef GRADEBOOK_IMPORT_LAB_NAMES_H
#define GRADEBOOK_IMPORT_LAB_NAMES_H

#include <stdbool.h>

typedef enum FileKind { IS_KERNEL, IS_PREDICTIONS, IS_QUIZ } FileKind;

typedef struct LabFile {
    int lab; /* index in all_labs; -1: no lab's file */
    FileKind kind;
    bool near; /* a nearly right name: "Kernel (1).cu", "Lab 6/kernel.cu" */
} LabFile;

/* A kernel is .../06_transpose/kernel.cu at any depth, or 06_transpose.cu or transpose.cu near the
 * top (Canvas adds -1 to a resubmitted file). `only`: the index of the only requested lab, whose
 * kernel may be a kernel.cu at the top; -1 if several labs are requested. */
LabFile lab_of_file(const char *path, int only);

/* The only lab that a text names, such as an assignment's or an export's name ("CS 101-Lab 6-99",
 * "transpose, 2nd try"); -1: none, or several. */
int lab_in_text(const char *text);

int path_depth(const char *path); /* the number of folders above the file */

#endif
