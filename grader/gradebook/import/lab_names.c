/* lab_names.c - which lab a file belongs to, from names that students choose. */
#include "gradebook/import/lab_names.h"
#include "gradebook/import/extract.h"
#include "base/util.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int path_depth(const char *path)
{
    int depth = 0;

    for (; *path; path++)
        depth += *path == '/';
    return depth;
}

/* ---- Words ---- */

enum { WORDS = 16, WORD_BYTES = 24 };

/* The words and numbers of a text, in lower case: "06 Transpose" and "06_transpose" are the same.
 */
typedef struct Words {
    char list[WORDS][WORD_BYTES];
    int count; /* WORDS: there may be more */
} Words;

static void words_of(const char *text, Words *words)
{
    *words = (Words){ 0 };
    while (words->count < WORDS) {
        size_t length = 0;
        while (*text && !isalnum((unsigned char) *text))
            text++;
        if (!*text)
            return;
        bool is_number = isdigit((unsigned char) *text);
        while (isalnum((unsigned char) text[length]) &&
               !isdigit((unsigned char) text[length]) == !is_number)
            length++;
        put(words->list[words->count], WORD_BYTES, "%.*s", (int) length, text);
        for (char *at = words->list[words->count]; *at; at++)
            *at = (char) tolower((unsigned char) *at);
        words->count++;
        text += length;
    }
}

static bool is_number(const char *word)
{
    return isdigit((unsigned char) *word);
}

/* True if the words from `at` on begin with the lab's name, whose words are counted in *length. */
static bool name_at(const Words *words, int at, int lab, int *length)
{
    Words name;

    words_of(lab_name(&all_labs[lab]), &name);
    *length = name.count;
    for (int i = 0; i < name.count; i++)
        if (at + i >= words->count || strcmp(words->list[at + i], name.list[i]))
            return false;
    return true;
}

static bool number_at(const Words *words, int at, int lab)
{
    return at < words->count && is_number(words->list[at]) && strlen(words->list[at]) <= 2 &&
           atoi(words->list[at]) == atoi(all_labs[lab].folder);
}

/* True if the text is only a label of the lab: "Lab 6", "06 transpose", "Transpose", "06". */
static bool is_label(const Words *words, int lab)
{
    bool named = words->count && !strcmp(words->list[0], "lab"), numbered;
    int at = named, length;

    numbered = number_at(words, at, lab);
    at += numbered;
    if (at == words->count)
        return numbered && (named || strlen(words->list[0]) == 2);
    return name_at(words, at, lab, &length) && at + length == words->count;
}

/* "Lab 6" anywhere in the text, or the lab's name. The name of lab 00, "first", says too little. */
static bool is_named(const Words *words, int lab)
{
    int length;

    for (int at = 0; at < words->count; at++)
        if ((at && !strcmp(words->list[at - 1], "lab") && number_at(words, at, lab)) ||
            (lab && name_at(words, at, lab, &length)))
            return true;
    return false;
}

static int only_lab_that(bool (*fits)(const Words *words, int lab), const char *text)
{
    Words words;
    int found = -1;

    words_of(text, &words);
    for (int lab = 0; lab < LABS && all_labs[lab].folder; lab++)
        if (fits(&words, lab)) {
            if (found >= 0)
                return -1;
            found = lab;
        }
    return found;
}

int lab_in_text(const char *text)
{
    return only_lab_that(is_named, text);
}

/* ---- Copies ---- */

static bool cut_end(char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    if (length <= tail || strcasecmp(text + length - tail, end))
        return false;
    text[length - tail] = 0;
    return true;
}

static bool cut_separators(char *text)
{
    size_t length = strlen(text), before = length;

    while (length > 1 && strchr(" -_+", text[length - 1]))
        text[--length] = 0;
    return length != before;
}

/* Cuts "(1)". */
static bool cut_counter(char *text)
{
    char *open = strrchr(text, '(');

    if (!open || open == text || !isdigit((unsigned char) open[1]) ||
        strcmp(open + 1 + strspn(open + 1, "0123456789"), ")"))
        return false;
    *open = 0;
    return true;
}

/* Cuts what file managers and browsers add to a copy: " (1)", " - Copy", " copy 2". */
static void cut_copy(char *text)
{
    while (cut_counter(text) || cut_end(text, " copy") || cut_end(text, "-copy") ||
           cut_end(text, "_copy") || cut_end(text, " kopie") || cut_separators(text))
        ;
}

/* Cuts a number after a separator: "-1", " 2", "_3". */
static bool cut_number(char *text, const char *separators)
{
    size_t digits = strlen(text);

    while (digits && isdigit((unsigned char) text[digits - 1]))
        digits--;
    if (digits < 2 || !text[digits] || !strchr(separators, text[digits - 1]))
        return false;
    text[digits - 1] = 0;
    return true;
}

/* ---- Files ---- */

static int label_of(const char *text)
{
    char label[300];

    cut_copy(PUT(label, "%s", text));
    return only_lab_that(is_label, label);
}

static int exact_lab(const char *text, bool or_name)
{
    for (int i = 0; i < LABS && all_labs[i].folder; i++)
        if (!strcmp(text, all_labs[i].folder) || (or_name && !strcmp(text, lab_name(&all_labs[i]))))
            return i;
    return -1;
}

/* A file's name: what kind it is, and its stem without .cu, copies' marks and capitals. */
typedef struct FileName {
    FileKind kind;
    bool is_any, near; /* is_any: it may be a kernel, predictions or a quiz */
    char stem[300];
} FileName;

static void read_name(const char *name, FileName *file)
{
    *file = (FileName){ .is_any = true };
    PUT(file->stem, "%s", name);
    if (!strcasecmp(name, "predictions.txt") || !strcasecmp(name, "quiz.txt")) {
        file->kind = tolower((unsigned char) *name) == 'q' ? IS_QUIZ : IS_PREDICTIONS;
        file->near = strcmp(name, "predictions.txt") && strcmp(name, "quiz.txt");
        return;
    }
    file->is_any =
        cut_end(file->stem, ".cu") || cut_end(file->stem, ".cu.txt") || cut_end(file->stem, ".cpp");
    file->near = strlen(name) < 3 || strcmp(name + strlen(name) - 3, ".cu");
    cut_number(file->stem, "-");
    if (strcmp(file->stem, "kernel") && exact_lab(file->stem, true) < 0) {
        char plain[300];
        PUT(plain, "%s", file->stem);
        cut_copy(plain);
        if (cut_number(plain, " _"))
            cut_copy(plain);
        if (!strcasecmp(plain, "kernel")) {
            PUT(file->stem, "kernel");
            file->near = true;
        }
    }
}

/* The lab that a single file is named after: transpose.cu, "Lab 6 (1).cu". */
static int lab_of_single(FileName *file)
{
    int lab = exact_lab(file->stem, true);

    if (lab < 0 && strlen(file->stem) > 2) { /* 06.cu may be anything */
        file->near = true;
        lab = label_of(file->stem);
    }
    return lab;
}

static bool has_digit(const char *text)
{
    return text[strcspn(text, "0123456789")] != 0;
}

LabFile lab_of_file(const char *path, int only)
{
    const char *name = strrchr(path, '/');
    char folder[300] = "";
    LabFile found = { .lab = -1 };
    FileName file;

    name = name ? name + 1 : path;
    if (name > path) {
        const char *above = name - 1;
        while (above > path && above[-1] != '/')
            above--;
        PUT(folder, "%.*s", (int) (name - 1 - above), above);
    }
    read_name(name, &file);
    if (!file.is_any)
        return found;
    found = (LabFile){ -1, file.kind, file.near };
    if (file.kind != IS_KERNEL || !strcmp(file.stem, "kernel")) {
        found.near |= *folder && strcmp(name, "kernel.cu") && file.kind == IS_KERNEL;
        if ((found.lab = exact_lab(folder, false)) >= 0)
            return found;
        found.near |= *folder != 0;
        if (*folder && (found.lab = label_of(folder)) >= 0)
            return found;
        if (only >= 0 && (!*folder || (path_depth(path) == 1 && !has_digit(folder))))
            found.lab = only;
        return found;
    }
    if (path_depth(path) <= 1) {
        found.lab = lab_of_single(&file);
        found.near = file.near;
    }
    return found;
}
