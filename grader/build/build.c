/* build.c - from a kernel.cu to a kernel.so, by nvcc, cached by all that went in.
 *
 * A build is a folder in the cache, named by a hash of its source and its key (build/cache_key.c).
 * A new build begins in a folder of its own, tmp-XXXXXX, with nothing but the source in it; nvcc
 * compiles it to an object, the files it read and the object are audited, the linker makes
 * kernel.so, and the folder gets its name. So an entry is whole or not there, and of two gradings
 * that build the same at once, one gives way. What is found in the cache is compared byte for byte
 * with what would be built.
 *
 * When a compiler fails in a way that may be the machine's fault, a kernel of our own decides: if
 * it builds, the fault is the student's, whatever the compiler printed.
 */
#include "build/audit.h"
#include "build/audit_files.h"
#include "build/build.h"
#include "build/diagnostics.h"
#include "build/cache_key.h"
#include "base/util.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    LISTING_BYTES = 4 << 20, /* of readelf and of make rules */
    PASS_BYTES = 64 << 20,   /* of a preprocessed source */
    ROOTS = 64,
};

/* ---- What is run ---- */

static bool write_source(const Attempt *attempt, const char *text, size_t size)
{
    return attempt_write(attempt, "kernel.cu", text, size);
}

static int compile(Attempt *attempt)
{
    return compile_object(&attempt->compile, attempt->folder, attempt->output, OUTPUT_BYTES);
}

static int link_object(Attempt *attempt)
{
    return compile_link(&attempt->compile, attempt->folder, attempt->output, OUTPUT_BYTES);
}

static int compile_and_link(Attempt *attempt)
{
    int status = compile(attempt);

    return status ? status : link_object(attempt);
}

/* A kernel of our own: does this machine build anything? If not, that is said. */
static bool machine_builds(Attempt *attempt)
{
    static const char probe[] = "__global__ void probe(int *out) { *out = 1; }\n"
                                "void start(int *out) { probe<<<1, 1>>>(out); }\n";
    char kept[sizeof attempt->folder];
    int status;

    attempt_tidy(attempt); /* an object as large as the disk is the student's fault */
    PUT(kept, "%s", attempt->folder);
    attempt->compile.probes = true;
    if (!attempt_open(attempt)) {
        PUT(attempt->folder, "%s", kept);
        return false;
    }
    if (write_source(attempt, probe, sizeof probe - 1)) {
        status = compile_and_link(attempt);
        if (status != 0 && compile_unconfine()) {
            status = compile_and_link(attempt);
            attempt->again = status == 0;
        }
        if (status != 0) {
            const char *fault = status == -2 ? "it does not end" : toolchain_fault(attempt->output);
            char lines[2000];
            complaint(attempt->output, attempt->folder, "kernel.cu", lines, sizeof lines);
            attempt_fail(attempt, BUILD_MACHINE, "nvcc fails even on a kernel of one line: %s\n%s",
                         fault ? fault : "see what it says", lines);
        }
    } else {
        attempt_cannot_write(attempt, attempt->folder);
    }
    attempt_close(attempt);
    attempt->compile.probes = false;
    PUT(attempt->folder, "%s", kept);
    return attempt->result->fault == BUILD_OK && !attempt->again;
}

/* ---- What it may have read, and what it may hold ---- */

/* "kernel.cu uses ..." -> "labs/06_transpose/kernel.cu uses ..." */
static bool refuse(Attempt *attempt, const char *why)
{
    static const char name[] = "kernel.cu";
    bool named = !strncmp(why, name, sizeof name - 1);

    return attempt_fail(attempt, BUILD_STUDENT, "%s%s", named ? attempt->job->shown : "",
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
        char *text = read_file(attempt_path(attempt, items[i]->d_name, path), PASS_BYTES, NULL);
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

    attempt_path(attempt, "kernel.cu", source);
    PUT(folders, "%s", toolchain->roots);
    for (char *rest = folders, *root; (root = strsep(&rest, "\n")) && count < ROOTS - 1;)
        if (*root)
            roots[count++] = root;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && good; i++) {
        char *rule = read_file(attempt_path(attempt, lists[i], path), LISTING_BYTES, NULL);
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

static bool check_object(Attempt *attempt)
{
    char *listing = xmalloc(LISTING_BYTES), why[600];
    int status;
    bool good;

    status = compile_list(&attempt->compile, attempt->folder, listing, LISTING_BYTES);
    if (status != 0)
        good = attempt_fail(attempt, BUILD_MACHINE,
                            "%s does not list what an object holds: install binutils",
                            attempt->job->toolchain->readelf);
    else if (strlen(listing) == LISTING_BYTES - 1)
        good = refuse(attempt, "kernel.cu holds more symbols than can be checked");
    else
        good = audit_object(listing, attempt->job->lab, why, sizeof why) || refuse(attempt, why);
    free(listing);
    return good;
}

/* ---- Why it failed ---- */

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
               strstr(attempt->output, "Permission denied") ||
               (strncmp(lines, shown, strlen(shown)) && strncmp(lines, "ptxas", 5));
    if (doubtful && !machine_builds(attempt))
        return false;
    if (status == -2)
        return attempt_fail(
            attempt, BUILD_STUDENT,
            "%s takes more than %d s to compile: is there a loop unrolled too far, or a "
            "template or constexpr without end?",
            shown, COMPILE_LIMIT_S);
    return attempt_fail(attempt, BUILD_STUDENT, "%s %s:\n%sAll of it:%s", shown,
                        died(status) ? "makes the compiler crash" : "does not compile", lines,
                        command);
}

/* The object was allowed all it uses, so what fails now is rarely the student's. */
static bool explain_link(Attempt *attempt)
{
    char lines[2000];

    if (attempt->job->lab->launches && strstr(attempt->output, "undefined reference"))
        return attempt_fail(
            attempt, BUILD_STUDENT,
            "%s defines `%s_kernel`, but not with the parameters that kernel.h declares",
            attempt->job->shown, attempt->job->lab->function);
    complaint(attempt->output, attempt->folder, attempt->job->shown, lines, sizeof lines);
    if (!machine_builds(attempt))
        return false;
    return attempt_fail(attempt, BUILD_STUDENT, "%s compiles but does not link:\n%s",
                        attempt->job->shown, lines);
}

/* ---- Steps ---- */

static bool finish_entry(Attempt *attempt)
{
    char path[PATH_MAX + 64];
    struct stat about;

    attempt_tidy(attempt);
    if (!stat(attempt_path(attempt, "kernel.so", path), &about) && about.st_size > OBJECT_BYTES)
        return attempt_fail(attempt, BUILD_STUDENT, "%s makes an object of more than %d MiB",
                            attempt->job->shown, OBJECT_BYTES >> 20);
    return cache_keep(attempt->cache, attempt->folder, attempt->entry, &attempt->recipe) ||
           attempt_cannot_write(attempt, attempt->entry);
}

/* What an entry of the cache calls kernel.so is then the object. */
static bool keep_object(Attempt *attempt)
{
    char object[PATH_MAX + 64], product[PATH_MAX + 64];

    return rename(attempt_path(attempt, "kernel.o", object),
                  attempt_path(attempt, "kernel.so", product))
               ? attempt_cannot_write(attempt, product)
               : finish_entry(attempt);
}

/* An object that came ready-made is audited and linked as one that was made here. */
static bool link_made(Attempt *attempt)
{
    if (!attempt_write(attempt, "kernel.o", attempt->recipe.source, attempt->recipe.source_bytes))
        return attempt_cannot_write(attempt, attempt->folder);
    if (!check_object(attempt))
        return false;
    if (link_object(attempt) != 0)
        return attempt_fail(
            attempt, BUILD_MACHINE,
            "%s does not link: it was made with another CUDA Toolkit; use the one that the "
            "course names, or a newer one",
            attempt->job->shown);
    return finish_entry(attempt);
}

static bool build_entry(Attempt *attempt)
{
    char path[PATH_MAX + 64];
    int status;

    if (!attempt_open(attempt))
        return false;
    if (!write_source(attempt, attempt->recipe.source, attempt->recipe.source_bytes))
        return attempt_cannot_write(attempt, attempt->folder);
    if (attempt->job->linked)
        return link_made(attempt);
    if ((status = compile(attempt)) != 0)
        return explain_failure(attempt, status);
    if (!file_exists(attempt_path(attempt, "kernel.d", path)))
        return attempt_fail(attempt, BUILD_MACHINE,
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

static bool build_again(Attempt *attempt)
{
    if (!attempt->again)
        return false;
    attempt->again = false;
    attempt_close(attempt);
    return build_entry(attempt);
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
        attempt_fail(&attempt, BUILD_MACHINE, "%s", job->toolchain->problem);
    else if (recipe_make(&attempt) && (cache_find(attempt.entry, &attempt.recipe) ||
                                       build_entry(&attempt) || build_again(&attempt)))
        PUT(result->object, "%s/kernel.so", attempt.entry);
    attempt_close(&attempt);
    free(attempt.recipe.source);
    free(attempt.recipe.key);
    free(attempt.output);
}
