/* export_canvas.c - Canvas's gradebook with marks. */
#include "gradebook/report/worksheet_fill.h"
#include "base/util.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The next word of a title or lab name, in lower case; "" at the end. Numbers lose their zeros. */
static const char *next_word(const char *at, char word[FILL_TEXT])
{
    size_t used = 0;

    while (*at && !isalnum((unsigned char) *at))
        at++;
    for (; isalnum((unsigned char) *at); at++)
        if (used + 1 < FILL_TEXT && (used || *at != '0'))
            word[used++] = (char) tolower((unsigned char) *at);
    word[used] = 0;
    return at;
}

static bool has_word(const char *title, const char *wanted)
{
    char word[FILL_TEXT];

    for (const char *at = next_word(title, word); *word; at = next_word(at, word))
        if (!strcmp(word, wanted))
            return true;
    return false;
}

/* True for all words of "bank conflicts", or for "lab 2". */
static bool names_lab(const char *title, const char *lab)
{
    char number[FILL_TEXT], word[FILL_TEXT];
    const char *name = next_word(lab, number), *at;
    bool all = true;

    for (at = next_word(name, word); *word && all; at = next_word(at, word))
        all = has_word(title, word);
    if (all)
        return true;
    for (at = next_word(title, word); *word; at = next_word(at, word))
        if (!strcmp(word, "lab")) {
            next_word(at, word);
            return !strcmp(word, number);
        }
    return false;
}

/* Finds the columns of the chosen labs: one of --column, or those whose titles name a lab. */
static bool find_targets(Filling *filling, int first)
{
    Export *export = filling->export;
    const Worksheet *sheet = &filling->sheet;
    char title[FILL_TEXT];
    int column;

    if (export->options->column) {
        if (!fill_column_named(export, sheet, &column) || !fill_is_one_assignment(export))
            return false;
        filling->targets[filling->target_count++] = (Target){ .column = column, .lab = -1 };
        return true;
    }
    for (int lab = 0; lab < export->results.lab_count && lab < MOST_TARGETS; lab++) {
        int found = 0;
        for (column = first; column < sheet->columns; column++) {
            worksheet_text(sheet, 0, column, title, sizeof title);
            fill_cut_number(title);
            if (names_lab(title, export->results.labs[lab]) && !found++)
                filling->targets[filling->target_count++] =
                    (Target){ .column = column, .lab = lab };
        }
        if (found > 1) {
            PUT(export->problem,
                "%s: %d columns name the lab %s: choose one with --lab L --column "
                "NAME",
                export->options->worksheet, found, export->results.labs[lab]);
            return false;
        }
    }
    if (!filling->target_count)
        PUT(export->problem, "%s: no column names a chosen lab: add --lab L --column NAME",
            export->options->worksheet);
    return filling->target_count > 0;
}

/* Reads what Canvas's rows before the students say: the points of each column. */
static bool read_points(Filling *filling)
{
    const Worksheet *sheet = &filling->sheet;
    char text[FILL_TEXT];
    int row = 1;

    while (row < sheet->rows &&
           !strstr(worksheet_text(sheet, row, 0, text, sizeof text), "Points Possible"))
        row++;
    for (int i = 0; i < filling->target_count; i++)
        if (row >= sheet->rows ||
            !worksheet_number(sheet, row, filling->targets[i].column, &filling->targets[i].most) ||
            filling->targets[i].most <= 0) {
            PUT(filling->export->problem, "%s: %s: no points possible",
                filling->export->options->worksheet,
                worksheet_text(sheet, 0, filling->targets[i].column, text, sizeof text));
            return false;
        }
    filling->begin = row + 1;
    return true;
}

/* The columns of Canvas's gradebook (lib/gradebook_exporter.rb): Student, ID, SIS User ID, SIS
 * Login ID, ..., Section; then the assignments. */
static bool find_canvas(Filling *filling)
{
    char text[FILL_TEXT];
    int section = worksheet_column(&filling->sheet, "Section");

    if (section < 2 ||
        strcasecmp(worksheet_text(&filling->sheet, 0, 0, text, sizeof text), "Student") ||
        strcasecmp(worksheet_text(&filling->sheet, 0, 1, text, sizeof text), "ID")) {
        PUT(filling->export->problem,
            "%s: not Canvas's gradebook: its columns are Student, ID, ..., Section, and the "
            "assignments",
            filling->export->options->worksheet);
        return false;
    }
    filling->excused = "EX"; /* lib/gradebook_exporter.rb */
    filling->ids = (IdColumns){ .first = 1, .last = section - 1, .participant = -1 };
    return find_targets(filling, section + 1) && read_points(filling);
}

/* Canvas imports each assignment in the file, so other assignments are left out: their marks may
 * have changed since the file was downloaded. */
void export_canvas(Export *export)
{
    Filling filling;
    bool *wanted;

    if (!fill_begin(export, &filling))
        return;
    if (find_canvas(&filling)) {
        wanted = xcalloc((size_t) filling.sheet.columns, sizeof *wanted);
        for (int column = 0; column <= filling.ids.last + 1; column++)
            wanted[column] = true;
        for (int i = 0; i < filling.target_count; i++)
            wanted[filling.targets[i].column] = true;
        fill_rows(&filling);
        worksheet_write(&filling.sheet, wanted, export->to);
        free(wanted);
    }
    fill_end(&filling);
}
