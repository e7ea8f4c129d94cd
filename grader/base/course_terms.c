/* course_terms.c - the part of a course file that one grading needs. */
#include "base/course.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

char *course_terms(const Course *course, const LabEntry *entry)
{
    const CourseLab *lab = &course->lab[entry - all_labs];
    char *result = NULL;
    char head[80];
    size_t size;
    FILE *to = text_open(&result, &size);
    bool begun = false;

    PUT(head, "[%s]\n", entry->folder);
    if (course->device[0])
        fprintf(to, "[course]\ndevice = %s\n", course->device);
    for (int i = 0; i < COURSE_CASES && entry->lab->cases[i].label; i++) {
        if (lab->bar[i] <= 0 || lab->bar[i] == entry->lab->cases[i].bar)
            continue;
        fprintf(to, "%sbar of %s = %.6g\n", begun ? "" : head, entry->lab->cases[i].label,
                lab->bar[i]);
        begun = true;
    }
    if (lab->policy.quiz >= 0) { /* the share itself does not matter to a grading */
        fprintf(to, "%squiz = 0\n", begun ? "" : head);
        begun = true;
    }
    if (lab->seed)
        fprintf(to, "%sseed = %016" PRIx64 "\n", begun ? "" : head, lab->seed);
    text_close(to);
    return result;
}

double course_bar(const Course *course, const LabEntry *entry, int i)
{
    long place = entry - all_labs;
    double bar = place < COURSE_LABS && i < COURSE_CASES ? course->lab[place].bar[i] : 0;

    return bar > 0 ? bar : entry->lab->cases[i].bar;
}

bool course_device_counts(const Course *course, const char *name, const char *simulated)
{
    bool wants_simulated = !strncmp(course->device, "sim:", 4);

    if (!course->device[0])
        return true;
    if (wants_simulated || simulated)
        return wants_simulated && simulated && !strcmp(course->device + 4, simulated);
    return strcasestr(name, course->device) != NULL;
}
