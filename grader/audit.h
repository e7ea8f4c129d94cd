/* audit.h - what a submission's object file may use: an allow-list of symbols and of files. */
#ifndef AUDIT_H
#define AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include "../common/lab.h"

/* Reads the output of `readelf -SsW` on the object: every undefined symbol must be allowed, the
 * lab's function must be defined and visible, and nothing may run when it is loaded or unloaded.
 * False, with a sentence that begins with kernel.cu in `why`, if not. */
bool audit_object(const char *readelf_output, const Lab *lab, char *why, size_t size);

/* Reads a make rule, as nvcc -MD and as --MD write it: every file must lie under one of the `roots`
 * (real paths, ends with NULL), or be `source`, in whose folder relative names begin, or be gone
 * (the compiler's temporary files). False, with a sentence naming the file, if not. */
bool audit_includes(const char *rule, const char *source, const char *const *roots, char *why,
                    size_t size);

/* Reads a preprocessed source: the same for every file that was entered, by the lines
 * # 1 "name" 1. nvcc preprocesses once for each architecture, and -MD tells of none of those. */
bool audit_markers(const char *text, const char *source, const char *const *roots, char *why,
                   size_t size);

#endif
