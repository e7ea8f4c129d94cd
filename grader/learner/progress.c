/* progress.c - what the workbook remembers of a learner.
 *
 * The whole file is read, one line is replaced, and the whole file is written, under a lock file,
 * so two gradings at once lose nothing. A line that cannot be read (of a later version, or edited
 * by hand) is never removed.
 */
#include "learner/progress.h"
#include "learner/bar.h"
#include "learner/state_file.h"
#include "learner/next.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MOST = 512, FORMAT = 4 };

/* ---- The progress file ---- */

static bool read_verdict(const char *line, const char *key, Verdict *verdict)
{
    char word[32];

    return field(line, key, word, sizeof word) && verdict_from_word(word, verdict);
}

/* Writes a case's label as one word of a line: blanks become underscores. */
static char *label_word(const Case *c, char *text, size_t size)
{
    put(text, size, "%s", c->label);
    for (char *at = text; *at; at++)
        if (isspace((unsigned char) *at))
            *at = '_';
    return text;
}

/* The case that a field names; NULL: none, or one that the lab no longer has. */
static const Case *read_case(const char *line, const char *key, const Lab *lab)
{
    char text[LINE_MOST], label[LINE_MOST];

    if (!field(line, key, text, sizeof text))
        return NULL;
    for (const Case *c = lab->cases; c && c->label; c++)
        if (!strcmp(label_word(c, label, sizeof label), text))
            return c;
    return NULL;
}

/* Reads the fields that format 2 added. */
static void read_format_2(const char *line, const Lab *lab, Progress *progress)
{
    char text[LINE_MOST];
    double shown;

    if (field(line, "saw", text, sizeof text))
        progress->diagnosis.saw = diagnosis_bits(text, progress->latest);
    progress->diagnosis.lab_case = read_case(line, "case", lab);
    if (field(line, "slow", text, sizeof text))
        progress->diagnosis.slow_cases = strtoull(text, NULL, 16);
    if (field_double(line, "told", &shown))
        progress->remedy_shown = (int) fmin(fmax(shown, 0), LAB_REMEDIES);
    if (field(line, "explained", text, sizeof text))
        progress->explained = strtoull(text, NULL, 16);
    if (field(line, "best_lab", text, sizeof text))
        progress->best_lab = strtoull(text, NULL, 16);
}

static double read_positive(const char *line, const char *key)
{
    double value;

    return field_double(line, key, &value) && isfinite(value) && value > 0 ? value : 0;
}

/* Reads the fields that format 3 added. */
static void read_format_3(const char *line, Progress *progress)
{
    char text[LINE_MOST];

    if (!field(line, "time", progress->time, sizeof progress->time))
        progress->time[0] = 0;
    progress->attempts = (int) fmin(read_positive(line, "attempts"), 9999);
    progress->first_ratio = read_positive(line, "first");
    progress->reached = read_positive(line, "reached");
    progress->bar = read_positive(line, "bar");
    if (field(line, "key", text, sizeof text))
        progress->key = strtoull(text, NULL, 16);
}

/* Reads the fields that format 4 added. Older lines have only the number of hints seen so far. */
static void read_format_4(const char *line, const Lab *lab, Progress *progress)
{
    double hints;

    progress->first_case = read_case(line, "first_case", lab);
    progress->hints_used = progress->hints;
    if (field_double(line, "hints_used", &hints))
        progress->hints_used = (int) fmin(fmax(hints, 0), LAB_HINTS);
}

/* True if this version knows the line's format. */
static bool known_format(const char *line)
{
    char text[LINE_MOST];
    double format;

    return !field(line, "format", text, sizeof text) ||
           (field_double(line, "format", &format) && format >= 1 && format <= FORMAT);
}

/* Reads one line if it is about this lab. A line that has only hints belongs to a lab that has not
 * been graded. */
static bool read_progress(const char *line, const LabEntry *entry, Progress *progress)
{
    Progress found = { 0 };
    char folder[LINE_MOST];
    double hints = 0;
    bool any_verdict = strstr(line, " verdict:") || strstr(line, " best:");

    if (strncmp(line, "lab:", 4) || !field(line, "lab", folder, sizeof folder) ||
        strcmp(folder, entry->folder) || !known_format(line))
        return false;
    found.graded =
        read_verdict(line, "verdict", &found.latest) && read_verdict(line, "best", &found.best);
    if (any_verdict && !found.graded)
        return false;
    if (field_double(line, "hints", &hints))
        found.hints = (int) fmin(fmax(hints, 0), LAB_HINTS);
    if (!field_double(line, "ratio", &found.ratio) || !isfinite(found.ratio) || found.ratio < 0)
        found.ratio = 0;
    if (!field(line, "date", found.date, sizeof found.date))
        found.date[0] = 0;
    read_format_2(line, entry->lab, &found);
    read_format_3(line, &found);
    read_format_4(line, entry->lab, &found);
    *progress = found;
    return true;
}

void progress_load(const char *file, const LabEntry *entry, Progress *progress)
{
    size_t size;
    char *text = read_file(file, STATE_MOST, &size), line[LINE_MOST];

    *progress = (Progress){ 0 };
    if (!text)
        return;
    for (const char *at = text; next_line(&at, text + size, line, sizeof line);)
        read_progress(line, entry, progress);
    free(text);
}

static bool needs_format_2(const Progress *progress)
{
    return progress->diagnosis.saw || progress->diagnosis.lab_case || progress->remedy_shown ||
           progress->explained || progress->best_lab;
}

static bool needs_format_3(const Progress *progress)
{
    return progress->time[0] || progress->attempts || progress->first_ratio > 0 ||
           progress->reached > 0 || progress->key;
}

/* Up to the first pass, all hints count as used. */
static bool has_more_hints(const Progress *progress)
{
    return verdict_passed(progress->best) && progress->hints_used != progress->hints;
}

static bool needs_format_4(const Progress *progress)
{
    return progress->first_case || has_more_hints(progress);
}

static void write_format_2(char *line, size_t size, const Progress *progress)
{
    const Diagnosis *diagnosis = &progress->diagnosis;
    char text[LINE_MOST];

    diagnosis_words(diagnosis->saw, text, sizeof text);
    if (*text)
        append(line, size, " saw:%s", text);
    if (diagnosis->lab_case)
        append(line, size, " case:%s", label_word(diagnosis->lab_case, text, sizeof text));
    if (diagnosis->slow_cases)
        append(line, size, " slow:%llx", (unsigned long long) diagnosis->slow_cases);
    if (progress->remedy_shown)
        append(line, size, " told:%d", progress->remedy_shown);
    if (progress->explained)
        append(line, size, " explained:%016llx", (unsigned long long) progress->explained);
    if (progress->best_lab)
        append(line, size, " best_lab:%016llx", (unsigned long long) progress->best_lab);
}

static void write_format_3(char *line, size_t size, const Progress *progress)
{
    if (progress->time[0])
        append(line, size, " time:%s", progress->time);
    if (progress->attempts)
        append(line, size, " attempts:%d", progress->attempts);
    if (progress->first_ratio > 0)
        append(line, size, " first:%.4f", progress->first_ratio);
    if (progress->reached > 0)
        append(line, size, " reached:%.4f bar:%.4f", progress->reached, progress->bar);
    if (progress->key)
        append(line, size, " key:%016llx", (unsigned long long) progress->key);
}

static void write_format_4(char *line, size_t size, const Progress *progress)
{
    char text[LINE_MOST];

    if (progress->first_case)
        append(line, size, " first_case:%s", label_word(progress->first_case, text, sizeof text));
    if (has_more_hints(progress))
        append(line, size, " hints_used:%d", progress->hints_used);
}

/* An older version of this program does not lose what it does not know. */
static int format_of(const Progress *progress)
{
    if (needs_format_4(progress))
        return 4;
    return needs_format_3(progress) ? 3 : needs_format_2(progress) ? 2 : 1;
}

static void write_line(char *line, size_t size, const LabEntry *entry, const Progress *progress)
{
    put(line, size, "lab:%s", entry->folder);
    if (progress->graded) {
        append(line, size, " verdict:%s best:%s", verdict_word(progress->latest),
               verdict_word(progress->best));
        append(line, size, " ratio:%.4f", isfinite(progress->ratio) ? progress->ratio : 0);
    }
    append(line, size, " hints:%d", progress->hints);
    if (progress->date[0])
        append(line, size, " date:%s", progress->date);
    if (format_of(progress) > 1)
        append(line, size, " format:%d", format_of(progress));
    write_format_2(line, size, progress);
    write_format_3(line, size, progress);
    write_format_4(line, size, progress);
    append(line, size, "\n");
}

/* Makes the text of the new file: the old one with the lab's line replaced, or added at the end. */
static char *replace_line(const char *text, size_t size, const LabEntry *entry, const char *ours,
                          size_t *new_size)
{
    char *result = xmalloc(size + LINE_MOST + 2), line[LINE_MOST];
    const char *at = text, *end = text + size;
    size_t used = 0, length = strlen(ours);
    bool placed = false;
    Progress old;

    for (const char *start = at; next_line(&at, end, line, sizeof line); start = at) {
        if (!read_progress(line, entry, &old)) {
            memcpy(result + used, start, (size_t) (at - start));
            used += (size_t) (at - start);
        } else if (!placed) {
            memcpy(result + used, ours, length);
            used += length;
            placed = true;
        }
    }
    if (!placed) {
        if (used && result[used - 1] != '\n')
            result[used++] = '\n';
        memcpy(result + used, ours, length);
        used += length;
    }
    *new_size = used;
    return result;
}

/* The lab's new line. */
typedef struct NewLine {
    const LabEntry *entry;
    const Progress *progress;
} NewLine;

static char *edit(const char *text, size_t size, const void *context, size_t *new_size)
{
    const NewLine *line = context;
    char ours[LINE_MOST];

    write_line(ours, sizeof ours, line->entry, line->progress);
    return replace_line(text, size, line->entry, ours, new_size);
}

bool progress_save(const char *file, const LabEntry *entry, const Progress *progress)
{
    return state_edit(file, edit, &(NewLine){ entry, progress });
}

/* ---- Better or worse ---- */

void progress_keep(const char *file, const LabEntry *entry, const Progress *progress)
{
    if (!progress_save(file, entry, progress))
        fprintf(stderr, "warpbook: cannot save your progress in %s: %s\n", file, strerror(errno));
}

bool better(Verdict a, Verdict b)
{
    /* From best to worst. An edited kernel counts as better than the starter. */
    static const Verdict order[VERDICT_COUNT] = {
        PASS,  CLOSE,   CORRECT_ONLY, SLOW,    UNSAFE,      WRONG,     STRAY,
        CRASH, TIMEOUT, BUILD,        SUSPECT, UNSUPPORTED, UNCHANGED, UNSOUND,
    };

    for (int i = 0; i < VERDICT_COUNT && order[i] != b; i++)
        if (order[i] == a)
            return true;
    return false;
}

void progress_graded(Progress *progress, Verdict verdict, uint64_t lab_hash)
{
    bool other_lab = progress->best_lab && progress->best_lab != lab_hash;

    progress->latest = verdict;
    if (!progress->graded || other_lab || better(verdict, progress->best))
        progress->best = verdict;
    progress->best_lab = lab_hash;
    progress->graded = true;
}

/* ---- make progress ---- */

static void print_row(const LabEntry *entry, const Progress *p)
{
    char ratio[16] = "-";

    if (p->reached > 0)
        bar_percent(p->reached, p->bar, ratio, sizeof ratio);
    else if (p->ratio > 0) /* recorded before `reached` was */
        bar_percent(p->ratio, 0, ratio, sizeof ratio);
    printf("%02d %-22.22s  %-11s  %-11s  %8.8s  %-10.10s\n", lab_number(entry), lab_name(entry),
           p->graded ? verdict_label(p->best) : "-", p->graded ? verdict_label(p->latest) : "-",
           ratio, p->date[0] ? p->date : "-");
}

/* After the rows: the same count and the same next step as `make` alone. */
static void print_end(const char *file, int unjudged, const LabEntry *first_unjudged)
{
    int labs, done = next_count_done(file, &labs);

    printf("\n%d of %d labs are done", done, labs);
    if (unjudged)
        printf(", %d of them correct but not judged for speed", unjudged);
    printf(".\n");
    if (done == labs && first_unjudged)
        printf("Next: make grade LAB=%s, on a GPU\n", lab_name(first_unjudged));
    else
        print_next(file);
}

int print_progress(const char *file)
{
    const LabEntry *first_unjudged = NULL;
    int unjudged = 0;

    printf("%-25s  %-11s  %-11s  %8s  %-10s\n", "lab", "best", "latest", "its speed", "date");
    for (const LabEntry *entry = all_labs; entry->folder; entry++) {
        Progress p;
        progress_load(file, entry, &p);
        print_row(entry, &p);
        if (!p.graded || p.best != CORRECT_ONLY)
            continue;
        unjudged++;
        if (!first_unjudged)
            first_unjudged = entry;
    }
    print_end(file, unjudged, first_unjudged);
    return 0;
}
