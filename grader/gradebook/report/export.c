/* export.c - exports the gradebook: each format is a row of the table. */
#include "gradebook/report/export.h"
#include "gradebook/report/formats.h"
#include "base/util.h"

#include <string.h>

static const struct {
    const char *name;
    void (*write)(Export *);
    bool in_folder; /* one file per student */
} formats[] = {
    { "csv", export_csv },
    { "json", export_json },
    { "html", export_html },
    { "alike", export_alike },
    { "gradescope", export_gradescope, true },
    { "classroom", export_classroom, true },
    { "feedback", export_feedback, true },
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

void export_write(Store *store, const char *format, FILE *to, const char *folder)
{
    Export export = { .store = store, .to = to, .folder = folder };

    results_read(store, &export.results);
    formats[format_of(format)].write(&export);
    results_free(&export.results);
}

const char *export_formats(void)
{
    static char names[100];

    names[0] = 0;
    for (int i = 0; formats[i].name; i++)
        APPEND(names, "%s%s", i ? ", " : "", formats[i].name);
    return names;
}
