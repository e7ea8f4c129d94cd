/* export_moodle.c - Moodle's grading worksheet with marks, and the zip of feedback files. */
#include "gradebook/report/worksheet_fill.h"
#include "base/util.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The columns of Moodle's worksheet (mod/assign/gradingtable.php): Identifier, Full name, other
 * facts about the student, Status, Grade, Maximum Grade, ... The first row is in Moodle's language,
 * so only --column finds the grade in a worksheet that is not English. */
static bool find_moodle(Filling *filling)
{
    Export *export = filling->export;
    Target *target = &filling->targets[0];
    const ExportOptions named = *export->options;
    double most;

    *target = (Target){ .column = worksheet_column(&filling->sheet, "Grade"), .lab = -1 };
    if (named.column && !fill_column_named(export, &filling->sheet, &target->column))
        return false;
    if (target->column < 2 || target->column + 1 >= filling->sheet.columns) {
        PUT(export->problem,
            "%s: not a grading worksheet of Moodle: its columns are Identifier, Full name, ..., "
            "Grade, Maximum Grade. If it is not in English, name the column of the grade: --column "
            "NAME",
            named.worksheet);
        return false;
    }
    target->most_column = target->column + 1;
    filling->target_count = 1;
    filling->begin = 1;
    filling->ids = (IdColumns){ .name = target->column > 2, /* anonymous grading has no names */
                                .first = 2,
                                .last = target->column - 1,
                                .participant = 0 };
    if (!worksheet_number(&filling->sheet, 1, target->most_column, &most)) {
        PUT(export->problem,
            "%s: no maximum grade in the column after the grade: Moodle's scales "
            "have no place for marks",
            named.worksheet);
        return false;
    }
    return fill_is_one_assignment(export);
}

void export_moodle(Export *export)
{
    Filling filling;

    if (!fill_begin(export, &filling))
        return;
    if (find_moodle(&filling)) {
        fill_rows(&filling);
        worksheet_write(&filling.sheet, NULL, export->to);
    }
    fill_end(&filling);
}

/* ---- Feedback files ---- */

/* Moodle's importer (mod/assign/feedback/file/importziplib.php) takes the number between the first
 * two underscores of a folder's name, so the name of the student must not contain any. */
static void folder_of(const Worksheet *sheet, int name_column, int row, char *folder, size_t size)
{
    char name[FILL_TEXT], identifier[FILL_TEXT], *digits;

    worksheet_text(sheet, row, name_column, name, sizeof name);
    for (char *at = name; *at; at++)
        if (strchr("_/\\:", *at) || (unsigned char) *at < ' ')
            *at = ' ';
    worksheet_text(sheet, row, 0, identifier, sizeof identifier);
    digits = identifier + strlen(identifier);
    while (digits > identifier && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    put(folder, size, "%.200s_%s_assignsubmission_file_", name, digits);
}

static void __attribute__((noreturn)) cannot_zip(struct archive *zip)
{
    die("cannot write the zip of feedback files: %s", archive_error_string(zip));
}

static void add_page(Filling *filling, int row, struct archive *zip)
{
    const Student *student = &filling->export->results.students[filling->student_of_row[row]];
    struct archive_entry *entry = archive_entry_new();
    char folder[FILL_TEXT], path[FILL_TEXT + 20], *text = NULL;
    size_t bytes = 0;
    FILE *to = text_open(&text, &bytes);

    feedback_page(filling->export, student, to);
    text_close(to);
    folder_of(&filling->sheet, filling->ids.name, row, folder, sizeof folder);
    archive_entry_set_pathname(entry, PUT(path, "%s/feedback.html", folder));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0600);
    archive_entry_set_mtime(entry, time(NULL), 0);
    archive_entry_set_size(entry, (la_int64_t) bytes);
    if (archive_write_header(zip, entry) != ARCHIVE_OK ||
        archive_write_data(zip, text, bytes) != (la_ssize_t) bytes)
        cannot_zip(zip);
    archive_entry_free(entry);
    free(text);
}

static void write_zip(Filling *filling, FILE *to)
{
    const Filter *filter = &filling->export->options->filter;
    struct archive *zip = archive_write_new();

    if (!zip || archive_write_set_format_zip(zip) != ARCHIVE_OK ||
        archive_write_set_options(zip, "hdrcharset=UTF-8") != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(zip, 1) != ARCHIVE_OK ||
        archive_write_open_FILE(zip, to) != ARCHIVE_OK)
        cannot_zip(zip);
    for (int row = filling->begin; row < filling->sheet.rows; row++) {
        int student = filling->student_of_row[row];
        if (student >= 0 &&
            filter_takes_student(filter, filling->export->results.students[student].labs))
            add_page(filling, row, zip);
    }
    if (archive_write_close(zip) != ARCHIVE_OK)
        cannot_zip(zip);
    archive_write_free(zip);
}

void export_moodle_feedback(Export *export)
{
    Filling filling;

    if (!fill_begin(export, &filling))
        return;
    if (find_moodle(&filling)) {
        fill_rows(&filling); /* lists who gets no file */
        write_zip(&filling, export->to);
    }
    fill_end(&filling);
}
