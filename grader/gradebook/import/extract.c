/* extract.c - extracts each lab's kernel and predictions from a submission.
 *
 * A kernel is .../06_transpose/kernel.cu, at any depth; or, for single files, 06_transpose.cu or
 * transpose.cu (Canvas adds -1 to a resubmitted file). The file nearest to the top wins.
 */
#include "gradebook/import/extract.h"
#include "gradebook/import/source.h"
#include "base/tokens.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The workbook's own files ---- */

typedef struct Own {
    char *path;
    size_t size;
    uint64_t hash;
} Own;

struct Manifest {
    Own *list;
    int count, capacity;
    const char *prefix; /* while a folder is read */
};

static size_t wants_nothing(void *context, const char *path)
{
    (void) context, (void) path;
    return 0;
}

static void own_file(void *context, const char *path, const VisitedFile *file)
{
    Manifest *manifest = context;
    char whole[SUBMISSION_PATH + 64];

    if (manifest->count == manifest->capacity) {
        manifest->capacity = manifest->capacity ? 2 * manifest->capacity : 256;
        manifest->list = xrealloc(manifest->list, (size_t) manifest->capacity, sizeof(Own));
    }
    PUT(whole, "%s/%s", manifest->prefix, path);
    manifest->list[manifest->count++] = (Own){ xstrdup(whole), file->size, file->hash };
}

static void own_refused(void *context, const char *path, const char *sentence)
{
    (void) context, (void) path, (void) sentence;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const Own *) a)->path, ((const Own *) b)->path);
}

Manifest *manifest_read(const char *root)
{
    static const char *const folders[] = { "labs", "common", "grader", "solutions", "tests" };
    Manifest *manifest = xcalloc(1, sizeof *manifest);
    const Visitor visitor = { manifest, wants_nothing, own_file, own_refused };

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char folder[4096], why[300];
        manifest->prefix = folders[i];
        walk(PUT(folder, "%s/%s", root, folders[i]), &visitor, why, sizeof why);
    }
    if (manifest->count)
        qsort(manifest->list, (size_t) manifest->count, sizeof(Own), by_path);
    return manifest;
}

void manifest_free(Manifest *manifest)
{
    for (int i = 0; manifest && i < manifest->count; i++)
        free(manifest->list[i].path);
    if (manifest)
        free(manifest->list);
    free(manifest);
}

/* The workbook's own file at this path. The copy of the workbook may be in a subfolder. */
static const Own *own_at(const Manifest *manifest, const char *path)
{
    for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL) {
        Own wanted = { .path = (char *) at };
        const Own *found = manifest->count ? bsearch(&wanted, manifest->list,
                                                     (size_t) manifest->count, sizeof(Own), by_path)
                                           : NULL;
        if (found)
            return found;
    }
    return NULL;
}

/* ---- Which lab? ---- */

static int depth_of(const char *path)
{
    int depth = 0;

    for (; *path; path++)
        depth += *path == '/';
    return depth;
}

/* "transpose-1.cu" without .cu and -1. */
static const char *stem(const char *name, char *text, size_t size)
{
    size_t length = strlen(name), digits;

    put(text, size, "%.*s", (int) (length > 3 ? length - 3 : 0), name);
    digits = strlen(text);
    while (digits && text[digits - 1] >= '0' && text[digits - 1] <= '9')
        digits--;
    if (digits > 1 && text[digits - 1] == '-' && text[digits])
        text[digits - 1] = 0;
    return text;
}

typedef enum FileKind { IS_KERNEL, IS_PREDICTIONS, IS_QUIZ } FileKind;

/* The index in all_labs of the lab whose kernel, predictions or quiz this file holds; -1: none. */
static int lab_of(const char *path, int only, FileKind *kind)
{
    const char *name = strrchr(path, '/');
    char folder[SUBMISSION_PATH], single[300];
    size_t above;

    name = name ? name + 1 : path;
    *kind = !strcmp(name, "predictions.txt") ? IS_PREDICTIONS
            : !strcmp(name, "quiz.txt")      ? IS_QUIZ
                                             : IS_KERNEL;
    above = (size_t) (name - path);
    PUT(folder, "%.*s", (int) (above ? above - 1 : 0), path);
    if (strrchr(folder, '/'))
        memmove(folder, strrchr(folder, '/') + 1, strlen(strrchr(folder, '/')));
    stem(name, single, sizeof single);
    if (only >= 0 && !*folder && (!strcmp(single, "kernel") || *kind != IS_KERNEL))
        return only;
    for (int i = 0; i < LABS && all_labs[i].folder; i++) {
        if (!strcmp(folder, all_labs[i].folder) &&
            (!strcmp(name, "kernel.cu") || *kind != IS_KERNEL))
            return i;
        if (*kind == IS_KERNEL && depth_of(path) <= 1 &&
            (!strcmp(single, all_labs[i].folder) || !strcmp(single, lab_name(&all_labs[i]))))
            return i;
    }
    return -1;
}

/* ---- Choosing files ---- */

static bool same_file(const SubmittedFile *a, const SubmittedFile *b)
{
    return a->bytes == b->bytes && a->text && b->text && !memcmp(a->text, b->text, a->bytes);
}

/* Chooses the file nearer to the top; sets `clash` if both are at the same depth. */
static void choose(const SubmittedFile **chosen, const SubmittedFile *file,
                   const SubmittedFile **clash)
{
    int nearer = *chosen ? depth_of((*chosen)->path) - depth_of(file->path) : 1;

    if (nearer > 0) {
        *chosen = file;
        *clash = NULL;
    } else if (nearer == 0 && !same_file(*chosen, file))
        *clash = file;
}

static void remark_others(Submission *submission, const Manifest *manifest, int only,
                          const Extracted *found)
{
    enum { TOLD = 20 };
    int changed = 0, extra = 0;

    for (int i = 0; manifest && i < submission->count; i++) {
        const SubmittedFile *file = &submission->files[i];
        const Own *own = own_at(manifest, file->path);
        bool taken = false;
        FileKind kind;
        for (int lab = 0; lab < LABS; lab++)
            taken |= file == found->kernel[lab] || file == found->predictions[lab] ||
                     file == found->quiz[lab];
        if (taken || lab_of(file->path, only, &kind) >= 0 ||
            (own && own->size == file->bytes && own->hash == file->hash))
            continue;
        if (own && ++changed <= TOLD)
            REMARK(submission, "changed", file->path,
                   "differs from the workbook's file, which was used instead");
        else if (!own && ++extra <= TOLD)
            REMARK(submission, "extra", file->path, "is not part of the workbook; it was not used");
    }
    if (changed > TOLD)
        REMARK(submission, "changed", "", "%d files in total differ from the workbook's", changed);
    if (extra > TOLD)
        REMARK(submission, "extra", "", "%d files in total are not in the workbook", extra);
}

/* ---- Suspicious words ---- */

/* Words that no lab needs, for a human to check; they change no verdict. The sandbox and warpbook
 * prevent cheating; this only reports attempts. Hiding such words, for example with macros, does
 * not bypass those defences. */
static const struct {
    const char *word; /* within one token; a string or number is one token */
    const char *sentence;
} suspicions[] = {
    { "syscall", "it contains syscall: direct system calls, which no lab needs" },
    { "/proc", "it contains /proc: information about processes, which no lab needs" },
    { "/etc/", "it contains /etc/: the machine's configuration, which no lab needs" },
    { "/dev/", "it contains /dev/: devices, which no lab needs" },
    { "/home", "it contains /home: other people's files" },
    { "/tmp", "it contains /tmp: files outside the lab" },
    { "../", "it contains ../: files outside the lab" },
    { "solutions", "it contains solutions: the workbook's solutions" },
    { "sqlite", "it contains sqlite: the gradebook's database" },
    { "incbin", "it contains incbin: an assembler directive that includes a file" },
    { "embed", "it contains embed: a preprocessor directive that includes a file" },
    { "__has_include", "it contains __has_include: a test of which files exist" },
    { "LD_PRELOAD", "it contains LD_PRELOAD: a way to change other programs" },
};
enum { SUSPICIONS = sizeof suspicions / sizeof *suspicions };

static bool has_word(const char *stream, size_t size, const char *word)
{
    for (size_t at = 0; at < size; at += strlen(stream + at) + 1)
        if (strstr(stream + at, word))
            return true;
    return false;
}

const char *suspicion(const char *source, int place)
{
    size_t size;
    char *stream = token_stream(source, &size);
    const char *found = NULL;

    for (int i = 0; i < SUSPICIONS && !found; i++)
        if (has_word(stream, size, suspicions[i].word) && place-- == 0)
            found = suspicions[i].sentence;
    free(stream);
    return found;
}

static void remark_suspicions(Submission *submission, const SubmittedFile *kernel)
{
    const char *sentence;

    for (int i = 0; (sentence = suspicion(kernel->text, i)); i++)
        REMARK(submission, "suspicious", kernel->path, "%s", sentence);
}

void extract_files(Submission *submission, const Manifest *manifest, int only, Extracted *found)
{
    const SubmittedFile *kernel_clash[LABS] = { 0 }, *other_clash[LABS] = { 0 };
    const SubmittedFile *quiz_clash[LABS] = { 0 };

    *found = (Extracted){ 0 };
    if (submission->refused)
        return;
    for (int i = 0; i < submission->count; i++) {
        const SubmittedFile *file = &submission->files[i];
        FileKind kind;
        int lab = lab_of(file->path, only, &kind);
        if (lab >= 0 && kind == IS_KERNEL)
            choose(&found->kernel[lab], file, &kernel_clash[lab]);
        else if (lab >= 0 && kind == IS_QUIZ)
            choose(&found->quiz[lab], file, &quiz_clash[lab]);
        else if (lab >= 0)
            choose(&found->predictions[lab], file, &other_clash[lab]);
    }
    remark_others(submission, manifest, only, found);
    for (int lab = 0; lab < LABS; lab++) {
        if (other_clash[lab])
            found->predictions[lab] = NULL;
        if (quiz_clash[lab]) {
            REMARK(submission, "ambiguous", quiz_clash[lab]->path,
                   "differs from %s at the same depth: neither was taken", found->quiz[lab]->path);
            found->quiz[lab] = NULL;
        }
        if (kernel_clash[lab]) {
            REMARK(submission, "ambiguous", kernel_clash[lab]->path,
                   "differs from %s at the same depth: neither was taken",
                   found->kernel[lab]->path);
            found->kernel[lab] = NULL;
        }
        if (found->kernel[lab] && !found->kernel[lab]->text) {
            REMARK(submission, "refused", found->kernel[lab]->path,
                   "it is larger than %d KiB; a lab's kernel needs only a few KiB",
                   KERNEL_BYTES >> 10);
            found->kernel[lab] = NULL;
        }
        if (found->kernel[lab])
            remark_suspicions(submission, found->kernel[lab]);
    }
}
