/* roster.c - the students of a course from a CSV, and which submissions are theirs.
 *
 * Many spreadsheets and learning systems write such a CSV, so the separator is the most frequent
 * one in the first line, and each column has several names. All errors are reported together, with
 * their lines.
 */
#include "gradebook/import/roster.h"
#include "gradebook/import/submission.h"
#include "base/util.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FIELDS = 60, FIELD_BYTES = 400, MISTAKES = 100, WORDS = 12 };

/* ---- Fields ---- */

/* The position in a CSV, and the current record. */
typedef struct Csv {
    const char *at, *end;
    char separator;
    int line, next_line; /* of this record; of the next one */
    char field[FIELDS][FIELD_BYTES];
    int count;
    const char *fault; /* NULL: the record is fine */
} Csv;

/* One field; true if it was the record's last one. */
static bool take_field(Csv *csv, char *text)
{
    size_t used = 0;
    bool quoted = csv->at < csv->end && *csv->at == '"', closed = !quoted;

    csv->at += quoted;
    for (; csv->at < csv->end; csv->at++) {
        char c = *csv->at;
        if (quoted && !closed && c == '"') {
            closed = csv->at + 1 == csv->end || csv->at[1] != '"';
            csv->at += !closed;
            if (closed)
                continue;
        } else if (closed && (c == csv->separator || c == '\n')) {
            break;
        }
        csv->next_line += c == '\n';
        if (used + 1 < FIELD_BYTES)
            text[used++] = c ? c : '?';
        else
            csv->fault = "a field is longer than 399 bytes";
    }
    if (!closed)
        csv->fault = "a quotation mark is not closed";
    while (used && isspace((unsigned char) text[used - 1]))
        used--;
    text[used] = 0;
    memmove(text, text + strspn(text, " \t"), strlen(text + strspn(text, " \t")) + 1);
    show(text);
    if (csv->at == csv->end || *csv->at == '\n')
        return true;
    csv->at++;
    return false;
}

/* False at the end. Skips empty lines. */
static bool take_record(Csv *csv)
{
    do {
        bool last = false;
        if (csv->at == csv->end)
            return false;
        csv->line = csv->next_line;
        csv->fault = NULL;
        for (csv->count = 0; !last; csv->count++) {
            char spare[FIELD_BYTES];
            last = take_field(csv, csv->count < FIELDS ? csv->field[csv->count] : spare);
            if (csv->count == FIELDS - 1 && !last)
                csv->fault = "more than 60 fields";
            csv->count -= csv->count == FIELDS - 1 && !last;
        }
        csv->next_line++;
        csv->at += csv->at < csv->end;
    } while (csv->count == 1 && !*csv->field[0] && !csv->fault);
    return true;
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
        for (int i = csv->count - 1; i >= 0; i--) { /* the first of several */
            char wanted[FIELD_BYTES + 2];
            put(wanted, sizeof wanted, "|%s|", csv->field[i]);
            if (csv->field[i][0] && !strchr(csv->field[i], '|') &&
                strcasestr(column_names[column], wanted))
                place[column] = i;
        }
    }
}

static const char *cell(const Csv *csv, int place)
{
    return place >= 0 && place < csv->count ? csv->field[place] : "";
}

/* ---- Reading ---- */

typedef struct Told {
    FILE *to;
    const char *shown;
    int count;
} Told;

static void tell(Told *told, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void tell(Told *told, int line, const char *format, ...)
{
    va_list arguments;

    if (told->count++ >= MISTAKES)
        return;
    fprintf(told->to, "%s:%d: ", told->shown, line);
    va_start(arguments, format);
    vfprintf(told->to, format, arguments);
    va_end(arguments);
    fputc('\n', told->to);
}

static bool take_member(const Csv *csv, const int place[COLUMNS], Member *member, Told *told)
{
    const char *name = cell(csv, place[NAME]);
    int before = told->count;

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
        tell(told, csv->line, "the id is longer than %zu bytes", sizeof member->number - 1);
    if (!*member->number && !*member->name)
        tell(told, csv->line, "the id and the name are missing");
    return told->count == before;
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

/* Ids are unique. */
static void find_twins(const Roster *roster, Line *lines, Told *told)
{
    int count = 0;

    for (int i = 0; i < roster->count; i++)
        if (roster->list[i].number[0])
            lines[count++] = (Line){ roster->list[i].number, lines[i].line };
    if (count)
        qsort(lines, (size_t) count, sizeof *lines, by_number);
    for (int i = 1; i < count; i++)
        if (!strcmp(lines[i].number, lines[i - 1].number))
            tell(told, lines[i].line, "the id %s is already on line %d", lines[i].number,
                 lines[i - 1].line);
}

static void take_members(Csv *csv, const int place[COLUMNS], Roster *roster, Told *told)
{
    Line *lines = xcalloc(ROSTER_MEMBERS, sizeof *lines);
    int columns = csv->count;

    roster->list = xcalloc(ROSTER_MEMBERS, sizeof *roster->list);
    while (take_record(csv)) {
        if (roster->count == ROSTER_MEMBERS) {
            tell(told, csv->line, "more than %d people", ROSTER_MEMBERS);
            break;
        }
        if (csv->fault)
            tell(told, csv->line, "%s", csv->fault);
        else if (csv->count > columns)
            tell(told, csv->line,
                 "%d fields, but the first line has %d: are quotation marks missing?", csv->count,
                 columns);
        else if (take_member(csv, place, &roster->list[roster->count], told))
            lines[roster->count++].line = csv->line;
    }
    find_twins(roster, lines, told);
    free(lines);
}

bool roster_read(const char *text, size_t size, const char *shown, Roster *roster, char **mistakes)
{
    Csv *csv = xcalloc(1, sizeof *csv);
    size_t bytes;
    Told told = { text_open(mistakes, &bytes), shown, 0 };
    int place[COLUMNS], mark = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;

    *roster = (Roster){ 0 };
    *csv = (Csv){ .at = text + mark, .end = text + size, .next_line = 1 };
    csv->separator = separator_of(csv->at, size - (size_t) mark);
    if (memchr(text, 0, size))
        tell(&told, 1, "not a text file: it contains a zero byte");
    else if (!take_record(csv) || csv->fault)
        tell(&told, 1, "%s", csv->fault ? csv->fault : "it is empty");
    else {
        find_columns(csv, place);
        if (place[NUMBER] < 0 && place[NAME] < 0 && place[LAST] < 0)
            tell(&told, csv->line,
                 "the first line must name the columns: id, name (or first name, last name), and "
                 "optionally email and section");
        else
            take_members(csv, place, roster, &told);
        if (!told.count && !roster->count)
            tell(&told, csv->line, "the roster has no students");
    }
    if (told.count > MISTAKES)
        fprintf(told.to, "and %d more\n", told.count - MISTAKES);
    text_close(told.to);
    free(csv);
    if (!told.count) {
        free(*mistakes);
        *mistakes = NULL;
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
static bool goes_around(const Plain *a, const Plain *b)
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
    return goes_around(&x, &y) || goes_around(&y, &x);
}

/* ---- Matching ---- */

static bool same_number(const Member *member, const Attendee *attendee)
{
    if (!member->number[0])
        return false;
    return !strcmp(member->number, attendee->number) ||
           (!attendee->number[0] && !strcasecmp(member->number, attendee->name));
}

static bool same_words(const Member *member, const Attendee *attendee)
{
    return member->name[0] && same_name(member->name, attendee->name);
}

typedef bool Fits(const Member *member, const Attendee *attendee);

/* Matches the unmatched members and students whose match is unique on both sides. */
static void match_by(Roster *roster, Attendee *attendees, int count, Fits *fits)
{
    bool *taken = xcalloc((size_t) roster->count + 1, 1);
    int *suitors = xcalloc((size_t) roster->count + 1, sizeof *suitors);
    int *choice = xcalloc((size_t) count + 1, sizeof *choice); /* matching members */
    int *last = xcalloc((size_t) count + 1, sizeof *last);

    for (int i = 0; i < count; i++)
        if (attendees[i].member >= 0)
            taken[attendees[i].member] = true;
    for (int i = 0; i < count; i++)
        for (int m = 0; m < roster->count && attendees[i].member < 0; m++)
            if (!taken[m] && fits(&roster->list[m], &attendees[i])) {
                choice[i]++;
                last[i] = m;
                suitors[m]++;
            }
    for (int i = 0; i < count; i++) {
        if (choice[i] == 1 && suitors[last[i]] == 1)
            attendees[i].member = last[i];
        attendees[i].unclear |= choice[i] > 0 && attendees[i].member < 0;
        if (attendees[i].member >= 0)
            attendees[i].unclear = false;
        for (int m = 0; attendees[i].unclear && m < roster->count; m++)
            roster->list[m].unclear |= !taken[m] && fits(&roster->list[m], &attendees[i]);
    }
    for (int i = 0; i < count; i++)
        if (attendees[i].member >= 0)
            roster->list[attendees[i].member].unclear = false;
    free(taken);
    free(suitors);
    free(choice);
    free(last);
}

void roster_match(Roster *roster, Attendee *attendees, int count)
{
    for (int i = 0; i < count; i++) {
        attendees[i].member = -1;
        attendees[i].unclear = false;
    }
    for (int m = 0; m < roster->count; m++)
        roster->list[m].unclear = false;
    match_by(roster, attendees, count, same_number);
    match_by(roster, attendees, count, same_words);
}
