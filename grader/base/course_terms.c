/* course_terms.c - the part of a course file that one grading needs. */
#include "base/course.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bars that differ from the lab's own. */
static void write_bars(FILE *to, const CourseLab *lab, const LabEntry *entry)
{
    const Case *cases = entry->lab->cases;

    for (int i = 0; i < COURSE_CASES && cases[i].label; i++)
        if (lab->bar[i] > 0 && lab->bar[i] != cases[i].bar)
            fprintf(to, "bar of %s = %.6g\n", cases[i].label, lab->bar[i]);
}

static void write_measured(FILE *to, const CourseLab *lab, bool by_counts)
{
    if (by_counts)
        fprintf(to, "judge = counts\n");
    if (lab->policy.quiz >= 0) /* the share itself does not matter to a grading */
        fprintf(to, "quiz = 0\n");
    if (lab->seed)
        fprintf(to, "seed = %016" PRIx64 "\n", lab->seed);
}

static char *terms_with(const Course *course, const LabEntry *entry, bool bars)
{
    const CourseLab *lab = &course->lab[entry - all_labs];
    char *of_lab = NULL, *result = NULL;
    size_t size;
    FILE *to = text_open(&of_lab, &size);

    if (bars)
        write_bars(to, lab, entry);
    write_measured(to, lab, course_counts(course, entry));
    text_close(to);
    to = text_open(&result, &size);
    if (course->device[0])
        fprintf(to, "[course]\ndevice = %s\n", course->device);
    if (*of_lab)
        fprintf(to, "[%s]\n%s", entry->folder, of_lab);
    text_close(to);
    free(of_lab);
    return result;
}

char *course_terms(const Course *course, const LabEntry *entry)
{
    return terms_with(course, entry, true);
}

char *course_measured(const Course *course, const LabEntry *entry)
{
    return terms_with(course, entry, false);
}

char *course_bars(const Course *course, const LabEntry *entry)
{
    char *result = NULL;
    size_t size;
    FILE *to = text_open(&result, &size);

    write_bars(to, &course->lab[entry - all_labs], entry);
    text_close(to);
    return result;
}

bool course_counts(const Course *course, const LabEntry *entry)
{
    return course->lab[entry - all_labs].policy.judge == JUDGED_BY_COUNTS &&
           entry->lab->mechanism[0].counter != NO_COUNTER;
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
