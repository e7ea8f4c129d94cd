/* extract.c - extracts each lab's kernel and predictions from a submission.
 *
 * An exact name wins over a nearly right one (lab_names.h); then the file nearest to the top wins.
 */
#include "gradebook/import/extract.h"
#include "gradebook/import/lab_names.h"
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

/* ---- Choosing files ---- */

static bool same_file(const SubmittedFile *a, const SubmittedFile *b)
{
    return a->bytes == b->bytes && a->text && b->text && !memcmp(a->text, b->text, a->bytes);
}

/* Above 0 if the first file counts rather than the second: a file that Canvas numbered later, an
 * exact name, a file nearer to the top. */
static int64_t better(const SubmittedFile *a, bool near_a, const SubmittedFile *b, bool near_b)
{
    if (a->order && b->order && a->order != b->order)
        return a->order - b->order;
    if (near_a != near_b)
        return near_b - near_a;
    return path_depth(b->path) - path_depth(a->path);
}

/* A lab's file of one kind: the one chosen so far, and another that is as good but differs. */
typedef struct Choice {
    const SubmittedFile *file, *clash;
    bool near;
} Choice;

static void choose(Choice *choice, const SubmittedFile *file, bool near)
{
    int64_t gain = choice->file ? better(file, near, choice->file, choice->near) : 1;

    if (gain > 0)
        *choice = (Choice){ file, NULL, near };
    else if (gain == 0 && !same_file(choice->file, file))
        choice->clash = file;
}

static bool is_taken(const SubmittedFile *file, const Extracted *found)
{
    for (int lab = 0; lab < LABS; lab++)
        if (file == found->kernel[lab] || file == found->predictions[lab] ||
            file == found->quiz[lab])
            return true;
    return false;
}

static void remark_others(Submission *submission, const Manifest *manifest, int only,
                          const Extracted *found)
{
    enum { TOLD = 20 };
    int changed = 0, extra = 0;

    for (int i = 0; manifest && i < submission->count; i++) {
        const SubmittedFile *file = &submission->files[i];
        const Own *own = own_at(manifest, file->path);
        const LabFile of = lab_of_file(file->path, only);
        if (is_taken(file, found) || (of.lab >= 0 && !of.near) ||
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

/* The chosen file, with remarks; NULL if there is none, or if two are equally good. */
static const SubmittedFile *settle(Submission *submission, const Choice *choice, bool said)
{
    if (!choice->clash)
        return choice->file;
    if (said)
        REMARK(submission, "ambiguous", choice->clash->path,
               "differs from %s; either may be meant, so neither was taken", choice->file->path);
    return NULL;
}

static const SubmittedFile *settle_kernel(Submission *submission, const Choice *choice, int lab)
{
    const SubmittedFile *kernel = settle(submission, choice, true);

    if (kernel && !kernel->text) {
        REMARK(submission, "refused", kernel->path,
               "it is larger than %d KiB; a lab's kernel needs only a few KiB", KERNEL_BYTES >> 10);
        return NULL;
    }
    if (kernel && choice->near)
        REMARK(submission, "matched", kernel->path, "was taken as the kernel of %s",
               all_labs[lab].folder);
    if (kernel)
        remark_suspicions(submission, kernel);
    return kernel;
}

void extract_files(Submission *submission, const Manifest *manifest, int only, Extracted *found)
{
    Choice choices[3][LABS] = { 0 }; /* by FileKind */

    *found = (Extracted){ 0 };
    if (submission->refused)
        return;
    for (int i = 0; i < submission->count; i++) {
        const LabFile of = lab_of_file(submission->files[i].path, only);
        if (of.lab >= 0)
            choose(&choices[of.kind][of.lab], &submission->files[i], of.near);
    }
    for (int lab = 0; lab < LABS; lab++) {
        found->kernel[lab] = choices[IS_KERNEL][lab].file;
        found->predictions[lab] = choices[IS_PREDICTIONS][lab].file;
        found->quiz[lab] = choices[IS_QUIZ][lab].file;
    }
    remark_others(submission, manifest, only, found);
    for (int lab = 0; lab < LABS; lab++) {
        found->predictions[lab] = settle(submission, &choices[IS_PREDICTIONS][lab], false);
        found->quiz[lab] = settle(submission, &choices[IS_QUIZ][lab], true);
        found->kernel[lab] = settle_kernel(submission, &choices[IS_KERNEL][lab], lab);
    }
}
