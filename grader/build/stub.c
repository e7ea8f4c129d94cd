/* stub.c - solutions without their text, for places where students' code runs. */
#include "build/stub.h"
#include "base/util.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_BYTES = 1 << 20, OBJECT_BYTES = 64 << 20 };

static const char mark[] = "// sealed ";

/* The hash in a stub's text; 0 if it is not a stub. */
static uint64_t named(const char *text)
{
    const char *hash = text + strlen(mark);

    if (strncmp(text, mark, strlen(mark)) || strspn(hash, "0123456789abcdef") != 16)
        return 0;
    return strtoull(hash, NULL, 16);
}

uint64_t solution_hash(const char *path)
{
    size_t size;
    char *text = read_file(path, SOURCE_BYTES, &size);
    uint64_t hash = text ? named(text) : 0;

    if (text && !hash)
        hash = hash_bytes(HASH_START, text, size);
    free(text);
    return hash;
}

/* Replaces the ending of a path: solutions/06_transpose/5_padded.cu becomes .../5_padded.so. */
static char *beside(const char *path, const char *ending, char *object, size_t size)
{
    size_t length = strlen(path);

    return put(object, size, "%.*s%s", (int) (length > 3 ? length - 3 : 0), path, ending);
}

bool is_sealed(const char *path, char *object, size_t size)
{
    char *text = read_file(path, SOURCE_BYTES, NULL);
    bool sealed = text && named(text);

    beside(path, ".so", object, size);
    free(text);
    return sealed;
}

bool seal(const char *source, const char *object, const char *ending, const char *folder,
          const char *name)
{
    char path[PATH_MAX], so[PATH_MAX], line[64], *bytes = NULL;
    size_t size = 0;
    bool written;

    PUT(path, "%s/%s", folder, name);
    if (object && !(bytes = read_file(object, OBJECT_BYTES, &size)))
        return false;
    PUT(line, "%s%016" PRIx64 "\n", mark, solution_hash(source));
    written = (!bytes || write_file(beside(path, ending, so, sizeof so), bytes, size)) &&
              write_file(path, line, strlen(line));
    free(bytes);
    return written;
}
