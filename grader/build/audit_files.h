/* audit_files.h - what a submission may include: its lab's headers, common's, the toolkit's. */
#ifndef BUILD_AUDIT_FILES_H
#define BUILD_AUDIT_FILES_H

#include <stdbool.h>
#include <stddef.h>

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
