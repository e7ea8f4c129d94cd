/* source.h - visits the files of a folder (gradebook/import/folder.c) or an archive
 * (gradebook/import/archive.c). */
#ifndef GRADEBOOK_IMPORT_SOURCE_H
#define GRADEBOOK_IMPORT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "gradebook/import/submission.h"

typedef struct VisitedFile {
    int64_t changed;   /* seconds since 1970 */
    const char *bytes; /* NULL: larger than requested, or not requested */
    size_t size;
    uint64_t hash; /* FNV-1a of all bytes; 0 if they were not read */
} VisitedFile;

typedef struct Visitor {
    void *context;
    /* The maximum number of bytes to read from this file; 0: only its size and hash are needed. */
    size_t (*wants)(void *context, const char *path);
    void (*file)(void *context, const char *path, const VisitedFile *file);
    /* Reports an entry that was not taken, and why. */
    void (*refuse)(void *context, const char *path, const char *sentence);
} Visitor;

/* Visits a folder on disk. Does not follow links; skips junk. Returns false and sets `why` if the
 * folder cannot be read. */
bool walk(const char *folder, const Visitor *visitor, char *why, size_t size);

/* Visits the names in a folder, or in the top two levels of an archive, until `name` returns false.
 */
typedef bool NameVisitor(void *context, const char *path, bool is_folder);

/* Limits of an archive. Unpacking stops when a limit is exceeded. */
typedef struct UnpackLimits {
    size_t entries, entry_bytes, bytes;
    size_t ratio; /* unpacked per packed bytes, after the first `bytes_free` bytes */
    size_t bytes_free;
} UnpackLimits;
extern const UnpackLimits archive_class, archive_student;

/* Visits a zip or tar, in a file or in memory. Returns false, with the current entry and the
 * reason, if it is damaged, exceeds a limit or is not an archive; the caller must then discard
 * everything visited. */
bool archive_file(const char *path, const UnpackLimits *limits, const Visitor *visitor,
                  char entry[SUBMISSION_PATH], char *why, size_t size);
bool archive_memory(const char *bytes, size_t count, const UnpackLimits *limits,
                    const Visitor *visitor, char entry[SUBMISSION_PATH], char *why, size_t size);
bool archive_names(const char *path, NameVisitor *seen, void *context, char *why, size_t size);

#endif
