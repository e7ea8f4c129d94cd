/* source.h - where the files of a folder (gradebook/import/folder.c) or an archive
 * (gradebook/import/archive.c) go, one by one. */
#ifndef GRADEBOOK_IMPORT_SOURCE_H
#define GRADEBOOK_IMPORT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "gradebook/import/submission.h"

typedef struct SunkFile {
    int64_t changed;   /* seconds since 1970 */
    const char *bytes; /* NULL: more than what was asked for, or not asked for */
    size_t size;
    uint64_t hash; /* FNV-1a of all bytes; 0 if they were not read */
} SunkFile;

typedef struct Visitor {
    void *context;
    /* How many bytes of this file are wanted, at the most; 0: its size and hash will do. */
    size_t (*wants)(void *context, const char *path);
    void (*file)(void *context, const char *path, const SunkFile *file);
    /* This entry is not taken, and why. */
    void (*refuse)(void *context, const char *path, const char *sentence);
} Visitor;

/* A folder on disk. Follows no links, passes over junk. False, with `why`, if it can't be read. */
bool walk(const char *folder, const Visitor *sink, char *why, size_t size);

/* The names in a folder, or at the top of an archive and one below, until `name` returns false. */
typedef bool NameSeen(void *context, const char *path, bool is_folder);

/* Limits of an archive. One beyond them is not unpacked any further. */
typedef struct UnpackLimits {
    size_t entries, entry_bytes, bytes;
    size_t ratio; /* unpacked bytes to packed ones, once `bytes_free` have come */
    size_t bytes_free;
} UnpackLimits;
extern const UnpackLimits archive_class, archive_student;

/* An archive, a zip or a tar, as a file or in memory. False, with the entry it was at and why, if
 * it is damaged, beyond a limit, or none: then what has come of it must not count. */
bool archive_file(const char *path, const UnpackLimits *limits, const Visitor *sink,
                  char entry[HANDIN_PATH], char *why, size_t size);
bool archive_memory(const char *bytes, size_t count, const UnpackLimits *limits,
                    const Visitor *sink, char entry[HANDIN_PATH], char *why, size_t size);
bool archive_names(const char *path, NameSeen *seen, void *context, char *why, size_t size);

#endif
