/* build.c - builds kernel.so from kernel.cu with nvcc, cached by all inputs.
 *
 * A build is a folder in the cache, named after a hash of its source and its key
 * (build/cache_key.c). A new build begins in its own folder, tmp-XXXXXX, which contains only the
 * source. nvcc compiles the source to an object, the object and the files that nvcc read are
 * audited, the linker makes kernel.so, and the folder is renamed. An entry is therefore complete
 * or absent; if two gradings build the same source at the same time, the first one counts. The
 * inputs of an entry in the cache are compared byte for byte with those of the build.
 *
 * If a compiler fails in a way that may be the machine's fault, a one-line kernel decides: if it
 * builds, the fault is the student's, whatever the compiler printed.
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
    LISTING_BYTES = 4 << 20, /* output of readelf, and make rules */
    PASS_BYTES = 64 << 20,   /* a preprocessed source */
    ROOTS = 64,
};

/* ---- Source and probe ---- */

static bool write_source(const BuildContext *context, const char *text, size_t size)
{
    return context_write(context, "kernel.cu", text, size);
}

static int compile(BuildContext *context)
{
    return compile_object(&context->compile, context->folder, context->output, OUTPUT_BYTES);
}

static int link_object(BuildContext *context)
{
    return compile_link(&context->compile, context->folder, context->output, OUTPUT_BYTES);
}

static int compile_and_link(BuildContext *context)
{
    int status = compile(context);

    return status ? status : link_object(context);
}

/* Builds a one-line kernel. If this machine cannot even do that, fails the build and gives the
 * reason. */
static bool machine_builds(BuildContext *context)
{
    static const char probe[] = "__global__ void probe(int *out) { *out = 1; }\n"
                                "void start(int *out) { probe<<<1, 1>>>(out); }\n";
    char kept[sizeof context->folder];
    int status;

    context_tidy(context); /* an object that fills the disk is the student's fault */
    PUT(kept, "%s", context->folder);
    context->compile.probes = true;
    if (!context_open(context)) {
        PUT(context->folder, "%s", kept);
        return false;
    }
    if (write_source(context, probe, sizeof probe - 1)) {
        status = compile_and_link(context);
        if (status != 0 && compile_unconfine()) {
            status = compile_and_link(context);
            context->again = status == 0;
        }
        if (status != 0) {
            const char *fault =
                status == -2 ? "it does not finish" : toolchain_fault(context->output);
            char lines[2000];
            complaint(context->output, context->folder, "kernel.cu", lines, sizeof lines);
            context_fail(context, "nvcc fails even on a one-line kernel: %s\n%s",
                         fault ? fault : "its output was", lines);
        }
    } else {
        context_cannot_write(context, context->folder);
    }
    context_close(context);
    context->compile.probes = false;
    PUT(context->folder, "%s", kept);
    return context->result->fault == BUILD_OK && !context->again;
}

/* ---- The audit: which files were read, and what the object contains ---- */

/* The line of the source that uses what "kernel.cu uses `cudaMalloc`: ..." names; 0: unknown. */
static int line_of_use(const BuildContext *context, const char *why)
{
    static const char begin[] = "kernel.cu uses `";
    char name[256], *source;
    int line;

    if (strncmp(why, begin, sizeof begin - 1))
        return 0;
    why += sizeof begin - 1;
    PUT(name, "%.*s", (int) strcspn(why, "`"), why);
    source = read_file(context->job->source, BUILD_SOURCE_BYTES, NULL);
    line = source ? line_of_name(source, name) : 0;
    free(source);
    return line;
}

/* "kernel.cu uses ..." -> "labs/06_transpose/kernel.cu:12: uses ..." */
static bool refuse(BuildContext *context, DiagnosisCode code, const char *why)
{
    static const char name[] = "kernel.cu";
    const bool named = !strncmp(why, name, sizeof name - 1);
    const int line = line_of_use(context, why);

    if (line) {
        context->result->errors.count = 1;
        context->result->errors.error[0].line = line;
        PUT(context->result->errors.error[0].text, "%s", why);
        return context_refuse(context, code, "%s:%d:%s", context->job->shown, line,
                              why + sizeof name - 1);
    }
    return context_refuse(context, code, "%s%s", named ? context->job->shown : "",
                          named ? why + sizeof name - 1 : why);
}

static int is_preprocessed(const struct dirent *item)
{
    const char *end = strrchr(item->d_name, '.');

    return end && !strcmp(end, ".ii");
}

/* Compilations for the GPU can read files that nvcc's list does not name. */
static bool check_passes(const BuildContext *context, const char *source, const char *const *roots,
                         char *why, size_t size)
{
    struct dirent **items = NULL;
    int count = scandir(context->folder, &items, is_preprocessed, alphasort);
    char path[PATH_MAX + 64];
    bool good = true;

    for (int i = 0; i < count; i++) {
        char *text = read_file(context_path(context, items[i]->d_name, path), PASS_BYTES, NULL);
        if (good && text)
            good = audit_markers(text, source, roots, why, size);
        else if (good) {
            good = false;
            put(why, size, "kernel.cu includes more text than can be checked");
        }
        free(text);
        free(items[i]);
    }
    free(items);
    return good;
}

/* Checks every file in nvcc's and the assembler's lists. True without a list. */
static bool check_files(BuildContext *context)
{
    static const char *const lists[] = { "kernel.d", "kernel.asm.d" };
    const Toolchain *toolchain = context->job->toolchain;
    char folders[sizeof toolchain->roots], path[PATH_MAX + 64], source[PATH_MAX + 64], why[600];
    const char *roots[ROOTS] = { context->compile.lab_dir, context->compile.common };
    int count = 2;
    bool good = true;

    context_path(context, "kernel.cu", source);
    PUT(folders, "%s", toolchain->roots);
    for (char *rest = folders, *root; (root = strsep(&rest, "\n")) && count < ROOTS - 1;)
        if (*root)
            roots[count++] = root;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && good; i++) {
        char *rule = read_file(context_path(context, lists[i], path), LISTING_BYTES, NULL);
        if (rule)
            good = audit_includes(rule, source, roots, why, sizeof why);
        else if (errno != ENOENT) {
            good = false;
            PUT(why, "kernel.cu includes more files than can be checked");
        }
        free(rule);
    }
    good = good && check_passes(context, source, roots, why, sizeof why);
    return good || refuse(context, SAW_INCLUDE, why);
}

static bool check_object(BuildContext *context)
{
    char *listing = xmalloc(LISTING_BYTES), why[600];
    int status;
    bool good;

    status = compile_list(&context->compile, context->folder, listing, LISTING_BYTES);
    if (status != 0)
        good =
            context_fail(context, "%s cannot list the contents of an object file: install binutils",
                         context->job->toolchain->readelf);
    else if (strlen(listing) == LISTING_BYTES - 1)
        good = refuse(context, SAW_SIZE, "kernel.cu contains more symbols than can be checked");
    else
        good = audit_object(listing, context->job->lab, why, sizeof why) ||
               refuse(context, SAW_FORBIDDEN, why);
    free(listing);
    return good;
}

/* ---- Why it failed ---- */

/* nvcc exits with 255 after errors, and with 128 + signal if one of its compilers died. */
static bool died(int status)
{
    return status >= 126 && status < 255;
}

static bool explain_failure(BuildContext *context, int status)
{
    const char *shown = context->job->shown;
    char lines[3500], command[1500];
    size_t room;
    bool doubtful;

    if (!check_files(context)) /* the compiler may have read /etc/passwd, which must not be shown */
        return false;
    compile_typed(&context->compile, context->job->source, command, sizeof command);
    room = sizeof context->result->message - 100; /* leaves room for the grader's own words */
    room -= strlen(shown) + strlen(command);
    complaint(context->output, context->folder, shown, lines,
              room < sizeof lines ? room : sizeof lines);
    doubtful = status < 0 || died(status) || toolchain_fault(context->output) ||
               strstr(context->output, "Permission denied") ||
               (strncmp(lines, shown, strlen(shown)) && strncmp(lines, "ptxas", 5));
    if (doubtful && !machine_builds(context))
        return false;
    if (status == -2)
        return context_refuse(
            context, SAW_COMPILE_TIME,
            "%s takes more than %d s to compile: is a loop unrolled too far, or does a template or "
            "constexpr never end?",
            shown, COMPILE_LIMIT_S);
    context->result->errors.count = compiler_errors(context->output, context->folder,
                                                    context->result->errors.error, BUILD_ERRORS);
    const char *meaning = complaint_meaning(lines);
    const bool is_cut = complaint_is_cut(lines);

    return context_refuse(context, SAW_COMPILER, "%s %s:\n%s%s%s%s%s", shown,
                          died(status) ? "makes the compiler crash" : "does not compile", lines,
                          meaning, *meaning ? "\n" : "", is_cut ? "All errors:" : "",
                          is_cut ? command : "");
}

/* The object passed the audit, so a failure to link is rarely the student's fault. */
static bool explain_link(BuildContext *context)
{
    char lines[2000];

    if (context->job->lab->launches && strstr(context->output, "undefined reference"))
        return context_refuse(
            context, SAW_LINKER,
            "%s defines `%s_kernel`, but not with the parameters that kernel.h declares",
            context->job->shown, context->job->lab->function);
    complaint(context->output, context->folder, context->job->shown, lines, sizeof lines);
    if (!machine_builds(context))
        return false;
    return context_refuse(context, SAW_LINKER, "%s compiles but does not link:\n%s",
                          context->job->shown, lines);
}

/* ---- Steps ---- */

static bool finish_entry(BuildContext *context)
{
    char path[PATH_MAX + 64];
    struct stat about;

    context_tidy(context);
    if (!stat(context_path(context, "kernel.so", path), &about) && about.st_size > OBJECT_BYTES)
        return context_refuse(context, SAW_SIZE, "%s compiles to an object of more than %d MiB",
                              context->job->shown, OBJECT_BYTES >> 20);
    return cache_keep(context->cache, context->folder, context->entry, &context->recipe) ||
           context_cannot_write(context, context->entry);
}

/* The object becomes the entry's kernel.so. */
static bool keep_object(BuildContext *context)
{
    char object[PATH_MAX + 64], product[PATH_MAX + 64];

    return rename(context_path(context, "kernel.o", object),
                  context_path(context, "kernel.so", product))
               ? context_cannot_write(context, product)
               : finish_entry(context);
}

/* A ready-made object is audited and linked like one that was compiled here. */
static bool link_made(BuildContext *context)
{
    if (!context_write(context, "kernel.o", context->recipe.source, context->recipe.source_bytes))
        return context_cannot_write(context, context->folder);
    if (!check_object(context))
        return false;
    if (link_object(context) != 0)
        return context_fail(
            context,
            "%s does not link: it was built with another CUDA Toolkit; use the one that the course "
            "names, or a newer one",
            context->job->shown);
    return finish_entry(context);
}

static bool build_entry(BuildContext *context)
{
    char path[PATH_MAX + 64];
    int status;

    if (!context_open(context))
        return false;
    if (!write_source(context, context->recipe.source, context->recipe.source_bytes))
        return context_cannot_write(context, context->folder);
    if (context->job->linked)
        return link_made(context);
    if ((status = compile(context)) != 0)
        return explain_failure(context, status);
    if (!file_exists(context_path(context, "kernel.d", path)))
        return context_fail(context,
                            "nvcc does not report which files it read (-MD): is %s NVIDIA's nvcc?",
                            context->job->toolchain->nvcc);
    if (!check_files(context) || !check_object(context))
        return false;
    if (context->job->portable)
        return keep_object(context);
    if (link_object(context) != 0)
        return explain_link(context);
    return finish_entry(context);
}

static bool build_again(BuildContext *context)
{
    if (!context->again)
        return false;
    context->again = false;
    context_close(context);
    return build_entry(context);
}

void build(const BuildJob *job, Build *result)
{
    BuildContext context = {
        .job = job,
        .result = result,
        .compile = { .toolchain = job->toolchain, .lab = job->lab, .portable = job->portable }
    };

    *result = (Build){ .fault = BUILD_OK };
    context.output = xmalloc(OUTPUT_BYTES);
    if (job->toolchain->problem[0])
        context_fail(&context, "%s", job->toolchain->problem);
    else if (cache_key_make(&context) && (cache_find(context.entry, &context.recipe) ||
                                          build_entry(&context) || build_again(&context)))
        PUT(result->object, "%s/kernel.so", context.entry);
    context_close(&context);
    free(context.recipe.source);
    free(context.recipe.key);
    free(context.output);
}
