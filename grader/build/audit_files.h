/* audit_files.h - what a submission may include: the headers of its lab, of common/ and of the
 * toolkit. */
#ifndef BUILD_AUDIT_FILES_H
#define BUILD_AUDIT_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* Reads a make rule as written by nvcc -MD and --MD. Every file must be below one of the `roots`
 * (real paths; the list ends with NULL), be `source` (relative names start in its folder), or no
 * longer exist (the compiler's temporary files). Otherwise returns false, with a sentence that
 * names the file. */
bool audit_includes(const char *rule, const char *source, const char *const *roots, char *why,
                    size_t size);

/* Checks every file that was entered in a preprocessed source, by its lines # 1 "name" 1. nvcc
 * preprocesses once per architecture, and -MD lists the files of none of these passes. */
bool audit_markers(const char *text, const char *source, const char *const *roots, char *why,
                   size_t size);

#endif
