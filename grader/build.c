/* build.c - from a kernel.cu to a kernel.so, by nvcc, cached by all that went in.
 *
 * A build is a folder in the cache, named by a hash of its source and its key. The key is a text
 * that holds all that decides the result but the source: flags, compilers, headers. A new build
 * begins in a folder of its own, tmp-XXXXXX, with nothing but the source in it; nvcc compiles it to
 * an object, the files it read and the object are audited, the linker makes kernel.so, and the
 * folder gets its name. So an entry is whole or not there, and of two gradings that build the same
 * at once, one gives way. What is found in the cache is compared byte for byte with what would be
 * built.
 *
 * When a compiler fails in a way that may be the machine's fault, a kernel of our own decides: if
 * it builds, the fault is the student's, whatever the compiler printed.
 */
#include "audit.h"
#include "audit_files.h"
#include "build.h"
#include "compile.h"
#include "complaint.h"
#include "util.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OUTPUT_BYTES = 256 << 10,
    LISTING_BYTES = 4 << 20, /* of readelf and of make rules */
    PASS_BYTES = 64 << 20,   /* of a preprocessed source */
    HEADER_BYTES = 1 << 20,
    OBJECT_BYTES = 32 << 20,
    ROOTS = 64,
};

/* One build on its way. Paths are absolute. */
typedef struct Attempt {
    const BuildJob *job;
    Build *result;
    Compile compile;
    Recipe recipe; /* allocated */
    char cache[PATH_MAX];
    char entry[PATH_MAX + 32], folder[PATH_MAX + 32];
    char *output; /* what the compiler printed; OUTPUT_BYTES */
} Attempt;

/* Ends a build: false, so that it can be returned. */
static bool fail(Attempt *attempt, BuildFault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail(Attempt *attempt, BuildFault fault, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(attempt->result->message, sizeof attempt->result->message, format, arguments);
    va_end(arguments);
    attempt->result->fault = fault;
    return false;
}

static bool cannot_write(Attempt *attempt, const char *path)
{
    int why = errno;
    bool full = why == ENOSPC || why == EDQUOT;

    return fail(
        attempt, BUILD_MACHINE, "cannot write %s: %s; %s: make grade B=/tmp/warpbook", path,
        strerror(why),
        full ? "make room, or name a build folder on another disk"
             : "copy the workbook to a folder you can write to, or name another build folder");
}

/* ---- What goes in ---- */

static bool read_source(Attempt *attempt)
{
    const char *shown = attempt->job->shown;
    struct stat about;
    const char *nul;

    /* It may lead to what the student may not read: the compiler would quote from it. */
    if (!lstat(attempt->job->source, &about) && S_ISLNK(about.st_mode))
        return fail(attempt, BUILD_STUDENT, "%s is a link: put the kernel there itself", shown);
    attempt->recipe.source =
        read_file(attempt->job->source, attempt->job->linked ? OBJECT_BYTES : BUILD_SOURCE_BYTES,
                  &attempt->recipe.source_bytes);
    if (attempt->job->linked)
        return attempt->recipe.source ||
               fail(attempt, BUILD_MACHINE, "%s cannot be read: %s", shown, strerror(errno));
    if (!attempt->recipe.source && errno == ENOENT)
        return fail(attempt, BUILD_STUDENT,
                    "%s is not there: the kernel to be graded goes into that file", shown);
    if (!attempt->recipe.source && errno == EFBIG)
        return fail(attempt, BUILD_STUDENT, "%s is larger than %d KiB: a lab needs a few", shown,
                    BUILD_SOURCE_BYTES >> 10);
    if (!attempt->recipe.source && errno == EINVAL)
        return fail(attempt, BUILD_STUDENT, "%s is not a regular file", shown);
    if (!attempt->recipe.source)
        return fail(attempt, BUILD_STUDENT, "%s cannot be read: %s", shown, strerror(errno));
    if ((nul = memchr(attempt->recipe.source, 0, attempt->recipe.source_bytes)))
        return fail(attempt, BUILD_STUDENT,
                    "%s is not plain text (byte %td is 0): save it as UTF-8", shown,
                    nul - attempt->recipe.source);
    if (strspn(attempt->recipe.source, " \t\r\n") == attempt->recipe.source_bytes)
        return fail(attempt, BUILD_STUDENT, "%s is empty", shown);
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
        return fail(attempt, BUILD_MACHINE, "%s", result->note);
    compile_for(&attempt->compile, "arch=compute_%d,code=compute_%d", ptx, ptx);
    if (sm)
        compile_for(&attempt->compile, "arch=compute_%d,code=sm_%d", sm, sm);
    return true;
}

static int is_header(const struct dirent *item)
{
    const char *end = strrchr(item->d_name, '.');

    return end && (!strcmp(end, ".h") || !strcmp(end, ".cuh"));
}

static void write_headers(FILE *key, const char *folder)
{
    struct dirent **items = NULL;
    int count = scandir(folder, &items, is_header, alphasort);

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
    write_headers(key, attempt->compile.lab_dir);
    write_headers(key, attempt->compile.common);
    if (fclose(key))
        die("out of host memory");
    cache_name(attempt->cache, &attempt->recipe, attempt->entry, sizeof attempt->entry);
    return true;
}

static bool find_folders(Attempt *attempt)
{
    const BuildJob *job = attempt->job;

    if (!make_folders(job->cache) || !realpath(job->cache, attempt->cache))
        return cannot_write(attempt, job->cache);
    if (!realpath(job->lab_dir, attempt->compile.lab_dir))
        return fail(attempt, BUILD_MACHINE, "%s: %s", job->lab_dir, strerror(errno));
    if (!realpath(job->common, attempt->compile.common))
        return fail(attempt, BUILD_MACHINE, "%s: %s", job->common, strerror(errno));
    return true;
}

/* ---- The folder of a build ---- */

static char *inside(const Attempt *attempt, const char *name, char *path)
{
    return put(path, PATH_MAX + 64, "%s/%s", attempt->folder, name);
}

static bool write_inside(const Attempt *attempt, const char *name, const char *text, size_t size)
{
    char path[PATH_MAX + 64];
    FILE *file = fopen(inside(attempt, name, path), "we");
    bool written = file && fwrite(text, 1, size, file) == size;

    return file && !fclose(file) && written;
}

static bool write_source(const Attempt *attempt, const char *text, size_t size)
{
    return write_inside(attempt, "kernel.cu", text, size);
}

static bool new_folder(Attempt *attempt)
{
    PUT(attempt->folder, "%s/tmp-XXXXXX", attempt->cache);
    if (mkdtemp(attempt->folder))
        return true;
    attempt->folder[0] = 0;
    return cannot_write(attempt, attempt->cache);
}

static void drop_folder(Attempt *attempt)
{
    if (attempt->folder[0])
        remove_tree(attempt->folder);
    attempt->folder[0] = 0;
}

/* ---- Steps ---- */

static int compile(Attempt *attempt)
{
    return compile_object(&attempt->compile, attempt->folder, attempt->output, OUTPUT_BYTES);
}

static int link_object(Attempt *attempt)
{
    return compile_link(&attempt->compile, attempt->folder, attempt->output, OUTPUT_BYTES);
}

static int is_left_over(const struct dirent *item)
{
    return strcmp(item->d_name, ".") && strcmp(item->d_name, "..") &&
           strcmp(item->d_name, "kernel.cu") && strcmp(item->d_name, "kernel.so");
}

/* All but kernel.cu and kernel.so. */
static void remove_leftovers(const Attempt *attempt)
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

/* A kernel of our own: does this machine build anything? If not, that is said. */
static bool machine_builds(Attempt *attempt)
{
    static const char probe[] = "__global__ void probe(int *out) { *out = 1; }\n"
                                "void start(int *out) { probe<<<1, 1>>>(out); }\n";
    char kept[sizeof attempt->folder];
    int status;

    remove_leftovers(attempt); /* an object as large as the disk is the student's fault */
    PUT(kept, "%s", attempt->folder);
    if (!new_folder(attempt)) {
        PUT(attempt->folder, "%s", kept);
        return false;
    }
    if (write_source(attempt, probe, sizeof probe - 1)) {
        status = compile(attempt);
        if (status == 0)
            status = link_object(attempt);
        if (status != 0) {
            const char *fault = status == -2 ? "it does not end" : toolchain_fault(attempt->output);
            char lines[2000];
            complaint(attempt->output, attempt->folder, "kernel.cu", lines, sizeof lines);
            fail(attempt, BUILD_MACHINE, "nvcc fails even on a kernel of one line: %s\n%s",
                 fault ? fault : "see what it says", lines);
        }
    } else {
        cannot_write(attempt, attempt->folder);
    }
    drop_folder(attempt);
    PUT(attempt->folder, "%s", kept);
    return attempt->result->fault == BUILD_OK;
}

/* "kernel.cu uses ..." -> "labs/06_transpose/kernel.cu uses ..." */
static bool refuse(Attempt *attempt, const char *why)
{
    static const char name[] = "kernel.cu";
    bool named = !strncmp(why, name, sizeof name - 1);

    return fail(attempt, BUILD_STUDENT, "%s%s", named ? attempt->job->shown : "",
                named ? why + sizeof name - 1 : why);
}

static int is_preprocessed(const struct dirent *item)
{
    const char *end = strrchr(item->d_name, '.');

    return end && !strcmp(end, ".ii");
}

/* The passes for the GPU read files that nvcc's list does not name. */
static bool check_passes(const Attempt *attempt, const char *source, const char *const *roots,
                         char *why, size_t size)
{
    struct dirent **items = NULL;
    int count = scandir(attempt->folder, &items, is_preprocessed, alphasort);
    char path[PATH_MAX + 64];
    bool good = true;

    for (int i = 0; i < count; i++) {
        char *text = read_file(inside(attempt, items[i]->d_name, path), PASS_BYTES, NULL);
        if (good && text)
            good = audit_markers(text, source, roots, why, size);
        else if (good) {
            good = false;
            put(why, size, "kernel.cu reads more text than can be checked");
        }
        free(text);
        free(items[i]);
    }
    free(items);
    return good;
}

/* Every file that was read, by nvcc's list and by the assembler's. True where there is no list. */
static bool check_files(Attempt *attempt)
{
    static const char *const lists[] = { "kernel.d", "kernel.asm.d" };
    const Toolchain *toolchain = attempt->job->toolchain;
    char folders[sizeof toolchain->roots], path[PATH_MAX + 64], source[PATH_MAX + 64], why[600];
    const char *roots[ROOTS] = { attempt->compile.lab_dir, attempt->compile.common };
    int count = 2;
    bool good = true;

    inside(attempt, "kernel.cu", source);
    PUT(folders, "%s", toolchain->roots);
    for (char *rest = folders, *root; (root = strsep(&rest, "\n")) && count < ROOTS - 1;)
        if (*root)
            roots[count++] = root;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && good; i++) {
        char *rule = read_file(inside(attempt, lists[i], path), LISTING_BYTES, NULL);
        if (rule)
            good = audit_includes(rule, source, roots, why, sizeof why);
        else if (errno != ENOENT) {
            good = false;
            PUT(why, "kernel.cu reads more files than can be checked");
        }
        free(rule);
    }
    good = good && check_passes(attempt, source, roots, why, sizeof why);
    return good || refuse(attempt, why);
}

/* nvcc itself ends with 255 where there are errors, and with a compiler's signal where one had
 * died. */
static bool died(int status)
{
    return status >= 126 && status < 255;
}

static bool explain_failure(Attempt *attempt, int status)
{
    const char *shown = attempt->job->shown;
    char lines[3500], command[1500];
    size_t room;
    bool doubtful;

    if (!check_files(attempt)) /* it may have tried to compile /etc/passwd: that is not shown */
        return false;
    compile_typed(&attempt->compile, attempt->job->source, command, sizeof command);
    room = sizeof attempt->result->message - 100; /* for our own words */
    room -= strlen(shown) + strlen(command);
    complaint(attempt->output, attempt->folder, shown, lines,
              room < sizeof lines ? room : sizeof lines);
    doubtful = status < 0 || died(status) || toolchain_fault(attempt->output) ||
               (strncmp(lines, shown, strlen(shown)) && strncmp(lines, "ptxas", 5));
    if (doubtful && !machine_builds(attempt))
        return false;
    if (status == -2)
        return fail(attempt, BUILD_STUDENT,
                    "%s takes more than %d s to compile: is there a loop unrolled too far, or a "
                    "template or constexpr without end?",
                    shown, COMPILE_LIMIT_S);
    return fail(attempt, BUILD_STUDENT, "%s %s:\n%sAll of it:%s", shown,
                died(status) ? "makes the compiler crash" : "does not compile", lines, command);
}

static bool check_object(Attempt *attempt)
{
    char *listing = xmalloc(LISTING_BYTES), why[600];
    int status;
    bool good;

    status = compile_list(&attempt->compile, attempt->folder, listing, LISTING_BYTES);
    if (status != 0)
        good =
            fail(attempt, BUILD_MACHINE, "%s does not list what an object holds: install binutils",
                 attempt->job->toolchain->readelf);
    else if (strlen(listing) == LISTING_BYTES - 1)
        good = refuse(attempt, "kernel.cu holds more symbols than can be checked");
    else
        good = audit_object(listing, attempt->job->lab, why, sizeof why) || refuse(attempt, why);
    free(listing);
    return good;
}

/* The object was allowed all it uses, so what fails now is rarely the student's. */
static bool explain_link(Attempt *attempt)
{
    char lines[2000];

    complaint(attempt->output, attempt->folder, attempt->job->shown, lines, sizeof lines);
    if (!machine_builds(attempt))
        return false;
    return fail(attempt, BUILD_STUDENT, "%s compiles but does not link:\n%s", attempt->job->shown,
                lines);
}

static bool finish_entry(Attempt *attempt)
{
    char path[PATH_MAX + 64];
    struct stat about;

    remove_leftovers(attempt);
    if (!stat(inside(attempt, "kernel.so", path), &about) && about.st_size > OBJECT_BYTES)
        return fail(attempt, BUILD_STUDENT, "%s makes an object of more than %d MiB",
                    attempt->job->shown, OBJECT_BYTES >> 20);
    return cache_keep(attempt->cache, attempt->folder, attempt->entry, &attempt->recipe) ||
           cannot_write(attempt, attempt->entry);
}

/* What an entry of the cache calls kernel.so is then the object. */
static bool keep_object(Attempt *attempt)
{
    char object[PATH_MAX + 64], product[PATH_MAX + 64];

    return rename(inside(attempt, "kernel.o", object), inside(attempt, "kernel.so", product))
               ? cannot_write(attempt, product)
               : finish_entry(attempt);
}

/* An object that came ready-made is audited and linked as one that was made here. */
static bool link_made(Attempt *attempt)
{
    if (!write_inside(attempt, "kernel.o", attempt->recipe.source, attempt->recipe.source_bytes))
        return cannot_write(attempt, attempt->folder);
    if (!check_object(attempt))
        return false;
    if (link_object(attempt) != 0)
        return fail(attempt, BUILD_MACHINE,
                    "%s does not link: it was made with another CUDA Toolkit; use the one that the "
                    "course names, or a newer one",
                    attempt->job->shown);
    return finish_entry(attempt);
}

static bool build_entry(Attempt *attempt)
{
    char path[PATH_MAX + 64];
    int status;

    if (!new_folder(attempt))
        return false;
    if (!write_source(attempt, attempt->recipe.source, attempt->recipe.source_bytes))
        return cannot_write(attempt, attempt->folder);
    if (attempt->job->linked)
        return link_made(attempt);
    if ((status = compile(attempt)) != 0)
        return explain_failure(attempt, status);
    if (!file_exists(inside(attempt, "kernel.d", path)))
        return fail(attempt, BUILD_MACHINE,
                    "nvcc does not say which files it read (-MD): is %s NVIDIA's?",
                    attempt->job->toolchain->nvcc);
    if (!check_files(attempt) || !check_object(attempt))
        return false;
    if (attempt->job->portable)
        return keep_object(attempt);
    if (link_object(attempt) != 0)
        return explain_link(attempt);
    return finish_entry(attempt);
}

void build(const BuildJob *job, Build *result)
{
    Attempt attempt = {
        .job = job,
        .result = result,
        .compile = { .toolchain = job->toolchain, .lab = job->lab, .portable = job->portable }
    };

    *result = (Build){ .fault = BUILD_OK };
    attempt.output = xmalloc(OUTPUT_BYTES);
    if (job->toolchain->problem[0])
        fail(&attempt, BUILD_MACHINE, "%s", job->toolchain->problem);
    else if (read_source(&attempt) && choose_archs(&attempt) && find_folders(&attempt) &&
             make_key(&attempt) &&
             (cache_find(attempt.entry, &attempt.recipe) || build_entry(&attempt)))
        PUT(result->object, "%s/kernel.so", attempt.entry);
    drop_folder(&attempt);
    free(attempt.recipe.source);
    free(attempt.recipe.key);
    free(attempt.output);
}
