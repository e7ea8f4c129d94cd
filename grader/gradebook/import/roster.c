/* roster.c - who takes part in a course: a CSV, and which of its people handed a submission in.
 *
 * A CSV is what some spreadsheet or learning system wrote, so the separator is the one that its
 * first line has most of, and columns are known by many names. Whatever is not as it should be is
 * told with its line, all at once.
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

/* Where we are in a CSV, and the record that was read last. */
typedef struct Csv {
    const char *at, *end;
    char separator;
    int line, next_line; /* where the record began; where the next one does */
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
            csv->fault = "a field of it is longer than 399 bytes";
    }
    if (!closed)
        csv->fault = "a quotation mark in it has no end";
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

/* False at the end. Empty lines are passed over. */
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
                csv->fault = "it has more than 60 fields";
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

/* The place of each column in a record; -1: it has none. */
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

/* ---- ParsedResult ---- */

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
    show(member->name); /* cut off, a text may end in half a letter */
    show(member->email);
    show(member->section);
    if (strlen(cell(csv, place[NUMBER])) >= sizeof member->number)
        tell(told, csv->line, "an id of more than %zu bytes", sizeof member->number - 1);
    if (!*member->number && !*member->name)
        tell(told, csv->line, "neither an id nor a name");
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

/* An id stands for one person. */
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
            tell(told, lines[i].line, "the id %s has line %d already", lines[i].number,
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
                 "%d fields, and the first line names %d: are quotation marks "
                 "missing?",
                 csv->count, columns);
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
        tell(&told, 1, "this is no text: it holds a byte 0");
    else if (!take_record(csv) || csv->fault)
        tell(&told, 1, "%s", csv->fault ? csv->fault : "it is empty");
    else {
        find_columns(csv, place);
        if (place[NUMBER] < 0 && place[NAME] < 0 && place[LAST] < 0)
            tell(&told, csv->line,
                 "its first line must name the columns: id, name (or first name, "
                 "last name); email and section, if there are any");
        else
            take_members(csv, place, roster, &told);
        if (!told.count && !roster->count)
            tell(&told, csv->line, "it holds nobody");
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

/* A name's letters and digits without what stands between, and where its words begin. */
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

/* Is `a` what `b` is, begun at one of its words and gone around? */
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

/* Among those that nobody has yet, whoever fits only one, who fits only them. */
static void match_by(Roster *roster, Attendee *attendees, int count, Fits *fits)
{
    bool *taken = xcalloc((size_t) roster->count + 1, 1);
    int *suitors = xcalloc((size_t) roster->count + 1, sizeof *suitors);
    int *choice = xcalloc((size_t) count + 1, sizeof *choice); /* members that fit */
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
