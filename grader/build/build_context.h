/* build_context.h - one build in progress: its inputs, its folder, and how it fails. */
#ifndef BUILD_BUILD_CONTEXT_H
#define BUILD_BUILD_CONTEXT_H

#include "build/build_job.h"
#include "build/cache.h"
#include "build/compile.h"

#include <limits.h>

enum { OBJECT_BYTES = 32 << 20, OUTPUT_BYTES = 256 << 10 };

/* One build in progress. Paths are absolute. */
typedef struct BuildContext {
    const BuildJob *job;
    Build *result;
    Compile compile;
    Recipe recipe; /* allocated */
    char cache[PATH_MAX];
    char entry[PATH_MAX + 32], folder[PATH_MAX + 32];
    char *output; /* what the compiler printed; OUTPUT_BYTES */
    bool again;   /* confinement was too strict for the compiler and is now lifted: build again */
} BuildContext;

/* Report that a build failed, and return false so that callers can return it. context_fail: the
 * machine or the workbook is at fault. context_refuse: the source is. */
bool context_fail(BuildContext *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool context_refuse(BuildContext *context, DiagnosisCode code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool context_cannot_write(BuildContext *context, const char *path); /* by errno */

/* Creates the build's folder in the cache. context_tidy removes everything in it except kernel.cu
 * and kernel.so. */
bool context_open(BuildContext *context);
void context_tidy(const BuildContext *context);
void context_close(BuildContext *context);

/* The path of a file in the build's folder: `path` has room for PATH_MAX + 64 bytes and is
 * returned. */
char *context_path(const BuildContext *context, const char *name, char *path);
bool context_write(const BuildContext *context, const char *name, const char *text, size_t size);

#endif
