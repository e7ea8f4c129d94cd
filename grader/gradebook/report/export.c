/* export.c - exports the gradebook: each format is a row of the table. */
#include "gradebook/report/export.h"
#include "gradebook/report/formats.h"
#include "gradebook/report/output.h"
#include "gradebook/report/publish.h"
#include "base/util.h"

#include <errno.h>
#include <string.h>

static const struct {
    const char *name;
    void (*write)(Export *);
    bool for_students;   /* shows what was published */
    bool in_folder;      /* several files, most often one per student */
    bool from_worksheet; /* fills a file of the learning system */
    bool of_everybody;   /* compares students, so it reads all and filters what it writes */
} formats[] = {
    { "csv", export_csv },
    { "marks", export_marks },
    { "json", export_json },
    { "html", export_html },
    { "alike", export_alike, .of_everybody = true },
    { "pictures", export_pictures, .in_folder = true },
    { "moodle", export_moodle, .for_students = true, .from_worksheet = true },
    { "moodle-feedback", export_moodle_feedback, .for_students = true, .from_worksheet = true },
    { "canvas", export_canvas, .for_students = true, .from_worksheet = true },
    { "gradescope", export_gradescope, .for_students = true, .in_folder = true },
    { "classroom", export_classroom, .for_students = true, .in_folder = true },
    { "feedback", export_feedback, .for_students = true, .in_folder = true },
    { 0 },
};

static int format_of(const char *name)
{
    int i = 0;

    while (formats[i].name && strcmp(formats[i].name, name))
        i++;
    return i;
}

bool export_is_format(const char *format)
{
    return formats[format_of(format)].name;
}

bool export_needs_folder(const char *format)
{
    return formats[format_of(format)].in_folder;
}

bool export_needs_worksheet(const char *format)
{
    return formats[format_of(format)].from_worksheet;
}

/* Writes the results; export->problem says why not. A worksheet's rows are matched with all
 * students, also if only some of them are filled. */
static void write_format(Export *export, int format)
{
    Filter filter = export->options->filter;

    if (formats[format].from_worksheet || formats[format].of_everybody)
        filter = (Filter){ .labs = filter.labs };
    results_read(export->store, &filter, &export->results);
    if (!export->results.count)
        PUT(export->problem, "no student and lab matches; nothing was written");
    else if (formats[format].for_students && !export->options->unpublished &&
             !published_apply(export->store, &export->results))
        PUT(export->problem,
            "none of these marks are published; nothing was written. To publish them: gradebook "
            "publish --labs L. To export the current marks: --unpublished");
    else {
        results_warn_quick(&export->results);
        formats[format].write(export);
    }
    results_free(&export->results);
}

bool export_write(Store *store, const ExportOptions *options, char problem[700])
{
    int format = format_of(options->format);
    Export export = { .store = store, .options = options, .folder = options->to };
    Output output = { .to = stdout };

    if (formats[format].in_folder) {
        write_format(&export, format);
    } else if (!output_open(&output, options->to, options->force)) {
        PUT(export.problem, "%s %s: %s%s", errno == EEXIST ? "not replaced:" : "cannot write",
            options->to, strerror(errno), errno == EEXIST ? " (--force replaces it)" : "");
    } else {
        export.to = output.to;
        write_format(&export, format);
        if (!output_close(&output, !*export.problem) && !*export.problem)
            PUT(export.problem, "cannot write %s: %s",
                options->to ? options->to : "to standard output", strerror(errno));
    }
    put(problem, sizeof export.problem, "%s", export.problem);
    return !*problem;
}

const char *export_formats(void)
{
    static char names[200];

    names[0] = 0;
    for (int i = 0; formats[i].name; i++)
        APPEND(names, "%s%s", i ? ", " : "", formats[i].name);
    return names;
}
