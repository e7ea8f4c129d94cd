/* diagnostics.h - reduces a compiler's output to what helps a student. */
#ifndef BUILD_DIAGNOSTICS_H
#define BUILD_DIAGNOSTICS_H

#include <stddef.h>

/* Copies the lines of a compiler's output that help: at most 12 lines of errors in kernel.cu, which
 * is called `shown`, then the number of further errors. `folder` is where the compiler ran. `size`
 * is at least 100 bytes. */
void complaint(const char *output, const char *folder, const char *shown, char *text, size_t size);

#endif
