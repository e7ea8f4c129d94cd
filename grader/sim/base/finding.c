/* finding.c - stores each finding of a run once, and prints it. */
#include "sim/base/finding.h"
#include "sim/base/source_shape.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FINDINGS = 4096, SLOTS = 2 * MOST_FINDINGS, WIDTH = 80, INDENT = 5 };
enum { MOST_PRINTED = 20 }; /* of each kind, as text */

static const struct {
    const char *word, *link;
} kinds[FINDINGS] = {
#define FINDING(kind, word, link, error) [FINDING_##kind] = { word, link },
#include "sim/base/findings.def"
#undef FINDING
};

static struct {
    Finding *all;
    int count;
    short slot[SLOTS]; /* by hash: 1 + index into all; 0: free */
    bool quiet, full;
    int printed[FINDINGS];
    void (*write)(FILE *out, const Annotation *annotation);
} table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const char *finding_word(FindingKind kind)
{
    return (unsigned) kind < FINDINGS ? kinds[kind].word : "finding";
}

int finding_count(void)
{
    return table.count;
}

const Finding *finding_at(int i)
{
    return i >= 0 && i < table.count ? &table.all[i] : NULL;
}

void finding_quiet(bool quiet)
{
    table.quiet = quiet;
}

void finding_write_as(void (*write)(FILE *out, const Annotation *annotation))
{
    table.write = write;
}

void finding_reset(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < table.count; i++) {
        free((char *) table.all[i].place.kernel);
        free((char *) table.all[i].place.file);
        free((char *) table.all[i].place.instruction);
    }
    free(table.all);
    table.all = NULL;
    table.count = 0;
    table.full = false;
    memset(table.printed, 0, sizeof table.printed);
    memset(table.slot, 0, sizeof table.slot);
    pthread_mutex_unlock(&lock);
}

/* ---- One finding per kind, kernel and line ---- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* Findings without a line, such as a refused launch, are distinguished by their format string. */
static bool same(const Finding *f, FindingKind kind, const Place *place, const char *format)
{
    return f->kind == kind && f->place.line == place->line &&
           (place->line || f->format == format) && same_text(f->place.kernel, place->kernel) &&
           same_text(f->place.file, place->file);
}

static uint32_t hash(uint32_t h, const char *text)
{
    for (; text && *text; text++)
        h = (h ^ (unsigned char) *text) * 16777619u;
    return h;
}

/* The slot that holds this finding, or the free slot where it belongs. Half of the slots are always
 * free. */
static short *find_slot(FindingKind kind, const Place *place, const char *format)
{
    uint32_t h = hash(2166136261u + (uint32_t) kind * 31u + (uint32_t) place->line, place->kernel);

    for (uint32_t i = hash(h, place->file) % SLOTS;; i = (i + 1) % SLOTS)
        if (!table.slot[i] || same(&table.all[table.slot[i] - 1], kind, place, format))
            return &table.slot[i];
}

/* The texts point into the module, which may be freed before the report is written. */
static const char *copy(const char *text, size_t length)
{
    return text ? strndup(text, length) : NULL;
}

static Finding *enter(short *slot, FindingKind kind, bool fatal, const Place *place)
{
    if (!table.all && !(table.all = calloc(MOST_FINDINGS, sizeof *table.all)))
        return NULL;
    if (table.count == MOST_FINDINGS)
        return NULL;
    Finding *f = &table.all[table.count];
    *slot = (short) ++table.count;
    f->kind = kind;
    f->fatal = fatal;
    f->place = *place;
    f->place.kernel = copy(place->kernel, SIZE_MAX);
    f->place.file = copy(place->file, SIZE_MAX);
    f->place.instruction = copy(place->instruction, (size_t) place->instruction_length);
    return f;
}

/* ---- Printing ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Prints a text, wrapped at 80 columns. */
void finding_print(const char *text)
{
    for (int left = WIDTH; *text; left = WIDTH - INDENT) {
        int length = (int) strlen(text), cut = length;
        if (length > left) {
            for (cut = left; cut > 0 && text[cut] != ' '; cut--)
                ;
            if (!cut)
                cut = (int) strcspn(text, " ");
        }
        fprintf(stderr, "%.*s\n", cut, text);
        text += cut + (text[cut] == ' ');
        if (*text)
            fprintf(stderr, "%*s", INDENT, "");
    }
}

static void print_where(const Place *place)
{
    if (!place->kernel)
        return;
    fprintf(stderr, "%*sin %s", INDENT, "", place->kernel);
    if (place->has_thread)
        fprintf(stderr, ", block (%d,%d,%d), thread (%d,%d,%d)", place->block[0], place->block[1],
                place->block[2], place->thread[0], place->thread[1], place->thread[2]);
    fprintf(stderr, "\n");
}

/* "out-of-bounds": rules of other programs have no blanks. */
static void put_rule(FindingKind kind, char *rule, size_t size)
{
    snprintf(rule, size, "%s", finding_word(kind));
    for (; *rule; rule++)
        *rule = *rule == ' ' ? '-' : *rule;
}

void finding_annotation(const Finding *f, Annotation *a)
{
    const Place *place = &f->place;
    char where[200] = "", thread[120] = "";

    *a = (Annotation){ .level = f->fatal ? LEVEL_ERROR : LEVEL_WARNING,
                       .meaning = finding_word(f->kind),
                       .file = place->file ? path_from_here(place->file) : NULL,
                       .line = place->file ? place->line : 0,
                       .other_line = place->other_elsewhere ? 0 : place->other_line,
                       .other_text = "the other access" };
    put_rule(f->kind, a->rule, sizeof a->rule);
    if (place->has_thread)
        snprintf(thread, sizeof thread, ", block (%d,%d,%d), thread (%d,%d,%d)", place->block[0],
                 place->block[1], place->block[2], place->thread[0], place->thread[1],
                 place->thread[2]);
    if (place->kernel)
        snprintf(where, sizeof where, " (in %.60s%s)", place->kernel, thread);
    snprintf(a->text, sizeof a->text, "%.100s%s%s%s", place->instruction ? place->instruction : "",
             place->instruction ? kinds[f->kind].link : "", f->text, where);
}

/* One mistake may show at many lines, and in each instance of a template. */
static bool are_enough(FindingKind kind)
{
    const int printed = ++table.printed[kind];

    if (printed == MOST_PRINTED + 1)
        fprintf(stderr, "sim: more findings of the kind `%s` follow; only the report lists them\n",
                finding_word(kind));
    return printed > MOST_PRINTED;
}

static void print_finding(const Finding *f)
{
    const Place *place = &f->place;
    char line[2048], where[512] = "";
    Annotation annotation;

    if (table.write) {
        finding_annotation(f, &annotation);
        table.write(stderr, &annotation);
        return;
    }
    if (are_enough(f->kind))
        return;

    if (place->file)
        snprintf(where, sizeof where, "%.400s:%d: ", base_name(place->file), place->line);
    else if (place->line > 0)
        snprintf(where, sizeof where, "PTX line %d: ", place->line);
    snprintf(line, sizeof line, "sim: %s: %s%.100s%s%s", finding_word(f->kind), where,
             place->instruction ? place->instruction : "",
             place->instruction ? kinds[f->kind].link : "", f->text);
    finding_print(line);
    print_where(place);
}

void finding_note(const char *text)
{
    char line[512];

    snprintf(line, sizeof line, "sim: note: %s", text);
    pthread_mutex_lock(&lock);
    if (!table.quiet)
        finding_print(line);
    pthread_mutex_unlock(&lock);
}

static void print_full(void)
{
    if (!table.full && !table.quiet)
        fprintf(stderr, "sim: more than %d different findings: further ones are not reported\n",
                MOST_FINDINGS);
    table.full = true;
}

static void write_text(Finding *f, const Place *place, const char *format, va_list args)
{
    const Place kept = f->place; /* its texts are copies */

    f->place = *place;
    f->place.kernel = kept.kernel;
    f->place.file = kept.file;
    f->place.instruction = kept.instruction;
    f->place.instruction_length = kept.instruction_length;
    f->format = format;
    vsnprintf(f->text, sizeof f->text, format, args);
    if (place->file && !table.quiet) /* the grader has the source, the runner has not */
        source_shape_file(place->file, f->text, sizeof f->text);
}

void finding(FindingKind kind, bool fatal, const Place *place, const char *format, ...)
{
    static const Place nowhere;

    place = place ? place : &nowhere;
    pthread_mutex_lock(&lock);
    short *slot = find_slot(kind, place, format);
    Finding *f = *slot ? &table.all[*slot - 1] : enter(slot, kind, fatal, place);
    if (!f) {
        print_full();
    } else {
        const bool is_first = !f->count++;
        va_list args;
        va_start(args, format);
        if (is_first || (f->place.provisional && !place->provisional))
            write_text(f, place, format, args);
        va_end(args);
        f->fatal |= fatal;
        if (is_first && !table.quiet)
            print_finding(f);
    }
    pthread_mutex_unlock(&lock);
}

bool finding_more(FindingKind kind, const Place *place, uint64_t more)
{
    pthread_mutex_lock(&lock);
    const short slot = *find_slot(kind, place, NULL);
    if (slot)
        table.all[slot - 1].count += more;
    pthread_mutex_unlock(&lock);
    return slot;
}
