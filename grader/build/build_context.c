/* build_context.c - one build on its way: its folder, and how it fails. */
#include "build/build_context.h"
#include "base/util.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool attempt_fail(Attempt *attempt, BuildFault fault, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(attempt->result->message, sizeof attempt->result->message, format, arguments);
    va_end(arguments);
    attempt->result->fault = fault;
    return false;
}

bool attempt_cannot_write(Attempt *attempt, const char *path)
{
    int why = errno;
    bool full = why == ENOSPC || why == EDQUOT;

    return attempt_fail(
        attempt, BUILD_MACHINE, "cannot write %s: %s; %s: make grade B=$HOME/warpbook", path,
        strerror(why),
        full ? "make room, or name a build folder on another disk"
             : "copy the workbook to a folder you can write to, or name another build folder");
}

char *attempt_path(const Attempt *attempt, const char *name, char *path)
{
    return put(path, PATH_MAX + 64, "%s/%s", attempt->folder, name);
}

bool attempt_write(const Attempt *attempt, const char *name, const char *text, size_t size)
{
    char path[PATH_MAX + 64];
    FILE *file = fopen(attempt_path(attempt, name, path), "we");
    bool written = file && fwrite(text, 1, size, file) == size;

    return file && !fclose(file) && written;
}

bool attempt_open(Attempt *attempt)
{
    PUT(attempt->folder, "%s/tmp-XXXXXX", attempt->cache);
    if (mkdtemp(attempt->folder))
        return true;
    attempt->folder[0] = 0;
    return attempt_cannot_write(attempt, attempt->cache);
}

void attempt_close(Attempt *attempt)
{
    if (attempt->folder[0])
        remove_tree(attempt->folder);
    attempt->folder[0] = 0;
}

static int is_left_over(const struct dirent *item)
{
    return strcmp(item->d_name, ".") && strcmp(item->d_name, "..") &&
           strcmp(item->d_name, "kernel.cu") && strcmp(item->d_name, "kernel.so");
}

void attempt_tidy(const Attempt *attempt)
{
    struct dirent **items = NULL;
    int count = scandir(attempt->folder, &items, is_left_over, alphasort);

    for (int i = 0; i < count; i++) {
        char path[PATH_MAX + 300];
        unlink(PUT(path, "%s/%s", attempt->folder, items[i]->d_name));
        free(items[i]);
    }
    free(items);
}
