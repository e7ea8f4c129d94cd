/* check_course.c - the command that reads a course file alone: its mistakes, or what it means and
 * what is unusual about it. */
#include "gradebook/commands/command.h"
#include "gradebook/store/backup.h"
#include "gradebook/store/queue.h"
#include "gradebook/store/judged.h"
#include "gradebook/store/terms.h"
#include "base/text.h"
#include "base/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COLUMNS = 80 };

static int warnings;

static void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void warn(const char *format, ...)
{
    char text[600] = "warning: ";
    va_list values;

    va_start(values, format);
    vsnprintf(text + strlen(text), sizeof text - strlen(text), format, values);
    va_end(values);
    if (!warnings++)
        putchar('\n');
    print_wrapped(text, 0, COLUMNS);
}

/* ---- What it means ---- */

static bool is_timed(const LabEntry *entry, int i)
{
    return entry->lab->cases[i].kind == TIMED;
}

/* The lowest and the highest bar of a lab's timed cases; 0 without any. */
static void bars_of(const Course *course, const LabEntry *entry, double *lowest, double *highest)
{
    *lowest = *highest = 0;
    for (int i = 0; i < COURSE_CASES && entry->lab->cases[i].label; i++) {
        double bar = is_timed(entry, i) ? course_bar(course, entry, i) : 0;
        if (bar <= 0)
            continue;
        *lowest = *lowest <= 0 || bar < *lowest ? bar : *lowest;
        *highest = bar > *highest ? bar : *highest;
    }
}

static const char *bars_in_words(const Course *course, const LabEntry *entry, char text[40])
{
    double lowest, highest;

    bars_of(course, entry, &lowest, &highest);
    put(text, 40, "-");
    if (highest > 0)
        put(text, 40, "%.4g", lowest);
    if (highest > lowest)
        append(text, 40, " to %.4g", highest);
    return text;
}

static const char *span_in_words(double seconds, char text[20])
{
    static const struct {
        double seconds;
        char unit;
    } units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (seconds >= units[i].seconds && (long long) seconds % (long long) units[i].seconds == 0)
            return put(text, 20, "%.0f%c", seconds / units[i].seconds, units[i].unit);
    return put(text, 20, "0");
}

static const char *time_in_words(int64_t seconds, char text[60])
{
    time_t when = (time_t) seconds;
    struct tm local;

    strftime(text, 60, "%Y-%m-%d %H:%M %Z", localtime_r(&when, &local));
    return text;
}

/* "0.9 per 1d, none after 7d, on time up to 15m late"; "": nothing is late. */
static char *lateness(const Course *course, const LabEntry *entry, char text[200])
{
    const Policy *policy = &course->lab[entry - all_labs].policy;
    char span[20];

    *text = 0;
    if (!policy->has_deadline)
        return text;
    put(text, 200, policy->late_factor < 1 ? "%.4g of the marks are left per %s" : "no marks lost",
        policy->late_factor, span_in_words(policy->late_unit_s, span));
    if (policy->late_cutoff_s > 0)
        append(text, 200, ", none after %s", span_in_words(policy->late_cutoff_s, span));
    if (policy->late_grace_s > 0)
        append(text, 200, ", on time up to %s late", span_in_words(policy->late_grace_s, span));
    return text;
}

static char *past_deadline(const Course *course, const LabEntry *entry, char text[200])
{
    const Policy *policy = &course->lab[entry - all_labs].policy;
    char deadline[60];

    *text = 0;
    if (policy->has_deadline && policy->deadline < time(NULL))
        put(text, 200, "the deadline %s is in the past", time_in_words(policy->deadline, deadline));
    return text;
}

static char *high_bar(const Course *course, const LabEntry *entry, char text[200])
{
    double lowest, highest;

    *text = 0;
    bars_of(course, entry, &lowest, &highest);
    if (highest > 1)
        put(text, 200, "a kernel must be faster than the reference to reach the bar %.4g", highest);
    return text;
}

/* Calls `print` with each different text, and the labs that have it. */
static void each_text(const Course *course,
                      char *(*describe)(const Course *, const LabEntry *, char[200]),
                      void (*print)(const char *text, const char *labs))
{
    char text[200], other[200];

    for (const LabEntry *entry = all_labs; entry->folder; entry++) {
        char labs[400] = "";
        bool first = true, all = true;
        if (!*describe(course, entry, text))
            continue;
        for (const LabEntry *same = all_labs; same->folder; same++)
            if (!strcmp(describe(course, same, other), text)) {
                first &= same >= entry;
                APPEND(labs, "%s%s", *labs ? ", " : "", same->folder);
            } else
                all = false;
        if (first)
            print(text, all ? "all labs" : labs);
    }
}

static void print_lateness(const char *text, const char *labs)
{
    char line[700];

    print_wrapped(PUT(line, "late: %s (%s)", text, labs), 0, COLUMNS);
}

static void print_warning(const char *text, const char *labs)
{
    warn("%s (%s)", text, labs);
}

static void print_table(const Course *course)
{
    char bars[40], deadline[60];

    printf("course: %s\n", course->name[0] ? course->name : "no name");
    printf("device: %s\n\n", course->device[0] ? course->device : "any, since the file names none");
    printf("%-18s %-12s %6s  %-22s %s\n", "lab", "bar", "weight", "deadline", "base, curve");
    for (int i = 0; i < COURSE_LABS && all_labs[i].folder; i++) {
        const Policy *policy = &course->lab[i].policy;
        printf("%-18s %-12s %6.4g  %-22s %.4g, %s\n", all_labs[i].folder,
               bars_in_words(course, &all_labs[i], bars), policy->weight,
               policy->has_deadline ? time_in_words(policy->deadline, deadline) : "none",
               policy->base, policy->growth == GROWTH_LOG ? "log" : "linear");
    }
    each_text(course, lateness, print_lateness);
    printf("late days: %d for each student\n", course->late_days);
    printf("time of submission: %s\n",
           course->times ? "the learning system's, else the file's" : "the learning system's only");
}

/* ---- What is unusual ---- */

/* The value that follows `key =` in a line; NULL: another line. */
static const char *value_in(const char *line, const char *key)
{
    line += strspn(line, " \t");
    if (strncmp(line, key, strlen(key)))
        return NULL;
    line += strlen(key);
    line += strspn(line, " \t");
    if (*line != '=')
        return NULL;
    line++;
    return line + strspn(line, " \t");
}

static void check_seeds(const char *text)
{
    int number = 1;

    for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL, number++) {
        const char *seed = value_in(line, "seed");
        if (seed && strspn(seed, "0123456789abcdefABCDEF") < 16)
            warn("line %d: a seed shorter than 16 digits can be guessed; for a random one: openssl "
                 "rand -hex 8",
                 number);
    }
}

/* ---- What would be graded again ---- */

static void count_open(Store *store, int open[LABS])
{
    bool all[LABS];
    Queue queue;

    for (int lab = 0; lab < LABS; lab++) {
        all[lab] = true;
        open[lab] = 0;
    }
    queue_read(store, all, 0, &queue);
    for (int i = 0; i < queue.count; i++)
        open[queue.tasks[i].lab]++;
    queue_free(&queue);
}

/* Stores the file in a temporary copy of the gradebook, by the same rules as grade. */
static bool print_effect(const Options *options)
{
    int before[LABS], after[LABS], again = 0;
    char *mistakes;
    Store store, copy;

    if (!store_open(&store, options->out, false)) {
        say(0, "%s", store.problem);
        store_close(&store);
        return false;
    }
    backup_open(&store, &copy);
    count_open(&copy, before);
    if (terms_load(&copy, options->words[0], &mistakes)) {
        terms_keep(&copy);
        judged_find(&copy);
        for (int lab = 0; lab < LABS && all_labs[lab].folder; lab++)
            judged_request(&copy, all_labs[lab].folder);
    }
    free(mistakes);
    count_open(&copy, after);
    printf("\nIf you store it in %s:\n", options->out);
    for (int lab = 0; lab < LABS && all_labs[lab].folder; lab++)
        if (after[lab] > before[lab]) {
            again += after[lab] - before[lab];
            printf("  %s: %d kernel%s graded again\n", all_labs[lab].folder,
                   after[lab] - before[lab], after[lab] - before[lab] > 1 ? "s are" : " is");
        }
    if (!again)
        puts("  no kernel is graded again");
    store_close(&copy);
    store_close(&store);
    return true;
}

int command_check_course(Options *options)
{
    Course *course = xcalloc(1, sizeof *course);
    char *text = NULL;
    int status = DONE;

    if (!options->words[0])
        status = say(USAGE, "missing FILE: gradebook check-course FILE");
    else if (!read_course(options->words[0], course, &text))
        status = USAGE;
    else {
        print_table(course);
        each_text(course, high_bar, print_warning);
        each_text(course, past_deadline, print_warning);
        check_seeds(text);
        if (options->out && !print_effect(options))
            status = COULD_NOT;
    }
    free(text);
    free(course);
    return status;
}
