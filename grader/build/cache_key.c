/* cache_key.c - what goes into a build. The key is a text that holds all that decides the result
 * but the source: flags, compilers, headers.
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

static bool read_source(Attempt *attempt)
{
    const char *shown = attempt->job->shown;
    struct stat about;
    const char *nul;

    /* It may lead to what the student may not read: the compiler would quote from it. */
    if (!lstat(attempt->job->source, &about) && S_ISLNK(about.st_mode))
        return attempt_fail(attempt, BUILD_STUDENT, "%s is a link: put the kernel there itself",
                            shown);
    attempt->recipe.source =
        read_file(attempt->job->source, attempt->job->linked ? OBJECT_BYTES : BUILD_SOURCE_BYTES,
                  &attempt->recipe.source_bytes);
    if (attempt->job->linked)
        return attempt->recipe.source ||
               attempt_fail(attempt, BUILD_MACHINE, "%s cannot be read: %s", shown,
                            strerror(errno));
    if (!attempt->recipe.source && errno == ENOENT)
        return attempt_fail(attempt, BUILD_STUDENT,
                            "%s is not there: the kernel to be graded goes into that file", shown);
    if (!attempt->recipe.source && errno == EFBIG)
        return attempt_fail(attempt, BUILD_STUDENT, "%s is larger than %d KiB: a lab needs a few",
                            shown, BUILD_SOURCE_BYTES >> 10);
    if (!attempt->recipe.source && errno == EINVAL)
        return attempt_fail(attempt, BUILD_STUDENT, "%s is not a regular file", shown);
    if (!attempt->recipe.source)
        return attempt_fail(attempt, BUILD_STUDENT, "%s cannot be read: %s", shown,
                            strerror(errno));
    if ((nul = memchr(attempt->recipe.source, 0, attempt->recipe.source_bytes)))
        return attempt_fail(attempt, BUILD_STUDENT,
                            "%s is not plain text (byte %td is 0): save it as UTF-8", shown,
                            nul - attempt->recipe.source);
    if (strspn(attempt->recipe.source, " \t\r\n") == attempt->recipe.source_bytes)
        return attempt_fail(attempt, BUILD_STUDENT, "%s is empty", shown);
    return true;
}

/* Machine code of each device that nvcc knows, as it would be built there, and PTX for newer ones.
 */
static bool choose_all_archs(Attempt *attempt)
{
    char archs[sizeof attempt->job->toolchain->archs];
    int least = 0;

    PUT(archs, "%s", attempt->job->toolchain->archs);
    for (char *rest = archs, *arch; (arch = strsep(&rest, " "));) {
        int n = atoi(arch);
        if (n < 75)
            continue;
        least = least ? least : n;
        compile_for(&attempt->compile, "arch=compute_%d,code=sm_%d", n, n);
    }
    compile_for(&attempt->compile, "arch=compute_%d,code=compute_%d", least < 80 ? 75 : least,
                least < 80 ? 75 : least);
    if (least < 80) /* as every build has it, and the simulated GPU reads */
        compile_for(&attempt->compile, "arch=compute_80,code=compute_80");
    return true;
}

static bool choose_archs(Attempt *attempt)
{
    Build *result = attempt->result;
    int ptx, sm;

    if (attempt->job->linked)
        return true;
    if (attempt->job->portable)
        return choose_all_archs(attempt);
    if (!toolchain_archs(attempt->job->toolchain, attempt->job->cc, &ptx, &sm, result->note,
                         sizeof result->note))
        return attempt_fail(attempt, BUILD_MACHINE, "%s", result->note);
    /* One front end for both: else __CUDA_ARCH__ would tell the code that is simulated from the
     * code that runs. */
    if (sm)
        compile_for(&attempt->compile, "arch=compute_%d,code=[compute_%d,sm_%d]", ptx, ptx, sm);
    else
        compile_for(&attempt->compile, "arch=compute_%d,code=compute_%d", ptx, ptx);
    return true;
}

/* Headers, and launch.cpp where the launch is given. */
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

static bool make_key(Attempt *attempt)
{
    FILE *key = open_memstream(&attempt->recipe.key, &attempt->recipe.key_bytes);

    if (!key)
        die("out of host memory");
    fprintf(key, "warpbook build 1\nfunction %s\n", attempt->job->lab->function);
    if (attempt->job->linked || attempt->job->portable)
        fprintf(key, "%s\n", attempt->job->linked ? "linked" : "portable");
    compile_write_flags(&attempt->compile, key);
    for (int i = 0; i < LAB_SYMBOLS && attempt->job->lab->symbols[i]; i++)
        fprintf(key, "allowed %s\n", attempt->job->lab->symbols[i]);
    fprintf(key, "%s", attempt->job->toolchain->identity);
    write_files(key, attempt->compile.lab_dir);
    write_files(key, attempt->compile.common);
    if (fclose(key))
        die("out of host memory");
    cache_name(attempt->cache, &attempt->recipe, attempt->entry, sizeof attempt->entry);
    return true;
}

static bool find_folders(Attempt *attempt)
{
    const BuildJob *job = attempt->job;

    if (!make_folders(job->cache) || !realpath(job->cache, attempt->cache))
        return attempt_cannot_write(attempt, job->cache);
    if (!realpath(job->lab_dir, attempt->compile.lab_dir))
        return attempt_fail(attempt, BUILD_MACHINE, "%s: %s", job->lab_dir, strerror(errno));
    if (!realpath(job->common, attempt->compile.common))
        return attempt_fail(attempt, BUILD_MACHINE, "%s: %s", job->common, strerror(errno));
    return true;
}

bool recipe_make(Attempt *attempt)
{
    return read_source(attempt) && choose_archs(attempt) && find_folders(attempt) &&
           make_key(attempt);
}
