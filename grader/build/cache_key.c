/* cache_key.c - the inputs of a build. The key is a text with all inputs except the source: flags,
 * compilers, headers.
 */
#include "build/cache_key.h"
#include "base/util.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HEADER_BYTES = 1 << 20 };

static bool read_source(BuildContext *context)
{
    const char *shown = context->job->shown;
    struct stat about;
    const char *nul;

    /* The link could lead to a file that the student may not read, and the compiler would quote
     * that file. */
    if (!lstat(context->job->source, &about) && S_ISLNK(about.st_mode))
        return context_refuse(context, SAW_FILE,
                              "%s is a symbolic link: put the file itself "
                              "there",
                              shown);
    context->recipe.source =
        read_file(context->job->source, context->job->linked ? OBJECT_BYTES : BUILD_SOURCE_BYTES,
                  &context->recipe.source_bytes);
    if (context->job->linked)
        return context->recipe.source ||
               context_fail(context, "%s cannot be read: %s", shown, strerror(errno));
    if (!context->recipe.source && errno == ENOENT)
        return context_refuse(context, SAW_FILE,
                              "%s does not exist: put the kernel to be graded into that file",
                              shown);
    if (!context->recipe.source && errno == EFBIG)
        return context_refuse(context, SAW_FILE, "%s is larger than %d KiB, the limit for a kernel",
                              shown, BUILD_SOURCE_BYTES >> 10);
    if (!context->recipe.source && errno == EINVAL)
        return context_refuse(context, SAW_FILE, "%s is not a regular file", shown);
    if (!context->recipe.source)
        return context_refuse(context, SAW_FILE, "%s cannot be read: %s", shown, strerror(errno));
    if ((nul = memchr(context->recipe.source, 0, context->recipe.source_bytes)))
        return context_refuse(context, SAW_FILE,
                              "%s is not plain text (byte %td is 0): save it as UTF-8", shown,
                              nul - context->recipe.source);
    if (strspn(context->recipe.source, " \t\r\n") == context->recipe.source_bytes)
        return context_refuse(context, SAW_FILE, "%s is empty", shown);
    return true;
}

/* Chooses machine code for each device that nvcc knows, and PTX for newer ones. */
static bool choose_all_archs(BuildContext *context)
{
    char archs[sizeof context->job->toolchain->archs];
    int least = 0;

    PUT(archs, "%s", context->job->toolchain->archs);
    for (char *rest = archs, *arch; (arch = strsep(&rest, " "));) {
        int n = atoi(arch);
        if (n < 75)
            continue;
        least = least ? least : n;
        compile_for(&context->compile, "arch=compute_%d,code=sm_%d", n, n);
    }
    compile_for(&context->compile, "arch=compute_%d,code=compute_%d", least < 80 ? 75 : least,
                least < 80 ? 75 : least);
    if (least < 80) /* as in every build; the simulated GPU reads it */
        compile_for(&context->compile, "arch=compute_80,code=compute_80");
    return true;
}

static bool choose_archs(BuildContext *context)
{
    Build *result = context->result;
    int ptx, sm;

    if (context->job->linked)
        return true;
    if (context->job->portable)
        return choose_all_archs(context);
    if (!toolchain_archs(context->job->toolchain, context->job->cc, &ptx, &sm, result->note,
                         sizeof result->note))
        return context_fail(context, "%s", result->note);
    /* One front end for both: otherwise __CUDA_ARCH__ could tell the simulated code from the code
     * that runs. */
    if (sm)
        compile_for(&context->compile, "arch=compute_%d,code=[compute_%d,sm_%d]", ptx, ptx, sm);
    else
        compile_for(&context->compile, "arch=compute_%d,code=compute_%d", ptx, ptx);
    return true;
}

/* True for headers, and for launch.cpp, which is there if the lab provides the launch. */
static int is_built_with(const struct dirent *item)
{
    const char *end = strrchr(item->d_name, '.');

    return end && (!strcmp(end, ".h") || !strcmp(end, ".cuh") || !strcmp(end, ".cpp"));
}

static void write_files(FILE *key, const char *folder)
{
    struct dirent **items = NULL;
    int count = scandir(folder, &items, is_built_with, alphasort);

    for (int i = 0; i < count; i++) {
        char path[PATH_MAX + 300], *text;
        size_t size;
        PUT(path, "%s/%s", folder, items[i]->d_name);
        if ((text = read_file(path, HEADER_BYTES, &size))) {
            fprintf(key, "header %s %zu\n", items[i]->d_name, size);
            fwrite(text, 1, size, key);
        }
        free(text);
        free(items[i]);
    }
    free(items);
}

static bool make_key(BuildContext *context)
{
    FILE *key = text_open(&context->recipe.key, &context->recipe.key_bytes);

    context->compile.uses_std = compile_uses_std(context->recipe.source);
    fprintf(key, "warpbook build 1\nfunction %s\n", context->job->lab->function);
    if (context->job->linked || context->job->portable)
        fprintf(key, "%s\n", context->job->linked ? "linked" : "portable");
    compile_write_flags(&context->compile, key);
    for (int i = 0; i < LAB_SYMBOLS && context->job->lab->symbols[i]; i++)
        fprintf(key, "allowed %s\n", context->job->lab->symbols[i]);
    fprintf(key, "%s", context->job->toolchain->identity);
    write_files(key, context->compile.lab_dir);
    write_files(key, context->compile.common);
    text_close(key);
    cache_name(context->cache, &context->recipe, context->entry, sizeof context->entry);
    return true;
}

static bool find_folders(BuildContext *context)
{
    const BuildJob *job = context->job;

    if (!make_folders(job->cache) || !realpath(job->cache, context->cache))
        return context_cannot_write(context, job->cache);
    if (!realpath(job->lab_dir, context->compile.lab_dir))
        return context_fail(context, "%s: %s", job->lab_dir, strerror(errno));
    if (!realpath(job->common, context->compile.common))
        return context_fail(context, "%s: %s", job->common, strerror(errno));
    return true;
}

bool cache_key_make(BuildContext *context)
{
    return read_source(context) && choose_archs(context) && find_folders(context) &&
           make_key(context);
}
