/* output.h - where an export of a single file goes: a file of mode 600, or standard output. */
#ifndef GRADEBOOK_REPORT_OUTPUT_H
#define GRADEBOOK_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct Output {
    FILE *to;
    char path[1000], temporary[1040]; /* "": standard output */
} Output;

/* Opens the file under a temporary name, so that its path never holds a part of an export. `path`
 * NULL: standard output. Without `force`, an existing file is refused (EEXIST). On failure, returns
 * false with errno set. */
bool output_open(Output *output, const char *path, bool force);

/* Closes the output. With `keep`, the file gets its name; else it is removed. On failure, returns
 * false with errno set; the file is then removed. */
bool output_close(Output *output, bool keep);

#endif
