/* filter.c - the students and labs that a report or an export is limited to. */
#include "gradebook/report/filter.h"
#include "base/registry.h"

#include <string.h>
#include <strings.h>

bool filter_takes_lab(const Filter *filter, const char *lab)
{
    if (!filter->labs)
        return true;
    for (const LabEntry *entry = all_labs; entry->folder && entry - all_labs < COURSE_LABS; entry++)
        if (!strcmp(entry->folder, lab))
            return filter->labs[entry - all_labs];
    return false; /* from another version of the workbook */
}

bool filter_takes_student(const Filter *filter, const Row *row)
{
    return (!filter->person || filter->person == row->student) &&
           (!filter->section || !strcasecmp(filter->section, row->section));
}

bool filter_is_everyone(const Filter *filter)
{
    return !filter->person && !filter->section;
}
