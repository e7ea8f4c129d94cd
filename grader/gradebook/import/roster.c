/* roster.c - the students of a course from a CSV, matched with those who submitted.
 *
 * The CSV may come from various spreadsheets and learning systems. So the most frequent separator
 * in the first line counts, and each column may have one of several names. All errors are reported
 * together, with their line numbers.
 */
#include "gradebook/import/roster.h"
#include "gradebook/import/submission.h"
#include "base/util.h"

#include <csv.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FIELDS = 60, FIELD_BYTES = 400, MOST_ERRORS = 100, WORDS = 12 };

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

    if (csv->count == FIELDS) {
        csv->error = "more than 60 fields";
        return;
    }
    if (size >= FIELD_BYTES)
        csv->error = "a field is longer than 399 bytes";
    show(PUT(csv->field[csv->count++], "%.*s", size < FIELD_BYTES ? (int) size : FIELD_BYTES - 1,
             (const char *) text));
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

typedef enum Column { NUMBER, NAME, FIRST, LAST, EMAIL, SECTION, COLUMNS } Column;

static const char *const column_names[COLUMNS] = {
    [NUMBER] = "|id|number|student id|studentid|student number|id number|sid|sis user id|"
               "orgdefinedid|matriculation number|username|user name|login id|",
    [NAME] = "|name|full name|fullname|student|student name|",
    [FIRST] = "|first name|firstname|given name|first|",
    [LAST] = "|last name|lastname|surname|family name|last|",
    [EMAIL] = "|email|e-mail|email address|mail|",
    [SECTION] = "|section|sections|group|class|",
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

static const char *cell(const Csv *csv, int place)
{
    return place >= 0 && place < csv->count ? csv->field[place] : "";
}

/* ---- Reading ---- */

typedef struct Errors {
    FILE *to;
    const char *shown;
    int count;
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

static bool take_member(const Csv *csv, const int place[COLUMNS], Member *member, Errors *errors)
{
    const char *name = cell(csv, place[NAME]);
    int before = errors->count;

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
    if (strlen(cell(csv, place[NUMBER])) >= sizeof member->number)
        add_error(errors, csv->line, "the id is longer than %zu bytes", sizeof member->number - 1);
    if (!*member->number && !*member->name)
        add_error(errors, csv->line, "the id and the name are missing");
    return errors->count == before;
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
        else if (take_member(csv, place, &roster->list[roster->count], errors))
            lines[roster->count++].line = csv->line;
    }
    find_duplicates(roster, lines, errors);
    free(lines);
}

bool roster_read(const char *text, size_t size, const char *shown, Roster *roster,
                 char **error_text)
{
    Csv *csv = xcalloc(1, sizeof *csv);
    size_t bytes;
    Errors errors = { text_open(error_text, &bytes), shown, 0 };
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
        if (place[NUMBER] < 0 && place[NAME] < 0 && place[LAST] < 0)
            add_error(
                &errors, csv->line,
                "the first line must name the columns: id, name (or first name, last name), and "
                "optionally email and section");
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

/* ---- Names ---- */

/* A name's letters and digits without separators, and where its words begin. */
typedef struct Plain {
    char text[256];
    size_t begins[WORDS], length;
    int words;
} Plain;

static void plain_of(const char *name, Plain *plain)
{
    bool within = false;

    *plain = (Plain){ 0 };
    for (; *name && plain->length + 1 < sizeof plain->text; name++) {
        unsigned char c = (unsigned char) *name;
        if (c < 128 && !isalnum(c)) {
            within = false;
            continue;
        }
        if (!within && plain->words < WORDS)
            plain->begins[plain->words++] = plain->length;
        within = true;
        plain->text[plain->length++] = (char) (c < 128 ? tolower(c) : c);
    }
}

/* True if `a` is `b` rotated to start at one of its words. */
static bool is_rotated(const Plain *a, const Plain *b)
{
    if (!a->length || a->length != b->length)
        return false;
    for (int word = 0; word < b->words; word++) {
        size_t begin = b->begins[word], rest = b->length - begin;
        if (!memcmp(a->text, b->text + begin, rest) && !memcmp(a->text + rest, b->text, begin))
            return true;
    }
    return false;
}

bool same_name(const char *a, const char *b)
{
    Plain x, y;

    plain_of(a, &x);
    plain_of(b, &y);
    return is_rotated(&x, &y) || is_rotated(&y, &x);
}

/* ---- Matching ---- */

static bool same_number(const Member *member, const Submitter *submitter)
{
    if (!member->number[0])
        return false;
    return !strcmp(member->number, submitter->number) ||
           (!submitter->number[0] && !strcasecmp(member->number, submitter->name));
}

static bool same_words(const Member *member, const Submitter *submitter)
{
    return member->name[0] && same_name(member->name, submitter->name);
}

typedef bool Fits(const Member *member, const Submitter *submitter);

/* Matches members and students that are still unmatched, if the match is unique on both sides. */
static void match_by(Roster *roster, Submitter *submitters, int count, Fits *fits)
{
    bool *taken = xcalloc((size_t) roster->count + 1, 1);
    int *suitors = xcalloc((size_t) roster->count + 1, sizeof *suitors);
    int *choice = xcalloc((size_t) count + 1, sizeof *choice); /* number of matching members */
    int *last = xcalloc((size_t) count + 1, sizeof *last);

    for (int i = 0; i < count; i++)
        if (submitters[i].member >= 0)
            taken[submitters[i].member] = true;
    for (int i = 0; i < count; i++)
        for (int m = 0; m < roster->count && submitters[i].member < 0; m++)
            if (!taken[m] && fits(&roster->list[m], &submitters[i])) {
                choice[i]++;
                last[i] = m;
                suitors[m]++;
            }
    for (int i = 0; i < count; i++) {
        if (choice[i] == 1 && suitors[last[i]] == 1)
            submitters[i].member = last[i];
        submitters[i].unclear |= choice[i] > 0 && submitters[i].member < 0;
        if (submitters[i].member >= 0)
            submitters[i].unclear = false;
        for (int m = 0; submitters[i].unclear && m < roster->count; m++)
            roster->list[m].unclear |= !taken[m] && fits(&roster->list[m], &submitters[i]);
    }
    for (int i = 0; i < count; i++)
        if (submitters[i].member >= 0)
            roster->list[submitters[i].member].unclear = false;
    free(taken);
    free(suitors);
    free(choice);
    free(last);
}

void roster_match(Roster *roster, Submitter *submitters, int count)
{
    for (int i = 0; i < count; i++) {
        submitters[i].member = -1;
        submitters[i].unclear = false;
    }
    for (int m = 0; m < roster->count; m++)
        roster->list[m].unclear = false;
    match_by(roster, submitters, count, same_number);
    match_by(roster, submitters, count, same_words);
}
