/* diagnostics.h - what a compiler printed, cut down to what helps a student. */
#ifndef BUILD_DIAGNOSTICS_H
#define BUILD_DIAGNOSTICS_H

#include <stddef.h>

/* Of what a compiler printed in `folder` about kernel.cu, the lines that help: errors in kernel.cu,
 * called `shown`, at most 12 lines; then how many errors more there are. At least 100 bytes. */
void complaint(const char *output, const char *folder, const char *shown, char *text, size_t size);

#endif
