/* record.c - what was answered in quizzes. The file may have been edited by anyone. */
#include "learner/quiz/record.h"
#include "learner/state_file.h"
#include "base/number.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MOST = 512, TRIES_MOST = 2 };

/* ---- One line ---- */

static bool is_key(const char *key)
{
    const char *allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@";

    return *key && strspn(key, allowed) == strlen(key);
}

typedef struct Line {
    uint64_t kernel;
    char device[64], date[16];
    QuizRecord record;
} Line;

/* Reads a number that must be whole and at most `most`. */
static bool read_count(const char *text, const char *key, int most, int *count)
{
    double value;

    if (!field_double(text, key, &value) || value < 0 || value > most || value != floor(value))
        return false;
    *count = (int) value;
    return true;
}

static bool read_line(const char *text, const LabEntry *entry, Line *line)
{
    char word[LINE_MOST];
    int right = 0;

    *line = (Line){ 0 };
    if (strncmp(text, "lab:", 4) || !field(text, "lab", word, sizeof word) ||
        strcmp(word, entry->folder) || field(text, "format", word, sizeof word))
        return false;
    if (!field(text, "device", line->device, sizeof line->device))
        line->device[0] = 0;
    if (!field(text, "date", line->date, sizeof line->date))
        line->date[0] = 0;
    if (!field(text, "key", line->record.key, sizeof line->record.key))
        return false;
    return field(text, "kernel", word, sizeof word) &&
           parse_whole(word, 16, UINT64_MAX, &line->kernel) && is_key(line->record.key) &&
           field_double(text, "given", &line->record.given) &&
           read_count(text, "right", 1, &right) && ((line->record.right = right == 1) || !right) &&
           read_count(text, "tries", TRIES_MOST, &line->record.tries);
}

/* ---- Loading ---- */

static QuizRecord *find(QuizRecords *records, const char *key)
{
    for (int i = 0; i < records->count; i++)
        if (!strcmp(records->list[i].key, key))
            return &records->list[i];
    return NULL;
}

const QuizRecord *quiz_find(const QuizRecords *records, const char *key)
{
    return find((QuizRecords *) records, key);
}

void quiz_load(const char *file, const LabEntry *entry, QuizRecords *records)
{
    size_t size;
    char *text = read_file(file, STATE_MOST, &size), line_text[LINE_MOST];
    Line line;

    *records = (QuizRecords){ 0 };
    if (!text)
        return;
    for (const char *at = text; next_line(&at, text + size, line_text, sizeof line_text);) {
        if (!read_line(line_text, entry, &line))
            continue;
        if (line.kernel != records->kernel)
            *records = (QuizRecords){ .kernel = line.kernel };
        PUT(records->device, "%s", line.device);
        PUT(records->date, "%s", line.date);
        QuizRecord *known = find(records, line.record.key);
        if (!known && records->count < QUIZ_RECORDS)
            known = &records->list[records->count++];
        if (known)
            *known = line.record;
    }
    free(text);
}

/* ---- Saving ---- */

typedef struct Change {
    const LabEntry *entry;
    const QuizRecords *records;
} Change;

static void write_lines(FILE *to, const Change *change)
{
    const QuizRecords *r = change->records;

    for (int i = 0; i < r->count; i++) {
        fprintf(to, "lab:%s kernel:%016llx", change->entry->folder, (unsigned long long) r->kernel);
        if (*r->device)
            fprintf(to, " device:%s", r->device);
        fprintf(to, " key:%s given:%.10g right:%d tries:%d", r->list[i].key, r->list[i].given,
                r->list[i].right, r->list[i].tries);
        fprintf(to, "%s%s\n", *r->date ? " date:" : "", r->date);
    }
}

/* Without the lab's old lines, with its new ones at the end. */
static char *replace_lines(const char *text, size_t size, const void *context, size_t *new_size)
{
    const Change *change = context;
    const char *at = text, *end = text + size;
    char line_text[LINE_MOST], *new_text;
    Line line;
    FILE *to = text_open(&new_text, new_size);

    for (const char *start = at; next_line(&at, end, line_text, sizeof line_text); start = at)
        if (!read_line(line_text, change->entry, &line))
            fwrite(start, 1, (size_t) (at - start), to);
    if (size && end[-1] != '\n')
        fputc('\n', to);
    write_lines(to, change);
    text_close(to);
    return new_text;
}

bool quiz_save(const char *file, const LabEntry *entry, const QuizRecords *records)
{
    return state_edit(file, replace_lines, &(Change){ entry, records });
}
