/* report.c - the commands that only read: status, report and export. */
#include "gradebook/commands/command.h"
#include "gradebook/report/export.h"
#include "gradebook/report/overview.h"
#include "gradebook/store/people.h"

#include <stdio.h>
#include <string.h>

static const Options *wanted;
static int status;

bool filter_of(Store *store, const Options *options, Filter *filter)
{
    static bool only[LABS];
    char problem[700];

    *filter = (Filter){ .section = options->section };
    if (options->lab) {
        only[lab_find(options->lab) - all_labs] = true;
        filter->labs = only;
    } else if (options->labs_named) {
        filter->labs = options->grading.requested;
    }
    if (!options->student ||
        people_find(store, options->student, &filter->person, problem, sizeof problem))
        return true;
    say(0, "%s", problem);
    return false;
}

/* Calls a function below with the gradebook; it sets `status`. */
static int read_with(Options *options, void (*show_it)(Store *))
{
    int read;

    wanted = options;
    read = command_reading(options, show_it);
    return read ? read : status;
}

static void print_status(Store *store)
{
    Filter filter;

    if (filter_of(store, wanted, &filter))
        overview_status(store, &filter);
    else
        status = USAGE;
}

int command_status(Options *options)
{
    return read_with(options, print_status);
}

static void print_report(Store *store)
{
    Filter filter;

    if (!filter_of(store, wanted, &filter))
        status = USAGE;
    else if (!overview_report(store, &filter, wanted->verbose))
        status = say(USAGE, "no student and lab matches");
}

int command_report(Options *options)
{
    return read_with(options, print_report);
}

/* ---- Export ---- */

static void write_export(Store *store)
{
    char problem[700];
    ExportOptions export = { .format = wanted->format,
                             .to = wanted->to,
                             .worksheet = wanted->worksheet,
                             .column = wanted->column,
                             .force = wanted->force,
                             .unpublished = wanted->unpublished };

    if (!filter_of(store, wanted, &export.filter))
        status = USAGE;
    else if (!export_write(store, &export, problem))
        status = say(COULD_NOT, "%s", problem);
}

int command_export(Options *options)
{
    if (!options->format || !export_is_format(options->format))
        return say(USAGE, "missing or unknown format: use --format %s", export_formats());
    if (export_needs_folder(options->format) && !options->to)
        return say(USAGE, "%s writes several files: add --to FOLDER", options->format);
    if (export_needs_worksheet(options->format) && !options->worksheet)
        return say(USAGE, "%s fills a file of the learning system: add --worksheet FILE",
                   options->format);
    return read_with(options, write_export);
}
