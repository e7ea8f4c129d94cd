/* build_context.c - one build in progress: its folder, and how it fails. */
#include "build/build_context.h"
#include "base/util.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool context_fail(BuildContext *context, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(context->result->message, sizeof context->result->message, format, arguments);
    va_end(arguments);
    context->result->fault = BUILD_MACHINE;
    return false;
}

bool context_refuse(BuildContext *context, DiagnosisCode code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(context->result->message, sizeof context->result->message, format, arguments);
    va_end(arguments);
    context->result->fault = BUILD_STUDENT;
    context->result->code = code;
    return false;
}

bool context_cannot_write(BuildContext *context, const char *path)
{
    int why = errno;
    bool full = why == ENOSPC || why == EDQUOT;

    return context_fail(
        context, "cannot write %s: %s; %s: make grade B=$HOME/warpbook", path, strerror(why),
        full ? "free some space, or use a build folder on another disk"
             : "copy the workbook to a folder you can write to, or use another build folder");
}

char *context_path(const BuildContext *context, const char *name, char *path)
{
    return put(path, PATH_MAX + 64, "%s/%s", context->folder, name);
}

bool context_write(const BuildContext *context, const char *name, const char *text, size_t size)
{
    char path[PATH_MAX + 64];
    FILE *file = fopen(context_path(context, name, path), "we");
    bool written = file && fwrite(text, 1, size, file) == size;

    return file && !fclose(file) && written;
}

bool context_open(BuildContext *context)
{
    PUT(context->folder, "%s/tmp-XXXXXX", context->cache);
    if (mkdtemp(context->folder))
        return true;
    context->folder[0] = 0;
    return context_cannot_write(context, context->cache);
}

void context_close(BuildContext *context)
{
    if (context->folder[0])
        remove_tree(context->folder);
    context->folder[0] = 0;
}

static int is_left_over(const struct dirent *item)
{
    return strcmp(item->d_name, ".") && strcmp(item->d_name, "..") &&
           strcmp(item->d_name, "kernel.cu") && strcmp(item->d_name, "kernel.so");
}

void context_tidy(const BuildContext *context)
{
    struct dirent **items = NULL;
    int count = scandir(context->folder, &items, is_left_over, alphasort);

    for (int i = 0; i < count; i++) {
        char path[PATH_MAX + 300];
        unlink(PUT(path, "%s/%s", context->folder, items[i]->d_name));
        free(items[i]);
    }
    free(items);
}
