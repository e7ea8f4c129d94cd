/* audit_files.c - what a submission may include: headers of its lab, common/ and the toolkit.
 *
 * The audit does not read the source but what the compiler read: the lists that it writes, and the
 * preprocessed text.
 */
#include "build/audit_files.h"
#include "base/util.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <linux/magic.h>

/* Returns the next name of a make rule, unescaped; NULL at the end. A name that does not fit is
 * cut, so no such file is found. */
static const char *next_name(const char *at, char *name, size_t size)
{
    size_t used = 0;

    for (;;) {
        at += strspn(at, " \t\r\n");
        if (at[0] != '\\' || (at[1] != '\n' && at[1] != '\r'))
            break;
        at++;
    }
    if (!*at)
        return NULL;
    for (; *at && !strchr(" \t\r\n", *at); at++) {
        if ((at[0] == '\\' && at[1] && strchr(" #\\", at[1])) || (at[0] == '$' && at[1] == '$'))
            at++;
        else if (at[0] == '\\' && (at[1] == '\n' || at[1] == '\r'))
            break;
        if (used + 1 < size)
            name[used++] = *at;
    }
    name[used] = 0;
    return at;
}

/* The rest of the path after the first root that contains it, or NULL. */
static const char *below(const char *path, const char *const *roots)
{
    for (; *roots; roots++) {
        size_t length = strlen(*roots);
        if (length && !strncmp(path, *roots, length) && path[length] == '/')
            return path + length;
    }
    return NULL;
}

/* Libraries that may be headers only, as parts of a path; a * matches any ending. */
static const char libraries[] = "cub thrust cublas* cufft* curand* cusparse* cusolver* cutensor* "
                                "cudnn* cutlass npp* nvjpeg* nvrtc*";

/* Returns the first part of the path that is a library's name, or NULL. */
static const char *library_in(const char *path)
{
    static char part[64];

    for (; *path; path += strcspn(path, "/")) {
        path += strspn(path, "/");
        PUT(part, "%.*s", (int) strcspn(path, "/"), path);
        if (*part && is_in(libraries, part))
            return part;
    }
    return NULL;
}

/* True if the path leads through /proc in any form (//proc, /usr/../proc, a link). There, a name
 * can mean one file to the compiler and another one to the grader. */
static bool leads_through_proc(const char *path)
{
    char begin[2 * PATH_MAX];
    struct statfs about;

    for (const char *at = path; *at; at++) {
        at += strspn(at, "/");
        at += strcspn(at, "/");
        PUT(begin, "%.*s", (int) (at - path), path);
        if (!statfs(begin, &about) && about.f_type == PROC_SUPER_MAGIC)
            return true;
        if (!*at)
            break;
    }
    return false;
}

/* True for a temporary file of the compiler, which works in the source's folder and keeps its files
 * there. */
static bool is_plain_name(const char *name)
{
    return !strchr(strncmp(name, "./", 2) ? name : name + 2, '/');
}

/* True if both files are in the same folder. Both paths must be real. */
static bool is_beside(const char *path, const char *source)
{
    const char *slash = strrchr(source, '/');
    size_t length = slash ? (size_t) (slash - source) + 1 : 0;

    return length && !strncmp(path, source, length) && !strchr(path + length, '/');
}

static bool is_a_source(const char *path)
{
    const char *end = strrchr(path, '.');

    return end && (!strcmp(end, ".cu") || !strcmp(end, ".c"));
}

static bool check_file(const char *name, const char *source, const char *const *roots, char *why,
                       size_t size)
{
    const char *slash = strrchr(source, '/');
    char path[2 * PATH_MAX];
    const char *rest = NULL, *library = NULL;
    char *real;

    if (name[0] == '/' || !slash)
        PUT(path, "%s", name);
    else
        PUT(path, "%.*s/%s", (int) (slash - source), source, name);
    if (!strcmp(path, source))
        return true;
    real = leads_through_proc(path) ? NULL : realpath(path, NULL);
    if (!real && errno == ENOENT && is_plain_name(name))
        return true;
    if (real && is_beside(real, source)) { /* made by the compiler: the folder held nothing else */
        free(real);
        return true;
    }
    if (real && !is_a_source(real) && (rest = below(real, roots)))
        library = library_in(rest);
    if (!rest)
        put(why, size,
            "kernel.cu includes %.300s: a lab may include only its kernel.h, the headers of "
            "common/ "
            "and those of the toolkit",
            real ? real : name);
    else if (library)
        put(why, size,
            "kernel.cu includes %s, a library: the task is to write this kernel, not to call a "
            "library",
            library);
    free(real);
    return rest && !library;
}

bool audit_includes(const char *rule, const char *source, const char *const *roots, char *why,
                    size_t size)
{
    char name[PATH_MAX];
    const char *at = rule;
    bool target = true;

    while ((at = next_name(at, name, sizeof name))) {
        size_t length = strlen(name);
        if (target) /* "kernel.o :" or "kernel.o:" */
            target = !length || name[length - 1] != ':';
        else if (!check_file(name, source, roots, why, size))
            return false;
    }
    if (target)
        put(why, size, "kernel.cu was compiled, but nvcc did not report which files it read");
    return !target;
}

/* Copies the name in a line marker, unescaped, if the marker says that a file is entered. */
static bool entered(const char *line, char *name, size_t size)
{
    size_t used = 0;

    if (strncmp(line, "# ", 2) || !isdigit((unsigned char) line[2]))
        return false;
    line += 2 + strspn(line + 2, "0123456789");
    if (strncmp(line, " \"", 2))
        return false;
    for (line += 2; *line && *line != '"' && *line != '\n'; line++) {
        line += line[0] == '\\' && line[1] && line[1] != '\n';
        if (used + 1 < size)
            name[used++] = *line;
    }
    name[used] = 0;
    return !strncmp(line, "\" 1", 3) && *name != '<';
}

bool audit_markers(const char *text, const char *source, const char *const *roots, char *why,
                   size_t size)
{
    char name[PATH_MAX];

    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (entered(line, name, sizeof name) && !check_file(name, source, roots, why, size))
            return false;
    }
    return true;
}
