/* history.c - every grading of a learner, one line each. The file may have been edited by anyone.
 */
#include "learner/portfolio/history.h"
#include "learner/record.h"
#include "learner/state_file.h"
#include "base/number.h"
#include "base/util.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINE_MOST = 512 };

/* ---- Reading ---- */

static bool is_time(const char *text)
{
    const char *form = "dddd-dd-ddTdd:dd:ddZ";

    for (; *form && *text; form++, text++)
        if (*form == 'd' ? !isdigit((unsigned char) *text) : *text != *form)
            return false;
    return !*form && !*text;
}

static bool read_line(const char *line, const LabEntry *entry, HistoryEntry *found)
{
    char word[LINE_MOST];

    *found = (HistoryEntry){ 0 };
    if (strncmp(line, "at:", 3) || !field(line, "at", found->at, sizeof found->at) ||
        !is_time(found->at) || !field(line, "lab", word, sizeof word) ||
        strcmp(word, entry->folder) || !field(line, "verdict", word, sizeof word) ||
        !verdict_from_word(word, &found->verdict))
        return false;
    if (!field_double(line, "ratio", &found->ratio) || !(found->ratio > 0 && found->ratio < 1e6))
        found->ratio = 0;
    if (!field(line, "device", found->device, sizeof found->device))
        found->device[0] = 0;
    if (field(line, "kernel", word, sizeof word))
        parse_whole(word, 16, UINT64_MAX, &found->kernel);
    return true;
}

int history_load(const char *file, const LabEntry *entry, HistoryEntry *entries, int most)
{
    size_t size;
    char *text = read_file(file, STATE_MOST, &size), line[LINE_MOST];
    HistoryEntry found;
    int count = 0;

    if (!text)
        return 0;
    for (const char *at = text; next_line(&at, text + size, line, sizeof line);) {
        if (!read_line(line, entry, &found))
            continue;
        if (count == most)
            memmove(entries, entries + 1, (size_t) --count * sizeof *entries);
        entries[count++] = found;
    }
    free(text);
    return count;
}

bool history_passed(const char *file, const LabEntry *entry, uint64_t kernel)
{
    HistoryEntry *entries = xcalloc(HISTORY_ENTRIES, sizeof *entries);
    const int count = history_load(file, entry, entries, HISTORY_ENTRIES);
    bool passed = false;

    for (int i = 0; i < count; i++)
        if (kernel && entries[i].kernel == kernel)
            passed = verdict_passed(entries[i].verdict) || entries[i].verdict == CORRECT_ONLY;
    free(entries);
    return passed;
}

bool history_last_pass(const char *file, const LabEntry *entry, char at[HISTORY_TIME])
{
    HistoryEntry *entries = xcalloc(HISTORY_ENTRIES, sizeof *entries);
    int i = history_load(file, entry, entries, HISTORY_ENTRIES);

    while (i > 0 && !verdict_passed(entries[i - 1].verdict) &&
           entries[i - 1].verdict != CORRECT_ONLY)
        i--;
    if (i > 0)
        put(at, HISTORY_TIME, "%s", entries[i - 1].at);
    free(entries);
    return i > 0;
}

/* ---- Adding ---- */

static void write_line(char *line, size_t size, const LabEntry *entry, const HistoryEntry *what)
{
    char now[24], device[64];
    time_t seconds = time(NULL);

    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime(&seconds));
    PUT(device, "%s", what->device);
    for (char *at = device; *at; at++)
        if (!isgraph((unsigned char) *at))
            *at = '_';
    put(line, size, "at:%s lab:%s verdict:%s", *what->at ? what->at : now, entry->folder,
        verdict_word(what->verdict));
    if (what->ratio > 0 && isfinite(what->ratio))
        append(line, size, " ratio:%.4f", what->ratio);
    if (*device)
        append(line, size, " device:%s", device);
    if (what->kernel)
        append(line, size, " kernel:%016llx", (unsigned long long) what->kernel);
    append(line, size, "\n");
}

/* The old text, or its newer half if it is too long, and the new line. */
static char *add_line(const char *text, size_t size, const void *context, size_t *new_size)
{
    const char *line = context, *from = text, *end = text + size;
    char *new_text;
    FILE *to = text_open(&new_text, new_size);

    if (size + strlen(line) > HISTORY_MOST) {
        from = text + size / 2;
        from = memchr(from, '\n', (size_t) (end - from));
        from = from ? from + 1 : end;
    }
    fwrite(from, 1, (size_t) (end - from), to);
    if (from < end && end[-1] != '\n')
        fputc('\n', to);
    fputs(line, to);
    text_close(to);
    return new_text;
}

bool history_add(const char *file, const LabEntry *entry, const HistoryEntry *what)
{
    char line[LINE_MOST];

    write_line(line, sizeof line, entry, what);
    return state_edit(file, add_line, line);
}

void history_keep(const char *progress, const Result *result, const char *device)
{
    const CaseSpeed *nearest = record_case(result);
    HistoryEntry now = { .verdict = result->verdict,
                         .ratio = nearest ? nearest->ratio.median : 0,
                         .kernel = result->source_hash };
    char path[PATH];

    PUT(now.device, "%s", device);
    if (!history_add(state_path(progress, "history", path, sizeof path), result->entry, &now))
        fprintf(stderr, "warpbook: cannot add this grading to %s: %s\n", path, strerror(errno));
}
