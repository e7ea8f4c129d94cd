/* hints.c - make hint: the lab's remedy for the latest grading, then its hints, one level per run.
 *
 * The first call after a grading shows only the remedy. Later calls show it above the levels, and
 * each call shows one more level. A kernel that does not build needs no hint, so no level is shown.
 * After a pass all levels are shown at once, and none of them counts as used.
 */
#include "learner/next.h"
#include "base/marks.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 80 };

static int hint_count(const Lab *lab)
{
    int count = 0;

    while (count < LAB_HINTS && lab->hints[count] && *lab->hints[count])
        count++;
    return count;
}

static void note(const char *file, const LabEntry *entry, const Progress *progress)
{
    if (!progress_save(file, entry, progress))
        fprintf(stderr, "warpbook: cannot record in %s that you saw this hint: %s\n", file,
                strerror(errno));
}

static void print_remedy(const Progress *progress, const Lab *lab, int remedy)
{
    /* That of the case it names: the one nearest to failing, not always the lowest. */
    const double ratio =
        progress->reached > 0 ? ratio_shown(progress->reached, progress->bar, 2) : progress->ratio;
    char text[512], said[400];

    diagnosis_say(&progress->diagnosis, progress->latest, ratio, said, sizeof said);
    print_wrapped(PUT(text, "Your last grading: %s.", said), 0, COLUMNS);
    print_wrapped(lab->remedies[remedy - 1].text, 4, COLUMNS);
    printf("\n");
}

/* A sentence about the folder with the lab's solutions. */
static void print_about_ladder(const LabEntry *entry, const char *before, const char *after)
{
    char text[400];

    print_wrapped(PUT(text, "%s solutions/%s/ %s", before, entry->folder, after), 0, COLUMNS);
}

static void print_up_to(const LabEntry *entry, int level, int count)
{
    for (int i = 0; i < level; i++) {
        printf("%sHint %d of %d for lab %s:\n", i ? "\n" : "", i + 1, count, lab_name(entry));
        print_wrapped(entry->lab->hints[i], 4, COLUMNS);
    }
}

static void print_levels(const LabEntry *entry, int level, int count, bool exhausted)
{
    print_up_to(entry, level, count);
    if (exhausted) {
        printf("\n");
        print_about_ladder(entry, "There are no more hints. The ladder in",
                           "shows the solution step by step.");
    } else if (level == count)
        printf("\nThat was the last hint.\n");
    else if (next_in_watch())
        printf("\nh: the next hint\n");
    else
        printf("\nmake hint LAB=%s shows the next one.\n", lab_name(entry));
}

/* Shows the levels up to this one; 0: up to the next one. */
static void show_levels(const char *file, const LabEntry *entry, Progress *progress, int level)
{
    int count = hint_count(entry->lab);
    bool exhausted = level > count || (level < 1 && progress->hints >= count);

    if (!count) {
        printf("Lab %s has no hints.\n", lab_name(entry));
        return;
    }
    if (level < 1)
        level = progress->hints + 1;
    if (level > count)
        level = count;
    print_levels(entry, level, count, exhausted);
    if (level > progress->hints) {
        progress->hints = level;
        note(file, entry, progress);
    }
}

static void print_all_after_pass(const LabEntry *entry)
{
    const int count = hint_count(entry->lab);

    print_about_ladder(entry, "You passed this lab.",
                       "leads from the starter to the reference, one idea per file.");
    if (count)
        printf("\n");
    print_up_to(entry, count, count);
}

static void print_about_build(const LabEntry *entry)
{
    char text[300];

    PUT(text,
        "Your last kernel did not build. Fix the first error that the compiler shows: hints are "
        "about kernels that build.");
    if (!next_in_watch())
        APPEND(text, " make hint LAB=%s FLAGS=\"--level 1\" shows the first one now.",
               lab_name(entry));
    print_wrapped(text, 0, COLUMNS);
}

static void print_again(const LabEntry *entry)
{
    if (next_in_watch())
        printf("h: the lab's next hint\n");
    else
        printf("Run make hint LAB=%s again for the lab's hints, one level per run.\n",
               lab_name(entry));
}

static void print_after_failure(const char *file, const LabEntry *entry, Progress *progress)
{
    const int remedy =
        remedy_for(&progress->diagnosis, progress->latest, progress->ratio, entry->lab);

    if (remedy)
        print_remedy(progress, entry->lab, remedy);
    if (progress->latest == BUILD) {
        print_about_build(entry);
    } else if (remedy && remedy != progress->remedy_shown) {
        print_again(entry);
        progress->remedy_shown = remedy;
        note(file, entry, progress);
    } else
        show_levels(file, entry, progress, 0);
}

int print_hint(const char *file, const LabEntry *entry, int level)
{
    Progress progress;

    progress_load(file, entry, &progress);
    if (level >= 1 || !progress.graded)
        show_levels(file, entry, &progress, level);
    else if (verdict_passed(progress.latest))
        print_all_after_pass(entry);
    else
        print_after_failure(file, entry, &progress);
    return 0;
}
