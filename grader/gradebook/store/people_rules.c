/* people_rules.c - decides which students of several exports are one person, without a database. */
#include "gradebook/store/people_rules.h"
#include "gradebook/store/roster_keys.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_OF_A_NAME = 64 };

bool has_own_number(const StudentRow *row)
{
    /* Gradescope's students without a number have their e-mail address or folder instead. */
    return *row->number && strcmp(row->layout, "moodle") && !strchr(row->number, '@') &&
           strncmp(row->number, "submission_", 11);
}

const char *address_of(const StudentRow *row)
{
    return *row->email ? row->email : strchr(row->number, '@') ? row->number : "";
}

/* ---- Groups ---- */

static int first_of(const People *people, int row)
{
    while (people->rows[row].group != row)
        row = people->rows[row].group;
    return row;
}

static bool is_apart(const StudentRow *row)
{
    return !strcmp(row->answer, ANSWER_APART);
}

/* Makes two rows one person, unless they are two members of the roster, or an answer keeps one
 * apart. */
static bool unite(People *people, int a, int b)
{
    StudentRow *x, *y;
    int next;

    if (is_apart(&people->rows[a]) || is_apart(&people->rows[b]))
        return false;
    a = first_of(people, a);
    b = first_of(people, b);
    x = &people->rows[a < b ? a : b];
    y = &people->rows[a < b ? b : a];
    if (x == y)
        return true;
    if (x->member >= 0 && y->member >= 0 && x->member != y->member)
        return false;
    y->group = x->group;
    next = x->next;
    x->next = y->next;
    y->next = next;
    x->member = x->member >= 0 ? x->member : y->member;
    return true;
}

static int member_of(const People *people, int row)
{
    return people->rows[first_of(people, row)].member;
}

/* ---- The roster's ids, e-mail addresses and aliases ---- */

static int by_alias(const Keys *keys, const StudentRow *row)
{
    char whole[300];
    int found = keys_find(keys, IS_ALIAS, address_of(row), NO_MEMBER);

    found = keys_find(keys, IS_ALIAS, row->number, found);
    found = keys_find(keys, IS_ALIAS, row->name, found);
    return keys_find(keys, IS_ALIAS, PUT(whole, "%s_%s", row->name, row->number), found);
}

/* Adds the member with the row's id or address to what was found before. */
static int by_id(const Keys *keys, const StudentRow *row, int found)
{
    found = keys_find(keys, IS_EMAIL, address_of(row), found);
    if (has_own_number(row))
        return keys_find(keys, IS_NUMBER, row->number, found);
    return *row->number ? found /* a folder may have the id as its name */
                        : keys_find(keys, IS_NUMBER, row->name, found);
}

/* ---- Answers ---- */

/* The member or row that an answer names. */
static void follow_answer(People *people, const Keys *keys, int row)
{
    const char *answer = people->rows[row].answer, *text = strchr(answer, ':');

    if (!text++)
        return;
    if (!strncmp(answer, "student:", 8)) {
        for (int i = 0; i < people->count; i++)
            if (people->rows[i].id == strtoll(text, NULL, 10))
                unite(people, row, i);
    } else if (!strncmp(answer, "name:", 5)) {
        for (int m = 0; m < people->roster->count; m++)
            if (!strcmp(people->roster->list[m].name, text))
                people->rows[first_of(people, row)].member = m;
    } else {
        int kind = !strncmp(answer, "email:", 6) ? IS_EMAIL : IS_NUMBER;
        int member = keys_find(keys, kind, text, NO_MEMBER);
        if (member >= 0)
            people->rows[first_of(people, row)].member = member;
    }
}

/* ---- The roster's names ---- */

/* Two addresses of one domain are two accounts; a private address contradicts nothing. */
static bool addresses_contradict(const char *a, const char *b)
{
    const char *x = strrchr(a, '@'), *y = strrchr(b, '@');

    return x && y && !strcasecmp(x, y) && strcasecmp(a, b);
}

/* For each member and import: how many people fit by name, or TAKEN. */
enum { TAKEN = -1 };
typedef struct Places {
    int *of, width;
} Places;

static int *place(const Places *places, int member, int import)
{
    return &places->of[(size_t) member * (size_t) places->width + (size_t) import];
}

static bool fits(const People *people, const PlainName *members, const Places *places, int row,
                 int member)
{
    const StudentRow *student = &people->rows[row];

    if (!same_plain(&members[member], &student->plain) ||
        addresses_contradict(people->roster->list[member].email, address_of(student)))
        return false;
    for (int i = 0; i < student->import_count; i++)
        if (*place(places, member, student->imports[i]) == TAKEN)
            return false;
    return true;
}

static void take_places(const People *people, const Places *places)
{
    for (int r = 0; r < people->count; r++)
        for (int i = 0; i < people->rows[r].import_count && member_of(people, r) >= 0; i++)
            *place(places, member_of(people, r), people->rows[r].imports[i]) = TAKEN;
}

/* The members that fit a row: their number, and the last. */
static int choices(const People *people, const PlainName *members, const Places *places, int row,
                   int *last)
{
    int count = 0;

    for (int m = 0; m < people->roster->count; m++)
        if (fits(people, members, places, row, m)) {
            count++;
            *last = m;
        }
    return count;
}

static bool is_open(const People *people, int row)
{
    return member_of(people, row) == NO_MEMBER && !people->rows[row].unclear &&
           !is_apart(&people->rows[row]);
}

/* A name must be unique on the roster, and fit only one student of each import. */
static void by_roster_names(People *people)
{
    const Roster *roster = people->roster;
    PlainName *members = xcalloc((size_t) roster->count + 1, sizeof *members);
    int *choice = xcalloc((size_t) people->count + 1, sizeof *choice);
    int *last = xcalloc((size_t) people->count + 1, sizeof *last);
    Places places = { xcalloc((size_t) roster->count * (size_t) people->import_count + 1,
                              sizeof *places.of),
                      people->import_count };

    for (int m = 0; m < roster->count; m++)
        plain_name(roster->list[m].name, &members[m]);
    take_places(people, &places);
    for (int r = 0; r < people->count; r++) {
        choice[r] = is_open(people, r) ? choices(people, members, &places, r, &last[r]) : 0;
        for (int i = 0; i < people->rows[r].import_count && choice[r]; i++)
            for (int m = 0; m < roster->count; m++)
                if (same_plain(&members[m], &people->rows[r].plain) &&
                    *place(&places, m, people->rows[r].imports[i]) != TAKEN)
                    ++*place(&places, m, people->rows[r].imports[i]);
    }
    for (int r = 0; r < people->count; r++) {
        bool unique = choice[r] == 1;
        for (int i = 0; i < people->rows[r].import_count && unique; i++)
            unique = *place(&places, last[r], people->rows[r].imports[i]) == 1;
        people->rows[r].unclear |= choice[r] && !unique;
        choice[r] = unique ? 1 : choice[r] ? SEVERAL_MEMBERS : 0;
    }
    for (int r = 0; r < people->count; r++) {
        int first = first_of(people, r);
        for (int m = 0; m < roster->count && choice[r] == SEVERAL_MEMBERS; m++)
            people->member_unclear[m] |= fits(people, members, &places, r, m);
        if (choice[r] == 1 && people->rows[first].member != NO_MEMBER)
            people->rows[r].unclear |= people->rows[first].member != last[r];
        else if (choice[r] == 1)
            people->rows[first].member = last[r];
    }
    free(members);
    free(choice);
    free(last);
    free(places.of);
}

/* ---- Rows that are the same person without a roster ---- */

static const People *sorted; /* for qsort's comparisons */

static int by_address(const void *a, const void *b)
{
    return strcasecmp(address_of(&sorted->rows[*(const int *) a]),
                      address_of(&sorted->rows[*(const int *) b]));
}

static int by_number(const void *a, const void *b)
{
    const StudentRow *x = &sorted->rows[*(const int *) a], *y = &sorted->rows[*(const int *) b];
    int order = strcmp(x->number, y->number);

    return order ? order : strcmp(x->layout, y->layout);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(sorted->rows[*(const int *) a].name, sorted->rows[*(const int *) b].name);
}

typedef void Run(People *people, const int *rows, int count);

/* Calls `run` for each set of equal rows among those for which `wanted` is true. */
static void for_runs(People *people, bool (*wanted)(const StudentRow *row),
                     int (*compare)(const void *a, const void *b), Run *run)
{
    int *rows = xcalloc((size_t) people->count + 1, sizeof *rows), count = 0;

    for (int r = 0; r < people->count; r++)
        if (wanted(&people->rows[r]))
            rows[count++] = r;
    sorted = people;
    if (count)
        qsort(rows, (size_t) count, sizeof *rows, compare);
    for (int begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && !compare(&rows[begin], &rows[end]); end++)
            ;
        if (end > begin + 1)
            run(people, rows + begin, end - begin);
    }
    free(rows);
}

static bool has_address(const StudentRow *row)
{
    return *address_of(row) != 0;
}

static bool is_any(const StudentRow *row)
{
    return *row->name != 0;
}

static bool share_an_import(const StudentRow *a, const StudentRow *b)
{
    for (int i = 0, k = 0; i < a->import_count && k < b->import_count;) {
        if (a->imports[i] == b->imports[k])
            return true;
        if (a->imports[i] < b->imports[k])
            i++;
        else
            k++;
    }
    return false;
}

static void unite_all(People *people, const int *rows, int count)
{
    for (int i = 1; i < count; i++)
        unite(people, rows[0], rows[i]);
}

/* The same address or number is one person, unless students of other names have it in the same
 * import: then it is a placeholder. */
static void unite_same(People *people, const int *rows, int count)
{
    bool placeholder = count > MOST_OF_A_NAME;

    for (int i = 0; i < count && !placeholder; i++)
        for (int k = 0; k < i && !placeholder; k++)
            placeholder = share_an_import(&people->rows[rows[i]], &people->rows[rows[k]]) &&
                          !same_plain(&people->rows[rows[i]].plain, &people->rows[rows[k]].plain);
    if (!placeholder)
        unite_all(people, rows, count);
}

/* True if nothing shows that two rows of one name are two people. */
static bool compatible(const StudentRow *a, const StudentRow *b)
{
    return !share_an_import(a, b) && !is_apart(a) && !is_apart(b) &&
           !(*address_of(a) && *address_of(b) && strcasecmp(address_of(a), address_of(b))) &&
           !(has_own_number(a) && has_own_number(b) && !strcmp(a->layout, b->layout) &&
             strcmp(a->number, b->number));
}

/* True if each row of one group is compatible with each row of the other. */
static bool groups_fit(const People *people, int a, int b)
{
    int i = a, k = b;

    do {
        do {
            if (!compatible(&people->rows[i], &people->rows[k]))
                return false;
        } while ((k = people->rows[k].next) != b);
    } while ((i = people->rows[i].next) != a);
    return true;
}

/* True if two rows of one name may be one person; *clear: and nothing speaks for somebody else. */
static bool may_unite(const People *people, int a, int b, bool *clear)
{
    const bool fit = groups_fit(people, a, b);
    const int x = member_of(people, a), y = member_of(people, b);

    *clear = fit && (x == NO_MEMBER || y == NO_MEMBER || x == y) && !people->rows[a].unclear &&
             !people->rows[b].unclear;
    return fit;
}

/* Rows of one name become one person only if that is clear for all of them. */
static void unite_names(People *people, const int *rows, int count)
{
    bool all = count <= MOST_OF_A_NAME, may[MOST_OF_A_NAME] = { 0 }, several = false;

    for (int i = 1; i < count; i++) /* many "Participant"s of one import are different people */
        several |= !share_an_import(&people->rows[rows[0]], &people->rows[rows[i]]);
    for (int i = 0; i < count && count <= MOST_OF_A_NAME; i++)
        for (int k = i + 1; k < count; k++) {
            bool clear;
            if (first_of(people, rows[i]) == first_of(people, rows[k]))
                continue;
            if (may_unite(people, rows[i], rows[k], &clear))
                may[i] = may[k] = true;
            all &= clear;
        }
    if (all)
        unite_all(people, rows, count);
    for (int i = 0; i < count && !all; i++)
        people->rows[rows[i]].unclear |= count > MOST_OF_A_NAME ? several : may[i];
}

/* ---- All rules ---- */

static void prepare(People *people)
{
    for (int r = 0; r < people->count; r++) {
        people->rows[r].group = people->rows[r].next = r;
        people->rows[r].member = NO_MEMBER;
        people->rows[r].unclear = false;
        plain_name(people->rows[r].name, &people->rows[r].plain);
    }
    memset(people->member_unclear, 0, sizeof(bool) * (size_t) people->roster->count);
}

static bool has_members_name(const People *people, int row, int member)
{
    return same_name(people->rows[row].name, people->roster->list[member].name);
}

/* One id or address of several students of one import belongs to the one with the roster's name, or
 * to none of them. */
static void refuse_crowds(People *people)
{
    for (int r = 0; r < people->count; r++)
        for (int k = 0; k < r; k++) {
            const int member = people->rows[r].member;
            if (member < 0 || people->rows[k].member != member ||
                !share_an_import(&people->rows[r], &people->rows[k]) ||
                same_plain(&people->rows[r].plain, &people->rows[k].plain))
                continue;
            people->rows[r].unclear |= !has_members_name(people, r, member);
            people->rows[k].unclear |= !has_members_name(people, k, member);
        }
    for (int r = 0; r < people->count; r++)
        if (people->rows[r].unclear && !people->rows[r].certain)
            people->rows[r].member = NO_MEMBER;
}

static void by_roster_keys(People *people, const Keys *keys)
{
    for (int r = 0; r < people->count; r++) {
        StudentRow *row = &people->rows[r];
        int member = is_open(people, r) ? by_alias(keys, row) : NO_MEMBER;
        row->certain = *row->answer || member >= 0;
        if (is_open(people, r))
            member = by_id(keys, row, member);
        if (member >= 0)
            people->rows[first_of(people, r)].member = member;
        row->unclear |= member == SEVERAL_MEMBERS;
    }
}

static void unite_members(People *people)
{
    int *first = xcalloc((size_t) people->roster->count + 1, sizeof *first);

    for (int r = 0; r < people->count; r++) {
        int member = member_of(people, r);
        if (member >= 0 && first[member])
            unite(people, first[member] - 1, r);
        else if (member >= 0)
            first[member] = r + 1;
    }
    free(first);
}

/* Gives each row its person's first row and member. */
static void settle(People *people)
{
    for (int r = 0; r < people->count; r++) {
        StudentRow *row = &people->rows[r];
        row->member = member_of(people, r);
        row->group = first_of(people, r);
        if (row->member >= 0) {
            row->unclear = false;
            people->member_unclear[row->member] = false;
        }
    }
}

void people_decide(People *people)
{
    Keys keys;

    prepare(people);
    keys_open(&keys, people->roster);
    for (int r = 0; r < people->count; r++)
        follow_answer(people, &keys, r);
    by_roster_keys(people, &keys);
    refuse_crowds(people);
    keys_close(&keys);
    for_runs(people, has_address, by_address, unite_same);
    for_runs(people, has_own_number, by_number, unite_same);
    by_roster_names(people);
    unite_members(people);
    for_runs(people, is_any, by_name, unite_names);
    settle(people);
}
