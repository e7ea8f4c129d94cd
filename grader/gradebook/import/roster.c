/* roster.c - the students of a course, from a CSV.
 *
 * The CSV may come from various spreadsheets and learning systems. So the most frequent separator
 * in the first line counts, and each column may have one of several names. All errors are reported
 * together, with their line numbers.
 */
#include "gradebook/import/roster.h"
#include "gradebook/import/submission.h"
#include "base/util.h"

#include <csv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FIELDS = 60, FIELD_BYTES = 400, MOST_ERRORS = 100 };

/* ---- Fields ---- */

/* The position in a CSV, and the current record. */
typedef struct Csv {
    struct csv_parser parser;
    const char *at, *end;
    int line, next_line; /* of this record; of the next record */
    char field[FIELDS][FIELD_BYTES];
    int count;
    bool complete;
    const char *error; /* NULL: the record is valid */
} Csv;

static void end_field(void *text, size_t size, void *data)
{
    Csv *csv = data;
    char field[FIELD_BYTES];

    if (csv->count == FIELDS) {
        csv->error = "more than 60 fields";
        return;
    }
    PUT(field, "%.*s", size < FIELD_BYTES ? (int) size : FIELD_BYTES - 1, (const char *) text);
    if (!show_apart(field, csv->field[csv->count++], FIELD_BYTES) || size >= FIELD_BYTES)
        csv->error = "a field is longer than 399 bytes";
}

static void end_record(int last, void *data)
{
    (void) last;
    ((Csv *) data)->complete = true;
}

/* Parses to the end of a record. A format error ends the whole CSV. */
static void parse_record(Csv *csv)
{
    csv->line = csv->next_line;
    csv->count = 0;
    csv->complete = false;
    csv->error = NULL;
    while (!csv->complete && csv->at < csv->end) {
        csv->next_line += *csv->at == '\n';
        if (csv_parse(&csv->parser, csv->at++, 1, end_field, end_record, csv) != 1) {
            csv->error = "a quotation mark is inside a field: quote the field, and double the mark";
            csv->at = csv->end;
            return;
        }
    }
    if (!csv->complete && csv_fini(&csv->parser, end_field, end_record, csv))
        csv->error = "a quotation mark is not closed";
}

/* Reads the next record, skipping empty lines. Returns false at the end. */
static bool take_record(Csv *csv)
{
    do {
        if (csv->at == csv->end)
            return false;
        parse_record(csv);
    } while (!csv->error && (csv->count == 0 || (csv->count == 1 && !*csv->field[0])));
    return true;
}

/* Lines end with \n; a \r before it counts as a blank around the field. */
static int is_line_end(unsigned char c)
{
    return c == '\n';
}

static int is_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static int is_blank_but_tab(unsigned char c)
{
    return c == ' ' || c == '\r';
}

static void csv_open(Csv *csv, const char *text, size_t size, char separator)
{
    *csv = (Csv){ .at = text, .end = text + size, .next_line = 1 };
    if (csv_init(&csv->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL))
        die("out of memory");
    csv_set_delim(&csv->parser, (unsigned char) separator);
    csv_set_space_func(&csv->parser, separator == '\t' ? is_blank_but_tab : is_blank);
    csv_set_term_func(&csv->parser, is_line_end);
}

static char separator_of(const char *text, size_t size)
{
    static const char candidates[] = ",;\t";
    size_t most = 0;
    char best = ',';

    for (const char *c = candidates; *c; c++) {
        size_t count = 0;
        for (size_t i = 0; i < size && text[i] != '\n'; i++)
            count += text[i] == *c;
        if (count > most) {
            most = count;
            best = *c;
        }
    }
    return best;
}

/* ---- Columns ---- */

typedef enum Column {
    NUMBER,
    NAME,
    FIRST,
    LAST,
    EMAIL,
    SECTION,
    LMS,
    ALIAS,
    STATUS,
    CANVAS, /* only in an export of Canvas */
    MOODLE, /* only in a grading worksheet of Moodle, with the next one */
    MOODLE_MOST,
    COLUMNS
} Column;

static const char *const column_names[COLUMNS] = {
    [NUMBER] = "|id|number|student id|studentid|student number|id number|sid|sis user id|"
               "orgdefinedid|matriculation number|username|user name|login id|",
    [NAME] = "|name|full name|fullname|student|student name|",
    [FIRST] = "|first name|firstname|given name|first|",
    [LAST] = "|last name|lastname|surname|family name|last|",
    [EMAIL] = "|email|e-mail|email address|mail|",
    [SECTION] = "|section|sections|group|class|",
    [LMS] = "|lms|lms id|canvas|canvas id|moodle|moodle id|gradescope|",
    [ALIAS] = "|alias|aliases|other names|",
    [STATUS] = "|status|enrolment|enrollment|",
    [CANVAS] = "|sis login id|sis user id|",
    [MOODLE] = "|identifier|",
    [MOODLE_MOST] = "|maximum grade|",
};

/* The index of each column in a record; -1: missing. */
static void find_columns(const Csv *csv, int place[COLUMNS])
{
    for (int column = 0; column < COLUMNS; column++) {
        place[column] = -1;
        for (int i = csv->count - 1; i >= 0; i--) { /* the first column with that name */
            char name[FIELD_BYTES + 2];
            put(name, sizeof name, "|%s|", csv->field[i]);
            if (csv->field[i][0] && !strchr(csv->field[i], '|') &&
                strcasestr(column_names[column], name))
                place[column] = i;
        }
    }
}

/* In Moodle's grading worksheet, the status is that of the submission. */
static void leave_out_columns(int place[COLUMNS])
{
    if (place[MOODLE] >= 0 && place[MOODLE_MOST] >= 0)
        place[STATUS] = -1;
}

static const char *cell(const Csv *csv, int place)
{
    return place >= 0 && place < csv->count ? csv->field[place] : "";
}

/* ---- Reading ---- */

typedef struct Errors {
    FILE *to;
    const char *shown;
    int count;
    /* Rows with an unknown status are one mistake, most likely of the whole column. */
    int status_rows, status_line; /* their number; the first one's line */
    char status[44];              /* the first one's */
} Errors;

static void add_error(Errors *errors, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add_error(Errors *errors, int line, const char *format, ...)
{
    va_list arguments;

    if (errors->count++ >= MOST_ERRORS)
        return;
    fprintf(errors->to, "%s:%d: ", errors->shown, line);
    va_start(arguments, format);
    vfprintf(errors->to, format, arguments);
    va_end(arguments);
    fputc('\n', errors->to);
}

/* Adds the aliases in a cell, which | or ; separate. */
static void add_aliases(char *aliases, size_t size, const char *text)
{
    while (*(text += strspn(text, " |;"))) {
        size_t length = strcspn(text, "|;");
        while (length && text[length - 1] == ' ')
            length--;
        append(aliases, size, "%s%.*s", *aliases ? "|" : "", (int) length, text);
        text += length;
    }
}

static void take_aliases(const Csv *csv, const int place[COLUMNS], Member *member, Errors *errors)
{
    const char *lms = cell(csv, place[LMS]), *alias = cell(csv, place[ALIAS]);

    if (strlen(lms) + strlen(alias) + 1 >= sizeof member->aliases)
        add_error(errors, csv->line, "the aliases are longer than %zu bytes",
                  sizeof member->aliases - 1);
    add_aliases(member->aliases, sizeof member->aliases, lms);
    add_aliases(member->aliases, sizeof member->aliases, alias);
    show(member->aliases);
}

static void take_status(const Csv *csv, const int place[COLUMNS], Member *member, Errors *errors)
{
    static const struct {
        const char *words, *status;
    } known[] = {
        { "||active|enrolled|student|", "active" },
        { "|withdrawn|dropped|inactive|", "withdrawn" },
        { "|audit|auditor|guest|", "audit" },
    };
    const char *status = cell(csv, place[STATUS]);
    char word[FIELD_BYTES + 2];

    put(word, sizeof word, "|%s|", status);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strchr(status, '|') && strcasestr(known[i].words, word)) {
            PUT(member->status, "%s", known[i].status);
            return;
        }
    if (!errors->status_rows++) {
        PUT(errors->status, "%.40s", status);
        show(errors->status); /* truncation may split a character */
        errors->status_line = csv->line;
    }
}

static void report_status(Errors *errors)
{
    if (errors->status_rows)
        add_error(
            errors, errors->status_line,
            "status '%s'%s must be active, withdrawn or audit. If the column does not say who "
            "takes the course, remove or rename it",
            errors->status, errors->status_rows > 1 ? ", and those of later lines," : "");
}

/* A gradebook that Canvas has exported has rows that are not of students: the points possible, and
 * the test student. */
static bool is_canvas_row(const Csv *csv, const int place[COLUMNS])
{
    const char *name = cell(csv, place[NAME]);

    return place[CANVAS] >= 0 &&
           (!strcmp(name, "Points Possible") || !strcmp(name, "Student, Test"));
}

static bool take_member(const Csv *csv, const int place[COLUMNS], Member *member, Errors *errors)
{
    const char *name = cell(csv, place[NAME]);
    int before = errors->count + errors->status_rows;

    *member = (Member){ 0 };
    PUT(member->number, "%s", cell(csv, place[NUMBER]));
    PUT(member->name, "%s", name);
    if (!*name && (place[FIRST] >= 0 || place[LAST] >= 0))
        PUT(member->name, "%s%s%s", cell(csv, place[FIRST]),
            *cell(csv, place[FIRST]) && *cell(csv, place[LAST]) ? " " : "", cell(csv, place[LAST]));
    PUT(member->email, "%s", cell(csv, place[EMAIL]));
    PUT(member->section, "%s", cell(csv, place[SECTION]));
    show(member->name); /* truncation may split a character */
    show(member->email);
    show(member->section);
    take_aliases(csv, place, member, errors);
    take_status(csv, place, member, errors);
    if (strlen(cell(csv, place[NUMBER])) >= sizeof member->number)
        add_error(errors, csv->line, "the id is longer than %zu bytes", sizeof member->number - 1);
    if (!*member->number && !*member->name)
        add_error(errors, csv->line, "the id and the name are missing");
    return errors->count + errors->status_rows == before;
}

typedef struct Line {
    const char *number;
    int line;
} Line;

static int by_number(const void *a, const void *b)
{
    const Line *x = a, *y = b;
    int order = strcmp(x->number, y->number);

    return order ? order : x->line - y->line;
}

/* Reports duplicate ids. */
static void find_duplicates(const Roster *roster, Line *lines, Errors *errors)
{
    int count = 0;

    for (int i = 0; i < roster->count; i++)
        if (roster->list[i].number[0])
            lines[count++] = (Line){ roster->list[i].number, lines[i].line };
    if (count)
        qsort(lines, (size_t) count, sizeof *lines, by_number);
    for (int i = 1; i < count; i++)
        if (!strcmp(lines[i].number, lines[i - 1].number))
            add_error(errors, lines[i].line, "the id %s is already on line %d", lines[i].number,
                      lines[i - 1].line);
}

static void take_members(Csv *csv, const int place[COLUMNS], Roster *roster, Errors *errors)
{
    Line *lines = xcalloc(ROSTER_MEMBERS, sizeof *lines);
    int columns = csv->count;

    roster->list = xcalloc(ROSTER_MEMBERS, sizeof *roster->list);
    while (take_record(csv)) {
        if (roster->count == ROSTER_MEMBERS) {
            add_error(errors, csv->line, "more than %d people", ROSTER_MEMBERS);
            break;
        }
        if (csv->error)
            add_error(errors, csv->line, "%s", csv->error);
        else if (csv->count > columns)
            add_error(errors, csv->line,
                      "%d fields, but the first line has %d: are quotation marks missing?",
                      csv->count, columns);
        else if (!is_canvas_row(csv, place) &&
                 take_member(csv, place, &roster->list[roster->count], errors))
            lines[roster->count++].line = csv->line;
    }
    report_status(errors);
    find_duplicates(roster, lines, errors);
    free(lines);
}

bool roster_read(const char *text, size_t size, const char *shown, Roster *roster,
                 char **error_text)
{
    Csv *csv = xcalloc(1, sizeof *csv);
    size_t bytes;
    Errors errors = { .to = text_open(error_text, &bytes), .shown = shown };
    int place[COLUMNS], mark = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;

    *roster = (Roster){ 0 };
    csv_open(csv, text + mark, size - (size_t) mark,
             separator_of(text + mark, size - (size_t) mark));
    if (memchr(text, 0, size))
        add_error(&errors, 1, "not a text file: it contains a zero byte");
    else if (!take_record(csv) || csv->error)
        add_error(&errors, 1, "%s", csv->error ? csv->error : "it is empty");
    else {
        find_columns(csv, place);
        leave_out_columns(place);
        if (place[NUMBER] < 0 && place[NAME] < 0 && place[LAST] < 0)
            add_error(
                &errors, csv->line,
                "the first line must name the columns: id, name (or first name, last name), and "
                "optionally email, section, alias and status");
        else
            take_members(csv, place, roster, &errors);
        if (!errors.count && !roster->count)
            add_error(&errors, csv->line, "the roster has no students");
    }
    if (errors.count > MOST_ERRORS)
        fprintf(errors.to, "and %d more\n", errors.count - MOST_ERRORS);
    text_close(errors.to);
    csv_free(&csv->parser);
    free(csv);
    if (!errors.count) {
        free(*error_text);
        *error_text = NULL;
        return true;
    }
    roster_free(roster);
    return false;
}

void roster_free(Roster *roster)
{
    free(roster->list);
    *roster = (Roster){ 0 };
}
