/* labs.c - which lab `make watch` is about. */
#include "learner/watch/labs.h"
#include "learner/progress.h"

LabState lab_state(const Workbook *book, const LabEntry *entry)
{
    Progress progress;

    progress_load(book->progress, entry, &progress);
    if (!progress.graded || (!verdict_passed(progress.best) && progress.best != CORRECT_ONLY))
        return LAB_OPEN;
    return !progress.best_lab || progress.best_lab == lab_hash(book, entry) ? LAB_DONE
                                                                            : LAB_CHANGED;
}

const LabEntry *lab_after(const Workbook *book, const LabEntry *after)
{
    int count = 0, from = after ? (int) (after - all_labs) + 1 : 0;

    while (all_labs[count].folder)
        count++;
    for (int i = 0; i < count; i++) {
        const LabEntry *entry = &all_labs[(from + i) % count];
        if (entry != after && lab_state(book, entry) != LAB_DONE)
            return entry;
    }
    return NULL;
}
