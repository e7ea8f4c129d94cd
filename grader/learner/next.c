/* next.c - where the learner is, what the lab asks, and what to type next. */
#include "learner/next.h"
#include "base/remedy.h"
#include "base/text.h"
#include "learner/bar.h"
#include "learner/watch/labs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 80, FILE_MOST = 1 << 20 };

bool next_is_done(const Progress *progress)
{
    return progress->graded && (verdict_passed(progress->best) || progress->best == CORRECT_ONLY);
}

int next_count_done(const char *file, int *labs)
{
    Progress progress;
    int done = 0;

    *labs = 0;
    for (const LabEntry *entry = all_labs; entry->folder; entry++) {
        progress_load(file, entry, &progress);
        done += next_is_done(&progress);
        ++*labs;
    }
    return done;
}

const LabEntry *next_lab(const char *file)
{
    Progress progress;

    for (const LabEntry *entry = all_labs; entry->folder; entry++) {
        progress_load(file, entry, &progress);
        if (!next_is_done(&progress))
            return entry;
    }
    return NULL;
}

bool next_in_watch(void)
{
    return getenv(NEXT_IN_WATCH) != NULL;
}

/* ---- The next step ---- */

static bool has_hint(const LabEntry *entry, const Progress *p)
{
    return entry->lab->hints[0] || remedy_for(&p->diagnosis, p->latest, p->ratio, entry->lab) > 0;
}

/* Next to make watch, keys and saves replace commands. Returns false if a command is next there,
 * too. */
static bool step_in_watch(const LabEntry *entry, const Progress *p, char *text, size_t size)
{
    const char *folder = entry->folder;

    if (!p->graded || p->latest == UNCHANGED)
        put(text, size, "read labs/%s/README.md; each save of kernel.cu is graded here", folder);
    else if (verdict_passed(p->latest) || p->latest == CORRECT_ONLY || p->latest == UNSUPPORTED)
        return false;
    else if (p->latest == BUILD)
        put(text, size, "fix the first error and save kernel.cu: each save is graded here");
    else if (has_hint(entry, p))
        put(text, size, "h shows a hint; each save of kernel.cu is graded here");
    else
        put(text, size, "fix kernel.cu: each save is graded here");
    return true;
}

void next_step(const LabEntry *entry, const Progress *p, char *text, size_t size)
{
    const char *name = lab_name(entry), *folder = entry->folder;

    if (next_in_watch() && step_in_watch(entry, p, text, size))
        return;
    if (!p->graded || p->latest == UNCHANGED)
        put(text, size, "read labs/%s/README.md, then: make watch LAB=%s", folder, name);
    else if (verdict_passed(p->latest))
        put(text, size, "make compare LAB=%s", name);
    else if (p->latest == CORRECT_ONLY)
        put(text, size, "make grade LAB=%s on a machine where speed can be judged", name);
    else if (p->latest == BUILD)
        put(text, size, "fix the first error in labs/%s/kernel.cu, then: make watch LAB=%s", folder,
            name);
    else if (p->latest == UNSUPPORTED)
        put(text, size, "make grade LAB=%s on a machine with a GPU", name);
    else if (has_hint(entry, p))
        put(text, size, "make hint LAB=%s", name);
    else
        put(text, size, "fix labs/%s/kernel.cu, then: make watch LAB=%s", folder, name);
}

/* Next to make watch, the next lab is the one that its key turns to. */
static void print_next_key(void)
{
    const LabEntry *entry = lab_find(getenv(NEXT_IN_WATCH));

    if (entry)
        printf("Next: lab %02d %s: press n\n", lab_number(entry), lab_name(entry));
    else
        printf("This lab is the last one that is not done.\n");
}

static void print_next_lab(const char *file, const LabEntry *entry)
{
    Progress progress;
    char step[400], text[500];

    if (!entry) {
        printf("All labs are done. solutions/*/beyond/ go further.\n");
        return;
    }
    if (next_in_watch()) {
        print_next_key();
        return;
    }
    progress_load(file, entry, &progress);
    next_step(entry, &progress, step, sizeof step);
    print_wrapped(PUT(text, "Next: %s", step), 0, COLUMNS);
}

void print_next(const char *file)
{
    print_next_lab(file, next_lab(file));
}

void print_next_after(const Workbook *book, const LabEntry *entry)
{
    print_next_lab(book->progress, lab_after(book, lab_find(entry->folder)));
}

/* ---- make alone ---- */

/* The lesson's title, "06 Transpose: where should rows become columns?", or the lab's. */
static void find_title(const Workbook *book, const LabEntry *entry, char *title, size_t size)
{
    char path[PATH], *text = read_file(lab_file(book, entry, "README.md", path), FILE_MOST, NULL);

    if (text && !strncmp(text, "# ", 2))
        put(title, size, "Lab %.*s", (int) strcspn(text + 2, "\r\n"), text + 2);
    else
        put(title, size, "Lab %02d: %s", lab_number(entry), entry->lab->title);
    free(text);
}

/* Where the first sentence ends: after a full stop that blanks or the comment's end follow. */
static const char *sentence_end(const char *text, const char *end)
{
    for (const char *at = text; at < end; at++)
        if (*at == '.' && (at + 1 == end || strchr(" \n", at[1])))
            return at + 1;
    return end;
}

/* Copies a comment's text; line ends and what begins a line become one blank. */
static void copy_comment(const char *from, const char *end, char *text, size_t size)
{
    *text = 0;
    while (from < end) {
        const bool new_line = *from == '\n';
        append(text, size, "%c", new_line ? ' ' : *from);
        from += new_line ? strspn(from, "\n *") : 1;
    }
}

/* What the function must do: the first sentence of the first comment in kernel.h. */
static void find_task(const Workbook *book, const LabEntry *entry, char *task, size_t size)
{
    char path[PATH], *text = read_file(lab_file(book, entry, "kernel.h", path), FILE_MOST, NULL);
    const char *from = text ? strstr(text, "/* ") : NULL, *end = from ? strstr(from, "*/") : NULL;

    *task = 0;
    if (end)
        copy_comment(from + 3, sentence_end(from, end), task, size);
    free(text);
}

/* "Now slow: [####....|.........] 29 %, needs 75 %". */
static void print_state(const Progress *p)
{
    char bar[BAR_COLUMNS + 1], speed[16], needed[16];

    if (!p->graded || p->latest == UNCHANGED)
        printf("  Not started yet.\n");
    else if (p->latest == SLOW && p->reached > 0)
        printf("  Now: slow  %s %s, needs %s\n", bar_draw(p->reached, p->bar, bar, sizeof bar),
               bar_percent(p->reached, p->bar, speed, sizeof speed),
               bar_percent(p->bar, 0, needed, sizeof needed));
    else
        printf("  Now: %s\n", verdict_word(p->latest));
}

static void print_lab(const Workbook *book, const LabEntry *entry)
{
    char text[1000];
    Progress progress;
    int labs, done = next_count_done(book->progress, &labs);

    progress_load(book->progress, entry, &progress);
    find_title(book, entry, text, sizeof text);
    printf("%s\n%d of %d labs are done.\n\n", text, done, labs);
    find_task(book, entry, text, sizeof text);
    print_wrapped(text, 2, COLUMNS);
    print_state(&progress);
    printf("  Your files: README.md%s, kernel.cu in labs/%s/\n\n",
           entry->lab->predictions[0].key ? ", predictions.txt" : "", entry->folder);
}

int run_next(Options *options)
{
    static Workbook book;
    char why[700];
    const LabEntry *entry;

    if (!workbook_find(&book, why, sizeof why)) {
        fprintf(stderr, "warpbook: %s\n", why);
        return COULD_NOT;
    }
    entry = options->count ? options->labs[0] : next_lab(book.progress);
    if (entry)
        print_lab(&book, entry);
    print_next(book.progress);
    printf("All labs: make grade. All commands: make help\n");
    return DONE;
}
