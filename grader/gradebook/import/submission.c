/* submission.c - submissions: their student, time and files. Nothing in them is trusted. */
#include "gradebook/import/submission.h"
#include "base/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Text and paths ---- */

/* The length of the UTF-8 character at `at`; 0 if invalid or overlong. */
static size_t utf8_length(const unsigned char *at)
{
    size_t length = at[0] < 0x80   ? 1
                    : at[0] < 0xc2 ? 0
                    : at[0] < 0xe0 ? 2
                    : at[0] < 0xf0 ? 3
                    : at[0] < 0xf5 ? 4
                                   : 0;

    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    /* JSON parsers reject overlong forms, surrogates and code points above U+10FFFF. */
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90) ||
        (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

char *show(char *text)
{
    for (unsigned char *at = (unsigned char *) text; *at;) {
        size_t length = utf8_length(at);
        /* C1 controls and bidirectional marks can disguise a name. */
        bool hidden = *at < ' ' || *at == 127 || (at[0] == 0xc2 && at[1] < 0xa0) ||
                      (at[0] == 0xe2 && at[1] == 0x80 && at[2] >= 0xaa && at[2] <= 0xae) ||
                      (at[0] == 0xe2 && at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9);
        if (length && !hidden) {
            at += length;
            continue;
        }
        for (size_t i = 0; i < (length ? length : 1); i++)
            *at++ = '?';
    }
    return text;
}

/* Writes a control character as its Unicode picture, and an invalid byte as Latin-1. If both became
 * '?', two different names could become equal. Returns the number of bytes written to `to`. */
static size_t write_character(const unsigned char *at, size_t length, char to[4])
{
    const unsigned char picture = *at == 127 ? 0xa1 : (unsigned char) (0x80 + *at);

    if (length == 1 && (*at < ' ' || *at == 127)) {
        memcpy(to, (const unsigned char[]){ 0xe2, 0x90, picture }, 3);
        return 3;
    }
    if (!length && *at >= 0xa0) {
        memcpy(to, (const unsigned char[]){ 0xc0 | *at >> 6, 0x80 | (*at & 0x3f) }, 2);
        return 2;
    }
    memcpy(to, length ? (const char *) at : "?", length ? length : 1);
    return length ? length : 1;
}

/* Returns false if the result is too long. */
static bool to_utf8(const char *name, char text[SUBMISSION_PATH])
{
    size_t used = 0;

    for (const unsigned char *at = (const unsigned char *) name; *at;) {
        const size_t length = utf8_length(at);
        char character[4];
        const size_t bytes = write_character(at, length, character);
        if (used + bytes >= SUBMISSION_PATH)
            return false;
        memcpy(text + used, character, bytes);
        used += bytes;
        at += length ? length : 1;
    }
    text[used] = 0;
    return true;
}

const char *path_clean(const char *name, char clean[SUBMISSION_PATH])
{
    char text[SUBMISSION_PATH];
    const char *path = text;
    size_t used = 0;
    int depth = 0;

    clean[0] = 0;
    if (!to_utf8(name, text))
        return "its name is longer than 1023 bytes";
    if (*path == '/' || *path == '\\')
        return "its path begins at the root of the file system";
    if (path[0] && path[1] == ':' && (path[2] == '\\' || path[2] == '/'))
        return "its path begins with a drive letter";
    while (*path) {
        size_t length = strcspn(path, "/\\");
        if (length == 2 && path[0] == '.' && path[1] == '.')
            return "its path leads outside the submission";
        if (length && !(length == 1 && *path == '.')) {
            if (used)
                clean[used++] = '/';
            memcpy(clean + used, path, length);
            used += length;
            if (++depth > SUBMISSION_DEPTH)
                return "it is nested in more than 24 folders";
        }
        path += length + (path[length] != 0);
    }
    clean[used] = 0;
    show(clean);
    return used ? NULL : "it has no name";
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return length >= tail && !strcasecmp(text + length - tail, end);
}

bool path_is_junk(const char *path)
{
    static const char *const names[] = { ".git",        "__MACOSX",   ".DS_Store", "Thumbs.db",
                                         "desktop.ini", ".gitignore", ".vscode",   ".idea" };

    for (const char *at = path; *at;) {
        size_t length = strcspn(at, "/");
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (length == strlen(names[i]) && !strncmp(at, names[i], length))
                return true;
        if (!strncmp(at, "._", 2))
            return true;
        at += length + (at[length] != 0);
    }
    return false;
}

bool path_is_archive(const char *path)
{
    static const char *const ends[] = { ".zip",    ".tar",     ".tar.gz", ".tgz",
                                        ".tar.xz", ".tar.bz2", ".tar.zst" };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(path, ends[i]))
            return true;
    return false;
}

bool path_is_wanted(const char *path)
{
    return ends_with(path, ".cu") || ends_with(path, "predictions.txt") ||
           ends_with(path, "quiz.txt");
}

/* ---- Remarks ---- */

static char *copy_of(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(xmalloc(size), text, size);
}

static void remark_list(Remark *remarks, int *count, const char *kind, const char *entry,
                        const char *format, va_list arguments)
{
    char sentence[1000];

    vsnprintf(sentence, sizeof sentence, format, arguments);
    if ((*count)++ >= SUBMISSION_REMARKS)
        return;
    remarks[*count - 1] = (Remark){ kind, show(copy_of(entry)), show(copy_of(sentence)) };
}

void remark(Remark *remarks, int *count, const char *kind, const char *entry, const char *format,
            ...)
{
    va_list arguments;

    va_start(arguments, format);
    remark_list(remarks, count, kind, entry, format, arguments);
    va_end(arguments);
}

void submission_refuse(Submission *submission, const char *entry, const char *format, ...)
{
    va_list arguments;

    submission->refused = true;
    for (int i = 0; i < submission->count; i++) {
        free(submission->files[i].text);
        submission->files[i].text = NULL;
    }
    va_start(arguments, format);
    remark_list(submission->remarks, &submission->remark_count, "refused", entry, format,
                arguments);
    va_end(arguments);
}

static void free_remarks(Remark *remarks, int count)
{
    for (int i = 0; i < count && i < SUBMISSION_REMARKS; i++) {
        free(remarks[i].entry);
        free(remarks[i].sentence);
    }
}

/* ---- Submissions ---- */

static void *grown(void *list, int count, int *capacity, size_t width)
{
    if (count < *capacity)
        return list;
    *capacity = *capacity ? 2 * *capacity : 16;
    list = xrealloc(list, (size_t) *capacity, width);
    return list;
}

Submission *class_add(Class *class)
{
    class->list = grown(class->list, class->count, &class->capacity, sizeof *class->list);
    return class->list[class->count++] = xcalloc(1, sizeof(Submission));
}

Submission *class_submission(Class *class, const char *source)
{
    /* The files of one submission follow each other, so search from the end. */
    for (int i = class->count; i-- > 0;)
        if (!strcmp(class->list[i]->source, source))
            return class->list[i];
    Submission *submission = class_add(class);
    PUT(submission->source, "%s", source);
    return submission;
}

Submission *class_copy(Class *class, const Submission *submission)
{
    Submission *copy = class_add(class);

    *copy = *submission;
    copy->files = NULL;
    copy->count = copy->capacity = copy->remark_count = 0;
    copy->text_bytes = 0;
    for (int i = 0; i < submission->count; i++) {
        const SubmittedFile *file = &submission->files[i];
        copy->bytes -= file->bytes;
        submission_file(copy, file->path, file->text, file->bytes, file->hash, file->changed);
    }
    for (int i = 0; i < submission->remark_count && i < SUBMISSION_REMARKS; i++)
        REMARK(copy, submission->remarks[i].kind, submission->remarks[i].entry, "%s",
               submission->remarks[i].sentence);
    return copy;
}

static void keep_text(Submission *submission, SubmittedFile *file, const char *bytes, size_t size)
{
    if (submission->text_bytes + size > SUBMISSION_TEXT_BYTES) {
        submission_refuse(submission, file->path, "its kernels are larger than %d MiB in total",
                          SUBMISSION_TEXT_BYTES >> 20);
        return;
    }
    submission->text_bytes += size;
    file->text = xmalloc(size + 1);
    memcpy(file->text, bytes, size);
    file->text[size] = 0;
}

void submission_file(Submission *submission, const char *path, const char *bytes, size_t size,
                     uint64_t hash, int64_t changed)
{
    SubmittedFile *file;

    if (submission->count == SUBMISSION_FILES) {
        if (!submission->refused)
            submission_refuse(submission, path, "it holds more than %d files", SUBMISSION_FILES);
        return;
    }
    if (size > SUBMISSION_BYTES || submission->bytes > SUBMISSION_BYTES - size) {
        if (!submission->refused)
            submission_refuse(submission, path, "it is larger than %d MiB", SUBMISSION_BYTES >> 20);
        return;
    }
    submission->bytes += size;
    submission->files = grown(submission->files, submission->count, &submission->capacity,
                              sizeof *submission->files);
    file = &submission->files[submission->count++];
    *file = (SubmittedFile){ copy_of(path), size, hash, NULL, changed };
    if (bytes && size <= KERNEL_BYTES && path_is_wanted(path) && !submission->refused)
        keep_text(submission, file, bytes, size);
}

void class_free(Class *class)
{
    for (int i = 0; i < class->count; i++) {
        Submission *submission = class->list[i];
        for (int k = 0; k < submission->count; k++) {
            free(submission->files[k].path);
            free(submission->files[k].text);
        }
        free(submission->files);
        free_remarks(submission->remarks, submission->remark_count);
        free(submission);
    }
    free(class->list);
    free_remarks(class->remarks, class->remark_count);
    *class = (Class){ 0 };
}
