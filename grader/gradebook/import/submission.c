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

/* C1 controls and bidirectional marks can disguise a name. */
static bool is_hidden(const unsigned char *at)
{
    return *at < ' ' || *at == 127 || (at[0] == 0xc2 && at[1] < 0xa0) ||
           (at[0] == 0xe2 && at[1] == 0x80 && at[2] >= 0xaa && at[2] <= 0xae) ||
           (at[0] == 0xe2 && at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9);
}

char *show(char *text)
{
    for (unsigned char *at = (unsigned char *) text; *at;) {
        size_t length = utf8_length(at);
        if (length && !is_hidden(at)) {
            at += length;
            continue;
        }
        for (size_t i = 0; i < (length ? length : 1); i++)
            *at++ = '?';
    }
    return text;
}

static unsigned code_point(const unsigned char *at, size_t length)
{
    return length == 2   ? (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu)
           : length == 3 ? (at[0] & 0x0fu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu)
                         : *at;
}

/* The letter that a letter and a combining mark are together; 0: none that is known. macOS writes
 * names with such marks, and other systems without. */
static unsigned compose(char letter, unsigned mark)
{
    static const struct {
        unsigned mark;
        const char *letters;
        unsigned composed[32];
    } rows[] = {
        { 0x300, "AEIOUaeiou", { 0xc0, 0xc8, 0xcc, 0xd2, 0xd9, 0xe0, 0xe8, 0xec, 0xf2, 0xf9 } },
        { 0x301,
          "AEIOUYaeiouyCcLlNnRrSsZz",
          { 0xc1,  0xc9,  0xcd,  0xd3,  0xda,  0xdd,  0xe1,  0xe9,  0xed,  0xf3,  0xfa,  0xfd,
            0x106, 0x107, 0x139, 0x13a, 0x143, 0x144, 0x154, 0x155, 0x15a, 0x15b, 0x179, 0x17a } },
        { 0x302, "AEIOUaeiou", { 0xc2, 0xca, 0xce, 0xd4, 0xdb, 0xe2, 0xea, 0xee, 0xf4, 0xfb } },
        { 0x303, "ANOano", { 0xc3, 0xd1, 0xd5, 0xe3, 0xf1, 0xf5 } },
        { 0x304,
          "AEIOUaeiou",
          { 0x100, 0x112, 0x12a, 0x14c, 0x16a, 0x101, 0x113, 0x12b, 0x14d, 0x16b } },
        { 0x306, "AaGg", { 0x102, 0x103, 0x11e, 0x11f } },
        { 0x307, "EeIZz", { 0x116, 0x117, 0x130, 0x17b, 0x17c } },
        { 0x308,
          "AEIOUaeiouy",
          { 0xc4, 0xcb, 0xcf, 0xd6, 0xdc, 0xe4, 0xeb, 0xef, 0xf6, 0xfc, 0xff } },
        { 0x30a, "AaUu", { 0xc5, 0xe5, 0x16e, 0x16f } },
        { 0x30b, "OoUu", { 0x150, 0x151, 0x170, 0x171 } },
        { 0x30c,
          "CcDdEeNnRrSsTtZz",
          { 0x10c, 0x10d, 0x10e, 0x10f, 0x11a, 0x11b, 0x147, 0x148, 0x158, 0x159, 0x160, 0x161,
            0x164, 0x165, 0x17d, 0x17e } },
        { 0x327, "CcSs", { 0xc7, 0xe7, 0x15e, 0x15f } },
        { 0x328, "AaEe", { 0x104, 0x105, 0x118, 0x119 } },
    };

    for (size_t i = 0; letter && i < sizeof rows / sizeof *rows; i++) {
        const char *at = rows[i].mark == mark ? strchr(rows[i].letters, letter) : NULL;
        if (at)
            return rows[i].composed[at - rows[i].letters];
    }
    return 0;
}

/* If a combining mark follows the ASCII letter at `at`, writes both as one letter and returns their
 * number of bytes; else 0. */
static size_t write_composed(const unsigned char *at, char to[12])
{
    const size_t length = *at < 128 ? utf8_length(at + 1) : 0;
    const unsigned letter = length == 2 ? compose((char) *at, code_point(at + 1, 2)) : 0;

    if (letter)
        put(to, 12, "%c%c", 0xc0 | letter >> 6, 0x80 | (letter & 0x3f));
    return letter ? 3 : 0;
}

/* Writes one character for show_apart. */
static void write_character(const unsigned char *at, size_t length, char to[12])
{
    if (length == 1 && is_hidden(at)) /* U+2400 and following */
        put(to, 12, "\xe2\x90%c", *at == 127 ? 0xa1 : 0x80 + *at);
    else if (!length && *at >= 0xa0)
        put(to, 12, "%c%c", 0xc0 | *at >> 6, 0x80 | (*at & 0x3f));
    else if (!length || is_hidden(at))
        put(to, 12, "{%x}", code_point(at, length));
    else
        put(to, 12, "%.*s", (int) length, (const char *) at);
}

bool show_apart(const char *from, char *text, size_t size)
{
    size_t used = 0;

    text[0] = 0;
    for (const unsigned char *at = (const unsigned char *) from; *at;) {
        size_t length = utf8_length(at), composed;
        char character[12];
        composed = write_composed(at, character);
        if (composed)
            length = composed;
        else
            write_character(at, length, character);
        if (used + strlen(character) >= size)
            return false;
        used += strlen(strcpy(text + used, character));
        at += length ? length : 1;
    }
    return true;
}

const char *path_clean(const char *name, char clean[SUBMISSION_PATH])
{
    char text[SUBMISSION_PATH];
    const char *path = text;
    size_t used = 0;
    int depth = 0;

    clean[0] = 0;
    if (!show_apart(name, text, sizeof text))
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

const char *path_foreign_archive(const char *path)
{
    static const char *const kinds[][2] = { { ".rar", "RAR" },   { ".7z", "7z" },
                                            { ".gz", "gzip" },   { ".bz2", "bzip2" },
                                            { ".xz", "xz" },     { ".zst", "Zstandard" },
                                            { ".zipx", "ZIPX" }, { ".lzh", "LZH" },
                                            { ".ace", "ACE" },   { ".cab", "CAB" } };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !path_is_archive(path); i++)
        if (ends_with(path, kinds[i][0]))
            return kinds[i][1];
    return NULL;
}

bool path_is_wanted(const char *path)
{
    const char *name = strrchr(path, '/');

    name = name ? name + 1 : path;
    return ends_with(path, ".cu") || ends_with(path, ".cu.txt") ||
           ends_with(path, "predictions.txt") || ends_with(path, "quiz.txt") ||
           (ends_with(path, ".cpp") && !strncasecmp(name, "kernel", 6));
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
        if (copy->count)
            copy->files[copy->count - 1].order = file->order;
    }
    for (int i = 0; i < submission->remark_count && i < SUBMISSION_REMARKS; i++)
        REMARK(copy, submission->remarks[i].kind, submission->remarks[i].entry, "%s",
               submission->remarks[i].sentence);
    return copy;
}

void class_move(Class *class, Class *from)
{
    for (int i = 0; i < from->count; i++) {
        class->list = grown(class->list, class->count, &class->capacity, sizeof *class->list);
        class->list[class->count++] = from->list[i];
    }
    from->count = 0;
    for (int i = 0; i < from->remark_count && i < SUBMISSION_REMARKS; i++)
        REMARK(class, from->remarks[i].kind, from->remarks[i].entry, "%s",
               from->remarks[i].sentence);
    class_free(from);
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
    *file = (SubmittedFile){ copy_of(path), size, hash, NULL, changed, 0 };
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
